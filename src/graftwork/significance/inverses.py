"""Inverses of positive definite matrices, one for each variable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graftwork.data.parts import InvertingEngine
from graftwork.inference.layout import Floats
from graftwork.kernels.lapack import invert_definite
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.significance.rows import FittedRows

# Matrices from this size on are inverted where the rows' engine is, if it inverts any.
LARGE = 256
# A diagonal is raised by the first of these shares of its mean that makes a matrix definite.
RAISED = tuple(10.0**power for power in range(-10, 3, 2))


def inverted(matrices: Sequence[Floats], rows: FittedRows) -> list[Floats]:
    """Return the inverses of positive definite matrices, large ones where the rows' engine is."""
    found: list[Floats | None] = [None] * len(matrices)
    engine = None if rows.sample.parts is None else rows.sample.parts.engine
    if isinstance(engine, InvertingEngine):
        large = [k for k, matrix in enumerate(matrices) if len(matrix) >= LARGE]
        raised = (raised_by(matrices[k], RAISED[0]) for k in large)
        for k, one in zip(large, engine.inverses(raised), strict=True):
            found[k] = one
    left = [k for k, one in enumerate(found) if one is None]
    costs = np.array([float(len(matrices[k])) ** 3 + 1.0 for k in left])

    def invert(part: slice) -> None:
        for k in left[part]:
            found[k] = inverse(matrices[k])

    run_chunks(invert, cut_evenly(costs, rows.n_threads), rows.n_threads)
    return [one for one in found if one is not None]


def raised_by(matrix: Floats, share: float) -> Floats:
    """Return a matrix whose diagonal is raised by a share of its mean."""
    raised, size = matrix.copy(), len(matrix)
    mean = float(np.abs(matrix.diagonal()).mean()) or 1.0  # 0 where a probability rounds to 1
    raised.flat[:: size + 1] += share * mean
    return raised


def inverse(matrix: Floats) -> Floats:
    """Return the inverse of a positive definite matrix, made a little more so.

    Where that is not enough for rounding errors, its diagonal is raised further: one variable of
    thousands must not end a run.
    """
    if not len(matrix):
        return matrix
    for share in RAISED if np.isfinite(matrix.sum()) else ():
        raised = raised_by(matrix, share)
        if invert_definite(raised):
            return raised
    raise np.linalg.LinAlgError("a Hessian is not positive definite, or not finite")
