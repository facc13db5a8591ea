"""Moments of a variable's conditional, once for each configuration of its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.row_sums import cache_lines
from graftwork.objectives import neighbourhoods
from graftwork.objectives.conditionals import Conditionals
from graftwork.objectives.neighbourhoods import Neighbourhood
from graftwork.testing.contrasts import Contrasts

ONE = (0,)


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalMoments:
    """Moments of a variable's conditional p in each configuration, in contrasts K.

    Attributes
    ----------
    neighbourhood : Neighbourhood
    missing : (c,) bool
        Whether the variable itself is missing there.
    means : (k, c) float64
        K' p.
    covariances : (t, c) float64
        Upper triangles of K' S K, S = diag(p) - p p'.
    """

    neighbourhood: Neighbourhood
    missing: NDArray[np.bool_]
    means: Floats
    covariances: Floats

    @staticmethod
    def of(
        conditionals: Conditionals, contrasts: Contrasts, i: int, part: slice | None = None
    ) -> ConditionalMoments:
        """Return the moments of variable ``i``, in all configurations or in part of them."""
        here, sample = conditionals.neighbourhoods.of_variable(i), conditionals.sample
        missing = here.codes(sample, i, part) >= sample.cards[i]
        whole = part is None or (part.start == 0 and part.stop >= here.count)
        if whole or here.ids is not None:
            found = conditionals.matrix(i)[part or slice(None)]
        else:
            assert part is not None
            found = conditionals.in_rows(i, part.start, min(part.stop, here.count))
        means, covariances = moments_of(contrasts.bases[i], found)
        return ConditionalMoments(here, missing, means, covariances)

    @property
    def curvatures(self) -> Floats:
        """K' S K, and nothing where the variable is missing: its conditional does not count."""
        return np.where(self.missing, 0.0, self.covariances)


def moments_of(basis: Floats, conditionals: Floats) -> tuple[Floats, Floats]:
    """Return K' p and the upper triangle of K' (diag(p) - p p') K of each row p.

    Examples
    --------
    >>> means, covariances = moments_of(np.array([[1.0], [-1.0]]), np.array([[0.5, 0.5]]))
    >>> means.tolist(), covariances.tolist()
    ([[0.0]], [[1.0]])
    """
    first, second = _upper(basis.shape[1])
    means: Floats = basis.T @ conditionals.T
    covariances: Floats = (basis[:, first] * basis[:, second]).T @ conditionals.T
    covariances -= means[first] * means[second]
    return means, covariances


@lru_cache(maxsize=64)
def _upper(size: int) -> tuple[Ints, Ints]:
    """Return rows and columns of the upper triangle of a matrix."""
    rows, columns = np.triu_indices(size)
    return rows, columns


@lru_cache(maxsize=64)
def unfold(size: int) -> Ints:
    """Return where each entry of a symmetric matrix stands in its upper triangle.

    Examples
    --------
    >>> unfold(2).tolist()
    [[0, 1], [1, 2]]
    """
    places = np.zeros((size, size), dtype=np.int64)
    upper = np.triu_indices(size)
    places[upper] = places[upper[::-1]] = np.arange(len(upper[0]))
    places.flags.writeable = False
    return places


def padded(lines: Floats, lanes: tuple[int, ...]) -> Floats:
    """Return (t, c) numbers as (c, t) ones, filled up with zeros to whole lanes."""
    width = -(-len(lines) // len(lanes)) * len(lanes)
    out: Floats = cache_lines(lines.shape[1] * width).reshape(lines.shape[1], width)
    out[:, : len(lines)] = lines.T
    return out


def lanes_for(size: int) -> tuple[int, ...]:
    """Return how many numbers of a triangle to add at once."""
    return ONE if size <= 1 else neighbourhoods.lanes_for(size)
