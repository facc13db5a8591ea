"""Bags: which attributes each position has, and how much of each, in compressed rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graftwork.kernels.bags import repeats


@dataclass(frozen=True, slots=True, eq=False)
class Bags:
    """The attributes of each position.

    Parameters
    ----------
    indptr : array of int64, shape (n_positions + 1,)
        Position t has ``indices[indptr[t]:indptr[t + 1]]``.
    indices : array of int32, shape (nnz,)
        Attribute numbers; -1 for one that is to be left out.
    values : array of float64, shape (nnz,), or (0,) if all are 1
        Value of each entry.
    names : tuple of hashable
        Attribute a is called ``names[a]``.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    names: tuple[Hashable, ...]


def position_of(indptr: NDArray[np.int64], entry: int) -> int:
    """Return the position that an entry belongs to.

    Parameters
    ----------
    indptr : array of int64, shape (n_positions + 1,)
        Where positions begin.
    entry : int
        Number of the entry.

    Returns
    -------
    int
        The position.

    Examples
    --------
    >>> position_of(np.array([0, 2, 2, 5]), 2)
    2
    """
    return int(np.searchsorted(indptr, entry, side="right")) - 1


def settled(bags: Bags) -> Bags:
    """Return bags without left-out entries and repetitions.

    Parameters
    ----------
    bags : Bags
        As they were read.

    Returns
    -------
    Bags
        No attribute occurs twice at a position: values of repeated ones are added up. Values are
        empty if all are 1.

    Examples
    --------
    >>> read = Bags(np.array([0, 3]), np.array([0, -1, 0], dtype=np.int32), np.ones(0), ("a",))
    >>> bags = settled(read)
    >>> bags.indptr, bags.indices, bags.values
    (array([0, 1]), array([0], dtype=int32), array([2.]))
    """
    bags = _kept(bags, bags.indices >= 0)
    if repeats(bags.indptr, bags.indices, len(bags.names)):
        bags = _merged(bags)
    if (bags.values == 1).all():
        bags = replace(bags, values=np.empty(0))
    return bags


def renumbered(bags: Bags, known: Mapping[Any, int]) -> Bags:
    """Return bags whose attributes are numbered as in a model; those it does not know are -1.

    Parameters
    ----------
    bags : Bags
        With names of their own.
    known : mapping of name to number
        In order of the numbers, which count from 0.

    Returns
    -------
    Bags
        Not settled.

    Examples
    --------
    >>> bags = Bags(np.array([0, 2]), np.array([0, 1], dtype=np.int32), np.ones(0), ("a", "b"))
    >>> renumbered(bags, {"b": 0}).indices
    array([-1,  0], dtype=int32)
    """
    numbers = np.array([known.get(name, -1) for name in bags.names], dtype=np.int32)
    return replace(bags, indices=numbers[bags.indices], names=tuple(known))


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
