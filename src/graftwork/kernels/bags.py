"""Questions about bags: the attributes of each position, in compressed rows."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def repeats(indptr, indices, n_attributes):
    """Return whether some attribute occurs twice at one position.

    Parameters
    ----------
    indptr : (T + 1,) int64
        Position t has ``indices[indptr[t]:indptr[t + 1]]``.
    indices : (nnz,) int32
        Attribute numbers, in any order.
    n_attributes : int
        One more than the largest number there may be.

    Returns
    -------
    bool
    """
    last = np.full(n_attributes, -1, dtype=np.int64)
    for t in range(len(indptr) - 1):
        for entry in range(indptr[t], indptr[t + 1]):
            if last[indices[entry]] == t:
                return True
            last[indices[entry]] = t
    return False
