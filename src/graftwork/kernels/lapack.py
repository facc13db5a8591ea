"""Cholesky factors and inverses by LAPACK, as scipy has it, on several threads at once.

scipy's own wrappers hold the interpreter's lock while they compute.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg import cython_lapack

Floats = NDArray[np.float64]


def _function(name: str) -> Any:
    """Return a function of LAPACK that takes addresses."""
    known: dict[str, Any] = dict(cython_lapack.__pyx_capi__)
    capsule = known[name]
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5)
    return kind(pointer(capsule, name_of(capsule)))


_potrf, _potri = _function("dpotrf"), _function("dpotri")
# Below the diagonal of its columns is above that of our rows.
_LOWER = ctypes.byref(ctypes.c_char(b"L"))


def invert_definite(matrix: Floats) -> bool:
    """Invert a symmetric positive definite matrix in its place; return whether it is one.

    Where it is not, what is left in its place has no meaning.

    Examples
    --------
    >>> matrix = np.array([[2.0, 1.0], [1.0, 1.0]])
    >>> invert_definite(matrix), matrix.round(9).tolist()
    (True, [[1.0, -1.0], [-1.0, 2.0]])
    >>> invert_definite(np.array([[1.0, 2.0], [2.0, 1.0]]))
    False
    """
    assert matrix.flags.c_contiguous
    assert matrix.dtype == np.float64
    failed, size = ctypes.c_int(0), ctypes.byref(ctypes.c_int(len(matrix)))
    place, info = matrix.ctypes.data, ctypes.byref(failed)
    _potrf(_LOWER, size, place, size, info)
    if failed.value:
        return False
    _potri(_LOWER, size, place, size, info)
    if failed.value:
        return False
    _mirror(matrix)
    return True


@njit(cache=True, nogil=True)
def _mirror(matrix: Floats) -> None:
    """Copy what is above the diagonal below it."""
    for i in range(len(matrix)):
        for j in range(i):
            matrix[i, j] = matrix[j, i]
