"""Newton's steps: between those of another solver that stall, and to the last digits of refits.

Where data nearly determine each other the curvature is ten thousand times larger one way than
another, and methods that only see gradients take thousands of steps. Any loss that knows its
Hessian has steps between others, whatever the penalty (`Sharpened`). The pseudo-likelihood with a
ridge and free unaries has one small Hessian for each variable: steps with those go on to rounding
errors in networks of any size (`newton`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encoded import EncodedRows
from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.inference.pairs import find_edges
from graftwork.objectives.contrasts import all_states
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.objectives.hessian import Hessian, Parameters, hessian, inverted, is_rough
from graftwork.penalties.group import GroupL1
from graftwork.solvers.coordinates import searchable
from graftwork.solvers.solution import Solution, never

if TYPE_CHECKING:
    from graftwork.solvers.proximal import Composite

# Steps of the other solver before the first, and between two that did not help.
PATIENCE = 20
# Curvature that is added everywhere: some directions change nothing.
DAMPING = 1e-9
# No weight moves further in one step, and no step is halved more often.
LONGEST, HALVINGS = 4.0, 6
# A step must achieve this share of the decrease its slope promises.
SUFFICIENT = 1e-4
# A kink is crossed where the penalty on its other side is less than this share of the decrease.
CHEAP = 0.1
# Curvature of parts of tables that may not move.
HELD = 1e6
# How often a step is computed anew because some weights end at a kink.
CORNERS = 8

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
# No step is halved more often.
MOST_HALVINGS = 10
# Of each step's linear system, which takes at most this many products.
ACCURACY = 1e-2
MOST_PRODUCTS = 200

Multiply = Callable[[Floats], Floats]


@dataclass(slots=True)
class Sharpened:
    """Steps of a solver, with Newton's between them once there were many."""

    problem: Composite
    step: Callable[[Solution], Solution]
    patience: int = PATIENCE

    def __call__(self, current: Solution) -> Solution:
        """Return a better solution."""
        if self.patience > 0:
            self.patience -= 1
            return self.step(current)
        after = newton_step(self.problem, current)
        if after.objective < current.objective:
            return after
        self.patience = PATIENCE
        return self.step(after)


def newton_step(problem: Composite, current: Solution) -> Solution:
    """Return the solution after one step; the one given if no step lowers the objective.

    That, too, where the loss does not know its Hessian.
    """
    whole = _known(current)
    if whole is None:
        return current
    blocks, penalty, start = problem.blocks, problem.penalty, current.point.potentials
    downhill, orthant = _downhill(problem, current)
    direction = _direction(problem, start.weights, whole, downhill, orthant)
    promised = float(direction @ downhill)
    length = min(1.0, LONGEST / max(float(np.abs(direction).max(initial=0.0)), 1e-300))

    def place(share: float) -> Floats:
        after: Floats = start.weights + share * direction
        if blocks.all_free:
            after = searchable(penalty, replace(start, weights=after)).weights
        return after

    def enough(trial: Solution, share: float) -> bool:
        return trial.objective < current.objective + SUFFICIENT * share * min(promised, 0.0)

    return _along(problem, current, place, enough, length, HALVINGS)


def _along(
    problem: Composite,
    current: Solution,
    place: Callable[[float], Floats],
    enough: Callable[[Solution, float], bool],
    length: float,
    most: int,
) -> Solution:
    """Return the first solution on a way that is good enough, each half as far as the one before.

    If none is, that is the one given, with what was evaluated counted.
    """
    for _ in range(most):
        trial = problem.evaluate(place(length), current)
        if enough(trial, length):
            return trial
        current = replace(current, evaluations=trial.evaluations)
        length *= 0.5
    return current


def _downhill(problem: Composite, current: Solution) -> tuple[Floats, Floats]:
    """Return the slope of the objective, and the signs that weights have on its side of a kink.

    The slope is 0 for what may not move or is best at its kink. The sign is 0 where there is none.
    """
    blocks, penalty, weights = problem.blocks, problem.penalty, current.point.potentials.weights
    gradient = current.point.gradient
    slope, smooth = penalty.slope(blocks, weights)
    if blocks.parts is not None:
        downhill = _movable(problem, weights, gradient + slope)
        return np.where(blocks.free, downhill, 0.0), np.zeros_like(weights)
    downhill, orthant = np.where(smooth, gradient + slope, 0.0), np.zeros_like(weights)
    if penalty.separable:
        lam = blocks.spread(blocks.strengths(penalty.unary_lam, penalty.lam))
        leaving = np.sign(gradient) * np.maximum(0.0, np.abs(gradient) - lam)
        downhill = np.where(smooth, downhill, leaving)
        signs = np.where(weights != 0, np.sign(weights), -np.sign(leaving))
        orthant = np.where(lam > 0, signs, 0.0)
    return np.where(blocks.free, downhill, 0.0), orthant


