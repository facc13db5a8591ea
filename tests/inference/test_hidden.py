"""Conditional marginals of hidden variables, row by row, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from graftwork.inference import LoopyBP

from doors.inference import log_hidden, observe
from support.brute import FORESTS, GRAPHS, complete, enumerate_states, random_potentials


def by_enumeration(potentials, codes, hidden):
    """log p(x_i | observed) from the joint table: slice it at what is observed, sum the rest."""
    joint = enumerate_states(potentials).joint
    out = np.empty((len(hidden), codes.shape[1]))
    for r, row in enumerate(codes.T):
        slot = tuple(slice(None) if k in hidden else int(c) for k, c in enumerate(row))
        rest = joint[slot]
        for k, i in enumerate(hidden):
            line = rest.sum(axis=tuple(a for a in range(len(hidden)) if a != k))
            out[k, r] = np.log(line[row[i]] / line.sum())
    return out


def some_rows(rng, cards, rows=15):
    return rng.integers(0, np.array(cards)[:, None], size=(len(cards), rows)).astype(np.uint8)


def hidden_sets(rng, n):
    yield np.arange(n)
    yield np.arange(0, n, 4)
    yield np.sort(rng.choice(n, size=(n + 1) // 2, replace=False))


@pytest.mark.parametrize("name", GRAPHS)
def test_exact_equals_enumeration(name, rng):
    cards, edges = GRAPHS[name]
    potentials = random_potentials(rng, cards, edges)
    codes = some_rows(rng, cards)
    for hidden in hidden_sets(rng, len(cards)):
        found = log_hidden(potentials, codes, hidden)
        assert found.exact
        assert found.unconverged == 0
        expected = by_enumeration(potentials, codes, hidden.tolist())
        np.testing.assert_allclose(found.values, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", FORESTS)
def test_propagation_equals_enumeration_on_forests(name, rng):
    cards, edges = GRAPHS[name]
    potentials = random_potentials(rng, cards, edges)
    codes = some_rows(rng, cards)
    for hidden in hidden_sets(rng, len(cards)):
        found = log_hidden(potentials, codes, hidden, limit_cells=0)
        assert found.exact
        expected = by_enumeration(potentials, codes, hidden.tolist())
        np.testing.assert_allclose(found.values, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", ["complete", "grid", "wheel"])
def test_propagation_equals_the_engine_with_loops(name, rng):
    cards, edges = GRAPHS[name]
    potentials = random_potentials(rng, cards, edges, 0.5)
    codes = some_rows(rng, cards, 6)
    hidden = np.arange(len(cards) - 1)
    found = log_hidden(potentials, codes, hidden, limit_cells=0)
    assert not found.exact
    assert found.unconverged == 0
    for r in range(codes.shape[1]):
        seen = codes[:, r].astype(np.int64)
        seen[hidden] = -1
        reduced = observe(potentials, seen)
        beliefs = LoopyBP().infer(reduced.potentials)
        expected = [np.log(beliefs.unary(k)[codes[i, r]]) for k, i in enumerate(hidden)]
        np.testing.assert_allclose(found.values[:, r], expected, atol=1e-5)


def test_unconverged_propagation_is_counted(rng, monkeypatch):
    monkeypatch.setattr("graftwork.inference.hidden.SWEEPS", 2)
    potentials = random_potentials(rng, [2] * 10, complete(10), 6.0)
    codes = some_rows(rng, [2] * 10, 20)
    found = log_hidden(potentials, codes, np.arange(9), limit_cells=0)
    lines = len(np.unique(codes[9]))
    assert 0 < found.unconverged <= lines
    assert np.isfinite(found.values).all()


def test_rows_and_threads_do_not_matter(rng):
    cards, edges = GRAPHS["binary 16"]
    potentials = random_potentials(rng, cards, edges)
    codes = some_rows(rng, cards, 3000)
    hidden = np.arange(0, 16, 2)
    for limit in (None, 0):
        one = log_hidden(potentials, codes, hidden, limit_cells=limit)
        two = log_hidden(potentials, codes, hidden, limit_cells=limit, n_jobs=2)
        np.testing.assert_array_equal(one.values, two.values)
        some = rng.choice(3000, 40)
        part = log_hidden(potentials, codes[:, some], hidden, limit_cells=limit)
        np.testing.assert_allclose(part.values, one.values[:, some], atol=1e-12)


@pytest.mark.parametrize("limit", [None, 0])
def test_tiny_probabilities_keep_their_logs(rng, limit):
    """Probabilities far below the smallest double are told in logs."""
    potentials = random_potentials(rng, [3, 2, 4], [(0, 1), (1, 2)], 600.0)
    codes = some_rows(rng, [3, 2, 4], 40)
    energy = enumerate_states(potentials).energy
    found = log_hidden(potentials, codes, np.arange(3), limit_cells=limit)
    for i in range(3):
        axes = tuple(k for k in range(3) if k != i)
        logs = np.logaddexp.reduce(energy, axis=axes)
        expected = logs[codes[i]] - np.logaddexp.reduce(logs)
        np.testing.assert_allclose(found.values[i], expected, rtol=1e-9, atol=1e-9)
    assert found.values.min() < -800


@pytest.mark.parametrize("limit", [None, 0])
def test_impossible_rows_are_minus_infinity(rng, limit):
    potentials = random_potentials(rng, [2, 2, 2], [(0, 1), (1, 2)])
    potentials.layout.table(potentials.weights, 0)[1, 0] = -np.inf
    codes = np.array([[1, 0], [0, 0], [1, 1]], dtype=np.uint8)
    found = log_hidden(potentials, codes, np.array([0, 2]), limit_cells=limit).values
    assert np.isneginf(found[0, 0])
    assert np.isfinite(found[:, 1]).all()
    assert np.isfinite(found[1]).all()
    layout = potentials.layout
    layout.table(potentials.weights, 1)[:] = -np.inf
    found = log_hidden(potentials, codes, np.array([0, 2]), limit_cells=limit).values
    assert np.isneginf(found).any(axis=0).all()
