"""Index arithmetic for ragged tables: many small grids addressed in one flat vector at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from graftwork.inference.layout import Ints


def offsets(sizes: Ints) -> Ints:
    """Return where consecutive blocks of these sizes start, and where the last ends."""
    out = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=out[1:])
    return out


def grids(
    starts: Ints, rows: Ints, cols: Ints, row_strides: ArrayLike, col_strides: ArrayLike
) -> Ints:
    """Return the flat indices of many strided grids, one after the other, each row-major.

    Shapes: starts, rows, cols, row_strides, col_strides (k,) int64, or a scalar for the strides;
    returns (sum of rows * cols,) int64.

    Examples
    --------
    A 2 x 3 table at 0, then the same cells read as its transpose:

    >>> grids(np.array([0, 0]), np.array([2, 3]), np.array([3, 2]), np.array([3, 1]), [1, 3])
    array([0, 1, 2, 3, 4, 5, 0, 3, 1, 4, 2, 5])
    """
    sizes = rows * cols
    owner = np.repeat(np.arange(len(sizes)), sizes)
    local = np.arange(len(owner)) - offsets(sizes)[:-1][owner]
    a, b = local // cols[owner], local % cols[owner]
    row = np.broadcast_to(np.asarray(row_strides, dtype=np.int64), sizes.shape)[owner]
    col = np.broadcast_to(np.asarray(col_strides, dtype=np.int64), sizes.shape)[owner]
    out: Ints = starts[owner] + a * row + b * col
    return out
