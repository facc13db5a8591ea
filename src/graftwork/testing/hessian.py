"""The Hessian of the pseudo-likelihood.

The conditional of variable k has the Hessian S_k (x) z z' in every row, z being 1 and the
indicators of its neighbours: a small matrix for each variable, summed over its configurations. Of
each neighbour one code occurs in a configuration, so S_k is added to one cell for each pair of
neighbours, and the cells are put together afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.inference.ragged import offsets
from graftwork.kernels import curvature as kernel
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.testing.contrasts import Contrasts
from graftwork.testing.moments import lanes_for, padded, unfold
from graftwork.testing.rows import FittedRows

# Configurations looked at together.
SPAN = 2**16


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalParameters:
    """The parameters that a variable's conditional depends on.

    Attributes
    ----------
    centre : int
    edges : (d,) int64
        Its edges.
    lines : (q - 1,) int64
        The neighbours' lines among indicators and residuals.
    parameters : (k, q) int64
        Which parameter multiplies residual ``a`` of the centre and 1 (first column) or a line.
    edge_of : (q,) int64
        Which edge each column belongs to; -1 for the first.
    """

    centre: int
    edges: Ints
    lines: Ints
    parameters: Ints
    edge_of: Ints


class _Group(NamedTuple):
    """Tables of one shape: where their cells and parameters are, and the bases of both sides."""

    cells: Ints
    parameters: Ints
    left: Floats
    right: Floats


@dataclass(frozen=True, eq=False)
class Parameters:
    """Differences of unaries, then of edge tables, in one vector.

    Attributes
    ----------
    layout : Layout
    contrasts : Contrasts
    starts : (n + m + 1,) int64
        Where each variable's and each edge's parameters start.
    """

    layout: Layout
    contrasts: Contrasts
    starts: Ints

    @staticmethod
    def of(layout: Layout, contrasts: Contrasts) -> Parameters:
        """Return the parameters of a layout in these contrasts."""
        sizes = contrasts.sizes
        tables = sizes[layout.edges[:, 0]] * sizes[layout.edges[:, 1]]
        return Parameters(layout, contrasts, offsets(np.concatenate([sizes, tables])))

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
        layout, one = self.layout, np.ones((1, 1))
        sides = [(basis, one) for basis in self.contrasts.bases]
        sides += [tuple(self.contrasts.bases[k] for k in pair) for pair in layout.edges.tolist()]
        begins = np.concatenate([layout.unary_offsets[:-1], layout.edge_offsets[:-1]])
        alike: dict[tuple[int, ...], list[int]] = {}
        for number, (left, right) in enumerate(sides):
            alike.setdefault((*left.shape, *right.shape), []).append(number)
        groups = []
        for (rows, first, columns, second), numbers in alike.items():
            left, right = (np.stack([sides[number][k] for number in numbers]) for k in (0, 1))
            cells = begins[numbers, None, None] + np.arange(rows * columns).reshape(rows, columns)
            inner = np.arange(first * second).reshape(first, second)
            groups.append(_Group(cells, self.starts[numbers, None, None] + inner, left, right))
        return groups

    @cached_property
    def conditionals(self) -> list[ConditionalParameters]:
        """The parameters of every variable's conditional."""
        layout, sizes = self.layout, self.contrasts.sizes
        at = [np.zeros(0, dtype=np.int64)] * layout.n_variables
        if layout.n_edges:
            ends = layout.edges.ravel()
            order = np.argsort(ends, kind="stable")
            cuts = np.cumsum(np.bincount(ends, minlength=layout.n_variables))[:-1]
            at = np.split(order // 2, cuts)
        places = offsets(sizes)
        return [self._conditional(i, edges, places) for i, edges in enumerate(at)]

    def conditional(self, i: int) -> ConditionalParameters:
        """Return the parameters of one variable's conditional."""
        edges = np.flatnonzero((self.layout.edges == i).any(axis=1))
        return self._conditional(i, edges, offsets(self.contrasts.sizes))

    def _conditional(self, centre: int, edges: Ints, places: Ints) -> ConditionalParameters:
        sizes, starts, layout = self.contrasts.sizes, self.starts, self.layout
        own = np.arange(sizes[centre])
        columns, lines, owners = [(starts[centre] + own)[:, None]], [], [np.array([-1])]
        for e in edges.tolist():
            first, second = layout.edges[e].tolist()
            other = second if first == centre else first
            theirs = np.arange(sizes[other])
            row, column = (own[:, None], theirs) if first == centre else (theirs, own[:, None])
            columns.append(starts[layout.n_variables + e] + row * sizes[second] + column)
            lines.append(places[other] + theirs)
            owners.append(np.full(len(theirs), e))
        joined = np.concatenate(lines) if lines else np.zeros(0, dtype=np.int64)
        return ConditionalParameters(
            centre, edges, joined, np.hstack(columns), np.concatenate(owners)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Hessian:
    """A sum of small matrices, one for the conditional of each variable.

    Attributes
    ----------
    size : int
        Number of parameters.
    places : list of (p,) int64
        Which parameters each variable's conditional depends on, ascending.
    blocks : list of (p, p) float64
        Its Hessian in them. Symmetric.
    """

    size: int
    places: list[Ints]
    blocks: list[Floats]

    def toarray(self) -> Floats:
        """Return the whole matrix."""
        total = np.zeros((self.size, self.size))
        for own, block in zip(self.places, self.blocks, strict=True):
            total[np.ix_(own, own)] += block
        return total

    def scaled(self, factor: float) -> Hessian:
        """Return it times a number."""
        return Hessian(self.size, self.places, [factor * block for block in self.blocks])

    def multiplier(self) -> Callable[[Floats], Floats]:
        """Return the function that multiplies vectors by it."""
        starts = offsets(np.array([len(own) for own in self.places], dtype=np.int64))
        places = np.concatenate([np.zeros(0, dtype=np.int64), *self.places])
        blocks = np.concatenate([np.zeros(0), *(block.ravel() for block in self.blocks)])

        def multiply(vector: Floats) -> Floats:
            out = np.zeros(self.size)
            kernel.multiply_blocks(starts, places, blocks, np.ascontiguousarray(vector), out)
            return out

        return multiply

    def by_variable(
        self, parameters: Parameters, diagonal: Floats, edges: Ints | None = None
    ) -> list[Floats]:
        """Return the matrix, plus a diagonal one, of the parameters of each conditional.

        Each edge's table is in two conditionals; any two of a variable's tables in one.

        Parameters
        ----------
        edges : (k,) int64, optional
            Matrices of variables that have others than these edges are not complete, or as they
            were.
        """
        listed = range(parameters.layout.n_edges) if edges is None else edges.tolist()
        touched = range(len(self.blocks))
        if edges is not None:
            touched = np.unique(parameters.layout.edges[edges]).tolist()
        totals = list(self.blocks)
        for k in touched:
            totals[k] = totals[k].copy()
        for e in listed:
            i, j = parameters.layout.edges[e].tolist()
            first = parameters.of_edge(e)
            here, there = (within(self.places[k], first) for k in (i, j))
            totals[i][here, here] += self.blocks[j][there, there]
            totals[j][there, there] += self.blocks[i][here, here]
        for k in touched:
            totals[k][np.diag_indices_from(totals[k])] += diagonal[self.places[k]]
        return totals


def within(places: Ints, part: slice) -> slice:
    """Return where a range of parameters stands in an ascending list that has all of it."""
    first = int(np.searchsorted(places, part.start))
    return slice(first, first + part.stop - part.start)


def hessian(rows: FittedRows, parameters: Parameters, variables: Ints | None = None) -> Hessian:
    """Return the Hessian of the log pseudo-likelihood of all rows together, without its sign.

    Parameters
    ----------
    variables : (k,) int64, optional
        The conditionals wanted; default all. Those of others are left out.
    """
    conditionals = (
        parameters.conditionals
        if variables is None
        else [parameters.conditional(i) for i in variables.tolist()]
    )
    costs = np.array([float(own.parameters.size) ** 2 for own in conditionals])

    def compute(part: slice) -> list[tuple[Ints, Floats]]:
        return [_block(rows, own) for own in conditionals[part]]

    groups = run_chunks(compute, cut_evenly(costs + 1.0, rows.n_threads), rows.n_threads)
    found = [_NOTHING] * parameters.layout.n_variables
    for own, block in zip(conditionals, [one for group in groups for one in group], strict=True):
        found[own.centre] = block
    return Hessian(parameters.size, [own for own, _ in found], [block for _, block in found])


def _block(rows: FittedRows, own: ConditionalParameters) -> tuple[Ints, Floats]:
    """Return the parameters of one conditional, ascending, and its Hessian in them."""
    size, width = own.parameters.shape
    order = np.argsort(own.parameters, axis=None)
    if not size:
        return order, np.zeros((0, 0))
    sample, bases = rows.sample, rows.contrasts.bases
    here = rows.conditionals.neighbourhoods.of_variable(own.centre)
    others = here.others.tolist()
    seen = [np.ones((1, 1))] + [sample.indicators(j) @ bases[j] for j in others]
    cards = np.array([len(rows_) for rows_ in seen])
    starts = np.stack([offsets(cards), offsets(np.array([rows_.shape[1] for rows_ in seen]))], 1)
    joined = np.zeros((int(cards.sum()), int(np.diff(starts[:, 1]).max())))
    for first, some in zip(starts[:, 0].tolist(), seen, strict=False):
        joined[first : first + len(some), : some.shape[1]] = some
    lanes = lanes_for(size * (size + 1) // 2)
    total = np.zeros((width, width, 0))
    for start in range(0, here.count, SPAN):  # all at once would fill the memory
        part = slice(start, min(start + SPAN, here.count))
        codes = np.zeros((1 + len(others), part.stop - start), dtype=sample.codes.dtype)
        for place, j in enumerate(others):
            codes[place + 1] = here.codes(sample, j, part)
        table = padded(_curvatures(rows, own.centre, part), lanes)
        found = np.zeros((width, width, table.shape[1]))
        kernel.sum_hessian(
            lanes, table.shape[1], codes, cards, table.ravel(), joined, starts, found
        )
        total = found if start == 0 else total + found
    square = total[:, :, unfold(size)].transpose(2, 0, 3, 1).reshape(order.size, order.size)
    return own.parameters.ravel()[order], square[np.ix_(order, order)]


def _curvatures(rows: FittedRows, centre: int, part: slice) -> Floats:
    """Return the covariances of a conditional in part of its configurations, times their masses."""
    masses = rows.conditionals.neighbourhoods.masses_of(centre)
    curvatures = rows.moments(centre, part).curvatures
    return curvatures * masses[part] if masses.size else curvatures


_NOTHING = np.zeros(0, dtype=np.int64), np.zeros((0, 0))
