"""Sequences: attributes of the positions of many sequences, made from lists, dicts or matrices."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from graftwork.data.chains.attributes import (
    Bags,
    Book,
    Vocabulary,
    bags_of_items,
    bags_of_rows,
    check_matrix,
    check_names,
    is_matrix,
    joined,
    names_of,
    new_book,
    position_of,
    renumbered,
    settled,
)
from graftwork.errors import DataError

_WANTED = (
    "give a list of sequences, each a list of items (lists of attributes, or dicts) or a 2-D array"
)

# Sequences that come one after the other are read in parts of this many.
_PART = 1024
# Larger values would overflow in sums of squares and drown all scores.
LARGEST = 1e12


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """Attributes of many sequences, in flat arrays.

    `as_sequences` makes one. The positions of all sequences stand one after the other, and so do
    the attributes of all positions.

    Shapes: starts (n_sequences + 1,); indptr (n_positions + 1,); indices (nnz,); values (nnz,),
    or (0,).
    """

    starts: NDArray[np.int64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    names: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        fits = (
            self.starts[-1] == self.indptr.size - 1
            and self.indptr[-1] == self.indices.size
            and self.values.size in (0, self.indices.size)
            and self.indices.max(initial=-1) < len(self.names)
            and self.indices.min(initial=0) >= 0
        )
        if not fits:
            raise DataError("these arrays do not fit together; make them with as_sequences.")

    def __repr__(self) -> str:
        counts = {
            "sequence": self.n_sequences,
            "position": self.n_positions,
            "attribute": self.n_attributes,
        }
        return "Sequences: " + ", ".join(f"{n} {what}{'s'[: n != 1]}" for what, n in counts.items())

    def __len__(self) -> int:
        return self.n_sequences

    @property
    def n_sequences(self) -> int:
        """Number of sequences."""
        return self.starts.size - 1

    @property
    def n_positions(self) -> int:
        """Number of positions of all sequences together."""
        return self.indptr.size - 1

    @property
    def n_attributes(self) -> int:
        """Number of attributes that have a name, whether they occur or not."""
        return len(self.names)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of positions of each sequence, shape (n_sequences,)."""
        return np.diff(self.starts)

    def chosen(self, kept: NDArray[np.bool_]) -> Sequences:
        """Return some of the sequences, their attributes numbered as before."""
        lengths, sizes = self.lengths[kept], np.diff(self.indptr)
        positions = np.repeat(kept, self.lengths)
        entries = np.repeat(positions, sizes)
        return Sequences(
            np.concatenate([[0], np.cumsum(lengths)]),
            np.concatenate([[0], np.cumsum(sizes[positions])]),
            self.indices[entries],
            self.values[entries] if self.values.size else self.values,
            self.names,
        )


def as_sequences(
    X: Any,
    lengths: ArrayLike | None = None,
    *,
    names: Iterable[Any] | None = None,
    known: Vocabulary | None = None,
) -> Sequences:
    """Return sequences of any usual form as flat arrays.

    An item that is a list, tuple or set names the attributes of its position; one that occurs
    twice counts twice. An item that is a dict is read as python-crfsuite does: a number is the
    attribute's value, True and False are 1 and 0, ``{"word": "the"}`` is the attribute
    ``"word:the"``, a list of texts one such attribute each, and a dict in a dict joins the names
    by ``":"``. A row of a data frame is read as the dict of its columns, or, where all columns are
    numbers, as a row of a matrix with names. A zero (or False) in a dict or stored in a sparse
    matrix is there and adds nothing; those of dense matrices are not there.
    """
    return settled_sequences(*compressed(X, lengths, names=names, known=known))


