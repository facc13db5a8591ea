"""One contract for every solver: the dense optimum, never a rise, what may not move stays."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from graftwork.datasets import make_scale_free
from graftwork.grafting import PairSpace, Problem, graft
from graftwork.inference import JunctionTree, Layout, Potentials
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.penalties import L1, GroupL1
from graftwork.solvers import (
    Forgetful,
    GaussSeidel,
    Lazy,
    Memory,
    OrthantWise,
    ProximalQuasiNewton,
    Steps,
    ToConvergence,
)

from doors.data import prepare
from doors.grafting import Network
from doors.objectives import independent_potentials
from doors.recipes import grafting_light
from support.problems import all_pairs, dense_likelihood, dense_optimum, dense_pseudo, random_table

SOLVERS = {
    "proximal": ProximalQuasiNewton(),
    "orthant-wise": OrthantWise(),
    "gauss-seidel-1": GaussSeidel(1),
    "gauss-seidel-3": GaussSeidel(3),
    "forgetful": Forgetful(OrthantWise()),
}
LIMITED = {
    "proximal": lambda most: ProximalQuasiNewton(max_evaluations=most),
    "orthant-wise": lambda most: OrthantWise(max_evaluations=most),
    "gauss-seidel-1": lambda most: GaussSeidel(1, max_evaluations=most),
    "gauss-seidel-3": lambda most: GaussSeidel(3, max_evaluations=most),
    "forgetful": lambda most: Forgetful(OrthantWise(max_evaluations=most)),
}
# penalty, lam, l2, and whether unaries are penalised (or with what lambda of their own)
PENALTIES = {
    "l1": ("l1", 0.03, 0.0, False),
    "elastic net": ("l1", 0.03, 0.02, False),
    "group": ("group-l1", 0.02, 0.0, False),
    "ridge": ("l1", 0.0, 0.05, False),
    "l1 on unaries": ("l1", 0.03, 0.0, True),
    "group on unaries": ("group-l1", 0.02, 0.02, True),
    "unaries of their own": ("l1", 0.03, 0.02, 0.01),
}
LOSSES = {
    "pseudo": (lambda sample: PseudoLikelihood(sample, 1), dense_pseudo),
    "likelihood": (lambda sample: Likelihood(sample, JunctionTree()), dense_likelihood),
}
TABLE = random_table(17, n=3, rows=120, most=3)


def problem_of(loss, name):
    kind, lam, l2, unary = PENALTIES[name]
    own = lam if unary is True else float(unary)
    penalty = (L1 if kind == "l1" else GroupL1)(lam, l2, own, l2 if unary else 0.0)
    return Problem(LOSSES[loss][0](prepare(TABLE)), penalty)


def everything_active(problem):
    sample = problem.objective.sample
    layout = Layout.of(sample.cards, all_pairs(len(sample.cards)))
    unary = independent_potentials(sample).weights
    weights = np.concatenate([unary, np.zeros(layout.size - len(unary))])
    return problem.solution(Potentials(layout, weights)), problem.blocks(layout)


@cache
def optimum(loss, name):
    return dense_optimum(LOSSES[loss][1], TABLE, *PENALTIES[name])


@pytest.fixture(params=SOLVERS)
def solver(request):
    return SOLVERS[request.param]


@pytest.mark.some(3)
@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_meets_the_dense_optimum_with_everything_active(solver, loss, name):
    problem = problem_of(loss, name)
    start, blocks = everything_active(problem)
    end = solver.improve(problem.objective, problem.penalty, blocks, start, 1e-7)
    assert end.residual <= 1e-7
    assert not end.stalled
    best = optimum(loss, name)
    assert abs(end.objective - best) < 1e-7 * abs(best)
    # and what it says of its end is so
    assert end.evaluations == problem.objective.evaluations - 1
    again = problem.solution(end.point.potentials)
    assert np.isclose(again.objective, end.objective, rtol=1e-13)
    assert np.isclose(again.residual, end.residual, atol=1e-12)


@pytest.mark.parametrize("name", ["l1", "group", "ridge", "unaries of their own"])
def test_no_step_raises_the_objective_and_steps_are_counted(solver, name):
    problem = problem_of("pseudo", name)
    current, blocks = everything_active(problem)
    objectives = [current.objective]
    for _ in range(12):
        current = solver.improve(
            problem.objective, problem.penalty, blocks, current, 1e-9, steps=1
        )  # fmt: skip
        objectives.append(current.objective)
    assert all(after <= before for before, after in pairwise(objectives))
    assert objectives[1] < objectives[0]
    start, _ = everything_active(problem)
    several = solver.improve(problem.objective, problem.penalty, blocks, start, 1e-9, steps=12)
    one = solver.improve(problem.objective, problem.penalty, blocks, start, 1e-9, steps=1)
    none = solver.improve(problem.objective, problem.penalty, blocks, start, 1e-9, steps=0)
    assert one.objective == objectives[1]
    assert none is start or none.objective == start.objective
    if isinstance(solver, Forgetful):  # a step at a time it knows nothing of the one before
        assert several.objective < objectives[-1]
    else:
        assert several.objective == objectives[-1]
        assert np.array_equal(several.point.potentials.weights, current.point.potentials.weights)


@pytest.mark.parametrize("name", ["l1", "elastic net", "ridge", "group", "l1 on unaries"])
@pytest.mark.parametrize("loss", LOSSES)
def test_what_may_not_move_stays(solver, loss, name):
    """Tables that are held keep their weights, zero or not; the others reach their optimum."""
    problem = problem_of(loss, name)
    start, blocks = everything_active(problem)
    layout, rng = blocks.layout, np.random.default_rng(0)
    weights = start.point.potentials.weights.copy()
    held = np.zeros(layout.size, dtype=bool)
    held[layout.entries(np.array([1]))] = True
    weights[held] = rng.normal(0, 0.3, held.sum())
    if problem.penalty.separable:  # single cells too
        held[layout.edge_offsets[2] : layout.edge_offsets[2] + 2] = True
    some = replace(blocks, free=~held)
    start = problem.solution(Potentials(layout, weights), free=~held)
    end = solver.improve(problem.objective, problem.penalty, some, start, 1e-7)
    after = end.point.potentials.weights
    assert np.array_equal(after[held], weights[held])
    assert end.residual <= 1e-7
    assert (after[~held] != weights[~held]).any()
    gaps = problem.penalty.kkt_residuals(blocks, after, end.point.gradient)
    assert gaps[~held].max() <= 1e-7
    assert gaps[held].max() > 1e-3


@pytest.mark.parametrize("most", [1, 7, 20])
@pytest.mark.parametrize("name", SOLVERS)
def test_an_evaluation_limit_is_kept_and_then_it_says_stalled(name, most):
    problem = problem_of("pseudo", "elastic net")
    start, blocks = everything_active(problem)
    before = problem.objective.evaluations
    end = LIMITED[name](most).improve(problem.objective, problem.penalty, blocks, start, 1e-13)
    assert end.stalled
    assert end.residual > 1e-13
    assert problem.objective.evaluations - before == end.evaluations
    # a step that has begun is finished, and no other is begun
    assert end.evaluations >= most
    previous = SOLVERS[name].improve(
        problem.objective, problem.penalty, blocks, start, 1e-13, steps=steps_within(name, most) - 1
    )
    assert previous.evaluations < most
    assert end.objective <= previous.objective


def steps_within(name, most):
    """How many steps it takes to use up so many evaluations."""
    problem = problem_of("pseudo", "elastic net")
    start, blocks = everything_active(problem)
    steps = 1
    while True:
        end = SOLVERS[name].improve(
            problem.objective, problem.penalty, blocks, start, 1e-13, steps=steps
        )
        if end.evaluations >= most:
            return steps
        steps += 1


def test_a_solution_within_the_tolerance_is_given_back_without_an_evaluation(solver):
    problem = problem_of("likelihood", "l1")
    start, blocks = everything_active(problem)
    end = solver.improve(problem.objective, problem.penalty, blocks, start, 1e-6)
    before = problem.objective.evaluations
    again = solver.improve(
        problem.objective, problem.penalty, blocks, replace(end, evaluations=0), 1e-6
    )
    assert problem.objective.evaluations == before
    assert again.objective == end.objective
    assert again.evaluations == 0


@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_halted_solver_stops_where_it_is(solver, after):
    """What it has by then is kept, and is no stall."""
    problem = problem_of("pseudo", "elastic net")
    start, blocks = everything_active(problem)
    before, limit = problem.objective.evaluations, problem.objective.evaluations + after
    end = solver.improve(
        problem.objective, problem.penalty, blocks, start, 1e-9, None,
        lambda: problem.objective.evaluations >= limit,
    )  # fmt: skip
    assert problem.objective.evaluations - before == end.evaluations
    assert after <= end.evaluations <= after + 3  # the step under way is finished
    assert end.residual > 1e-9
    assert not end.stalled
    assert (end.objective < start.objective) == (after > 0)


def random_memory(rng, size, count):
    root = rng.normal(size=(size, size))
    true = root @ root.T + 0.5 * np.eye(size)
    memory = Memory()
    for _ in range(count):
        step = rng.normal(size=size)
        memory = memory.remember(step, true @ step, 10)
    return memory


def dense_inverse(pairs, metric, extra):
    """The BFGS inverse from its textbook recursion, on full matrices."""
    pairs = [(s, y + extra * s) for s, y in pairs]
    diagonal = metric + extra
    if pairs:
        s, y = pairs[-1]
        diagonal = diagonal * (y @ (y / diagonal)) / (s @ y)
    inverse, eye = np.diag(1.0 / diagonal), np.eye(len(metric))
    for s, y in pairs:
        rho = 1.0 / (y @ s)
        left = eye - rho * np.outer(s, y)
        inverse = left @ inverse @ left.T + rho * np.outer(s, s)
    return inverse


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("count", [0, 1, 4, 9])
def test_the_two_loop_direction_is_that_of_the_dense_inverse(count, ridge):
    rng = np.random.default_rng(count)
    memory = random_memory(rng, 9, count)
    assert len(memory.pairs) == count
    metric, slope = rng.uniform(0.5, 2, 9), rng.normal(size=9)
    extra = ridge * rng.uniform(0, 1, 9)
    inverse = dense_inverse(memory.pairs, metric, extra)
    assert np.allclose(memory.direction(slope, metric, extra), -inverse @ slope, rtol=1e-9)
    if count:  # the newest pair is met: the inverse times its change is its step
        s, y = memory.pairs[-1]
        assert np.allclose(memory.direction(y + extra * s, metric, extra), -s, rtol=1e-9)


def test_only_the_newest_pairs_are_kept_and_none_of_negative_curvature():
    memory = random_memory(np.random.default_rng(0), 5, 7)
    newest = memory.remember(np.ones(5), np.ones(5), 3)
    assert len(newest.pairs) == 3
    assert newest.pairs[-1][0].tolist() == [1.0] * 5
    assert newest.pairs[0] is memory.pairs[-2]
    assert memory.remember(np.ones(5), -np.ones(5), 10) is memory
    assert memory.remember(np.ones(5), np.zeros(5), 10) is memory


@pytest.mark.parametrize("name", ["proximal", "orthant-wise"])
def test_memory_survives_blocks_that_come_and_go(name):
    """Pairs stay, entry by entry with their blocks; what is new has no history."""
    problem = Problem(
        PseudoLikelihood(prepare(random_table(19, n=5, rows=150, most=3)), 1), L1(0.01)
    )
    space = PairSpace(np.arange(5))
    start = problem.solution(independent_potentials(problem.objective.sample))
    network = Network(start, np.ones(start.point.potentials.layout.size, dtype=bool))
    network = network.grow(problem, space, np.array([0, 4, 7]))
    blocks = problem.blocks(network.layout, network.free)
    solved = SOLVERS[name].improve(
        problem.objective, problem.penalty, blocks, network.solution, 1e-9, steps=6
    )
    network = replace(network, solution=solved)
    pairs = solved.memory.pairs
    assert len(pairs) >= 4
    grown = network.grow(problem, space, np.array([2, 9]))
    fresh = grown.layout.size - network.layout.size
    later = [tuple(np.append(part, np.zeros(fresh)).tolist() for part in pair) for pair in pairs]
    assert numbers(grown.solution.memory) == later
    back = grown.shrink(problem, space, np.array([2, 9]))
    assert numbers(back.solution.memory) == numbers(solved.memory)
    fewer = network.shrink(problem, space, np.array([4]))
    places = np.concatenate(
        [np.arange(network.layout.n_unary), network.layout.entries(np.array([0, 2]))]
    )
    parts = [(step[places], change[places]) for step, change in pairs]
    kept = [pair for pair in parts if pair[0] @ pair[1] > 0]
    assert len(kept) >= 3
    assert numbers(fewer.solution.memory) == numbers(Memory(tuple(kept)))


def numbers(memory):
    return [tuple(part.tolist() for part in pair) for pair in memory.pairs]


def test_memory_saves_grafting_light_evaluations():
    used = {True: 0, False: 0}
    for seed in range(4):
        sample = prepare(make_scale_free(12, 3, n_rows=1000, random_state=seed).data)
        for memory in used:
            problem = Problem(PseudoLikelihood(sample, 1), L1(0.02))
            assert graft(problem, grafting_light(memory=memory)).certificate.converged
            used[memory] += problem.objective.evaluations
    assert used[True] < 0.8 * used[False]


def test_schedules_say_how_far_a_round_goes():
    assert Lazy().begin(0.5, 1e-6) == 0.05
    assert Lazy().begin(1e-7, 1e-6) == 1e-6
    assert Lazy().plan(1e-3, 0.5) == (0.1, None)
    assert Lazy().plan(1e-3, 1e-4) == (1e-3, None)
    assert ToConvergence().begin(0.5, 1e-6) == 1e-6
    assert ToConvergence().plan(1e-6, 0.5) == (1e-6, None)
    assert Steps(3).begin(0.5, 1e-6) == 0.05
    assert Steps(3, 0.0).begin(0.5, 1e-6) == 1e-6
    assert Steps(3).plan(1e-3, 0.5) == (1e-3, 3)
    with pytest.raises(ValueError, match="at least 1"):
        Steps(0)
