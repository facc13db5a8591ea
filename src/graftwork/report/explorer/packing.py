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
    """Return an array as base64 text of little-endian numbers.

    Parameters
    ----------
    values : array-like
        It is written row-major; None among floats is NaN.
    kind : {"f8", "f4", "i4"}

    Examples
    --------
    >>> packed([1, 2], "i4")
    {'i4': 'AQAAAAIAAAA='}
    """
    array = np.ascontiguousarray(np.asarray(values, dtype=np.float64 if kind[0] == "f" else None))
    return {kind: base64.b64encode(array.astype(_KINDS[kind]).tobytes()).decode("ascii")}


def column(key: str, label: str, values: Any, about: str = "") -> Record:
    """Return a column of a table in the page: a number for each edge or each variable.

    Parameters
    ----------
    key : str
        What the page knows it by: "strength", "weight", "p_value", "q_value", "frequency" ...
    label, about : str
        Its heading, and what it is in a sentence.
    values : iterable of float
        NaN (or None) where there is none.

    Examples
    --------
    >>> column("strength", "Strength", [0.5])["label"]
    'Strength'
    """
    return {"key": key, "label": label, "about": about, "values": packed(list(values))}


def text_of(value: Any) -> str:
    """Return a name or a state as text.

    Examples
    --------
    >>> text_of(None), text_of(2.5), text_of("yes")
    ('None', '2.5', 'yes')
    """
    return value if isinstance(value, str) else str(value)


def texts(values: Iterable[Any]) -> list[str]:
    """Return names or states as texts; equal ones of different types can be told apart.

    Examples
    --------
    >>> texts([1, "1", "a"])
    ['1', "'1'", 'a']
    """
    given = list(values)
    plain = [text_of(value) for value in given]
    counts = Counter(plain)
    return [
        repr(value) if counts[text] > 1 else text for value, text in zip(given, plain, strict=True)
    ]


def embedded(view: Record) -> str:
    """Return a view as JSON that can stand in a script element of HTML.

    Examples
    --------
    >>> embedded({"name": "</script>"})
    '{"name": "\\\\u003c/script>"}'
    """
    text = json.dumps(view, ensure_ascii=False, allow_nan=False)
    # Lone surrogates cannot be written as UTF-8.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