def _movable(problem: Composite, weights: Floats, vector: Floats) -> Floats:
    """Return what of a vector may move smoothly: no part of a table that is best at zero."""
    blocks, penalty = problem.blocks, problem.penalty
    if blocks.parts is None or not isinstance(penalty, GroupL1):
        return vector
    _, idle = penalty.pull(blocks, weights)
    return blocks.times(vector, np.where(idle, 0.0, 1.0))


def _direction(
    problem: Composite, weights: Floats, whole: Floats, downhill: Floats, orthant: Floats
) -> Floats:
    """Return Newton's step; where it would cross a kink at a price, it ends there."""
    bent = whole + _bend(problem, weights, orthant)
    bent[np.diag_indices_from(bent)] += DAMPING
    step, moving = np.zeros_like(weights), downhill != 0.0
    value, blocks = problem.penalty.value, problem.blocks
    for _ in range(CORNERS):
        some, ended = np.flatnonzero(moving), np.flatnonzero(~moving & (step != 0))
        known = downhill[some] + bent[np.ix_(some, ended)] @ step[ended]
        step[some] = -np.linalg.solve(bent[np.ix_(some, some)], known)
        after = weights + step
        crossing = moving & (after * orthant < 0)
        price = value(blocks, after) - value(blocks, np.where(crossing, 0.0, after))
        if price <= -CHEAP * float(step @ downhill):
            break
        step[crossing] = -weights[crossing]
        moving &= ~crossing
    return _movable(problem, weights, step)


def _known(current: Solution) -> Floats | None:
    """Return the Hessian of a loss that knows it, shape (weights, weights)."""
    known = getattr(current.point, "hessian", None)
    if known is None:
        return None
    found: Floats | None = known()
    return found


