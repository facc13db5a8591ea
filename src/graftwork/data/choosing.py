"""Which columns of a file are read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

from graftwork.data.values import listing, suggestion
from graftwork.errors import DataError

Names = Sequence[Hashable]
#: Names of columns, or a function that is given all names of a file and returns these.
Wanted = Collection[Any] | Callable[[Names], Collection[Any]]


def choose_columns(
    names: Names,
    columns: Wanted | None = None,
    drop: Wanted | None = None,
    *,
    also: Hashable = None,
) -> list[int]:
    """Return the positions of the columns to read, in the order they are to have.

    Parameters
    ----------
    names : sequence of hashable
        All columns of a file.
    columns : list of names, or function of all names, optional
        The columns wanted, in this order; all of them otherwise.
    drop : list of names, or function of all names, optional
        Columns that are left out.
    also : hashable, optional
        A column that is read in any case: that of the weights.

    Examples
    --------
    >>> choose_columns(["id", "age", "sex", "n"], drop=["id"])
    [1, 2, 3]
    >>> choose_columns(["id", "age", "sex", "n"], ["sex", "age"], also="n")
    [2, 1, 3]
    """
    if columns is None and drop is None:
        return list(range(len(names)))
    wanted = list(names) if columns is None else _known("columns", columns, names)
    gone = [] if drop is None else _known("drop", drop, names)
    if also is not None and also in gone:
        raise DataError(f"the column {also!r} holds the weights, so it cannot be dropped.")
    kept = [name for name in wanted if name not in gone]
    if not [name for name in kept if name != also]:
        raise DataError("no column is left; choose one at least.")
    if also is not None and also in names and also not in kept:
        kept.append(also)
    places: dict[Hashable, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    return [place for name in dict.fromkeys(kept) for place in places[name]]


def _known(option: str, wanted: Wanted, names: Names) -> list[Hashable]:
    """Return names that are all there."""
    if isinstance(wanted, str):
        raise DataError(f"{option} is one text, {wanted!r}; pass a list of names, [{wanted!r}].")
    listed = list(wanted(names) if callable(wanted) else wanted)
    what = "read" if option == "columns" else "drop"
    for name in listed:
        if name not in names:
            raise DataError(
                f"there is no column {name!r} to {what}{suggestion(name, names) or '.'} The "
                f"columns are {listing(names)}."
            )
    return listed
