"""The rows that an estimate is about: read as fit reads them, gaps filled by chance."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.compact import Sample, prepare
from graftwork.errors import DataWarning
from graftwork.estimators.imputing import STAGES, completed
from graftwork.estimators.missing import MissingCells, read_cells, read_rows, recommended

# In data of more cells so many rows are compared before all are.
MANY_CODES = 2**24
LOOKED_AT = 1000


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedRows:
    """What would be learned from.

    Attributes
    ----------
    table : Table
    sample : Sample
        The same, prepared.
    networks : int
        How many networks are learned in turn.
    words : str
        What becomes of missing cells; empty if there are none.
    """

    table: Table
    sample: Sample
    networks: int
    words: str


def expected_rows(net: Any, X: Any, weights: Any) -> ExpectedRows:
    """Return the rows that ``net`` would learn from; data are refused as by fit.

    Missing cells that it would draw from networks are drawn from the frequencies of their columns.
    Where they would be an error, the rows are those of the policy that is recommended.

    Parameters
    ----------
    net : MarkovNetwork

    Examples
    --------
    >>> from graftwork.estimators import MarkovNetwork
    >>> net = MarkovNetwork(missing="impute")
    >>> rows = expected_rows(net, [["a", 0], [None, 1], ["b", 0]] * 20, None)
    >>> rows.networks, rows.sample.cards
    (3, array([2, 2]))
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the estimate says the same in words
        if net.missing == "error" and not isinstance(X, Table):
            return _with_advice(net, X, weights)
        table, found = read_rows(net, X, weights)
    return _expected(net, table, found)


def _with_advice(net: Any, X: Any, weights: Any) -> ExpectedRows:
    """Return the rows where missing cells are an error, or else are dealt with as recommended."""
    twin = copy.copy(net)
    twin.missing = "state"
    table, found = read_cells(twin, X, weights)
    advice = recommended(table, net.loss)
    if advice is None:
        return _expected(net, table, found)
    twin.missing, twin.states = advice.policy, None  # the table has them
    rows = _expected(twin, *read_rows(twin, table, None))
    from graftwork.report.describe import advice_text

    return replace(rows, words=f"{advice_text(advice)} {rows.words}".rstrip())


def _expected(net: Any, table: Table, found: MissingCells) -> ExpectedRows:
    from graftwork.report.describe import missing_text

    if net.missing not in ("available-case", "impute"):
        return ExpectedRows(table, _prepare(net, table, missing=False), 1, missing_text(found))
    sample = _prepare(net, table, missing=True)
    if sample.complete:
        return ExpectedRows(table, sample, 1, missing_text(found))
    whole = completed(table, sample.with_drawn(_by_chance(sample)))
    networks = STAGES + 1
    return ExpectedRows(
        whole, _prepare(net, whole, missing=False), networks, _words(found, networks)
    )


def _words(found: MissingCells, networks: int) -> str:
    return (
        f"{found.cells:,} cell{'s are' if found.cells > 1 else ' is'} missing in {found.rows:,} of "
        f"{found.of_rows:,} rows: {networks} networks are learned in turn, and states drawn for "
        f"them in between, which takes about {networks} times as long as one network."
    )


def _by_chance(sample: Sample) -> Any:
    """Return states drawn from the frequencies of their columns, shape (n, rows)."""
    rng, cuts = np.random.default_rng(0), np.cumsum(sample.cards)[:-1]
    count = sample.counts.codes.shape[1]
    return np.stack([rng.choice(len(p), count, p=p) for p in np.split(sample.frequencies, cuts)])


def _prepare(net: Any, table: Table, *, missing: bool) -> Sample:
    """Return the data as fit would; in large ones equal rows are not looked for in vain."""
    merge = True
    if table.codes.size > MANY_CODES:
        places = np.linspace(0, table.n_rows - 1, LOOKED_AT).astype(np.int64)
        rows = np.unique(places)
        merge = len(np.unique(table.codes[:, rows], axis=1).T) < len(rows)
    keep = bool(net.penalize_unary)
    return prepare(table, keep_all_states=keep, merge=merge, missing=missing, n_jobs=net.n_jobs)
