"""From a container's columns to a Table: every check that does not depend on the container."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graftwork.data.answer_codes import code_states, written
from graftwork.data.bins import Bins, bin_of, binned, check_binned_names, counts_rows
from graftwork.data.encode import MAX_STATES, Coded, checked_weights, encode, infinity, small
from graftwork.data.missing import MISSING_STATE, RECOMMENDED, Missing, advice, settle
from graftwork.data.scores import Ordered
from graftwork.data.table import Table
from graftwork.data.values import is_infinite, is_missing, key, listing, plain, suggestion
from graftwork.errors import DataError, DataWarning

#: What becomes of cells whose state a model does not have; "offer": an error that says how else.
Unseen = Literal["error", "offer", "ignore"]
_MANY = 100
_BINNING = "bins=7 groups numbers into 7 ordered bins, in MarkovNetwork as in read_table"


def by_row(row: int) -> str:
    """Return the words for a row of something in memory.

    Examples
    --------
    >>> by_row(0)
    'row 0'
    """
    return f"row {row}"


@dataclass(frozen=True, slots=True, eq=False)
class Raw:
    """A container taken apart into columns that are not encoded yet."""

    names: tuple[Hashable, ...]
    n_rows: int
    column: Callable[[int], Any]
    named: bool
    place: Callable[[int], str] = by_row
    remedy: str = field(default=RECOMMENDED)
    notes: tuple[str, ...] = ()


def clean_names(names: Iterable[Any], *, prefix: str = "") -> tuple[Hashable, ...]:
    """Return column names as Python values.

    Examples
    --------
    >>> clean_names(["a", 0])
    ('a', 0)
    """
    if isinstance(names, str):
        raise DataError(f"{prefix}names is one text, {names!r}; pass a list of names.")
    listed = tuple(plain(name) for name in names)
    try:
        twice = [name for name, times in Counter(listed).items() if times > 1]
    except TypeError as error:
        raise DataError(f"{prefix}column names must be hashable: {listing(listed)}.") from error
    if twice:
        raise DataError(
            f"{prefix}column names occur more than once: {listing(twice)}; rename them first."
        )
    if any(is_missing(name) for name in listed):
        raise DataError(f"{prefix}a column has no name (None or NaN); name it first.")
    return listed


def check_shape(n_rows: int, n_variables: int, *, prefix: str = "") -> None:
    """Raise if there is nothing to learn from; return None otherwise.

    Examples
    --------
    >>> check_shape(3, 2)
    """
    shape = f"(shape=({n_rows}, {n_variables})) while a minimum of 1 is required"
    if n_variables == 0:
        raise DataError(f"{prefix}the table has no columns: found 0 feature(s) {shape}.")
    if n_rows == 0:
        raise DataError(f"{prefix}the table has no rows: found 0 sample(s) {shape}.")


def assemble(
    raw: Raw,
    *,
    states: Mapping[Any, Iterable[Any]] | None = None,
    weights: ArrayLike | None = None,
    missing: Missing = "error",
    bins: Bins | None = None,
    unseen: Unseen = "error",
    absent: Hashable | None = None,
) -> Table:
    """Return the Table of a container that was taken apart.

    `states` are used for some columns, in that order. `bins` is as in `as_table`. With
    ``missing="state"`` missing cells become a last state of their own, with "known" that state
    where it is declared. With ``unseen="ignore"`` so are cells in none of the `states`, and those
    of the column `absent`, which need not be there, anyway.

    Examples
    --------
    >>> assemble(Raw(("a",), 2, lambda j: ["x", "y"], True)).codes.tolist()
    [[0, 1]]
    """
    names = clean_names(raw.names)
    check_shape(raw.n_rows, len(names))
    wanted = declared_by_name(states, names)
    check_binned_names(bins, names, wanted)
    given = None if weights is None else checked_weights(weights, raw.n_rows)
    columns, counting, notes = [], [], list(raw.notes)
    for j, name in enumerate(names):
        coded = encode(raw.column(j), name, raw.place)
        if name in wanted:
            own: Unseen = "ignore" if absent is not None and name == absent else unseen
            coded = to_states(coded, wanted[name], name, raw.place, own)
        check_finite(coded, name, raw.place)
        if bins is not None and name not in wanted:
            if not isinstance(bins, Mapping) and counts_rows(coded):
                counting.append(name)
            fine, coded = coded, binned(coded, name, bins, given)
            notes += [] if coded is fine else notes_on_codes(fine, name)
        columns.append(settle(coded, name, missing, raw.place))
    _check_missing(columns, names, raw)
    check_counts(columns, names, raw.n_rows)
    warn_of_counting(counting)
    wide = max(len(coded.states) for coded in columns) > 1 << 8
    codes = np.empty((len(names), raw.n_rows), dtype=np.uint16 if wide else np.uint8)
    for j, coded in enumerate(columns):
        codes[j] = coded.codes
    listed = tuple(coded.states for coded in columns)
    return Table(names, listed, codes, given, order_of(columns, names), tuple(notes))


def order_of(columns: Sequence[Coded], names: Sequence[Hashable]) -> Ordered | None:
    """Return which columns are ordered, by the order of their states; None if none is."""
    ordered = {
        name: [state for state in coded.states if state != MISSING_STATE]
        for name, coded in zip(names, columns, strict=True)
        if coded.ordered
    }
    return Ordered.by_rank(ordered) if ordered else None


def warn_of_counting(names: Sequence[Hashable]) -> None:
    """Warn of columns that look like row numbers, if there are any; return None.

    Examples
    --------
    >>> warn_of_counting([])
    """
    if names:
        warnings.warn(
            f"{listing(names)}: another whole number in every row, as row numbers and "
            f"identifiers have; leave out what is one (drop={list(names)!r} when a file is read).",
            DataWarning,
            stacklevel=level_of_caller(),
        )


def notes_on_codes(coded: Coded, name: Hashable) -> list[str]:
    """Return what to do about numbers in bins that look like codes of missing answers.

    Examples
    --------
    >>> notes_on_codes(Coded(np.array([0, 1]), (1, 2)), "a")
    []
    """
    seen = [coded.states[k] for k in np.unique(coded.codes).tolist()]
    gone = code_states([state for state in seen if isinstance(state, int | float)])
    if not gone:
        return []
    texts = [written(code) for code in gone]
    one, option = len(gone) == 1, {name: texts}
    return [
        f"Column {name!r} has {', '.join(texts)} among its numbers, which "
        f"{'looks like no answer' if one else 'look like no answers'}, and "
        f"{'is' if one else 'are'} in its lowest or highest bin: if "
        f"{'it means a missing cell' if one else 'they mean missing cells'}, "
        f"missing_values={option!r} says so when a file is read (in a frame, put NaN there)."
    ]


def declared_by_name(
    states: Mapping[Any, Iterable[Any]] | None, names: Sequence[Hashable]
) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the declared states by column name, checked.

    Examples
    --------
    >>> declared_by_name({"a": [0, 1]}, ["a", "b"])
    {'a': (0, 1)}
    """
    if states is None:
        return {}
    if not isinstance(states, Mapping):
        raise DataError(
            "states must be a mapping from column name to its states, "
            f"not a {type(states).__name__}, e.g. states={{{names[0]!r}: [0, 1]}}."
        )
    known = set(names)
    for name in states:
        if name not in known:
            raise DataError(
                f"states names {name!r}, which is not a column{suggestion(name, names) or '.'} "
                f"The columns are {listing(names)}."
            )
    return {name: _declared_states(listed, name) for name, listed in states.items()}


