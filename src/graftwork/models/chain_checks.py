"""What the parts of a chain must be to fit together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.values import key, listing
from graftwork.errors import DataError

if TYPE_CHECKING:
    from graftwork.models.chain import ChainModel

#: The arrays of a chain, and the kinds of numbers in them.
ARRAYS = {
    "vote_attributes": "i",
    "vote_outputs": "i",
    "vote_weights": "f",
    "pairs": "f",
    "triples": "f",
}


def check_chain(model: ChainModel) -> None:
    """Refuse labels, attributes and weights that do not fit together, and return None."""
    for name, kind in ARRAYS.items():
        found = getattr(model, name)
        if not isinstance(found, np.ndarray) or found.dtype.kind not in kind:
            what = "whole numbers" if kind == "i" else "numbers"
            raise DataError(f"{name} of a chain is a NumPy array of {what}, not {type(found)}.")
    odd = [v for v in (*model.labels, *model.attributes) if not isinstance(v, Hashable)]
    if odd:
        raise DataError(f"labels and attributes of a chain are hashable, but not {listing(odd)}.")
    if type(model.order) is not int or model.order not in (1, 2):
        raise DataError(f"a chain is of order 1 or 2, not {model.order!r}.")
    if not model.labels:
        raise DataError("a chain needs at least one label.")
    _refuse_twice("label", [key(label) for label in model.labels], model.labels)
    _refuse_twice("attribute", model.attributes, model.attributes)
    n = len(model.labels)
    wanted = {"pairs": (n, n), "triples": (n, n, n) if model.order == 2 else (0, 0, 0)}
    for name, shape in wanted.items():
        found = getattr(model, name).shape
        if found != shape:
            raise DataError(f"the {name} of a chain of {n} labels have shape {shape}, not {found}.")
    _check_votes(model)
    for name in ("vote_weights", "pairs", "triples"):
        if not _is_finite(getattr(model, name)):
            raise DataError(f"the weights of a chain are finite numbers, but {name} has others.")
    _check_columns(model)
    _check_counts(model.label_counts, n)


def _refuse_twice(what: str, keys: Any, values: tuple[Any, ...]) -> None:
    """Refuse values with equal keys."""
    if len(set(keys)) == len(values):
        return
    counts = Counter(keys)
    twice = [value for k, value in zip(keys, values, strict=True) if counts[k] > 1]
    raise DataError(f"a chain has each {what} once, but these come again: {listing(twice)}.")


def _check_votes(model: ChainModel) -> None:
    """Refuse votes of unknown attributes, for unknown outputs, or twice for the same."""
    attributes, outputs = model.vote_attributes, model.vote_outputs
    n_attributes, n_outputs = len(model.attributes), model.shape.n_outputs
    if not len(attributes) == len(outputs) == len(model.vote_weights):
        raise DataError("each vote of a chain has one attribute, one output and one weight.")
    if not (_within(attributes, n_attributes) and _within(outputs, n_outputs)):
        raise DataError(
            f"a vote is out of range: the chain has {n_attributes} attributes and {n_outputs} "
            "outputs."
        )
    if not _distinct(attributes * np.int64(n_outputs) + outputs):
        raise DataError("an attribute votes twice for the same output; give each vote once.")


def _check_columns(model: ChainModel) -> None:
    """Refuse columns that are not one for each attribute."""
    if model.columns is None and model.n_columns is None:
        return
    if model.columns is None or model.n_columns is None:
        raise DataError("columns and n_columns go together; give both or neither.")
    fits = len(model.columns) == len(model.attributes) and _distinct(model.columns)
    if not fits or not _within(model.columns, model.n_columns):
        raise DataError(
            f"columns give each of {len(model.attributes)} attributes its own column, of "
            f"{model.n_columns}."
        )


def _check_counts(counts: Any, n_labels: int) -> None:
    """Refuse numbers of positions that are not one for each label."""
    if counts is None:
        return
    fits = isinstance(counts, np.ndarray) and counts.dtype.kind == "f"
    if not fits or counts.shape != (n_labels,) or not _is_finite(counts) or (counts < 0).any():
        raise DataError(
            f"label_counts of a chain are an array of {n_labels} finite numbers of at least 0, one "
            "for each label."
        )


def _is_finite(values: NDArray[np.float64]) -> bool:
    """Return whether all numbers are finite, without an array of answers."""
    return bool(np.isfinite([values.min(initial=0.0), values.max(initial=0.0)]).all())


def _within(numbers: NDArray[Any], size: int) -> bool:
    return bool(numbers.min(initial=0) >= 0 and numbers.max(initial=-1) < size)


def _distinct(numbers: NDArray[Any]) -> bool:
    return len(np.unique(numbers)) == len(numbers)
