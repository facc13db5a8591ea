"""Jester: ratings of a hundred jokes, in bins."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data import Table
from graftwork.data.missing import MISSING_STATE
from graftwork.data.sources import named_after
from graftwork.data.values import generator
from graftwork.datasets.checks import share, whole
from graftwork.datasets.folders import Folder, arrays_in
from graftwork.datasets.parts import Parts, split_distinct
from graftwork.datasets.registry import Dataset
from graftwork.errors import DataError

#: What stands for a joke that was not rated, and the ends of the scale; ratings times 100.
_NOT_RATED, _LOWEST, _HIGHEST = 9900, -1000, 1000
_JOKES = 100


def load_jester(
    folder: Folder = None,
    *,
    complete: bool = True,
    least: int = 50,
    bins: int = 5,
    held_out: float = 0.1,
    random_state: int | np.random.Generator | None = 0,
) -> Parts:
    """Return ratings of 100 jokes from -10 to 10, in bins of equal width.

    This is part 1 of the data: 24,983 users with 36 ratings or more, 7,200 of them with all 100.

    Parameters
    ----------
    folder : path-like, optional
        The folder that has ``jester/``, or that folder itself; otherwise what the environment
        variable ``GRAFTWORK_DATA`` says. The file is ``jester1_ratings_int16.npz``.
    complete : bool
        Whether to take only users who rated every joke. Otherwise jokes that were not rated are
        missing cells, in the state ``"(missing)"``: one like others to `MarkovNetwork`, unless
        its `missing` is "drop-rows", "available-case" or "impute".
    least : int
        Ratings that a user must have; used with ``complete=False``.
    bins : int
        Number of bins, at least 2. With 5, state 1 is a rating from -10 to below -6, and state 5
        one from 6 to 10.
    held_out : float
        Share of the users to test on, drawn at random. No row is in both parts: users whose
        ratings are all in the same bins stay together.
    random_state : int, Generator or None
        The same seed gives the same users.

    Returns
    -------
    Parts
        ``train`` and ``test``, users in the order of the file. Variables are ``"joke1"`` to
        ``"joke100"``, their states 1 to `bins`, and ``"(missing)"`` where cells are missing.

    Notes
    -----
    Not part of the package. Free for research when the paper is cited.

    Examples
    --------
    >>> load_jester()
    Parts: 6480 rows to learn from, 720 to test on; 100 variables
    >>> load_jester(complete=False).train.states[0]
    (1, 2, 3, 4, 5, '(missing)')
    """
    least, bins = whole("least", least, 1, _JOKES), whole("bins", bins, 2, 100)
    held_out, rng = share("held_out", held_out), generator(random_state)
    path = DATASET.file(folder, "jester1_ratings_int16.npz")
    ratings = arrays_in(path, {"ratings_x100": (None, _JOKES)})["ratings_x100"].astype(np.int64)
    rated = ratings != _NOT_RATED
    odd = rated & ((ratings < _LOWEST) | (ratings > _HIGHEST))
    if odd.any():
        raise DataError(
            f"{path.name}: {ratings[odd][0]} is not a rating; they lie between {_LOWEST} and "
            f"{_HIGHEST}, and {_NOT_RATED} stands for none."
        )
    least = _JOKES if complete else least
    users = np.flatnonzero(rated.sum(axis=1) >= least)
    if users.size < 2:
        raise DataError(
            f"{path.name}: {users.size} users rated {least} jokes or more; at least two are needed."
        )
    table = _table(ratings[users], rated[users], bins)
    with named_after(path):
        return split_distinct(table, held_out, rng)


def _table(ratings: NDArray[np.int64], rated: NDArray[np.bool_], bins: int) -> Table:
    """Return ratings in bins, missing cells in a last state of their own."""
    codes = np.minimum((ratings - _LOWEST) * bins // (_HIGHEST - _LOWEST), bins - 1)
    codes[~rated] = bins
    values: tuple[Any, ...] = tuple(range(1, bins + 1))
    full = np.all(rated, axis=0).tolist()
    states: list[tuple[Hashable, ...]] = [
        values if whole_column else (*values, MISSING_STATE) for whole_column in full
    ]
    return Table(tuple(f"joke{j + 1}" for j in range(_JOKES)), tuple(states), codes.T)


DATASET = Dataset(
    "jester",
    load_jester,
    form="An archive with one array, ratings_x100: int16, users x 100 jokes, ratings times 100, "
    "9900 where a joke was not rated.",
    source="https://goldberg.berkeley.edu/jester-data (jester-data-1)",
    cite="Goldberg, Roeder, Gupta and Perkins (2001), Eigentaste: a constant time collaborative "
    "filtering algorithm, Information Retrieval 4(2), 133-151",
)
