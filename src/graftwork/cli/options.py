"""The options of the commands, each with its help."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

#: The names in ``graftwork.recipes.RECIPES``, here so that help does not have to load them.
METHODS = (
    "best-choice", "working-set", "edge-grafting", "first-hit", "grafting", "gain",
    "mutual-information", "grafting-light", "gauss-seidel", "full", "priority", "chow-liu",
    "forced-pruning",
)  # fmt: skip
#: Those of them that learn chains: ``graftwork.estimators.chain_parts.METHODS``.
CHAIN_METHODS = ("grafting-light", "grafting", "gauss-seidel", "gain", "full")


class Loss(StrEnum):
    """What is minimised."""

    PSEUDOLIKELIHOOD = "pseudolikelihood"
    LIKELIHOOD = "likelihood"


class Inference(StrEnum):
    """Where probabilities come from."""

    AUTO = "auto"
    EXACT = "exact"
    BP = "bp"
    TRW = "trw"


class PairRule(StrEnum):
    """How approximate inference joins two variables without an edge."""

    PATH = "path"
    PRODUCT = "product"
    EXACT = "exact"


class Penalty(StrEnum):
    """What keeps weights small, and the network sparse."""

    GROUP_L1 = "group-l1"
    L1 = "l1"
    ELASTIC_NET = "elastic-net"
    L2 = "l2"
    NONE = "none"


class Missing(StrEnum):
    """What missing cells are."""

    ERROR = "error"
    STATE = "state"
    DROP_ROWS = "drop-rows"
    AVAILABLE_CASE = "available-case"
    IMPUTE = "impute"


class ScoredMissing(StrEnum):
    """What missing cells of rows to score are."""

    ERROR = "error"
    AVAILABLE_CASE = "available-case"
    DROP_ROWS = "drop-rows"


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


def file_or_stdin(path: Path) -> Path:
    """Return the file a path names: standard input for ``-``.

    Examples
    --------
    >>> str(file_or_stdin(Path("-"))), str(file_or_stdin(Path("t.csv")))
    ('/dev/stdin', 't.csv')
    """
    return Path("/dev/stdin") if path == Path("-") else path


def separator(text: str | None) -> str | None:
    r"""Return what separates columns: a tab for ``\t``, which shells pass as two characters.

    Examples
    --------
    >>> separator(r"\t"), separator(";")
    ('\t', ';')
    """
    return None if text is None else text.replace(r"\t", "\t")


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


def settings_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the estimator's arguments that the options of learn and compare stand for."""
    words = ("loss", "inference", "pair_rule", "penalty")
    numbers = ("l2", "anneal", "tol", "tie", "max_edges", "max_seconds", "max_tests")
    own = given["unary_lam"]
    return {
        **{name: str(given[name]) for name in words},
        **{name: given[name] for name in numbers},
        "lam": parse_lam(given["lam"]),
        "penalize_unary": given["penalize_unary"] if own is None else own,
        "random_state": given["seed"],
        "n_jobs": given["jobs"],
    }


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read."""

    sep: str | None = None
    header: Header = Header.AUTO
    weights: str | None = None
    missing: tuple[str, ...] | None = None
    strings: bool = False
    keeps_gaps: bool = False
    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] | None = None

    @staticmethod
    def of(given: Mapping[str, Any]) -> Reading:
        """Return what the options of learn and compare say."""
        texts = given["missing_values"]
        missing = () if given["keep_missing"] else tuple(texts) if texts else None
        header = Header(given["header"])
        gaps = given.get("missing", Missing.ERROR) != Missing.ERROR
        columns, drop = (
            tuple(given[name]) if given[name] else None for name in ("columns", "drop")
        )
        return Reading(
            given["sep"], header, given["weights"], missing, given["strings"], gaps, columns, drop
        )


Data = Annotated[
    str,
    typer.Argument(
        help="A CSV, TSV or Parquet file (- for standard input), or the name of a data set: "
        "mushroom."
    ),
]
Rows = Annotated[Path, typer.Argument(help="A CSV, TSV or Parquet file.")]
Model = Annotated[Path, typer.Argument(help="A model file, as learn writes it (model.gw).")]
Given = Annotated[
    list[str] | None,
    typer.Option("--given", metavar="NAME=STATE", help="What is observed; repeat for more."),
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.", min=0)]

DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Say what learning would cost (time, memory), and learn nothing."
    ),
]

_READ = "Reading the file"
Sep = Annotated[
    str | None,
    typer.Option(
        help=r"The separator, if not found by itself; \t is a tab.",
        callback=separator,
        rich_help_panel=_READ,
    ),
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
MissingOption = Annotated[
    Missing,
    typer.Option(
        "--missing",
        help="What missing cells are: an error, a state of their own, a reason to drop their "
        "rows, unknown (available-case: the rest of the row is used), or drawn (impute).",
        rich_help_panel=_READ,
    ),
]
ScoredMissingOption = Annotated[
    ScoredMissing | None,
    typer.Option(
        "--missing",
        help="What missing cells are: an error, unknown (available-case: the observed cells of the "
        "row count), or a reason to leave out the row. By default as the model was learned.",
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

Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,NAME",
        help="Read these columns only (names with commas in them quoted, or one by one); repeat "
        "for more.",
        rich_help_panel=_READ,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,NAME",
        help="Leave out these columns: ids, names, comments. They are not read.",
        rich_help_panel=_READ,
    ),
]

_LEARN = "Learning"
Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help=(
            "How edges are chosen: auto (working-set for the pseudo-likelihood without limits such "
            f"as --max-edges, else best-choice), {', '.join(METHODS)}. "
            "NAME:OPTION=VALUE sets an option."
        ),
        rich_help_panel=_LEARN,
    ),
]
ExchangeOption = Annotated[
    int | None,
    typer.Option(
        metavar="K",
        help="Of forced-pruning: edges exchanged at once (default a quarter of them).",
        min=1,
        rich_help_panel=_LEARN,
    ),
]
Delete = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="Of forced-pruning: how edges to delete are found: greedy, rejection or mcmc.",
        rich_help_panel=_LEARN,
    ),
]
Lam = Annotated[
    str,
    typer.Option(
        metavar="auto|NUMBER",
        help="Strength of the penalty: larger means fewer edges. auto chooses it.",
        rich_help_panel=_LEARN,
    ),
]
LossOption = Annotated[
    Loss, typer.Option("--loss", help="What is minimised.", rich_help_panel=_LEARN)
]
LearnInference = Annotated[
    Inference,
    typer.Option(
        "--inference",
        help="For the loss likelihood: auto is exact while small, else bp.",
        rich_help_panel=_LEARN,
    ),
]
PairRuleOption = Annotated[
    PairRule,
    typer.Option(
        "--pair-rule",
        help="For bp and trw: how two variables without an edge hang together.",
        rich_help_panel=_LEARN,
    ),
]
PenaltyOption = Annotated[
    Penalty,
    typer.Option(
        "--penalty",
        help="group-l1 drops whole edges, l1 and elastic-net single entries, l2 and none nothing.",
        rich_help_panel=_LEARN,
    ),
]
L2 = Annotated[
    float,
    typer.Option(help="A ridge on all weights, beside the penalty.", min=0, rich_help_panel=_LEARN),
]
PenalizeUnary = Annotated[
    bool,
    typer.Option(
        "--penalize-unary", help="Penalise unaries too, as strongly.", rich_help_panel=_LEARN
    ),
]
UnaryLam = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        help="Penalise unaries with a lambda of their own.",
        min=0,
        rich_help_panel=_LEARN,
    ),
]
Anneal = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Go through so many larger lambdas first, meant to keep bp healthy.",
        min=0,
        rich_help_panel=_LEARN,
    ),
]
StartOption = Annotated[
    str | None,
    typer.Option(
        "--start",
        metavar="chow-liu|FILE",
        help="The network to begin with: the best tree, a model file, or a table of edges.",
        rich_help_panel=_LEARN,
    ),
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
ChainTol = Annotated[
    float | None,
    typer.Option(
        help="Accuracy of the certificate; 1e-5, or a tenth of lambda where that is less.",
        rich_help_panel=_LEARN,
    ),
]
Tie = Annotated[
    int | None,
    typer.Option(
        metavar="K",
        help="After learning, let the weights take K different values only.",
        min=1,
        rich_help_panel=_LEARN,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(metavar="N", help="Threads; all cores if not given.", rich_help_panel=_LEARN),
]

_LIMITS = "Limits"
MaxEdges = Annotated[
    int | None,
    typer.Option(
        "--max-edges",
        "--edges",
        metavar="N",
        help="Stop at so many edges; of forced-pruning, exactly so many.",
        min=0,
        rich_help_panel=_LIMITS,
    ),
]
MaxSeconds = Annotated[
    float | None,
    typer.Option(
        metavar="S",
        help="Stop after so many seconds of learning; reading and writing files is not counted.",
        min=0,
        rich_help_panel=_LIMITS,
    ),
]
MaxTests = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Stop after so many tests of pairs or features.",
        min=0,
        rich_help_panel=_LIMITS,
    ),
]
