"""Networks as a family of models: edges between variables, or cells of their tables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from graftwork.data.encoded import EncodedRows
from graftwork.grafting.factors import PairFactors
from graftwork.grafting.family import ModelFamily
from graftwork.grafting.screen import (
    FEWEST_PAIRS,
    FEWEST_PRODUCTS,
    MOST_PAIRS,
    Screen,
    TileScores,
)
from graftwork.grafting.spaces import (
    CellSpace,
    IndexMap,
    PairSpace,
    TableSpace,
    tables_at_once,
)
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.kernels.gains import cell_gains, table_gains
from graftwork.kernels.tables import add_mean_rows, centre_tables
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.protocol import Point, independent_potentials
from graftwork.penalties.blocks import Blocks, Bools, Parts, part_scales
from graftwork.penalties.protocol import Penalty
from graftwork.solvers.coordinates import searchable


@dataclass(frozen=True, slots=True, eq=False)
class NetworkFamily(ModelFamily):
    """Networks: edges between the variables of a sample, or cells of their tables."""

    sample: EncodedRows
    # what is known about edges: pairs that may not be edges are in no space, required ones always
    # are edges, and lam is multiplied by a pair's factor
    prior: PairFactors | None = None
    # of tables of ordered variables, only these have more than their linear part
    curved: frozenset[tuple[int, int]] | None = None
    _spaces: dict[Any, PairSpace | CellSpace] = field(default_factory=dict, repr=False)
    _screens: WeakKeyDictionary[Any, dict[Any, Screen]] = field(
        default_factory=WeakKeyDictionary, repr=False
    )
    noun = "edge"

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

    def admitted(self, start: Potentials, penalty: Penalty, most: int | None) -> Potentials:
        """Return a network without edges that may not be, where a solver can begin.

        With prior knowledge and at most ``most`` edges, the required ones stay, and those of the
        strongest tables. What tables that leave added to their variables on average goes into
        unaries that are free.
        """
        if self.prior is not None:
            start = self._allowed(self.prior, start, penalty, most)
        return searchable(penalty, start)

    def _allowed(
        self, prior: PairFactors, start: Potentials, penalty: Penalty, most: int | None
    ) -> Potentials:
        layout = start.layout
        value = np.where(prior.requires(layout.edges), np.inf, strengths(start))
        order = np.argsort(-value, kind="stable")
        order = order[np.isfinite(prior.at(layout.edges[order]))]
        if most is not None:
            missing = len(prior.required) - int((value[order] == np.inf).sum())
            order = order[: max(0, most - missing)]
        kept = np.zeros(layout.n_edges, dtype=bool)
        kept[order] = True
        if kept.all():
            return start
        gone = layout.entries(np.flatnonzero(~kept))
        compensate = not (penalty.unary_lam or penalty.unary_l2)
        weights = self.without(layout, start.weights, gone, compensate)
        return only(Potentials(layout, weights), kept)

    def count_barred(self, variables: Ints) -> int:
        """Return how many pairs of these variables may not be edges."""
        if self.prior is None:
            return 0
        return PairSpace(variables).size - self.space(variables, False).size

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
            return replace(whole, index_map=IndexMap.keeping(*spans))
        return (
            replace(whole, index_map=IndexMap.dropping(*spans, whole.size))
            if len(spans[0])
            else whole
        )

    def blocks(self, layout: Layout, free: Bools | None = None) -> Blocks:
        """Return the blocks of a layout: variables, then edges."""
        factors = None if self.prior is None else self.prior.at(layout.edges)
        return Blocks.of(layout, self.sample.declared, free, factors, self.parts(layout))

    def parts(self, layout: Layout) -> Parts | None:
        """Return the tables of a layout that have a linear part and a rest."""
        scores = self.sample.scores
        if scores is None:
            return None
        with_rest = np.full(layout.n_edges, not scores.straight)
        if self.curved is not None:
            with_rest[:] = [(i, j) in self.curved for i, j in layout.edges.tolist()]
        return Parts.of(layout, scores, with_rest)

    def scores(
        self, space: TableSpace, penalty: Penalty, gradients: Floats, starts: Ints, keys: Ints
    ) -> Floats:
        """Return the scores of inactive blocks from their gradients.

        Of a table with two parts that is the larger of both scores, or that of the linear part
        where nothing else may be.
        """
        found = penalty.scores(gradients, starts, self.scales(space, keys))
        scores = self.sample.scores
        if scores is None or penalty.separable:
            return found
        pairs = space.pairs(keys)
        split = np.flatnonzero(scores.split(pairs))
        if len(split):
            parts = Parts(scores, pairs[split], split, starts[split], np.ones(len(split), bool))
            both = part_scales(scores, self.sample.declared, pairs[split])
            norms = parts.norms(gradients) / np.stack(both, axis=1)
            found[split] = norms[:, 0] if scores.straight else norms.max(axis=1)
        return found

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

    def scales(self, space: TableSpace, keys: Ints) -> Floats:
        """Return d_g of each block."""
        return space.scales(self.sample.declared, keys)

    def factors_of(self, space: TableSpace, keys: Ints) -> Floats | None:
        """Return what lam is multiplied by for each block: its pair's factor."""
        return None if self.prior is None else self.prior.at(space.pairs(keys))

    def needed(self, space: TableSpace) -> Ints:
        """Return the keys of the required pairs, or of all their cells."""
        return space.keys(self.required[np.isin(self.required, space.variables).all(axis=1)])

    def screen(self, objective: Any, penalty: Penalty, space: TableSpace) -> Screen | None:
        """Return the screen of a loss and a space, the same one whatever lambda.

        Blocks must be whole tables, neither too few nor too many, all with the same lambda.
        """
        if space.size > MOST_PAIRS or not self._alike(objective, space):
            return None
        screens = self._screens.setdefault(objective, {})
        name = type(penalty), space.variables.tobytes()
        if name not in screens:
            screens[name] = Screen(space.variables, self._tile_scores(penalty))
        return screens[name]

    def stars(self, objective: Any, penalty: Penalty, space: TableSpace) -> TileScores | None:
        """Return how all pairs at some variables are scored at once; None where they are listed."""
        if not self.sample.complete or not self._alike(objective, space):
            return None
        return self._tile_scores(penalty)

    def _alike(self, objective: Any, space: TableSpace) -> bool:
        """Return whether blocks are whole tables, not too few, all with the same lambda."""
        whole = isinstance(space, PairSpace) and hasattr(objective, "known_conditionals")
        least = min(FEWEST_PAIRS, FEWEST_PRODUCTS / max(1, self.sample.n_given))
        return whole and not self.prior and not self.sample.scores and least <= space.size

    def _tile_scores(self, penalty: Penalty) -> TileScores:
        return TileScores(np.sqrt(self.sample.declared.astype(np.float64)), penalty.separable)

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


