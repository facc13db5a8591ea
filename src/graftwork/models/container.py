"""The model file: one zip with a JSON header and two arrays. Never a pickle.

Members, all stored uncompressed:

``graftwork.json``
    ``format`` "graftwork-model", ``version`` 1 or 2, ``library`` (the version that wrote it),
    ``variables`` (each with ``name`` and ``states`` as `graftwork.models.encoding` writes them),
    ``edges`` (pairs of variable numbers, i < j), ``sha256`` of the two array members together, and
    ``info``, whatever the learner wanted to keep.
``unary.npy``
    float64: the log-potentials of all variables, one after the other.
``pairwise.npy``
    float64: the tables of all edges, row-major, one after the other.

Where few different numbers repeat (tied weights), version 2 holds in place of these two

``values.npy``
    float64: the different numbers, each once.
``indices.npy``
    uint8: which of them each number of unaries and tables is, packed to as many bits as that needs
    (`graftwork.models.codebook`).
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.atomic import replacing
from graftwork.errors import DataError, ModelFileError
from graftwork.inference.layout import Floats, Layout, Potentials
from graftwork.models.codebook import pack, unpack
from graftwork.models.encoding import decode, encode
from graftwork.version import __version__

FORMAT = "graftwork-model"
VERSION = 2
HEADER = "graftwork.json"
#: The members with the numbers, by format version.
ARRAYS = {1: ("unary.npy", "pairwise.npy"), 2: ("values.npy", "indices.npy")}

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """What a model file holds."""

    names: tuple[Hashable, ...]
    states: tuple[tuple[Hashable, ...], ...]
    potentials: Potentials
    info: dict[str, Any]


def write(path: PathLike, contents: Contents) -> None:
    """Write a model file in one step: the old file, if any, stays until the new one is complete.

    Raises
    ------
    DataError
        If a name, a state or the info cannot be written; nothing is written then.
    """
    layout, weights = contents.potentials.layout, contents.potentials.weights
    packed = pack(weights)
    version = 1 if packed is None else 2
    cut = (weights[: layout.n_unary], weights[layout.n_unary :])
    first, second = (_npy_bytes(array) for array in (packed or cut))
    header = {
        "format": FORMAT,
        "version": version,  # the oldest that can hold it, for the sake of older readers
        "library": __version__,
        "variables": _encode_variables(contents),
        "edges": layout.edges.tolist(),
        "sha256": hashlib.sha256(first + second).hexdigest(),
        "info": contents.info,
    }
    try:
        text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError) as error:
        raise DataError(
            f"the info of the model cannot be written as JSON: {error}; keep to text, finite "
            "numbers, lists and dicts."
        ) from error
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in zip((HEADER, *ARRAYS[version]), (text, first, second), strict=True):
            # A fixed date, so that the same model gives the same bytes.
            archive.writestr(zipfile.ZipInfo(name), data)
    with replacing(path) as file:
        file.write(buffer.getvalue())


def _encode_variables(contents: Contents) -> list[dict[str, Any]]:
    out = []
    for name, states in zip(contents.names, contents.states, strict=True):
        try:
            coded = encode(name)
        except TypeError as error:
            raise DataError(_unwritable(f"the variable name {error}")) from error
        listed = []
        for state in states:
            try:
                listed.append(encode(state))
            except TypeError as error:
                raise DataError(_unwritable(f"a state of {name!r}: {error}")) from error
        out.append({"name": coded, "states": listed})
    return out


def _unwritable(what: str) -> str:
    return (
        f"cannot write {what}. A model file keeps text, numbers, bools, None, bytes, dates and "
        "tuples of these; rename it before fitting."
    )


def _npy_bytes(values: NDArray[Any]) -> bytes:
    kind = "u1" if values.dtype == np.uint8 else "<f8"
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(values, kind), allow_pickle=False)
    return buffer.getvalue()


def read(path: PathLike) -> Contents:
    """Return what a model file holds, after checking all of it.

    Raises
    ------
    ModelFileError
        If the file is missing, foreign, damaged, inconsistent, or of a newer format.
    """
    header, first, second = _open(path)
    try:
        if hashlib.sha256(first + second).hexdigest() != header["sha256"]:
            raise ValueError("the checksum of its arrays does not match")
        names = tuple(decode(item["name"]) for item in header["variables"])
        states = tuple(tuple(map(decode, item["states"])) for item in header["variables"])
        layout = _read_layout(header["edges"], states)
        weights = _read_weights(header["version"], first, second, layout)
        if np.isnan(weights).any() or (weights == np.inf).any():
            raise ValueError("a potential is NaN or +inf")
        info = header["info"]
        if not isinstance(info, dict):
            raise ValueError("its info is not a dict")
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise _damaged(path, error) from error
    return Contents(names, states, Potentials(layout, weights), info)


def read_info(path: PathLike) -> dict[str, Any]:
    """Return the info dict of a model file, without building the model.

    Raises
    ------
    ModelFileError
        If the file is missing, foreign, damaged, or of a newer format.
    """
    info = _open(path)[0].get("info")
    if not isinstance(info, dict):
        raise _damaged(path, ValueError("its info is not a dict"))
    return info


def _open(path: PathLike) -> tuple[dict[str, Any], bytes, bytes]:
    """Return the header and the two arrays, as bytes, of a model file of a version we know."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise ModelFileError(f"there is no file {os.fspath(path)!r}.") from error
    except OSError as error:
        raise ModelFileError(f"cannot read {os.fspath(path)!r}: {error.strerror}.") from error
    if not data.startswith(b"PK"):
        raise ModelFileError(
            f"{os.fspath(path)!r} is not a graftwork model file; pass one that "
            "PairwiseMRF.save wrote."
        )
    try:
        members = _members(data)
        header = json.loads(members[HEADER])
    except (zipfile.BadZipFile, ValueError, KeyError, NotImplementedError, RecursionError,
            EOFError, OSError, RuntimeError) as error:  # fmt: skip
        raise _damaged(path, error) from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"{os.fspath(path)!r} is a zip file, but not a graftwork model.")
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise _damaged(path, ValueError(f"its format version is {version!r}"))
    if version > VERSION:
        raise ModelFileError(
            f"{os.fspath(path)!r} has format version {version}, this graftwork {__version__} reads "
            f"up to {VERSION}; install graftwork {header.get('library', 'of a newer version')}."
        )
    if not all(name in members for name in ARRAYS[version]):
        raise _damaged(path, ValueError(f"its arrays are not those of format version {version}"))
    first, second = ARRAYS[version]
    return header, members[first], members[second]


