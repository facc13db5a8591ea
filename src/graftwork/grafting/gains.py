"""By how much the objective would fall if one block alone were optimised."""

from __future__ import annotations

import numpy as np

from graftwork.data.compact import Sample
from graftwork.grafting.cells import CellSpace
from graftwork.grafting.space import TableSpace
from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.gains import cell_gains, table_gains
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.protocol import Point
from graftwork.penalties.protocol import Penalty


def block_gains(
    space: TableSpace,
    point: Point,
    penalty: Penalty,
    sample: Sample,
    keys: Ints,
    factors: Floats | None = None,
) -> Floats:
    """Return by how much the objective would fall if each block alone were optimised.

    ``factors`` multiply lam; None is 1 for every block.
    """
    cards = sample.cards
    tolls = np.full(len(keys), penalty.lam) if factors is None else penalty.lam * factors
    pairs, which = distinct_pairs(space.pairs(keys), len(cards))
    expected = point.pair_expectations(pairs)
    first, second = cards[pairs[:, 0]], cards[pairs[:, 1]]
    given, offsets = np.asarray(expected.given), expected.offsets
    if isinstance(space, CellSpace):
        of_cells: Floats = cell_gains(
            which, space.cells(keys), second, offsets, expected.model, given, expected.data,
            tolls, penalty.l2,
        )  # fmt: skip
        return of_cells
    solve = np.argsort(which)  # tables in the order of `pairs`
    if not penalty.separable:
        tolls = tolls * space.scales(sample.declared, keys)
    tolls = tolls[solve]

    def run(part: slice) -> Floats:
        some: Floats = table_gains(
            first[part], second[part], offsets[part], expected.model, given, expected.data,
            tolls[part], penalty.l2, penalty.separable,
        )  # fmt: skip
        return some

    threads = sample.counts.n_threads
    chunks = cut_evenly((first * second).astype(np.float64), threads)
    gains = np.empty(len(keys))
    gains[solve] = np.concatenate([np.zeros(0), *run_chunks(run, chunks, threads)])
    return gains


def distinct_pairs(pairs: Ints, n: int) -> tuple[Ints, Ints]:
    """Return the distinct pairs in order, and which of them each one is."""
    numbers, which = np.unique(pairs[:, 0] * n + pairs[:, 1], return_inverse=True)
    return np.stack(np.divmod(numbers, n), axis=1), which
