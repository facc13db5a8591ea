"""Missing cells: what they were to a network when it was learned, and what they are to scores.

Networks, the estimator, `evaluate` and the command line all read rows to score here and call
`log_conditionals_of`, so they give the same numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graftwork.data import Table, align
from graftwork.data.columns import Unseen, level_of_caller
from graftwork.data.missing import MISSING_STATE
from graftwork.data.values import suggestion
from graftwork.errors import DataError, DataWarning
from graftwork.inference.incomplete import soft_log_conditionals
from graftwork.inference.layout import Floats, Potentials
from graftwork.inference.sampling import log_conditionals
from graftwork.parameters import known

#: What can be done about missing cells of rows to score.
SCORING = ("error", "available-case", "drop-rows")
#: How rows are scored unless told otherwise: by how the network was learned.
_AS_LEARNED = {
    "available-case": "available-case",
    "impute": "available-case",
    "drop-rows": "drop-rows",
}
REMEDY = (
    "missing is not a state of that variable in the network: score with missing='available-case', "
    "which lets the observed cells of a row count, or missing='drop-rows', which leaves such rows "
    "out"
)

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """What missing cells were to a network when it was learned, and how often states occurred."""

    policy: str = "error"  # the estimator's ``missing``; "error" for networks that were not learned
    # how often each state occurs among the observed cells of its variable: what a missing
    # neighbour counts as when rows are scored, and what sizes of edges are measured at
    frequencies: tuple[Floats, ...] = ()

    def scoring(self, missing: str | None) -> str:
        """Return what is done about missing cells to score; None is what was learned with."""
        if missing is None:
            return _AS_LEARNED.get(self.policy, "error")
        if not (isinstance(missing, str) and missing in SCORING):
            raise DataError(
                f"missing is {missing!r}{suggestion(missing, SCORING) or '.'} For scores it is "
                "None (as learned), 'error', 'available-case' or 'drop-rows'."
            )
        return missing


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """Rows to score, in the codes of a network."""

    # (n_variables, rows) integers: states of the network, and one more than the last where a cell
    # is missing
    codes: NDArray[np.unsignedinteger[Any]]
    weights: Floats | None  # (rows,) or None
    cells_missing: int  # how many cells of the rows given are missing
    # (rows given,): which of them are scored; rows are left out with missing="drop-rows" alone
    kept: Bools
    lacking: NDArray[np.int64]  # (rows,): how many cells each scored row lacks

    @property
    def n_given(self) -> int:
        """How many rows were given."""
        return len(self.kept)

    @property
    def incomplete(self) -> Bools:
        """Which of the scored rows lack cells, shape (rows,)."""
        return self.lacking > 0

    @property
    def cells(self) -> float:
        """How many cells of a scored row are observed, on average."""
        return len(self.codes) - self.mean(self.lacking)

    def mean(self, values: NDArray[Any]) -> float:
        """Return the mean of something over the scored rows, by their weights."""
        return float(np.average(values, weights=self.weights))

    def spread(self, values: Floats) -> Floats:
        """Return values of scored rows as one for each row given, NaN where it was left out."""
        if self.kept.all():
            return values
        out = np.full(self.n_given, np.nan)
        out[self.kept] = values
        return out


def with_missing(states: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Return the states of variables, and missing as the last where it is none of them.

    Examples
    --------
    >>> with_missing([(0, 1), ("x", "(missing)")])
    [(0, 1, '(missing)'), ('x', '(missing)')]
    """
    return [tuple(each) if MISSING_STATE in each else (*each, MISSING_STATE) for each in states]


