"""The options that commands share: of learning (from the table of parameters), of reading files."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from graftwork.cli.presets import Preset
from graftwork.parameters import (
    LEARNING,
    LIMITS,
    PARAMETERS,
    READING,
    Choice,
    Number,
    Parameter,
)
from graftwork.registry import CRITERIA, ENGINES, PENALTIES, RECIPES

METHODS, CHAIN_METHODS = tuple(RECIPES), RECIPES.having("chains")
#: Names of parts that help texts list.
NAMES = {
    "methods": ", ".join(("auto", *METHODS)),
    "engines": ", ".join(ENGINES),
    "penalties": ", ".join(PENALTIES),
    "criteria": ", ".join(("tests", *CRITERIA)),
}

Options = dict[str, tuple[Any, Any]]
PARTS = "Rows in parts"


if TYPE_CHECKING:
    from graftwork.data.files import GapTexts

    Inference = str
    Penalty = str
else:
    Inference = StrEnum("Inference", {name: name for name in ENGINES})
    Penalty = StrEnum("Penalty", {name: name for name in PENALTIES})


class ScoredMissing(StrEnum):
    """What missing cells of rows to score are."""

    ERROR = "error"
    AVAILABLE_CASE = "available-case"
    DROP_ROWS = "drop-rows"


class UnseenStates(StrEnum):
    """What cells are whose state a model does not have."""

    ERROR = "error"
    IGNORE = "ignore"


class RowEngine(StrEnum):
    """Where parts of the rows are looked at."""

    PROCESSES = "processes"
    DASK = "dask"


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


def folder(text: str | Path) -> Path:
    """Return the folder that a text names; an empty text, an unset variable perhaps, is refused."""
    if not str(text):
        raise typer.BadParameter("it is empty; name a folder, or . for the current one.")
    return Path(text)


def separator(text: str | None) -> str | None:
    r"""Return what separates columns: a tab for ``\t``, which shells pass as two characters."""
    return None if text is None else text.replace(r"\t", "\t")


def parse_lam(text: str) -> Literal["auto"] | float:
    """Return "auto" or a number of at least 0; whether it suits the penalty is checked later.

    Examples
    --------
    >>> parse_lam("auto"), parse_lam("0.01")
    ('auto', 0.01)
    """
    if text == "auto":
        return "auto"
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        sentence = f"{text!r} is neither auto nor a number, such as 0.01."
        raise typer.BadParameter(sentence, param_hint="'--lam'")
    return value


def parse_bins(texts: Sequence[str]) -> int | dict[str, int] | None:
    """Return how many bins columns of numbers get: all of them, or some by name.

    Examples
    --------
    >>> parse_bins(["7"]), parse_bins(["age:5,income:7"]), parse_bins([])
    (7, {'age': 5, 'income': 7}, None)
    """
    if not texts:
        return None
    parts = [part.strip() for text in texts for part in text.split(",")]
    if len(parts) == 1 and ":" not in parts[0]:
        return _whole(parts[0], parts[0])
    found = {}
    for part in parts:
        name, _, count = part.rpartition(":")
        found[name] = _whole(count if name else "", part)
    return found


def _whole(text: str, given: str) -> int:
    """Return a number of bins, or refuse what was given."""
    try:
        return int(text)
    except ValueError:
        sentence = f"{given!r} is neither a number of bins, such as 7, nor a column's, as age:5."
        raise typer.BadParameter(sentence, param_hint="'--bins'") from None


def learning_options(*, without: tuple[str, ...] = ()) -> Options:
    """Return the options of learning a network, with their defaults, from the parameters."""
    found: Options = {} if "preset" in without else {"preset": (Preset, None)}
    for each in PARAMETERS:
        if each.help and each.name not in without:
            found[each.name] = _option(each), each.default
        if each.name == "unary":
            found["penalize_unary"] = PenalizeUnary, False
            found["unary_lam"] = UnaryLam, None
    return found


def _option(parameter: Parameter) -> Any:
    """Return the option of one parameter, as typer takes it."""
    check, flag = parameter.check, f"--{parameter.name.replace('_', '-')}"
    limits: dict[str, Any] = {}
    if isinstance(check, Choice):
        kind: Any = Literal[check.names]
    elif isinstance(check, Number):
        kind = int if check.whole else float
        limits = {"min": check.low if check.above is None else 0.0}
    else:
        kind = {"lam": str, "n_jobs": int}.get(parameter.name, str)
    listed = parameter.within == "knowledge" and parameter.name != "penalty_weights"
    if listed or parameter.name in ("ordinal", "bins"):
        kind = list[str]
    if parameter.default is None:
        kind = kind | None
    option = typer.Option(
        *(parameter.flags or (flag,)),
        metavar=parameter.metavar,
        help=parameter.help.format(**NAMES),
        rich_help_panel=parameter.panel,
        **limits,
    )
    return Annotated[kind, option]


def reading_options(*, without: tuple[str, ...] = ()) -> Options:
    """Return the options of reading a table, with their defaults."""
    known: Options = {
        "sep": (Sep, None),
        "header": (HeaderOption, Header.AUTO),
        "weights": (Weights, None),
        "sheet": (Sheet, None),
        "missing_values": (MissingValues, None),
        "keep_missing": (KeepMissing, False),
        "strings": (Strings, False),
        "columns": (Columns, None),
        "drop": (Drop, None),
    }
    return {name: option for name, option in known.items() if name not in without}


def parts_options() -> Options:
    """Return the options of rows that are read in parts, with their defaults."""
    return {
        "memory": (Memory, None),
        "workdir": (Workdir, None),
        "engine": (EngineOption, None),
        "scheduler": (Scheduler, None),
    }


def takes(options: Options, **packed: Callable[[Mapping[str, Any]], Any]) -> Any:
    """Return what gives a command more options than its own."""

    def extend(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [each for name, each in signature.parameters.items() if name not in packed]
        shared = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
            for name, (annotation, default) in options.items()
        ]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            mine = {each.name: given[each.name] for each in own}
            command(**mine, **{name: make(given) for name, make in packed.items()})

        listed = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own] + shared
        run.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in listed}
        del run.__wrapped__
        return run

    return extend


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
    bins: int | Mapping[str, int] | None = None
    sheet: str | None = None
    only_given: bool = False

    @staticmethod
    def of(given: Mapping[str, Any]) -> Reading:
        """Return what the options of a command say."""
        texts = given["missing_values"]
        missing = tuple(texts) if texts else () if given["keep_missing"] else None
        header = Header(given["header"])
        gaps = given.get("missing", "error") != "error"
        columns, drop = (
            tuple(given[name]) if given[name] else None for name in ("columns", "drop")
        )
        bins = parse_bins(given.get("bins") or ())
        return Reading(
            given["sep"], header, given["weights"], missing, given["strings"], gaps, columns, drop,
            bins, given.get("sheet"), given["keep_missing"],
        )  # fmt: skip

    @property
    def missing_texts(self) -> GapTexts:
        """The texts that mean a missing cell."""
        return missing_texts(self.missing, only=self.only_given)


def amount(text: str | None) -> str | None:
    """Return an amount of memory as it was written, or refuse it."""
    from graftwork.errors import ParameterError
    from graftwork.parameters import memory_bytes

    try:
        if text is not None:
            memory_bytes("memory", text)
    except ParameterError:
        sentence = f"{text!r} is no amount of 1MB or more, such as 2GB or 500MB."
        raise typer.BadParameter(sentence, param_hint="'--memory'") from None
    return text


@dataclass(frozen=True, slots=True)
class InParts:
    """How rows that are read in parts are kept and looked at."""

    memory: str | None = None
    workdir: Path | None = None
    engine: str | None = None
    scheduler: str | None = None

    @staticmethod
    def of(given: Mapping[str, Any]) -> InParts:
        """Return what the options of a command say."""
        engine = None if given["engine"] is None else str(given["engine"])
        scheduler = given["scheduler"]
        if scheduler is not None and engine not in (None, "dask"):
            sentence = f"it is the address of a Dask cluster, and --engine is {engine}."
            raise typer.BadParameter(sentence, param_hint="'--scheduler'")
        return InParts(
            given["memory"], given["workdir"], "dask" if scheduler else engine, scheduler
        )


def missing_texts(
    texts: Sequence[str] | None, *, only: bool = False, states: Mapping[Any, Any] | None = None
) -> GapTexts:
    """Return the texts that mean missing: those given, besides the usual ones.

    Examples
    --------
    >>> found = missing_texts(["?", "mood:9,99"])
    >>> sorted(found("mood") - found("age")), "?" in found("age"), "NA" in found("age")
    (['9', '99'], True, True)
    >>> missing_texts(["?"], only=True)("age")
    frozenset({'?'})
    """
    from graftwork.data.files import MISSING, GapTexts

    known = {str(name): set(map(str, listed)) for name, listed in (states or {}).items()}
    every = [text for text in texts or () if ":" not in text]
    named: dict[Any, frozenset[str]] = {}
    for name, _, own in (text.rpartition(":") for text in texts or () if ":" in text):
        named[name] = named.get(name, frozenset()) | frozenset(own.split(","))
    usual = frozenset([*every, *(() if only else MISSING)]).difference(*known.values())
    own_texts = {name: own - known.get(name, set()) for name, own in named.items()}
    return GapTexts(usual, own_texts, strict=states is None)


Data = Annotated[
    str,
    typer.Argument(
        help="A CSV, TSV, Parquet, Excel (.xlsx) or SPSS (.sav) file (- for standard input), or "
        "the name of a data set: adhd, boredom, mushroom."
    ),
]
LearnData = Annotated[
    list[str],
    typer.Argument(
        help="A CSV, TSV, Parquet, Excel (.xlsx) or SPSS (.sav) file (- for standard input), or "
        "the name of a data set: adhd, boredom, mushroom. Rows of several files, of a folder or of "
        "a quoted glob such as 'sales/*.parquet' are read in parts (Parquet, Arrow, CSV, TSV)."
    ),
]
ScoreData = Annotated[
    list[str],
    typer.Argument(
        help="A CSV, TSV, Parquet, Excel (.xlsx) or SPSS (.sav) file. Rows of several files, of a "
        "folder or of a quoted glob are read in parts."
    ),
]
Rows = Annotated[
    Path, typer.Argument(help="A CSV, TSV, Parquet, Excel (.xlsx) or SPSS (.sav) file.")
]
Model = Annotated[Path, typer.Argument(help="A model file, as learn writes it (model.gw).")]
Given = Annotated[
    list[str] | None,
    typer.Option("--given", metavar="NAME=STATE", help="What is observed; repeat for more."),
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.", min=0)]

DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Say how large it is, and how much memory it takes; learn nothing.",
    ),
]

Sep = Annotated[
    str | None,
    typer.Option(
        help=r"The separator, if it is not detected; \t is a tab.",
        callback=separator,
        rich_help_panel=READING,
    ),
]
HeaderOption = Annotated[
    Header,
    typer.Option(
        "--header", help="Whether the first line holds the column names.", rich_help_panel=READING
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of row weights: whole numbers are counts, others sampling weights.",
        rich_help_panel=READING,
    ),
]
MissingValues = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="A text that means missing, besides an empty cell, NA, nan, null and the like "
        "(instead of these with --keep-missing), or NAME:TEXT,TEXT for one column. Repeatable.",
        rich_help_panel=READING,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The sheet of an Excel file; the first if not given.",
        rich_help_panel=READING,
    ),
]
ScoredMissingOption = Annotated[
    ScoredMissing | None,
    typer.Option(
        "--missing",
        help="How to treat missing cells: as an error, unknown (available-case: the observed cells "
        "of the row count), or a reason to leave out the row. By default as the model was learned.",
        rich_help_panel=READING,
    ),
]
KeepMissing = Annotated[
    bool,
    typer.Option(
        "--keep-missing",
        help="Only the texts of --missing-values mean missing: NA and an empty cell are states "
        "like others.",
        rich_help_panel=READING,
    ),
]
Strings = Annotated[
    bool, typer.Option("--strings", help="Keep every cell as text.", rich_help_panel=READING)
]

Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,NAME",
        help="Read these columns only (names with commas in them quoted, or one by one); repeat "
        "for more.",
        rich_help_panel=READING,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        "--exclude",
        metavar="NAME,NAME",
        help="Leave out these columns: ids, names, comments. They are not read.",
        rich_help_panel=READING,
    ),
]

Memory = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help="Read the rows in parts, even those of one file, and use about this much memory: "
        "2GB, 500MB.",
        callback=amount,
        rich_help_panel=PARTS,
    ),
]
Workdir = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Keep packed rows here; the next run with the same files and options reads no file. "
        "Without it they are in a temporary folder.",
        file_okay=False,
        rich_help_panel=PARTS,
    ),
]
EngineOption = Annotated[
    RowEngine | None,
    typer.Option(
        "--engine",
        help="Where parts are processed: read from disk one after the other, if not given; kept in "
        "the memory of processes, as many as --jobs; or in that of the workers of a Dask cluster, "
        "on this machine unless --scheduler names another.",
        rich_help_panel=PARTS,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="The scheduler of a Dask cluster, such as tcp://10.0.0.1:8786; its workers read the "
        "files.",
        rich_help_panel=PARTS,
    ),
]

PenalizeUnary = Annotated[
    bool,
    typer.Option(
        "--penalize-unary",
        help="Penalise unary potentials too, as strongly as edges.",
        rich_help_panel=LEARNING,
    ),
]
UnaryLam = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        help="Penalise unary potentials with a lambda of their own.",
        min=0,
        rich_help_panel=LEARNING,
    ),
]
ChainTol = Annotated[
    float | None,
    typer.Option(
        help="Accuracy of the certificate; 1e-4, or lambda where that is less.",
        rich_help_panel=LEARNING,
    ),
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Where the files go.", parser=folder)]
Communities = Annotated[
    bool,
    typer.Option(
        "--communities", help="Communities of variables (Louvain): in words, and in the picture."
    ),
]
ShowPath = Annotated[
    bool,
    typer.Option("--path", help="Also show every lambda tried, as a table, and draw path.png."),
]
NoPlot = Annotated[bool, typer.Option("--no-plot", help="Draw no picture.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Write the files and print nothing.")]
Jobs = Annotated[
    int | None,
    typer.Option(metavar="N", help="Threads; all cores if not given.", rich_help_panel=LEARNING),
]
MaxSeconds = Annotated[
    float | None,
    typer.Option(
        metavar="S",
        help="Stop after S seconds of learning; reading and writing files is not counted.",
        min=0,
        rich_help_panel=LIMITS,
    ),
]
L2 = Annotated[
    float,
    typer.Option(
        help="Strength of a ridge on all weights, added to the penalty.",
        min=0,
        rich_help_panel=LEARNING,
    ),
]
