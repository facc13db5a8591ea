"""Newton steps with the whole Hessian, for refits: to the last digits, and where data separate.

Where states nearly determine each other the curvature of a ridge problem is ten thousand times
larger one way than another, and methods that only see gradients take thousands of steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encoded import EncodedRows
from graftwork.grafting import NetworkFamily, Problem
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.penalties.blocks import Blocks
from graftwork.significance.contrasts import all_states
from graftwork.significance.hessian import Hessian, Parameters, hessian, is_rough
from graftwork.significance.inverses import inverted
from graftwork.significance.rows import FittedRows
from graftwork.solvers import Solution
from graftwork.solvers.solution import measure, never

# At most this many Hessians, and steps with each.
MOST_HESSIANS = 10
MOST_STEPS = 20
# At most this many times the Hessian is renewed near a pair alone.
MOST_SWITCHES = 5
# Near a pair alone it is enough to know the likelihood ratio statistic to this.
LEAST_RATIO = 1e-3
# Then entries of a step below this share of the largest wait for a later one.
NEAR = 1e-4
# A step that leaves more than this share of the residual wants a new Hessian.
ENOUGH_GAIN = 0.3
# While steps with Hessians of some rows gain this much, they go on with such.
ROUGH_GAIN = 1e-2
# The Hessian is only built where no variable's conditional has more parameters than this, and no
# variable more states.
MOST_PARAMETERS = 3000
MOST_STATES = 50
SHORTEST = 1e-3
# Of each step's linear system, which takes at most this many products.
ACCURACY = 1e-2
MOST_PRODUCTS = 200

Multiply = Callable[[Floats], Floats]


def has_hessian(sample: EncodedRows, layout: Layout, pair: Ints | None = None) -> bool:
    """Return whether the Hessian of a network's weights can be had: few states and parameters.

    Or of those at a pair's two variables, which may have twice as many.
    """
    free, sums = sample.cards - 1, np.ones(len(sample.cards))
    for side in (0, 1):
        np.add.at(sums, layout.edges[:, side], free[layout.edges[:, 1 - side]])
    near, most = np.arange(len(free)), MOST_PARAMETERS
    if pair is not None:
        edges = layout.edges[np.isin(layout.edges, pair).any(axis=1)]
        near, most = np.union1d(pair, edges), 2 * MOST_PARAMETERS
    return bool(sample.cards[near].max() <= MOST_STATES and (free * sums)[near].max() <= most)


def newton(
    problem: Problem,
    solution: Solution,
    tolerance: float,
    halted: Callable[[], bool] = never,
) -> Solution:
    """Return the optimum of a ridge problem with free unaries, to the tolerance if it can."""
    sample, layout = problem.objective.sample, solution.point.potentials.layout
    if not has_hessian(sample, layout):
        return solution
    parameters = Parameters.of(layout, all_states(sample, _curved(problem)))
    roughly = True  # what steps saw corrects it; where that is not enough, with all rows
    for _ in range(MOST_HESSIANS):
        if solution.residual <= tolerance or halted():
            break
        curvature = Curvature.of(problem, solution, parameters, roughly=roughly)
        after = _descend(problem, solution, curvature, tolerance)
        if after is solution and not curvature.rough:
            break
        roughly = roughly and after.residual < ROUGH_GAIN * solution.residual
        solution = after
    return solution


@dataclass(frozen=True, slots=True, eq=False)
class Curvature:
    """The Hessian of a ridge problem at one point."""

    parameters: Parameters
    hessian: Hessian  # of the loss
    ridge: Floats  # (parameters,): what is added to its diagonal
    # of the matrices of each variable's own parameters: a preconditioner (see `_schwarz`)
    inverses: Hessian
    n_threads: int
    # (parameters,), optional: which parameters may move; default all
    free: NDArray[np.bool_] | None = None
    rough: bool = False  # whether some of the rows told it

    @staticmethod
    def of(
        problem: Problem,
        solution: Solution,
        parameters: Parameters | None = None,
        *,
        roughly: bool = False,
    ) -> Curvature:
        """Return the curvature at a solution."""
        sample, layout = problem.objective.sample, solution.point.potentials.layout
        if parameters is None:
            parameters = Parameters.of(layout, all_states(sample, _curved(problem)))
        rows = FittedRows.of(solution.point, parameters.contrasts)
        whole = hessian(rows, parameters, roughly=roughly).scaled(1.0 / sample.total_weight)
        ridge = _ridge(problem, parameters)
        inverses, rough = _schwarz(parameters, whole, ridge, rows), roughly and is_rough(rows)
        return Curvature(parameters, whole, ridge, inverses, rows.n_threads, rough=rough)

    @staticmethod
    def near(problem: Problem, solution: Solution, pair: Ints) -> Curvature:
        """Return the curvature in the parameters at a pair's two variables: no others may move."""
        sample, layout = problem.objective.sample, solution.point.potentials.layout
        parameters = Parameters.of(layout, all_states(sample, _curved(problem)))
        ridge = _ridge(problem, parameters)
        rows = FittedRows.of(solution.point, parameters.contrasts)
        edges = np.flatnonzero(np.isin(layout.edges, pair).any(axis=1))
        around = np.union1d(pair, layout.edges[edges])
        whole = hessian(rows, parameters, around, roughly=True).scaled(1.0 / sample.total_weight)
        matrices, places = whole.by_variable(parameters, ridge, edges), list(whole.places)
        free = np.zeros(parameters.size, dtype=bool)
        free[np.concatenate([places[k] for k in pair.tolist()])] = True
        blocks, inverses = list(whole.blocks), list(whole.blocks)
        for k in around.tolist():
            own = free[places[k]]
            places[k], blocks[k] = places[k][own], blocks[k][np.ix_(own, own)]
            inverses[k] = np.zeros_like(blocks[k])
        both = pair.tolist()
        for k, found in zip(both, inverted([matrices[k] for k in both], rows), strict=True):
            inverses[k] = found
        local, size = Hessian(parameters.size, places, blocks), parameters.size
        nearly = Hessian(size, places, inverses)
        return Curvature(parameters, local, ridge, nearly, rows.n_threads, free)

    def switched(self, problem: Problem, solution: Solution, pair: Ints, near: Ints) -> Curvature:
        """Return about the curvature at a network that has one edge more or less.

        The conditionals of variables near the pair are looked at, those of others taken over.

        Shapes: pair (2,) int64; near (k,) int64.
        """
        old, layout = self.parameters, solution.point.potentials.layout
        new = Parameters.of(layout, old.contrasts)
        weight = problem.objective.sample.total_weight
        rows, ridge = FittedRows.of(solution.point, old.contrasts), _ridge(problem, new)
        own = hessian(rows, new, near)
        gone = find_edges(old.layout, pair[None])[0]
        moved = np.arange(old.size)
        if gone >= 0:
            part = old.of_edge(int(gone))
            moved[part.stop :] -= part.stop - part.start
        places = [moved[some] for some in self.hessian.places]
        blocks, inverses = list(self.hessian.blocks), list(self.inverses.blocks)
        for k in near.tolist():
            places[k], blocks[k] = own.places[k], own.blocks[k] / weight
        whole = Hessian(new.size, places, blocks)
        edges = np.flatnonzero(np.isin(layout.edges, pair).any(axis=1))
        matrices = whole.by_variable(new, ridge, edges)
        both = pair.tolist()
        for k, found in zip(both, inverted([matrices[k] for k in both], rows), strict=True):
            inverses[k] = found
        return Curvature(new, whole, ridge, Hessian(new.size, places, inverses), rows.n_threads)