def _declared_states(states: Iterable[Any], name: Hashable) -> tuple[Hashable, ...]:
    """Return the states listed for a variable as Python values, or refuse the list."""
    if isinstance(states, str | bytes):
        raise DataError(f"the states of {name!r} are one text, {states!r}; pass a list of states.")
    if not isinstance(states, Iterable):
        raise DataError(f"the states of {name!r} are {states!r}; pass a list of states.")
    listed = tuple(plain(state) for state in states)
    seen: set[Any] = set()
    for state in listed:
        if is_missing(state):
            raise DataError(f"the states declared for {name!r} hold a missing value (NaN).")
        try:
            twice = key(state) in seen
        except TypeError as error:
            raise DataError(f"{name!r}: the state {state!r} is not hashable.") from error
        if twice:
            raise DataError(f"the state {state!r} is declared twice for {name!r}.")
        seen.add(key(state))
    if not listed:
        raise DataError(f"no states are declared for {name!r}; list at least one.")
    return listed


def to_states(
    coded: Coded,
    states: tuple[Hashable, ...],
    name: Hashable,
    place: Callable[[int], str],
    unseen: Unseen = "error",
) -> Coded:
    """Return a column coded by the states given rather than by those found.

    Numbers match by value (1.0 finds 1); a bool finds 0 or 1, and 0 or 1 a bool, if there is no
    exact match. Text never matches a number, but a number finds the bin it is in. A state that is
    not among `states` is refused, or (``unseen="ignore"``) missing.

    Examples
    --------
    >>> to_states(Coded(np.array([0, 1]), (1.0, 2.0)), (2, 1, 0), "a", str).codes.tolist()
    [1, 0]
    """
    position = {key(state): code for code, state in enumerate(states)}
    # Setting these last keeps exact matches first.
    for state, code in [(state, code) for code, state in enumerate(states)]:
        if isinstance(state, bool):
            position.setdefault(int(state), code)
        elif isinstance(state, int | float) and state in (0, 1):
            position.setdefault(key(bool(state)), code)
    found = [
        position[key(state)] if key(state) in position else bin_of(state, states)
        for state in coded.states
    ]
    lookup = np.array([*found, 0], dtype=np.int64)
    missing = coded.missing
    if min(found, default=0) < 0:
        if unseen != "ignore":
            _check_known(coded, lookup, states, name, place, unseen)
        else:
            gone = lookup[coded.codes] < 0
            missing = gone if missing is None else gone | missing
        lookup = np.maximum(lookup, 0)
    codes = small(lookup, len(states))[coded.codes]
    return Coded(codes, states, missing, declared=True, ordered=coded.ordered)


