"""Sums over tiles of pairs, against plain sums over rows."""

from itertools import combinations

import numpy as np
import pytest

from graftwork.data import as_table

from doors.data import prepare
from doors.grafting import with_pairs
from doors.inference import Potentials
from doors.kernels import find_doubtful
from doors.objectives import PseudoLikelihood, independent_potentials, pair_sums, pair_tiles

STATES = {"two": [2] * 12, "three": [3] * 12, "mixed": [2, 5, 3, 2, 4, 2, 6, 3, 2, 2, 3, 4]}
WEIGHTS = {"none": None, "whole": "whole", "any": "any"}


def point_of(states, weights):
    """Return a point where two thirds of the variables have neighbours."""
    rng = np.random.default_rng(0)
    table = as_table(np.stack([rng.integers(0, s, 300) for s in states], axis=1))
    if weights is not None:
        own = rng.integers(1, 4, 300).astype(float) if weights == "whole" else rng.random(300)
        table = table.with_weights(own)
    sample = prepare(table)
    edges = np.array([(i, i + 1) for i in range(7)] + [(0, j) for j in range(2, 5)])
    start = with_pairs(independent_potentials(sample), edges)
    weights = start.weights + 0.3 * rng.normal(size=start.layout.size)
    return PseudoLikelihood(sample, 2).at(Potentials(start.layout, weights))


def plain_table(point, i, j):
    """Return the sum over rows of both variables' residuals by the other's states."""
    sample, at = point.objective.sample, point.conditionals
    weights = np.ones(sample.n_rows) if sample.weights is None else sample.weights
    seen, left = [], []
    for k in (i, j):
        states = np.eye(int(sample.cards[k]))[sample.codes[k]]
        given = at.matrix(k)[at.neighbourhoods.of_variable(k).row_ids()]
        seen.append(states)
        left.append((states - given) * weights[:, None])
    return left[0].T @ seen[1] + seen[0].T @ left[1]


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS.keys())
@pytest.mark.parametrize("states", STATES.values(), ids=STATES.keys())
@pytest.mark.parametrize("tile", [1000, 7])
def test_scores_and_statistics_are_those_of_plain_sums(states, weights, tile, monkeypatch):
    monkeypatch.setattr(pair_tiles, "TILE", tile)
    point, rng = point_of(states, weights), np.random.default_rng(1)
    total, n = point.objective.sample.total_weight, len(states)
    roots = rng.uniform(1.0, 2.0, n)
    axes = [rng.normal(size=(s, s - 1)) for s in states]
    curvatures = [rng.uniform(1.0, 2.0, s - 1) for s in states]
    variables, pairs = np.delete(np.arange(n), 3), set()
    for some in point.tiles(variables):
        norms, entries = some.scores(roots, False), some.scores(roots, True)
        statistics = some.statistics(axes, curvatures)
        for x, i in enumerate(some.first.tolist()):
            assert variables[some.places[0] + x] == i
            for y, j in enumerate(some.second.tolist()):
                if some.triangle and y <= x:
                    continue
                table = plain_table(point, i, j)
                pairs.add((i, j))
                norm = np.linalg.norm(table) / (total * roots[i] * roots[j])
                assert norms[x, y] == pytest.approx(norm, rel=1e-9, abs=1e-14)
                assert entries[x, y] == pytest.approx(abs(table).max() / total, rel=1e-9)
                slopes = axes[i].T @ table @ axes[j]
                plain = (slopes**2 / (curvatures[i][:, None] + curvatures[j])).sum()
                assert statistics[x, y] == pytest.approx(plain, rel=1e-9)
    assert pairs == {(i, j) for i in variables.tolist() for j in variables.tolist() if i < j}


@pytest.mark.parametrize("tile", [1000, 7])
@pytest.mark.parametrize("leading", [0, 1, 5, 12])
def test_pairs_of_leading_variables_come_once_each(leading, tile, monkeypatch):
    monkeypatch.setattr(pair_tiles, "TILE", tile)
    point, variables = point_of(STATES["mixed"], None), np.random.default_rng(1).permutation(12)
    pairs = []
    for some in point.tiles(variables, leading):
        scores = some.scores(np.ones(12), False)
        for x, i in enumerate(some.first.tolist()):
            for y, j in enumerate(some.second.tolist()):
                if some.triangle and y <= x:
                    continue
                pairs.append(frozenset((i, j)))
                norm = np.linalg.norm(plain_table(point, i, j)) / 300
                assert scores[x, y] == pytest.approx(norm, rel=1e-9)
    first = set(variables[:leading].tolist())
    expected = {frozenset(p) for p in combinations(range(12), 2) if first & set(p)}
    assert len(pairs) == len(expected)
    assert set(pairs) == expected


@pytest.mark.parametrize("memory", [2**30, 1])
def test_conditionals_that_do_not_fit_are_made_as_they_are_needed(memory, monkeypatch):
    monkeypatch.setattr(pair_sums, "SPAN", 64)
    monkeypatch.setattr(pair_tiles, "MOST_CELLS", 0)
    here = point_of([3] * 12, None)
    here.objective.memory = memory
    point = here.objective.at(here.potentials)
    [some] = point.tiles(np.arange(12))
    scores = some.scores(np.ones(12), False)
    norm = np.linalg.norm(plain_table(point, 1, 6)) / 300
    assert scores[1, 6] == pytest.approx(norm, rel=1e-9)


@pytest.mark.parametrize("most", [1000, 5])
def test_doubtful_pairs_are_those_whose_bound_exceeds_the_limit(most):
    rng, n = np.random.default_rng(2), 15
    first, second = np.triu_indices(n, 1)
    scores = rng.random(len(first))
    scores[::9] = np.inf
    drift, spread, scales = rng.random((3, n)) + np.array([[0.0], [0.0], [1.0]])
    moved = drift[first] * spread[second] + spread[first] * drift[second]
    plain = np.flatnonzero(~(scores + moved / (scales[first] * scales[second]) <= 0.7))
    found = np.empty(200, dtype=np.int64)
    count, known = find_doubtful(scores, drift, spread, scales, 0.7, most, found)
    if most == 1000:
        assert found[:count].tolist() == plain.tolist()
        assert known == np.isfinite(scores[plain]).sum()
    else:
        assert known == most + 1
