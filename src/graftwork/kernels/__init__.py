"""Compiled loops: arrays in, arrays out. Nothing here knows what a variable or an edge means."""

from __future__ import annotations

import shutil
import tempfile
import warnings
import weakref

import numba

from graftwork.errors import CacheWarning


def _probe() -> None:
    """Do nothing: whether this can be cached tells whether the kernels can."""


def _ensure_cache() -> None:
    """Make sure that kernels can be cached: where nothing can be written, for this process only.

    Numba refuses to compile what is to be cached where there is no place for it.
    """
    try:
        numba.njit(cache=True)(_probe)
    except RuntimeError:
        folder = tempfile.mkdtemp(prefix="graftwork-kernels-")
        weakref.finalize(numba, shutil.rmtree, folder, ignore_errors=True)  # at the end
        numba.config.CACHE_DIR = folder
        warnings.warn(
            "compiled code cannot be kept, because neither the package's folder nor the home can "
            "be written: the first fit of every process takes up to a minute; set NUMBA_CACHE_DIR "
            "to a folder that can be written.",
            CacheWarning,
            stacklevel=2,
        )


_ensure_cache()
