"""OWL-QN: quasi-Newton steps that stay within one orthant, where the l1 norm is smooth.

References
----------
Andrew and Gao (2007), Scalable training of L1-regularized log-linear models. Zhu, Lao and Xing
(2010), Grafting-Light, section 5.1, takes one such step a round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from graftwork.inference.layout import Floats, Layout
from graftwork.objectives.protocol import Evaluated, Loss
from graftwork.penalties.blocks import Blocks
from graftwork.penalties.protocol import Penalty
from graftwork.solvers.coordinates import Plain, choose_coordinates
from graftwork.solvers.memory import Memory
from graftwork.solvers.newton import Sharpened
from graftwork.solvers.proximal import LEAST_CURVATURE, ROUNDING, Composite, ProximalQuasiNewton
from graftwork.solvers.solution import Solution, never, take_steps

# A step must achieve this share of the decrease its slope promises.
SUFFICIENT = 1e-4
SHORTEST = 1e-12
# No weight moves further in one step: log-potentials that overshoot land where probabilities are
# saturated, gradients flat, and the way back long.
LONGEST = 2.0
# Nearly deterministic data can keep weights in the wrong orthant for thousands of steps. After so
# many evaluations proximal steps, which cross zero freely, take over.
PATIENCE = 300


@dataclass(frozen=True, slots=True)
class OrthantWise:
    """Limited-memory quasi-Newton for penalties on single entries (l1, elastic net, l2, none).

    Its memory holds curvature of the loss alone, so it survives a growing and shrinking active set
    and changes of lambda. A penalty that ties a table's entries together has no orthants: there
    each step is a proximal quasi-Newton step instead.
    """

    max_evaluations: int = 5000
    memory: int = 10

    def improve(
        self,
        objective: Loss,
        penalty: Penalty,
        blocks: Blocks,
        solution: Solution,
        tolerance: float,
        steps: int | None = None,
        halted: Callable[[], bool] = never,
    ) -> Solution:
        """Return a solution whose residual is at most ``tolerance``, or the best reached."""
        if not penalty.separable:
            group = ProximalQuasiNewton(self.max_evaluations, self.memory)
            return group.improve(objective, penalty, blocks, solution, tolerance, steps, halted)
        problem = _SeparableComposite.of(objective, penalty, blocks, self.memory)
        patience = min(PATIENCE, self.max_evaluations)
        step = problem.step if steps is not None else Sharpened(problem, problem.step)
        end = take_steps(step, solution, tolerance, steps, patience, halted)
        if steps is not None or end.residual <= tolerance or halted():
            return end
        left = self.max_evaluations - (end.evaluations - solution.evaluations)
        other = ProximalQuasiNewton(max(left, 0), self.memory)
        fresh = replace(end, stalled=False, memory=Memory())
        return other.improve(objective, penalty, blocks, fresh, tolerance, None, halted)


@dataclass(frozen=True, slots=True, eq=False)
class _SeparableComposite(Composite):
    """A loss plus a separable penalty on fixed blocks.

    ``kept`` is the penalty without what counts as part of the loss: the squared norm of unaries
    that follow their tables. It would not be diagonal in these coordinates.
    """

    kept: Penalty

    @staticmethod
    def of(objective: Loss, penalty: Penalty, blocks: Blocks, memory: int) -> _SeparableComposite:
        """Return it in the best coordinates for it."""
        kept: Penalty = replace(penalty, unary_l2=0.0)  # type: ignore[type-var]
        coordinates = choose_coordinates(objective, kept, blocks)
        if isinstance(coordinates, Plain):
            kept = penalty
        return _SeparableComposite(objective, penalty, blocks, coordinates, memory, kept)

    @property
    def _inside(self) -> float:
        """The strength of the squared norm of unaries where it counts as part of the loss."""
        return self.penalty.unary_l2 - self.kept.unary_l2

    def _slope(self, point: Evaluated) -> Floats:
        """Return the gradient of the loss, and of what counts as part of it."""
        gradient = point.gradient
        if self._inside:
            gradient, own = gradient.copy(), self.blocks.layout.n_unary
            gradient[:own] += 2.0 * self._inside * point.potentials.weights[:own]
        return self.coordinates.slope(gradient)

    def step(self, current: Solution) -> Solution:
        """Return the solution after one projected quasi-Newton step."""
        weights = self.coordinates.enter(current.point.potentials.weights)
        gradient = self._slope(current.point)
        direction, descent, orthant = self._direction(current, weights, gradient)
        longest = float(np.abs(direction).max(initial=0.0))
        length, spent = min(1.0, LONGEST / max(longest, 1e-300)), current
        while True:
            after = weights + length * direction
            after = after if orthant is None else _stay(after, orthant)
            trial = self.evaluate(self.coordinates.leave(after), spent)
            promised = -float(descent @ (after - weights))
            allowed = SUFFICIENT * promised + ROUNDING * abs(current.objective)
            if trial.objective <= current.objective + allowed:
                break
            spent = replace(current, evaluations=trial.evaluations)
            if length < SHORTEST or promised >= 0.0:
                return replace(spent, memory=Memory(), stalled=not current.memory.pairs)
            length *= 0.5
        change = self._slope(trial.point) - gradient
        memory = current.memory.remember(after - weights, change, self.most_memory)
        return replace(trial, memory=memory)

    def _direction(
        self, current: Solution, weights: Floats, gradient: Floats
    ) -> tuple[Floats, Floats, Floats | None]:
        """Return where to step, the steepest descent, and the orthant to stay in, if any."""
        descent, orthant = self._steepest(weights, gradient)
        metric = np.maximum(current.point.curvature, LEAST_CURVATURE)
        if self._inside:
            metric[: self.blocks.layout.n_unary] += 2.0 * self._inside
        direction = current.memory.direction(-descent, metric, self._ridge())
        if orthant is not None:
            direction = _align(direction, descent, weights, orthant)
        if self._inside:
            direction = self._to_centre(current, direction)
        return direction, descent, orthant

    def _to_centre(self, current: Solution, direction: Floats) -> Floats:
        """Return the step with unaries that end at mean 0, which costs the loss nothing."""
        layout, move = self.blocks.layout, self.coordinates.leave(direction)
        assert isinstance(layout, Layout)  # only there unaries follow tables
        own = move[: layout.n_unary]
        reached = current.point.potentials.weights[: layout.n_unary] + own
        sums = np.add.reduceat(reached, layout.unary_offsets[:-1])
        own -= np.repeat(sums / layout.cards, layout.cards)
        return self.coordinates.enter(move)

    def _steepest(self, weights: Floats, gradient: Floats) -> tuple[Floats, Floats | None]:
        """Return the steepest descent and the orthant it leads into (0: any sign).

        A penalty without kinks has no orthants.
        """
        blocks, penalty = self.blocks, self.kept
        slope, smooth = penalty.slope(blocks, weights)
        slope += gradient
        if not (penalty.lam or penalty.unary_lam):
            return np.where(blocks.free, -slope, 0.0), None
        lam = blocks.spread(blocks.strengths(penalty.unary_lam, penalty.lam))
        reach = np.maximum(0.0, np.abs(gradient) - lam)
        descent = np.where(smooth, -slope, -np.sign(gradient) * reach)
        descent = np.where(blocks.free, descent, 0.0)
        orthant = np.where(weights != 0, np.sign(weights), np.sign(descent))
        return descent, np.where(lam > 0, orthant, 0.0)

    def _ridge(self) -> Floats:
        """Return the curvature of the squared norm."""
        l2 = self.blocks.weigh(2.0 * self.kept.unary_l2, 2.0 * self.kept.l2)
        ridge: Floats = self.blocks.spread(l2)
        return ridge


def _align(direction: Floats, descent: Floats, weights: Floats, orthant: Floats) -> Floats:
    """Return the direction without entries that would leave zero on the wrong side.

    If that is no descent, without any entry that disagrees with the steepest descent, as Andrew and
    Gao have it.
    """
    agrees = direction * descent > 0
    some = np.where(agrees | (orthant == 0) | (weights != 0), direction, 0.0)
    some = np.where(descent != 0, some, 0.0)
    return some if some @ descent > 0 else np.where(agrees, direction, 0.0)


def _stay(weights: Floats, orthant: Floats) -> Floats:
    """Return the weights with those that left the orthant set to zero."""
    return np.where((orthant == 0) | (weights * orthant > 0), weights, 0.0)
