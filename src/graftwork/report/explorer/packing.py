"""Numbers and texts as the page reads them: exact, and small."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

Packed = dict[str, str]
Record = dict[str, Any]

#: What the page calls the types of little-endian numbers.
_KINDS = {"f8": "<f8", "f4": "<f4", "i4": "<i4"}


def packed(values: Any, kind: str = "f8") -> Packed:
    """Return an array as base64 text of little-endian numbers."""
    array = np.ascontiguousarray(np.asarray(values, dtype=np.float64 if kind[0] == "f" else None))
    return {kind: base64.b64encode(array.astype(_KINDS[kind]).tobytes()).decode("ascii")}


def column(key: str, label: str, values: Any, about: str = "") -> Record:
    """Return a column of a table in the page: a number for each edge or each variable."""
    return {"key": key, "label": label, "about": about, "values": packed(list(values))}


def text_of(value: Any) -> str:
    """Return a name or a state as text."""
    return value if isinstance(value, str) else str(value)


def texts(values: Iterable[Any]) -> list[str]:
    """Return names or states as texts; equal ones of different types can be told apart."""
    given = list(values)
    plain = [text_of(value) for value in given]
    counts = Counter(plain)
    return [
        repr(value) if counts[text] > 1 else text for value, text in zip(given, plain, strict=True)
    ]


def embedded(view: Record) -> str:
    """Return a view as JSON that can stand in a script element of HTML."""
    text = json.dumps(view, ensure_ascii=False, allow_nan=False)
    # Lone surrogates cannot be written as UTF-8.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
