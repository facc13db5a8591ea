"""How fast this machine does the work of learning, measured on a small piece of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from graftwork.data.compact import Sample
from graftwork.data.counts import PairCounts
from graftwork.grafting import Problem
from graftwork.grafting.space import PairSpace
from graftwork.inference.layout import Ints, Layout, Potentials
from graftwork.objectives.protocol import Objective, independent_potentials
from graftwork.objectives.pseudo import PseudoLikelihood
from graftwork.penalties import GroupL1
from graftwork.solvers import ProximalQuasiNewton
from graftwork.solvers.coordinates import searchable
from graftwork.tuning.effort import Effort
from graftwork.tuning.proxy import Proxy, cut

# Additions of one pass that is timed, rows of tables counted, and pairs scored: a blink each.
MOST_WORK = 1e8
MOST_COUNTED_ROWS = 20_000
SCORED_VARIABLES = 40
COUNTED_VARIABLES = 24
FIRST_PAIRS = 8
# Seconds and steps of the solver that is timed.
SOLVER_SECONDS = 0.5
SOLVER_STEPS = 12
# Shapes of the product that is timed, and how often: other work on the machine disturbs some.
PRODUCT, PRODUCTS = (256, 1024, 512), 5


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds that pieces of the work take on the whole data.

    Attributes
    ----------
    evaluation : float
        One evaluation of the loss at ``edges`` edges.
    step : float
        What the solver does beside an evaluation, at as many edges.
    point : float
        What a new point costs before pairs are scored at it, at as many edges.
    score, count : float
        A pair scored; a table counted.
    edges, variables : int
    operation : float
        A floating point operation of a product of matrices.

    Examples
    --------
    >>> pace = Pace(0.1, 0.0, 0.0, 0.001, 0.001, 10, 5)
    >>> round(pace.seconds(Effort(10, 2.5, 1, 100, 100)), 3)
    0.7
    """

    evaluation: float
    step: float
    point: float
    score: float
    count: float
    edges: int
    variables: int
    operation: float = 0.0

    def seconds(self, effort: Effort) -> float:
        """Return what so much work takes."""
        # A pass looks at each variable's rows, and at those of each edge's two ends.
        share = (self.variables + effort.edges) / max(1, self.variables + self.edges)
        total = effort.evaluations * (self.evaluation + self.step) * share
        total += effort.points * (self.point + self.step) * share  # a round has a step's upkeep
        total += effort.upkeep * self.step * share
        total += effort.scored * self.score + effort.counted * self.count
        return total + effort.operations * self.operation


def measure_pace(
    sample: Sample, proxy: Proxy, objective_of: Callable[[Sample], Objective], lam: float
) -> Pace:
    """Return how fast the guessed network is evaluated, solved and scored, all rows considered.

    Parameters
    ----------
    proxy : Proxy
        A guess of the network.
    objective_of : function
        The loss of a sample.
    lam : float
        The penalty of the steps that are timed.
    """
    edges = proxy.edges
    small, rows = _fewer_rows(sample, proxy.part, edges)
    objective = objective_of(small)
    if not isinstance(objective, PseudoLikelihood):
        rows = 1.0  # inference does not look at rows
    alone, layout = independent_potentials(small), Layout.of(small.cards, edges)
    start = Potentials(
        layout, np.concatenate([alone.weights, np.zeros(layout.size - layout.n_unary)])
    )
    problem = Problem(objective, GroupL1(lam))
    space = PairSpace(np.flatnonzero(small.cards > 1))
    pairs = _inactive(space, edges)
    with threadpool_limits(limits=1, user_api="blas"):  # as in a search
        _time_solver(problem, start, 2)  # compiled, and tables counted, before the clock starts
        evaluation, step = _time_solver(problem, start, SOLVER_STEPS)
    first, each = _time_scoring(objective, start, pairs)
    count = _time_counting(sample)
    grown = proxy.variables
    return Pace(
        evaluation * rows * grown,
        step * grown,
        first * rows * grown,
        each * rows,
        count,
        round(len(edges) * grown),
        round(len(space.variables) * grown),
        time_operation() / sample.counts.n_threads,
    )


