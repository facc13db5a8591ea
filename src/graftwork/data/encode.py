"""Codes, states and weights: a column in, codes and states out, and states as arrays again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.values import (
    in_order,
    is_missing,
    key,
    may_clash,
    plain,
    prefers,
)
from graftwork.errors import DataError

LARGEST_WEIGHT = 1e100
MAX_STATES = 65_535
_SIMPLE = {int: np.int64, float: np.float64, bool: np.bool_}
_BLOCK_ROWS = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """One column as codes into its states.

    Shapes: codes (n_rows,); missing (n_rows,), or None.
    """

    codes: NDArray[Any]
    states: tuple[Hashable, ...]
    missing: NDArray[np.bool_] | None = None
    declared: bool = False
    ordered: bool = False


def small(codes: NDArray[Any], n_states: int) -> NDArray[Any]:
    """Return codes in the smallest unsigned type that holds `n_states` states."""
    kind = np.uint8 if n_states <= 1 << 8 else np.uint16 if n_states <= 1 << 16 else np.uint32
    return codes.astype(kind, copy=False)


def encode(column: Any, name: Hashable, place: Callable[[int], str]) -> Coded:
    """Return a column as codes, whatever it came as.

    States are in natural order; a column that is coded already comes back as it is. ``place`` turns
    a row number into the words that say where that row is.
    """
    if isinstance(column, Coded):
        return column
    if not isinstance(column, np.ndarray):
        return _encode_objects(list(column), name, place)
    if isinstance(column, np.ma.MaskedArray):
        return _encode_masked(column, name, place)
    kind = column.dtype.kind
    if kind == "c":
        raise DataError(f"Complex data not supported: column {name!r} holds complex numbers.")
    if kind == "b" and column.size:
        return _shifted(column.astype(np.uint8), 0, 1, bool)
    if kind in "iu" and column.size:
        return _encode_integers(column)
    if kind == "f":
        return _encode_floats(column, name, place)
    cells = [plain(cell) for cell in column] if kind in "mM" else column.tolist()
    return _encode_objects(cells, name, place)


def encode_block(block: NDArray[Any]) -> list[Coded] | None:
    """Return every column of an integer or bool array at once, or None if its range is too wide.

    Examples
    --------
    >>> import numpy as np
    >>> [c.states for c in encode_block(np.array([[1, 7], [2, 7]]))]
    [(1, 2), (7,)]
    """
    kind: type = bool if block.dtype.kind == "b" else int
    if kind is bool:
        block = block.view(np.uint8)
    low, high = int(block.min()), int(block.max())
    if high - low > 255:
        return None
    n_rows, n_variables = block.shape
    offsets = np.empty((n_variables, n_rows), dtype=np.uint8)
    for start in range(0, n_rows, _BLOCK_ROWS):
        piece = block[start : start + _BLOCK_ROWS] - block.dtype.type(low)
        offsets[:, start : start + _BLOCK_ROWS] = piece.astype(np.uint8).T
    return [_shifted(row, low, high - low, kind) for row in offsets]


def _shifted(offsets: NDArray[Any], low: int, width: int, kind: type) -> Coded:
    """Return codes for integers given as their distance from the lowest, at most `width`."""
    present = np.bincount(offsets, minlength=width + 1) > 0
    found = np.flatnonzero(present)
    states = tuple(kind(low + value) for value in found.tolist())
    if len(found) != found[-1] + 1:
        offsets = small(np.cumsum(present) - 1, len(found))[offsets]
    return Coded(small(offsets, len(found)), states)


def _encode_integers(column: NDArray[Any]) -> Coded:
    """Return codes for integers: by counting where the range is short, by sorting elsewhere."""
    column = np.ascontiguousarray(column)  # one slow pass over a strided column instead of four
    low, high = int(column.min()), int(column.max())
    if high - low < max(1 << 16, 2 * column.size):
        # Subtracting in the column's own type may wrap; read as unsigned, the distance is right.
        distance = (column - column.dtype.type(low)).view(f"u{column.dtype.itemsize}")
        return _shifted(distance.astype(np.intp), low, high - low, int)
    values, codes = np.unique(column, return_inverse=True)
    return Coded(small(codes, len(values)), tuple(values.tolist()))


def _encode_floats(column: NDArray[Any], name: Hashable, place: Callable[[int], str]) -> Coded:
    """Return codes for floats; infinity is refused."""
    missing = np.isnan(column)
    infinite = np.isinf(column)
    if infinite.any():
        raise infinity(name, place(int(np.argmax(infinite))))
    column = column.astype(np.float64, copy=False)
    if not missing.any():
        values, codes = np.unique(column, return_inverse=True)
        return Coded(small(codes, len(values)), tuple(values.tolist()))
    values, present = np.unique(column[~missing], return_inverse=True)
    codes = np.zeros(len(column), dtype=np.int64)
    codes[~missing] = present
    return Coded(small(codes, len(values)), tuple(values.tolist()), missing)


def _encode_masked(column: Any, name: Hashable, place: Callable[[int], str]) -> Coded:
    """Return codes for a masked array; what lies under the mask plays no part."""
    hidden = np.ma.getmaskarray(column)
    rows = np.flatnonzero(~hidden)
    inner = encode(np.asarray(column.data)[rows], name, lambda row: place(int(rows[row])))
    codes, missing = np.zeros(len(column), dtype=np.int64), hidden.copy()
    codes[rows] = inner.codes
    if inner.missing is not None:
        missing[rows] |= inner.missing
    return Coded(small(codes, len(inner.states)), inner.states, missing if missing.any() else None)


def infinity(name: Hashable, where: str) -> DataError:
    """Return the error for an infinite cell."""
    return DataError(
        f"Input contains infinity (inf) in column {name!r}, {where}; "
        "replace it by a finite state or drop that row."
    )


def _encode_objects(cells: list[Any], name: Hashable, place: Callable[[int], str]) -> Coded:
    """Return codes for Python values: one dictionary look-up per cell."""
    clash = may_clash(set(map(type, cells)))
    keys = cells
    if clash:
        cells = [plain(cell) for cell in cells]
        keys = [key(cell) for cell in cells]
    try:
        book: dict[Any, Any] = dict.fromkeys(keys)
    except TypeError as error:
        raise _unhashable(cells, name, place) from error
    if clash:
        book = {}
        for each, cell in zip(keys, cells, strict=True):
            if each not in book or prefers(cell, book[each]):
                book[each] = cell
        found = list(book.values())
    else:
        found = list(book)
    for code, each in enumerate(book):
        book[each] = code
    codes = np.fromiter(map(book.__getitem__, keys), dtype=np.int64, count=len(keys))
    return arranged(codes, found)


def arranged(codes: NDArray[Any], found: Sequence[Any]) -> Coded:
    """Return a column whose states are put in natural order and whose missing cells are marked.

    Codes are positions in `found`, negative where a cell is missing; equal values are merged.

    Examples
    --------
    >>> import numpy as np
    >>> coded = arranged(np.array([0, 1, 2]), ["b", "a", None])
    >>> coded.codes.tolist(), coded.states, coded.missing.tolist()
    ([1, 0, 0], ('a', 'b'), [False, False, True])
    """
    values = [plain(value) for value in found]
    gone = np.fromiter(map(is_missing, values), dtype=np.bool_, count=len(values))
    present: dict[Any, Any] = {}
    for value, skip in zip(values, gone, strict=True):
        if not skip:
            present.setdefault(key(value), value)
    return relabelled(codes, values, gone, in_order(present.values()), declared=False)


def relabelled(
    codes: NDArray[Any],
    values: Sequence[Any],
    gone: NDArray[np.bool_],
    states: tuple[Hashable, ...],
    *,
    declared: bool,
) -> Coded:
    """Return a column whose codes point into `states` instead of into `values`.

    A negative code is a missing cell, and so is one whose value is gone; `states` hold every value
    that is not gone.
    """
    position = {key(state): code for code, state in enumerate(states)}
    # One more entry than values, so that code -1 finds an answer too.
    table = [0 if skip else position[key(v)] for v, skip in zip(values, gone, strict=True)]
    lookup = small(np.array([*table, 0]), len(states))
    absent = codes < 0
    if gone.any():
        absent |= np.append(gone, False)[codes]
    return Coded(lookup[codes], states, absent if absent.any() else None, declared)


def _unhashable(cells: Iterable[Any], name: Hashable, place: Callable[[int], str]) -> DataError:
    """Return the error that names the first cell that cannot be a state."""
    for row, cell in enumerate(cells):
        try:
            hash(cell)
        except TypeError:
            return DataError(
                f"column {name!r}, {place(row)}: a {type(cell).__name__} cannot be a state "
                "because it is not hashable; use text, numbers or tuples as cells."
            )
    return DataError(f"column {name!r}: some cells cannot be compared with each other.")


def palette(states: tuple[Hashable, ...]) -> NDArray[Any]:
    """Return the states as an array that codes can index.

    int64, float64 or bool if all are of that one type, otherwise objects.

    Examples
    --------
    >>> palette((0, 1)).dtype, palette(("a", 1)).dtype
    (dtype('int64'), dtype('O'))
    """
    kinds = {type(state) for state in states}
    simple = _SIMPLE.get(next(iter(kinds))) if len(kinds) == 1 else None
    if simple is not None:
        try:
            return np.array(states, dtype=simple)
        except OverflowError:  # an int beyond 64 bits
            pass
    out = np.empty(len(states), dtype=object)
    for code, state in enumerate(states):
        out[code] = state
    return out


def named_states(
    names: Any, states: Any
) -> tuple[tuple[Hashable, ...], tuple[tuple[Hashable, ...], ...]]:
    """Return names of variables and the states of each as Python values.

    Examples
    --------
    >>> named_states(["a"], [[0, 1]])
    (('a',), ((0, 1),))
    """
    try:
        found = tuple(plain(name) for name in names)
        hash(found)
        return found, tuple(tuple(plain(state) for state in listed) for listed in states)
    except TypeError as error:
        raise DataError(
            "names are a list of texts, numbers or tuples, and states a list of states for each."
        ) from error


def checked_codes(
    codes: Any, names: tuple[Hashable, ...], states: tuple[tuple[Hashable, ...], ...]
) -> NDArray[np.unsignedinteger[Any]]:
    """Return codes as a read-only array of the smallest type, not copied if it fits already.

    Examples
    --------
    >>> checked_codes([[0, 1]], ("a",), (("x", "y"),)).dtype
    dtype('uint8')
    """
    try:
        given = np.asarray(codes)
    except ValueError as error:
        raise DataError("codes must be one array; some rows of them are longer.") from error
    if given.ndim != 2 or given.shape[0] != len(names) or len(states) != len(names):
        raise DataError(
            f"{len(names)} names, {len(states)} lists of states and codes of shape {given.shape} "
            "do not fit together; codes must have shape (n_variables, n_rows)."
        )
    if given.size == 0:
        raise DataError(f"the table has no rows or no columns (shape {given.shape[::-1]}).")
    cards = np.array([len(listed) for listed in states])
    if cards.max() > MAX_STATES:
        name = names[int(np.argmax(cards))]
        raise DataError(f"column {name!r} has more than {MAX_STATES:,} states.")
    if given.dtype.kind not in "iu" or given.min() < 0 or (given.max(axis=1) >= cards).any():
        raise DataError("codes must be integers from 0 to one less than the number of states.")
    kind = np.uint8 if cards.max() <= 1 << 8 else np.uint16
    # A view, so that the caller's own array keeps its flags.
    out: NDArray[Any] = np.ascontiguousarray(given, dtype=kind).view()
    out.flags.writeable = False
    return out


def are_whole(weights: NDArray[np.float64]) -> bool:
    """Return whether all weights are whole numbers: then they count equal rows.

    Examples
    --------
    >>> are_whole(np.array([2.0, 0.0])), are_whole(np.array([2.0, 0.5]))
    (True, False)
    """
    return bool((weights == np.floor(weights)).all())


def squares_of(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squares of sampling weights.

    Examples
    --------
    >>> squares_of(np.array([2.0, 0.5])).tolist()
    [4.0, 0.25]
    """
    with np.errstate(over="ignore", under="ignore"):
        squares = np.asarray(weights**2)
        total = float(squares.sum())
    if not 1e-290 < total < 1e290:
        raise DataError(
            "the weights are too large or too small to be squared; divide all by their mean."
        )
    squares.flags.writeable = False
    return squares


