"""The size of the coupling of every pair, as contacts of proteins are read off it."""

from __future__ import annotations

from typing import Any

import numpy as np

from graftwork.errors import DataError, ParameterError
from graftwork.grafting.networks import strengths as squared_norms
from graftwork.inference.layout import Floats, Potentials
from graftwork.records import Record

#: What couplings can be ordered by.
SCORES = ("norm", "apc")
COLUMNS = ("first", "second", *SCORES)


def corrected(sizes: Floats) -> Floats:
    """Return the sizes of all pairs less their average product, shape (n, n).

    With S_i the mean size of a variable's pairs and S that of all, S_ij becomes S_ij - S_i S_j / S.

    References
    ----------
    Dunn, Wahl and Gloor (2008), Mutual information without the influence of phylogeny or entropy
    dramatically improves residue contact prediction.
    """
    if not sizes.any():
        return np.zeros_like(sizes)
    means = sizes.sum(axis=1) / (len(sizes) - 1)
    found: Floats = sizes - np.outer(means, means) / means.mean()
    np.fill_diagonal(found, 0.0)
    return found


def coupling_records(
    names: tuple[Any, ...], potentials: Potentials, score: str = "norm"
) -> list[Record]:
    """Return a record for each pair, the largest score first.

    Examples
    --------
    >>> from graftwork.inference import Layout
    >>> flat = Potentials(Layout.of([2, 2], [(0, 1)]), np.r_[np.zeros(4), 2, 0, 0, 2])
    >>> coupling_records(("a", "b"), flat)
    [{'first': 'a', 'second': 'b', 'norm': 2.0, 'apc': 0.0}]
    """
    if score not in SCORES:
        raise ParameterError(f"score must be 'norm' or 'apc', got {score!r}.")
    if not np.isfinite(potentials.weights[potentials.layout.n_unary :]).all():
        raise DataError("impossible pairs of states make a norm infinite: no couplings.")
    edges = potentials.layout.edges
    sizes = np.zeros((len(names), len(names)))
    sizes[edges[:, 0], edges[:, 1]] = np.sqrt(squared_norms(potentials))
    first, second = np.triu_indices(len(names), 1)
    columns = {
        "norm": sizes[first, second],
        "apc": corrected(sizes + sizes.T)[first, second],
    }
    return [
        {"first": names[first[k]], "second": names[second[k]]}
        | {name: float(column[k]) for name, column in columns.items()}
        for k in np.argsort(-columns[score], kind="stable").tolist()
    ]
