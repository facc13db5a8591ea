"""The options of graftwork crf and tag that other commands do not have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from graftwork.cli.options import CHAIN_METHODS, Penalty, file_or_stdin, separator


class Candidates(StrEnum):
    """Which features there are to choose from."""

    OBSERVED = "observed"
    ALL = "all"


_READ = "Reading the file"
_LEARN = "Learning"
_LIMITS = "Limits"

Train = Annotated[
    Path,
    typer.Argument(
        help="Sentences in columns, plain or gzipped: one token per line, the label in the last "
        "column, a blank line between sentences. - is standard input.",
        callback=file_or_stdin,
    ),
]
Untagged = Annotated[
    Path,
    typer.Argument(
        help="Sentences in columns, plain or gzipped; - is standard input.", callback=file_or_stdin
    ),
]
Test = Annotated[
    Path | None, typer.Option("--test", metavar="FILE", help="Labelled sentences to test on.")
]
TemplateOption = Annotated[
    str | None,
    typer.Option(
        "--template",
        metavar="NAME|FILE",
        help="What a token's attributes are: chunking (looks at words and tags), words, or a file "
        "(readable, or of CRF++). Default: chunking, or words if there is one column.",
        rich_help_panel=_READ,
    ),
]
Types = Annotated[
    str | None,
    typer.Option(
        metavar="NP,...",
        help="Keep chunks of these types only; all other labels become O.",
        rich_help_panel=_READ,
    ),
]
Sep = Annotated[
    str | None,
    typer.Option(
        help=r"What separates columns, if not spaces and tabs; \t is a tab.",
        callback=separator,
        rich_help_panel=_READ,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|N",
        help="The column of the labels, if not the last: its number, from 1, or its name in "
        "CoNLL-U (upos, xpos, deprel, ...), of which only the words are looked at.",
        rich_help_panel=_READ,
    ),
]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help=f"How features are chosen: {', '.join(CHAIN_METHODS)}. NAME:OPTION=VALUE sets "
        "an option.",
        rich_help_panel=_LEARN,
    ),
]
Lam = Annotated[
    float | None,
    typer.Option(
        metavar="L",
        help="Strength of the penalty on the mean loss of a sentence: larger means fewer features.",
        rich_help_panel=_LEARN,
    ),
]
C1 = Annotated[
    float | None,
    typer.Option(
        metavar="C",
        help="The same on the summed loss, as CRFsuite has it: lam = C / number of "
        "sentences. Default: 1.",
        rich_help_panel=_LEARN,
    ),
]
Select = Annotated[
    int | None,
    typer.Option(
        metavar="M",
        help="Features activated per round; by default a fiftieth of the candidates.",
        min=1,
        rich_help_panel=_LEARN,
    ),
]
Order = Annotated[
    int,
    typer.Option(
        help="How many preceding labels a label depends on: 1 or 2.",
        min=1,
        max=2,
        rich_help_panel=_LEARN,
    ),
]
CandidatesOption = Annotated[
    Candidates,
    typer.Option(
        "--candidates",
        help="Features that occur in the training data, or every attribute with every label.",
        rich_help_panel=_LEARN,
    ),
]
MinCount = Annotated[
    int,
    typer.Option(
        metavar="N", help="Leave out rarer attributes.", min=1, rich_help_panel=_LEARN
    ),
]  # fmt: skip
MaxFeatures = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Stop at N features.", min=0, rich_help_panel=_LIMITS
    ),
]  # fmt: skip
MaxIter = Annotated[
    int | None,
    typer.Option(metavar="N", help="Stop after N rounds.", min=0, rich_help_panel=_LIMITS),
]
PenaltyOption = Annotated[
    Penalty,
    typer.Option(
        "--penalty",
        help="l1 and elastic-net choose single features, group-l1 attributes with all their "
        "labels; l2 and none keep everything.",
        rich_help_panel=_LEARN,
    ),
]
