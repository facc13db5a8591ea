"""Cells that are expected so rarely that chi-square tails promise too much.

How often a cell of a pair's table is expected if the pair is no edge is a sum over rows of products
of both conditionals, each without the other variable. A pair must then be as convincing without its
rare cells, or one of them by its own binomial tail.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from graftwork.inference.layout import Floats, Ints
from graftwork.inference.pairs import find_edges
from graftwork.inference.ragged import offsets
from graftwork.objectives.neighbourhoods import padded
from graftwork.objectives.pair_sums import by_states
from graftwork.testing.contrasts import stacked
from graftwork.testing.rows import FittedRows
from graftwork.testing.tails import log_tail

# Cells expected less often than this are not left to the chi-square; in small tables, where one
# cell can decide, than the second.
RARE, RARE_IF_SMALL = 1.0, 5.0
SMALL = 4
# Pairs whose log p-values are larger need no second look.
STRIKING = float(np.log(0.05))
# Conditionals, in numbers, that are multiplied at once.
BLOCK_SIZE = 2**22


def may_be_rare(rows: FittedRows, pairs: Ints) -> NDArray[np.bool_]:
    """Return of which pairs a cell would be rare if their variables were independent."""
    sample = rows.sample
    least = np.minimum.reduceat(sample.frequencies, offsets(sample.cards)[:-1])
    found: NDArray[np.bool_] = sample.total_weight * least[pairs].prod(axis=1) < RARE_IF_SMALL
    return found


def seen_cells(rows: FittedRows, pairs: Ints) -> Floats:
    """Return how often cells of pairs of one shape occur, (pairs, s, t)."""
    sample = rows.sample
    counts, _ = sample.counts.extended_tables(pairs)
    both: Floats = by_states(sample, pairs, counts).mean(axis=0)
    return both.reshape(len(pairs), *sample.cards[pairs[0]].tolist())


def soberly(
    rows: FittedRows,
    pairs: Ints,
    log_p: Floats,
    statistics: Floats,
    degrees: Floats,
    expected: Floats,
    seen: Floats,
) -> Floats:
    """Return log p-values of pairs of one shape that do not rest on rare cells.

    Without them a pair must be as convincing, or one of them by its binomial tail.

    Parameters
    ----------
    degrees : (pairs,) float64
        Degrees of freedom.
    expected, seen : (pairs, s, t) float64
        How often cells occur if no pair is an edge, and did. States are pooled as in tests.
    """
    members = [stacked(rows.contrasts.members, pairs[:, k]) for k in (0, 1)]
    expected, seen = (_pooled(table, *members) for table in (expected, seen))
    return without_rare_cells(log_p, statistics, degrees, expected, seen)


def without_rare_cells(
    log_p: Floats, statistics: Floats, degrees: Floats, expected: Floats, seen: Floats
) -> Floats:
    """Return log p-values that do not rest on rare cells, given tables of shape (pairs, s, t)."""
    most = np.minimum(seen.sum(axis=2)[:, :, None], seen.sum(axis=1)[:, None])
    expected, seen, most = (table.reshape(len(log_p), -1) for table in (expected, seen, most))
    rare = expected < np.where(degrees <= SMALL, RARE_IF_SMALL, RARE)[:, None]
    expected = np.maximum(expected, 1e-12)
    shares = np.where(rare, (seen - expected) ** 2 / expected, 0.0).sum(axis=1)
    rest = log_tail(np.maximum(0.0, statistics - shares), degrees)
    tails = np.ones_like(expected)
    tails[rare] = _tail(seen[rare], expected[rare], most[rare])
    counts = rare.sum(axis=1)
    with np.errstate(divide="ignore"):
        single = np.minimum(0.0, np.log(tails.min(axis=1)) + np.log(np.maximum(counts, 1)))
    return np.where(counts > 0, np.maximum(log_p, np.minimum(rest, single)), log_p)


def _tail(seen: Floats, expected: Floats, most: Floats) -> Floats:
    """Return the chance that a cell is seen as often or more.

    The rarer of its two states occurs in ``most`` rows; in each of these so does the other, with
    the same chance in the mean: a binomial tail, a Poisson one if there are many rows.
    """
    count = np.floor(seen + 1e-9)
    chance = np.minimum(expected / np.maximum(most, 1e-12), 1.0)
    with np.errstate(invalid="ignore"):
        found = betainc(count, np.maximum(most - count, 0.0) + 1.0, chance)
    return np.asarray(np.where(count > 0, found, 1.0), dtype=np.float64)


def _pooled(tables: Floats, first: Floats, second: Floats) -> Floats:
    """Return tables whose states are grouped, shape (pairs, g, h).

    Parameters
    ----------
    tables : (pairs, s, t) float64
    first, second : (pairs, s, g) and (pairs, t, h) float64
        1 where a state belongs to a group.
    """
    grouped: Floats = first.transpose(0, 2, 1) @ tables @ second
    return grouped


def expected_apart(rows: FittedRows, pairs: Ints) -> Floats:
    """Return how often cells of pairs of one shape occur if none is an edge, (pairs, s, t).

    The conditional of an edge's variable is averaged over the frequencies of the other's states.
    Of two variables one of which has no (other) neighbours that is what independence says.
    """
    sample, first = rows.sample, offsets(rows.sample.cards)
    degrees = rows.conditionals.neighbourhoods.degrees[pairs]
    edges = find_edges(rows.potentials.layout, pairs)
    alone = (degrees - (edges >= 0)[:, None] == 0).any(axis=1) & sample.complete
    s, t = sample.cards[pairs[0]].tolist()
    left = sample.frequencies[first[pairs[:, 0]][:, None] + np.arange(s)]
    right = sample.frequencies[first[pairs[:, 1]][:, None] + np.arange(t)]
    found: Floats = sample.total_weight * left[:, :, None] * right[:, None, :]
    rest = np.flatnonzero(~alone)
    if len(rest):
        own = pairs[rest]
        found[rest] = rows.over_rows(_multiply, own, variables=np.unique(own))
    return found


def _multiply(rows: FittedRows, pairs: Ints) -> Floats:
    """Return the sums of products of conditionals over rows that are here."""
    sample, layout = rows.sample, rows.potentials.layout
    s, t = sample.cards[pairs[0]].tolist()
    found, edges = np.zeros((len(pairs), s, t)), find_edges(layout, pairs)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    groups = [np.array([k]) for k in order[edges[order] >= 0].tolist()]
    absent = order[edges[order] < 0]
    if len(absent):
        groups += np.split(absent, np.flatnonzero(np.diff(pairs[absent, 0])) + 1)
    size = max(1, BLOCK_SIZE // (max(len(places) for places in groups) * t + s))
    for start in range(0, sample.n_rows, size):
        part = slice(start, min(start + size, sample.n_rows))
        for places in groups:
            found[places] += _products(rows, pairs[places], part, int(edges[places[0]]))
    return found


def _products(rows: FittedRows, pairs: Ints, part: slice, edge: int) -> Floats:
    """Return the sums of some rows: of absent pairs that share their first variable, or an edge."""
    sample, i, others = rows.sample, int(pairs[0, 0]), pairs[:, 1].tolist()
    one_way = other_way = None
    if edge >= 0:
        table = rows.potentials.layout.table(rows.potentials.weights, edge)
        one_way, other_way = (others[0], table), (i, table.T)
    seen, counted = _conditionals(rows, i, part, one_way)
    both = [_conditionals(rows, j, part, other_way) for j in others]
    if sample.weights is not None:
        seen, counted = (own * sample.weights[part, None] for own in (seen, counted))
    sums = seen.T @ np.concatenate([full for _, full in both], axis=1)
    if not sample.complete:
        back = counted.T @ np.concatenate([known for known, _ in both], axis=1)
        sums = 0.5 * (sums + back)
    shaped: Floats = sums.reshape(len(sums), len(others), -1).transpose(1, 0, 2)
    return shaped


def _conditionals(
    rows: FittedRows, i: int, part: slice, without: tuple[int, Floats] | None
) -> tuple[Floats, Floats]:
    """Return the conditional of a variable in some rows, shape (rows, states), twice.

    Where the variable is missing there is nothing in the first, and in the second what it counts
    as.

    Parameters
    ----------
    without : (neighbour, table), optional
        A neighbour over whose states to average, and the table of their edge.
    """
    sample, states = rows.sample, int(rows.sample.cards[i])
    values, ids = rows.conditionals.of_rows(i, part.start, part.stop)
    p = values.reshape(-1, padded(states))[:, :states]
    if without is not None:
        other, table = without
        here = rows.conditionals.neighbourhoods.of_variable(i)
        codes = sample.codes[other, part]
        if here.table is not None and ids.size:
            codes = here.table[int(np.flatnonzero(here.others == other)[0])]
        p = _averaged(p, table, sample.indicators(other)[codes], _frequencies(rows, other))
    p = p[ids] if ids.size else p
    if sample.extended[i] == sample.cards[i]:
        return p, p
    codes = sample.codes[i, part]
    missing = codes >= sample.cards[i]
    seen, counted = p.copy(), p.copy()
    seen[missing], counted[missing] = 0.0, sample.indicators(i)[codes[missing]]
    return seen, counted


def _averaged(p: Floats, table: Floats, given: Floats, frequencies: Floats) -> Floats:
    """Return conditionals averaged over the states of a neighbour.

    Parameters
    ----------
    p : (k, s) float64
        The conditionals given what the neighbour counts as, ``given``, shape (k, t).
    table : (s, t) float64
        The edge's.
    frequencies : (t,) float64
    """
    logs = np.log(np.maximum(p, 1e-300)) - given @ table.T
    found = np.zeros_like(p)
    for share, weights in zip(frequencies.tolist(), table.T, strict=True):
        raised = logs + weights
        raised = np.exp(raised - raised.max(axis=1, keepdims=True))
        found += share * raised / raised.sum(axis=1, keepdims=True)
    return found


def _frequencies(rows: FittedRows, i: int) -> Floats:
    """Return the frequencies of a variable's states."""
    start = int(rows.sample.cards[:i].sum())
    found: Floats = rows.sample.frequencies[start : start + int(rows.sample.cards[i])]
    return found
