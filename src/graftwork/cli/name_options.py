"""The texts NAME:OPTION=VALUE:OPTION=VALUE by which methods and criteria are given."""

from __future__ import annotations

import ast
from typing import Any


def split_options(text: str) -> tuple[str, dict[str, str]]:
    """Return the name, and the options as they are written.

    Examples
    --------
    >>> split_options("best-choice: alpha=1 :tests=none")
    ('best-choice', {'alpha': '1', 'tests': 'none'})
    """
    name, *parts = (part.strip() for part in text.split(":"))
    options = {}
    for part in parts:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key:
            from graftwork.errors import ParameterError

            raise ParameterError(
                f"{part!r} is not OPTION=VALUE in {text!r}: write NAME:OPTION=VALUE."
            )
        options[key] = value
    return name, options


def parse_value(text: str) -> Any:
    """Return a number, true, false or none where the text is one, else the text.

    Examples
    --------
    >>> parse_value("0.5"), parse_value("none"), parse_value("FALSE"), parse_value("l1")
    (0.5, None, False, 'l1')
    """
    if text.lower() in ("true", "false", "none"):
        text = text.capitalize()
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if value is None or isinstance(value, bool | int | float) else text
