"""The options of the commands, each with its help."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer


class Method(StrEnum):
    """How edges are chosen."""

    BEST_CHOICE = "best-choice"
    EDGE_GRAFTING = "edge-grafting"
    FIRST_HIT = "first-hit"


class Loss(StrEnum):
    """What is minimised."""

    PSEUDOLIKELIHOOD = "pseudolikelihood"
    LIKELIHOOD = "likelihood"


class Inference(StrEnum):
    """Where probabilities come from."""

    AUTO = "auto"
    EXACT = "exact"
    BP = "bp"


class Penalty(StrEnum):
    """What makes the network sparse."""

    GROUP_L1 = "group-l1"
    L1 = "l1"


class Header(StrEnum):
    """Whether a file's first line names its columns."""

    AUTO = "auto"
    YES = "yes"
    NO = "no"

    def value_for_reading(self) -> bool | Literal["auto"]:
        """Return what `read_table` calls it."""
        return "auto" if self is Header.AUTO else self is Header.YES


class Sampler(StrEnum):
    """How rows are drawn."""

    AUTO = "auto"
    EXACT = "exact"
    GIBBS = "gibbs"


def parse_lam(text: str) -> str | float:
    """Return "auto" or a number above 0.

    Examples
    --------
    >>> parse_lam("auto"), parse_lam("0.01")
    ('auto', 0.01)
    """
    if text == "auto":
        return text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        sentence = f"{text!r} is neither auto nor a number above 0, such as 0.01."
        raise typer.BadParameter(sentence, param_hint="'--lam'")
    return value


Data = Annotated[
    str, typer.Argument(help="A CSV, TSV or Parquet file, or the name of a data set: mushroom.")
]
Rows = Annotated[Path, typer.Argument(help="A CSV, TSV or Parquet file.")]
Model = Annotated[Path, typer.Argument(help="A model file, as learn writes it (model.gw).")]
Given = Annotated[
    list[str] | None,
    typer.Option("--given", metavar="NAME=STATE", help="What is observed; repeat for more."),
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.", min=0)]

_READ = "Reading the file"
Sep = Annotated[
    str | None, typer.Option(help="The separator, if not found by itself.", rich_help_panel=_READ)
]
HeaderOption = Annotated[
    Header, typer.Option("--header", help="Whether line 1 names columns.", rich_help_panel=_READ)
]
Weights = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column of row weights.", rich_help_panel=_READ),
]
MissingValues = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="A text that means missing, instead of NA, nan, null and the like; repeat for more.",
        rich_help_panel=_READ,
    ),
]
KeepMissing = Annotated[
    bool,
    typer.Option(
        "--keep-missing",
        help="No text means missing: NA and an empty cell are states like others.",
        rich_help_panel=_READ,
    ),
]
Strings = Annotated[
    bool, typer.Option("--strings", help="Keep every cell as text.", rich_help_panel=_READ)
]

_LEARN = "Learning"
MethodOption = Annotated[
    Method, typer.Option("--method", help="How edges are chosen.", rich_help_panel=_LEARN)
]
Lam = Annotated[
    str,
    typer.Option(
        metavar="auto|NUMBER",
        help="Penalty: larger means fewer edges. auto chooses it.",
        rich_help_panel=_LEARN,
    ),
]
LossOption = Annotated[
    Loss, typer.Option("--loss", help="What is minimised.", rich_help_panel=_LEARN)
]
LearnInference = Annotated[
    Inference,
    typer.Option("--inference", help="For the loss likelihood.", rich_help_panel=_LEARN),
]
PenaltyOption = Annotated[
    Penalty,
    typer.Option("--penalty", help="Whole edges, or single entries.", rich_help_panel=_LEARN),
]
L2 = Annotated[float, typer.Option(help="A ridge on all weights.", min=0, rich_help_panel=_LEARN)]
PenalizeUnary = Annotated[
    bool,
    typer.Option("--penalize-unary", help="Penalise unaries too.", rich_help_panel=_LEARN),
]
Alpha = Annotated[
    float,
    typer.Option(
        help="best-choice: 1 adds the best edge alone, 0 many a round.",
        min=0,
        max=1,
        rich_help_panel=_LEARN,
    ),
]
Structure = Annotated[
    bool,
    typer.Option(
        "--structure/--no-structure",
        help="best-choice: look around hubs first.",
        rich_help_panel=_LEARN,
    ),
]
Tol = Annotated[
    float, typer.Option(help="Accuracy of the certificate.", min=0, rich_help_panel=_LEARN)
]
Jobs = Annotated[
    int | None,
    typer.Option(metavar="N", help="Threads; all cores if not given.", rich_help_panel=_LEARN),
]

_LIMITS = "Limits"
MaxEdges = Annotated[
    int | None,
    typer.Option(metavar="N", help="Stop at so many edges.", min=0, rich_help_panel=_LIMITS),
]
MaxSeconds = Annotated[
    float | None,
    typer.Option(metavar="S", help="Stop after so many seconds.", min=0, rich_help_panel=_LIMITS),
]
MaxTests = Annotated[
    int | None,
    typer.Option(metavar="N", help="Stop after so many pairs.", min=0, rich_help_panel=_LIMITS),
]
