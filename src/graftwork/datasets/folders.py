"""Files of data sets: the folder they lie in, and what is in them, read whole and checked."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.sources import named_after, opened
from graftwork.errors import DataError

#: The environment variable that says where data sets lie.
VARIABLE = "GRAFTWORK_DATA"

#: Where data sets lie, None for what the environment variable says.
Folder = str | PathLike[str] | None
Bytes = NDArray[np.uint8]

_COMMA, _END = ord(","), ord("\n")


def data_folder(folder: Folder) -> Path | None:
    """Return the folder of data sets, None if it is not given.

    ``~`` is that of the user; None stands for what ``GRAFTWORK_DATA`` says.

    Examples
    --------
    >>> data_folder("data/sets").parts
    ('data', 'sets')
    """
    if folder is None:
        folder = os.environ.get(VARIABLE) or None
    if folder is None:
        return None
    if not isinstance(folder, str | PathLike) or not str(folder):
        raise DataError(f"folder is {folder!r}; use the path of a folder, or None.")
    return Path(folder).expanduser()


def whole_text(path: Path) -> bytes:
    """Return what is in a file, unpacked if it is gzipped, with plain line ends.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "t.data")
    >>> _ = path.write_bytes(b"0,1\\r\\n")
    >>> whole_text(path)
    b'0,1\\n'
    """
    with named_after(path), opened(path) as raw:
        text = raw.read()
    return text.replace(b"\r\n", b"\n") if b"\r" in text else text


def whole_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file without their ends; blank ones at the end are left out.

    Only line feeds end a line: cells may hold other characters that `str.splitlines` knows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "t.tsv")
    >>> _ = path.write_bytes(b"id\\n7\\n\\n")
    >>> whole_lines(path)
    ['id', '7']
    """
    with named_after(path), opened(path) as raw:
        text = raw.read().decode("utf-8-sig")
    return text.replace("\r\n", "\n").rstrip("\n").split("\n")


def arrays_in(path: Path, kinds: Mapping[str, tuple[int | None, ...]]) -> dict[str, NDArray[Any]]:
    """Return arrays of whole numbers from a NumPy archive, none of them empty.

    `kinds` are the arrays wanted and their shapes, None for any length.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "t.npz")
    >>> np.savez(path, a=np.eye(2, dtype=int))
    >>> arrays_in(path, {"a": (None, 2)})["a"].tolist()
    [[1, 0], [0, 1]]
    >>> arrays_in(path, {"a": (None, 3)})
    Traceback (most recent call last):
    graftwork.errors.DataError: t.npz: the array 'a' has shape (2, 2), not (any, 3).
    """
    with named_after(path):
        found = _archived(path, tuple(kinds))
        for name, shape in kinds.items():
            _check_array(name, found[name], shape)
    return found


def _archived(path: Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return arrays of an archive by name."""
    if not zipfile.is_zipfile(path):
        raise DataError("is not a NumPy archive (.npz), or only part of one.")
    try:
        # Opened here, since np.load leaves the file open where the archive is damaged.
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as archive:
            absent = [name for name in names if name not in archive.files]
            if absent:
                raise DataError(
                    f"the archive lacks the array {absent[0]!r}; it has {sorted(archive.files)}."
                )
            return {name: archive[name] for name in names}
    except DataError:
        raise
    except (zipfile.BadZipFile, ValueError, RuntimeError) as error:
        raise DataError(f"the NumPy archive is damaged ({error}).") from error


def _check_array(name: str, array: NDArray[Any], shape: tuple[int | None, ...]) -> None:
    """Refuse an array of another kind or shape."""
    fits = array.ndim == len(shape) and array.size > 0
    if not fits or any(
        want not in (None, have) for want, have in zip(shape, array.shape, strict=True)
    ):
        words = ", ".join("any" if want is None else str(want) for want in shape)
        raise DataError(
            f"the array {name!r} has shape {array.shape}, not ({words}{',' * (len(shape) == 1)})."
        )
    if array.dtype.kind not in "iu":
        raise DataError(f"the array {name!r} is of type {array.dtype}, not of whole numbers.")


def check_range(path: Path, name: str, array: NDArray[Any], low: int, high: int) -> None:
    """Refuse an array of a file with numbers outside a range, and return None.

    Examples
    --------
    >>> check_range(Path("t.npz"), "y", np.array([3]), 0, 9)
    """
    if array.min() < low or array.max() > high:
        worst = array.min() if array.min() < low else array.max()
        raise DataError(
            f"{path.name}: the array {name!r} holds {worst}, but its numbers must lie between "
            f"{low} and {high}."
        )


def one_character_cells(text: bytes, allowed: bytes, first_line: int = 1) -> Bytes:
    r"""Return the cells of lines such as ``0,1,1``, as the bytes they are written with.

    All lines but the last end with a line feed. A cell must hold one of the characters `allowed`;
    the error about another, or about a ragged line, says its number, counted from `first_line`.

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
