"""The states of a column as they are found: provisional codes in the order of first appearance."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.bins import cuts_of
from graftwork.data.columns import to_states, too_many_states
from graftwork.data.encode import MAX_STATES, Coded, infinity, small
from graftwork.data.foreign import text_of
from graftwork.data.scanning.batches import Batch, Indexed, indexed
from graftwork.data.scanning.options import ScanOptions
from graftwork.data.text import is_number
from graftwork.data.values import is_infinite, is_missing, key, plain, prefers
from graftwork.errors import DataError
from graftwork.kernels.packing import first_rows, recode

Ints = NDArray[np.int64]
_NARROW = 1 << 8


class Book:
    """The values of one column so far, each with a provisional code; None is a missing cell."""

    def __init__(self, name: Hashable, options: ScanOptions) -> None:
        self.name = name
        self.values: list[Any] = []
        self.firsts: list[int] = []
        self.codes: dict[Any, int] = {}
        self.rows: Ints = np.zeros(0, dtype=np.int64)
        self.sums = np.zeros(0)
        self.kind = self.type = self.where = ""
        self.categories: dict[Any, Any] | None = None
        self.declaring: bool | None = None
        self.ordered = False
        self.texts = False
        self.whole = False
        self._options = options
        self._dictionary: Any = None  # the last one, and its values' codes
        self._codes_of_dictionary: NDArray[np.int32] | None = None
        self._table: tuple[int, NDArray[np.int32]] | None = None  # codes of a range of integers
        self._only_integers = True
        self._gone: frozenset[str] = frozenset()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_dictionary": None, "_codes_of_dictionary": None, "_table": None}

    @property
    def declared(self) -> bool:
        """Whether types declare the states."""
        return bool(self.declaring)

    def add(self, column: Any, batch: Batch, start: int) -> NDArray[Any]:
        """Return the provisional codes of a batch's column; its first row has number `start`."""
        self.texts |= batch.texts
        self.whole |= self.name in batch.whole
        gaps = self._options.gaps
        self._gone = gaps(self.name) if batch.texts else gaps.more(self.name)
        found = self._in_bins(column, batch)
        if found is None:
            found = indexed(column, self.name, batch.place, by_range=self._only_integers)
        self._check_kind(found, batch)
        self._declare(found, batch)
        lookup = self._lookup(found)
        codes = self._recoded(found, lookup)
        if codes is None:
            self._learn(found, lookup, start, batch.place)
            codes = self._recoded(found, lookup)
        assert codes is not None
        return codes

    def _in_bins(self, column: Any, batch: Batch) -> Indexed | None:
        """Return numbers by the bins that are declared for them; None if it is not about these."""
        states = self._options.states.get(self.name, ())
        cuts = None if batch.texts else cuts_of(states)
        if cuts is None or self._gone:
            return None
        kind = str(getattr(column, "type", getattr(column, "dtype", "")))
        if not kind.startswith(("float", "double", "int", "uint")):
            return None
        if hasattr(column, "to_numpy"):
            column = column.to_numpy(zero_copy_only=False)
        if column.dtype.kind not in "iuf":
            return None
        numbers = column.astype(np.float64)
        if np.isinf(numbers).any():
            raise infinity(self.name, batch.place(int(np.argmax(np.isinf(numbers)))))
        index = np.searchsorted(np.array(cuts), numbers).astype(np.int32)
        index[np.isnan(numbers)] = len(cuts) + 1
        return Indexed(index, states[: len(cuts) + 1], 0, "numbers", kind)

    def _recoded(self, found: Indexed, lookup: NDArray[np.int32]) -> NDArray[Any] | None:
        """Return codes, or None if values occur that have none."""
        if len(self.values) <= _NARROW:
            out = np.empty(len(found.index), dtype=np.uint8)
            return out if recode(found.index, found.low, lookup, out) >= 0 else None
        codes = lookup[found.index - found.low]
        return None if len(codes) and codes.min() < 0 else small(codes, len(self.values))

    def _lookup(self, found: Indexed) -> NDArray[np.int32]:
        """Return the codes of a batch's values, and of a missing cell; -1 where there is none."""
        if isinstance(found.values, range):
            inner = self._of_range(found.values)
        elif found.source is not None:
            inner = self._of_dictionary(found.source)
        else:
            inner = self._of_values(found.values)
        return np.append(inner, np.int32(self.codes.get(None, -1)))

    def _of_range(self, values: range) -> NDArray[np.int32]:
        if self._table is None:
            self._table = values[0], np.full(len(values), -1, dtype=np.int32)
        low, table = self._table
        if values[0] < low or values[-1] >= low + len(table):
            first, last = min(low, values[0]), max(low + len(table) - 1, values[-1])
            if last - first >= 1 << 20:
                first, last = values[0], values[-1]
            low, table = first, np.full(last - first + 1, -1, dtype=np.int32)
            for value, code in self.codes.items():
                if type(value) is int and first <= value <= last:
                    table[value - first] = code
            self._table = low, table
        if self._gone:
            return self._of_values(values)
        return table[values[0] - low : values[-1] + 1 - low]

    def _of_dictionary(self, dictionary: Any) -> NDArray[np.int32]:
        if self._dictionary is None or not dictionary.equals(self._dictionary):
            self._codes_of_dictionary = self._of_values(dictionary.to_pylist())
            self._dictionary = dictionary
        assert self._codes_of_dictionary is not None
        return self._codes_of_dictionary

    def _of_values(self, values: Any) -> NDArray[np.int32]:
        known = self.codes
        if not self._gone and self._are_simple(values):
            found = map(known.get, values, repeat(-1))
            return np.fromiter(found, dtype=np.int32, count=len(values))
        out = np.empty(len(values), dtype=np.int32)
        for k, value in enumerate(values):
            own = self._normal(value)
            code = out[k] = known.get(key(own), -1)
            if code >= 0 and type(own) is not type(self.values[code]):
                self._prefer(own, code)
        return out

    def _are_simple(self, values: Any) -> bool:
        """Return whether values are states as they are, and no others stand for them better."""
        kinds = set(map(type, values))
        if kinds == {float}:
            return all(value == value for value in values)
        return kinds == {str} or (kinds == {int} and self._only_integers)

    def _normal(self, value: Any) -> Any:
        """Return a cell's value as a state; None if it is missing."""
        value = plain(value)
        if value is None or is_missing(value):
            return None
        return None if self._gone and text_of(value) in self._gone else value

    def _prefer(self, value: Any, code: int) -> None:
        if prefers(value, self.values[code]):
            self.values[code] = value

    def _learn(
        self,
        found: Indexed,
        lookup: NDArray[np.int32],
        start: int,
        place: Callable[[int], str],
    ) -> None:
        """Give codes to values that occur and have none, and write them into `lookup`."""
        first = first_rows(found.index, found.low, lookup)
        new = np.flatnonzero(first >= 0)
        new = new[np.argsort(first[new], kind="stable")]
        values = found.values if found.source is None else found.source.to_pylist()
        last, news, rows = len(lookup) - 1, [], []
        for k in new.tolist():
            value = self._normal(values[k]) if k < last else None
            code = self.codes.get(key(value))
            if code is None:
                code = self.codes[key(value)] = len(self.values)
                self.values.append(value)
                self.firsts.append(start + int(first[k]))
                news.append(value)
                rows.append(int(first[k]))
            lookup[k] = code
            if k < last and self._table is not None and isinstance(values, range):
                self._table[1][values[k] - self._table[0]] = code
        if found.source is not None:
            self._codes_of_dictionary = lookup[:-1].copy()
        self._check_new(news, rows, place)

    def _check_new(self, values: list[Any], rows: list[int], place: Callable[[int], str]) -> None:
        """Raise if new values cannot be states, or are too many."""
        present = [
            (value, row) for value, row in zip(values, rows, strict=True) if value is not None
        ]
        for value, row in present:
            if is_infinite(value):
                raise infinity(self.name, place(row))
            if type(value) is not int:
                self._only_integers = False
        states = self._options.states.get(self.name)
        if (
            states is not None
            and present
            and not (self.texts and self._options.converts(self.name))
        ):
            new = tuple(value for value, _ in present)
            at = [row for _, row in present]
            coded = Coded(np.arange(len(new)), new)
            to_states(coded, states, self.name, lambda k: place(at[k]))
        self.check_number()

    def check_number(self) -> None:
        """Raise if there are too many values to keep; return None."""
        if len(self.values) <= MAX_STATES:
            return
        last, count = self.values[-1], len(self.values) - (None in self.codes)
        numbers = isinstance(last, int | float) or (self.texts and is_number(str(last)))
        if not (numbers and self._options.is_binned(self.name)):
            if count > MAX_STATES:
                raise too_many_states(self.name, f"more than {MAX_STATES:,} distinct values")
        elif count > self._options.most_numbers:
            raise DataError(
                f"column {self.name!r} has more than {self._options.most_numbers:,} distinct "
                "numbers, too many to choose bins from; round them, define the bins (states="
                f"{{{self.name!r}: ['<= 1', '(1, 2]', '> 2']}}), increase the memory, or drop "
                f"the column (drop={[self.name]!r})."
            )

    def _check_kind(self, found: Indexed, batch: Batch) -> None:
        """Raise if a column holds something else than before."""
        if not found.kind or not batch.n_rows:
            return
        if not self.kind:
            self.kind, self.type, self.where = found.kind, found.type, batch.place.label
        elif found.kind != self.kind:
            raise other_kind(self, found.kind, found.type, batch.place.label)

    def _declare(self, found: Indexed, batch: Batch) -> None:
        """Note the states that a type declares, or that it declares none."""
        if not found.declared or self.name in batch.undeclared:
            if batch.n_rows and (found.kind or len(found.values) or found.source is not None):
                self.declaring = False
            return
        if self.declaring is False:
            return
        if self._dictionary is not None and self._dictionary.equals(found.source):
            return
        listed = found.values if found.source is None else found.source.to_pylist()
        values = [value for value in map(self._normal, listed) if value is not None]
        ordered = found.ordered and self.name not in batch.unordered
        self.declare({key(value): value for value in values}, ordered, batch.place.label)

    def declare(self, new: dict[Any, Any], ordered: bool, where: str) -> None:
        """Add states that a type declares; `where` says where."""
        known = self.categories or {}
        shorter, longer = sorted((list(known), list(new)), key=len)
        if ordered and known and longer[: len(shorter)] != shorter:
            raise DataError(
                f"{where}: column {self.name!r} is an ordered category whose order is "
                f"{list(new.values())!r} here but {list(known.values())!r} in earlier files; use "
                "the same categories in all files, or declare them (states=...)."
            )
        self.ordered = ordered and (self.ordered or self.declaring is None)
        self.categories = {**known, **new}
        self.declaring = True

    def declare_as(self, other: Book) -> None:
        """Note what types declare in another piece."""
        if other.declaring is None or self.declaring is False:
            return
        if other.declaring:
            self.declare(other.categories or {}, other.ordered, other.where)
        else:
            self.declaring = False

    def count(self, rows: Ints) -> None:
        """Add how many rows of a part each code has."""
        self.rows = _grown(self.rows, len(rows))
        self.rows[: len(rows)] += rows

    def grown_sums(self) -> NDArray[np.float64]:
        """Return sums of weights, one for each code so far, to be added to."""
        self.sums = _grown(self.sums, len(self.values))
        return self.sums


def other_kind(book: Book, kind: str, text: str, where: str) -> DataError:
    """Return the error for a column that holds something else than in an earlier file or batch."""
    return DataError(
        f"{where}: column {book.name!r} holds {kind} ({text}), but {book.kind} ({book.type}) in "
        f"{book.where}; a column must have the same type in all files: convert it, or drop it "
        f"(drop={[book.name]!r})."
    )


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array with zeros behind it, if it is shorter."""
    if len(array) >= size:
        return array
    return np.append(array, np.zeros(size - len(array), dtype=array.dtype))
