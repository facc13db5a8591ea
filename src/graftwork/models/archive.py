"""Files of numbers and names: one zip with a JSON header and arrays. Never a pickle.

Members, all stored uncompressed: ``graftwork.json`` and the arrays of the format, as ``.npy``
vectors. Every header has ``format`` (its name), ``version``, ``library`` (the version that wrote
it), ``sha256`` of the arrays together, and ``info``, whatever the learner wanted to keep.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.atomic import replacing
from graftwork.errors import DataError, ModelFileError
from graftwork.version import __version__

HEADER = "graftwork.json"

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: its name, what it holds, and its arrays.

    Attributes
    ----------
    name : str
    holds : str
        What is in such a file, in words.
    arrays : {version: {member: type}}
        The members with arrays of each version, in order, and the type of their numbers.
    """

    name: str
    holds: str
    arrays: Mapping[int, Mapping[str, str]]


NETWORK = Format(
    "graftwork-model",
    "a network",
    {
        1: {"unary.npy": "<f8", "pairwise.npy": "<f8"},
        2: {"values.npy": "<f8", "indices.npy": "|u1"},
    },
)
CHAIN = Format(
    "graftwork-chain",
    "a chain of labels",
    {
        1: {
            "attributes.npy": "<i4",
            "outputs.npy": "<i4",
            "moves.npy": "<i8",
            "weights.npy": "<f8",
            "columns.npy": "<i8",
        }
    },
)
FORMATS = {kind.name: kind for kind in (NETWORK, CHAIN)}


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A file of a format and version we know; its header and arrays are not checked yet."""

    kind: Format
    header: dict[str, Any]
    members: tuple[bytes, ...]

    @property
    def version(self) -> int:
        """The version of the format."""
        version: int = self.header["version"]
        return version

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Return the arrays, after a check of their sum and their types.

        Raises
        ------
        ValueError
            If they are not what was written.
        """
        if _sha256(self.members) != self.header["sha256"]:
            raise ValueError("the checksum of its arrays does not match")
        kinds = self.kind.arrays[self.version].values()
        return tuple(_read_npy(data, k) for data, k in zip(self.members, kinds, strict=True))

    def info(self) -> dict[str, Any]:
        """Return what the learner kept.

        Raises
        ------
        ValueError
            If it is no dict.
        """
        info = self.header.get("info")
        if not isinstance(info, dict):
            raise ValueError("its info is not a dict")
        return info


def write_archive(
    path: PathLike,
    kind: Format,
    version: int,
    fields: Mapping[str, Any],
    arrays: Sequence[NDArray[Any]],
    info: Mapping[str, Any] | None,
) -> None:
    """Write a file in one step: the old one, if any, stays until the new one is complete.

    Parameters
    ----------
    fields : dict
        What the header has besides what every header has.
    arrays : sequence of vector
        In the order of the format's members.

    Raises
    ------
    DataError
        If the info cannot be written; nothing is written then.
    """
    kinds = kind.arrays[version]
    members = [_npy_bytes(array, k) for array, k in zip(arrays, kinds.values(), strict=True)]
    header = {
        "format": kind.name,
        "version": version,
        "library": __version__,
        **fields,
        "sha256": _sha256(members),
        "info": dict(info or {}),
    }
    try:
        text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(
            f"the info of the model cannot be written as JSON: {error}; keep to text, finite "
            "numbers, lists and dicts."
        ) from error
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in zip((HEADER, *kinds), (text, *members), strict=True):
            # A fixed date, so that the same model gives the same bytes.
            archive.writestr(zipfile.ZipInfo(name), data)
    with replacing(path) as file:
        file.write(buffer.getvalue())


