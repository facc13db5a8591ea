"""What a model file holds: names and states as JSON, each with its type; numbers that repeat."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.values import plain
from graftwork.errors import DataError
from graftwork.inference.layout import Floats

Bytes = NDArray[np.uint8]

#: Integers beyond this lose digits in other JSON readers, and are written in hexadecimal.
EXACT_IN_JSON = 2**53
# Packing must save half of the bytes, and at least this many: older versions cannot read it.
LEAST_SAVING = 256


def encode(value: Any) -> list[Any]:
    """Return a value as ``[tag, payload]``, ready for JSON.

    str, int of any size, bool, float (bit for bit), None, bytes, date, datetime, timedelta, and
    tuples of these; a NumPy scalar as the Python value it equals.
    """
    value = plain(value)
    writer = _WRITERS.get(type(value))
    if writer is None:
        kind = type(value)
        raise TypeError(f"{value!r} is of type {kind.__module__}.{kind.__qualname__}")
    return writer(value)


def decode(coded: Any) -> Any:
    """Return the value behind ``[tag, payload]``."""
    if not (isinstance(coded, list) and len(coded) == 2 and isinstance(coded[0], str)):
        raise ValueError(f"a value is written {coded!r}, not [tag, payload]")
    tag, payload = coded
    if tag not in _READERS:
        raise ValueError(f"a value has the unknown tag {tag!r}")
    kinds, reader = _READERS[tag]
    if type(payload) not in kinds:
        raise ValueError(f"a value tagged {tag!r} is written {payload!r}")
    return reader(payload)


def encode_all(values: Iterable[Any]) -> list[Any]:
    """Return values as ``[tag, payloads]``, or ``["mixed", [[tag, payload], ...]]``.

    Names are mostly text, and hundreds of thousands: what they have in common is written once.

    Examples
    --------
    >>> encode_all(["a", "b"]), encode_all([1, "b"])
    (['str', ['a', 'b']], ['mixed', [['int', 1], ['str', 'b']]])
    """
    coded = [encode(value) for value in values]
    tags = {tag for tag, _ in coded}
    return [tags.pop(), [payload for _, payload in coded]] if len(tags) == 1 else ["mixed", coded]


def decode_all(coded: Any) -> list[Any]:
    """Return the values behind what `encode_all` writes.

    Examples
    --------
    >>> decode_all(["int", [1, 2]]), decode_all(["mixed", [["str", "a"], ["none", None]]])
    ([1, 2], ['a', None])
    """
    if not (isinstance(coded, list) and len(coded) == 2 and isinstance(coded[1], list)):
        raise ValueError("a list of values is not written [tag, payloads]")
    tag, listed = coded
    return [decode(item if tag == "mixed" else [tag, item]) for item in listed]


@contextmanager
def writable(what: str) -> Iterator[None]:
    """Turn the refusal of a value into an error that says what it was for."""
    try:
        yield
    except TypeError as error:
        raise DataError(
            f"cannot write {what} {error}. A model file keeps text, numbers, bools, None, bytes, "
            "dates and tuples of these; rename it before fitting."
        ) from error


def _write_int(value: int) -> list[Any]:
    return ["int", value if abs(value) <= EXACT_IN_JSON else hex(value)]


def _write_datetime(value: dt.datetime) -> list[Any]:
    if value.tzinfo is not None and type(value.tzinfo) is not dt.timezone:
        raise TypeError(f"{value!r} has a time zone with rules; use a fixed offset")
    return ["datetime", [value.isoformat(), value.fold]]


def _read_datetime(payload: list[Any]) -> dt.datetime:
    text, fold = payload
    return dt.datetime.fromisoformat(text).replace(fold=fold)


_WRITERS: dict[type, Callable[[Any], list[Any]]] = {
    str: lambda v: ["str", v],
    bool: lambda v: ["bool", v],
    int: _write_int,
    float: lambda v: ["float", v.hex()],
    type(None): lambda v: ["none", None],
    bytes: lambda v: ["bytes", base64.b64encode(v).decode("ascii")],
    tuple: lambda v: ["tuple", [encode(item) for item in v]],
    dt.date: lambda v: ["date", v.isoformat()],
    dt.datetime: _write_datetime,
    dt.timedelta: lambda v: ["timedelta", [v.days, v.seconds, v.microseconds]],
}

_READERS: dict[str, tuple[tuple[type, ...], Callable[[Any], Any]]] = {
    "str": ((str,), str),
    "bool": ((bool,), bool),
    "int": ((int, str), lambda p: p if isinstance(p, int) else int(p, 16)),
    "float": ((str,), float.fromhex),
    "none": ((type(None),), lambda p: None),
    "bytes": ((str,), lambda p: base64.b64decode(p, validate=True)),
    "tuple": ((list,), lambda p: tuple(decode(item) for item in p)),
    "date": ((str,), dt.date.fromisoformat),
    "datetime": ((list,), _read_datetime),
    "timedelta": ((list,), lambda p: dt.timedelta(*p)),
}


def pack(numbers: Floats) -> tuple[Floats, Bytes] | None:
    """Return the different numbers and the packed indices of all, or None if that saves too little.

    Numbers are told apart by their bits: 0.0 and -0.0 are two. An index has as many bits as the
    number of different numbers needs, first bit first; the last byte is filled up with zeros.
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
    """Return the numbers behind values and indices, sizes checked before anything is allocated."""
    if len(np.unique(values.view(np.uint64))) != len(values):
        raise ValueError("a value occurs twice")
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
    """Return how many bits an index of `count` values needs; at least 1.

    Examples
    --------
    >>> bits_for(1), bits_for(2), bits_for(11)
    (1, 1, 4)
    """
    return max(1, (count - 1).bit_length())
