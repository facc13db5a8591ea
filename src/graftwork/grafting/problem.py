"""What is minimised, and a network on the way: blocks come, blocks go, weights improve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graftwork.grafting.family import ModelFamily
from graftwork.grafting.networks import NetworkFamily
from graftwork.grafting.recipe import Recipe
from graftwork.grafting.spaces import PairSpace, Space
from graftwork.inference.layout import Floats, Ints, Shape
from graftwork.penalties.blocks import Blocks, Bools
from graftwork.penalties.protocol import Penalty
from graftwork.solvers import (
    Memory,
    Solution,
    Solver,
    measure,
)
from graftwork.solvers.coordinates import Plain
from graftwork.solvers.proximal import Composite
from graftwork.solvers.solution import never


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What is minimised: a loss plus a penalty, over what a family may activate."""

    objective: Any  # an ``Objective`` for networks
    penalty: Penalty
    # what blocks are; by default edges between the variables of the objective's sample
    family: ModelFamily = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.family is None:
            object.__setattr__(self, "family", NetworkFamily(self.objective.sample))

    @property
    def variables(self) -> Ints:
        """The variables between which there may be edges."""
        return self.family.variables

    @property
    def space(self) -> PairSpace:
        """All pairs of variables that vary and may be edges."""
        space = self.family.space(self.variables, False)
        return space if isinstance(space, PairSpace) else PairSpace(self.variables)

    def space_for(self, recipe: Recipe) -> Space:
        """Return the blocks a recipe may activate."""
        return self.family.space(self.variables, recipe.features and self.penalty.separable)

    def at(self, lam: float) -> Problem:
        """Return the same problem with another lambda on the tables."""
        return replace(self, penalty=replace(self.penalty, lam=lam))  # type: ignore[type-var]

    def blocks(self, layout: Any, free: Bools | None = None) -> Blocks:
        """Return the blocks of a layout, with what may move."""
        return self.family.blocks(layout, free)

    def on(self, layout: Shape) -> Composite:
        """Return the problem of the weights of one layout, all of them free."""
        blocks = self.blocks(layout)
        return Composite(self.objective, self.penalty, blocks, Plain(blocks), 0)

    def solution(
        self,
        potentials: Any,
        memory: Memory | None = None,
        near: Solution | None = None,
        free: Bools | None = None,
    ) -> Solution:
        """Return these potentials, evaluated."""
        point = self.objective.at(potentials, near.point if near else None)
        return measure(point, self.penalty, self.blocks(potentials.layout, free), 0, memory)


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A solution and which of its entries may move. A value: every change gives a new one."""

    solution: Solution
    free: Bools

    @property
    def potentials(self) -> Any:
        """Layout and weights."""
        return self.solution.point.potentials

    @property
    def layout(self) -> Any:
        """Where the weights lie: the family's own kind of layout."""
        return self.potentials.layout

    @property
    def weights(self) -> Floats:
        """The weights."""
        weights: Floats = self.potentials.weights
        return weights

    def active(self, space: Space) -> Ints:
        """Return the keys of the active blocks."""
        return space.active(self.layout, self.free)

    def largest(self, space: Space, keys: Ints) -> Floats:
        """Return the largest absolute weight of each of these active blocks."""
        if not len(keys):
            return np.zeros(0)
        entries, starts = space.entries(self.layout, keys)
        largest: Floats = np.maximum.reduceat(np.abs(self.weights[entries]), starts[:-1])
        return largest

    def grow(self, problem: Problem, space: Space, keys: Ints) -> Network:
        """Return the network with these blocks active; their weights are zero."""
        layout = problem.family.grown(self.layout, space, keys)
        free = np.zeros(layout.size, dtype=bool)
        free[: len(self.free)] = self.free
        free[space.entries(layout, keys)[0]] = True
        return self._moved(problem, layout, free, np.arange(len(self.free)))

    def shrink(self, problem: Problem, space: Space, keys: Ints) -> Network:
        """Return the network without these blocks; tables without any entry left go.

        What they added to their variables on average stays, in unaries that are free.
        """
        places = space.entries(self.layout, keys)[0]
        dropped = self.weights[places].any()
        free = self.free.copy()
        free[places] = False
        layout, entries = problem.family.kept(self.layout, free)
        if not dropped:
            return self._moved(problem, layout, free[entries], entries)
        compensate = not (problem.penalty.unary_lam or problem.penalty.unary_l2)
        weights = problem.family.without(self.layout, self.weights, places, compensate)
        memory = self.solution.memory.move(entries, layout.size, np.arange(layout.size))
        potentials = replace(self.potentials, layout=layout, weights=weights[entries])
        solution = problem.solution(potentials, memory, self.solution, free[entries])
        return Network(solution, free[entries])

    def solved(
        self,
        problem: Problem,
        solver: Solver,
        accuracy: float,
        steps: int | None = None,
        halted: Callable[[], bool] = never,
    ) -> Network:
        """Return the network with better weights: to the accuracy, or a number of steps."""
        solution = solver.improve(
            problem.objective,
            problem.penalty,
            problem.blocks(self.layout, self.free),
            replace(self.solution, evaluations=0, stalled=False),
            accuracy,
            steps,
            halted,
        )
        return replace(self, solution=solution)

    def _moved(self, problem: Problem, layout: Any, free: Bools, entries: Ints) -> Network:
        """Return the same network in another layout, which begins with these entries of the old.

        What else either layout has are blocks of zeros.
        """
        point, memory = self.solution.point, self.solution.memory
        if layout.size != self.layout.size:
            weights = np.zeros(layout.size)
            weights[: len(entries)] = self.weights[entries]
            potentials = replace(self.potentials, layout=layout, weights=weights)
            point = problem.objective.at(potentials, point)
            memory = memory.move(entries, layout.size, np.arange(len(entries)))
        blocks = problem.blocks(point.potentials.layout, free)
        measured = measure(point, problem.penalty, blocks, 0, memory)
        return Network(replace(measured, stalled=self.solution.stalled), free)
