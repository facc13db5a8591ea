"""Single edges, with all other parameters at their two variables profiled out.

Let A_i be the Hessian of the parameters at variable i. Of the parameters at i and those at j only
the table of the edge (i, j) is in both; apart from it the two sets meet where i and j share a
neighbour u, whose conditional links the tables (i, u) and (j, u). So what is left of the Hessian of
both for the edge, once all other parameters follow, comes from the inverses of A_i and A_j, each of
which serves all edges at its variable, and a small system for the shared neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graftwork.data.parts import TilingEngine
from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.kernels.curvature import fill_scores
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.fitted_rows import FittedRows, RowBlock
from graftwork.objectives.hessian import Hessian, Parameters, inverted

# Rows looked at together.
STRIP = 512


@dataclass(frozen=True, slots=True, eq=False)
class EdgeProfile:
    """What is known of one edge once all other parameters at its two variables follow it."""

    # (df, df): the Hessian of the pseudo-likelihood profiled over all other parameters
    precision: Floats
    # how the slope in each parameter at the first, and at the second variable, adds to the slope
    # in the edge's
    shares: tuple[Floats, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class _Half:
    """An edge among the parameters at one of its variables.

    ``follow`` says how the others follow it (with signs turned), ``shared`` are the places of the
    tables to neighbours shared with the other variable, ``free`` the columns of the inverse there
    if the edge stays as it is.
    """

    own: slice
    follow: Floats
    shared: Ints
    free: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """What is near some edges: all that their tests depend on."""

    centres: Ints  # (k,): their variables
    edges: Ints  # (m,): the edges of those
    variables: Ints  # (l,): the variables of these edges

    @staticmethod
    def of(layout: Layout, chosen: Ints) -> Surroundings:
        """Return what is near some edges of a network."""
        centres = np.unique(layout.edges[chosen])
        edges = np.flatnonzero(np.isin(layout.edges, centres).any(axis=1))
        return Surroundings(centres, edges, np.unique(layout.edges[edges]))


@dataclass(frozen=True, slots=True, eq=False)
class VariableHessians:
    """The Hessians of the parameters at each variable, and their inverses.

    ``edge_of[i][j]`` is the edge between two variables, ``at[i, e]`` where an edge's parameters are
    among those at a variable.
    """

    whole: Hessian
    parameters: Parameters
    matrices: list[Floats]
    inverses: list[Floats]
    edge_of: list[dict[int, int]]
    at: dict[tuple[int, int], slice]

    @staticmethod
    def of(
        whole: Hessian,
        parameters: Parameters,
        ridge: Floats,
        rows: FittedRows,
        near: Surroundings | None,
        known: Sequence[Floats] | None = None,
        renewed: Ints | None = None,
    ) -> VariableHessians:
        """Return them for a Hessian plus a diagonal matrix, of all variables or of some."""
        matrices = whole.by_variable(parameters, ridge, None if near is None else near.edges)
        wanted, others = np.ones(len(matrices), dtype=bool), matrices if known is None else known
        chosen = renewed if near is None else near.centres
        if chosen is not None:
            wanted[:] = False
            wanted[chosen] = True
        inverses = list(others)
        places = np.flatnonzero(wanted).tolist()
        for k, found in zip(places, inverted([matrices[k] for k in places], rows), strict=True):
            inverses[k] = found
        edge_of: list[dict[int, int]] = [{} for _ in matrices]
        at: dict[tuple[int, int], slice] = {}
        edges = np.arange(parameters.layout.n_edges) if near is None else near.edges
        lengths = np.diff(parameters.starts)[parameters.layout.n_variables + edges].tolist()
        ends, begins = parameters.layout.edges[edges], parameters.half_edges.at[edges]
        columns = edges.tolist(), ends.tolist(), begins.tolist(), lengths
        for e, (i, j), (first, second), length in zip(*columns, strict=True):
            edge_of[i][j] = edge_of[j][i] = e
            at[i, e] = slice(first, first + length)
            at[j, e] = slice(second, second + length)
        return VariableHessians(whole, parameters, matrices, inverses, edge_of, at)

    def profiles(self, chosen: Ints, n_threads: int) -> dict[int, EdgeProfile]:
        """Return the profiles of some edges."""
        edges = self.parameters.layout.edges[chosen]
        sizes = np.array([len(matrix) for matrix in self.matrices], dtype=np.float64)

        def compute(part: slice) -> list[EdgeProfile]:
            listed = list(zip(chosen[part].tolist(), edges[part].tolist(), strict=True))
            own = [self._own(e, k) for e, ends in listed for k in ends]
            left = iter(_inverted(own))
            return [self._profile(e, i, j, next(left), next(left)) for e, (i, j) in listed]

        cuts = cut_evenly(sizes[edges].sum(axis=1), n_threads)
        found = [one for group in run_chunks(compute, cuts, n_threads) for one in group]
        return dict(zip(chosen.tolist(), found, strict=True))

    def _own(self, e: int, centre: int) -> Floats:
        """Return an edge's part of the inverse at one of its variables."""
        own = self.at[centre, e]
        return self.inverses[centre][own, own]

    def _profile(self, e: int, i: int, j: int, here: Floats, there: Floats) -> EdgeProfile:
        """Return the profile of one edge, given what is left of it at each of its variables."""
        shared = sorted(self.edge_of[i].keys() & self.edge_of[j].keys())
        first, second = self._half(e, i, here, shared), self._half(e, j, there, shared)
        precision = here + there - self.matrices[i][first.own, first.own]
        shares = first.follow, second.follow
        if shared:
            gained, moved = _linked(first, second, self._link(i, j, shared))
            precision = precision + gained
            shares = first.follow + first.free @ moved[0], second.follow + second.free @ moved[1]
        shares[1][second.own] = 0.0
        return EdgeProfile(0.5 * (precision + precision.T), shares)

    def _half(self, e: int, centre: int, left: Floats, shared: list[int]) -> _Half:
        inverse_, own = self.inverses[centre], self.at[centre, e]
        columns = inverse_[:, own]
        follow = columns @ left
        if not shared:
            return _Half(own, follow, np.zeros(0, dtype=np.int64), np.zeros((len(inverse_), 0)))
        parts = [self.at[centre, self.edge_of[centre][other]] for other in shared]
        joined = np.concatenate([np.arange(part.start, part.stop) for part in parts])
        free = inverse_[:, joined] - follow @ columns[joined].T
        return _Half(own, follow, joined, free)

    def _link(self, i: int, j: int, shared: list[int]) -> Floats:
        """Return the Hessian between i's and j's tables to the neighbours they share."""
        blocks = []
        for other in shared:
            first, second = (self.at[other, self.edge_of[other][k]] for k in (i, j))
            blocks.append(self.whole.blocks[other][first, second])
        link = np.zeros((sum(len(block) for block in blocks), sum(b.shape[1] for b in blocks)))
        row = column = 0
        for block in blocks:
            below, beyond = row + block.shape[0], column + block.shape[1]
            link[row:below, column:beyond] = block
            row, column = below, beyond
        return link


