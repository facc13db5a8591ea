"""What about a table should be looked at before learning from it, in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.compact import Sample
from graftwork.data.oddities import column_remarks, lone_columns, number_columns
from graftwork.estimators.cost import amount

RARE = 10
SHOWN = 5


def data_notes(table: Table, sample: Sample, expected_weights: int) -> tuple[str, ...]:
    """Return sentences about columns that learning will not profit from.

    Parameters
    ----------
    expected_weights : int
        Weights of the network that is expected.

    Examples
    --------
    >>> from graftwork.data.compact import prepare
    >>> table = Table(("a", "b"), ((0, 1), ("x",)), [[0, 1] * 30, [0] * 60])
    >>> data_notes(table, prepare(table), 3)
    ('1 variable never changes: b.',)
    """
    names = table.names
    found: list[str] = []
    if table.n_variables == 1:
        found.append("There is one column only, so there can be no edges; is the separator right?")
    constant = [names[i] for i in np.flatnonzero(sample.cards < 2)]
    if constant:
        verb = "never changes" if len(constant) == 1 else "never change"
        found.append(f"{amount(len(constant), 'variable')} {verb}: {_some(constant)}.")
    found += column_remarks(table)
    copies = _copies(sample)
    if copies:
        listed = [f"{names[i]} and {names[j]}" for i, j in copies]
        found.append(f"The same in every row: {_some(listed)}. One of each pair is enough.")
    rare = _rare(table, sample, {*lone_columns(table), *number_columns(table)})
    if rare:
        found.append(
            f"{amount(len(rare), 'state')} with fewer than {RARE} counts, whose weights are little "
            f"more than guesses: {_some(rare)}. Merging rare states helps."
        )
    if expected_weights > sample.total_weight:
        found.append(
            f"The expected network has more weights ({expected_weights:,}) than the data have rows "
            f"({sample.total_weight:,.6g}): fewer states, or a larger lambda, would be safer."
        )
    return tuple(found)


def _rare(table: Table, sample: Sample, told: set[Any]) -> list[str]:
    """Return ``name = state`` of rare states of columns not told of yet, the rarest first."""
    counts, offsets = sample.counts.margins, np.concatenate([[0], np.cumsum(sample.cards)])
    places = np.flatnonzero((counts > 0) & (counts < RARE))
    found: list[str] = []
    for place in places[np.argsort(counts[places], kind="stable")]:
        i = int(np.searchsorted(offsets, place, side="right")) - 1
        if sample.cards[i] > 1 and table.names[i] not in told:
            state = table.states[i][sample.kept[i][place - offsets[i]]]
            found.append(f"{table.names[i]} = {state}")
    return found


def _copies(sample: Sample) -> list[tuple[int, int]]:
    """Return pairs of columns with equal codes, each with the first such column."""
    alike: dict[int, list[int]] = defaultdict(list)
    for i in np.flatnonzero(sample.cards > 1):
        alike[hash(sample.codes[i].tobytes())].append(int(i))
    return [
        (group[0], j)
        for group in alike.values()
        for j in group[1:]
        if np.array_equal(sample.codes[group[0]], sample.codes[j])
    ]


def _some(items: Sequence[Any]) -> str:
    text = ", ".join(str(item) for item in items[:SHOWN])
    more = len(items) - SHOWN
    return text + (f" and {more:,} more" if more > 0 else "")
