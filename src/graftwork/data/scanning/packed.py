"""Parts of a table in few bits for each cell: packed, written, read and unpacked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.kernels.packing import add_weights, count_bytes, pack, unpack

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
#: For every column what each provisional code stands for.
Lookups = Sequence[NDArray[Any]]

_BITS = (1, 2, 4, 8, 16, 32)
_ALIGNED = 8


def bits_for(count: int) -> int:
    """Return how many bits hold this many codes: 1, 2, 4, 8, 16 or 32.

    Examples
    --------
    >>> [bits_for(count) for count in (1, 2, 3, 17, 256, 257)]
    [1, 1, 2, 8, 8, 16]
    """
    return next(bits for bits in _BITS if count <= 1 << bits)


def _bytes_of(bits: int, rows: int) -> int:
    """Return how many bytes a column takes, so that the next one starts well."""
    needed = -(-rows * bits // 8)
    return -(-needed // _ALIGNED) * _ALIGNED


@dataclass(frozen=True, slots=True, eq=False)
class PackedPart:
    """Some rows of a table."""

    n_rows: int
    bits: tuple[int, ...]  # bits of each column's codes
    cells: Bytes  # the codes, one column after the other
    weights: Floats | None = None

    def unpacked(self, lookups: Lookups) -> NDArray[Any]:
        """Return final codes, shape (n_columns, n_rows): what `lookups` have for those packed."""
        wide = any(lookup.dtype != np.uint8 for lookup in lookups)
        kind = np.uint16 if wide else np.uint8
        out = np.empty((len(self.bits), self.n_rows), dtype=kind)
        start = 0
        for j, (bits, lookup) in enumerate(zip(self.bits, lookups, strict=True)):
            stop = start + _bytes_of(bits, self.n_rows)
            column = self.cells[start:stop]
            if bits <= 8:
                full = np.zeros(1 << bits, dtype=kind)
                known = lookup[: 1 << bits]  # later parts may know more codes
                full[: len(known)] = known
                unpack(column, bits, full, out[j])
            else:
                codes = column.view(f"<u{bits // 8}")[: self.n_rows]
                out[j] = lookup[codes]
            start = stop
        return out


def packed(
    columns: Sequence[NDArray[Any]], counts: Sequence[int], weights: Floats | None
) -> tuple[PackedPart, list[NDArray[np.int64]]]:
    """Return columns of codes as a part, and how many rows each code has.

    `counts` are how many codes each column may have.
    """
    n_rows = len(columns[0])
    bits = tuple(bits_for(count) for count in counts)
    starts = np.cumsum([0, *(_bytes_of(own, n_rows) for own in bits)])
    cells = np.zeros(int(starts[-1]), dtype=np.uint8)
    rows = []
    for j, (codes, own, count) in enumerate(zip(columns, bits, counts, strict=True)):
        room = cells[starts[j] : starts[j + 1]]
        if own > 8:
            room.view(f"<u{own // 8}")[:n_rows] = codes
            rows.append(np.bincount(codes, minlength=count))
            continue
        used = room[: -(-n_rows * own // 8)]
        if own == 8:
            used[:] = codes
        else:
            pack(codes, own, used)
        rows.append(_count(used, own, n_rows)[:count])
    return PackedPart(n_rows, bits, cells, weights), rows


def _occurrences(bits: int) -> NDArray[np.int64]:
    """Return how often each code is in each byte, shape (256, 2**bits)."""
    out = np.zeros((256, 1 << bits), dtype=np.int64)
    values = np.arange(256)
    for shift in range(0, 8, bits):
        np.add.at(out, (values, values >> shift & ((1 << bits) - 1)), 1)
    return out


_OCCURRENCES = {bits: _occurrences(bits) for bits in (1, 2, 4, 8)}


def _count(used: Bytes, bits: int, n_rows: int) -> NDArray[np.int64]:
    """Return how many rows each code of a packed column has."""
    counts: NDArray[np.int64] = count_bytes(used) @ _OCCURRENCES[bits]
    counts[0] -= len(used) * (8 // bits) - n_rows  # the rest of the last byte
    return counts


def weigh(codes: NDArray[Any], weights: Floats, sums: Floats) -> None:
    """Add the weight of each row to the sum of its code, in the order of the rows."""
    add_weights(codes, weights, sums)
