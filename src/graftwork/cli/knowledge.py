"""Prior knowledge about edges, as text: files of pairs, pairs A~B, a file of penalty weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from graftwork.errors import DataError

#: The options that take pairs, and what separates two names in one.
PAIRS = ("required", "forbidden", "candidates")
MARK = "~"
WEIGHTS = "penalty_weights"

_PANEL = "Prior knowledge (A~B, or a file of two names a line; repeat for more)"
Required = Annotated[
    list[str] | None,
    typer.Option(metavar="A~B|FILE", help="Edges that are always there.", rich_help_panel=_PANEL),
]
Forbidden = Annotated[
    list[str] | None,
    typer.Option(metavar="A~B|FILE", help="Edges that never are.", rich_help_panel=_PANEL),
]
Candidates = Annotated[
    list[str] | None,
    typer.Option(metavar="A~B|FILE", help="The only edges there may be.", rich_help_panel=_PANEL),
]
PenaltyWeights = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Two names and a factor of the edge's penalty a line: 0 is none, inf forbids it.",
        rich_help_panel=_PANEL,
    ),
]


def given_knowledge(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options about edges that were given, or refuse what is no file and no pair.

    Examples
    --------
    >>> given_knowledge({"required": ["a~b"], "forbidden": None})
    {'required': ['a~b']}
    """
    found = {name: list(given[name]) for name in PAIRS if given.get(name)}
    for name, texts in found.items():
        for text in texts:
            if MARK not in text and not Path(text).is_file():
                sentence = f"{text!r} is neither a pair A{MARK}B nor a file of two names a line."
                raise typer.BadParameter(sentence, param_hint=f"'--{name}'")
    path = given.get(WEIGHTS)
    if path is None:
        return found
    if not Path(path).is_file():
        sentence = f"{path!r} is no file; give a CSV with two names and a factor a line."
        raise typer.BadParameter(sentence, param_hint="'--penalty-weights'")
    return {**found, WEIGHTS: path}


def read_knowledge(settings: Mapping[str, Any], names: Sequence[Any]) -> dict[str, Any]:
    """Return what the estimator takes: lists of pairs of names, and factors by pair.

    Examples
    --------
    >>> read_knowledge({"forbidden": ["b~a"], "lam": 0.1}, ["a", "b"])
    {'forbidden': [('b', 'a')]}
    """
    found: dict[str, Any] = {
        name: [pair for text in settings[name] for pair in _pairs(name, text, names)]
        for name in PAIRS
        if name in settings
    }
    if WEIGHTS in settings:
        found[WEIGHTS] = _weights(Path(settings[WEIGHTS]), names)
    return found


def _pairs(option: str, text: str, names: Sequence[Any]) -> list[tuple[Any, Any]]:
    from graftwork.cli.matching import find_pair
    from graftwork.cli.truth import read_truth

    if Path(text).is_file():
        return read_truth(names, Path(text))
    try:
        return [find_pair(names, text, MARK, f"{text!r} is no pair A{MARK}B.")]
    except DataError as error:
        raise DataError(f"--{option}: {error}") from error


def _weights(path: Path, names: Sequence[Any]) -> dict[tuple[Any, Any], float]:
    """Return the factor of each pair in a file of three columns."""
    from graftwork.cli.truth import read_lines

    weights: dict[tuple[Any, Any], float] = {}
    for line, pair, cells in read_lines(names, path):
        try:
            factor = float(cells[2])
        except (IndexError, ValueError):
            raise DataError(
                f"{path.name}: line {line} has no factor after its two names; write a number from "
                "0 on, or inf, such as rain,wet,0.5."
            ) from None
        other = weights.get(pair[::-1], weights.get(pair, factor))
        if other != factor:
            raise DataError(
                f"{path.name}: line {line} gives {pair[0]} and {pair[1]} another factor than a "
                "line before; give each pair once."
            )
        weights[pair] = factor
    return weights
