"""What all message passing shares: tables, attempts, warm starts, beliefs, and pairs without one.

Messages are numbers where nothing is extreme, which is fast, and logarithms elsewhere; both answer
alike to about 1e-12. Edges and pairs of separate components are read off the beliefs. For a
connected pair that is no edge, the rule "path" chains conditionals along the shortest path, which
is exact on forests; "product" multiplies the two marginals, which never explains indirect
dependence away; and "exact" asks a junction tree of the same potentials, for all pairs.

References
----------
The path rule: S. Lee, V. Ganapathi and D. Koller (2006), Efficient structure learning of Markov
networks using L1-regularization.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from graftwork.errors import TooLargeError
from graftwork.inference.elimination import eliminate, refusal
from graftwork.inference.engines import Beliefs
from graftwork.inference.junction import JunctionTree, table_places
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
from graftwork.inference.wiring import Wiring, block_maxima, shift_rows, wire
from graftwork.kernels.bp import path_tables, propagate, read_beliefs
from graftwork.kernels.linear_bp import (
    SPREAD,
    empty_boxes,
    fill_boxes,
    fill_tables,
    propagate_linear,
    read_linear,
)

#: The most states for which messages are held in vectors.
MOST_STATES = 16
#: The damping of the second attempt.
SECOND_DAMPING = 0.5
Rule = Literal["path", "product", "exact"]
#: What to try where the exact rule does not fit.
ADVICE = 'Use rule="path" (exact on forests) or rule="product", or a network with fewer edges.'


@dataclass(frozen=True, slots=True, eq=False)
class LinearTables:
    """Potentials as the kernels of ``kernels.linear_bp`` read them."""

    sizes: tuple[int, ...]  # as long as the vectors are: kernels are compiled for it
    fields: Floats  # (n, lanes): exponentials of the unaries less their maxima
    tables: Floats  # (rows, lanes): the tables of all slots
    maxima: float  # the sum of the maxima taken away from unaries


def linear_tables(layout: Layout, unary: Floats, scaled: Floats) -> LinearTables | None:
    """Return unaries (logs) and tables (numbers) for the kernels, None where they do not fit."""
    widest = int(layout.cards.max(initial=1))
    if widest > MOST_STATES:
        return None
    shifted = shift_rows(unary, layout.cards)
    if shifted.min(initial=0.0) < np.log(SPREAD):
        return None
    lanes = 2 ** max(1, (widest - 1).bit_length())
    wiring = wire(layout)
    fields = np.zeros((layout.n_variables, lanes))
    fields[np.arange(lanes) < layout.cards[:, None]] = np.exp(shifted)
    tables = np.empty((wiring.rows[-1], lanes))
    fill_tables(wiring.indptr, layout.cards, wiring.slots, scaled, wiring.rows, tables)
    maxima = block_maxima(unary, layout.cards).sum()
    return LinearTables((0,) * lanes, fields, tables, float(maxima))


def propagate_numbers(
    layout: Layout, given: LinearTables, start: Floats, sweeps: int, tol: float, halved: bool
) -> tuple[Floats, int, float] | None:
    """Return log-messages, sweeps and the last change; None where something was too extreme."""
    if start.min(initial=0.0) < np.log(SPREAD):
        return None
    wiring = wire(layout)
    inbox, inverse = _boxes(layout, wiring, given, start)
    done, change = propagate_linear(
        given.sizes, given.fields, layout.cards, wiring.indptr, wiring.neighbours, wiring.reverse,
        wiring.rows, given.tables, wiring.order, wiring.position,
        inbox, inverse, sweeps, tol, halved,
    )  # fmt: skip
    if change < 0.0:
        return None
    messages = np.empty_like(start)
    empty_boxes(wiring.indptr, layout.cards, wiring.slots, inbox, messages)
    return np.log(messages, out=messages), int(done), float(change)


def read_numbers(
    layout: Layout, given: LinearTables, messages: Floats
) -> tuple[Floats, float] | None:
    """Return the beliefs of these log-messages and the Bethe log Z less the tables' maxima."""
    if messages.min(initial=0.0) < np.log(SPREAD):
        return None
    wiring = wire(layout)
    values = np.empty(layout.size)
    log_partition = read_linear(
        given.sizes, given.fields, layout.cards, layout.unary_offsets, wiring.indptr, wiring.slots,
        wiring.reverse, wiring.rows, given.tables, *_boxes(layout, wiring, given, messages), values,
    )  # fmt: skip
    return values, float(log_partition) + given.maxima


