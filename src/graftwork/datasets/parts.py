"""Tables of data sets: rows to learn from and rows to test on; images as rows of pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data import Table
from graftwork.errors import DataError
from graftwork.inference.layout import Ints


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A data set in parts; all have the same variables and states.

    Attributes
    ----------
    train : Table
        Rows to learn from.
    test : Table
        Rows to test on.
    valid : Table or None
        Rows to choose settings by, where the data set comes with some.

    Examples
    --------
    >>> table = Table(("a",), ((0, 1),), [[0, 1, 1]])
    >>> Parts(table, table)
    Parts: 3 rows to learn from, 3 to test on; 1 variable
    """

    train: Table
    test: Table
    valid: Table | None = None

    def __repr__(self) -> str:
        valid = "" if self.valid is None else f", {self.valid.n_rows} to validate on"
        width = self.train.n_variables
        return (
            f"Parts: {self.train.n_rows} rows to learn from{valid}, {self.test.n_rows} to test on; "
            f"{width} variable{'s'[: width != 1]}"
        )


def split_distinct(table: Table, held_out: float, rng: np.random.Generator) -> Parts:
    """Return the rows in two parts, equal rows in the same one, in the order they had.

    `held_out` is the share of the rows to test on; fewer where equal rows would make it more.

    Examples
    --------
    >>> table = Table(("a",), ((0, 1, 2, 3),), [[0, 1, 2, 3, 0]])
    >>> split_distinct(table, 0.2, np.random.default_rng(0))
    Parts: 4 rows to learn from, 1 to test on; 1 variable
    """
    _, group = np.unique(table.codes.T, axis=0, return_inverse=True)
    group = group.reshape(-1)
    sizes = np.bincount(group)
    if sizes.size < 2:
        raise DataError("all rows are equal, so there are no others to test on.")
    order = rng.permutation(sizes.size)
    tested = np.cumsum(sizes[order]) <= min(round(held_out * group.size), group.size - 1)
    tested[0] = True
    there = np.isin(group, order[tested])
    return Parts(table.take_rows(~there), table.take_rows(there))


def held_apart(order: Ints, held_out: float) -> tuple[Ints, Ints]:
    """Return the first and the last of some rows, one of each at least.

    `held_out` is the share of the last ones, and `order` has two rows or more.

    Examples
    --------
    >>> held_apart(np.array([4, 2, 3, 9]), 0.25)
    (array([4, 2, 3]), array([9]))
    """
    count = min(max(round(held_out * order.size), 1), order.size - 1)
    return order[: order.size - count], order[order.size - count :]


def pixel_table(images: NDArray[Any]) -> Table:
    """Return images as rows of a table.

    Variable ``"r3c5"`` is the pixel in row 3 and column 5, both from 0; states 0 and 1.

    Examples
    --------
    >>> table = pixel_table(np.eye(2, dtype=np.uint8)[None])
    >>> table.names, table[0]
    (('r0c0', 'r0c1', 'r1c0', 'r1c1'), (1, 0, 0, 1))
    """
    count, height, width = images.shape
    names = tuple(f"r{r}c{c}" for r in range(height) for c in range(width))
    return Table(names, ((0, 1),) * len(names), images.reshape(count, -1).T)
