"""The size of the coupling of every pair, as contacts of proteins are read off it."""

from __future__ import annotations

from typing import Any

import numpy as np

from graftwork.errors import DataError, ParameterError
from graftwork.inference.layout import Floats, Ints
from graftwork.records import Record

#: What couplings can be ordered by.
SCORES = ("strength", "apc")
COLUMNS = ("first", "second", *SCORES)


def corrected(sizes: Floats) -> Floats:
    """Return the sizes of all pairs less their average product, shape (n, n).

    With S_i the mean size of a variable's pairs and S that of all, S_ij becomes S_ij - S_i S_j / S.

    References
    ----------
    Dunn, Wahl and Gloor (2008), Mutual information without the influence of phylogeny or entropy
    dramatically improves residue contact prediction.

    Examples
    --------
    >>> corrected(np.array([[0.0, 3, 1], [3, 0, 2], [1, 2, 0]]))
    array([[ 0.   ,  0.5  , -0.5  ],
           [ 0.5  ,  0.   ,  0.125],
           [-0.5  ,  0.125,  0.   ]])
    """
    if not sizes.any():
        return np.zeros_like(sizes)
    means = sizes.sum(axis=1) / (len(sizes) - 1)
    found: Floats = sizes - np.outer(means, means) / means.mean()
    np.fill_diagonal(found, 0.0)
    return found


def coupling_records(
    names: tuple[Any, ...], edges: Ints, strengths: Floats, score: str = "strength"
) -> list[Record]:
    """Return a record for each pair, the largest score first.

    Parameters
    ----------
    names : tuple
        Of the variables.
    edges : (m, 2) int64
    strengths : (m,) float64
        Of the edges; pairs without an edge have 0.
    score : str
        One of `SCORES`.

    Examples
    --------
    >>> coupling_records(("a", "b"), np.array([[0, 1]]), np.array([2.0]))
    [{'first': 'a', 'second': 'b', 'strength': 2.0, 'apc': 0.0}]
    """
    if score not in SCORES:
        raise ParameterError(f"score must be 'strength' or 'apc', got {score!r}.")
    if not np.isfinite(strengths).all():
        raise DataError("impossible pairs of states make a strength infinite: no couplings.")
    sizes = np.zeros((len(names), len(names)))
    sizes[edges[:, 0], edges[:, 1]] = strengths
    first, second = np.triu_indices(len(names), 1)
    columns = {
        "strength": sizes[first, second],
        "apc": corrected(sizes + sizes.T)[first, second],
    }
    return [
        {"first": names[first[k]], "second": names[second[k]]}
        | {name: float(column[k]) for name, column in columns.items()}
        for k in np.argsort(-columns[score], kind="stable").tolist()
    ]
