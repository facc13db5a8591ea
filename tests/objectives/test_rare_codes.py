"""Sums over the rows with rare codes equal those over all rows."""

import numpy as np
import pytest

from graftwork.data import Table
from graftwork.objectives import PseudoLikelihood

from doors.data import prepare
from doors.grafting import with_pairs
from doors.inference import Potentials
from doors.objectives import RareCodes, independent_potentials
from doors.objectives import rare_codes as module

EDGES = np.array([[0, 1], [1, 2], [3, 8], [4, 9]])


def point_of(kind):
    """A network of variables of two and three states, most of them sparse."""
    rng, rows, states = np.random.default_rng(0), 700, [2, 2, 3, 2, 3, 2, 2, 3, 2, 3]
    codes = np.zeros((len(states), rows), dtype=np.uint8)
    for i, s in enumerate(states):
        some = rng.random(rows) < (0.4 if i in (1, 8) else 0.02)
        codes[i, some] = rng.integers(1, s, some.sum())
        codes[i, :s] = np.arange(s)
    codes[5] = 1 - codes[5]  # commonest is not the first
    names, listed = tuple("abcdefghij"), [tuple(range(s)) for s in states]
    if kind == "incomplete":
        codes[2, 50:60] = codes[8, 90:300] = 3
        codes[8, codes[8] == 3] = 2
        listed[2] = (*listed[2], "(missing)")
        listed[8] = (*listed[8], "(missing)")
    weights = rng.random(rows) + 0.5 if kind == "weighted" else None
    sample = prepare(
        Table(names, tuple(listed), codes, weights), missing=kind == "incomplete", merge=False
    )
    start = with_pairs(independent_potentials(sample), EDGES)
    moved = start.weights + np.random.default_rng(1).normal(size=len(start.weights)) * 0.5
    return PseudoLikelihood(sample, 1).at(Potentials(start.layout, moved)), sample


@pytest.mark.parametrize("span", [2**15, 64])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("kind", ["complete", "weighted", "incomplete"])
def test_pairs_have_the_same_expectations(kind, dense, span, monkeypatch):
    monkeypatch.setattr("graftwork.objectives.pair_sums.SPAN", span)
    monkeypatch.setattr("graftwork.objectives.pair_sums.MANY_PAIRS", 1 if dense else 10**9)
    point, sample = point_of(kind)
    absent = np.array([
        (i, j) for i in range(10) for j in range(i + 1, 10) if [i, j] not in EDGES.tolist()
    ])  # fmt: skip
    assert point.conditionals.neighbourhoods.cache.rare.sparse.sum() >= 6
    assert not point.conditionals.neighbourhoods.cache.rare.sparse[[1, 8]].any()
    found = point.pair_expectations(absent)
    monkeypatch.setattr(module, "SPARSE", -1.0)
    other, _ = point_of(kind)
    wanted = other.pair_expectations(absent)
    assert not other.conditionals.neighbourhoods.cache.rare.sparse.any()
    assert np.allclose(found.model, wanted.model, atol=1e-14)
    if sample.complete:
        roots = np.sqrt(sample.cards.astype(float))
        tiles = [[t.scores(roots, False) for t in p.tiles(np.arange(10))] for p in (point, other)]
        assert all(np.allclose(*both, atol=1e-13) for both in zip(*tiles, strict=True))


def test_rare_codes_are_listed():
    codes = np.zeros((3, 100), dtype=np.uint8)
    codes[0, [3, 70]] = [2, 1]
    codes[1] = 1
    codes[1, 99] = 0
    codes[2, ::2] = 1
    largest = np.array([0.98, 0.99, 0.5])
    found = RareCodes.of(codes, np.array([3, 2, 2]), largest)
    assert found.sparse.tolist() == [True, True, False]
    assert found.commonest[:2].tolist() == [0, 1]
    assert found.starts.tolist() == [0, 2, 3, 3]
    assert found.rows.tolist() == [3, 70, 99]
    assert found.codes.tolist() == [2, 1, 0]
    spans = list(found.spans(np.array([0, 1]), [0, 50, 100]))
    assert [(a.tolist(), b.tolist()) for a, b in spans] == [([0, 2], [1, 2]), ([1, 2], [2, 3])]
