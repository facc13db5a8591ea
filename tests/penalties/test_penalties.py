"""One contract for every penalty: prox, slope, gaps and scores tell the same story."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from graftwork.inference import Layout
from graftwork.penalties import L1, Blocks, GroupL1, residual
from graftwork.penalties import PENALTIES as NAMES

from doors.penalties import pair_scales

PENALTIES = [
    GroupL1(0.3),
    GroupL1(0.3, 0.2),
    GroupL1(0.3, 0.2, 0.3, 0.2),
    GroupL1(0.3, 0.0, 0.1, 0.05),
    GroupL1(0.0, 0.1),
    L1(0.3),
    L1(0.3, 0.2),
    L1(0.3, 0.0, 0.3, 0.0),
    L1(0.3, 0.1, 0.05, 0.2),
    L1(0.0, 0.2),  # a ridge
    L1(0.0, 0.0, 0.1),  # nothing on tables
    L1(0.0),  # nothing at all
]
REGISTERED = {name: NAMES[name](0.3, 0.1, 0.2, 0.1) for name in NAMES}
CASES = [pytest.param(each, id=str(each)) for each in PENALTIES]
CASES += [pytest.param(each, id=name) for name, each in REGISTERED.items()]
LAYOUT = Layout.of([2, 3, 4], [(0, 1), (1, 2)])
DECLARED = np.array([3, 3, 4])


BLOCKS = Blocks.of(LAYOUT, DECLARED)


@pytest.mark.parametrize("penalty", CASES)
def test_prox_minimises_its_definition(penalty):
    rng = np.random.default_rng(0)
    b = BLOCKS
    target = rng.normal(0, 1, LAYOUT.size)
    curvature = rng.random(len(b.scale)) + 0.5

    def definition(w):
        gap = w - target
        return 0.5 * (b.spread(curvature) * gap) @ gap + penalty.value(b, w)

    answer = penalty.prox(b, target, curvature)
    found = minimize(definition, answer + 0.05, method="Powell", options={"maxiter": 20000})
    assert definition(answer) <= found.fun + 1e-7
    for _ in range(200):
        near = answer + rng.normal(0, 10.0 ** rng.uniform(-6, 0), LAYOUT.size)
        assert definition(answer) <= definition(near) + 1e-12


@pytest.mark.parametrize("penalty", CASES)
@given(seed=st.integers(0, 200), size=st.floats(0.01, 2.0))
def test_the_gap_is_zero_exactly_when_prox_stays(penalty, seed, size):
    """A block does not violate exactly when the proximal step leaves it where it is."""
    rng = np.random.default_rng(seed)
    b = BLOCKS
    weights = penalty.prox(b, rng.normal(0, 1, LAYOUT.size), np.ones(len(b.scale)))
    slope, smooth = penalty.slope(b, weights)
    gradient = np.where(smooth, -slope, size * rng.normal(0, 1, LAYOUT.size) * 0.3)
    gaps = b.largest(penalty.kkt_residuals(b, weights, gradient))
    moved = penalty.prox(b, weights - gradient, np.ones(len(b.scale)))
    stays = b.largest(moved - weights) < 1e-12
    assert np.array_equal(stays, gaps < 1e-12)


@pytest.mark.parametrize("penalty", CASES)
def test_slope_is_the_gradient_of_the_value(penalty):
    b = BLOCKS
    weights = np.random.default_rng(1).normal(0, 1, LAYOUT.size)
    direction = np.random.default_rng(2).normal(0, 1, LAYOUT.size)
    slope, smooth = penalty.slope(b, weights)
    ends = [penalty.value(b, weights + t * direction) for t in (1e-6, -1e-6)]
    assert smooth.all()
    assert np.isclose((ends[0] - ends[1]) / 2e-6, slope @ direction, rtol=1e-6)


@pytest.mark.parametrize("penalty", CASES)
def test_score_exceeds_lam_exactly_when_the_idle_block_violates(penalty):
    rng = np.random.default_rng(3)
    b = BLOCKS
    for _ in range(50):
        gradient = rng.normal(0, 0.4, LAYOUT.size) * rng.random()
        gaps = b.largest(penalty.kkt_residuals(b, np.zeros(LAYOUT.size), gradient))[
            LAYOUT.n_variables :
        ]
        tail = gradient[LAYOUT.n_unary :]
        offsets = LAYOUT.edge_offsets - LAYOUT.n_unary
        scores = penalty.scores(tail, offsets, pair_scales(DECLARED, LAYOUT.edges))
        assert np.allclose(gaps, np.maximum(0, scores - penalty.lam))


def test_scale_is_the_root_of_the_declared_entries():
    assert np.allclose(BLOCKS.scale, [*np.sqrt(DECLARED), 3, np.sqrt(12)])


def test_strengths_of_unaries_and_tables_are_their_own():
    weights = np.random.default_rng(4).normal(0, 1, LAYOUT.size)
    unaries, tables = weights[: LAYOUT.n_unary], weights[LAYOUT.n_unary :]
    expected = 0.3 * np.abs(tables).sum() + 0.2 * (tables**2).sum()
    expected += 0.1 * np.abs(unaries).sum() + 0.05 * (unaries**2).sum()
    assert np.isclose(L1(0.3, 0.2, 0.1, 0.05).value(BLOCKS, weights), expected)


def test_what_may_not_move_does_not_count_as_residual():
    free = np.zeros(LAYOUT.size, dtype=bool)
    gradient = np.arange(LAYOUT.size, dtype=float)
    assert residual(L1(0.3), Blocks.of(LAYOUT, DECLARED, free), 0 * gradient, gradient) == 0
    free[3] = True  # a free unary
    assert residual(L1(0.3), Blocks.of(LAYOUT, DECLARED, free), 0 * gradient, gradient) == 3
