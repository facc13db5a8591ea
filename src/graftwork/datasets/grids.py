"""Text whose cells are single characters between commas, read whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graftwork.errors import DataError

Bytes = NDArray[np.uint8]

_COMMA, _END = ord(","), ord("\n")


def one_character_cells(text: bytes, allowed: bytes, first_line: int = 1) -> Bytes:
    r"""Return the cells of lines such as ``0,1,1``, as the bytes they are written with.

    Parameters
    ----------
    text : bytes
        Lines that end with a line feed each; those of the last ones may be missing, or too many.
    allowed : bytes
        The characters that may be in a cell.
    first_line : int
        Number of the first line, for errors.

    Returns
    -------
    array of uint8, shape (n_lines, n_cells)
        The characters.

    Raises
    ------
    DataError
        If there are no lines, they differ in the number of cells, or a cell holds anything else;
        the message says the line.

    Examples
    --------
    >>> one_character_cells(b"0,1\n1,1\n", b"01") - ord("0")
    array([[0, 1],
           [1, 1]], dtype=uint8)
    >>> one_character_cells(b"0,1\n1,2\n", b"01")
    Traceback (most recent call last):
    graftwork.errors.DataError: line 2, cell 2: '2' is none of '0', '1'.
    """
    text = text.rstrip(b"\n") + b"\n"
    if text == b"\n":
        raise DataError("the file has no rows.")
    length = text.index(b"\n") + 1
    flat = np.frombuffer(text, dtype=np.uint8)
    if length % 2 == 0 and flat.size % length == 0:
        lines = flat.reshape(-1, length)
        cells, marks = lines[:, ::2], lines[:, 1::2]
        known = np.zeros(256, dtype=np.bool_)
        known[np.frombuffer(allowed, dtype=np.uint8)] = True
        if (marks[:, :-1] == _COMMA).all() and (marks[:, -1] == _END).all() and known[cells].all():
            return cells
    raise DataError(_first_fault(text, allowed, first_line))


def _first_fault(text: bytes, allowed: bytes, first_line: int) -> str:
    """Return the sentence about the first line that is not as it should be."""
    rows = text.rstrip(b"\n").split(b"\n")
    width = rows[0].count(b",") + 1
    known = [bytes([character]) for character in allowed]
    for number, row in enumerate(rows, first_line):
        cells = row.split(b",")
        if len(cells) != width:
            return f"line {number} has {len(cells)} cells, but line {first_line} has {width}."
        for place, cell in enumerate(cells, 1):
            if cell not in known:
                shown = cell[:20].decode("utf-8", "replace")
                choices = ", ".join(repr(each.decode()) for each in known)
                return f"line {number}, cell {place}: {shown!r} is none of {choices}."
    return "the lines cannot be read."
