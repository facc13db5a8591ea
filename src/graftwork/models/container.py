"""The model file: one zip with a JSON header and two arrays. Never a pickle.

Members, all stored uncompressed:

``graftwork.json``
    ``format`` "graftwork-model", ``version`` 1, ``library`` (the version that wrote it),
    ``variables`` (each with ``name`` and ``states`` as `graftwork.models.encoding` writes them),
    ``edges`` (pairs of variable numbers, i < j), ``sha256`` of the two array members together, and
    ``info``, whatever the learner wanted to keep.
``unary.npy``
    float64: the log-potentials of all variables, one after the other.
``pairwise.npy``
    float64: the tables of all edges, row-major, one after the other.
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

from graftwork.data.atomic import replacing
from graftwork.errors import DataError, ModelFileError
from graftwork.inference.layout import Floats, Layout, Potentials
from graftwork.models.encoding import decode, encode
from graftwork.version import __version__

FORMAT = "graftwork-model"
VERSION = 1
HEADER, UNARY, PAIRWISE = "graftwork.json", "unary.npy", "pairwise.npy"
MEMBERS = (HEADER, UNARY, PAIRWISE)

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
    unary = _npy_bytes(weights[: layout.n_unary])
    pairwise = _npy_bytes(weights[layout.n_unary :])
    header = {
        "format": FORMAT,
        "version": VERSION,
        "library": __version__,
        "variables": _encode_variables(contents),
        "edges": layout.edges.tolist(),
        "sha256": hashlib.sha256(unary + pairwise).hexdigest(),
        "info": contents.info,
    }
    try:
        text = json.dumps(header, allow_nan=False, indent=1).encode("ascii")
    except (TypeError, ValueError) as error:
        raise DataError(
            f"the info of the model cannot be written as JSON: {error}; keep to text, finite "
            "numbers, lists and dicts."
        ) from error
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in zip(MEMBERS, (text, unary, pairwise), strict=True):
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


def _npy_bytes(values: Floats) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(values, "<f8"), allow_pickle=False)
    return buffer.getvalue()


def read(path: PathLike) -> Contents:
    """Return what a model file holds, after checking all of it.

    Raises
    ------
    ModelFileError
        If the file is missing, foreign, damaged, inconsistent, or of a newer format.
    """
    header, members = _open(path)
    try:
        if hashlib.sha256(members[UNARY] + members[PAIRWISE]).hexdigest() != header["sha256"]:
            raise ValueError("the checksum of its arrays does not match")
        names = tuple(decode(item["name"]) for item in header["variables"])
        states = tuple(tuple(map(decode, item["states"])) for item in header["variables"])
        weights = np.concatenate([_read_npy(members[UNARY]), _read_npy(members[PAIRWISE])])
        layout = _read_layout(header["edges"], states)
        if len(_read_npy(members[UNARY])) != layout.n_unary or len(weights) != layout.size:
            raise ValueError("its arrays do not fit its variables and edges")
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


def _open(path: PathLike) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the header and the members of a model file of a version we know."""
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
    return header, members


def _members(data: bytes) -> dict[str, bytes]:
    """Return the three members, refusing what could expand or hide something."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if sorted(entry.filename for entry in entries) != sorted(MEMBERS):
            names = ", ".join(repr(entry.filename) for entry in entries[:5])
            raise ValueError(f"its members are {names}")
        for entry in entries:
            # Stored members cannot be larger than the file: no bomb can go off.
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > len(data):
                raise ValueError(f"its member {entry.filename!r} is compressed")
        return {entry.filename: archive.read(entry) for entry in entries}


def _read_npy(data: bytes) -> Floats:
    """Return a float64 vector, its size checked before anything is allocated."""
    buffer = io.BytesIO(data)
    if np.lib.format.read_magic(buffer) != (1, 0):
        raise ValueError("an array has an unknown npy version")
    shape, _, kind = np.lib.format.read_array_header_1_0(buffer)
    rest = data[buffer.tell() :]
    if kind != np.dtype("<f8") or len(shape) != 1 or len(rest) != 8 * shape[0]:
        raise ValueError("an array is not a float64 vector of the size it states")
    return np.frombuffer(rest, dtype="<f8").astype(np.float64)


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
