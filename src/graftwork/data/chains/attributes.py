"""Attributes of positions: lists, dicts or matrices in, compressed rows (`Bags`) out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, count, repeat
from math import inf
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csr_array

from graftwork.data.values import in_order, listing, plain
from graftwork.errors import DataError

_LISTS = (list, tuple, Set)
_ITEMS = (*_LISTS, Mapping)
_SHOWN = 40
#: Types of values whose pairs with a key are spelled once; dicts are looked at by blocks, unless
#: they are few.
_PLAIN, _BLOCK, _FEW = {str, float, int, bool}, 4096, 256


@dataclass(frozen=True, slots=True, eq=False)
class Bags:
    """The attributes of each position.

    Shapes: indptr (n_positions + 1,); indices (nnz,); values (nnz,), or (0,) if all are 1.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    names: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The attributes of a model, in both directions: made once, since a model may have many."""

    names: tuple[Hashable, ...]
    numbers: Mapping[Any, int]

    @staticmethod
    def of(names: Iterable[Hashable]) -> Vocabulary:
        """Return the vocabulary of these names."""
        listed = tuple(names)
        return Vocabulary(listed, {name: number for number, name in enumerate(listed)})


def joined(parts: Sequence[Bags], names: tuple[Hashable, ...]) -> Bags:
    """Return the bags of several parts as one; they share the numbers of these names."""
    ends, counts = 0, [np.zeros(1, dtype=np.int64)]
    for part in parts:
        counts.append(part.indptr[1:] + ends)
        ends += int(part.indptr[-1])
    indices = np.concatenate([np.zeros(0, dtype=np.int32), *(part.indices for part in parts)])
    values = np.empty(0)
    if any(part.values.size for part in parts):
        values = np.concatenate(
            [part.values if part.values.size else np.ones(part.indices.size) for part in parts]
        )
    return Bags(np.concatenate(counts), indices, values, names)


def position_of(indptr: NDArray[np.int64], entry: int) -> int:
    """Return the position that an entry belongs to.

    Examples
    --------
    >>> position_of(np.array([0, 2, 2, 5]), 2)
    2
    """
    return int(np.searchsorted(indptr, entry, side="right")) - 1


def settled(bags: Bags) -> Bags:
    """Return bags without left-out entries, repeated attributes of a position added up.

    Values are empty if all are 1.
    """
    bags = _kept(bags, bags.indices >= 0)
    if _repeats(bags):
        bags = _merged(bags)
    if bags.values.size and (bags.values == 1).all():
        bags = replace(bags, values=np.empty(0))
    return bags


def _repeats(bags: Bags) -> bool:
    """Return whether some attribute occurs twice at one position."""
    counted = np.ones(len(bags.indices), dtype=np.int8), bags.indices.copy(), bags.indptr
    rows = csr_array(counted, shape=(len(bags.indptr) - 1, len(bags.names)))
    rows.sort_indices()
    return not rows.has_canonical_format


def renumbered(bags: Bags, known: Vocabulary) -> Bags:
    """Return bags whose attributes are numbered as in a model; those it does not know are -1.

    Examples
    --------
    >>> bags = Bags(np.array([0, 2]), np.array([0, 1], dtype=np.int32), np.ones(0), ("a", "b"))
    >>> renumbered(bags, Vocabulary.of(["b"])).indices
    array([-1,  0], dtype=int32)
    """
    if bags.names is known.names:
        return bags
    numbers = np.array([known.numbers.get(name, -1) for name in bags.names], dtype=np.int32)
    return replace(bags, indices=numbers[bags.indices], names=known.names)


def _kept(bags: Bags, wanted: NDArray[np.bool_]) -> Bags:
    """Return bags with the wanted entries only."""
    if wanted.all():
        return bags
    before = np.concatenate([[0], np.cumsum(wanted)])
    return Bags(
        before[bags.indptr],
        bags.indices[wanted],
        bags.values[wanted] if bags.values.size else bags.values,
        bags.names,
    )


def _merged(bags: Bags) -> Bags:
    """Return bags in which every attribute occurs once at a position, repeated ones added up."""
    values = bags.values if bags.values.size else np.ones(bags.indices.size)
    shape = bags.indptr.size - 1, len(bags.names)
    # A copy, since the arrays may be those of the caller's own matrix.
    rows = sparse.csr_array((values, bags.indices, bags.indptr), shape=shape, copy=True)
    rows.sum_duplicates()
    return Bags(
        rows.indptr.astype(np.int64, copy=False),
        rows.indices.astype(np.int32, copy=False),
        rows.data,
        bags.names,
    )


#: Numbers of attributes by name, in order of first appearance: a missing name takes the next one.
Book = defaultdict[Any, int]


def new_book() -> Book:
    """Return a book without any name.

    Examples
    --------
    >>> book = new_book()
    >>> book["w=the"], book["w=dog"], book["w=the"]
    (0, 1, 0)
    """
    return defaultdict(count().__next__)


def bags_of_items(
    items: Sequence[Any],
    place: Callable[[int], str],
    known: Vocabulary | None = None,
    book: Book | None = None,
) -> Bags:
    """Return the attributes of lists, tuples, sets and dicts, not settled.

    They are numbered in order of first appearance, or as in `known`, with -1 for others. Sets are
    read in their natural order, so that numbers do not depend on how Python happened to store
    them. ``place`` turns a position into the words that say where it is. Items in several parts
    share a book, which has their names in the end: those of these bags are empty then.
    """
    kinds = set(map(type, items))
    if not all(issubclass(kind, _ITEMS) for kind in kinds):
        raise _not_an_item(items, place)
    if any(issubclass(kind, Set) for kind in kinds):
        items = [in_order(item) if isinstance(item, Set) else item for item in items]
    names: Iterable[Any]
    places = None
    if any(issubclass(kind, Mapping) for kind in kinds):
        pairs = _by_pairs(items) if kinds == {dict} and len(items) > _FEW else None
        counts, names, values, places = pairs or (*_spelled(items, place), None)
    else:
        counts = np.fromiter(map(len, items), dtype=np.int64, count=len(items))
        names, values = chain.from_iterable(items), np.empty(0)
        if known is not None:
            names = list(names)  # few: those to predict from are looked at twice
    indptr = np.zeros(len(items) + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    try:
        total = len(names) if isinstance(names, list) else int(indptr[-1])
        indices, numbered = _numbered(names, total, known, book)
    except TypeError as error:
        raise _unhashable(items, place) from error
    if places is not None:
        indices = indices[places]
        values = values[places] if values.size else values
    bags = Bags(indptr, indices, values, numbered)
    if known is None:
        check_names(bags, place)
    elif any(map(_is_odd, set(map(type, names)))):
        bags_of_items(items, place)  # which says where
    return bags


def _is_odd(kind: type) -> bool:
    """Return whether names of this type are probably values."""
    return issubclass(kind, type(None) | float | bool | np.floating | np.bool_)


def _numbered(
    names: Iterable[Any], total: int, known: Vocabulary | None, book: Book | None
) -> tuple[NDArray[np.int32], tuple[Hashable, ...]]:
    """Return the number of each name, and the names by number."""
    if known is not None:
        numbers = map(known.numbers.get, names, repeat(-1))
        return np.fromiter(numbers, dtype=np.int32, count=total), known.names
    # One look-up per attribute, millions a second.
    own = new_book() if book is None else book
    indices = np.fromiter(map(own.__getitem__, names), dtype=np.int32, count=total)
    return indices, () if own is book else names_of(own)


def names_of(book: Book) -> tuple[Hashable, ...]:
    """Return the names in a book, as Python values."""
    return tuple(map(plain, book))


def check_names(bags: Bags, place: Callable[[int], str]) -> None:
    """Refuse names that are probably values: a list of numbers is no list of attributes.

    Examples
    --------
    >>> check_names(Bags(np.array([0]), np.zeros(0, np.int32), np.zeros(0), ()), str)
    """
    for number, name in enumerate(bags.names):
        if name is None or isinstance(name, float | bool):
            entry = int(np.argmax(bags.indices == number))
            raise DataError(
                f"{place(position_of(bags.indptr, entry))} has {name!r} as the name of an "
                "attribute; use text, or give numbers as a dict of name to value or as a 2-D array."
            )


def _by_pairs(
    items: Sequence[dict[Any, Any]],
) -> tuple[NDArray[np.int64], list[Any], NDArray[np.float64], NDArray[np.int32]] | None:
    """Return how many attributes dicts have, names and values of pairs, and which each one is.

    Each pair of key and value is spelled once, wherever it occurs: three times as quick as
    spelling all. None where that is no gain (most pairs occur once), or where equal pairs may be
    spelled differently: keys that are not text, values that are not plain text and numbers.
    """
    if not set(map(type, chain.from_iterable(map(dict.values, items)))) <= _PLAIN:
        return None
    book = new_book()
    counts = np.fromiter(map(len, items), dtype=np.int64, count=len(items))
    parts = []
    for first in range(0, len(items), _BLOCK):
        pairs = chain.from_iterable(map(dict.items, items[first : first + _BLOCK]))
        total = int(counts[first : first + _BLOCK].sum())
        parts.append(np.fromiter(map(book.__getitem__, pairs), dtype=np.int32, count=total))
        if 2 * len(book) > int(counts[: first + _BLOCK].sum()):
            return None
    if not all(type(key) is str for key, _ in book):
        return None
    spelling = _Spelling([], [])
    for key, value in book:
        spelling.add({key: value})
    numbers = np.concatenate([np.zeros(0, dtype=np.int32), *parts])
    return counts, spelling.names, spelling.values(), numbers


def _spelled(
    items: Sequence[Any], place: Callable[[int], str]
) -> tuple[NDArray[np.int64], list[Any], NDArray[np.float64]]:
    """Return how many attributes each item has, all their names, and their values."""
    spelling = _Spelling([], [])
    names = spelling.names
    ends = [0]
    try:
        for item in items:
            if type(item) is dict or isinstance(item, Mapping):
                spelling.add(item)
            else:
                names.extend(item)
            ends.append(len(names))
    except DataError as error:
        raise DataError(f"{place(len(ends) - 1)}: {error}") from None
    places = np.array(ends, dtype=np.int64)
    return places[1:] - places[:-1], names, spelling.values()


@dataclass(frozen=True, slots=True)
class _Spelling:
    """Names of attributes, and the values of those that are not 1, by their places."""

    names: list[Any]
    others: list[tuple[int, Any]]

    def values(self) -> NDArray[np.float64]:
        """Return the values of all, none if all are 1."""
        if not self.others:
            return np.empty(0)
        found = np.ones(len(self.names))
        places, values = zip(*self.others, strict=True)
        try:
            found[list(places)] = values
        except OverflowError:  # an int beyond the floats
            found[list(places)] = [_number(value) for value in values]
        return found

    def add(self, item: Mapping[Any, Any], prefix: str = "") -> None:
        """Add the attributes that a dict stands for."""
        names, append = self.names, self.names.append
        for key, value in item.items():
            name = f"{prefix}{key}" if prefix else key
            kind = type(value)
            if kind is str:
                append(f"{name}:{value}")
            elif kind is float or kind is int or kind is bool:
                if value != 1:
                    self.others.append((len(names), value))
                append(name)
            else:
                self._add_rare(name, value)

    def _add_rare(self, name: Any, value: Any) -> None:
        """Add the attributes of a value that is not simply text or a number."""
        if isinstance(value, Mapping):
            self.add(value, f"{name}:")
        elif isinstance(value, str):
            self.names.append(f"{name}:{value}")
        elif isinstance(value, Real | Decimal | np.bool_):
            self.others.append((len(self.names), _number(value)))
            self.names.append(name)
        elif isinstance(value, _LISTS):
            listed = in_order(value) if isinstance(value, Set) else value
            if not all(isinstance(text, str | int) for text in listed):
                raise DataError(
                    f"attribute {name!r} has a {type(value).__name__} that holds more than text; "
                    "name the numbers, as in {'vector': {'0': 0.5, '1': 0.2}}."
                )
            self.names.extend(f"{name}:{text}" for text in listed)
        else:
            raise DataError(
                f"attribute {name!r} has the value {_brief(value)} of type {type(value).__name__}; "
                "use a number, a bool, text, a list of texts or a dict, or leave the attribute out."
            )


def _number(value: Any) -> float:
    """Return a number as a float, infinite if it is beyond the floats."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _brief(value: Any) -> str:
    """Return a value as text of bounded length."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _not_an_item(items: Sequence[Any], place: Callable[[int], str]) -> DataError:
    """Return the error that names the first item of a wrong type."""
    t = next(t for t, item in enumerate(items) if not isinstance(item, _ITEMS))
    kind = "the text" if isinstance(items[t], str) else f"a {type(items[t]).__name__},"
    return DataError(
        f"{place(t)} is {kind} {_brief(items[t])}; an item is a list of attributes such as "
        "['word=the', 'bias'] or a dict, and X is a list of sequences, each a list of items."
    )


def _unhashable(items: Sequence[Any], place: Callable[[int], str]) -> DataError:
    """Return the error that names the first attribute that cannot be one."""
    for t, item in enumerate(items):
        for name in item:
            try:
                hash(name)
            except TypeError:
                return DataError(
                    f"{place(t)} holds a {type(name).__name__} as an attribute, which is not "
                    "hashable; an item is a list of names or one dict, and X is a list of "
                    "sequences, each a list of items."
                )
    return DataError("some attributes cannot be compared with each other; use text.")


def is_matrix(data: Any) -> bool:
    """Return whether data are a 2-D array or a sparse matrix, whatever the type of entries.

    Examples
    --------
    >>> is_matrix(np.zeros((2, 3))), is_matrix(np.zeros(3)), is_matrix([[1.0]])
    (True, False, False)
    """
    return (isinstance(data, np.ndarray) or sparse.issparse(data)) and len(_shape(data)) == 2


def _shape(matrix: Any) -> tuple[int, ...]:
    """Return the shape, which scipy's own type of all sparse arrays does not declare."""
    return tuple(matrix.shape)


