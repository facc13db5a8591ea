"""The Hessian of the pseudo-likelihood.

The conditional of variable k has the Hessian S_k (x) z z' in every row, z being 1 and the
indicators of its neighbours: a small matrix for each variable, summed over its configurations. Of
each neighbour one code occurs in a configuration, so S_k is added to one cell for each pair of
neighbours, and the cells are put together afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from graftwork.data.parts import InvertingEngine, TilingEngine
from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.inference.ragged import offsets
from graftwork.kernels import curvature as kernel
from graftwork.kernels.lapack import invert_definite
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.contrasts import Contrasts
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.objectives.neighbourhoods import lanes_for, padded

# Configurations looked at together.
SPAN = 2**16
# Products of matrices with this many numbers are cut into parts for this many threads.
MANY_NUMBERS, SHARES = 2**22, 2
# Where a few percent do not matter, and there are many more rows than this, so many are enough.
ENOUGH_ROWS, MANY_ROWS = 2**16, 2**18
# Matrices from this size on are inverted where the rows' engine is, if it inverts any.
LARGE = 256
# A diagonal is raised by the first of these shares of its mean that makes a matrix definite.
RAISED = tuple(10.0**power for power in range(-10, 3, 2))


@dataclass(frozen=True, slots=True, eq=False)
class HalfEdges:
    """Where edges' tables stand among the parameters of their variables' conditionals.

    Those of a conditional are its variable's own and then the tables of its edges, in the order of
    the edges: ascending among all parameters.
    """

    starts: Ints  # (n + 1,): where the half-edges of each variable start
    # (2 m, 6): the other variable, where the table begins, the strides of the own difference and
    # of the other's in it, and how many of both the table has
    halves: Ints
    # (m, 2): where each edge's table begins among the parameters of its first and its second
    # variable
    at: Ints
    places: list[Ints]  # which parameters each conditional depends on

    def of_variable(self, i: int) -> Ints:
        """Return the half-edges of one variable, as kernels take them."""
        return self.halves[self.starts[i] : self.starts[i + 1]]


class _Group(NamedTuple):
    """Tables of one shape: where their cells and parameters are, and the bases of both sides."""

    cells: Ints
    parameters: Ints
    left: Floats
    right: Floats


@dataclass(frozen=True, eq=False)
class Parameters:
    """Differences of unaries, then of edge tables, in one vector."""

    layout: Layout
    contrasts: Contrasts
    starts: Ints  # (n + m + 1,): where each variable's and each edge's parameters start

    @staticmethod
    def of(layout: Layout, contrasts: Contrasts) -> Parameters:
        """Return the parameters of a layout in these contrasts."""
        sizes = np.concatenate([contrasts.sizes, contrasts.sides(layout.edges).prod(axis=1)])
        return Parameters(layout, contrasts, offsets(sizes))

    @property
    def size(self) -> int:
        """Number of parameters."""
        return int(self.starts[-1])

    def of_edge(self, e: int) -> slice:
        """Return where an edge's parameters are."""
        first = self.layout.n_variables + e
        return slice(int(self.starts[first]), int(self.starts[first + 1]))

    def read(self, vector: Floats) -> Floats:
        """Return K' u and K_i' W K_j of a flat vector of the layout."""
        out = np.empty(self.size)
        for group in self._groups:
            tables = vector[group.cells]
            out[group.parameters] = group.left.transpose(0, 2, 1) @ tables @ group.right
        return out

    def write(self, parameters: Floats) -> Floats:
        """Return K u and K_i W K_j' as a flat vector of the layout."""
        out = self.layout.zeros()
        for group in self._groups:
            inner = parameters[group.parameters]
            out[group.cells] = group.left @ inner @ group.right.transpose(0, 2, 1)
        return out

    @cached_property
    def _groups(self) -> list[_Group]:
        """Unaries and tables, those of one shape together; unaries are tables of one column."""
        layout, stacks, one = self.layout, self.contrasts.stacks, np.ones((1, 1, 1))
        groups = []
        for stack in stacks.values():
            parts = self._group(
                stack.variables, layout.unary_offsets, stack.bases.shape[1:], (1, 1)
            )
            groups.append(_Group(*parts, stack.bases, np.broadcast_to(one, (len(parts[0]), 1, 1))))
        if not layout.n_edges:
            return groups
        sides, kinds = self.contrasts.sides(layout.edges), self.contrasts.kinds[layout.edges]
        shapes, which = np.unique(np.hstack([kinds, sides]), axis=0, return_inverse=True)
        order, ends = np.argsort(which.ravel(), kind="stable"), np.bincount(which.ravel())
        for (*both, left, right), own in zip(
            shapes.tolist(), np.split(order, np.cumsum(ends)[:-1]), strict=True
        ):
            first, second = (
                stacks[kind].some(layout.edges[own, end]) for end, kind in enumerate(both)
            )
            heights = (first.shape[1], left), (second.shape[1], right)
            parts = self._group(own, layout.edge_offsets, *heights, layout.n_variables)
            groups.append(_Group(*parts, first[:, :, :left], second[:, :, :right]))
        return groups

    def _group(
        self,
        own: Ints,
        offsets_: Ints,
        first: tuple[int, ...],
        second: tuple[int, ...],
        before: int = 0,
    ) -> tuple[Ints, Ints]:
        """Return where the cells and the parameters of some tables of one shape are.

        ``first`` and ``second`` are the numbers of states and of differences of both sides.
        """
        cells = np.arange(first[0] * second[0]).reshape(first[0], second[0])
        inner = np.arange(first[1] * second[1]).reshape(first[1], second[1])
        at, begin = offsets_[own, None, None], self.starts[before + own, None, None]
        return at + cells, begin + inner

    @cached_property
    def half_edges(self) -> HalfEdges:
        """Where edges' tables stand among the parameters of each variable's conditional."""
        n, edges = self.layout.n_variables, self.layout.edges
        sides = self.contrasts.sides(edges)
        # A variable's own parameters come before its tables, which come in the order of the edges.
        owners = np.concatenate([np.arange(n), edges.ravel()])
        order = np.argsort(owners, kind="stable")
        parts = np.concatenate([np.arange(n), np.repeat(np.arange(n, n + len(edges)), 2)])[order]
        ends = offsets(np.bincount(owners, minlength=n))
        lengths = np.diff(self.starts)[parts]
        begins = offsets(lengths)
        firsts = begins[ends]
        joined = np.repeat(self.starts[parts] - begins[:-1], lengths) + np.arange(begins[-1])
        places = [joined[a:b] for a, b in pairwise(firsts.tolist())]
        tables = order >= n
        half, own = order[tables] - n, owners[order[tables]]
        at = begins[:-1][tables] - firsts[own]
        second = sides[half // 2, 1]
        columns = [
            edges[:, ::-1].ravel()[half],
            at,
            np.where(half % 2, 1, second),
            np.where(half % 2, second, 1),
            sides.ravel()[half],
            sides[:, ::-1].ravel()[half],
        ]
        by_edge = np.empty(len(half), dtype=np.int64)
        by_edge[half] = at
        halves = np.ascontiguousarray(np.stack(columns, axis=1))
        return HalfEdges(ends - np.arange(n + 1), halves, by_edge.reshape(-1, 2), places)


@dataclass(frozen=True, slots=True, eq=False)
class Hessian:
    """A sum of small matrices, one for the conditional of each variable."""

    size: int  # number of parameters
    places: list[Ints]  # which parameters each variable's conditional depends on, ascending
    blocks: list[Floats]  # its Hessian in them

    def toarray(self) -> Floats:
        """Return the whole matrix."""
        total = np.zeros((self.size, self.size))
        for own, block in zip(self.places, self.blocks, strict=True):
            total[np.ix_(own, own)] += block
        return total

    def scaled(self, factor: float) -> Hessian:
        """Return it times a number."""
        return Hessian(self.size, self.places, [factor * block for block in self.blocks])

    def multiplier(self, n_threads: int = 1) -> Callable[[Floats], Floats]:
        """Return the function that multiplies vectors by it.

        The result does not depend on the number of threads.
        """
        sizes = np.array([float(block.size) for block in self.blocks])
        cuts = [slice(0, len(sizes))]
        if sizes.sum() >= MANY_NUMBERS:
            cuts = cut_evenly(sizes + 1.0, SHARES)
        parts = [self._joined(cut) for cut in cuts]

        def multiply(vector: Floats) -> Floats:
            whole = np.ascontiguousarray(vector)

            def part(joined: tuple[Ints, Ints, Floats]) -> Floats:
                out = np.zeros(self.size)
                kernel.multiply_blocks(*joined, whole, out)
                return out

            found = run_chunks(part, parts, n_threads)
            return found[0] if len(found) == 1 else np.sum(found, axis=0)

        return multiply

    def _joined(self, cut: slice) -> tuple[Ints, Ints, Floats]:
        """Return some of the matrices one after the other: starts, places, and entries."""
        own, blocks = self.places[cut], self.blocks[cut]
        starts = offsets(np.array([len(one) for one in own], dtype=np.int64))
        places = np.concatenate([np.zeros(0, dtype=np.int64), *own])
        return starts, places, np.concatenate([np.zeros(0), *(one.ravel() for one in blocks)])

    def by_variable(
        self, parameters: Parameters, diagonal: Floats, edges: Ints | None = None
    ) -> list[Floats]:
        """Return the matrix, plus a diagonal one, of the parameters of each conditional.

        Each edge's table is in two conditionals; any two of a variable's tables in one.

        Shapes: edges (k,) int64.
        """
        layout, at = parameters.layout, parameters.half_edges.at
        listed = np.arange(layout.n_edges) if edges is None else edges
        touched = range(len(self.blocks))
        if edges is not None:
            touched = np.unique(layout.edges[edges]).tolist()
        totals = list(self.blocks)
        for k in touched:
            totals[k] = totals[k].copy()
        lengths = np.diff(parameters.starts)[layout.n_variables + listed]
        columns = layout.edges[listed].tolist(), at[listed].tolist(), lengths.tolist()
        for (i, j), (first, second), length in zip(*columns, strict=True):
            here, there = slice(first, first + length), slice(second, second + length)
            totals[i][here, here] += self.blocks[j][there, there]
            totals[j][there, there] += self.blocks[i][here, here]
        for k in touched:
            totals[k].flat[:: len(totals[k]) + 1] += diagonal[self.places[k]]
        return totals


def hessian(
    rows: FittedRows,
    parameters: Parameters,
    variables: Ints | None = None,
    known: Hessian | None = None,
    *,
    roughly: bool = False,
) -> Hessian:
    """Return the Hessian of the log pseudo-likelihood of all rows together, without its sign.

    Shapes: variables (k,) int64.
    """
    wanted = np.arange(parameters.layout.n_variables) if variables is None else variables
    places = parameters.half_edges.places
    apart = rows.conditionals.neighbourhoods.apart[wanted]
    found = [_NOTHING] * parameters.layout.n_variables
    if known is not None:
        found = list(zip(places, known.blocks, strict=True))
    blocks = _blocks(rows, parameters, wanted[~apart])
    for i, block in zip(wanted[~apart].tolist(), blocks, strict=True):
        found[i] = places[i], block
    if apart.any():
        away = wanted[apart]
        parts, share = rows.some_parts(ENOUGH_ROWS) if roughly and is_rough(rows) else (None, 1.0)
        blocks = rows.over_rows(_blocks, parameters, away, variables=away, parts=parts)
        for i, block in zip(away.tolist(), blocks, strict=True):
            found[i] = places[i], block / share
    return Hessian(parameters.size, [own for own, _ in found], [block for _, block in found])


def is_rough(rows: FittedRows) -> bool:
    """Return whether rough Hessians differ from others."""
    sample, apart = rows.sample, rows.conditionals.neighbourhoods.apart
    tiling = sample.parts is not None and isinstance(sample.parts.engine, TilingEngine)
    return bool(tiling and sample.n_given > MANY_ROWS and apart.any())


def _blocks(rows: FittedRows, parameters: Parameters, variables: Ints) -> list[Floats]:
    """Return the Hessians of some variables' conditionals, whose configurations are here."""
    places, near = parameters.half_edges.places, None
    if len(variables) < parameters.layout.n_variables:
        edges = parameters.layout.edges
        near = np.union1d(variables, edges[np.isin(edges, variables).any(axis=1)])
    seen = _Seen.of(rows, near)
    costs = np.array([float(len(places[i])) ** 2 for i in variables.tolist()])

    def compute(part: slice) -> list[Floats]:
        return [_block(rows, parameters, seen, i) for i in variables[part].tolist()]

    groups = run_chunks(compute, cut_evenly(costs + 1.0, rows.n_threads), rows.n_threads)
    return [one for group in groups for one in group]


class _Seen(NamedTuple):
    """What the codes of all variables count as, in contrasts, one variable below the other."""

    values: Floats
    starts: Ints

    @staticmethod
    def of(rows: FittedRows, variables: Ints | None) -> _Seen:
        """Return those of some variables, default all; of others there are zeros."""
        starts, sizes = offsets(rows.sample.extended), rows.contrasts.sizes
        values = np.zeros((int(starts[-1]), int(sizes.max(initial=1))))
        for i in range(len(sizes)) if variables is None else variables.tolist():
            values[starts[i] : starts[i + 1], : sizes[i]] = rows.counted(i)
        return _Seen(values, starts)


def _block(rows: FittedRows, parameters: Parameters, seen: _Seen, i: int) -> Floats:
    """Return the Hessian of one conditional in its parameters."""
    sample, contrasts, neighbourhoods = (
        rows.sample, rows.contrasts, rows.conditionals.neighbourhoods
    )  # fmt: skip
    size, count = int(contrasts.sizes[i]), len(parameters.half_edges.places[i])
    total = np.zeros((count, count))
    if not count:
        return total
    here, masses = neighbourhoods.of_variable(i), neighbourhoods.masses_of(i)
    lanes = triangle_lanes(size * (size + 1) // 2)
    for start in range(0, here.count, SPAN):  # all at once would fill the memory
        part = slice(start, min(start + SPAN, here.count))
        codes, lines, places = here.states(sample, part)
        found = np.empty_like(total)
        kernel.sum_hessian(
            lanes, contrasts.bases[i], rows.in_configurations(i, part),
            padded(int(sample.cards[i])), masses[part], codes, lines, places,
            parameters.half_edges.of_variable(i), sample.extended, seen.values, seen.starts, found,
        )  # fmt: skip
        total = found if start == 0 else total + found
    return total


def triangle_lanes(size: int) -> tuple[int, ...]:
    """Return how many numbers of a symmetric matrix's triangle to add at once."""
    return (0,) if size <= 1 else lanes_for(size)


def inverted(matrices: Sequence[Floats], rows: FittedRows) -> list[Floats]:
    """Return the inverses of positive definite matrices, large ones where the rows' engine is."""
    found: list[Floats | None] = [None] * len(matrices)
    engine = None if rows.sample.parts is None else rows.sample.parts.engine
    if isinstance(engine, InvertingEngine):
        large = [k for k, matrix in enumerate(matrices) if len(matrix) >= LARGE]
        raised = (raised_by(matrices[k], RAISED[0]) for k in large)
        for k, one in zip(large, engine.inverses(raised), strict=True):
            found[k] = one
    left = [k for k, one in enumerate(found) if one is None]
    costs = np.array([float(len(matrices[k])) ** 3 + 1.0 for k in left])

    def invert(part: slice) -> None:
        for k in left[part]:
            found[k] = inverse(matrices[k])

    run_chunks(invert, cut_evenly(costs, rows.n_threads), rows.n_threads)
    return [one for one in found if one is not None]


def raised_by(matrix: Floats, share: float) -> Floats:
    """Return a matrix whose diagonal is raised by a share of its mean."""
    raised, size = matrix.copy(), len(matrix)
    mean = float(np.abs(matrix.diagonal()).mean()) or 1.0  # 0 where a probability rounds to 1
    raised.flat[:: size + 1] += share * mean
    return raised


def inverse(matrix: Floats) -> Floats:
    """Return the inverse of a positive definite matrix, made a little more so.

    Where that is not enough for rounding errors, its diagonal is raised further: one variable of
    thousands must not end a run.
    """
    if not len(matrix):
        return matrix
    for share in RAISED if np.isfinite(matrix.sum()) else ():
        raised = raised_by(matrix, share)
        if invert_definite(raised):
            return raised
    raise np.linalg.LinAlgError("a Hessian is not positive definite, or not finite")


_NOTHING = np.zeros(0, dtype=np.int64), np.zeros((0, 0))
