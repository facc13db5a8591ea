"""The blocks of a network's flat vector: one for each variable, then one for each edge.

What is penalised together is a *group*: a block, or one of the two parts of a table (see
``data.scores``). Groups are numbered like blocks, the rests of tables with two parts last.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.scores import Scores
from graftwork.inference.layout import Floats, Ints, Layout, Shape
from graftwork.kernels.parts import part_norms, scale_parts

Bools = NDArray[np.bool_]


def pair_scales(declared: Ints, pairs: Ints) -> Floats:
    """Return d_g of each pair: the square root of its table's number of declared entries."""
    return np.sqrt((declared[pairs[:, 0]] * declared[pairs[:, 1]]).astype(np.float64))


@dataclass(frozen=True, eq=False)
class Parts:
    """Tables with a linear part and a rest.

    Attributes
    ----------
    scores : Scores
    pairs : (k, 2) int64
        Their variables.
    edges : (k,) int64
        Which edges they are.
    starts : (k,) int64
        Where each table starts in the flat vector.
    with_rest : (k,) bool
        Whether the rest may differ from zero: else there is only the linear part.
    """

    scores: Scores
    pairs: Ints
    edges: Ints
    starts: Ints
    with_rest: Bools

    @staticmethod
    def of(layout: Layout, scores: Scores, with_rest: Bools) -> Parts | None:
        """Return the parts of a layout's tables; None where no table has two.

        ``with_rest`` says it of all edges, shape (m,).
        """
        edges = np.flatnonzero(scores.split(layout.edges))
        if not len(edges):
            return None
        starts = layout.edge_offsets[edges]
        return Parts(scores, layout.edges[edges], edges, starts, with_rest[edges])

    def norms(self, vector: Floats) -> Floats:
        """Return the norms of both parts of each table, shape (k, 2)."""
        norms: Floats = part_norms(np.ascontiguousarray(vector), *self.where)
        return norms

    def scaled(self, vector: Floats, factors: Floats) -> Floats:
        """Return the vector with both parts of each table times factors, shape (k, 2)."""
        out = np.array(vector, dtype=np.float64)
        scale_parts(out, *self.where, factors)
        return out

    def project(self, vector: Floats) -> Floats:
        """Return the vector without rests that must be zero."""
        if self.with_rest.all():
            return vector
        return self.scaled(vector, np.stack([np.ones(len(self.edges)), self.with_rest], axis=1))

    @property
    def where(self) -> tuple[Any, ...]:
        """Where the tables are, as kernels take it."""
        own = self.scores
        return self.starts, self.pairs, own.cards, own.values, own.starts, own.sizes


def part_scales(scores: Scores, declared: Ints, pairs: Ints) -> tuple[Floats, Floats]:
    """Return d_g of the linear part of each pair's table, and of the rest.

    The table's number of entries is shared by degrees of freedom.
    """
    linear, whole = scores.degrees(pairs)
    share, total = linear / np.maximum(1, whole), pair_scales(declared, pairs)
    return total * np.sqrt(share), total * np.sqrt(1.0 - share)


