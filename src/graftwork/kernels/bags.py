"""Questions about bags: the attributes of each position, in compressed rows."""

from __future__ import annotations

import numpy as np
from numba import njit

#: Positions with at most this many attributes are compared pair by pair.
FEW = 64


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
        One more than the largest number there may be. Memory for all of them is taken only where
        a position has many: a sentence should not cost what a whole vocabulary does.

    Returns
    -------
    bool
    """
    most = 0
    for t in range(len(indptr) - 1):
        most = max(most, indptr[t + 1] - indptr[t])
    last = np.full(n_attributes if most > FEW else 0, -1, dtype=np.int64)
    for t in range(len(indptr) - 1):
        for entry in range(indptr[t], indptr[t + 1]):
            number = indices[entry]
            if most > FEW:
                if last[number] == t:
                    return True
                last[number] = t
                continue
            for other in range(indptr[t], entry):
                if indices[other] == number:
                    return True
    return False
