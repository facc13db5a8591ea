"""The spaces of pairs and of cells: numbered without a list, in order or at random."""

import tracemalloc
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftwork.grafting import CellSpace, Problem
from graftwork.inference import JunctionTree, Layout, Potentials
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.penalties import L1

from doors.data import prepare
from doors.grafting import Network, PairSpace, RandomOrder, pairs_only
from doors.objectives import independent_potentials
from support.problems import all_pairs, dense_likelihood, dense_pseudo, random_table

SPACES = {"pairs": lambda variables, cards: PairSpace(variables), "cells": CellSpace}
CARDS = np.array([2, 4, 3, 1, 2, 3])
SOME = {
    "all that vary": [0, 1, 2, 4, 5],
    "a subset": [1, 4, 5],
    "two": [2, 5],
    "one": [4],
    "none": [],
}
LOSSES = {
    "pseudo": (lambda sample: PseudoLikelihood(sample, 1), dense_pseudo),
    "likelihood": (lambda sample: Likelihood(sample, JunctionTree()), dense_likelihood),
}


@pytest.mark.parametrize("n", [0, 1, 2, 3, 17, 100])
def test_keys_number_all_pairs_in_order(n):
    variables = np.sort(np.random.default_rng(n).choice(5 * n + 1, n, replace=False))
    space = PairSpace(variables)
    expected = [(a, b) for k, a in enumerate(variables) for b in variables[k + 1 :]]
    pairs = space.pairs(np.arange(space.size))
    assert [tuple(p) for p in pairs.tolist()] == [tuple(map(int, p)) for p in expected]
    assert np.array_equal(space.keys(pairs), np.arange(space.size))
    assert np.array_equal(space.keys(pairs[:, ::-1]), np.arange(space.size))


@given(st.integers(2, 10**6), st.integers(0, 2**60))
def test_keys_of_huge_spaces_round_trip(n, number):
    space = PairSpace(np.arange(n))
    key = np.array([number % space.size])
    pair = space.pairs(key)
    assert 0 <= pair[0, 0] < pair[0, 1] < n
    assert space.keys(pair)[0] == key[0]


def test_keys_at_a_variable():
    space = PairSpace(np.arange(6))
    pairs = space.pairs(space.keys_at(3, np.arange(5)))
    assert sorted(map(tuple, pairs.tolist())) == [(0, 3), (1, 3), (2, 3), (3, 4), (3, 5)]
    assert space.places(3, np.array([0, 1, 2, 4, 5])).tolist() == [0, 1, 2, 3, 4]


@given(st.integers(1, 3000), st.integers(0, 100), st.integers(0, 3000))
def test_random_order_knows_what_was_read(size, seed, count):
    order = RandomOrder(size, np.random.default_rng(seed))
    read = set(order.take(count).tolist())
    assert order.taken(np.arange(size)).tolist() == [k in read for k in range(size)]


@given(st.integers(0, 3000), st.integers(0, 100), st.integers(1, 500))
def test_random_order_is_a_permutation(size, seed, piece):
    order = RandomOrder(size, np.random.default_rng(seed))
    parts = []
    while len(part := order.take(piece)):
        parts.append(part)
    seen = np.concatenate(parts) if parts else np.zeros(0)
    assert np.array_equal(np.sort(seen), np.arange(size))


def test_random_order_looks_random():
    """Neighbouring draws are unrelated, and different seeds give different orders."""
    first = RandomOrder(100_000, np.random.default_rng(0)).take(20_000)
    second = RandomOrder(100_000, np.random.default_rng(1)).take(20_000)
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 0.03
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.03
    assert abs(first.mean() / 50_000 - 1) < 0.02


def brute(name, variables, cards):
    """The blocks of a space by their keys: (pair, cells of its table)."""
    pairs = list(combinations(variables, 2))
    sizes = [int(cards[i] * cards[j]) for i, j in pairs]
    if name == "pairs":
        return [(pair, list(range(size))) for pair, size in zip(pairs, sizes, strict=True)]
    return [(pair, [c]) for pair, size in zip(pairs, sizes, strict=True) for c in range(size)]


@pytest.fixture(params=SPACES)
def kind(request):
    return request.param


