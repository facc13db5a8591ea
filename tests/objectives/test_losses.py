"""One contract for every loss: value, gradient, inactive pairs, weights."""

import numpy as np
import pytest

from graftwork.inference import JunctionTree, Layout, LoopyBP, Potentials
from graftwork.objectives import Likelihood, PseudoLikelihood

from doors.data import prepare
from doors.objectives import independent_potentials
from support.problems import (
    all_pairs,
    dense_available,
    dense_likelihood,
    dense_pseudo,
    random_table,
    with_holes,
)


def some_states(codes, cards):
    """A state for every cell that depends on the rest of its row."""
    return (codes.sum(axis=0, dtype=np.int64) + np.arange(len(cards))[:, None]) % cards[:, None]


def drawn_case(sample):
    return PseudoLikelihood(sample.with_drawn(some_states(sample.counts.codes, sample.cards)))


def dense_drawn(table, vector, pairs):
    cards = np.array([len(s) - ("(missing)" in s) for s in table.states])
    return dense_available(table, vector, pairs, some_states(table.codes, cards))


LOSSES = {
    "pseudo": (PseudoLikelihood, dense_pseudo),
    "available": (PseudoLikelihood, dense_available),
    "drawn": (drawn_case, dense_drawn),
    "likelihood": (lambda sample: Likelihood(sample, JunctionTree()), dense_likelihood),
}
HOLES = ("available", "drawn")


def random_potentials(sample, edges, seed):
    layout = Layout.of(sample.cards, edges)
    return Potentials(layout, np.random.default_rng(seed).normal(0, 0.7, layout.size))


@pytest.fixture(params=LOSSES)
def loss(request):
    return LOSSES[request.param]


@pytest.fixture(params=[None, "weighted"])
def table(request):
    rng = np.random.default_rng(3)
    weights = None if request.param is None else rng.random(150) * (rng.random(150) < 0.9)
    table = random_table(5, n=6, rows=150, most=8, weights=weights)
    parameters = request.node.callspec.params
    return with_holes(table, 6) if parameters.get("loss") in HOLES else table


def prepared(table):
    return prepare(table, missing=True)


EDGES = np.array([(0, 1), (1, 4), (0, 4), (3, 5)])


def test_value_and_gradient_equal_the_dense_loss(loss, table):
    make, dense = loss
    sample = prepared(table)
    potentials = random_potentials(sample, EDGES, 0)
    point = make(sample).at(potentials)
    value, gradient = dense(table, potentials.weights, EDGES)
    assert np.isclose(point.value, value, rtol=1e-12)
    assert np.allclose(point.gradient, gradient, atol=1e-12)


def test_gradient_agrees_with_finite_differences(loss, table):
    make, _ = loss
    objective = make(prepared(table))
    potentials = random_potentials(objective.sample, EDGES, 1)
    point = objective.at(potentials)
    direction = np.random.default_rng(2).normal(size=potentials.layout.size)
    step = 1e-5
    ends = [
        objective.at(Potentials(potentials.layout, potentials.weights + t * direction)).value
        for t in (step, -step)
    ]
    assert np.isclose((ends[0] - ends[1]) / (2 * step), point.gradient @ direction, rtol=1e-6)


def test_inactive_gradient_is_the_tail_after_activation(loss, table):
    make, _ = loss
    objective = make(prepared(table))
    potentials = random_potentials(objective.sample, EDGES, 4)
    active = {tuple(e) for e in EDGES.tolist()}
    pairs = np.array([p for p in all_pairs(6).tolist() if tuple(p) not in active])
    tables, offsets, exact = objective.at(potentials).pair_gradients(pairs)
    grown = Layout.of(objective.sample.cards, np.concatenate([EDGES, pairs]))
    weights = np.concatenate([potentials.weights, np.zeros(grown.size - potentials.layout.size)])
    tail = objective.at(Potentials(grown, weights)).gradient[potentials.layout.size :]
    assert exact
    assert offsets[-1] == len(tail)
    assert np.abs(tables - tail).max() < 1e-10