def block_gains(
    space: TableSpace,
    point: Point,
    penalty: Penalty,
    sample: EncodedRows,
    keys: Ints,
    factors: Floats | None = None,
) -> Floats:
    """Return by how much the objective would fall if each block alone were optimised.

    ``factors`` multiply lam; None is 1 for every block.
    """
    cards = sample.cards
    tolls = np.full(len(keys), penalty.lam) if factors is None else penalty.lam * factors
    pairs, which = distinct_pairs(space.pairs(keys), len(cards))
    expected = point.pair_expectations(pairs)
    first, second = cards[pairs[:, 0]], cards[pairs[:, 1]]
    given, offsets = np.asarray(expected.given), expected.offsets
    if isinstance(space, CellSpace):
        of_cells: Floats = cell_gains(
            which, space.cells(keys), second, offsets, expected.model, given, expected.data,
            tolls, penalty.l2,
        )  # fmt: skip
        return of_cells
    solve = np.argsort(which)  # tables in the order of `pairs`
    if not penalty.separable:
        tolls = tolls * space.scales(sample.declared, keys)
    tolls = tolls[solve]

    def run(part: slice) -> Floats:
        some: Floats = table_gains(
            first[part], second[part], offsets[part], expected.model, given, expected.data,
            tolls[part], penalty.l2, penalty.separable,
        )  # fmt: skip
        return some

    threads = sample.counts.n_threads
    chunks = cut_evenly((first * second).astype(np.float64), threads)
    gains = np.empty(len(keys))
    gains[solve] = np.concatenate([np.zeros(0), *run_chunks(run, chunks, threads)])
    return gains


def distinct_pairs(pairs: Ints, n: int) -> tuple[Ints, Ints]:
    """Return the distinct pairs in order, and which of them each one is."""
    numbers, which = np.unique(pairs[:, 0] * n + pairs[:, 1], return_inverse=True)
    return np.stack(np.divmod(numbers, n), axis=1), which


def strengths(potentials: Potentials) -> Floats:
    """Return the squared norm of each edge's table less row and column means, shape (m,)."""
    layout, centred = potentials.layout, potentials.weights.copy()
    if not layout.n_edges:
        return np.zeros(0)
    centre_tables(centred, layout.cards, layout.edges, layout.edge_offsets)
    starts = layout.edge_offsets[:-1] - layout.n_unary
    squares: Floats = np.add.reduceat(centred[layout.n_unary :] ** 2, starts)
    return squares


def only(potentials: Potentials, kept: Bools) -> Potentials:
    """Return a network with some of its edges alone."""
    layout = potentials.layout
    entries = np.concatenate([np.arange(layout.n_unary), layout.entries(np.flatnonzero(kept))])
    return Potentials(Layout.of(layout.cards, layout.edges[kept]), potentials.weights[entries])
