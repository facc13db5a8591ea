"""How lambda is chosen, as text: NAME:OPTION=VALUE."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

from graftwork.registry import Registry

# Read from the files' text: help must not have to load them.
CRITERIA = ("tests", *Registry[Any]("graftwork.tuning.criteria"))


class Goal(StrEnum):
    """What the network is for."""

    STRUCTURE = "structure"
    PREDICTION = "prediction"


_LEARN = "Learning"
GoalOption = Annotated[
    Goal,
    typer.Option(
        "--goal",
        help="With --lam auto: find the edges that are real, or predict new rows best.",
        rich_help_panel=_LEARN,
    ),
]
Fdr = Annotated[
    float,
    typer.Option(
        "--fdr",
        metavar="SHARE",
        help="Of the goal structure: share of the edges that may be false.",
        rich_help_panel=_LEARN,
    ),
]
CriterionOption = Annotated[
    str | None,
    typer.Option(
        "--criterion",
        metavar="NAME",
        help=f"With --lam auto, what chooses lambda: {', '.join(CRITERIA)}. "
        "NAME:OPTION=VALUE sets an option, as in k-fold:folds=5 or ebic:gamma=0.5.",
        rich_help_panel=_LEARN,
    ),
]


def choice_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the estimator's arguments that --goal, --fdr and --criterion stand for.

    Examples
    --------
    >>> choice_of({"goal": "prediction", "fdr": 0.01, "criterion": "k-fold:folds=5"})
    {'goal': 'prediction', 'fdr': 0.01, 'criterion': 'k-fold', 'criterion_options': {'folds': 5}}
    """
    name, options = parse_criterion(given["criterion"])
    return {
        "goal": str(given["goal"]),
        "fdr": given["fdr"],
        "criterion": name,
        "criterion_options": options,
    }


def parse_criterion(text: str | None) -> tuple[str | None, dict[str, Any] | None]:
    """Return a criterion's name and options; None where none is given.

    Examples
    --------
    >>> parse_criterion("stars:threshold=0.05:subsamples=50")
    ('stars', {'threshold': 0.05, 'subsamples': 50})
    >>> parse_criterion(None)
    (None, None)
    """
    if text is None:
        return None, None
    name, *parts = text.split(":")
    options = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise _refusal(f"{part!r} is no OPTION=VALUE, such as folds=5.")
        options[key.strip().replace("-", "_")] = _number(key, value)
    return name.strip(), options or None


def _number(key: str, text: str) -> int | float:
    try:
        value = float(text)
    except ValueError:
        raise _refusal(f"{key}={text!r}: the value must be a number.") from None
    return int(value) if value.is_integer() and "." not in text else value


def _refusal(sentence: str) -> typer.BadParameter:
    return typer.BadParameter(sentence, param_hint="'--criterion'")