@pytest.mark.parametrize("memory", [2 * 2**30, 4000])
def test_removal_costs_are_what_an_evaluation_without_the_edge_says(loss, table, memory):
    make, dense = loss
    objective = make(prepared(table))
    objective.memory = memory
    potentials = random_potentials(objective.sample, EDGES, 11)
    point = objective.at(potentials)
    frequencies = np.split(objective.sample.frequencies, np.cumsum(objective.sample.cards)[:-1])
    costs = []
    for e, (i, j) in enumerate(EDGES):
        without = Layout.of(objective.sample.cards, np.delete(EDGES, e, axis=0))
        moved = potentials.weights.copy()
        removed = potentials.layout.table(moved, e)
        potentials.layout.unary(moved, i)[:] += removed @ frequencies[j]
        potentials.layout.unary(moved, j)[:] += frequencies[i] @ removed
        kept = np.delete(np.arange(potentials.layout.size), potentials.layout.entries([e]))
        value, _ = dense(table, moved[kept], without.edges)
        costs.append(value - point.value)
    assert np.allclose(point.removal_costs(), costs, atol=1e-12)


def test_inactive_gradients_do_not_depend_on_batches_or_memory(table):
    sample = prepare(table)
    potentials = random_potentials(sample, EDGES, 5)
    pairs = np.array([(0, 2), (2, 3), (0, 3), (1, 2), (4, 5)])
    whole, _, _ = PseudoLikelihood(sample).at(potentials).pair_gradients(pairs)
    tight = PseudoLikelihood(sample, memory=1).at(potentials)
    assert np.array_equal(tight.pair_gradients(pairs)[0], whole)
    point = PseudoLikelihood(sample).at(potentials)
    one_by_one = [point.pair_gradients(pair[None])[0] for pair in pairs]
    assert np.array_equal(np.concatenate(one_by_one), whole)


def test_threads_change_nothing(table):
    sample = prepare(table)
    potentials = random_potentials(sample, EDGES, 6)
    one, two = (PseudoLikelihood(sample, n_jobs).at(potentials) for n_jobs in (1, 2))
    assert one.value == two.value
    assert np.array_equal(one.gradient, two.gradient)


def test_independent_network_is_stationary(loss, table):
    objective = loss[0](prepared(table))
    point = objective.at(independent_potentials(objective.sample))
    assert np.abs(point.gradient).max() < 1e-12


def test_likelihood_by_belief_propagation_is_exact_on_forests_and_says_so():
    sample = prepare(random_table(7))
    forest, cycle = np.array([(0, 1), (1, 2), (3, 4)]), np.array([(0, 1), (1, 2), (0, 2)])
    bp, exact = Likelihood(sample, LoopyBP()), Likelihood(sample, JunctionTree())
    points = [loss.at(random_potentials(sample, forest, 8)) for loss in (bp, exact)]
    assert points[0].exact
    assert np.isclose(points[0].value, points[1].value, rtol=1e-10)
    assert np.allclose(points[0].gradient, points[1].gradient, atol=1e-9)
    loopy = bp.at(random_potentials(sample, cycle, 9))
    assert not loopy.exact
    assert not loopy.pair_gradients(np.array([(0, 3), (3, 5)]))[2]


def test_large_weights_do_not_overflow():
    sample = prepare(random_table(8))
    layout = Layout.of(sample.cards, EDGES)
    weights = np.random.default_rng(0).normal(0, 400, layout.size)
    point = PseudoLikelihood(sample).at(Potentials(layout, weights))
    value, gradient = dense_pseudo(random_table(8), weights, EDGES)
    assert np.isclose(point.value, value, rtol=1e-12)
    assert np.allclose(point.gradient, gradient, atol=1e-12)