def _linked(first: _Half, second: _Half, link: Floats) -> tuple[Floats, tuple[Floats, Floats]]:
    """Return what links between the tables at two variables add to the edge's precision.

    And how they move those tables: the Woodbury formula for the inverse of a matrix of two blocks,
    given the inverses of both, when something is added between them.
    """
    here, there = (-half.follow[half.shared] for half in (first, second))
    forth, back = link @ second.free[second.shared], link.T @ first.free[first.shared]
    pulled = link @ there, link.T @ here
    system = -forth @ back  # what is left once the second's tables follow
    system.flat[:: len(system) + 1] += 1.0
    moved = np.asarray(np.linalg.solve(system, pulled[0] - forth @ pulled[1]), dtype=np.float64)
    after = pulled[1] - back @ moved
    return here.T @ moved + there.T @ after, (moved, after)


def alike(sizes: list[int]) -> list[list[int]]:
    """Return the places of equal sizes: matrices of one size are worked on together, for speed."""
    places: dict[int, list[int]] = {}
    for place, size in enumerate(sizes):
        places.setdefault(size, []).append(place)
    return list(places.values())


def _inverted(matrices: list[Floats]) -> list[Floats]:
    """Return the inverses of small matrices."""
    found = list(matrices)
    for places in alike([len(matrix) for matrix in matrices]):
        inverses = np.linalg.inv(np.stack([matrices[place] for place in places]))
        for place, one in zip(places, inverses, strict=True):
            found[place] = one
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Influence:
    """A variable with the shares of some of its edges, one below the other.

    ``lines`` are the places of their influences among those of all variables.
    """

    centre: int
    halves: Ints
    shares: Floats
    lines: slice