def compressed(
    X: Any,
    lengths: ArrayLike | None = None,
    *,
    names: Iterable[Any] | None = None,
    known: Vocabulary | None = None,
) -> tuple[NDArray[np.int64], Bags]:
    """Return where sequences start, and the attributes of all positions as they were given.

    Parameters and errors are those of `as_sequences`; attributes that are not known are -1.
    """
    if isinstance(X, Iterator):
        X, _ = opened(X)
    if isinstance(X, np.ndarray) and X.ndim == 3 and lengths is None:
        n_sequences, length, width = X.shape
        X, lengths = X.reshape(n_sequences * length, width), np.full(n_sequences, length)
    if is_matrix(X):
        check_matrix(X, "X")
        starts = _starts(lengths, X.shape[0])
        bags = bags_of_rows([X], names, known)
    elif lengths is not None:
        frame = _frame(X)
        starts = _starts(lengths, len(frame))
        bags = _of_frame(frame, names, _placer(starts), known)
    elif isinstance(X, Iterator) and names is None and known is None:
        starts, bags = _of_stream(X)
    elif isinstance(X, Sequences):
        _refuse_names(names)
        starts, bags = X.starts, Bags(X.indptr, X.indices, X.values, X.names)
        bags = bags if known is None else renumbered(bags, known)
    else:
        starts, bags = _of_list(_listed(X), names, known)
    return starts, bags


def settled_sequences(starts: NDArray[np.int64], bags: Bags) -> Sequences:
    """Return what `compressed` found as sequences, without the attributes that are not known.

    Examples
    --------
    >>> settled_sequences(*compressed([[["a"], ["b"]]], known=Vocabulary.of("a")))
    Sequences: 1 sequence, 2 positions, 1 attribute
    """
    bags = settled(bags)
    check_values(starts, bags)
    return Sequences(starts, bags.indptr, bags.indices, bags.values, bags.names)


def count_columns(X: Any) -> int | None:
    """Return the number of columns of matrices of attributes, None where X is none of these."""
    if isinstance(X, np.ndarray) and X.ndim == 3:
        return int(X.shape[2])
    single = isinstance(X, Iterator) or is_matrix(X) or (isinstance(X, np.ndarray) and not X.ndim)
    listed = isinstance(X, Iterable) and not single
    first: Any = next((part for part in X if not _is_empty_list(part)), None) if listed else X
    return int(first.shape[1]) if is_matrix(first) else None


def spot(starts: NDArray[np.int64], position: int) -> str:
    """Return where a position is, in words."""
    k = position_of(starts, position)
    return f"sequence {k}, position {position - int(starts[k])}"


def is_frame(data: Any) -> bool:
    """Return whether data are a frame of pandas, polars or another library that narwhals knows.

    Examples
    --------
    >>> is_frame([["a"]])
    False
    """
    return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame | nw.LazyFrame)


def _of_list(
    sequences: Sequence[Any],
    names: Iterable[Any] | None,
    known: Vocabulary | None,
    book: Book | None = None,
) -> tuple[NDArray[np.int64], Bags]:
    """Return where sequences start, and the attributes of all positions."""
    there = [(k, part) for k, part in enumerate(sequences) if not _is_empty_list(part)]
    _refuse_mixture(there)
    matrices = bool(there) and is_matrix(there[0][1])
    sizes = [part.shape[0] if matrices and is_matrix(part) else len(part) for part in sequences]
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    if matrices:
        if book is not None:
            raise DataError(f"matrices do not come one after the other; {_WANTED}.")
        _check_columns(there)
        return starts, bags_of_rows([part for _, part in there], names, known)
    _refuse_names(names)
    items = list(chain.from_iterable(sequences))
    return starts, bags_of_items(items, _placer(starts), known, book)


def _of_stream(X: Iterator[Any]) -> tuple[NDArray[np.int64], Bags]:
    """Return the same of lists of items that come one after the other, held in parts only."""
    book, parts, lengths = new_book(), [], [0]
    while part := list(islice(X, _PART)):
        try:
            starts, bags = _of_list(_listed(part), None, None, book)
        except DataError:
            _of_list(_listed([[]] * (len(lengths) - 1) + part), None, None)  # says which it is
            raise
        lengths.extend(np.diff(starts).tolist())
        parts.append(bags)
    starts = np.cumsum(lengths)
    bags = joined(parts, names_of(book))
    check_names(bags, _placer(starts))
    return starts, bags


