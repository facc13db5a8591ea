"""Matrices in, bags out: one row per position, one column per attribute, dense or sparse."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graftwork.data.bags import Bags, renumbered
from graftwork.data.values import listing, plain
from graftwork.errors import DataError


def is_matrix(data: Any) -> bool:
    """Return whether data are a 2-D array or a sparse matrix.

    Parameters
    ----------
    data : object
        Anything.

    Returns
    -------
    bool
        True for two dimensions, whatever the type of the entries.

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
    """Refuse a matrix that does not hold real numbers, and return None.

    Parameters
    ----------
    matrix : 2-D array or sparse matrix
        The matrix.
    where : str
        What it is called in errors.

    Raises
    ------
    DataError
        If its type is object, text, complex or a date.

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
    known: Mapping[Any, int] | None = None,
) -> Bags:
    """Return the attributes of matrix rows; columns are attributes.

    Parameters
    ----------
    blocks : sequence of 2-D array or sparse matrix
        At least one, checked by `check_matrix`, all with as many columns.
    names : iterable of hashable, optional
        Names of the columns; 0, 1, ... otherwise.
    known : mapping of name to number, optional
        The attributes of a model, in order of their numbers. Columns are matched by name: those
        without names by their number.

    Returns
    -------
    Bags
        Not settled. They may share memory with the block if there is only one.

    Raises
    ------
    DataError
        If the number of columns differs from the names.

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
