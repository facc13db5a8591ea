"""Scores of rows that come in parts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data import Table
from graftwork.data.columns import level_of_caller
from graftwork.errors import DataError, DataWarning
from graftwork.inference.layout import Floats
from graftwork.models import PairwiseMRF
from graftwork.models.gaps import ScoredRows
from graftwork.report.edges import EdgeScores
from graftwork.report.scores import RowScores, Scores, score_rows

#: Told the scores of the rows of a part, which rows these are, and how many came before.
Each = Callable[[RowScores, ScoredRows, int], None]


@dataclass(slots=True)
class _Sums:
    """What is added up over parts: of scores by their names, and of rows."""

    scores: dict[str, float] = field(default_factory=dict)
    weight: float = 0.0
    lacking: float = 0.0
    given: int = 0
    rows: int = 0
    incomplete: int = 0
    cells_missing: int = 0
    unconverged: int = 0
    exact: bool = True
    groups: int = 0
    why_no_likelihood: str = ""
    without_cmll: bool = False


def score_tables(
    model: PairwiseMRF,
    tables: Iterable[Table],
    missing: str | None = None,
    *,
    likelihood: bool = True,
    groups: int | None = None,
    edges: EdgeScores | None = None,
    each: Each | None = None,
) -> Scores:
    """Return the scores of the rows of several tables, as `evaluate` has them for one.

    Examples
    --------
    >>> coin = PairwiseMRF({"coin": [0, 1]})
    >>> parts = [Table(("coin",), ((0, 1),), [[0]]), Table(("coin",), ((0, 1),), [[1, 1]])]
    >>> scores = score_tables(coin, parts)
    >>> scores.n_rows, round(scores.nlpl, 4)
    (3, 0.6931)
    """
    sums, how = _Sums(), model.scoring(missing)
    for table in tables:
        rows = rows_of_part(model, table, how)
        if rows is None:
            sums.given += table.n_rows
            sums.cells_missing += int(np.count_nonzero(_gone(model, table)))
            continue
        wanted = likelihood and not sums.why_no_likelihood
        own = None if sums.without_cmll else groups
        found = score_rows(model, rows, likelihood=wanted, groups=own)
        if each is not None:
            each(found, rows, sums.given)
        _add(sums, found, rows)
    if not sums.weight > 0:
        raise DataError(
            f"every one of the {sums.given:,} rows (of positive weight) has a missing cell, so "
            "leaving out rows leaves nothing to score: use missing='available-case'."
        )
    left_out = sums.given - sums.rows if how == "drop-rows" else 0
    _warn(left_out, sums)
    means = {name: value / sums.weight for name, value in sums.scores.items()}
    why = ""
    if sums.without_cmll:
        why = f"it needs complete rows, and {sums.incomplete:,} of {sums.rows:,} lack cells."
    return Scores(
        n_rows=sums.rows,
        n_variables=model.n_variables,
        n_edges=model.n_edges,
        nlpl=means["nlpl"],
        log_likelihood=None if sums.why_no_likelihood else means.get("log_likelihood"),
        why_no_likelihood=sums.why_no_likelihood,
        cmll=None if why else means.get("cmll"),
        cmll_exact=bool(why) or sums.exact,
        cmll_groups=0 if why else sums.groups,
        cmll_unconverged=0 if why else sums.unconverged,
        why_no_cmll=why,
        n_incomplete=sums.incomplete,
        n_left_out=left_out,
        cells=model.n_variables - sums.lacking / sums.weight,
        edges=edges,
    )


def rows_of_part(model: PairwiseMRF, table: Table, how: str) -> ScoredRows | None:
    """Return the rows of a part to score; None if there are none of any weight."""
    if not table.n_rows or (table.weights is not None and not table.weights.any()):
        return None
    if how == "drop-rows":
        whole = ~_gone(model, table).any(axis=0)
        if not whole.any() or (table.weights is not None and not table.weights[whole].any()):
            return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # rows left out are told of once
        return model.rows_to_score(table, how)


def _gone(model: PairwiseMRF, table: Table) -> NDArray[np.bool_]:
    """Return which cells are missing, in a state that the model does not have."""
    gone: NDArray[np.bool_] = table.codes >= model.potentials.layout.cards[:, None]
    return gone


def _add(sums: _Sums, found: RowScores, rows: ScoredRows) -> None:
    """Add the scores of a part."""
    for name, values in found.columns().items():
        sums.scores[name] = sums.scores.get(name, 0.0) + _sum(values, rows.weights)
    sums.weight += _sum(np.ones(len(found.nlpl)), rows.weights)
    sums.lacking += _sum(rows.lacking, rows.weights)
    sums.given += rows.n_given
    sums.rows += len(found.nlpl)
    sums.incomplete += int(np.count_nonzero(rows.incomplete))
    sums.cells_missing += rows.cells_missing
    sums.why_no_likelihood = sums.why_no_likelihood or found.why_no_likelihood
    sums.without_cmll |= bool(found.why_no_cmll)
    if found.conditional is not None:
        sums.exact &= found.conditional.exact
        sums.groups = len(found.conditional.groups)
        sums.unconverged += found.conditional.unconverged


def _sum(values: NDArray[Any], weights: Floats | None) -> float:
    """Return the sum of values, by weights; in the order that means are taken in."""
    return float((values if weights is None else values * weights).sum())


def _warn(left_out: int, sums: _Sums) -> None:
    """Tell of rows that were left out, as with rows in memory."""
    if left_out:
        cells = sums.cells_missing
        warnings.warn(
            f"{left_out:,} of {sums.given:,} rows {'were' if left_out > 1 else 'was'} left out of "
            f"the score because {cells:,} cell{'s are' if cells > 1 else ' is'} missing.",
            DataWarning,
            stacklevel=level_of_caller(),
        )
