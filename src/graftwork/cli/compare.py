"""graftwork compare: the same data at the same lambda through many methods."""

from __future__ import annotations

import ast
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graftwork.cli import options as opt
from graftwork.cli.failures import BAD_INPUT, INTERRUPTED, one_line, say
from graftwork.cli.interrupts import Interrupts, Stoppable
from graftwork.cli.learn import Reading, hold_out, prepare, read_source, size_of
from graftwork.cli.matching import match_text
from graftwork.cli.progress import Progress, progress_for
from graftwork.errors import DataError

if TYPE_CHECKING:
    from graftwork.report.compare_methods import Entry
    from graftwork.report.compare_runs import Attempt, Task
    from graftwork.report.comparison import Comparison

_TOO_EARLY = "interrupted before there was anything to compare."

EXAMPLES = """Examples:
graftwork compare mushroom --lam 0.05
graftwork compare data.csv --methods best-choice,edge-grafting --lam 0.01
graftwork compare data.csv -m best-choice:alpha=0,best-choice:alpha=1
graftwork compare made.csv --truth truth.gw --holdout 0.2 --out compare

The truth is a model, or a table that names the ends of an edge in its first
two columns, such as the edges.csv of learn.
Ctrl-C once stops and keeps what there is; twice gives up."""

Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--methods",
        "-m",
        metavar="NAME,NAME",
        help="Methods, with commas; NAME:OPTION=VALUE sets an option of one. By default all that "
        "fit, or best-choice, edge-grafting and first-hit when there are over 64 variables.",
    ),
]
Truth = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The true network: a model (.gw) or a table of edges."),
]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do around the comparison itself."""

    data: str
    out: Path
    reading: Reading
    methods: Sequence[str] | None
    truth: Path | None
    holdout: float
    plot: bool
    quiet: bool


def compare(
    data: opt.Data,
    methods: Methods = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the files go.")] = Path("compare"),
    truth: Truth = None,
    holdout: Annotated[
        float, typer.Option(help="Share of the rows kept to test on; 0 for none.", min=0, max=0.9)
    ] = 0.1,
    seed: opt.Seed = 0,
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Draw no figure.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only write the files.")] = False,
    lam: opt.Lam = "auto",
    loss: opt.LossOption = opt.Loss.PSEUDOLIKELIHOOD,
    inference: opt.LearnInference = opt.Inference.AUTO,
    penalty: opt.PenaltyOption = opt.Penalty.GROUP_L1,
    l2: opt.L2 = 0.0,
    penalize_unary: opt.PenalizeUnary = False,
    tol: opt.Tol = 1e-6,
    jobs: opt.Jobs = None,
    max_edges: opt.MaxEdges = None,
    max_seconds: opt.MaxSeconds = None,
    max_tests: opt.MaxTests = None,
    sep: opt.Sep = None,
    header: opt.HeaderOption = opt.Header.AUTO,
    weights: opt.Weights = None,
    missing_values: opt.MissingValues = None,
    keep_missing: opt.KeepMissing = False,
    strings: opt.Strings = False,
) -> None:
    """Run several methods on a table at one lambda; compare what they reach and what they take.

    Limits are for each method. Files: comparison.csv (a line a method), rounds.csv (every round),
    comparison.txt, comparison.json and comparison.png (everything against time and counters).
    """
    settings = {
        "loss": loss.value,
        "inference": inference.value,
        "penalty": penalty.value,
        "lam": opt.parse_lam(lam),
        "l2": l2,
        "penalize_unary": penalize_unary,
        "tol": tol,
        "max_edges": max_edges,
        "max_seconds": max_seconds,
        "max_tests": max_tests,
        "random_state": seed,
        "n_jobs": jobs,
    }
    missing = () if keep_missing else tuple(missing_values) if missing_values else None
    reading = Reading(sep, header, weights, missing, strings)
    plan = Plan(data, out, reading, methods, truth, holdout, plot=not no_plot, quiet=quiet)
    try:
        code = run(plan, settings)
    except KeyboardInterrupt:  # while reading, choosing lambda, or before any method had a network
        say(_TOO_EARLY)
        code = INTERRUPTED
    raise typer.Exit(code)


def run(plan: Plan, settings: dict[str, Any]) -> int:
    """Compare, say what was found, write the files, and return the exit code."""
    from graftwork.report.compare_evaluate import evaluate
    from graftwork.report.compare_runs import run_methods

    began = time.monotonic()
    with Interrupts() as interrupts:
        with progress_for(quiet=plan.quiet) as progress:
            progress.note(f"reading {plan.data}")
            prepare(plan.out)
            task, why_not = read_task(plan, settings)
            progress.note(f"comparing on {size_of(task.table)}")
            watched = Stoppable(progress, interrupts)
            trial = run_methods(task, watched, lambda attempt: _tell(progress, attempt))
            interrupts.finishing = True
            progress.note("evaluating what they found")
            comparison = evaluate(trial)
        text = comparison.words() + (f"\n{why_not}\n" if why_not else "")
        written = write_files(plan, comparison)
    if not plan.quiet:
        typer.echo(text)
        typer.echo(f"Compared in {time.monotonic() - began:.1f} s. Files in {plan.out}:")
        typer.echo(f"  {', '.join(written)}")
    for label, why in comparison.missing.items():
        say(f"{label} is missing: {one_line(why)}")
    if comparison.interrupted:
        say(f"interrupted; what there was by then is in {plan.out}.")
        return INTERRUPTED
    return BAD_INPUT if comparison.missing else 0


def read_task(plan: Plan, settings: dict[str, Any]) -> tuple[Task, str]:
    """Return what is to be compared, and why no rows are held out where none are."""
    from graftwork.report.compare import make_task
    from graftwork.report.compare_methods import make_entries

    methods = None
    if plan.methods is not None:  # a wrong name is refused before a long file is read
        methods = make_entries(parse_methods(plan.methods))
    table = read_source(plan.data, plan.reading).table
    truth = None if plan.truth is None else read_truth(plan.truth, table.names)
    train, test, why_not = hold_out(table, plan.holdout, int(settings["random_state"]))
    return make_task(train, methods, truth=truth, test=test, **settings), why_not


def _tell(progress: Progress, attempt: Attempt) -> None:
    certificate = attempt.net.certificate_
    ended = "optimal" if certificate.converged else certificate.stop
    progress.note(
        f"{attempt.label}: {certificate.n_edges:,} edge{'s'[: certificate.n_edges != 1]}, "
        f"objective {certificate.objective:.6g}, {attempt.totals.seconds:.2f} s, {ended}"
    )


def write_files(plan: Plan, comparison: Comparison) -> list[str]:
    """Write everything under the directory asked for, and return the names of the files."""
    written = comparison.write(plan.out, plot=False)
    if plan.plot:
        try:
            comparison.plot(plan.out / "comparison.png")
            written.append("comparison.png")
        except ImportError as error:
            say(f"note: comparison.png was not drawn: {error}")
    return written


def parse_methods(words: Sequence[str]) -> list[Entry]:
    """Return methods from texts NAME,NAME:OPTION=VALUE; the texts are their labels.

    Examples
    --------
    >>> entries = parse_methods(["best-choice:alpha=0,first-hit"])
    >>> entries[0].settings, entries[1].label
    ({'method': 'best-choice', 'alpha': 0}, 'first-hit')
    """
    from graftwork.report.compare_methods import Entry

    texts = [text.strip() for word in words for text in word.split(",") if text.strip()]
    return [Entry(text, _method_settings(text)) for text in texts]


def _method_settings(text: str) -> dict[str, Any]:
    """Return a method and its options as the estimator's arguments."""
    from graftwork.estimators import MarkovNetwork

    known = MarkovNetwork().get_params(deep=False)
    name, *options = text.split(":")
    settings: dict[str, Any] = {"method": name.strip()}
    special: dict[str, Any] = {}
    for option in options:
        key, mark, value = (part.strip() for part in option.partition("="))
        if not mark or not key:
            raise DataError(f"--methods has {text!r}; write NAME:OPTION=VALUE.")
        key = key.replace("-", "_")
        # an option the estimator does not know itself is one of the method's own
        target = settings if key in known or "method_options" not in known else special
        target[key] = _value(value)
    return settings | ({"method_options": special} if special else {})


