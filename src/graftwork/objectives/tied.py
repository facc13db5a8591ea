"""Losses for tying weights: of few numbers that many weights share, and shifted by a slope.

The shared values are themselves written as a network, of variables with one state each and no
edges, so that every solver can minimise over them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.objectives.protocol import Expectations, Objective, Point


class Tied:
    """A loss over the values that groups of weights share; weights without a group are zero.

    Shapes: groups (layout.size,) int64.
    """

    def __init__(self, objective: Objective, layout: Layout, groups: Ints) -> None:
        self.objective = objective
        self.sample = objective.sample
        self.layout = layout
        self.groups = groups
        self.held = np.flatnonzero(groups >= 0)
        self.small = Tied.small_layout(int(groups.max(initial=-1)) + 1)
        self.evaluations = 0

    @staticmethod
    def small_layout(count: int) -> Layout:
        """Return a layout of this many single numbers."""
        return Layout.of(np.ones(count, dtype=np.int64))

    def expand(self, values: Floats) -> Potentials:
        """Return the network whose weights have these values."""
        weights = self.layout.zeros()
        weights[self.held] = values[self.groups[self.held]]
        return Potentials(self.layout, weights)

    def gather(self, vector: Floats) -> Floats:
        """Return the sum of a vector's entries over each group."""
        sums = np.bincount(self.groups[self.held], vector[self.held], minlength=self.small.size)
        return sums.astype(np.float64)

    def at(self, potentials: Potentials, warm: Any = None) -> TiedPoint:
        """Return the loss at these values."""
        self.evaluations += 1
        near = warm.base if isinstance(warm, TiedPoint) else None
        return TiedPoint(self, potentials, self.objective.at(self.expand(potentials.weights), near))


class TiedPoint:
    """A tied loss evaluated at one set of values; ``base`` is the loss of all weights there."""

    def __init__(self, objective: Tied, potentials: Potentials, base: Point) -> None:
        self.base = base
        self.potentials = potentials
        self.value, self.exact, self.trusted = base.value, base.exact, base.trusted
        self.gradient = objective.gather(base.gradient)
        self.curvature = objective.gather(base.curvature)


class Shifted:
    """``loss(w) - <slope, w> + sum_j pull_j (w_j - centre_j)^2``, on one layout.

    With the slope of the loss at w* and no pull it is, up to a constant, the Bregman divergence of
    w from w*: zero slope at w*, and growing from there. For the likelihood that is the
    Kullback-Leibler divergence of the network from the one at w*.

    Shapes: slope (size,) float64; centre, pull (size,) float64.
    """

    def __init__(
        self,
        objective: Objective,
        slope: Floats,
        centre: Floats | None = None,
        pull: Floats | None = None,
    ) -> None:
        self.objective = objective
        self.sample = objective.sample
        self.slope = slope
        self.centre = np.zeros_like(slope) if centre is None else centre
        self.pull = np.zeros_like(slope) if pull is None else pull
        self.evaluations = 0

    def describe(self) -> str:
        """Return in plain words how it is computed."""
        return f"distance in the {self.objective.describe()}"

    def at(self, potentials: Potentials, warm: Point | None = None) -> ShiftedPoint:
        """Return the shifted loss evaluated there."""
        self.evaluations += 1
        known = warm.base if isinstance(warm, ShiftedPoint) else warm
        return ShiftedPoint(self, self.objective.at(potentials, known))


class ShiftedPoint:
    """A shifted loss evaluated at one set of potentials; ``base`` is the loss there."""

    def __init__(self, objective: Shifted, base: Point) -> None:
        self.base = base
        self.potentials = base.potentials
        self.exact, self.trusted = base.exact, base.trusted
        away = base.potentials.weights - objective.centre
        pulled = objective.pull * away
        linear = float(objective.slope @ base.potentials.weights)
        self.value = base.value - linear + float(pulled @ away)
        self.gradient = base.gradient - objective.slope + 2.0 * pulled
        self.curvature = base.curvature + 2.0 * objective.pull

    def pair_gradients(self, pairs: Ints) -> tuple[Floats, Ints, bool]:
        """Return the loss's gradient tables of inactive pairs: they are not shifted."""
        return self.base.pair_gradients(pairs)

    def pair_expectations(self, pairs: Ints) -> Expectations:
        """Return what the loss compares at these pairs."""
        return self.base.pair_expectations(pairs)

    def pair_gains(self, pairs: Ints) -> Floats:
        """Return the loss's gains of inactive pairs."""
        return self.base.pair_gains(pairs)

    def removal_costs(self) -> Floats:
        """Return what the removal of each edge costs, for the loss."""
        return self.base.removal_costs()
