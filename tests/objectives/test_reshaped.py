"""A point seen through another layout is the point that would be evaluated there."""

import numpy as np
import pytest

from graftwork.inference import JunctionTree, Layout, LoopyBP, Potentials
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.penalties import GroupL1
from graftwork.solvers import ProximalQuasiNewton

from doors.data import prepare
from doors.grafting import Problem
from doors.inference import find_edges
from doors.objectives import Reshaped, evaluated, reshape, table_gradients
from support.problems import all_pairs, random_table

LOSSES = {
    "pseudo": lambda sample: PseudoLikelihood(sample, 1),
    "likelihood": lambda sample: Likelihood(sample, JunctionTree()),
}
N = 6
# edges whose tables are not zero, and edges that are there with tables of zeros
BUSY = [(0, 2), (1, 4), (2, 5)]
IDLE = [(0, 1), (3, 5)]
LAYOUTS = {
    "same": BUSY + IDLE,
    "one more": [*BUSY, *IDLE, (2, 3)],
    "several more": [*BUSY, *IDLE, (2, 3), (0, 5), (3, 4)],
    "one fewer": [*BUSY, (3, 5)],
    "fewer": BUSY,
    "others": [*BUSY, (1, 2), (4, 5)],
    "another order": [(4, 5), (2, 5), (1, 2), (0, 2), (0, 1), (1, 4)],
    "all": [tuple(pair) for pair in all_pairs(N).tolist()],
}


@pytest.fixture(params=LOSSES)
def objective(request):
    return LOSSES[request.param](prepare(random_table(41, n=N, rows=150, most=4)))


def potentials_on(objective, edges):
    """The same network in any layout that has its edges: the busy ones' weights, and zeros."""
    layout = Layout.of(objective.sample.cards, edges)
    rng, weights = np.random.default_rng(0), layout.zeros()
    weights[: layout.n_unary] = rng.normal(0, 0.5, layout.n_unary)
    for i, j in BUSY:
        table = layout.table(weights, int(find_edges(layout, np.array([(i, j)]))[0]))
        table[:] = rng.normal(0, 0.8, table.shape)
    return Potentials(layout, weights)


def assert_same(seen, real):
    """Everything a point knows agrees with the evaluated one."""
    assert seen.potentials.layout is real.potentials.layout
    assert np.isclose(seen.value, real.value, rtol=1e-13)
    assert np.allclose(seen.gradient, real.gradient, atol=1e-13)
    assert np.allclose(seen.curvature, real.curvature, atol=1e-13)
    assert np.allclose(seen.edge_spreads(), real.edge_spreads(), atol=1e-12)
    assert np.allclose(seen.removal_costs(), real.removal_costs(), atol=1e-12)
    assert seen.exact
    assert seen.trusted
    pairs = all_pairs(N)
    for ours, theirs in zip(
        table_gradients(seen, pairs), table_gradients(real, pairs), strict=True
    ):
        assert np.allclose(ours, theirs, atol=1e-13)
    absent = pairs[find_edges(seen.potentials.layout, pairs) < 0]
    if len(absent):
        gradients, offsets, exact = seen.pair_gradients(absent)
        expected, starts, _ = real.pair_gradients(absent)
        assert exact
        assert np.array_equal(offsets, starts)
        assert np.allclose(gradients, expected, atol=1e-13)
        assert np.allclose(seen.pair_curvatures(absent), real.pair_curvatures(absent), atol=1e-13)
        assert np.allclose(seen.pair_gains(absent), real.pair_gains(absent), atol=1e-12)
        ours, theirs = seen.pair_expectations(absent), real.pair_expectations(absent)
        assert np.allclose(ours.model, theirs.model, atol=1e-13)
        assert np.array_equal(ours.data, theirs.data)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_reshaped_point_is_the_point_evaluated_there(objective, name):
    point = objective.at(potentials_on(objective, BUSY + IDLE))
    wanted = potentials_on(objective, LAYOUTS[name])
    seen = reshape(point, wanted)
    assert objective.evaluations == 1
    assert_same(seen, objective.at(wanted))
    assert objective.evaluations == 2


@pytest.mark.parametrize("first", LAYOUTS)
@pytest.mark.parametrize("second", ["one fewer", "several more", "another order"])
def test_reshaping_again_goes_back_to_what_was_evaluated(objective, first, second):
    point = objective.at(potentials_on(objective, BUSY + IDLE))
    there = reshape(point, potentials_on(objective, LAYOUTS[first]))
    wanted = potentials_on(objective, LAYOUTS[second])
    again = reshape(there, wanted)
    assert objective.evaluations == 1
    assert evaluated(point) is evaluated(there) is evaluated(again) is point
    assert isinstance(again, Reshaped)
    assert again.base is point
    assert_same(again, objective.at(wanted))


def test_a_round_trip_gives_back_the_numbers(objective):
    point = objective.at(potentials_on(objective, BUSY + IDLE))
    away = reshape(point, potentials_on(objective, LAYOUTS["all"]))
    back = reshape(away, point.potentials)
    assert back.value == point.value
    assert np.array_equal(back.gradient, point.gradient)
    assert np.array_equal(back.curvature, point.curvature)


def test_a_solver_goes_on_from_a_reshaped_point_as_from_an_evaluated_one(objective):
    problem = Problem(objective, GroupL1(0.01))
    wanted = potentials_on(objective, LAYOUTS["several more"])
    blocks = problem.blocks(wanted.layout)
    here = problem.solution(potentials_on(objective, BUSY))
    real = problem.solution(wanted)
    seen = type(real)(reshape(here.point, wanted), real.objective, real.residual)
    ends = [
        ProximalQuasiNewton().improve(objective, problem.penalty, blocks, start, 1e-7)
        for start in (seen, real)
    ]
    assert np.isclose(ends[0].objective, ends[1].objective, rtol=1e-10)
    assert max(end.residual for end in ends) <= 1e-7


def test_a_table_added_by_an_approximate_rule_is_not_called_exact():
    """On a forest belief propagation is exact, and the product rule is not for a connected pair."""
    sample = prepare(random_table(42, n=5, rows=100, most=3))
    loss = Likelihood(sample, LoopyBP(rule="product"))
    chain = Layout.of(sample.cards, [(0, 1), (1, 2)])
    point = loss.at(Potentials(chain, np.random.default_rng(1).normal(0, 0.5, chain.size)))
    assert reshape(point, point.potentials).exact

    def added(pair):
        layout = Layout.of(sample.cards, [(0, 1), (1, 2), pair])
        weights = np.concatenate([point.potentials.weights, np.zeros(layout.size - chain.size)])
        return reshape(point, Potentials(layout, weights))

    assert added((3, 4)).exact
    assert not added((0, 2)).exact
    assert not reshape(added((0, 2)), added((0, 2)).potentials).exact
    assert reshape(added((0, 2)), added((3, 4)).potentials).exact