@pytest.mark.parametrize("variables", SOME.values(), ids=SOME.keys())
def test_keys_number_all_blocks_in_order(kind, variables):
    space = SPACES[kind](np.array(variables, dtype=np.int64), CARDS)
    blocks = brute(kind, variables, CARDS)
    keys = np.arange(space.size)
    assert space.size == len(blocks)
    assert [tuple(pair) for pair in space.pairs(keys).tolist()] == [pair for pair, _ in blocks]
    if kind == "cells":
        assert space.cells(keys).tolist() == [cells[0] for _, cells in blocks]
        assert space.scales(CARDS, keys).tolist() == [1.0] * len(blocks)
    else:
        assert np.allclose(space.scales(CARDS, keys) ** 2, [len(cells) for _, cells in blocks])
    shuffled = np.random.default_rng(0).permutation(keys)
    assert np.array_equal(space.pairs(shuffled), space.pairs(keys)[shuffled])


@pytest.mark.parametrize("variables", [[0, 1, 2, 4, 5], [1, 4, 5]], ids=str)
def test_entries_are_where_the_layout_has_the_blocks(kind, variables):
    space = SPACES[kind](np.array(variables), CARDS)
    edges = np.random.default_rng(1).permutation(list(combinations(variables, 2)))
    layout = Layout.of(CARDS, edges)
    numbers = np.arange(float(layout.size))
    tables = {
        tuple(pair): layout.table(numbers, e).ravel() for e, pair in enumerate(edges.tolist())
    }
    blocks = brute(kind, variables, CARDS)
    keys = np.random.default_rng(2).permutation(space.size)
    places, starts = space.entries(layout, keys)
    for place, key in enumerate(keys):
        pair, cells = blocks[key]
        assert places[starts[place] : starts[place + 1]].tolist() == tables[pair][cells].tolist()


def problem_at(loss, lam=0.01):
    objective = LOSSES[loss][0](prepare(random_table(31, n=6, rows=120, most=4)))
    return Problem(objective, L1(lam))


def start_of(problem, space):
    start = independent_potentials(problem.objective.sample)
    free = space.free(start.layout, start.weights)
    return Network(problem.solution(start, free=free), free)


def assert_holds(network, kind, space, expected):
    """The network's active blocks, its edges and what may move are just the expected ones."""
    layout, cards = network.layout, network.layout.cards
    blocks = brute(kind, space.variables.tolist(), cards)
    assert sorted(network.active(space).tolist()) == sorted(expected)
    assert set(map(tuple, layout.edges.tolist())) == {blocks[key][0] for key in expected}
    numbers = np.arange(float(layout.size))
    tables = {
        tuple(pair): layout.table(numbers, e).ravel()
        for e, pair in enumerate(layout.edges.tolist())
    }
    movable = [int(p) for key in expected for p in tables[blocks[key][0]][blocks[key][1]]]
    assert np.flatnonzero(network.free[layout.n_unary :]).tolist() == sorted(
        place - layout.n_unary for place in movable
    )
    assert network.free[: layout.n_unary].all()


@pytest.mark.parametrize("variables", [[0, 1, 2, 3, 4, 5], [0, 2, 3, 5]], ids=str)
def test_active_entries_and_free_agree_while_blocks_come_and_go(kind, variables):
    problem = problem_at("pseudo")
    space = SPACES[kind](np.array(variables), problem.objective.sample.cards)
    network, expected, rng = start_of(problem, space), set(), np.random.default_rng(3)
    for _ in range(12):
        idle = np.setdiff1d(np.arange(space.size), list(expected))
        coming = rng.choice(idle, min(len(idle), rng.integers(1, 6)), replace=False)
        network = network.grow(problem, space, coming)
        expected |= set(coming.tolist())
        assert_holds(network, kind, space, expected)
        going = rng.choice(sorted(expected), rng.integers(0, len(expected) + 1), replace=False)
        network = network.shrink(problem, space, going.astype(np.int64))
        expected -= set(going.tolist())
        assert_holds(network, kind, space, expected)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_go_with_their_blocks_and_those_dropped_are_evaluated_anew(kind, loss):
    problem = problem_at(loss)
    table = random_table(31, n=6, rows=120, most=4)
    space = SPACES[kind](np.arange(6), problem.objective.sample.cards)
    rng = np.random.default_rng(4)
    network = start_of(problem, space).grow(problem, space, rng.permutation(space.size)[:9])
    weights = np.where(network.free, rng.normal(0, 0.5, network.layout.size), 0.0)
    moved = problem.solution(Potentials(network.layout, weights), free=network.free)
    network = Network(moved, network.free)
    active = network.active(space)
    entries, starts = space.entries(network.layout, active)
    assert np.allclose(
        network.largest(space, active),
        [np.abs(weights[entries[a:b]]).max() for a, b in pairwise(starts)],
    )
    before = problem.objective.evaluations
    left = network.shrink(problem, space, active[:4])
    assert problem.objective.evaluations == before + 1
    assert_holds(left, kind, space, set(active[4:].tolist()))
    kept, old = (
        space.entries(left.layout, active[4:])[0],
        space.entries(network.layout, active[4:])[0],
    )
    assert np.array_equal(left.weights[kept], network.weights[old])
    assert np.isclose(
        left.solution.point.value, LOSSES[loss][1](table, left.weights, left.layout.edges)[0]
    )
    back = left.grow(problem, space, active[:4])
    assert back.weights[space.entries(back.layout, active[:4])[0]].tolist() == [0.0] * len(
        space.entries(back.layout, active[:4])[0]
    )
    assert np.isclose(back.solution.objective, left.solution.objective, rtol=1e-14)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("variables", [[0, 1, 2, 3, 4, 5], [0, 2, 3]], ids=str)
