"""Belief propagation: exact and linear on forests, an approximation with loops.

With loops it can fail to converge, or converge to poor beliefs, where couplings are strong: read
``converged`` and ``residual`` of what it returns.

References
----------
J. S. Yedidia, W. T. Freeman and Y. Weiss (2005). Constructing free-energy approximations and
generalized belief propagation algorithms. The path rule: S. Lee, V. Ganapathi and D. Koller
(2006), Efficient structure learning of Markov networks using L1-regularization.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from graftwork.inference.beliefs import Beliefs
from graftwork.inference.junction import table_places
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.pairs import (
    check_pairs,
    choose_sources,
    fill_known,
    fill_products,
    find_edges,
    group_by_source,
    pair_offsets,
)
from graftwork.inference.ragged import grids
from graftwork.inference.wiring import Wiring, block_maxima, wire
from graftwork.kernels.bp import path_tables, propagate, read_beliefs

#: The damping of the second attempt.
SECOND_DAMPING = 0.5


@dataclass(frozen=True, slots=True)
class LoopyBP:
    """Beliefs by sum-product message passing.

    A sweep updates every message once, leaves to root and back in a breadth-first order. A run
    without damping that has not converged is tried once more with damping 0.5, and the better of
    the two is returned.

    Parameters
    ----------
    max_sweeps : int
        Most sweeps of one attempt.
    tol : float
        Largest change of a log-message at which it has converged.
    damping : float
        Weight of the old log-message in the new one, 0 <= damping < 1.
    rule : "path" or "product"
        Joint marginals of connected pairs that are not edges: chained conditionals along the
        shortest path (exact on forests), or the product of the two marginals.

    Examples
    --------
    >>> layout = Layout.of([2, 2], [(0, 1)])
    >>> weights = np.array([0.0, 0.0, 0.0, 0.0, np.log(3), 0.0, 0.0, np.log(3)])
    >>> beliefs = LoopyBP().infer(Potentials(layout, weights))
    >>> beliefs.exact, beliefs.sweeps, round(beliefs.log_partition, 4)
    (True, 1, 2.0794)
    """

    max_sweeps: int = 200
    tol: float = 1e-9
    damping: float = 0.0
    rule: Literal["path", "product"] = "path"

    def infer(self, potentials: Potentials, warm: Beliefs | None = None) -> Beliefs:
        """Return the beliefs, from the messages of `warm` on the edges it shares."""
        layout = potentials.layout
        wiring = wire(layout)
        start = warm_messages(layout, wiring, warm)
        tables = split_tables(potentials)
        if wiring.forest:
            messages, _, _ = self._run(layout, wiring, tables, start, 1, 0.0)
            return _read(layout, wiring, tables, messages, True, 0.0, 1)
        messages, sweeps, residual = self._run(
            layout, wiring, tables, start, self.max_sweeps, self.damping
        )
        if residual > self.tol and self.damping == 0.0:
            second, more, rest = self._run(
                layout, wiring, tables, start, self.max_sweeps, SECOND_DAMPING
            )
            sweeps += more
            if rest < residual:
                messages, residual = second, rest
        return _read(layout, wiring, tables, messages, residual <= self.tol, residual, sweeps)

    def pair_marginals(
        self, potentials: Potentials, beliefs: Beliefs, pairs: Ints
    ) -> tuple[Floats, bool]:
        """Return the joint marginals of any pairs by `rule`, and whether they are exact."""
        layout = beliefs.layout
        wiring = wire(layout)
        pairs = check_pairs(layout, pairs)
        starts = pair_offsets(layout, pairs)
        out = np.zeros(starts[-1])
        opened = fill_known(beliefs, wiring.component, pairs, starts[:-1], out)
        if opened.any() and self.rule == "product":
            fill_products(beliefs, pairs[opened], starts[:-1][opened], out)
        elif opened.any():
            _fill_paths(beliefs, wiring, pairs[opened], starts[:-1][opened], out)
        return out, beliefs.exact and (self.rule == "path" or not opened.any())

    def _run(
        self,
        layout: Layout,
        wiring: Wiring,
        tables: Tables,
        start: Floats,
        sweeps: int,
        damping: float,
    ) -> tuple[Floats, int, float]:
        """Return the messages after one attempt, the sweeps it took and the last change."""
        messages = start.copy()
        done, residual = propagate(
            tables.unary, layout.unary_offsets, wiring.indptr, wiring.slots,
            tables.shifted, tables.scaled, wiring.order, wiring.position,
            messages, sweeps, self.tol, damping,
        )  # fmt: skip
        return messages, int(done), float(residual)


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Log-potentials as the kernels want them: unaries, tables less their maxima, exponentials."""

    unary: Floats
    shifted: Floats
    scaled: Floats
    maxima: Floats


