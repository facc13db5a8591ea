"""Rare states pooled for tests: a handful of counts follows no normal law."""

from __future__ import annotations

import numpy as np

from graftwork.data.encoded import EncodedRows
from graftwork.inference.layout import Floats, Ints
from graftwork.objectives.contrasts import Contrasts

# States with fewer counts than this are pooled in tests.
LEAST_COUNT = 10
# Of a variable with more states this many groups are distinguished in tests: the frequent states,
# and all others together.
MOST_GROUPS = 12


def frequent_states(
    sample: EncodedRows, curved: frozenset[tuple[int, int]] | None = None
) -> Contrasts:
    """Return contrasts with rare states pooled, for tests."""
    counts = np.split(np.asarray(sample.counts.margins, dtype=np.float64), np.cumsum(sample.cards))
    groups = tuple(pool(part) for part in counts[:-1])
    return Contrasts.of(groups, sample.scores, curved, counts[:-1])


def pool(counts: Floats, most: int = MOST_GROUPS) -> Ints:
    """Return groups of states: frequent ones alone, all others together; two groups at least."""
    ascending = np.sort(counts)
    rare = int((counts < LEAST_COUNT).sum())
    rare = max(rare, len(counts) - (most - 1)) if len(counts) > most else rare
    while 0 < rare < len(counts) - 1 and ascending[:rare].sum() < LEAST_COUNT:
        rare += 1
    rare = max(0, min(rare, len(counts) - 1))
    pooled = counts <= ascending[rare - 1] if rare else np.zeros(len(counts), dtype=bool)
    if pooled.all():  # the most frequent are equally so: only states that are less so are pooled
        pooled = counts < ascending[-1]
        if np.count_nonzero(~pooled) > 2 * MOST_GROUPS:  # too many to tell apart: any will do
            pooled[np.flatnonzero(~pooled)[most - 1 :]] = True
    if not pooled.any():
        return np.arange(len(counts))
    groups = np.zeros(len(counts), dtype=np.int64)
    groups[~pooled] = np.arange(1, np.count_nonzero(~pooled) + 1)
    return groups