def switch(
    problem: Problem, before: Curvature, potentials: Potentials, pair: Ints, tolerance: float
) -> Solution:
    """Return the optimum of a ridge problem for a network that has one edge more or less.

    Shapes: pair (2,) int64.
    """
    solution, near = problem.solution(potentials), np.sort(pair)
    for _ in range(MOST_SWITCHES):
        curvature = before.switched(problem, solution, pair, near)
        solution = _descend(problem, solution, curvature, tolerance, NEAR)
        if solution.residual <= tolerance:
            return solution
        edges = potentials.layout.edges
        near = np.union1d(pair, edges[np.isin(edges, pair).any(axis=1)])
    return newton(problem, solution, tolerance)


def switch_nearby(problem: Problem, here: Solution, potentials: Potentials, pair: Ints) -> Solution:
    """Return about the optimum that `switch` returns: weights not at the pair's variables stay.

    In large networks others hardly move. The Wald test of an edge takes them as they are, too.
    """
    solution = problem.solution(potentials, None, here)
    enough = 0.5 * LEAST_RATIO / problem.objective.sample.total_weight
    for _ in range(MOST_SWITCHES):
        before, curvature = solution, Curvature.near(problem, solution, pair)
        solution = _descend(problem, before, curvature, 0.0)
        if before.objective - solution.objective <= enough:
            break
    return solution


def _curved(problem: Problem) -> frozenset[tuple[int, int]] | None:
    """Return the pairs whose tables have more than a linear part; None for all."""
    family = problem.family
    return family.curved if isinstance(family, NetworkFamily) else None