def test_gradients_are_slices_of_the_dense_gradient(kind, loss, variables):
    table = random_table(32, n=6, rows=120, most=4)
    make, dense = LOSSES[loss]
    objective = make(prepare(table))
    edges = np.array([(0, 2), (1, 4), (2, 3)])
    layout = Layout.of(objective.sample.cards, edges)
    rng = np.random.default_rng(5)
    point = objective.at(Potentials(layout, rng.normal(0, 0.5, layout.size)))
    others = [pair for pair in all_pairs(6).tolist() if pair not in edges.tolist()]
    whole = Layout.of(layout.cards, np.concatenate([edges, others]))
    weights = np.concatenate([point.potentials.weights, np.zeros(whole.size - layout.size)])
    gradient = dense(table, weights, whole.edges)[1]
    space = SPACES[kind](np.array(variables), objective.sample.cards)
    keys = rng.permutation(space.size)
    places, expected_starts = space.entries(whole, keys)
    more = Layout.of(layout.cards, [*edges.tolist(), (0, 3), (2, 5)])
    grown = Potentials(more, weights[: more.size])
    for seen in (point, objective.at(grown)):
        found, starts, exact = space.gradients(seen, keys)
        assert exact
        assert np.array_equal(starts, expected_starts)
        assert np.allclose(found, gradient[places], atol=1e-12)


def test_a_start_frees_whole_tables_or_the_cells_that_are_not_zero():
    layout = Layout.of([2, 2, 3], [(0, 1), (1, 2)])
    weights = np.zeros(layout.size)
    layout.table(weights, 1)[0, 2] = -1.0
    assert PairSpace(np.arange(3)).free(layout, weights).all()
    cells = CellSpace(np.arange(3), layout.cards).free(layout, weights)
    assert np.flatnonzero(~cells).tolist() == [7, 8, 9, 10, 11, 12, 14, 15, 16]


@pytest.mark.parametrize("name", SPACES)
def test_a_hundred_thousand_variables_are_numbered_without_a_list(name):
    n, rng = 100_000, np.random.default_rng(6)
    cards = rng.integers(2, 6, n)
    tracemalloc.start()
    space = SPACES[name](np.arange(n), cards)
    total = int(cards.sum())
    cells = (total * total - int((cards * cards).sum())) // 2
    assert space.size == (n * (n - 1) // 2 if name == "pairs" else cells)
    keys = np.concatenate([[0, space.size - 1], rng.integers(0, space.size, 1000)])
    pairs = space.pairs(keys)
    layout = Layout.of(cards, np.unique(pairs, axis=0))
    assert np.array_equal(layout.edges[[0, -1]], [[0, 1], [n - 2, n - 1]])
    if name == "pairs":
        assert np.array_equal(space.keys(pairs), keys)
    free = np.zeros(layout.size, dtype=bool)
    free[space.entries(layout, keys)[0]] = True
    assert np.array_equal(space.active(layout, free), np.unique(keys))
    assert tracemalloc.get_traced_memory()[1] < 100 * 2**20  # all pairs alone would be 40 GB
    tracemalloc.stop()


def test_cells_are_refused_where_whole_tables_are_needed():
    with pytest.raises(ValueError, match="first hit activates whole tables"):
        pairs_only(CellSpace(np.arange(3), np.array([2, 2, 2])), "first hit")