def _members(data: bytes) -> dict[str, bytes]:
    """Return the three members, refusing what could expand or hide something."""
    known = [sorted((HEADER, *names)) for names in ARRAYS.values()]
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


def _read_weights(version: int, first: bytes, second: bytes, layout: Layout) -> Floats:
    """Return the flat numbers of a layout from the two arrays of a file."""
    if version == 2:
        values = _read_npy(first, "<f8").astype(np.float64)
        if len(np.unique(values.view(np.uint64))) != len(values):
            raise ValueError("a value occurs twice")
        return unpack(values, _read_npy(second, "|u1"), layout.size)
    unary, pairwise = _read_npy(first, "<f8"), _read_npy(second, "<f8")
    weights = np.concatenate([unary, pairwise]).astype(np.float64)
    if len(unary) != layout.n_unary or len(weights) != layout.size:
        raise ValueError("its arrays do not fit its variables and edges")
    return weights


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


def _read_layout(edges: Any, states: tuple[tuple[Hashable, ...], ...]) -> Layout:
    n = len(states)
    pairs = [(i, j) for i, j in edges]
    for i, j in pairs:
        if type(i) is not int or type(j) is not int or not 0 <= i < j < n:
            raise ValueError(f"it has an edge ({i!r}, {j!r}) among {n} variables")
    if len(set(pairs)) != len(pairs):
        raise ValueError("an edge occurs twice")
    return Layout.of([len(listed) for listed in states], pairs)


def _damaged(path: PathLike, error: Exception) -> ModelFileError:
    return ModelFileError(
        f"{os.fspath(path)!r} is damaged or not a graftwork model: {error}. Restore it from a "
        "copy, or save the model again."
    )
