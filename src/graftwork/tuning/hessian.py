"""The Hessian of the pseudo-likelihood, and how far single edges vary with the rows.

The conditional of variable k bends by S_k (x) z z' in every row, z being 1 and the indicators of
its neighbours. Those small matrices, summed over the rows, fit together to a sparse matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.inference.ragged import offsets
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.tuning.contrasts import Contrasts
from graftwork.tuning.rows import RowBlock, Rows


@dataclass(frozen=True, slots=True, eq=False)
class Star:
    """A variable with its neighbours: what its conditional depends on.

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


@dataclass(frozen=True, slots=True, eq=False)
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
        layout, bases = self.layout, self.contrasts.bases
        parts = [basis.T @ layout.unary(vector, i) for i, basis in enumerate(bases)]
        for e, (i, j) in enumerate(layout.edges.tolist()):
            parts.append((bases[i].T @ layout.table(vector, e) @ bases[j]).ravel())
        return np.concatenate(parts)

    def write(self, parameters: Floats) -> Floats:
        """Return K u and K_i W K_j' as a flat vector of the layout."""
        layout, bases, out = self.layout, self.contrasts.bases, self.layout.zeros()
        for i, basis in enumerate(bases):
            layout.unary(out, i)[:] = basis @ parameters[self.starts[i] : self.starts[i + 1]]
        for e, (i, j) in enumerate(layout.edges.tolist()):
            inner = parameters[self.of_edge(e)].reshape(bases[i].shape[1], bases[j].shape[1])
            layout.table(out, e)[:] = bases[i] @ inner @ bases[j].T
        return out

    def stars(self) -> list[Star]:
        """Return every variable with its neighbours."""
        layout, sizes = self.layout, self.contrasts.sizes
        at = [np.zeros(0, dtype=np.int64)] * layout.n_variables
        if layout.n_edges:
            ends = layout.edges.T.ravel()
            order = np.argsort(ends, kind="stable")
            cuts = np.cumsum(np.bincount(ends, minlength=layout.n_variables))[:-1]
            at = np.split(order % layout.n_edges, cuts)
        places = offsets(sizes)
        return [self._star(i, edges, places) for i, edges in enumerate(at)]

    def _star(self, centre: int, edges: Ints, places: Ints) -> Star:
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
        return Star(centre, edges, joined, np.hstack(columns), np.concatenate(owners))


def hessian(rows: Rows, parameters: Parameters) -> sparse.csr_array:
    """Return the Hessian of the log pseudo-likelihood of all rows together, without its sign."""
    stars = parameters.stars()
    sums = [np.zeros((s.parameters.shape[0],) * 2 + (s.parameters.shape[1],) * 2) for s in stars]
    costs = np.array([float(total.size) for total in sums])
    triangles = rows.triangles
    for block in rows.blocks():

        def add(part: slice, block: RowBlock = block) -> None:
            for star, total in zip(stars[part], sums[part], strict=True):
                add_star(block, star, triangles, total)

        run_chunks(add, cut_evenly(costs + 1.0, rows.n_threads), rows.n_threads)
    places, values = [], []
    for star, total in zip(stars, sums, strict=True):
        flat = star.parameters.ravel()
        places.append(np.stack([np.repeat(flat, len(flat)), np.tile(flat, len(flat))]))
        values.append(total.transpose(0, 2, 1, 3).ravel())
    joined = (np.concatenate(values), tuple(np.concatenate(places, axis=1)))
    return sparse.coo_array(joined, shape=(parameters.size,) * 2).tocsr()


def add_star(block: RowBlock, star: Star, triangles: Ints, total: Floats) -> None:
    """Add the Hessian of one conditional, summed over a block of rows, and return None."""
    size = total.shape[0]
    if not size:
        return
    z = np.concatenate([np.ones((1, len(block.weights))), block.indicators[star.lines]])
    spreads = block.spreads[triangles[star.centre] : triangles[star.centre + 1]] * block.weights
    for line, (a, b) in zip(spreads, zip(*np.triu_indices(size), strict=True), strict=True):
        product = (z * line) @ z.T
        total[a, b] += product
        if a != b:
            total[b, a] += product