@dataclass(frozen=True, slots=True, eq=False)
class Influences:
    """What the slopes of some edges come from."""

    centres: list[Influence]  # the edges' variables
    starts: list[list[int]]  # where the influences of each edge's two variables start
    sizes: list[int]  # the parameters of each edge
    needed: Ints | None  # (k,) or None: the variables that the slopes depend on

    @property
    def count(self) -> int:
        """Number of influences."""
        last: int = self.centres[-1].lines.stop
        return last

    @staticmethod
    def of(parameters: Parameters, profiles: dict[int, EdgeProfile], chosen: Ints) -> Influences:
        """Return those of some edges."""
        starts = [[0, 0] for _ in chosen]
        at: dict[int, list[tuple[int, int]]] = {}
        for k, e in enumerate(chosen.tolist()):
            for end, centre in enumerate(parameters.layout.edges[e].tolist()):
                at.setdefault(centre, []).append((k, end))
        centres, first = [], 0
        for centre, edges in sorted(at.items()):
            last = first
            for k, end in edges:
                starts[k][end] = last
                last += len(profiles[int(chosen[k])].precision)
            shares = np.hstack([profiles[int(chosen[k])].shares[end] for k, end in edges])
            halves = parameters.half_edges.of_variable(centre)
            lines = slice(first, last)
            centres.append(Influence(centre, halves, np.ascontiguousarray(shares.T), lines))
            first = last
        sizes = [len(profiles[e].precision) for e in chosen.tolist()]
        return Influences(centres, starts, sizes, _needed(parameters.layout, centres))


def variations(
    rows: FittedRows,
    parameters: Parameters,
    profiles: dict[int, EdgeProfile],
    chosen: Ints,
    most_rows: int,
) -> list[Floats]:
    """Return the sums over rows of the squared slopes in some edges' parameters, all others
    following.

    Shapes: chosen (k,) int64.
    """
    if not len(chosen):
        return []
    asked, parts = Influences.of(parameters, profiles, chosen), rows.sample.parts
    if parts is not None and isinstance(parts.engine, TilingEngine):
        there, share = rows.some_parts(most_rows)
        totals = rows.over_rows(_variations, asked, variables=asked.needed, parts=there)
    else:
        some = rows.some(most_rows, asked.needed)
        totals, share = _variations(some, asked), some.share
    return [total / share for total in totals]


def _variations(rows: FittedRows, asked: Influences) -> list[Floats]:
    """Return the sums over rows that are here."""
    sizes, starts, centres = asked.sizes, asked.starts, asked.centres
    totals = [np.zeros((size, size)) for size in sizes]
    places = rows.places
    costs = np.array([float(one.shares.size) for one in centres])
    centre_cuts = cut_evenly(costs, rows.n_threads)
    edge_cuts = cut_evenly(np.array(sizes, dtype=np.float64), rows.n_threads)
    slopes = np.empty((asked.count, STRIP))

    for block in rows.blocks(asked.needed):
        for start in range(0, len(block.spreads), STRIP):
            spreads = block.spreads[start : start + STRIP]
            found = slopes[:, : len(spreads)]

            def reach(part: slice, block: RowBlock = block, start: int = start,
                      found: Floats = found) -> None:  # fmt: skip
                for one in centres[part]:
                    scores = np.empty((one.shares.shape[1], found.shape[1]))
                    fill_scores(
                        places[one.centre], places[one.centre + 1], one.halves, places, start,
                        block.indicators, block.residuals, scores,
                    )  # fmt: skip
                    np.matmul(one.shares, scores, out=found[one.lines])

            def add(part: slice, spreads: Floats = spreads, found: Floats = found) -> None:
                for k in range(part.start, part.stop):
                    first, second = (found[s : s + sizes[k]] for s in starts[k])
                    both = first + second
                    totals[k] += (both * spreads) @ both.T

            run_chunks(reach, centre_cuts, rows.n_threads)
            run_chunks(add, edge_cuts, rows.n_threads)
    return totals


def _needed(layout: Layout, centres: list[Influence]) -> Ints | None:
    """Return the variables that the scores of some variables depend on; None for all."""
    if 2 * len(centres) > layout.n_variables:
        return None
    own = np.array([one.centre for one in centres], dtype=np.int64)
    return np.unique(layout.edges[np.isin(layout.edges, own).any(axis=1)])
