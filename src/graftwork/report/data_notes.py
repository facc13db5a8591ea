"""What about a table should be looked at before learning from it, in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.missing import MISSING_STATE
from graftwork.data.oddities import column_remarks, lone_columns, number_columns, weight_remarks
from graftwork.data.parts import join
from graftwork.data.placed import AnyTable, PlacedTable
from graftwork.inference.layout import Floats
from graftwork.text import count

RARE = 10
SHOWN = 5


def data_notes(table: AnyTable) -> tuple[str, ...]:
    """Return sentences about columns that learning will not profit from."""
    names, counts = table.names, _counts(table)
    found: list[str] = list(table.notes)
    if table.n_variables == 1:
        found.append("There is one column only, so there can be no edges; is the separator right?")
    constant = [i for i, each in enumerate(counts) if np.count_nonzero(each) < 2]
    if constant:
        verb = "never changes" if len(constant) == 1 else "never change"
        listed = _some([names[i] for i in constant])
        found.append(f"{count(len(constant), 'variable')} {verb}: {listed}.")
    found += [*column_remarks(table), *weight_remarks(table)]
    copies = _copies(table, set(constant))
    if copies:
        pairs = [f"{names[i]} and {names[j]}" for i, j in copies]
        found.append(f"The same in every row: {_some(pairs)}. One of each pair is enough.")
    told = {*lone_columns(table), *number_columns(table), *(names[i] for i in constant)}
    rare = _rare(table, counts, told)
    if rare:
        found.append(
            f"{count(len(rare), 'state')} with fewer than {RARE} counts, whose weights are little "
            f"more than guesses: {_some(rare)}. Merging rare states helps."
        )
    return tuple(found)


def _counts(table: AnyTable) -> list[Floats]:
    """Return how often each state of each variable occurs; missing cells are in none."""
    found = []
    for counts, states in zip(table.observed(), table.states, strict=True):
        each = np.array(counts, dtype=np.float64)
        each[[state == MISSING_STATE for state in states]] = 0.0
        found.append(each)
    return found


def _rare(table: AnyTable, counts: Sequence[Floats], told: set[Any]) -> list[str]:
    """Return ``name = state`` of rare states of columns not told of yet, the rarest first."""
    found = [
        (float(each[k]), f"{name} = {states[k]}")
        for name, states, each in zip(table.names, table.states, counts, strict=True)
        if name not in told
        for k in np.flatnonzero((each > 0) & (each < RARE))
    ]
    return [text for _, text in sorted(found, key=lambda one: one[0])]


def _copies(table: AnyTable, constant: set[int]) -> list[tuple[int, int]]:
    """Return pairs of columns with equal codes, each with the first such column."""
    parts = table.over_tables(_alike, add=join) if isinstance(table, PlacedTable) else _alike(table)
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for i, firsts in enumerate(zip(*parts, strict=True)):
        if i not in constant:
            groups[firsts].append(i)
    return [(group[0], j) for group in groups.values() for j in group[1:]]


def _alike(table: Table) -> list[list[int]]:
    """Return, in a list of one, the first column that each column has the same codes as."""
    codes = table.codes if table.weights is None else table.codes[:, table.weights > 0]
    known: dict[int, list[int]] = defaultdict(list)
    found = []
    for i, own in enumerate(codes):
        others = known[hash(own.tobytes())]
        first = next((j for j in others if np.array_equal(codes[j], own)), i)
        if first == i:
            others.append(i)
        found.append(first)
    return [found]


def _some(items: Sequence[Any]) -> str:
    text = ", ".join(str(item) for item in items[:SHOWN])
    more = len(items) - SHOWN
    return text + (f" and {more:,} more" if more > 0 else "")
