"""Whether -inf potentials leave a joint state: against enumeration, and beyond it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from graftwork.errors import TooLargeError
from graftwork.inference import JunctionTree, Layout, Potentials

from doors.inference import log_weights, possible_state, search_mode


def weight(potentials, codes):
    return log_weights(potentials, np.asarray(codes, dtype=np.uint8)[:, None])[0]


def unlike(n, states, edges, rng=None):
    """A network in which neighbours must differ."""
    layout = Layout.of([states] * n, edges)
    weights = layout.zeros() if rng is None else rng.normal(size=layout.size)
    for e in range(layout.n_edges):
        np.fill_diagonal(layout.table(weights, e), -np.inf)
    return Potentials(layout, weights)


def grid(side):
    cells = np.arange(side * side).reshape(side, side)
    across = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
    down = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)
    return [tuple(pair) for pair in np.concatenate([across, down]).tolist()]


@pytest.mark.parametrize("seed", range(12))
def test_small_networks_against_enumeration(seed):
    rng = np.random.default_rng(seed)
    answers = set()
    for share in np.repeat([0.1, 0.4, 0.5, 0.6], 10):
        n = int(rng.integers(1, 6))
        pairs = [pair for pair in itertools.combinations(range(n), 2) if rng.random() < 0.7]
        layout = Layout.of(rng.integers(1, 4, n), pairs)
        weights = rng.normal(size=layout.size)
        weights[rng.random(layout.size) < share] = -np.inf
        potentials = Potentials(layout, weights)
        every = itertools.product(*map(range, layout.cards.tolist()))
        expected = any(weight(potentials, codes) > -np.inf for codes in every)
        found = possible_state(potentials)
        assert (found is not None) == expected
        assert found is None or weight(potentials, found) > -np.inf
        codes, best = JunctionTree().maximise(potentials)
        assert (best > -np.inf) == expected
        assert best == -np.inf or weight(potentials, codes) == pytest.approx(best)
        answers.add(expected)
    assert answers == {True, False}


def test_the_best_state_of_a_contradiction_is_no_garbage():
    triangle = unlike(3, 2, [(0, 1), (1, 2), (0, 2)])
    for _ in range(50):
        for size in range(1, 20):  # what fresh arrays of that size are likely to hold then
            np.full(size, 10**9)
        codes, best = JunctionTree().maximise(triangle)
        assert best == -np.inf
        assert codes.tolist() == [0, 0, 0]


def test_large_grids_of_two_colours():
    edges = grid(30)
    fine = unlike(900, 2, edges)
    assert weight(fine, possible_state(fine)) == 0.0
    assert possible_state(unlike(900, 2, [*edges, (0, 31)])) is None


def test_components_are_settled_by_themselves():
    loose = [(i, i + 1) for i in range(60)]
    corner = [(61, 62), (62, 63), (61, 63)]
    assert possible_state(unlike(64, 2, [*loose, *corner]), most_tries=9) is None


def test_a_search_that_is_too_long_says_so():
    clash = [(i, j) for i in range(9) for j in range(i + 1, 9)]
    with pytest.raises(TooLargeError, match="was not found out in 100 tries"):
        possible_state(unlike(9, 8, clash), most_tries=100)
    assert possible_state(unlike(9, 9, clash)).tolist() == list(range(9))


def test_the_search_for_the_mode_starts_from_a_possible_state_where_draws_have_none(rng):
    potentials = unlike(100, 2, grid(10), rng)
    codes, best = search_mode(potentials, np.random.default_rng(0))
    assert best == pytest.approx(weight(potentials, codes))
    assert best > -np.inf
    nothing = unlike(100, 2, [*grid(10), (0, 11)])
    assert search_mode(nothing, np.random.default_rng(0))[1] == -np.inf