_NONE = np.zeros(0, dtype=np.int64)
_NO_PARTS = (_NONE, np.zeros((0, 2), dtype=np.int64), _NONE, np.zeros(0), _NONE, _NONE)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Where each block lies, what weighs on it, and which of its entries may move."""

    layout: Shape  # of the flat vector
    offsets: Ints  # (n + m + 1,): block ``g`` is ``vector[offsets[g]:offsets[g + 1]]``
    scale: Floats  # (groups,): d_g, the root of the number of declared entries
    free: Bools  # (layout.size,): which entries may move; the others stay as they are
    factor: Floats | None = None  # (groups,), optional: what lam is multiplied by
    parts: Parts | None = None  # the tables of ordered variables, if there are any

    @staticmethod
    def of(
        layout: Layout,
        declared: Ints,
        free: Bools | None = None,
        factors: Floats | None = None,
        parts: Parts | None = None,
    ) -> Blocks:
        """Return the blocks of a layout whose variables have these declared state counts.

        ``factors`` are those of the edges, shape (m,); variables have 1.
        """
        tables, rests = pair_scales(declared, layout.edges), np.zeros(0)
        if parts is not None:
            tables[parts.edges], both = part_scales(parts.scores, declared, parts.pairs)
            rests = both[parts.with_rest]
        scale = np.concatenate([np.sqrt(declared), tables, rests])
        offsets = np.concatenate([layout.unary_offsets[:-1], layout.edge_offsets])
        free = np.ones(layout.size, dtype=bool) if free is None else free
        if factors is None:
            return Blocks(layout, offsets, scale, free, None, parts)
        again = np.zeros(0) if parts is None else factors[parts.edges[parts.with_rest]]
        factor = np.concatenate([np.ones(layout.n_variables), factors, again])
        return Blocks(layout, offsets, scale, free, factor, parts)

    @cached_property
    def curved(self) -> frozenset[tuple[int, int]]:
        """The pairs of tables with two parts of which both may move."""
        (_, pairs, *_), _, rests = self.where_parts
        return frozenset((i, j) for i, j in pairs[rests >= 0].tolist())

    @cached_property
    def sizes(self) -> Ints:
        """Number of entries of each block."""
        return np.diff(self.offsets)

    def weigh(self, unaries: float, tables: float) -> Floats:
        """Return one number for each group: the first for variables, the second for tables.

        The array is kept, since solvers ask for the same ones at every step: leave it as it is.
        """
        found = self._weighed.get((unaries, tables))
        if found is None:
            found = np.full(len(self.scale), float(tables))
            found[: self.layout.n_variables] = unaries
            self._weighed[unaries, tables] = found
        return found

    @cached_property
    def _weighed(self) -> dict[tuple[float, float], Floats]:
        return {}

    def strengths(self, unaries: float, tables: float) -> Floats:
        """Return lam of each group: as ``weigh``, times the groups' factors."""
        lam = self.weigh(unaries, tables)
        return lam if self.factor is None else lam * self.factor

    @cached_property
    def all_free(self) -> bool:
        """Whether all entries may move."""
        return bool(self.free.all())

    def ridges(self, unaries: float, tables: float, lines: float | None = None) -> Floats:
        """Return l2 of each group: as ``weigh``; ``lines`` is for the mean square of linear parts.

        All entries of a linear part come from few numbers: their sum of squares would draw those to
        zero as if each were many observations.
        """
        l2, parts = self.weigh(unaries, tables), self.parts
        if parts is None or lines is None:
            return l2
        found = l2.copy()
        cells = parts.scores.cards[parts.pairs].prod(axis=1)
        found[self.layout.n_variables + parts.edges] = lines / cells
        return found

    @cached_property
    def where_parts(self) -> tuple[tuple[Any, ...], Ints, Ints]:
        """Where tables of two parts are, their blocks, and the groups of their rests, or -1."""
        if self.parts is None:
            return _NO_PARTS, _NONE, _NONE
        rests = np.full(len(self.parts.edges), -1)
        rests[self.parts.with_rest] = len(self.sizes) + np.arange(self.parts.with_rest.sum())
        return self.parts.where, self.layout.n_variables + self.parts.edges, rests

    def spread(self, per_block: NDArray[Any]) -> NDArray[Any]:
        """Return one number per block as one number per entry."""
        return np.repeat(per_block, self.sizes)

    def by_group(self, per_block: Floats) -> Floats:
        """Return one number per block as one number per group."""
        if self.parts is None:
            return per_block
        rests = self.layout.n_variables + self.parts.edges[self.parts.with_rest]
        return np.concatenate([per_block, per_block[rests]])

    def by_block(self, per_group: NDArray[Any]) -> NDArray[Any]:
        """Return the larger of the numbers of each block's groups."""
        if self.parts is None:
            return per_group
        out = per_group[: len(self.sizes)].copy()
        rests = self.layout.n_variables + self.parts.edges[self.parts.with_rest]
        out[rests] = np.maximum(out[rests], per_group[len(self.sizes) :])
        return out

    def sums(self, vector: Floats) -> Floats:
        """Return the sum of each block's entries."""
        return np.add.reduceat(vector, self.offsets[:-1])

    def norms(self, vector: Floats) -> Floats:
        """Return the Euclidean norm of each group."""
        norms: Floats = np.sqrt(self.sums(vector * vector))
        if self.parts is None:
            return norms
        both = self.parts.norms(vector)
        norms[self.layout.n_variables + self.parts.edges] = both[:, 0]
        return np.concatenate([norms, both[self.parts.with_rest, 1]])

    def times(self, vector: Floats, per_group: Floats) -> Floats:
        """Return the vector with each group times a number of its own."""
        if self.parts is None:
            return np.asarray(vector * self.spread(per_group))
        factors = np.zeros((len(self.parts.edges), 2))
        places = self.layout.n_variables + self.parts.edges
        factors[:, 0] = per_group[places]
        factors[self.parts.with_rest, 1] = per_group[len(self.sizes) :]
        plain = per_group[: len(self.sizes)].copy()
        plain[places] = 1.0
        return self.parts.scaled(vector * self.spread(plain), factors)

    def largest(self, vector: Floats) -> Floats:
        """Return the largest absolute entry of each block."""
        return np.maximum.reduceat(np.abs(vector), self.offsets[:-1])