def _value(text: str) -> Any:
    """Return a number or a truth value where the text is one, else the text."""
    if text.lower() in ("true", "false", "none"):
        text = text.capitalize()
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if value is None or isinstance(value, bool | int | float) else text


def read_truth(path: Path, names: Sequence[Any]) -> Any:
    """Return the edges of a model file, or those that a table's first two columns name.

    A first line that names no variable is a header, and so is learn's own.
    """
    from graftwork.data import read_table

    if _is_model(path):
        return _model_edges(path, names)
    table = read_table(path, header=False, missing_values=(), infer_types=False)
    if table.n_variables < 2:
        raise DataError(f"--truth {path.name}: an edge needs two columns, one for each end.")
    rows = [tuple(str(cell) for cell in row[:2]) for row in table]
    known = [_find(text, names) is not None for text in rows[0]]
    if not any(known) or (rows[0] == ("first", "second") and not all(known)):
        rows = rows[1:]
    return [_named(path, row, names) for row in rows]


def _is_model(path: Path) -> bool:
    """Return whether a file is a zip, as model files are."""
    try:
        with path.open("rb") as file:
            return path.suffix == ".gw" or file.read(4) == b"PK\x03\x04"
    except IsADirectoryError:
        raise DataError(f"--truth {str(path)!r} is a directory; name a file.") from None
    except FileNotFoundError:
        raise DataError(f"--truth {str(path)!r}: there is no such file.") from None


def _model_edges(path: Path, names: Sequence[Any]) -> list[tuple[Any, Any]]:
    from graftwork.models import load

    return [_named(path, edge, names) for edge in load(path).edges]


def _find(text: Any, names: Sequence[Any]) -> int | None:
    position: int | None = match_text(str(text), names)
    return position


def _named(path: Path, edge: Sequence[Any], names: Sequence[Any]) -> tuple[Any, Any]:
    """Return an edge with the names as the data have them; unknown ones are refused."""
    from graftwork.data.values import listing, suggestion

    found = []
    for end in edge:
        position = _find(end, names)
        if position is None:
            near = suggestion(str(end), [str(name) for name in names]) or "."
            raise DataError(
                f"--truth {path.name}: the data have no variable {str(end)!r}{near} "
                f"The variables are {listing([str(name) for name in names])}."
            )
        found.append(names[position])
    return found[0], found[1]
