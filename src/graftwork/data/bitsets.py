"""Which rows are in which state, one bit for each: what pair counts are made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graftwork.kernels.bitwords import WORD_BLOCK
from graftwork.kernels.counts import count_sets, pack_states
from graftwork.kernels.threads import cut_evenly, run_chunks

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

#: Weights with more binary digits are added up row by row.
MOST_PLANES = 32


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """The rows whose weight has a certain binary digit.

    Attributes
    ----------
    bits : (states, words) uint64
        Of each state, such rows that are in it.
    shift : int
        The digit: these rows count ``2**shift``.
    """

    bits: Words
    shift: int


@dataclass(frozen=True, slots=True, eq=False)
class Bitsets:
    """Bitsets of all states of all variables but each one's last.

    Attributes
    ----------
    bits : (states, words) uint64
    offsets : (n + 1,) int64
        Variable ``i`` has the rows ``offsets[i]:offsets[i + 1]`` of `bits`.
    planes : tuple of Plane
        A weighted count is the sum over planes of common bits times ``2**shift``; without weights
        there is one plane, the bitsets themselves.
    """

    bits: Words
    offsets: Ints
    planes: tuple[Plane, ...]

    def count(self) -> Ints:
        """Return the weight of each bitset's rows."""
        counts = np.zeros(len(self.bits), dtype=np.int64)
        for plane in self.planes:
            count_sets(plane.bits, plane.shift, counts)
        return counts


def digits_of(weights: NDArray[np.float64]) -> Ints | None:
    """Return whole weights as integers, or None where they are not whole or too large.

    Examples
    --------
    >>> digits_of(np.array([2.0, 0.0, 1.0]))
    array([2, 0, 1])
    >>> digits_of(np.array([0.5])) is None
    True
    """
    if not len(weights) or not 0 <= weights.min() <= weights.max() < 2**MOST_PLANES:
        return None
    whole = weights.astype(np.int64)
    return whole if np.array_equal(whole, weights) else None


def plane_words(digits: Ints) -> Ints:
    """Return how many words each plane has when rows lie in the order of falling weights.

    Examples
    --------
    >>> plane_words(np.repeat([3, 1, 0], [64, 6400, 1000]))
    array([104,   8])
    """
    ordered = np.sort(digits)[::-1]
    n_planes = int(digits.max(initial=0)).bit_length()
    return np.array([_stop(ordered, p) for p in range(n_planes)], dtype=np.int64)


def _stop(ordered: Ints, plane: int) -> int:
    """Return the number of words up to the last row of a plane."""
    rows = np.flatnonzero(ordered >> plane & 1)
    return _words(int(rows[-1]) + 1 if len(rows) else 0)


def _words(n_rows: int) -> int:
    """Return how many words hold so many rows, as a multiple of what kernels want."""
    return -(-n_rows // (64 * WORD_BLOCK)) * WORD_BLOCK


def pack(
    codes: NDArray[np.unsignedinteger], counts: Ints, digits: Ints | None, n_threads: int
) -> Bitsets:
    """Return the bitsets of the first ``counts[i]`` states of every variable.

    Parameters
    ----------
    codes : (n, rows) unsigned integers
    counts : (n,) int64
    digits : (rows,) int64 or None
        Weights. Rows are put in the order of falling weights: those of weight zero are left out,
        and planes of large weights, which few rows have, are short.
    """
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    order = np.zeros(0, dtype=np.int64)
    n_rows = codes.shape[1]
    if digits is not None:
        n_rows = int(np.count_nonzero(digits))
        order = _falling(digits)[:n_rows]
    bits = _aligned(int(offsets[-1]), _words(n_rows))

    def run(part: slice) -> None:
        pack_states(part.start, part.stop, codes, order, offsets, bits)

    if n_rows:  # an empty order would mean all rows as they are, and there is no room for them
        run_chunks(run, cut_evenly(np.ones(len(counts)), n_threads), n_threads)
    if digits is None:
        return Bitsets(bits, offsets, (Plane(bits, 0),))
    ordered = digits[order]
    words = plane_words(ordered)
    planes = [_plane(bits, ordered, p, int(n)) for p, n in enumerate(words) if n]
    return Bitsets(bits, offsets, tuple(planes))


def _falling(digits: Ints) -> Ints:
    """Return the order of falling weights; numpy is quick with keys of 16 bits."""
    keys = digits.max(initial=0) - digits
    return np.argsort(
        keys.astype(np.uint16) if keys.max(initial=0) < 2**16 else keys, kind="stable"
    )


def _plane(bits: Words, ordered: Ints, shift: int, n_words: int) -> Plane:
    """Return the bitsets of rows whose weight has a digit."""
    rows = np.zeros(64 * n_words, dtype=np.uint8)
    rows[: len(ordered)] = (ordered >> shift & 1)[: len(rows)]
    mask = np.packbits(rows, bitorder="little").view("<u8").astype(np.uint64)
    chosen = _aligned(len(bits), n_words)
    np.bitwise_and(bits[:, :n_words], mask, out=chosen)
    return Plane(chosen, shift)


def _aligned(n_sets: int, n_words: int) -> Words:
    """Return empty bitsets that begin where registers like to load from."""
    size = n_sets * n_words
    room = np.zeros(size + WORD_BLOCK, dtype=np.uint64)
    shift = -(room.ctypes.data // 8) % WORD_BLOCK
    return room[shift : shift + size].reshape(n_sets, n_words)
