"""Cells of rows that nobody observed: what they probably are, given the rest of their rows.

Given the observed cells of a row, its unknown cells fall apart into groups that no edge joins, and
most groups are a single cell, whose conditional is a sum of table rows. In larger groups the other
unknown cells are summed out, exactly where that is affordable. Rows in which the same variables
make a group, and whose observed neighbours agree, are inferred once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from graftwork.inference.evidence import observe
from graftwork.inference.hidden import LINES, by_junction_tree, by_propagation, unaries_given
from graftwork.inference.incomplete import MOST_CELLS, draw_states, groups, impute
from graftwork.inference.junction import JunctionTree
from graftwork.inference.layout import Floats, Ints, Potentials

Codes = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]
# How often a filled row is looked through for a better state of a single cell, where the most
# probable states of all cells together are out of reach.
_SWEEPS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Something about each row, and which rows it is approximate for."""

    # probabilities, shape (rows, states); or rows, as codes of shape (n_variables, rows)
    values: NDArray[Any]
    approximate: Bools  # (rows,)


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Unknown variables that edges join, and the different rows around them.

    ``line`` says for each of ``rows`` which line of ``unaries`` (those of the variables, given what
    is observed around them) it has.
    """

    variables: Ints
    rows: Ints
    unaries: Floats
    line: Ints
    inside: Potentials

    def given(self, line: int) -> Potentials:
        """Return the network of the unknown variables, given a line."""
        layout = self.inside.layout
        tables = self.inside.weights[layout.n_unary :]
        return Potentials(layout, np.concatenate([self.unaries[line], tables]))


def state_probabilities(
    potentials: Potentials, codes: Codes, target: int, *, most_cells: int = MOST_CELLS
) -> Answers:
    """Return the probabilities of the states of one variable, given what each row knows.

    What a row says about the variable itself is not looked at. Other unknown cells are summed out;
    where there are too many for that, by loopy belief propagation.

    Shapes: codes (n_variables, rows) integers.
    """
    layout = potentials.layout
    gone = codes >= layout.cards[:, None]
    gone[target] = True
    near = _neighbours(potentials, target)
    alone = ~gone[[j for j, _ in near]].any(axis=0)
    values = np.zeros((codes.shape[1], int(layout.cards[target])))
    approximate = np.zeros(codes.shape[1], dtype=np.bool_)
    values[alone] = _distribution(_logits(potentials, codes, target, np.flatnonzero(alone)))
    if alone.all():
        return Answers(values, approximate)
    rest = np.flatnonzero(~alone)
    limit = _limit(most_cells, len(rest))
    for group in _grouped(potentials, codes, gone, rest, with_=target):
        found, exact = _marginal(group, int(np.searchsorted(group.variables, target)), limit)
        values[group.rows] = found[group.line]
        approximate[group.rows] = not exact
    return Answers(values, approximate)


def fill_rows(
    potentials: Potentials,
    codes: Codes,
    rng: np.random.Generator | None = None,
    *,
    most_cells: int = MOST_CELLS,
) -> Answers:
    """Return rows with their unknown cells in the most probable states, or drawn.

    The states of all unknown cells of a row are the most probable ones together, given the others.
    With a generator they are drawn instead. Where exact inference is too large, states are improved
    one at a time until none can be, or drawn by Gibbs sampling.
    """
    layout = potentials.layout
    gone = codes >= layout.cards[:, None]
    out = np.array(codes, dtype=np.int64)
    approximate = np.zeros(codes.shape[1], dtype=np.bool_)
    joined = np.zeros_like(gone)
    for i, j in layout.edges.tolist():
        both = gone[i] & gone[j]
        joined[i] |= both
        joined[j] |= both
    for i in np.flatnonzero((gone & ~joined).any(axis=1)).tolist():
        rows = np.flatnonzero(gone[i] & ~joined[i])
        out[i, rows] = _pick(_logits(potentials, codes, i, rows), rng)
    rest = np.flatnonzero(joined.any(axis=0))
    if not len(rest):
        return Answers(out, approximate)
    limit = _limit(most_cells, len(rest))
    hard = np.zeros_like(gone)
    for group in _grouped(potentials, codes, joined, rest):
        if JunctionTree(limit).fits(group.inside.layout):
            out[np.ix_(group.variables, group.rows)] = _together(group, rng)
        else:
            hard[np.ix_(group.variables, group.rows)] = True
    rows = np.flatnonzero(hard.any(axis=0))
    if len(rows):
        out[:, rows] = _search(potentials, out[:, rows], hard[:, rows], rng)
        approximate[rows] = True
    return Answers(out, approximate)


def _limit(most_cells: int, rows: int) -> int:
    """Return how many table cells may be filled for one row."""
    return min(JunctionTree().limit_cells, most_cells // max(rows, 1))


def _neighbours(potentials: Potentials, i: int) -> list[tuple[int, Floats]]:
    """Return the neighbours of a variable, each with its table, states of the neighbour first."""
    layout, weights = potentials.layout, potentials.weights
    found = []
    for e in np.flatnonzero((layout.edges == i).any(axis=1)).tolist():
        a, b = layout.edges[e].tolist()
        table = layout.table(weights, e)
        found.append((b, table.T) if a == i else (a, table))
    return found


def _logits(potentials: Potentials, codes: Codes, i: int, rows: Ints) -> Floats:
    """Return log-weights of the states of a variable whose neighbours are known, (rows, states)."""
    unary = potentials.layout.unary(potentials.weights, i)
    out = np.repeat(unary[None], len(rows), axis=0)
    for j, table in _neighbours(potentials, i):
        out += table[codes[j, rows]]
    return out


def _distribution(logits: Floats) -> Floats:
    """Return probabilities; NaN where all states are impossible."""
    with np.errstate(invalid="ignore"):
        return np.asarray(softmax(logits, axis=1))


def _pick(logits: Floats, rng: np.random.Generator | None) -> Ints:
    """Return the most probable state of each row, or a drawn one; -1 where none is possible."""
    found = np.argmax(logits, axis=1) if rng is None else draw_states(logits.T, rng)
    return np.where(np.isneginf(logits).all(axis=1), -1, found)


def _grouped(
    potentials: Potentials, codes: Codes, gone: Bools, rows: Ints, with_: int | None = None
) -> Iterator[_Group]:
    """Yield the groups of unknown cells of some rows; those alone that have a variable."""
    layout = potentials.layout
    for listed, places in groups(layout.edges, gone[:, rows]).items():
        if with_ is not None and with_ not in listed:
            continue
        variables, own = np.array(listed), rows[places]
        free = np.zeros(layout.n_variables, dtype=np.bool_)
        free[variables] = True
        i, j = layout.edges[:, 0], layout.edges[:, 1]
        border = np.zeros_like(free)
        border[i[free[j]]] = border[j[free[i]]] = True
        seen = codes[border & ~free][:, own]
        _, first, line = np.unique(seen, axis=1, return_index=True, return_inverse=True)
        known = np.where(free[:, None], 0, codes[:, own[first]])
        unaries = unaries_given(potentials, free, np.minimum(known, layout.cards[:, None] - 1))
        inside = observe(potentials, np.where(free, -1, 0)).potentials
        yield _Group(variables, own, unaries, line.ravel(), inside)


def _marginal(group: _Group, place: int, limit: int) -> tuple[Floats, bool]:
    """Return the probabilities of one variable of a group, a row per line, and whether exact."""
    layout = group.inside.layout
    exact = JunctionTree(limit).fits(layout)
    run = by_junction_tree(group.inside) if exact else by_propagation(group.inside)
    states = int(layout.cards[place])
    out = np.empty((len(group.unaries), states))
    for start in range(0, len(out), LINES):
        part = group.unaries[start : start + LINES]
        starts = np.arange(len(part) + 1) * states
        # The other variables are asked about a state that is likely: it costs nothing then.
        codes = np.zeros((layout.n_variables, len(part) * states), dtype=np.int64)
        for i in range(layout.n_variables):
            codes[i] = np.repeat(
                np.argmax(part[:, slice(*layout.unary_offsets[i : i + 2])], axis=1), states
            )
        codes[place] = np.tile(np.arange(states), len(part))
        logs = np.empty(codes.shape)
        run(part, starts, codes, logs)
        out[start : start + LINES] = logs[place].reshape(-1, states)
    return _distribution(out), exact


def _together(group: _Group, rng: np.random.Generator | None) -> Ints:
    """Return the most probable states of a group's variables in each row, or drawn ones."""
    engine = JunctionTree()
    out = np.full((len(group.variables), len(group.rows)), -1, dtype=np.int64)
    order = np.argsort(group.line, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(group.line[order])) + 1)
    for line, rows in enumerate(parts):
        network = group.given(line)
        if rng is None:
            states, best = engine.maximise(network)
            if best > -np.inf:
                out[:, rows] = states[:, None]
        elif engine.log_partition(network) > -np.inf:
            out[:, rows] = engine.sample(network, len(rows), rng)
    return out


def _search(
    potentials: Potentials, codes: Ints, hard: Bools, rng: np.random.Generator | None
) -> Ints:
    """Return rows with the cells that are too many to infer together drawn, or one by one better.

    The search begins with what the observed neighbours of a cell say.
    """
    unknown = np.where(hard, potentials.layout.cards[:, None], codes)
    if rng is not None:
        return np.asarray(impute(potentials, unknown, rng))
    out = np.array(unknown)
    near = [_neighbours(potentials, i) for i in range(len(codes))]
    for sweep in range(_SWEEPS):
        before = out.copy()
        for i in np.flatnonzero(hard.any(axis=1)).tolist():
            rows = np.flatnonzero(hard[i])
            unary = potentials.layout.unary(potentials.weights, i)
            logits = np.repeat(unary[None], len(rows), axis=0)
            for j, table in near[i]:
                known = np.flatnonzero(out[j, rows] < potentials.layout.cards[j])
                logits[known] += table[out[j, rows[known]]]
            out[i, rows] = np.argmax(logits, axis=1)
        if sweep and np.array_equal(out, before):
            break
    return out