def opened(X: Any) -> tuple[Any, int | None]:
    """Return sequences to read, and the number of columns if they are matrices.

    Those that come one after the other are not held if they are lists of items.
    """
    if not isinstance(X, Iterator):
        return X, count_columns(X)
    seen = []
    for part in X:
        seen.append(part)
        if not _is_empty_list(part):
            break
    width = count_columns(seen)
    rest = chain(seen, X)
    return (rest if width is None else list(rest)), width


def _frame(X: Any) -> nw.DataFrame[Any]:
    """Return a data frame of any library, or refuse what is none."""
    found = nw.from_native(X, pass_through=True)
    if isinstance(found, nw.LazyFrame):
        found = found.collect()
    if not isinstance(found, nw.DataFrame):
        raise DataError(
            "lengths go with one matrix or data frame of all positions; leave them out for a list."
        )
    return found


def _of_frame(
    frame: nw.DataFrame[Any],
    names: Iterable[Any] | None,
    place: Callable[[int], str],
    known: Vocabulary | None,
) -> Bags:
    """Return the attributes of a data frame's rows: numbers as a matrix, others as dicts."""
    if names is not None:
        raise DataError("names go with matrices; the columns of a data frame have theirs already.")
    if not all(kind.is_numeric() or kind == nw.Boolean for kind in frame.schema.values()):
        return bags_of_items(list(frame.iter_rows(named=True)), place, known)
    columns = [frame[name].to_numpy().astype(np.float64) for name in frame.columns]
    matrix = np.column_stack(columns) if columns else np.zeros((len(frame), 0))
    return bags_of_rows([matrix], frame.columns, known)


def _is_empty_list(given: Any) -> bool:
    """Return whether this is an empty sequence that may stand among lists or matrices."""
    return isinstance(given, list | tuple) and not given


def _refuse_mixture(there: Sequence[tuple[int, Any]]) -> None:
    """Refuse numbered sequences of which some are matrices and some are lists of items."""
    kinds = [is_matrix(part) for _, part in there]
    if any(kinds) and not all(kinds):
        (i, first), (k, other) = there[0], there[kinds.index(not kinds[0])]
        raise DataError(
            f"sequence {i} is a {type(first).__name__} and sequence {k} a "
            f"{type(other).__name__}; give lists of items or matrices, not both."
        )


def _placer(starts: NDArray[np.int64]) -> Callable[[int], str]:
    """Return the function that says where a position is."""
    return lambda position: spot(starts, position)


def _listed(X: Any) -> list[Any]:
    """Return X as a list of sequences, each with a length."""
    if isinstance(X, list | tuple):
        return [_sequence(k, given) for k, given in enumerate(X)]
    if is_frame(X):
        raise DataError(
            "X is a data frame, which does not say where sequences end; give lengths=, how many "
            "rows each sequence has, or one list of dicts for each sequence, such as "
            "[rows.to_dict('records') for _, rows in frame.groupby('sentence')]."
        )
    if isinstance(X, np.ndarray) and (X.dtype != object or X.ndim != 1):
        raise DataError(f"X is an array of type {X.dtype} with {X.ndim} dimensions; {_WANTED}.")
    if isinstance(X, str | bytes | Mapping | Set) or not isinstance(X, Iterable):
        raise DataError(f"X is of type {type(X).__name__}; {_WANTED}.")
    return [_sequence(k, given) for k, given in enumerate(X)]