def split_tables(potentials: Potentials) -> Tables:
    """Return the potentials as the kernels want them.

    Examples
    --------
    >>> flat = Potentials(Layout.of([1, 2], [(0, 1)]), np.array([0.0, 0, 0, 3, 1]))
    >>> split_tables(flat).shifted
    array([ 0., -2.])
    """
    layout = potentials.layout
    weights = potentials.weights[layout.n_unary :]
    maxima = block_maxima(weights, layout.edge_sizes)
    shifted = weights - np.repeat(maxima, layout.edge_sizes)
    return Tables(potentials.weights[: layout.n_unary].copy(), shifted, np.exp(shifted), maxima)


def _read(
    layout: Layout,
    wiring: Wiring,
    tables: Tables,
    messages: Floats,
    converged: bool,
    residual: float,
    sweeps: int,
) -> Beliefs:
    """Return the beliefs that these messages give."""
    values = layout.zeros()
    log_partition = read_beliefs(
        tables.unary, layout.unary_offsets, wiring.indptr, wiring.slots,
        tables.shifted, tables.scaled, wiring.reverse, messages, values,
    )  # fmt: skip
    log_partition += tables.maxima.sum()
    if log_partition == -np.inf:
        values[:] = 0.0
    return Beliefs(
        layout, values, float(log_partition), wiring.forest, converged, residual, sweeps, messages
    )


def warm_messages(layout: Layout, wiring: Wiring, warm: Beliefs | None) -> Floats:
    """Return starting messages: those of `warm` on shared edges, uniform elsewhere.

    Messages with a hard zero start afresh: a zero would never leave its loop again.
    """
    messages = np.zeros(wiring.message_offsets[-1])
    if warm is None or warm.messages is None or not np.array_equal(warm.layout.cards, layout.cards):
        return messages
    edge = find_edges(warm.layout, layout.edges)
    here = np.flatnonzero(edge >= 0)
    sizes = layout.cards[layout.edges[here]].sum(axis=1)
    one = np.ones_like(sizes)
    source = wire(warm.layout).message_offsets[edge[here]]
    old = warm.messages[grids(source, one, sizes, 0, 1)]
    messages[grids(wiring.message_offsets[here], one, sizes, 0, 1)] = np.where(
        np.isfinite(old), old, 0.0
    )
    return messages


def _fill_paths(beliefs: Beliefs, wiring: Wiring, pairs: Ints, starts: Ints, out: Floats) -> None:
    """Write the path-rule tables of connected pairs that are not edges."""
    layout = beliefs.layout
    # With loops several shortest paths may join a pair: a fixed end keeps the answer the same
    # whatever else is asked in the batch.
    first = choose_sources(layout.cards, pairs) if wiring.forest else pairs[:, 0] < pairs[:, 1]
    source = np.where(first, pairs[:, 0], pairs[:, 1])
    target = np.where(first, pairs[:, 1], pairs[:, 0])
    places = table_places(layout.cards, pairs, starts, first)
    sources, ptr, order = group_by_source(source, target)
    path_tables(
        beliefs.values, layout.unary_offsets, wiring.indptr, wiring.slots,
        sources, target[order], ptr, places[order], out,
    )  # fmt: skip
