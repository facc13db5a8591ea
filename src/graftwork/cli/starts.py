"""What learning starts from, as text: chow-liu, a model file, or a file of edges."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

#: A start that needs no file.
TREE = "chow-liu"


def check_start(text: str | None) -> None:
    """Refuse what is neither the tree nor a file, before anything long is done.

    Examples
    --------
    >>> check_start("chow-liu")
    """
    if text is not None and text != TREE and not Path(text).is_file():
        sentence = f"{text!r} is neither {TREE} nor a file (a model, or two names a line)."
        raise typer.BadParameter(sentence, param_hint="'--start'")


def read_start(text: str | None, names: Sequence[Any]) -> Any:
    """Return what the estimator takes as its start: None, a name, a model or pairs of names.

    Examples
    --------
    >>> read_start("chow-liu", ["a", "b"])
    'chow-liu'
    """
    if text is None or text == TREE:
        return text
    from graftwork.cli.truth import read_truth
    from graftwork.models import load_network

    path = Path(text)
    return load_network(path) if path.read_bytes()[:2] == b"PK" else read_truth(names, path)
