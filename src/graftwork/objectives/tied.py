"""A loss of few numbers: many weights share each of them.

The shared values are themselves written as a network, of variables with one state each and no
edges, so that every solver can minimise over them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.objectives.protocol import Objective, Point


class Tied:
    """A loss over the values that groups of weights share; weights without a group are zero.

    Parameters
    ----------
    objective : Objective
        The loss of all weights.
    layout : Layout
        Of all weights.
    groups : (layout.size,) int64
        The group of each weight, from 0 on; -1 for weights that stay zero.

    Attributes
    ----------
    small : Layout
        Where the values lie.

    Examples
    --------
    >>> Tied.small_layout(3).size
    3
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