def check_matrix(matrix: Any, where: str) -> None:
    """Refuse a matrix that does not hold real numbers; ``where`` names it in errors.

    Examples
    --------
    >>> check_matrix(np.zeros((1, 1), dtype=bool), "X")
    """
    kind = matrix.dtype.kind
    if kind == "c":
        raise DataError(f"Complex data not supported: {where} holds complex numbers.")
    if kind not in "biuf":
        raise DataError(
            f"{where} is a matrix of type {matrix.dtype}, not of numbers; convert it with "
            ".astype(float), or use .tolist() if it holds names of attributes."
        )


def bags_of_rows(
    blocks: Sequence[Any],
    names: Iterable[Any] | None = None,
    known: Vocabulary | None = None,
) -> Bags:
    """Return the attributes of rows of checked matrices with as many columns, not settled.

    Columns are attributes, called by `names` or by their number. One block may share its memory.

    Examples
    --------
    >>> bags = bags_of_rows([np.array([[0.0, 2.0]]), np.array([[1.0, 1.0]])])
    >>> bags.indptr.tolist(), bags.indices.tolist(), bags.names
    ([0, 1, 3], [1, 0, 1], (0, 1))
    """
    width = blocks[0].shape[1]
    given = _column_names(names, width)
    blocks = [_unmasked(block) for block in blocks]
    if any(sparse.issparse(block) for block in blocks):
        indptr, indices, values = _sparse_rows(blocks)
    else:
        indptr, indices, values = _dense_rows(blocks)
    bags = Bags(indptr, indices, values, tuple(range(width)) if given is None else given)
    return bags if known is None else renumbered(bags, known)


