"""Numbers that repeat: each different one once, and for each place which of them it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats

Bytes = NDArray[np.uint8]

# Worth a file that older versions cannot read: at least half of the bytes, and so many.
LEAST_SAVING = 256


def pack(numbers: Floats) -> tuple[Floats, Bytes] | None:
    """Return the different numbers and the packed indices of all, or None if that saves too little.

    Numbers are told apart by their bits: 0.0 and -0.0 are two. An index has as many bits as the
    number of different numbers needs, first bit first; the last byte is filled up with zeros.

    Examples
    --------
    >>> values, indices = pack(np.tile([0.5, -1.0, 0.5, 0.0], 100))
    >>> sorted(values.tolist()), len(indices)
    ([-1.0, 0.0, 0.5], 100)
    """
    plain = np.ascontiguousarray(numbers, dtype=np.float64)
    different, places = np.unique(plain.view(np.uint64), return_inverse=True)
    bits = bits_for(len(different))
    packed = 8 * len(different) + -(-len(plain) * bits // 8)
    if packed > 4 * len(plain) or 8 * len(plain) - packed < LEAST_SAVING:
        return None
    shifts = np.arange(bits)[::-1]
    table = (np.arange(len(different))[:, None] >> shifts & 1).astype(np.uint8)
    return different.view(np.float64), np.packbits(table[places.ravel()])


def unpack(values: Floats, indices: Bytes, size: int) -> Floats:
    """Return the numbers behind values and indices, sizes checked before anything is allocated.

    Raises
    ------
    ValueError
        If the indices are not of so many numbers, or point outside the values.

    Examples
    --------
    >>> values, indices = pack(np.tile([0.5, -1.0, 0.5, 0.0], 100))
    >>> unpack(values, indices, 400)[:4]
    array([ 0.5, -1. ,  0.5,  0. ])
    """
    bits = bits_for(len(values))
    if len(indices) != -(-size * bits // 8):
        raise ValueError("its indices do not fit its variables and edges")
    places = np.zeros(size, dtype=np.int64)
    spread = np.unpackbits(indices)
    if spread[size * bits :].any():
        raise ValueError("its indices do not end where they should")
    for bit in range(bits):
        places = 2 * places + spread[bit : size * bits : bits]
    if (places >= len(values)).any():
        raise ValueError("an index points outside its values")
    return values[places]


def bits_for(count: int) -> int:
    """Return how many bits tell so many things apart; at least 1.

    Examples
    --------
    >>> bits_for(1), bits_for(2), bits_for(11)
    (1, 1, 4)
    """
    return max(1, (count - 1).bit_length())
