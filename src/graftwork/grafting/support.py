"""What is in the network, and the two ways it changes: blocks come, blocks go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graftwork.grafting.problem import Problem
from graftwork.grafting.space import Space
from graftwork.inference.layout import Floats, Ints
from graftwork.penalties.blocks import Bools
from graftwork.solvers import Solution, Solver, measure
from graftwork.solvers.solution import never


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
        """Where the weights lie: the domain's own kind of layout."""
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
        layout = problem.domain.grown(self.layout, space, keys)
        free = np.zeros(layout.size, dtype=bool)
        free[: len(self.free)] = self.free
        free[space.entries(layout, keys)[0]] = True
        return self._moved(problem, layout, free)

    def shrink(self, problem: Problem, space: Space, keys: Ints) -> Network:
        """Return the network without these blocks; tables without any entry left go.

        What they added to their variables on average stays, in unaries that are free.
        """
        places = space.entries(self.layout, keys)[0]
        dropped = self.weights[places].any()
        free = self.free.copy()
        free[places] = False
        layout, entries = problem.domain.kept(self.layout, free)
        if not dropped:
            return self._moved(problem, layout, free[entries])
        # weights that were not zero: another network, evaluated anew
        compensate = not (problem.penalty.unary_lam or problem.penalty.unary_l2)
        weights = problem.domain.without(self.layout, self.weights, places, compensate)
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
        """Return the network with better weights: to the accuracy, or so many steps."""
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

    def under(self, problem: Problem) -> Network:
        """Return the same network measured by another problem's penalty."""
        return self._moved(problem, self.layout, self.free)

    def _moved(self, problem: Problem, layout: Any, free: Bools) -> Network:
        """Return the same weights in another layout, without an evaluation where possible."""
        point, memory = self.solution.point, self.solution.memory
        shared = problem.domain.carried(self.layout, layout)
        if shared is not None:
            sources, targets = shared
            weights = np.zeros(layout.size)
            weights[targets] = self.weights[sources]
            potentials = replace(self.potentials, layout=layout, weights=weights)
            point = (
                problem.domain.reshaped(point, potentials)
                if problem.objective.ignores_empty_tables
                else problem.objective.at(potentials, point)
            )
            memory = memory.move(sources, layout.size, targets)
        blocks = problem.blocks(layout, free)
        measured = measure(point, problem.penalty, blocks, 0, memory)
        return Network(replace(measured, stalled=self.solution.stalled), free)
