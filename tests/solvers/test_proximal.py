"""The solver: it meets an independent optimum, never rises, and its memory survives changes."""

from itertools import pairwise

import numpy as np
import pytest

from graftwork.grafting import Problem
from graftwork.inference import JunctionTree, Layout, Potentials
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.penalties import L1, GroupL1
from graftwork.solvers import Memory, ProximalQuasiNewton

from doors.data import prepare
from doors.objectives import independent_potentials
from doors.solvers import Decoupled
from support.problems import all_pairs, dense_likelihood, dense_optimum, dense_pseudo, random_table

PENALTIES = {"group-l1": GroupL1, "l1": L1}


def full_start(sample):
    layout = Layout.of(sample.cards, all_pairs(len(sample.cards)))
    unary = independent_potentials(sample).weights
    return Potentials(layout, np.concatenate([unary, np.zeros(layout.size - len(unary))]))


@pytest.mark.some(4)
@pytest.mark.parametrize("penalise_unary", [False, True])
@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", ["pseudo", "likelihood"])
def test_meets_the_dense_optimum_with_everything_active(loss, penalty, l2, penalise_unary):
    table = random_table(11, n=5, rows=120, most=3)
    sample = prepare(table)
    objective = PseudoLikelihood(sample) if loss == "pseudo" else Likelihood(sample, JunctionTree())
    unary = (0.03, l2) if penalise_unary else ()
    problem = Problem(objective, PENALTIES[penalty](0.03, l2, *unary))
    start = problem.solution(full_start(sample))
    solution = ProximalQuasiNewton().improve(
        objective, problem.penalty, problem.blocks(start.point.potentials.layout), start, 1e-8
    )
    dense = dense_pseudo if loss == "pseudo" else dense_likelihood
    best = dense_optimum(dense, table, penalty, 0.03, l2, penalise_unary)
    assert solution.residual <= 1e-8
    assert abs(solution.objective - best) < 1e-6 * abs(best)


def test_the_objective_never_rises():
    sample = prepare(random_table(12, n=6, rows=150))
    objective = PseudoLikelihood(sample)
    problem = Problem(objective, GroupL1(0.01))
    solution = problem.solution(full_start(sample))
    blocks = problem.blocks(solution.point.potentials.layout)
    values = [solution.objective]
    for tolerance in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        solution = ProximalQuasiNewton().improve(
            objective, problem.penalty, blocks, solution, tolerance
        )
        values.append(solution.objective)
        assert solution.residual <= tolerance
    assert all(after <= before for before, after in pairwise(values))


def test_group_optimum_has_centred_tables():
    sample = prepare(random_table(13, n=4, rows=100))
    objective = PseudoLikelihood(sample)
    problem = Problem(objective, GroupL1(0.01))
    start = problem.solution(full_start(sample))
    layout = start.point.potentials.layout
    end = ProximalQuasiNewton().improve(
        objective, problem.penalty, problem.blocks(layout), start, 1e-7
    )
    for e in range(layout.n_edges):
        table = layout.table(end.point.potentials.weights, e)
        assert np.allclose(table.sum(0), 0, atol=1e-12)
        assert np.allclose(table.sum(1), 0, atol=1e-12)


def test_an_evaluation_budget_is_kept():
    sample = prepare(random_table(14))
    objective = PseudoLikelihood(sample)
    problem = Problem(objective, GroupL1(0.001))
    start = problem.solution(full_start(sample))
    blocks = problem.blocks(start.point.potentials.layout)
    end = ProximalQuasiNewton(max_evaluations=5).improve(
        objective, problem.penalty, blocks, start, 1e-12
    )
    assert 5 <= end.evaluations <= 6
    assert end.residual > 1e-12


def test_hessian_agrees_with_its_pairs():
    """The compact form reproduces the newest pair: B s = y."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(8, 8))
    true = root @ root.T + np.eye(8)
    memory = Memory()
    for _ in range(5):
        step = rng.normal(size=8)
        memory = memory.remember(step, true @ step, 4)
    assert len(memory.pairs) == 4
    hessian = memory.hessian(np.ones(8))
    step, change = memory.pairs[-1]
    assert np.allclose(hessian.multiply(step), change)
    dense = np.stack([hessian.multiply(unit) for unit in np.eye(8)])
    assert np.allclose(dense, dense.T)
    assert np.linalg.eigvalsh(dense).min() > 0


def test_memory_moves_with_its_entries():
    memory = Memory().remember(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0]), 3)
    moved = memory.move(np.array([0, 2]), 4, np.array([3, 1]))
    assert moved.pairs[0][0].tolist() == [0.0, 3.0, 0.0, 1.0]
    assert len(memory.remember(np.ones(3), -np.ones(3), 3).pairs) == 1  # no negative curvature


def test_decoupled_coordinates_are_a_change_of_variables():
    sample = prepare(random_table(15, n=4, rows=60))
    layout = Layout.of(sample.cards, all_pairs(4))
    rng = np.random.default_rng(1)
    weights, direction = rng.normal(size=(2, layout.size))
    there = Decoupled(layout, np.ones(layout.size, bool), sample.frequencies, centred=False)
    assert np.allclose(there.leave(there.enter(weights)), weights)
    gradient = PseudoLikelihood(sample).at(Potentials(layout, weights)).gradient
    # the slope along a step is the same number in both coordinates
    assert np.isclose(there.slope(gradient) @ direction, gradient @ there.leave(direction))
