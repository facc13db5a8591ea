"""What a problem is about: which blocks there are, and what coming and going means for weights.

The loop is the same for networks, whose blocks are tables of pairs of variables or cells of them,
and for chains, whose blocks are features of sequences. All it does not know is in a domain.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from graftwork.data.compact import Sample
from graftwork.grafting.cells import CellSpace
from graftwork.grafting.factors import PairFactors
from graftwork.grafting.gains import block_gains
from graftwork.grafting.sieve import Sieve
from graftwork.grafting.space import PairSpace, Space, TableSpace, tables_at_once
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.kernels.tables import add_mean_rows
from graftwork.objectives.protocol import Point, independent_potentials
from graftwork.objectives.reshaped import reshape
from graftwork.penalties.blocks import Blocks, Bools
from graftwork.penalties.protocol import Penalty


class Domain(Protocol):
    """Which blocks there are, and how a layout changes when they come and go.

    Layouts and potentials are the domain's own; to the loop they are values that it hands around.
    """

    @property
    def noun(self) -> str:
        """What is kept in the end, in a word: an edge, a feature."""
        ...

    @property
    def scored(self) -> bool:
        """Whether an evaluation scores every block, so that looking costs nothing."""
        ...

    @property
    def variables(self) -> Ints:
        """The variables between which there may be edges; none where blocks are not edges."""
        ...

    @property
    def tables_counted(self) -> int:
        """How many pair tables were computed so far."""
        ...

    def empty(self) -> Any:
        """Return the potentials without any block."""
        ...

    def space(self, variables: Ints, features: bool) -> Space:
        """Return the blocks among some variables; ``features`` asks for single entries."""
        ...

    def blocks(self, layout: Any, free: Bools | None = None) -> Blocks:
        """Return the blocks of a layout, with what may move."""
        ...

    def grown(self, layout: Any, space: Any, keys: Ints) -> Any:
        """Return the layout that has these blocks too."""
        ...

    def kept(self, layout: Any, free: Bools) -> tuple[Any, Ints]:
        """Return the layout of blocks with entries that may move, and the entries that stay."""
        ...

    def carried(self, old: Any, new: Any) -> tuple[Ints, Ints] | None:
        """Return which entries of an old layout are which of a new one; None if they are equal."""
        ...

    def without(self, layout: Any, weights: Floats, places: Ints, compensate: bool) -> Floats:
        """Return the weights with these entries zero.

        To ``compensate`` is to let weights that are not penalised take over what they did.
        """
        ...

    def reshaped(self, point: Any, potentials: Any) -> Any:
        """Return a point for potentials that differ from its own by blocks of zeros only."""
        ...

    def scales(self, space: Any, keys: Ints) -> Floats:
        """Return d_g of each block."""
        ...

    def factors_of(self, space: Any, keys: Ints) -> Floats | None:
        """Return what lam is multiplied by for each block; None where that is 1 for all."""
        ...

    def needed(self, space: Any) -> Ints:
        """Return the keys of the blocks that are active from the start and never leave."""
        ...

    def gains(self, space: Any, point: Any, penalty: Penalty, keys: Ints) -> Floats:
        """Return by how much the objective would fall if each block alone were optimised."""
        ...

    def count_entries(self, space: Any) -> int:
        """Return how many entries all blocks together have."""
        ...

    def degrees(self, layout: Any) -> Ints:
        """Return the number of edges of each variable."""
        ...

    def absent(self, layout: Any, space: Any, keys: Ints) -> Bools:
        """Return which of these blocks would bring something new to the layout, if it is full."""
        ...

    def known(self, space: Any, most: int) -> Ints:
        """Return keys that cost little to score: at most about so many where each costs."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PairDomain:
    """Networks: edges between the variables of a sample, or cells of their tables.

    Attributes
    ----------
    sample : Sample
    prior : PairFactors, optional
        What is known about edges: pairs that may not be edges are in no space, required ones always
        are edges, and lam is multiplied by a pair's factor. None is nothing.

    Examples
    --------
    >>> from graftwork.data import Table
    >>> from graftwork.data.compact import prepare
    >>> sample = prepare(Table(("a", "b", "c"), ((0, 1),) * 3, [[0, 1], [0, 1], [1, 0]]))
    >>> domain = PairDomain(sample, PairFactors.of(3, [(0, 1)], np.inf).requiring([(1, 2)]))
    >>> domain.factors(np.array([[0, 1], [0, 2], [1, 2]])), domain.required.tolist()
    (array([inf,  1.,  0.]), [[1, 2]])
    >>> domain.space(domain.variables, False).size
    2
    """

    sample: Sample
    prior: PairFactors | None = None
    _spaces: dict[Any, PairSpace | CellSpace] = field(default_factory=dict, repr=False)
    noun = "edge"
    scored = False

    def factors(self, pairs: Ints) -> Floats:
        """Return what lam is multiplied by for each pair: 1 unless something else is known."""
        return np.ones(len(pairs)) if self.prior is None else self.prior.at(pairs)

    def requires(self, pairs: Ints) -> Bools:
        """Return which of these pairs always are edges."""
        none = np.zeros(len(pairs), dtype=bool)
        return none if self.prior is None else self.prior.requires(pairs)

    @property
    def required(self) -> Ints:
        """The pairs that always are edges, shape (k, 2), ``i < j``."""
        return np.zeros((0, 2), dtype=np.int64) if self.prior is None else self.prior.required

    @property
    def variables(self) -> Ints:
        """The variables that vary: a constant column has no edges."""
        return np.flatnonzero(self.sample.cards > 1)

    @property
    def tables_counted(self) -> int:
        """How many pair tables were computed so far."""
        return self.sample.counts.n_computed

    def empty(self) -> Potentials:
        """Return the network without edges that has the sample's marginals."""
        return independent_potentials(self.sample)

    def space(self, variables: Ints, features: bool) -> PairSpace | CellSpace:
        """Return the pairs among those of the variables that vary, or the cells of their tables."""
        some = np.intersect1d(variables, self.variables)
        if self.prior is None:
            return self._whole(some, features)
        known = (features, some.tobytes())
        if known not in self._spaces:
            self._spaces[known] = self._sifted(some, features)
        return self._spaces[known]

    def _whole(self, variables: Ints, features: bool) -> PairSpace | CellSpace:
        cards = self.sample.cards
        if features:
            return CellSpace(variables, cards)
        return PairSpace(variables, batch=tables_at_once(cards[variables]))

    def _sifted(self, variables: Ints, features: bool) -> PairSpace | CellSpace:
        """Return the space without the pairs that may not be edges."""
        prior, whole = self.prior, self._whole(variables, features)
        if prior is None:
            return whole
        endless = np.isinf(prior.values)
        pairs = prior.pairs[endless if np.isfinite(prior.default) else ~endless]
        spans = whole.spans(pairs[np.isin(pairs, variables).all(axis=1)])
        if np.isinf(prior.default):
            return replace(whole, sieve=Sieve.keeping(*spans))
        return replace(whole, sieve=Sieve.dropping(*spans, whole.size)) if len(spans[0]) else whole

    def blocks(self, layout: Layout, free: Bools | None = None) -> Blocks:
        """Return the blocks of a layout: variables, then edges."""
        factors = None if self.prior is None else self.prior.at(layout.edges)
        return Blocks.of(layout, self.sample.declared, free, factors)

    def grown(self, layout: Layout, space: TableSpace, keys: Ints) -> Layout:
        """Return the layout with the pairs of these blocks as edges."""
        pairs = space.pairs(keys)
        absent = pairs[find_edges(layout, pairs) < 0]
        _, first = np.unique(absent, axis=0, return_index=True)
        fresh = absent[np.sort(first)]  # cells of one table bring it once
        return Layout.of(layout.cards, np.concatenate([layout.edges, fresh]))

    def kept(self, layout: Layout, free: Bools) -> tuple[Layout, Ints]:
        """Return the layout without tables of which no entry may move, and the entries it keeps."""
        kept = np.zeros(0, dtype=bool)
        if layout.n_edges:
            starts = layout.edge_offsets[:-1] - layout.n_unary
            kept = np.logical_or.reduceat(free[layout.n_unary :], starts)
        entries = layout.entries(np.flatnonzero(kept))
        smaller = Layout.of(layout.cards, layout.edges[kept])
        return smaller, np.concatenate([np.arange(layout.n_unary), entries])

    def carried(self, old: Layout, new: Layout) -> tuple[Ints, Ints] | None:
        """Return which entries two layouts share: unaries and tables of the same edges."""
        if new.n_edges == old.n_edges and (new.edges == old.edges).all():
            return None
        shared = find_edges(old, new.edges)
        here = np.flatnonzero(shared >= 0)
        unary = np.arange(old.n_unary)
        sources = np.concatenate([unary, old.entries(shared[here])])
        return sources, np.concatenate([unary, new.entries(here)])

    def without(self, layout: Layout, weights: Floats, places: Ints, compensate: bool) -> Floats:
        """Return the weights with these table entries zero.

        What they added to their variables on average over the data goes into unaries that are free.
        """
        left = weights.copy()
        if compensate and weights[places].any():
            alone = np.zeros_like(weights)
            alone[places] = weights[places]
            add_mean_rows(
                alone, layout.cards, layout.edges, layout.edge_offsets, layout.unary_offsets,
                self.sample.frequencies, 1.0,
            )  # fmt: skip
            left[: layout.n_unary] += alone[: layout.n_unary]
        left[places] = 0.0
        return left

    def reshaped(self, point: Point, potentials: Potentials) -> Point:
        """Return the point for potentials with other tables of zeros."""
        return reshape(point, potentials)

    def scales(self, space: TableSpace, keys: Ints) -> Floats:
        """Return d_g of each block."""
        return space.scales(self.sample.declared, keys)

    def factors_of(self, space: TableSpace, keys: Ints) -> Floats | None:
        """Return what lam is multiplied by for each block: its pair's factor."""
        return None if self.prior is None else self.prior.at(space.pairs(keys))

    def needed(self, space: TableSpace) -> Ints:
        """Return the keys of the required pairs, or of all their cells."""
        return space.keys(self.required[np.isin(self.required, space.variables).all(axis=1)])

    def gains(self, space: TableSpace, point: Point, penalty: Penalty, keys: Ints) -> Floats:
        """Return by how much the objective would fall if each block alone were optimised."""
        factors = self.factors_of(space, keys)
        return block_gains(space, point, penalty, self.sample, keys, factors)

    def count_entries(self, space: TableSpace) -> int:
        """Return how many table entries all pairs have."""
        return self.space(space.variables, True).size

    def degrees(self, layout: Layout) -> Ints:
        """Return the number of edges of each variable."""
        return np.bincount(layout.edges.ravel(), minlength=layout.n_variables)

    def absent(self, layout: Layout, space: TableSpace, keys: Ints) -> Bools:
        """Return which of these blocks belong to pairs that are not edges."""
        away: Bools = find_edges(layout, space.pairs(keys)) < 0
        return away

    def known(self, space: TableSpace, most: int) -> Ints:
        """Return the pairs whose tables are counted (of cells none: they are too many)."""
        if not isinstance(space, PairSpace):
            return np.zeros(0, dtype=np.int64)
        pairs = self.sample.counts.known_pairs(most)
        keys = space.keys(pairs[np.isin(pairs, space.variables).all(axis=1)])
        return keys[keys >= 0]
