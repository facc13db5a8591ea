"""The page as one HTML file: script, style and data inside, and no request to anywhere."""

from __future__ import annotations

import base64
import hashlib
import html
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from graftwork.errors import ParameterError
from graftwork.report.explorer.packing import embedded
from graftwork.report.trace import write_text

_SUFFIXES = (".html", ".htm")
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="graftwork">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<noscript>This page needs JavaScript, which is inside it: allow scripts to run.</noscript>
<main id="app"></main>
<script type="application/json" id="data">{data}</script>
<script id="program">{script}</script>
</body>
</html>
"""


def page_html(view: dict[str, Any]) -> str:
    """Return the page of a view, which needs nothing but a browser."""
    script, style = asset("explorer.js"), asset("explorer.css")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            # The picture's bytes when it is exported, and the worker that computes.
            "img-src data: blob:",
            "worker-src blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return _PAGE.format(
        policy=policy,
        title=html.escape(str(view.get("title", "graftwork"))),
        style=style,
        script=script,
        data=embedded(view),
    )


def page_path(path: str | PathLike[str]) -> Path:
    """Return where a page is to be written; names that say it is something else are refused.

    Examples
    --------
    >>> page_path("net.html").name
    'net.html'
    """
    file = Path(path)
    if file.suffix.lower() not in _SUFFIXES:
        raise ParameterError(
            f"the explorer's page is HTML, and {str(path)!r} does not end in .html or .htm; give a "
            f"name such as {file.with_suffix('.html').name if file.name else 'net.html'!r}."
        )
    return file


def write_page(path: str | PathLike[str], view: dict[str, Any]) -> Path:
    """Write the page of a view, completely or not at all, and return where it is."""
    file = page_path(path)
    write_text(file, page_html(view))
    return file


@cache
def asset(name: str) -> str:
    """Return the text of a file of the bundle, as ``make explorer`` made it."""
    return files("graftwork.report.explorer").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return what a content security policy calls an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