def _check_known(
    coded: Coded,
    lookup: NDArray[np.int64],
    states: tuple[Hashable, ...],
    name: Hashable,
    place: Callable[[int], str],
    unseen: Unseen,
) -> None:
    """Raise if a cell that is not missing holds a state that is not among `states`."""
    unknown = lookup[coded.codes] < 0
    if coded.missing is not None:
        unknown &= ~coded.missing
    if not unknown.any():
        return
    row = int(np.argmax(unknown))
    state = coded.states[int(coded.codes[row])]
    listed = [each for each in states if each != MISSING_STATE]
    last = f"declare the state with states={{{name!r}: [...]}}"
    if unseen == "offer":
        last += " when the network is learned, or take such cells as missing with unseen='ignore'"
    raise DataError(
        f"column {name!r}, {place(row)}: the state {state!r} is not one of its {len(listed)} "
        f"known states ({listing(listed)}){suggestion(state, listed) or '.'} "
        f"Correct the cell, drop that row, or {last}."
    )


def check_finite(coded: Coded, name: Hashable, place: Callable[[int], str]) -> None:
    """Raise if an infinite state occurs; declared but unused ones pass.

    Examples
    --------
    >>> check_finite(Coded(np.array([0, 0]), (1.0, float("inf"))), "a", str)
    """
    for code, state in enumerate(coded.states):
        if is_infinite(state):
            rows = np.flatnonzero(coded.codes == code)
            if len(rows):
                raise infinity(name, place(int(rows[0])))