def _bend(problem: Composite, weights: Floats, orthant: Floats) -> Floats:
    """Return the curvature, a matrix, of parabolas that touch the penalty and lie above it."""
    blocks, penalty = problem.blocks, problem.penalty
    if blocks.parts is not None and isinstance(penalty, GroupL1):
        pull, idle = penalty.pull(blocks, weights)
        factors, rows = np.where(idle, 0.0, pull - HELD), np.eye(len(weights))
        return np.array([blocks.times(row, factors) for row in rows]) + HELD * rows
    squares = blocks.spread(blocks.weigh(2.0 * penalty.unary_l2, 2.0 * penalty.l2))
    slope, _ = penalty.slope(blocks, weights)
    whole = np.abs(slope) / np.maximum(np.abs(weights), 1e-200)
    return np.diag(np.where(penalty.separable | (orthant != 0) | (weights == 0), squares, whole))


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
    problem: Composite,
    solution: Solution,
    tolerance: float,
    halted: Callable[[], bool] = never,
) -> Solution:
    """Return the optimum of a ridge problem with free unaries, to the tolerance if it can."""
    if not has_hessian(solution.point.conditionals.sample, solution.point.potentials.layout):
        return solution
    parameters = _parameters(problem, solution)
    roughly = True  # what steps saw corrects it; where that is not enough, with all rows
    for _ in range(MOST_HESSIANS):
        if solution.residual <= tolerance or halted():
            break
        curvature = Curvature.of(problem, solution, parameters, roughly=roughly)
        after = _descend(problem, solution, curvature, tolerance)
        if after.point is solution.point and not curvature.rough:
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
        problem: Composite,
        solution: Solution,
        parameters: Parameters | None = None,
        *,
        roughly: bool = False,
    ) -> Curvature:
        """Return the curvature at a solution."""
        if parameters is None:
            parameters = _parameters(problem, solution)
        rows = FittedRows.of(solution.point, parameters.contrasts)
        weight = rows.sample.total_weight
        whole = hessian(rows, parameters, roughly=roughly).scaled(1.0 / weight)
        ridge = _ridge(problem, parameters)
        inverses, rough = _schwarz(parameters, whole, ridge, rows), roughly and is_rough(rows)
        return Curvature(parameters, whole, ridge, inverses, rows.n_threads, rough=rough)

    @staticmethod
    def near(problem: Composite, solution: Solution, pair: Ints) -> Curvature:
        """Return the curvature in the parameters at a pair's two variables: no others may move."""
        parameters = _parameters(problem, solution)
        layout, ridge = parameters.layout, _ridge(problem, parameters)
        rows = FittedRows.of(solution.point, parameters.contrasts)
        edges = np.flatnonzero(np.isin(layout.edges, pair).any(axis=1))
        around = np.union1d(pair, layout.edges[edges])
        weight = rows.sample.total_weight
        whole = hessian(rows, parameters, around, roughly=True).scaled(1.0 / weight)
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

    def switched(self, problem: Composite, solution: Solution, pair: Ints, near: Ints) -> Curvature:
        """Return about the curvature at a network that has one edge more or less.

        The conditionals of variables near the pair are looked at, those of others taken over.

        Shapes: pair (2,) int64; near (k,) int64.
        """
        old, layout = self.parameters, solution.point.potentials.layout
        contrasts, curved = old.contrasts, problem.blocks.curved
        if curved != contrasts.curved:
            contrasts = contrasts.bending(curved)
        new = Parameters.of(layout, contrasts)
        rows, ridge = FittedRows.of(solution.point, contrasts), _ridge(problem, new)
        own, weight = hessian(rows, new, near), rows.sample.total_weight
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
    problem: Composite, before: Curvature, solution: Solution, pair: Ints, tolerance: float
) -> Solution:
    """Return the optimum of a ridge problem for a network that has one edge more or less.

    ``solution`` has that edge more or less than where the curvature is from, the same weights else.

    Shapes: pair (2,) int64.
    """
    near = np.sort(pair)
    for _ in range(MOST_SWITCHES):
        curvature = before.switched(problem, solution, pair, near)
        solution = _descend(problem, solution, curvature, tolerance, NEAR)
        if solution.residual <= tolerance:
            return solution
        edges = solution.point.potentials.layout.edges
        near = np.union1d(pair, edges[np.isin(edges, pair).any(axis=1)])
    return newton(problem, solution, tolerance)


def switch_nearby(problem: Composite, solution: Solution, pair: Ints) -> Solution:
    """Return about the optimum that `switch` returns: weights not at the pair's variables stay.

    In large networks others hardly move. The Wald test of an edge takes them as they are, too.
    """
    enough = 0.5 * LEAST_RATIO / solution.point.conditionals.sample.total_weight
    for _ in range(MOST_SWITCHES):
        before, curvature = solution, Curvature.near(problem, solution, pair)
        solution = _descend(problem, before, curvature, 0.0)
        if before.objective - solution.objective <= enough:
            break
    return solution


def _parameters(problem: Composite, solution: Solution) -> Parameters:
    """Return the coordinates of what may move: differences of states, all or in linear parts."""
    point = solution.point
    contrasts = all_states(point.conditionals.sample, problem.blocks.curved)
    return Parameters.of(point.potentials.layout, contrasts)


def _ridge(problem: Composite, parameters: Parameters) -> Floats:
    """Return what the prior of refits adds to the diagonal of the Hessian, shape (parameters,)."""
    assert isinstance(problem.penalty, GroupL1)
    ridge = np.zeros(parameters.size)
    layout = parameters.layout
    precisions = parameters.contrasts.precisions(layout.edges)
    ridge[parameters.starts[layout.n_variables] :] = 2.0 * problem.penalty.l2 * precisions
    return ridge


def _descend(
    problem: Composite,
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
    place, slope, left = read(solution)
    for _ in range(MOST_STEPS):
        step = -_corrected(solve, seen, slope)
        step[np.abs(step) < least * np.abs(step).max()] = 0.0
        trial = _lower(problem, solution, parameters.write(step))
        if trial.point is solution.point:
            return trial
        before, solution = (place, slope, left), trial
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


def _lower(problem: Composite, current: Solution, step: Floats) -> Solution:
    """Return a solution along a step that is better, shortened if need be, or the one given."""
    weights = current.point.potentials.weights

    def better(trial: Solution, _: float) -> bool:
        return trial.objective < current.objective or trial.residual < 0.5 * current.residual

    return _along(
        problem, current, lambda share: weights + share * step, better, 1.0, MOST_HALVINGS
    )


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