def rows_to_score(
    X: Any,
    names: Sequence[Any],
    states: Sequence[Sequence[Any]],
    scoring: str,
    *,
    weights: ArrayLike | None = None,
    unseen: str = "error",
    owner: str = "model",
) -> ScoredRows:
    """Return rows in the codes of a network.

    X is as `align` takes it, and `scoring` one of `SCORING`; rows that do not fit the network, and
    missing cells that must not be, are refused. With ``unseen="ignore"`` cells in states that the
    network does not have are missing; they need not be refused then.
    """
    known("unseen", unseen, ("error", "ignore"))
    how: Unseen = "ignore" if unseen == "ignore" else "offer"
    if scoring == "error" and unseen == "error":
        table = align(X, names, states, weights=weights, owner=owner, unseen=how, remedy=REMEDY)
    else:
        listed = with_missing(states)
        table = align(X, names, listed, weights=weights, owner=owner, unseen=how)
    gone = table.codes >= np.array([len(listed) for listed in states])[:, None]
    lacking = np.count_nonzero(gone, axis=0).astype(np.int64)
    kept = np.ones(table.n_rows, dtype=np.bool_)
    if scoring == "drop-rows" and lacking.any():
        kept = lacking == 0
        table = _complete(table, kept, int(lacking.sum()))
    return ScoredRows(table.codes, table.weights, int(lacking.sum()), kept, lacking[kept])


def _complete(table: Table, kept: Bools, cells: int) -> Table:
    """Return the rows that are kept, with a warning about the others."""
    if not kept.any() or (table.weights is not None and not table.weights[kept].any()):
        raise DataError(
            f"every one of the {table.n_rows:,} rows (of positive weight) has a missing cell, so "
            "leaving out rows leaves nothing to score: use missing='available-case'."
        )
    count = int(np.count_nonzero(~kept))
    warnings.warn(
        f"{count:,} of {table.n_rows:,} rows {'were' if count > 1 else 'was'} left out of the "
        f"score because {cells:,} cell{'s are' if cells > 1 else ' is'} missing.",
        DataWarning,
        stacklevel=level_of_caller(),
    )
    return table.take_rows(kept)


def log_conditionals_of(
    potentials: Potentials,
    codes: NDArray[Any],
    frequencies: Sequence[Floats],
    n_jobs: int | None = 1,
) -> Floats:
    """Return the sum of log p(x_i | the others) over the observed cells of each row.

    Shapes: codes (n_variables, rows) integers.

    Examples
    --------
    >>> from graftwork.inference import Layout
    >>> pair = Potentials(Layout.of([2, 2], [(0, 1)]), np.log([1, 1, 1, 1, 3, 1, 1, 3.0]))
    >>> rows, half = np.array([[0, 0], [0, 2]]), [np.array([0.5, 0.5])] * 2
    >>> np.exp(log_conditionals_of(pair, rows, half)).round(4)
    array([0.5625, 0.5   ])
    """
    lacking = (codes >= potentials.layout.cards[:, None]).any(axis=0)
    if not lacking.any():
        return log_conditionals(potentials, codes, n_jobs)
    out = np.empty(codes.shape[1])
    out[~lacking] = log_conditionals(potentials, codes[:, ~lacking], n_jobs)
    out[lacking] = soft_log_conditionals(potentials, codes[:, lacking], frequencies)
    return out


def finite_log_conditionals(
    potentials: Potentials, rows: ScoredRows, frequencies: Sequence[Floats], n_jobs: int | None
) -> Floats:
    """Return the log pseudo-likelihood of rows to score, or refuse averages of -inf."""
    with np.errstate(invalid="ignore"):  # refused below
        values = log_conditionals_of(potentials, rows.codes, frequencies, n_jobs)
    if np.isnan(values).any():
        raise _no_averages()
    return values


def check_averages(largest: Floats) -> None:
    """Refuse conditionals in which no state is possible, as averages of -inf make them."""
    if not (largest > -np.inf).all():
        raise _no_averages()


def _no_averages() -> DataError:
    return DataError(
        "a missing neighbour counts as the average of log-potentials, and some of this network are "
        "-inf; use log_prob, which sums missing cells out, or missing='drop-rows'."
    )
