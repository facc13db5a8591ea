"""Marginals given what each row has: belief propagation, row by row or all rows on a device."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.columns import level_of_caller
from graftwork.errors import ConvergenceWarning, DataError
from graftwork.inference.device.propagation import propagate_sets
from graftwork.inference.device.torch_ import wants_device
from graftwork.inference.evidence import observe, restore
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.loopy import LoopyBP
from graftwork.models.answers import read_rows

if TYPE_CHECKING:
    from graftwork.models.pairwise import PairwiseMRF


def marginals_of_rows(model: PairwiseMRF, X: Any, device: str | None) -> dict[Any, Floats]:
    """Return {name: (rows, states)}, the marginals given the cells that each row has."""
    on_device = wants_device(device)
    rows = read_rows(model, X, "error").codes.astype(np.int64)
    potentials = model.potentials
    cards = potentials.layout.cards
    codes = np.where(rows < cards[:, None], rows, -1)
    if on_device:
        found = propagate_sets(potentials, codes, str(device))
        _check(found.log_partition, found.residual > LoopyBP().tol)
        listed = [found.marginals[:, i, :states] for i, states in enumerate(cards.tolist())]
    else:
        values, log_partition, unsettled = _one_by_one(potentials, codes)
        _check(log_partition, unsettled)
        listed = np.split(values, potentials.layout.unary_offsets[1:-1], axis=1)
    return dict(zip(model.names, listed, strict=True))


def _one_by_one(potentials: Potentials, codes: Ints) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return marginals (rows, unaries), log Z and what did not settle; equal rows once."""
    layout = potentials.layout
    different, line = np.unique(codes, axis=1, return_inverse=True)
    count = different.shape[1]
    values, log_partition = np.zeros((count, layout.n_unary)), np.full(count, -np.inf)
    unsettled = np.zeros(count, dtype=np.bool_)
    for r in range(count):
        reduced = observe(potentials, np.ascontiguousarray(different[:, r]))
        if reduced.constant > -np.inf:
            beliefs = LoopyBP().infer(reduced.potentials)
            values[r] = restore(reduced, layout, beliefs.values)
            log_partition[r] = reduced.constant + beliefs.log_partition
            unsettled[r] = not beliefs.converged
    back = line.ravel()
    return values[back], log_partition[back], unsettled[back]


def _check(log_partition: Floats, unsettled: NDArray[np.bool_]) -> None:
    """Refuse rows that are impossible; warn of those whose messages did not settle."""
    bad = np.isneginf(log_partition)
    if bad.any():
        raise DataError(
            f"row {int(np.argmax(bad))}: what it has is impossible under this network, whose "
            "potentials are -inf there."
        )
    if unsettled.any():
        warnings.warn(
            f"belief propagation did not converge for {int(unsettled.sum()):,} of "
            f"{len(unsettled):,} rows: their marginals may be poor.",
            ConvergenceWarning,
            stacklevel=level_of_caller(),
        )
