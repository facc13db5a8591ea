"""Archives (.npz) with a JSON header: how model files, and files of counts, are written and read.

Members are ``graftwork.json`` and vectors (.npy), none of them compressed, so that no file takes
more memory than it has bytes; nothing in them is ever executed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
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
from graftwork.limits import read_bytes
from graftwork.text import cut
from graftwork.version import __version__

PathLike = str | os.PathLike[str]
Info = Mapping[str, Any]

HEADER = "graftwork.json"
#: The characters that an error tells of what is wrong in a file.
_MOST_SAID = 300
#: How `_npy` begins a vector. Nothing else is read: NumPy's reader parses headers as Python.
_VECTOR = re.compile(
    rb"\x93NUMPY\x01\x00(?P<size>..)"
    rb"\{'descr': '(?P<kind>[<|][fiu]\d)', 'fortran_order': False, "
    rb"'shape': \((?P<n>\d{1,18}),\), \} *\n",
    re.DOTALL,
)

# Suffixes of files that hold something else: those of `graftwork.exchange`, and some everybody has.
FOREIGN = (
    ".crfsuite", ".csv", ".cyjs", ".fg", ".gexf", ".graphml", ".lg", ".params", ".uai",
    ".html", ".joblib", ".json", ".pickle", ".pkl", ".tsv", ".txt", ".xml", ".yaml",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file may hold."""

    name: str  # the format, as the header has it
    holds: str  # holds, thing: what it holds, in words, and what that is called for short
    thing: str
    writers: str  # what writes such files, in words
    vectors: Mapping[int, Mapping[str, str]]
    elsewhere: str = ""  # what else to do for a file of another kind, in words


_MODELS = "a model's save, graftwork learn or graftwork crf"
NETWORK = Kind(
    "graftwork-model",
    "a network",
    "model",
    _MODELS,
    {
        1: {"unary.npy": "<f8", "pairwise.npy": "<f8"},
        2: {"values.npy": "<f8", "indices.npy": "|u1"},
    },
    ", or use export for other formats",
)
CHAIN = Kind(
    "graftwork-chain",
    "a chain of labels",
    "model",
    _MODELS,
    {
        1: {
            "attributes.npy": "<i4",
            "outputs.npy": "<i4",
            "moves.npy": "<i8",
            "weights.npy": "<f8",
            "columns.npy": "<i8",
        }
    },
    " (chains have no other format)",
)
COUNTS = Kind(
    "graftwork-counts",
    "counts of pairs",
    "counts",
    "the save of counts",
    {
        1: {"margins.npy": "<i8", "tables.npy": "<i8"},
        2: {"margins.npy": "<f8", "tables.npy": "<f8"},
    },
)
KINDS = {kind.name: kind for kind in (NETWORK, CHAIN, COUNTS)}
MODELS = (NETWORK, CHAIN)


def write(
    path: PathLike,
    kind: Kind,
    version: int,
    fields: Mapping[str, Any],
    vectors: Sequence[NDArray[Any]],
    info: Info | None,
) -> None:
    """Write a file in one step: the old one, if any, stays until the new one is complete."""
    name = Path(path).name
    if name.lower().endswith(FOREIGN):
        raise DataError(
            f"{name!r} is the name of another kind of file, and save writes graftwork's own "
            f"format; end the name in .gw{kind.elsewhere}."
        )
    kinds = kind.vectors[version]
    members = [_npy(vector, k) for vector, k in zip(vectors, kinds.values(), strict=True)]
    header = {
        "format": kind.name,
        "version": version,
        "library": __version__,
        **fields,
        "sha256": _sha256(members),
        "info": info_of(info),
    }
    try:
        text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(
            f"the info of the {kind.thing} cannot be written as JSON: {error}; keep to text, "
            "finite numbers, lists and dicts."
        ) from error
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in zip((HEADER, *kinds), (text, *members), strict=True):
            # A fixed date, so that the same content gives the same bytes.
            archive.writestr(zipfile.ZipInfo(name), data)


