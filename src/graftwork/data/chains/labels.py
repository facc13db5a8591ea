"""Labels of sequences: values in, codes out, and back; and the weights of sequences."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.chains.sequences import Sequences, is_frame, spot
from graftwork.data.encode import Coded, checked_weights, encode
from graftwork.data.values import key, plain
from graftwork.errors import DataError


def encode_labels(
    y: Any, sequences: Sequences, *, classes: Sequence[Hashable] | None = None
) -> tuple[NDArray[np.int32], tuple[Hashable, ...]]:
    """Return the labels of all positions as codes, and the classes they stand for.

    Shapes: codes (n_positions,).
    """
    if classes is None:
        _refuse_nothing(sequences)
    coded = _coded(_flattened(y, sequences), sequences)
    if classes is None:
        return coded.codes.astype(np.int32), coded.states
    return _recoded(coded, tuple(map(plain, classes)))


class LabelLists(list[list[Any]]):
    """A list of label sequences; as an array it is one of lists, however long they are.

    scikit-learn's cross_val_predict joins those of several folds as arrays.

    Examples
    --------
    >>> np.asarray(LabelLists([["B", "I"], ["O"]]))
    array([list(['B', 'I']), list(['O'])], dtype=object)
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found = np.empty(len(self), dtype=object)
        for k, labels in enumerate(self):
            found[k] = labels
        return found if dtype is None else found.astype(dtype)


def decode_labels(
    codes: NDArray[Any], classes: Sequence[Any], starts: NDArray[np.int64]
) -> list[list[Any]]:
    """Return codes as one list of labels for each sequence."""
    labels = [classes[code] for code in codes.tolist()]
    return LabelLists(labels[start:stop] for start, stop in pairwise(starts.tolist()))


def check_weights(sample_weight: Any, n_sequences: int) -> NDArray[np.float64] | None:
    """Return the weights of sequences as a read-only array, or None if there are none."""
    if sample_weight is None:
        return None
    return checked_weights(sample_weight, n_sequences, owner="X", unit="sequence")


def with_weight(
    sequences: Sequences,
    codes: NDArray[np.int32],
    classes: tuple[Hashable, ...],
    weights: NDArray[np.float64] | None,
) -> tuple[Sequences, NDArray[np.int32], tuple[Hashable, ...], NDArray[np.float64] | None]:
    """Return the labelled sequences whose weight is not zero: the others count as left out.

    Classes that only sequences of weight zero had are left out, too.

    Examples
    --------
    >>> from graftwork.data import as_sequences
    >>> sequences = as_sequences([[["the"], ["dog"]], [["go"]]])
    >>> codes = np.array([0, 1, 2], dtype=np.int32)
    >>> with_weight(sequences, codes, ("D", "N", "V"), np.array([0.0, 2.0]))
    (Sequences: 1 sequence, 1 position, 3 attributes, array([0], dtype=int32), ('V',), array([2.]))
    """
    if weights is None or weights.all():
        return sequences, codes, classes, weights
    kept = weights > 0
    some = sequences.chosen(kept)
    _refuse_nothing(some, " with a weight above zero")
    used, anew = np.unique(codes[np.repeat(kept, sequences.lengths)], return_inverse=True)
    left = tuple(classes[code] for code in used.tolist())
    return some, anew.astype(np.int32), left, weights[kept]


def _flattened(y: Any, sequences: Sequences) -> list[Any]:
    """Return the labels of all positions, after a check that there are as many."""
    if isinstance(y, str | bytes | Mapping | Set) or not isinstance(y, Iterable) or is_frame(y):
        raise DataError(
            f"y is of type {type(y).__name__}; give a list of label sequences, such as "
            "[['B', 'I'], ['O']]."
        )
    given = list(y)
    nested = [_is_listed(entry) for entry in given]
    if not any(nested) and len(given) == sequences.n_positions:
        return given
    if len(given) != sequences.n_sequences:
        raise DataError(
            f"y has {len(given)} {'label sequences' if any(nested) else 'labels'}, but X has "
            f"{sequences.n_sequences} sequences with {sequences.n_positions} positions; give one "
            "list of labels for each sequence."
        )
    if not all(nested):
        k = nested.index(False)
        raise DataError(
            f"y[{k}] is {given[k]!r}, but the labels of a sequence are a list, such as "
            "['B', 'I', 'O']."
        )
    listed = [list(entry) for entry in given]
    for k, (labels, wanted) in enumerate(zip(listed, sequences.lengths.tolist(), strict=True)):
        if len(labels) != wanted:
            raise DataError(
                f"sequence {k} has {len(labels)} labels in y, but {wanted} positions in X."
            )
    return list(chain.from_iterable(listed))


def _refuse_nothing(sequences: Sequences, which: str = "") -> None:
    """Refuse sequences without any position, from which nothing can be learned."""
    if not sequences.n_sequences:
        raise DataError("X has no sequences; give at least one with labels to learn from.")
    if not sequences.n_positions:
        raise DataError(f"every sequence of X{which} is empty; give at least one with labels.")


def _is_listed(entry: Any) -> bool:
    """Return whether an entry of y holds labels in an order, rather than being one."""
    if isinstance(entry, np.ndarray):
        return entry.ndim > 0
    return isinstance(entry, Iterable) and not isinstance(entry, str | bytes | Mapping | Set)


def _coded(labels: list[Any], sequences: Sequences) -> Coded:
    """Return labels as codes; missing and unhashable ones are refused."""
    for t, label in enumerate(labels):
        try:
            hash(label)
        except TypeError:
            raise DataError(
                f"the label in {spot(sequences.starts, t)} is a {type(label).__name__} that is "
                "not hashable; use text, numbers or tuples as labels."
            ) from None
    coded = encode(labels, "y", lambda t: spot(sequences.starts, t))
    if coded.missing is not None:
        t = int(np.argmax(coded.missing))
        raise DataError(
            f"the label in {spot(sequences.starts, t)} is missing ({labels[t]!r}); give every "
            "position a label."
        )
    return coded


def _recoded(
    coded: Coded, classes: tuple[Hashable, ...]
) -> tuple[NDArray[np.int32], tuple[Hashable, ...]]:
    """Return codes that point into the classes of a model, -1 for labels that are none of them."""
    position = {key(label): code for code, label in enumerate(classes)}
    lookup = np.array([position.get(key(state), -1) for state in coded.states], dtype=np.int32)
    return lookup[coded.codes], classes
