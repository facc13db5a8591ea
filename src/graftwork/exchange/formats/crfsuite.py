"""CRFsuite's binary models, as `crfsuite learn`, python-crfsuite and sklearn-crfsuite write them.

A header gives the places of five chunks: features (FEAT: kind, source, label, weight), labels and
attributes (CQDB: texts by number), and which features begin at each label (LFRF) and at each
attribute (AFRF). All numbers are little-endian. Nothing in a file is trusted: every place is
checked before it is read, and what the chunks say must agree.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.errors import DataError, ModelFileError
from graftwork.exchange.format import Format
from graftwork.limits import read_bytes
from graftwork.models import ChainModel

_HEADER = struct.Struct("<4sI4s9I")
_CHUNK = struct.Struct("<4sII")
_CQDB = struct.Struct("<4s5I")
_CQDB_DATA = _CQDB.size + 256 * 8  # texts come after references to 256 hash tables
_FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("label", "<u4"), ("weight", "<f8")])
_BYTE_ORDER = 0x62445371
_STATE, _TRANSITION = 0, 1
# All pairs of labels have a weight in memory; nobody has so many.
_MOST_LABELS = 10_000


def crfsuite() -> Format:
    """Return CRFsuite's models: chains of first order, with all weights."""
    return Format(_read)


def _read(path: Path) -> ChainModel:
    try:
        data = read_bytes(path)
    except FileNotFoundError as error:
        raise ModelFileError(f"there is no file {str(path)!r}.") from error
    except OSError as error:
        raise ModelFileError(f"cannot read {str(path)!r}: {error.strerror}.") from error
    try:
        return parse(data)
    except (ValueError, DataError) as error:
        raise ModelFileError(
            f"{str(path)!r} is not a CRFsuite model, or damaged: {str(error).rstrip('.')}."
        ) from error


def parse(data: bytes) -> ChainModel:
    """Return the chain in the bytes of a CRFsuite model."""
    if len(data) < _HEADER.size:
        raise ValueError(f"it has {len(data)} bytes, less than a header")
    magic, size, kind, version, _, n_labels, n_attributes, *places = _HEADER.unpack_from(data)
    if magic != b"lCRF" or kind != b"FOMC":
        raise ValueError("its header is not that of a linear-chain model (lCRF, FOMC)")
    if version != 100:
        raise ValueError(f"its format version is {version}, and only 100 is known")
    if size != len(data):
        raise ValueError(f"its header says {size} bytes, and it has {len(data)}")
    if n_labels > _MOST_LABELS:
        raise ValueError(f"it has {n_labels} labels, and at most {_MOST_LABELS} are read")
    at_features, at_labels, at_attributes, at_label_refs, at_attribute_refs = places
    features = _features(data, at_features)
    labels = _texts(data, at_labels, n_labels, "label")
    attributes = _texts(data, at_attributes, n_attributes, "attribute")
    states, moves = (features["kind"] == each for each in (_STATE, _TRANSITION))
    if not (states | moves).all():
        raise ValueError("a feature is neither of an attribute nor of a transition")
    _check_sources(data, at_label_refs, b"LFRF", n_labels, features, moves)
    _check_sources(data, at_attribute_refs, b"AFRF", n_attributes, features, states)
    if (features["label"] >= n_labels).any():
        raise ValueError("a feature is for a label that is not there")
    return _chain(labels, attributes, features[states], features[moves])


def _chain(
    labels: list[str], attributes: list[str], states: NDArray[Any], moves: NDArray[Any]
) -> ChainModel:
    """Return the chain of texts and features; `ChainModel` checks what is not checked yet."""
    pairs = np.zeros((len(labels), len(labels)))
    pairs[moves["source"], moves["label"]] = moves["weight"]
    if len(np.unique(moves[["source", "label"]])) != len(moves):
        raise ValueError("a transition has two weights")
    return ChainModel(
        labels=tuple(labels),
        attributes=tuple(attributes),
        order=1,
        vote_attributes=states["source"].astype(np.int64),
        vote_outputs=states["label"].astype(np.int64),
        vote_weights=states["weight"].astype(np.float64),
        pairs=pairs,
        triples=np.zeros((0, 0, 0)),
    )


