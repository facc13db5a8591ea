"""Group penalties of tables with two parts: each part is a group of its own."""

import numpy as np
import pytest

from graftwork.penalties import GroupL1

from doors.data import Scores
from doors.inference import Layout
from doors.penalties import Blocks, Parts

CARDS = np.array([4, 5, 3])
SCORES = Scores.of([np.arange(4.0), np.arange(5.0), None], CARDS)
LAYOUT = Layout.of(CARDS, [(0, 1), (0, 2), (1, 2)])


def blocks(with_rest=(True, True, False), factors=None):
    parts = Parts.of(LAYOUT, SCORES, np.array(with_rest))
    return Blocks.of(LAYOUT, CARDS, None, factors, parts)


def parts_of(table, i, j):
    def projector(k):
        basis, s = SCORES.bases[k], CARDS[k]
        return basis @ basis.T if basis.shape[1] else np.eye(s) - np.full((s, s), 1 / s)

    line = projector(i) @ table @ projector(j)
    return line, table - line


def centred_vector(seed=0):
    vector = np.random.default_rng(seed).normal(size=LAYOUT.size)
    for e in range(LAYOUT.n_edges):
        table = LAYOUT.table(vector, e)
        table -= table.mean(axis=1, keepdims=True)
        table -= table.mean(axis=0)
    return vector


def test_scales_share_a_tables_entries_by_degrees_of_freedom():
    found = blocks()
    # 1 of 12, 2 of 6 and 2 of 8 degrees of freedom are linear; rests of the first two follow
    wanted = np.sqrt([20 / 12, 12 / 3, 15 / 4, 20 * 11 / 12, 12 * 2 / 3])
    assert np.allclose(found.scale[3:], wanted)


def test_the_penalty_is_a_sum_over_parts():
    vector, penalty = centred_vector(), GroupL1(0.3, 0.2)
    total, own = 0.0, blocks((True, True, True))
    scale = iter([*own.scale[3:6], *own.scale[6:]])
    linear = [next(scale) for _ in range(3)]
    rests = [next(scale) for _ in range(3)]
    for e, (i, j) in enumerate(LAYOUT.edges):
        for part, d in zip(
            parts_of(LAYOUT.table(vector, e), i, j), (linear[e], rests[e]), strict=True
        ):
            total += 0.3 * d * np.linalg.norm(part) + 0.2 * (part**2).sum()
    assert np.isclose(penalty.value(own, vector), total)


def test_parabolas_of_the_pull_touch_the_penalty_and_lie_above_it():
    own, penalty, rng = blocks((True, True, True)), GroupL1(0.3, 0.2), np.random.default_rng(5)
    for seed in range(20):
        vector = centred_vector(seed)
        move = centred_vector(100 + seed) * 10.0 ** rng.uniform(-6, 1)
        slope, smooth = penalty.slope(own, vector)
        assert smooth.all()
        pull, _ = penalty.pull(own, vector)
        bound = penalty.value(own, vector) + slope @ move + 0.5 * move @ own.times(move, pull)
        assert penalty.value(own, vector + move) <= bound + 1e-12
        if np.linalg.norm(move) < 1e-3:
            assert np.isclose(penalty.value(own, vector + move), bound, rtol=0, atol=1e-5)


def test_factors_count_for_both_parts():
    vector, penalty = centred_vector(), GroupL1(0.3)
    twice = penalty.value(blocks((True, True, True), np.full(3, 2.0)), vector)
    assert np.isclose(twice, 2.0 * penalty.value(blocks((True, True, True)), vector))


@pytest.mark.parametrize("lam", [0.05, 0.4, 5.0])
def test_the_proximal_step_minimises(lam):
    vector, penalty, own = centred_vector(), GroupL1(lam, 0.1), blocks((True, True, True))
    curvature = np.linspace(0.5, 2.0, 6)
    found = penalty.prox(own, vector, curvature)

    def value(weights):
        away = weights - vector
        return 0.5 * own.spread(curvature) @ away**2 + penalty.value(own, weights)

    rng = np.random.default_rng(3)
    for _ in range(200):
        step = rng.normal(size=LAYOUT.size) * 10.0 ** rng.uniform(-5, 0)
        assert value(found) <= value(found + step) + 1e-12
    for part in range(2):  # also along single parts
        for e, (i, j) in enumerate(LAYOUT.edges):
            step = LAYOUT.zeros()
            noise = rng.normal(size=(CARDS[i], CARDS[j]))
            LAYOUT.table(step, e)[:] = parts_of(noise, i, j)[part]
            assert value(found) <= value(found + 1e-4 * step) + 1e-12


def test_residuals_are_zero_where_the_step_stands_still():
    penalty, own = GroupL1(0.6), blocks((True, True, True))
    weights = penalty.prox(own, centred_vector(), np.ones(6))
    norms = own.norms(weights)
    assert (norms[3:] == 0).any()
    assert (norms[3:] > 0).any()
    slope, _ = penalty.slope(own, weights)
    gradient = centred_vector() - weights  # of -1/2 ||w - v||^2: what the penalty must balance
    gradient[: LAYOUT.n_unary] = 0.0
    assert penalty.kkt_residuals(own, weights, -gradient).max() < 1e-12
    assert np.allclose(slope[: LAYOUT.n_unary], 0.0)


def test_a_table_without_a_rest_keeps_none():
    own = blocks()
    found = GroupL1(0.0, 0.1).prox(own, centred_vector(), np.ones(6))
    line, rest = parts_of(LAYOUT.table(found, 2), 1, 2)
    assert np.linalg.norm(rest) < 1e-12 < np.linalg.norm(line)
    projected = own.parts.project(centred_vector())
    assert np.linalg.norm(parts_of(LAYOUT.table(projected, 2), 1, 2)[1]) < 1e-12
    assert np.allclose(LAYOUT.table(projected, 0), LAYOUT.table(centred_vector(), 0))