def _ridge(problem: Problem, parameters: Parameters) -> Floats:
    ridge = np.zeros(parameters.size)
    layout = parameters.layout
    precisions = parameters.contrasts.precisions(layout.edges)
    ridge[parameters.starts[layout.n_variables] :] = 2.0 * problem.penalty.l2 * precisions
    return ridge


def _descend(
    problem: Problem,
    solution: Solution,
    curvature: Curvature,
    tolerance: float,
    least: float = 0.0,
) -> Solution:
    """Return where steps with one Hessian lead.

    It is corrected by what the steps saw of the slopes, as quasi-Newton methods do: one direction
    in which it is somewhat old would be enough to make all steps gain little. Entries of a step
    below a share ``least`` of the largest are left as they are: variables that do not move are not
    looked at.
    """
    parameters, ridge = curvature.parameters, curvature.ridge
    times = curvature.hessian.multiplier(curvature.n_threads)
    nearly_inverse = curvature.inverses.multiplier(curvature.n_threads)

    def whole(vector: Floats) -> Floats:
        return times(vector) + ridge * vector

    def solve(slope: Floats) -> Floats:
        return _conjugate_gradients(whole, nearly_inverse, slope)

    def read(at: Solution) -> tuple[Floats, Floats, float]:
        weights = parameters.read(at.point.potentials.weights)
        slope = parameters.read(at.point.gradient) + ridge * weights
        if curvature.free is None:
            return weights, slope, at.residual
        slope[~curvature.free] = 0.0
        return weights, slope, float(np.abs(slope).max())

    seen: list[tuple[Floats, Floats]] = []
    blocks = problem.blocks(solution.point.potentials.layout)
    place, slope, left = read(solution)
    for _ in range(MOST_STEPS):
        step = -_corrected(solve, seen, slope)
        step[np.abs(step) < least * np.abs(step).max()] = 0.0
        trial = _lower(problem, blocks, solution, parameters.write(step))
        if trial is None:
            return solution
        before = place, slope, left
        solution = replace(trial, evaluations=solution.evaluations + 1)
        place, slope, left = read(solution)
        if left > ENOUGH_GAIN * before[2] or left <= tolerance:
            break
        moved, turned = place - before[0], slope - before[1]
        if moved @ turned > 0.0:
            seen.append((moved, turned))
    return solution


def _corrected(
    solve: Callable[[Floats], Floats], seen: list[tuple[Floats, Floats]], slope: Floats
) -> Floats:
    """Return a slope divided by a Hessian that agrees with steps and changes of slopes seen.

    References
    ----------
    Nocedal and Wright (2006), Numerical Optimization, algorithm 7.4.
    """
    left, shares = slope, []
    for moved, turned in reversed(seen):
        shares.append((moved @ left) / (moved @ turned))
        left = left - shares[-1] * turned
    out = solve(left)
    for (moved, turned), share in zip(seen, reversed(shares), strict=True):
        out = out + (share - (turned @ out) / (moved @ turned)) * moved
    return out


def _lower(problem: Problem, blocks: Blocks, solution: Solution, step: Floats) -> Solution | None:
    """Return a solution along a step that is better, shortened if need be; None if none is."""
    potentials, share = solution.point.potentials, 1.0
    while share > SHORTEST:
        moved = replace(potentials, weights=potentials.weights + share * step)
        point = problem.objective.at(moved, solution.point)
        trial = measure(point, problem.penalty, blocks, 0, solution.memory)
        if trial.objective < solution.objective or trial.residual < 0.5 * solution.residual:
            return trial
        share *= 0.5
    return None


def _schwarz(
    parameters: Parameters, curvature: Hessian, ridge: Floats, rows: FittedRows
) -> Hessian:
    """Return a preconditioner: the Hessian inverted for each variable's own parameters, summed.

    Every table is in two of them (the overlapping additive Schwarz method).
    """
    inverses = inverted(curvature.by_variable(parameters, ridge), rows)
    return Hessian(parameters.size, curvature.places, inverses)


def _conjugate_gradients(times: Multiply, nearly_inverse: Multiply, slope: Floats) -> Floats:
    """Return a slope divided by a matrix that is known by its products, to `ACCURACY`.

    scipy's own takes as long for its checks as small networks do for their products.
    """
    found, left = np.zeros_like(slope), slope.copy()
    limit, before, way = ACCURACY * float(np.linalg.norm(slope)), np.inf, np.zeros_like(slope)
    for _ in range(MOST_PRODUCTS):
        if np.linalg.norm(left) <= limit:
            break
        turned = nearly_inverse(left)
        now = float(left @ turned)
        way = turned + (now / before) * way
        before = now
        bent = times(way)
        length = now / float(way @ bent)
        found += length * way
        left -= length * bent
    return found