def _check_missing(columns: Sequence[Coded], names: Sequence[Hashable], raw: Raw) -> None:
    """Raise if a cell is missing, with where the first is and how many there are."""
    holes = [(name, c.missing) for name, c in zip(names, columns, strict=True)]
    counts = [(name, hole, int(hole.sum())) for name, hole in holes if hole is not None]
    if not counts:
        return
    gaps = {name: count for name, _, count in counts}
    rows = [int(np.argmax(hole)) for _, hole, _ in counts]
    row = min(rows)
    first = counts[rows.index(row)][0]
    raise missing_cells_error(gaps, raw.n_rows, raw.place(row), raw.remedy, first)


def missing_cells_error(
    gaps: Mapping[Hashable, int],
    n_rows: int,
    where: str,
    remedy: str = RECOMMENDED,
    first: Hashable | None = None,
) -> DataError:
    """Return the error for missing cells.

    `gaps` has how many each column has, `where` says where the first of all is, in the column
    `first`; without it, where the first one of the first column with any is.

    Examples
    --------
    >>> print(missing_cells_error({"a": 3}, 100, "row 7", "drop them"))
    Input contains NaN or other missing cells: 3 in 1 column, the first in column 'a', row 7; drop
    them.
    """
    named = next(iter(gaps)) if first is None else first
    spot = f"the first in column {named!r}, {where}"
    if first is None and len(gaps) > 1:
        spot = f"column {named!r} has its first in {where}"
    told = remedy.replace(RECOMMENDED, advice(gaps, n_rows))
    return DataError(
        f"Input contains NaN or other missing cells: {sum(gaps.values()):,} in {len(gaps)} "
        f"column{'s' if len(gaps) > 1 else ''}, {spot}; {told}."
    )


def check_counts(columns: Sequence[Coded], names: Sequence[Hashable], n_rows: int) -> None:
    """Raise if a column has too many states; warn if some look continuous; return None.

    Examples
    --------
    >>> check_counts([Coded(np.array([0, 1]), (1, 2))], ["a"], 2)
    """
    continuous = []
    for name, coded in zip(names, columns, strict=True):
        count = len(coded.states)
        if count > MAX_STATES:
            raise too_many_states(name, f"{count:,} distinct states, more than {MAX_STATES:,}")
        if count > _MANY and not coded.declared and _looks_continuous(coded, n_rows):
            continuous.append((name, count))
    if continuous:
        name, count = continuous[0]
        others = [other for other, _ in continuous[1:]]
        also = f" (so do {listing(others)})" if others else ""
        warnings.warn(
            f"column {name!r} looks continuous: {count:,} distinct numbers, each taken as a "
            f"state of its own{also}; {_BINNING}.",
            DataWarning,
            stacklevel=level_of_caller(),
        )


def too_many_states(name: Hashable, how_many: str) -> DataError:
    """Return the error for a column of too many states.

    Examples
    --------
    >>> print(too_many_states("a", "70,000 distinct states, more than 65,535"))
    column 'a' has 70,000 distinct states, more than 65,535; if it is a number, bins=7 groups ...
    """
    return DataError(
        f"column {name!r} has {how_many}; if it is a number, {_BINNING}; if it is an identifier, "
        f"leave it out (read_table has drop={[name]!r}, frames df.drop(columns=...))."
    )


def _looks_continuous(coded: Coded, n_rows: int) -> bool:
    """Return whether states are floats that are not whole, or differ in most rows."""
    floats = [state for state in coded.states if isinstance(state, float)]
    broken = any(not value.is_integer() for value in floats)
    return broken or (bool(floats) and 2 * len(coded.states) > n_rows)


def level_of_caller() -> int:
    """Return the stacklevel at which a warning points at the user's line, not at ours."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals["__name__"]).startswith("graftwork."):
        level, frame = level + 1, frame.f_back
    return level