def open_archive(path: PathLike, wanted: Format | None = None) -> Opened:
    """Return a file of the format wanted, or of any we know, unchecked but for its members.

    Raises
    ------
    ModelFileError
        If the file is missing, foreign, damaged, of another format, or of a newer version.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise ModelFileError(f"there is no file {os.fspath(path)!r}.") from error
    except OSError as error:
        raise ModelFileError(f"cannot read {os.fspath(path)!r}: {error.strerror}.") from error
    if not data.startswith(b"PK"):
        raise ModelFileError(
            f"{os.fspath(path)!r} is not a graftwork model file; use one written by a model's "
            "save, graftwork learn or graftwork crf."
        )
    try:
        members = _members(data)
        header = json.loads(members[HEADER])
    except (zipfile.BadZipFile, ValueError, KeyError, NotImplementedError, RecursionError,
            EOFError, OSError, RuntimeError) as error:  # fmt: skip
        raise damaged(path, error) from error
    kind = _kind(path, header, wanted)
    names = tuple(kind.arrays[header["version"]])
    if {*members} != {HEADER, *names}:
        version = header["version"]
        raise damaged(path, ValueError(f"its arrays are not those of format version {version}"))
    return Opened(kind, header, tuple(members[name] for name in names))


def read_info(path: PathLike) -> dict[str, Any]:
    """Return the info dict of a model file of any format, without building the model.

    Raises
    ------
    ModelFileError
        If the file is missing, foreign, damaged, or of a newer version.
    """
    opened = open_archive(path)
    with refusing(path):
        return opened.info()


@contextmanager
def refusing(path: PathLike) -> Iterator[None]:
    """Turn what goes wrong while a file is understood into one error that names the file."""
    try:
        yield
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError, MemoryError) as error:
        raise damaged(path, error) from error


def damaged(path: PathLike, error: Exception) -> ModelFileError:
    """Return the error for a file that cannot be understood."""
    what = str(error).rstrip(".") or type(error).__name__
    return ModelFileError(
        f"{os.fspath(path)!r} is damaged or not a graftwork model: {what}. Restore it from a "
        "copy, or save the model again."
    )


def _kind(path: PathLike, header: Any, wanted: Format | None) -> Format:
    """Return the format of a file, if it is one that is known and wanted."""
    name = header.get("format") if isinstance(header, dict) else None
    kind = FORMATS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ModelFileError(f"{os.fspath(path)!r} is a zip file, but not a graftwork model.")
    if wanted is not None and kind is not wanted:
        raise ModelFileError(
            f"{os.fspath(path)!r} holds {kind.holds}, where {wanted.holds} is wanted; use another "
            "file."
        )
    version, newest = header.get("version"), max(kind.arrays)
    if type(version) is not int or version < 1:
        raise damaged(path, ValueError(f"its format version is {version!r}"))
    if version > newest:
        raise ModelFileError(
            f"{os.fspath(path)!r} has format version {version}, this graftwork {__version__} reads "
            f"up to {newest}; install graftwork {header.get('library', 'of a newer version')}."
        )
    return kind


def _members(data: bytes) -> dict[str, bytes]:
    """Return the members, refusing what could expand or hide something."""
    known = [
        sorted((HEADER, *names)) for kind in FORMATS.values() for names in kind.arrays.values()
    ]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if sorted(entry.filename for entry in entries) not in known:
            names = ", ".join(repr(entry.filename) for entry in entries[:5])
            raise ValueError(f"its members are {names}")
        for entry in entries:
            # Stored members cannot be larger than the file: no bomb can go off.
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > len(data):
                raise ValueError(f"its member {entry.filename!r} is compressed")
        return {entry.filename: archive.read(entry) for entry in entries}


def _sha256(members: Iterable[bytes]) -> str:
    total = hashlib.sha256()
    for data in members:
        total.update(data)
    return total.hexdigest()


def _npy_bytes(values: NDArray[Any], kind: str) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(values, kind), allow_pickle=False)
    return buffer.getvalue()


def _read_npy(data: bytes, kind: str) -> NDArray[Any]:
    """Return a vector of this kind, its size checked before anything is allocated."""
    buffer = io.BytesIO(data)
    if np.lib.format.read_magic(buffer) != (1, 0):
        raise ValueError("an array has an unknown npy version")
    shape, _, stated = np.lib.format.read_array_header_1_0(buffer)
    rest = data[buffer.tell() :]
    wanted = np.dtype(kind)
    if stated != wanted or len(shape) != 1 or len(rest) != wanted.itemsize * shape[0]:
        raise ValueError(f"an array is not a {wanted.name} vector of the size it states")
    return np.frombuffer(rest, dtype=wanted)