def _column_names(names: Iterable[Any] | None, width: int) -> tuple[Hashable, ...] | None:
    """Return names as Python values, after a check that there is one for each column."""
    if names is None:
        return None
    given = tuple(map(plain, names))
    if len(given) != width:
        raise DataError(f"{len(given)} names were given, but X has {width} columns.")
    odd = [name for name in given if not isinstance(name, Hashable)]
    if odd:
        raise DataError(f"names of columns must be hashable, but {listing(odd)} is not.")
    if len(set(given)) != width:
        twice = [name for name in dict.fromkeys(given) if given.count(name) > 1]
        raise DataError(f"names must differ, but these occur more than once: {listing(twice)}.")
    return given


def _unmasked(block: Any) -> Any:
    """Return a matrix with NaN where cells are masked."""
    if not isinstance(block, np.ma.MaskedArray):
        return block
    return np.ma.filled(block.astype(np.float64), np.nan)


def _sparse_rows(blocks: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Return the compressed rows of all blocks, one below the other."""
    # As floats first: scipy knows no sparse matrices of half precision.
    given: list[Any] = [b if sparse.issparse(b) else _as_floats(b) for b in blocks]
    parts = [sparse.csr_array(block) for block in given]
    rows = parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")
    indptr = rows.indptr.astype(np.int64, copy=False)
    return indptr, rows.indices.astype(np.int32, copy=False), _as_floats(rows.data)


def _dense_rows(blocks: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Return the compressed rows of all blocks, without zeros."""
    rows = _as_floats(np.asarray(blocks[0]) if len(blocks) == 1 else np.concatenate(blocks))
    height, width = rows.shape
    columns = np.arange(width, dtype=np.int32)
    present = rows != 0
    if present.all():
        indptr = np.arange(height + 1, dtype=np.int64) * width
        return indptr, np.tile(columns, height), rows.reshape(-1)
    indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    return indptr, np.broadcast_to(columns, rows.shape)[present], rows[present]


def _as_floats(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers as float64, infinite where they are beyond it, not copied if they are."""
    with np.errstate(over="ignore"):
        return numbers.astype(np.float64, copy=False)
