"""States as JSON and back, for the manifest of a store."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Hashable
from decimal import Decimal
from typing import Any

from graftwork.data.scores import Ordered

_PLAIN = (str, int, bool)
_WRITERS: dict[type, tuple[str, Callable[[Any], Any]]] = {
    float: ("float", float.hex),
    Decimal: ("decimal", str),
    bytes: ("bytes", bytes.hex),
    dt.date: ("date", dt.date.isoformat),
    dt.datetime: ("datetime", dt.datetime.isoformat),
    dt.time: ("time", dt.time.isoformat),
    dt.timedelta: ("timedelta", lambda d: [d.days, d.seconds, d.microseconds]),
}
_READERS: dict[str, Callable[[Any], Any]] = {
    "float": float.fromhex,
    "decimal": Decimal,
    "bytes": bytes.fromhex,
    "date": dt.date.fromisoformat,
    "datetime": dt.datetime.fromisoformat,
    "time": dt.time.fromisoformat,
    "timedelta": lambda parts: dt.timedelta(*parts),
    "tuple": lambda items: tuple(from_json(item) for item in items),
}


def to_json(value: Hashable) -> Any:
    """Return a state as JSON holds it; TypeError if it cannot be written and read again.

    Examples
    --------
    >>> to_json("a"), to_json(0.5), from_json(to_json((1, Decimal("0.1"))))
    ('a', ['float', '0x1.0000000000000p-1'], (1, Decimal('0.1')))
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, tuple):
        return ["tuple", [to_json(item) for item in value]]
    if getattr(value, "tzinfo", None) is not None or type(value) not in _WRITERS:
        raise TypeError(f"{value!r} cannot be written.")
    name, write = _WRITERS[type(value)]
    return [name, write(value)]


def from_json(value: Any) -> Any:
    """Return the state that `to_json` wrote."""
    return _READERS[value[0]](value[1]) if isinstance(value, list) else value


def ordered_to_json(ordered: Ordered | None) -> Any:
    """Return which variables are ordered, as JSON holds it."""
    if ordered is None:
        return None
    return [
        [to_json(name), [[to_json(state), score] for state, score in scores.items()]]
        for name, scores in ordered.scores.items()
    ]


def ordered_from_json(value: Any) -> Ordered | None:
    """Return what `ordered_to_json` wrote."""
    if value is None:
        return None
    return Ordered({
        from_json(name): {from_json(state): score for state, score in scores}
        for name, scores in value
    })  # fmt: skip
