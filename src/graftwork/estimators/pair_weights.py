"""Factors of penalties as users write them: by pairs of names, a function of them, or a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from graftwork.errors import DataError, ParameterError
from graftwork.estimators.named_pairs import ask_pairs, find_pairs
from graftwork.grafting import PairFactors
from graftwork.inference.layout import Floats
from graftwork.models.inputs import find, number

_NAME = "penalty_weights"


def read_weights(given: Any, names: tuple[Any, ...]) -> PairFactors:
    """Return the factors that a user means; pairs that are not given have 1.

    Parameters
    ----------
    given : dict, function or square matrix
        ``{(a, b): factor}``; a function of two names; a data frame by names; or an array in the
        order of the columns, whose diagonal does not matter.

    Examples
    --------
    >>> read_weights({("b", "a"): 0.5}, ("a", "b", "c")).at(np.array([[0, 1], [1, 2]]))
    array([0.5, 1. ])
    """
    if isinstance(given, Mapping):
        return _from_mapping(given, names)
    if callable(given):
        return _from_function(given, names)
    return _from_matrix(given, names)


def _from_mapping(given: Mapping[Any, Any], names: tuple[Any, ...]) -> PairFactors:
    pairs = find_pairs(_NAME, list(given), names)
    values: dict[tuple[int, int], float] = {}
    for (i, j), (pair, factor) in zip(pairs.tolist(), given.items(), strict=True):
        value = _factor(factor, pair)
        if values.setdefault((i, j), value) != value:
            raise ParameterError(
                f"{_NAME} gives {pair!r} twice, with {values[i, j]:g} and {value:g}; either order "
                "means the same pair, so give it once."
            )
    return PairFactors.of(len(names), list(values), list(values.values()))


def _from_function(given: Any, names: tuple[Any, ...]) -> PairFactors:
    pairs, answers = ask_pairs(_NAME, given, names, "a dict {(a, b): factor}")
    values = np.ones(len(pairs))
    for place, ((i, j), both) in enumerate(zip(pairs.tolist(), answers, strict=True)):
        pair = names[i], names[j]
        values[place], other = (_factor(answer, pair) for answer in both)
        if values[place] != other:
            raise ParameterError(
                f"{_NAME} must not depend on the order of two names; of {pair!r} it says "
                f"{values[place]:g}, and {other:g} the other way round."
            )
    some = values != 1.0
    return PairFactors.of(len(names), pairs[some], values[some])


def _from_matrix(given: Any, names: tuple[Any, ...]) -> PairFactors:
    columns = getattr(given, "columns", None)
    rows: Any = getattr(given, "index", columns)
    try:
        matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    n = len(names)
    if matrix.ndim != 2 or (columns is None and matrix.shape != (n, n)):
        what = f"shape {matrix.shape}" if matrix.ndim == 2 else f"a {type(given).__name__}"
        raise ParameterError(
            f"{_NAME} must be a dict {{(a, b): factor}}, a function of two names, or a matrix of "
            f"shape ({n}, {n}); got {what}."
        )
    if columns is not None:
        matrix = _by_name(matrix, list(rows), list(columns), names)
    return _from_square(matrix, names)


def _by_name(matrix: Floats, rows: list[Any], columns: list[Any], names: tuple[Any, ...]) -> Floats:
    """Return a matrix with names for its rows and columns in the order of the data's columns."""
    index = number(names)
    try:
        down, across = ([find(name, names, index) for name in part] for part in (rows, columns))
    except DataError as error:
        raise ParameterError(f"{_NAME}: {error}") from None
    if sorted(down) != sorted(across) or len(set(down)) < len(down):
        raise ParameterError(
            f"{_NAME}: rows and columns of the matrix must have the same names, each once."
        )
    whole = np.ones((len(names), len(names)))
    whole[np.ix_(down, across)] = matrix
    return whole


def _from_square(matrix: Floats, names: tuple[Any, ...]) -> PairFactors:
    i, j = np.triu_indices(len(names), 1)
    above, below = matrix[i, j], matrix[j, i]
    for place in np.flatnonzero(~(above >= 0) | ~(below >= 0))[:1]:
        bad = below if above[place] >= 0 else above
        _factor(float(bad[place]), (names[i[place]], names[j[place]]))
    for place in np.flatnonzero(~np.isclose(above, below, rtol=1e-9, atol=0.0))[:1]:
        raise ParameterError(
            f"{_NAME}: the matrix is not symmetric: {names[i[place]]!r} and {names[j[place]]!r} "
            f"have {above[place]:g}, and {below[place]:g} the other way round."
        )
    some = above != 1.0
    return PairFactors.of(len(names), np.stack([i, j], axis=1)[some], above[some])


def _factor(value: Any, pair: Any) -> float:
    """Return a factor, or refuse what is no number from 0 to infinity."""
    number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not number or not float(value) >= 0:
        raise ParameterError(
            f"{_NAME}: the factor of {pair!r} must be a number from 0 (not penalised) to infinity "
            f"(never an edge), got {value!r}."
        )
    return float(value)
