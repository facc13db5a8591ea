"""Which pairs depend on each other, and where lambdas begin, from counts alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from graftwork.contingency.encoding import prepare_counts
from graftwork.contingency.pair_tables import PairTables
from graftwork.grafting import NetworkFamily, Problem
from graftwork.grafting.chow_liu import pair_information
from graftwork.inference import make_engine
from graftwork.objectives import Likelihood
from graftwork.parameters import known
from graftwork.parameters import number as checked_number
from graftwork.penalties import PENALTIES
from graftwork.records import Record, as_frame
from graftwork.selection.levels import Levels, find_levels
from graftwork.significance.evidence import log_q_values
from graftwork.significance.tails import log_tail

NUMBERS = ("information", "statistic", "df", "p_value", "q_value")
COLUMNS = ("first", "second", *NUMBERS)
SPARSE = ("group-l1", "l1")


def screen(counts: PairTables, fdr: float | None = None) -> Any:
    """Return the tests of independence of all pairs, as `PairTables.screen` describes it."""
    return as_frame(screen_records(counts, fdr), COLUMNS, NUMBERS)


def screen_records(counts: PairTables, fdr: float | None = None) -> list[Record]:
    """Return the tests of independence of all pairs as records."""
    if fdr is not None:
        checked_number("fdr", fdr, 0.0)
    sample = prepare_counts(counts)
    pairs = np.stack(np.triu_indices(counts.n_variables, 1), axis=1).astype(np.int64)
    information = pair_information(sample, pairs)
    statistics = 2.0 * counts.total_weight * information
    degrees = (sample.cards[pairs] - 1).prod(axis=1)
    tested = np.flatnonzero(degrees)
    log_p, log_q = np.zeros(len(pairs)), np.zeros(len(pairs))
    log_p[tested] = log_tail(statistics[tested], degrees[tested].astype(np.float64))
    log_q[tested] = log_q_values(log_p[tested], len(tested))
    order = np.lexsort((-information, log_p))
    if fdr is not None:
        order = order[np.exp(log_q[order]) <= fdr]
    columns = [information, statistics, degrees, np.exp(log_p), np.exp(log_q)]
    rows = zip(pairs[order].tolist(), *(each[order].tolist() for each in columns), strict=True)
    return [
        {"first": counts.names[i], "second": counts.names[j]}
        | dict(zip(NUMBERS, map(float, numbers), strict=True))
        for (i, j), *numbers in rows
    ]


def lambda_levels(counts: PairTables, penalty: str = "group-l1") -> Levels:
    """Return both ends of the lambda path, as `PairTables.lambda_levels` describes them."""
    sample, name = prepare_counts(counts), known("penalty", penalty, SPARSE)
    objective = Likelihood(sample, make_engine("auto"))
    return find_levels(Problem(objective, PENALTIES[name](1.0), NetworkFamily(sample)))