def _boxes(
    layout: Layout, wiring: Wiring, given: LinearTables, messages: Floats
) -> tuple[Floats, Floats]:
    """Return the messages into each slot, and their reciprocals."""
    inbox, inverse = np.empty((2, len(wiring.reverse), len(given.sizes)))
    fill_boxes(
        given.sizes, wiring.indptr, layout.cards, wiring.slots, np.exp(messages), inbox, inverse
    )
    return inbox, inverse


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Log-potentials as the kernels read them."""

    unary: Floats  # (n_unary,)
    rho: Floats  # (2 m,): the share of each slot's edge: 1 for sum-product
    # shifted, scaled: tables over their shares, less their maxima; and the exponentials of that
    shifted: Floats
    scaled: Floats
    maxima: Floats  # (m,): the maxima taken away, times the shares: those of the tables themselves
    # the same for messages that are not logarithms, where that can work
    linear: LinearTables | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """Messages after some sweeps, how many those were, and the largest change in the last one."""

    messages: Floats
    sweeps: int
    residual: float


def ready(
    potentials: Potentials, shares: Floats | None = None, rho: Floats | None = None
) -> Tables:
    """Return the tables for the kernels, each divided by its edge's share (1 where none is given).

    Shapes: shares (m,) float64; rho (2 m,) float64.
    """
    layout = potentials.layout
    weights = potentials.weights[layout.n_unary :]
    maxima = block_maxima(weights, layout.edge_sizes)
    shifted = weights - np.repeat(maxima, layout.edge_sizes)
    if shares is not None:
        shifted /= np.repeat(shares, layout.edge_sizes)
    slots = np.ones(2 * layout.n_edges) if rho is None else rho
    unary = potentials.weights[: layout.n_unary].copy()
    scaled = np.exp(shifted)
    linear = linear_tables(layout, unary, scaled) if rho is None else None
    return Tables(unary, slots, shifted, scaled, maxima, linear)


def attempt(
    layout: Layout, tables: Tables, start: Floats, sweeps: int, tol: float, damping: float
) -> Attempt:
    """Return the messages that at most ``sweeps`` sweeps make of these; `start` stays as it is."""
    if tables.linear is not None and sweeps and damping in (0.0, 0.5):
        found = propagate_numbers(layout, tables.linear, start, sweeps, tol, damping == 0.5)
        if found is not None:
            return Attempt(*found)
    wiring = wire(layout)
    messages = start.copy()
    done, residual = propagate(
        tables.unary, layout.unary_offsets, wiring.indptr, wiring.slots, tables.rho,
        tables.shifted, tables.scaled, wiring.order, wiring.position,
        messages, sweeps, tol, damping,
    )  # fmt: skip
    # Messages that were never updated have not been shown to stay where they are.
    return Attempt(messages, int(done), float(residual) if done else np.inf)


def exact_sweep(layout: Layout, tables: Tables, start: Floats) -> Attempt:
    """Return the messages of a forest, where one sweep settles everything."""
    return Attempt(attempt(layout, tables, start, 1, 0.0, 0.0).messages, 1, 0.0)


def better(first: Attempt, second: Attempt) -> Attempt:
    """Return the one that changed less in the end, with the sweeps of both."""
    chosen = second if second.residual < first.residual else first
    return Attempt(chosen.messages, first.sweeps + second.sweeps, chosen.residual)


def settle(
    layout: Layout,
    tables: Tables,
    start: Floats,
    sweeps: int,
    tol: float,
    damping: float,
    restart: bool,
) -> Attempt:
    """Return settled messages: one sweep on a forest, else a run and, if need be, a damped one.

    ``restart`` begins the damped run where the first one began; otherwise it goes on from there.
    """
    if wire(layout).forest:
        return exact_sweep(layout, tables, start)
    first = attempt(layout, tables, start, sweeps, tol, damping)
    if first.residual <= tol or damping > 0.0:
        return first
    again = start if restart else first.messages
    return better(first, attempt(layout, tables, again, sweeps, tol, SECOND_DAMPING))


def read(layout: Layout, tables: Tables, messages: Floats) -> tuple[Floats, float]:
    """Return the beliefs these messages give, and the Bethe log Z (reweighted by the shares)."""
    found = None if tables.linear is None else read_numbers(layout, tables.linear, messages)
    if found is not None:
        return found[0], found[1] + float(tables.maxima.sum())
    wiring = wire(layout)
    values = layout.zeros()
    log_partition = read_beliefs(
        tables.unary, layout.unary_offsets, wiring.indptr, wiring.slots, tables.rho,
        tables.shifted, tables.scaled, wiring.reverse, messages, values,
    )  # fmt: skip
    if log_partition == -np.inf:
        values[:] = 0.0
    return values, float(log_partition + tables.maxima.sum())


def warm_messages(layout: Layout, wiring: Wiring, warm: Beliefs | None) -> Floats:
    """Return starting messages: those of `warm` on shared edges, uniform elsewhere.

    Messages with a hard zero start afresh: a zero would never leave its loop again.
    """
    if warm is None or warm.messages is None or not np.array_equal(warm.layout.cards, layout.cards):
        return np.zeros(wiring.message_offsets[-1])
    finite = np.where(np.isfinite(warm.messages), warm.messages, 0.0)
    if warm.layout is layout or np.array_equal(warm.layout.edges, layout.edges):
        return finite
    messages = np.zeros(wiring.message_offsets[-1])
    edge = find_edges(warm.layout, layout.edges)
    here = np.flatnonzero(edge >= 0)
    sizes = layout.cards[layout.edges[here]].sum(axis=1)
    one = np.ones_like(sizes)
    source = wire(warm.layout).message_offsets[edge[here]]
    old = finite[grids(source, one, sizes, 0, 1)]
    messages[grids(wiring.message_offsets[here], one, sizes, 0, 1)] = old
    return messages


def check_rule(rule: str) -> None:
    """Refuse a rule that does not exist.

    Examples
    --------
    >>> check_rule("magic")
    Traceback (most recent call last):
        ...
    ValueError: rule is 'magic'; use "path", "product" or "exact".
    """
    if rule not in get_args(Rule):
        raise ValueError(f'rule is {rule!r}; use "path", "product" or "exact".')


def describe_rule(rule: Rule) -> str:
    """Return how pairs without an edge are answered, in plain words.

    Examples
    --------
    >>> describe_rule("path"), describe_rule("exact")
    ('inactive pairs by the path rule', 'inactive pairs by exact inference (junction tree)')
    """
    how = "exact inference (junction tree)" if rule == "exact" else f"the {rule} rule"
    return f"inactive pairs by {how}"


def marginals_by_rule(
    rule: Rule, potentials: Potentials, beliefs: Beliefs, pairs: Ints
) -> tuple[Floats, bool]:
    """Return the joint marginals of any pairs, flat and row-major, and whether they are exact.

    "Exact" speaks of the tables returned alone: with ``rule="exact"`` they are the marginals of
    the model these potentials define, edges included, even where `beliefs` are approximate.

    Examples
    --------
    >>> from graftwork.inference.layout import Layout
    >>> layout = Layout.of([2, 2], [(0, 1)])
    >>> potentials = Potentials(layout, layout.zeros())
    >>> beliefs = JunctionTree().infer(potentials)
    >>> marginals_by_rule("path", potentials, beliefs, np.array([(1, 0)]))
    (array([0.25, 0.25, 0.25, 0.25]), True)
    """
    layout = beliefs.layout
    pairs = check_pairs(layout, pairs)
    if rule == "exact" and not beliefs.exact:
        return _exact_marginals(potentials, pairs)
    wiring = wire(layout)
    starts = pair_offsets(layout, pairs)
    out = np.zeros(starts[-1])
    opened = fill_known(beliefs, wiring.component, pairs, starts[:-1], out)
    if opened.any() and rule == "product":
        fill_products(beliefs, pairs[opened], starts[:-1][opened], out)
    elif opened.any():
        _fill_paths(beliefs, wiring, pairs[opened], starts[:-1][opened], out)
    return out, beliefs.exact and (rule != "product" or not opened.any())


def _exact_marginals(potentials: Potentials, pairs: Ints) -> tuple[Floats, bool]:
    engine = JunctionTree()
    if not engine.fits(potentials.layout):
        cost = eliminate(potentials.layout).cost
        raise TooLargeError(refusal(cost, engine.limit_cells, ADVICE))
    return engine.pair_marginals(potentials, engine.infer(potentials), pairs)


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
