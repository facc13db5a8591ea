"""What is in the network, and the two ways it changes: blocks come, blocks go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from graftwork.grafting.problem import Problem
from graftwork.grafting.space import Space
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.kernels.tables import add_mean_rows
from graftwork.objectives.reshaped import reshape
from graftwork.penalties.blocks import Bools
from graftwork.solvers import Solution, Solver, measure
from graftwork.solvers.solution import never


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A solution and which of its entries may move. A value: every change gives a new one."""

    solution: Solution
    free: Bools

    @property
    def layout(self) -> Layout:
        """Where the weights lie."""
        return self.solution.point.potentials.layout

    @property
    def weights(self) -> Floats:
        """The weights."""
        return self.solution.point.potentials.weights

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
        pairs = space.pairs(keys)
        absent = pairs[find_edges(self.layout, pairs) < 0]
        _, first = np.unique(absent, axis=0, return_index=True)
        fresh = absent[np.sort(first)]  # cells of one table bring it once
        layout = Layout.of(self.layout.cards, np.concatenate([self.layout.edges, fresh]))
        free = np.zeros(layout.size, dtype=bool)
        free[: len(self.free)] = self.free
        free[space.entries(layout, keys)[0]] = True
        return self._moved(problem, layout, free)

    def shrink(self, problem: Problem, space: Space, keys: Ints) -> Network:
        """Return the network without these blocks; tables without any entry left go.

        What they added to their variables on average stays, in unaries that are free.
        """
        free, weights, old = self.free.copy(), self.weights.copy(), self.layout
        places = space.entries(old, keys)[0]
        dropped = weights[places].any()
        if dropped and not (problem.penalty.unary_lam or problem.penalty.unary_l2):
            weights[: old.n_unary] += _averages(old, weights, places, problem)
        free[places], weights[places] = False, 0.0
        kept = (
            np.logical_or.reduceat(free[old.n_unary :], old.edge_offsets[:-1] - old.n_unary)
            if old.n_edges
            else np.zeros(0, dtype=bool)
        )
        layout = Layout.of(old.cards, old.edges[kept])
        entries = np.concatenate([np.arange(old.n_unary), old.entries(np.flatnonzero(kept))])
        if dropped:  # weights that were not zero: another network, evaluated anew
            memory = self.solution.memory.move(entries, layout.size, np.arange(layout.size))
            potentials = Potentials(layout, weights[entries])
            solution = problem.solution(potentials, memory, self.solution, free[entries])
            return Network(solution, free[entries])
        return self._moved(problem, layout, free[entries])

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

    def _moved(self, problem: Problem, layout: Layout, free: Bools) -> Network:
        """Return the same weights in another layout, without an evaluation where possible."""
        solution, old = self.solution, self.layout
        point, memory = solution.point, solution.memory
        if layout.n_edges != old.n_edges or (layout.edges != old.edges).any():
            shared = find_edges(old, layout.edges)
            here = np.flatnonzero(shared >= 0)
            unary = np.arange(old.n_unary)
            sources = np.concatenate([unary, old.entries(shared[here])])
            targets = np.concatenate([unary, layout.entries(here)])
            weights = layout.zeros()
            weights[targets] = self.weights[sources]
            potentials = Potentials(layout, weights)
            point = (
                reshape(point, potentials)
                if problem.objective.ignores_empty_tables
                else problem.objective.at(potentials, point)
            )
            memory = memory.move(sources, layout.size, targets)
        blocks = problem.blocks(layout, free)
        measured = measure(point, problem.penalty, blocks, 0, memory)
        return Network(replace(measured, stalled=solution.stalled), free)


def _averages(layout: Layout, weights: Floats, places: Ints, problem: Problem) -> Floats:
    """Return what some table entries add to the unaries on average over the data."""
    alone = np.zeros_like(weights)
    alone[places] = weights[places]
    add_mean_rows(
        alone, layout.cards, layout.edges, layout.edge_offsets, layout.unary_offsets,
        problem.objective.sample.frequencies, 1.0,
    )  # fmt: skip
    return alone[: layout.n_unary]