def _sequence(k: int, given: Any) -> Any:
    """Return one sequence as a list or a matrix."""
    if isinstance(given, list | tuple) or is_matrix(given):
        return given
    if is_frame(given):
        raise DataError(
            f"sequence {k} is a data frame; use .to_numpy() if it holds numbers only, "
            ".to_dict('records') otherwise."
        )
    if isinstance(given, np.ndarray) and (given.dtype != object or given.ndim != 1):
        raise DataError(
            f"sequence {k} is an array with {given.ndim} dimensions; use shape "
            "(n_positions, n_attributes)."
        )
    if isinstance(given, Mapping):
        raise DataError(
            f"sequence {k} is a {type(given).__name__}, but a sequence is a list of items; "
            "if X is one sequence of dicts, give [X]."
        )
    if isinstance(given, str | bytes | Set) or not isinstance(given, Iterable):
        raise DataError(
            f"sequence {k} is of type {type(given).__name__}, but X is a list of sequences, each "
            "a list of items such as ['word=the', 'bias'] or {'word': 'the'}."
        )
    return list(given)


def _check_columns(there: Sequence[tuple[int, Any]]) -> None:
    """Refuse numbered matrices that hold no numbers, or differ in their columns."""
    first, width = there[0][0], there[0][1].shape[1]
    for k, matrix in there:
        check_matrix(matrix, f"sequence {k}")
        if matrix.shape[1] != width:
            raise DataError(
                f"sequence {k} has {matrix.shape[1]} columns, but sequence {first} has {width}; "
                "every column is one attribute, so all need the same."
            )


def _starts(lengths: Any, n_rows: int) -> NDArray[np.int64]:
    """Return where sequences start, given how many rows each has."""
    if lengths is None:
        raise DataError(
            "X is one matrix of all positions, so lengths must say how many rows each sequence "
            "has; for a single sequence give [X]."
        )
    sizes = _whole_numbers(lengths)
    if (sizes < 0).any():
        k = int(np.argmax(sizes < 0))
        raise DataError(f"the length of sequence {k} is {sizes[k]:g}, which is below zero.")
    if sizes.sum() != n_rows:
        raise DataError(f"lengths add up to {sizes.sum():g}, but X has {n_rows} rows.")
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _whole_numbers(lengths: Any) -> NDArray[Any]:
    """Return lengths as an array of whole numbers."""
    try:
        sizes = np.asarray(list(lengths))
        whole = (
            sizes.ndim == 1 and sizes.dtype.kind in "iuf" and bool((np.floor(sizes) == sizes).all())
        )
    except (TypeError, ValueError):  # not iterable, or lists of several lengths
        whole = False
    if not whole:
        raise DataError(
            f"lengths are {lengths!r:.60}; give a list of whole numbers, one for each sequence."
        )
    return sizes


def _refuse_names(names: Iterable[Any] | None) -> None:
    """Refuse names where the attributes have their own."""
    if names is not None:
        raise DataError("names go with matrices; lists and dicts name their attributes already.")


def are_fit(values: NDArray[np.float64]) -> bool:
    """Return whether all values are finite, and small enough to be multiplied with each other.

    Examples
    --------
    >>> are_fit(np.array([0.5])), are_fit(np.array([np.nan]))
    (True, False)
    """
    return not values.size or bool((np.abs(values) <= LARGEST).all())


def check_values(starts: NDArray[np.int64], bags: Bags) -> None:
    """Refuse values that are not fit.

    Examples
    --------
    >>> check_values(*compressed([[{"a": 0.5}]]))
    """
    if are_fit(bags.values):
        return
    entry = int(np.argmax(~(np.abs(bags.values) <= LARGEST)))
    value, name = bags.values[entry], bags.names[bags.indices[entry]]
    where = spot(starts, position_of(bags.indptr, entry))
    if np.isfinite(value):
        raise DataError(
            f"the value {value:g} of attribute {name!r} in {where} is "
            f"too large; scale values to at most {LARGEST:g}."
        )
    what = "NaN" if np.isnan(value) else f"infinity ({value})"
    raise DataError(
        f"Input contains {what} for attribute {name!r} in {where}; "
        "replace it by a finite number or leave the attribute out."
    )