def _chunk(data: bytes, start: int, name: bytes) -> tuple[int, int]:
    """Return where a chunk ends, and how many items it has."""
    if start + _CHUNK.size > len(data):
        raise ValueError(f"byte {start}: the chunk {name.decode()} lies beyond its end")
    found, size, count = _CHUNK.unpack_from(data, start)
    if found != name:
        raise ValueError(f"byte {start}: there is no chunk {name.decode()}")
    if start + size > len(data):
        raise ValueError(f"byte {start}: the chunk {name.decode()} goes beyond its end")
    return start + size, count


def _features(data: bytes, start: int) -> NDArray[Any]:
    end, count = _chunk(data, start, b"FEAT")
    if start + _CHUNK.size + count * _FEATURE.itemsize > end:
        raise ValueError(f"byte {start}: {count} features do not fit into their chunk")
    return np.frombuffer(data, _FEATURE, count, start + _CHUNK.size)


def _texts(data: bytes, start: int, count: int, what: str) -> list[str]:
    """Return the texts of a chunk by their numbers."""
    if start + _CQDB_DATA > len(data):
        raise ValueError(f"byte {start}: the {what}s lie beyond its end")
    name, size, _, order, _, backward = _CQDB.unpack_from(data, start)
    if name != b"CQDB" or order != _BYTE_ORDER:
        raise ValueError(f"byte {start}: there is no list of {what}s in this byte order")
    if start + size > len(data) or backward + 4 * count > size:
        raise ValueError(f"byte {start}: the list of {what}s goes beyond its end")
    chunk = data[start : start + size]
    offsets = np.frombuffer(chunk, "<u4", count, backward).tolist() if count else []
    return [_text(chunk, start, offset, k, what) for k, offset in enumerate(offsets)]


def _text(chunk: bytes, start: int, offset: int, number: int, what: str) -> str:
    if not _CQDB_DATA <= offset <= len(chunk) - 8:
        raise ValueError(f"byte {start}: {what} {number} lies outside its list")
    found, length = struct.unpack_from("<II", chunk, offset)
    text = chunk[offset + 8 : offset + 8 + length]
    if found != number or len(text) != length or length == 0 or text.find(b"\0") != length - 1:
        raise ValueError(f"byte {start + offset}: {what} {number} is damaged")
    try:
        return text[:-1].decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {start + offset}: {what} {number} is not in UTF-8") from error


def _check_sources(
    data: bytes, start: int, name: bytes, count: int, features: NDArray[Any], own: NDArray[Any]
) -> None:
    """Refuse references that do not lead from each source to the features that name it."""
    end, listed = _chunk(data, start, name)
    first = start + _CHUNK.size
    if listed < count or first + 4 * listed > end:
        raise ValueError(f"byte {start}: {name.decode()} has {listed} sources of {count}")
    offsets = struct.unpack_from(f"<{count}I", data, first)
    # Lists of a few numbers each, hundreds of thousands: quicker without arrays.
    owner = [-1] * len(features)
    for source, offset in enumerate(offsets):
        for feature in _references(data, offset, end, name):
            if feature >= len(owner) or owner[feature] >= 0:
                raise ValueError(f"byte {offset}: {name.decode()} names a wrong feature")
            owner[feature] = source
    if owner != np.where(own, features["source"].astype(np.int64), -1).tolist():
        raise ValueError(f"byte {start}: {name.decode()} and the features disagree")


def _references(data: bytes, offset: int, end: int, name: bytes) -> tuple[int, ...]:
    if offset + 4 > end:
        raise ValueError(f"byte {offset}: a list of {name.decode()} lies outside its chunk")
    (n,) = struct.unpack_from("<I", data, offset)
    if offset + 4 + 4 * n > end:
        raise ValueError(f"byte {offset}: a list of {name.decode()} goes beyond its chunk")
    return struct.unpack_from(f"<{n}I", data, offset + 4)