def info_of(info: Any) -> dict[str, Any]:
    """Return what is to be kept with a model as a dict, or refuse it.

    Examples
    --------
    >>> info_of(None), info_of({"by": "me"})
    ({}, {'by': 'me'})
    """
    if info is not None and not isinstance(info, Mapping):
        raise DataError(f"info must be a dict of what to keep with the model, got {info!r}.")
    return dict(info or {})


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A file of a format and version we know; its fields and vectors are not checked yet."""

    path: PathLike
    kind: Kind
    header: dict[str, Any]
    members: tuple[bytes, ...]

    def vectors(self) -> tuple[NDArray[Any], ...]:
        """Return the vectors, after a check of their sum and their types."""
        if _sha256(self.members) != self.header["sha256"]:
            raise ValueError("the checksum of its arrays does not match")
        kinds = self.kind.vectors[self.header["version"]].values()
        return tuple(_read_npy(data, k) for data, k in zip(self.members, kinds, strict=True))


def open_file(path: PathLike, wanted: Sequence[Kind] = MODELS) -> Opened:
    """Return a file of one of the kinds wanted."""
    try:
        data = read_bytes(Path(path))
    except FileNotFoundError as error:
        raise ModelFileError(f"there is no file {os.fspath(path)!r}.") from error
    except OSError as error:
        raise ModelFileError(f"cannot read {os.fspath(path)!r}: {error.strerror}.") from error
    if not data.startswith(b"PK"):
        raise ModelFileError(
            f"{os.fspath(path)!r} is not a graftwork {wanted[0].thing} file; use one written by "
            f"{wanted[0].writers}."
        )
    with refusing(path, wanted[0]):
        members = _members(data)
        header = json.loads(members[HEADER])
        kind = _kind(path, header, wanted)
        names = tuple(kind.vectors[header["version"]])
        if {*members} != {HEADER, *names}:
            raise ValueError(f"its arrays are not those of format version {header['version']}")
        if not isinstance(header.get("info"), dict):
            raise ValueError("its info is not a dict")
        return Opened(path, kind, header, tuple(members[name] for name in names))


def _members(data: bytes) -> dict[str, bytes]:
    """Return the members, refusing what could expand or hide something."""
    known = [sorted((HEADER, *names)) for kind in KINDS.values() for names in kind.vectors.values()]
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


def _kind(path: PathLike, header: Any, wanted: Sequence[Kind]) -> Kind:
    """Return the format of a file, if it is one that is known and wanted."""
    name = header.get("format") if isinstance(header, dict) else None
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        thing = wanted[0].thing
        raise ModelFileError(f"{os.fspath(path)!r} is a zip file, but not a graftwork {thing}.")
    if kind not in wanted:
        what = wanted[0].holds if len(wanted) == 1 else f"a {wanted[0].thing}"
        verb = "are" if what.startswith("counts") else "is"
        other = "open it with gw.PairTables.load" if kind is COUNTS else "use another file"
        raise ModelFileError(
            f"{os.fspath(path)!r} holds {kind.holds}, where {what} {verb} wanted; {other}."
        )
    version, newest = header.get("version"), max(kind.vectors)
    if type(version) is not int or version < 1:
        raise ValueError(f"its format version is {cut(repr(version), 40)}")
    if version > newest:
        raise ModelFileError(
            f"{os.fspath(path)!r} has format version {version}, this graftwork {__version__} reads "
            f"up to {newest}; install graftwork "
            f"{cut(str(header.get('library', 'of a newer version')), 40)}."
        )
    return kind


@contextmanager
def refusing(path: PathLike, kind: Kind) -> Iterator[None]:
    """Turn what goes wrong while a file is understood into one error that names the file."""
    try:
        yield
    except ModelFileError:
        raise
    except (ValueError, LookupError, TypeError, OverflowError, RuntimeError, MemoryError,
            EOFError, OSError, zipfile.BadZipFile) as error:  # fmt: skip
        what = cut(str(error).rstrip("."), _MOST_SAID) or type(error).__name__
        raise ModelFileError(
            f"{os.fspath(path)!r} is damaged or not a graftwork {kind.thing}: {what}. Restore it "
            f"from a copy, or save the {kind.thing} again."
        ) from error


def _sha256(members: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(members)).hexdigest()


def _npy(values: NDArray[Any], kind: str) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(values, kind), allow_pickle=False)
    return buffer.getvalue()


def _read_npy(data: bytes, kind: str) -> NDArray[Any]:
    """Return a vector of this kind; no more memory is touched than the member has bytes."""
    found, dtype = _VECTOR.match(data), np.dtype(kind)
    if (
        found is None
        or found["kind"].decode("ascii") != kind
        or int.from_bytes(found["size"], "little") != found.end() - 10
        or int(found["n"]) * dtype.itemsize != len(data) - found.end()
    ):
        raise ValueError(f"an array is not a {dtype.name} vector of the size it states")
    return np.frombuffer(data, dtype, offset=found.end()).copy()