def checked_weights(
    weights: Any, n_rows: int, *, owner: str = "the table", unit: str = "row"
) -> NDArray[np.float64]:
    """Return a read-only copy of row weights.

    ``owner`` has the weights, and each of them is for a ``unit``, in the words of errors.

    Examples
    --------
    >>> checked_weights([1, 2], 2).tolist()
    [1.0, 2.0]
    """
    try:
        given = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"weights must be numbers, one per {unit}.") from error
    except OverflowError as error:
        raise DataError(
            "a weight is too large for a float (1.8e308); divide all by one number."
        ) from error
    if given.shape != (n_rows,):
        raise DataError(
            f"weights have shape {given.shape}, but {owner} has {n_rows} {unit}s; "
            f"give one weight per {unit}."
        )
    check_each_weight(given, lambda row: f"{unit} {row}")
    if not (given > 0).any():
        raise DataError(f"all weights are zero; at least one {unit} must count.")
    given.flags.writeable = False
    return given


def check_each_weight(given: NDArray[np.float64], place: Callable[[int], str]) -> None:
    """Raise unless all weights are finite, not negative and not huge; return None.

    Examples
    --------
    >>> check_each_weight(np.array([1.0, -1.0]), lambda row: f"row {row}")
    Traceback (most recent call last):
    graftwork.errors.DataError: the weight of row 1 is negative (-1).
    """
    if not np.isfinite(given).all():
        row = int(np.argmin(np.isfinite(given)))
        raise DataError(f"the weight of {place(row)} is {given[row]} (NaN and inf are refused).")
    if (given < 0).any():
        row = int(np.argmax(given < 0))
        raise DataError(f"the weight of {place(row)} is negative ({given[row]:g}).")
    if (given > LARGEST_WEIGHT).any():
        row = int(np.argmax(given > LARGEST_WEIGHT))
        raise DataError(
            f"the weight of {place(row)} is {given[row]:g}, too large to add up; only ratios "
            "matter much: divide all weights by the largest."
        )
