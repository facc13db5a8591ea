"""Single edges among the parameters at their two variables.

Let A_i be the Hessian of the parameters at variable i. Of the parameters at i and those at j only
the table of the edge (i, j) is in both; apart from it the two sets meet where i and j share a
neighbour u, whose conditional links the tables (i, u) and (j, u). So what is left of the Hessian of
both for the edge, once all other parameters follow, comes from the inverses of A_i and A_j, each of
which serves all edges at its variable, and a small system for the shared neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.tuning.hessian import Hessian, Parameters, within


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """One edge among the parameters at its two variables.

    Attributes
    ----------
    precision : (df, df) float64
        How the pseudo-likelihood bends in the edge's parameters where all others follow.
    shares : two of (p, df) float64
        How the slope in each parameter at the first, and at the second variable, adds to the slope
        in the edge's. The edge's own parameters are in the first alone.
    """

    precision: Floats
    shares: tuple[Floats, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class _Half:
    """An edge among the parameters at one of its variables.

    ``follow`` says how the others follow it (with signs turned), ``shared`` are the places of the
    tables to neighbours shared with the other variable, ``free`` the columns of the inverse there
    if the edge stays as it is.
    """

    own: slice
    left: Floats
    follow: Floats
    shared: Ints
    free: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """What is near some edges: all that their tests depend on.

    Attributes
    ----------
    centres : (k,) int64
        Their variables.
    edges : (m,) int64
        The edges of those.
    variables : (l,) int64
        The variables of these edges.
    """

    centres: Ints
    edges: Ints
    variables: Ints

    @staticmethod
    def of(layout: Layout, chosen: Ints) -> Near:
        """Return what is near some edges of a network.

        Examples
        --------
        >>> chain = Layout.of([2] * 5, [(0, 1), (1, 2), (2, 3), (3, 4)])
        >>> near = Near.of(chain, np.array([0]))
        >>> near.edges.tolist(), near.variables.tolist()
        ([0, 1], [0, 1, 2])
        """
        centres = np.unique(layout.edges[chosen])
        edges = np.flatnonzero(np.isin(layout.edges, centres).any(axis=1))
        return Near(centres, edges, np.unique(layout.edges[edges]))


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """The Hessians of the parameters at each variable, and their inverses.

    ``edge_of[i][j]`` is the edge between two variables, ``at[i, e]`` where an edge's parameters are
    among those at a variable.
    """

    bend: Hessian
    parameters: Parameters
    matrices: list[Floats]
    inverses: list[Floats]
    edge_of: list[dict[int, int]]
    at: dict[tuple[int, int], slice]

    @staticmethod
    def of(
        bend: Hessian, parameters: Parameters, ridge: Floats, n_threads: int, near: Near | None
    ) -> Around:
        """Return them for a Hessian plus a diagonal matrix, of all variables or of some."""
        matrices = bend.around(parameters, ridge, None if near is None else near.edges)
        wanted = np.ones(len(matrices), dtype=bool)
        if near is not None:
            wanted[:] = False
            wanted[near.centres] = True
        costs = np.array([float(len(matrix)) ** 3 + 1.0 for matrix in matrices]) * wanted

        def invert(part: slice) -> list[Floats]:
            return [
                inverse(matrix) if own else matrix
                for matrix, own in zip(matrices[part], wanted[part], strict=True)
            ]

        groups = run_chunks(invert, cut_evenly(costs, n_threads), n_threads)
        edge_of: list[dict[int, int]] = [{} for _ in matrices]
        at = {}
        for e, (i, j) in enumerate(parameters.layout.edges.tolist()):
            edge_of[i][j] = edge_of[j][i] = e
            for k in (i, j):
                at[k, e] = within(bend.places[k], parameters.of_edge(e))
        inverses = [one for group in groups for one in group]
        return Around(bend, parameters, matrices, inverses, edge_of, at)

    def localise_all(self, chosen: Ints, n_threads: int) -> dict[int, Local]:
        """Return some edges."""
        edges = self.parameters.layout.edges[chosen]
        sizes = np.array([len(matrix) for matrix in self.matrices], dtype=np.float64)

        def place(part: slice) -> list[Local]:
            return [self.localise(e) for e in chosen[part].tolist()]

        cuts = cut_evenly(sizes[edges].sum(axis=1), n_threads)
        found = [one for group in run_chunks(place, cuts, n_threads) for one in group]
        return dict(zip(chosen.tolist(), found, strict=True))

    def localise(self, e: int) -> Local:
        """Return one edge."""
        i, j = self.parameters.layout.edges[e].tolist()
        shared = sorted(self.edge_of[i].keys() & self.edge_of[j].keys())
        first, second = (self._half(e, k, shared) for k in (i, j))
        precision = first.left + second.left - self.matrices[i][first.own, first.own]
        shares = first.follow, second.follow
        if shared:
            gained, moved = _linked(first, second, self._link(i, j, shared))
            precision = precision + gained
            shares = first.follow + first.free @ moved[0], second.follow + second.free @ moved[1]
        shares[1][second.own] = 0.0
        return Local(0.5 * (precision + precision.T), shares)

    def _half(self, e: int, centre: int, shared: list[int]) -> _Half:
        inverse_ = self.inverses[centre]
        own = self.at[centre, e]
        columns = inverse_[:, own]
        left = np.asarray(np.linalg.inv(columns[own]), dtype=np.float64)
        follow = columns @ left
        parts = [self.at[centre, self.edge_of[centre][other]] for other in shared]
        joined = np.concatenate([np.zeros(0, dtype=np.int64), *(
            np.arange(part.start, part.stop) for part in parts
        )])  # fmt: skip
        free = inverse_[:, joined] - follow @ columns[joined].T
        return _Half(own, left, follow, joined, free)

    def _link(self, i: int, j: int, shared: list[int]) -> Floats:
        """Return the Hessian between i's and j's tables to the neighbours they share."""
        blocks = []
        for other in shared:
            first, second = (self.at[other, self.edge_of[other][k]] for k in (i, j))
            blocks.append(self.bend.blocks[other][first, second])
        rows, columns = (np.cumsum([0, *(b.shape[k] for b in blocks)]).tolist() for k in (0, 1))
        link = np.zeros((rows[-1], columns[-1]))
        for k, block in enumerate(blocks):
            link[rows[k] : rows[k + 1], columns[k] : columns[k + 1]] = block
        return link


def _linked(first: _Half, second: _Half, link: Floats) -> tuple[Floats, tuple[Floats, Floats]]:
    """Return what links between the tables at two variables add to the edge's precision.

    And how they move those tables: the Woodbury formula for the inverse of a matrix of two blocks,
    given the inverses of both, when something is added between them.
    """
    here, there = (-half.follow[half.shared] for half in (first, second))
    forth, back = link @ second.free[second.shared], link.T @ first.free[first.shared]
    pulled = link @ there, link.T @ here
    system = np.eye(len(here)) - forth @ back  # what is left once the second's tables follow
    moved = np.asarray(np.linalg.solve(system, pulled[0] - forth @ pulled[1]), dtype=np.float64)
    after = pulled[1] - back @ moved
    return here.T @ moved + there.T @ after, (moved, after)


def inverse(matrix: Floats) -> Floats:
    """Return the inverse of a positive definite matrix, made a little more so."""
    if not len(matrix):
        return matrix
    raised = matrix.copy()
    raised[np.diag_indices_from(raised)] += 1e-10 * np.trace(matrix) / len(matrix)
    factor, failed = dpotrf(raised.T, overwrite_a=True)
    if failed:
        raise np.linalg.LinAlgError("a Hessian is not positive definite")
    half, _ = dpotri(factor, overwrite_c=True)  # above the diagonal, and zeros below
    found: Floats = half + half.T
    found[np.diag_indices_from(found)] *= 0.5
    return found
