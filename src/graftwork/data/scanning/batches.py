"""Batches of rows, and each of their columns as places in a list of values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encode import Coded, encode
from graftwork.data.scanning.arrow import arrow
from graftwork.data.scanning.places import Place

# A wider range of integers is looked up by value.
_RANGE = 1 << 16


class Columns:
    """Columns that are made one at a time, when they are asked for."""

    def __init__(self, count: int, column: Callable[[int], Any]) -> None:
        self._count = count
        self._column = column

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: int) -> Any:
        return self._column(at % self._count)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows of a source."""

    names: tuple[Hashable, ...]  # the columns
    columns: Sequence[Any] | Columns  # their cells: Arrow arrays, Coded, NumPy arrays or lists
    n_rows: int
    place: Place  # where they are
    texts: bool = False  # whether they are texts of a file that may stand for numbers and bools
    whole: frozenset[Hashable] = frozenset()  # columns whose floats are integers if all are whole
    # columns whose Arrow dictionaries declare no states
    undeclared: frozenset[Hashable] = frozenset()
    # columns whose Arrow dictionaries declare states, but no order
    unordered: frozenset[Hashable] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Indexed:
    """A column as places in a list of values."""

    # ``values[index - low]`` is a cell; it is missing if that is ``len(values)``
    index: NDArray[Any]
    # values, some of which may not occur: a range, or a list; empty if there is a `source`
    values: Sequence[Any]
    low: int = 0
    kind: str = ""  # what it holds, in a word, if that must be the same in all batches
    type: str = ""  # the type that says so
    # declared, ordered: whether the values are all states there are, in their order
    declared: bool = False
    ordered: bool = False
    source: Any = None  # the dictionary that the values are of


def indexed(column: Any, name: Hashable, place: Place, *, by_range: bool = True) -> Indexed:
    """Return a column of a batch as places in a list of values.

    Short ranges of integers are left as they are, unless `by_range` is False: the values are those
    that occur then.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = indexed(pa.array(["b", "a", None, "b"]), "x", Place("t"))
    >>> found.index.tolist(), found.source.to_pylist()
    ([0, 1, 2, 0], ['b', 'a'])
    >>> indexed(pa.array([3, 5, 3]), "x", Place("t")).values
    range(3, 6)
    """
    pa = arrow()
    if isinstance(column, pa.Array):
        return _of_arrow(column, name, place, by_range)
    coded = encode(column, name, place)
    index = coded.codes.astype(np.int32)
    if coded.missing is not None:
        index[coded.missing] = len(coded.states)
    kind, text = _kind_of_cells(column, coded)
    if coded.missing is not None and coded.missing.all():
        kind = ""
    return Indexed(index, coded.states, 0, kind, text, coded.declared, coded.ordered)


def _kind_of_cells(column: Any, coded: Coded) -> tuple[str, str]:
    """Return what a column that is no Arrow array holds; nothing where it may hold anything."""
    if isinstance(column, np.ndarray):
        known = {"i": "numbers", "u": "numbers", "f": "numbers", "b": "bools"}
        return known.get(column.dtype.kind, ""), str(column.dtype)
    if isinstance(column, Coded) and all(isinstance(state, str) for state in coded.states):
        return "texts", "text"
    return "", ""


def _of_arrow(column: Any, name: Hashable, place: Place, by_range: bool) -> Indexed:
    """Return an Arrow array as places in a list of values."""
    pa = arrow()
    kind, text = ("", "") if column.null_count == len(column) else kind_of(column.type)
    if pa.types.is_dictionary(column.type):
        ordered = bool(column.type.ordered)
        return _of_dictionary(column, kind, text, declared=True, ordered=ordered)
    if pa.types.is_null(column.type):
        return Indexed(np.zeros(len(column), dtype=np.int32), [])
    if pa.types.is_boolean(column.type):
        cells = column.cast(pa.uint8()).fill_null(2).to_numpy(zero_copy_only=False)
        return Indexed(cells.astype(np.int32), [False, True], 0, kind, text)
    if pa.types.is_integer(column.type) and by_range:
        found = _of_integers(column, kind, text)
        if found is not None:
            return found
    if _is_view(column.type):
        column = column.cast(pa.large_string())
    elif pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    if pa.types.is_nested(column.type):
        coded = encode(column.to_pylist(), name, place)
        index = coded.codes.astype(np.int32)
        if coded.missing is not None:
            index[coded.missing] = len(coded.states)
        return Indexed(index, coded.states, 0, kind, text)
    return _of_dictionary(column.dictionary_encode(), kind, text)


def _of_dictionary(
    column: Any, kind: str, text: str, *, declared: bool = False, ordered: bool = False
) -> Indexed:
    """Return an Arrow dictionary array as places in its dictionary."""
    pa = arrow()
    indices = column.indices
    if indices.type != pa.int32():
        indices = indices.cast(pa.int32())
    if indices.null_count:
        indices = indices.fill_null(len(column.dictionary))
    index = indices.to_numpy(zero_copy_only=False)
    return Indexed(index, (), 0, kind, text, declared, ordered, column.dictionary)


def _of_integers(column: Any, kind: str, text: str) -> Indexed | None:
    """Return Arrow integers as places in their range; None if that is too wide."""
    pa = arrow()
    import pyarrow.compute as pc

    if column.null_count == len(column):
        return Indexed(np.zeros(len(column), dtype=np.int32), [])
    if column.type == pa.uint64() and pc.max(column).as_py() >= 1 << 63:
        return None
    if column.type != pa.int64():
        column = column.cast(pa.int64())
    if column.null_count:
        ends = pc.min_max(column)
        low, high = ends["min"].as_py(), ends["max"].as_py()
    else:
        cells = column.to_numpy()
        low, high = int(cells.min()), int(cells.max())
    if high - low >= _RANGE:
        return None
    values = range(low, high + 1)
    if not column.null_count:
        return Indexed(cells, values, low, kind, text)
    gone = column.is_null().to_numpy(zero_copy_only=False)
    index = column.fill_null(low).to_numpy() - low
    index[gone] = len(values)
    return Indexed(index, values, 0, kind, text)


def _is_view(kind: Any) -> bool:
    types = arrow().types
    return hasattr(types, "is_string_view") and bool(types.is_string_view(kind))


def kind_of(kind: Any) -> tuple[str, str]:
    """Return what an Arrow type holds, in a word, and the type as text.

    Types of one kind may stand in one column; a column without values has none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> kind_of(pa.int8()), kind_of(pa.dictionary(pa.int8(), pa.string()))[0], kind_of(pa.null())
    (('numbers', 'int8'), 'texts', ('', 'null'))
    """
    types, text = arrow().types, str(kind)
    if types.is_dictionary(kind):
        return kind_of(kind.value_type)
    tests: Iterable[tuple[str, Any]] = (
        ("", types.is_null),
        ("bools", types.is_boolean),
        ("numbers", types.is_integer),
        ("numbers", types.is_floating),
        ("numbers", types.is_decimal),
        ("texts", types.is_string),
        ("texts", types.is_large_string),
        ("texts", _is_view),
        ("dates", types.is_date),
        ("times", types.is_timestamp),
        ("times of day", types.is_time),
        ("durations", types.is_duration),
    )
    return next((word for word, test in tests if test(kind)), text), text
