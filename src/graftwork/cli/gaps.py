"""Rows with missing cells, as the learner took them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graftwork.errors import DataError

if TYPE_CHECKING:
    from graftwork.data import Table

    Parts = tuple[Table, Table | None, str]


def as_learned(net: Any, parts: Parts) -> Parts:
    """Return the rows learned from, those held out or None, and why there are none.

    Rows that were left out because of missing cells are not there; where only available cells are
    used, missing is a state only of columns that lack cells.
    """
    from graftwork.data.missing import complete_rows, missing_last

    train, test, why_not = parts
    if net.missing == "drop-rows":
        train = complete_rows(train)
        try:
            test = None if test is None else complete_rows(test)
        except DataError:
            test, why_not = None, "No rows were held out: each would have a missing cell."
    elif net.missing in ("available-case", "impute"):
        train = missing_last(train)
    return train, test, why_not