def time_operation() -> float:
    """Return the seconds of a floating point operation in a product, on one thread.

    Examples
    --------
    >>> 1e-13 < time_operation() < 1e-7
    True
    """
    left, right = np.ones(PRODUCT[:2]), np.ones(PRODUCT[1:])
    with threadpool_limits(limits=1, user_api="blas"):
        left @ right  # memory is touched before the clock starts
        took = []
        for _ in range(PRODUCTS):
            begun = time.perf_counter()
            left @ right
            took.append(time.perf_counter() - begun)
        return max(1e-12, min(took) / (2.0 * math.prod(PRODUCT)))


def _fewer_rows(sample: Sample, part: Sample, edges: Ints) -> tuple[Sample, float]:
    """Return the part with rows for a quick pass, and how many times more rows there are."""
    cards = part.cards
    work = 4.0 * cards.sum() + 2.0 * cards[edges].sum()
    most = int(max(200.0, MOST_WORK / max(1.0, work)))
    if part.n_rows > most:
        part = cut(part, np.arange(len(cards)), np.linspace(0, part.n_rows - 1, most).astype(int))
    return part, sample.n_rows / max(1, part.n_rows)


def _inactive(space: PairSpace, edges: Ints) -> Ints:
    """Return the pairs of a few variables without an edge: many at once, as searches do."""
    if not space.size:
        return np.zeros((0, 2), dtype=np.int64)
    few = len(space.variables[:SCORED_VARIABLES])
    pairs = space.variables[np.stack(np.triu_indices(few, 1), axis=1)]
    return space.pairs(np.setdiff1d(space.keys(pairs), space.keys(edges)))


def _time_solver(problem: Problem, start: Potentials, steps: int) -> tuple[float, float]:
    """Return the seconds of an evaluation, and of the solver beside it."""
    objective, begun = problem.objective, time.perf_counter()
    solution = problem.solution(searchable(problem.penalty, start))
    evaluation = time.perf_counter() - begun
    blocks, before = problem.blocks(start.layout), objective.evaluations
    begun = time.perf_counter()
    solution = ProximalQuasiNewton().improve(
        objective,
        problem.penalty,
        blocks,
        solution,
        1e-12,
        steps,
        lambda: time.perf_counter() - begun > SOLVER_SECONDS,
    )
    done = objective.evaluations - before
    if not done:
        return evaluation, 0.0
    each = (time.perf_counter() - begun) / done
    begun = time.perf_counter()
    objective.at(solution.point.potentials)
    evaluation = min(evaluation, each, time.perf_counter() - begun)
    return evaluation, each - evaluation


def _time_scoring(objective: Objective, start: Potentials, pairs: Ints) -> tuple[float, float]:
    """Return the seconds before the first pair of a point is scored, and of each pair."""
    if not len(pairs):
        return 0.0, 0.0
    few = pairs[:: max(1, len(pairs) // FIRST_PAIRS)][:FIRST_PAIRS]
    _score(objective, start, few)  # compiled before the clock starts
    pace = _score(objective, start, few)
    if pace[1] * len(pairs) > SOLVER_SECONDS:  # exact inference of far pairs is slow
        return pace
    return _score(objective, start, pairs)


def _score(objective: Objective, start: Potentials, pairs: Ints) -> tuple[float, float]:
    objective.sample.counts.tables(pairs)  # counting is timed by itself
    point = objective.at(start)
    begun = time.perf_counter()
    point.pair_gradients(pairs)
    both = time.perf_counter() - begun
    begun = time.perf_counter()
    point.pair_gradients(pairs)
    again = time.perf_counter() - begun
    return max(0.0, both - again), again / len(pairs)


def _time_counting(sample: Sample) -> float:
    """Return the seconds to count the table of a pair."""
    vary = np.flatnonzero(sample.cards > 1)[:COUNTED_VARIABLES]
    if len(vary) < 2:
        return 0.0
    codes = sample.counts.codes
    step = max(1, codes.shape[1] // MOST_COUNTED_ROWS)
    weights = sample.counts.weights
    counts = PairCounts(
        codes[vary][:, ::step],
        sample.cards[vary],
        None if weights is None else weights[::step],
        sample.counts.n_threads,
    )
    some = PairSpace(np.arange(len(vary)))
    pairs = some.pairs(np.arange(some.size))
    counts.compute(pairs[:1])
    begun = time.perf_counter()
    counts.compute(pairs)
    seconds: float = (time.perf_counter() - begun) / len(pairs) * step
    return seconds
