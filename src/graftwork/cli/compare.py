"""graftwork compare: the same data at the same lambda through many methods."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graftwork.cli import options as opt
from graftwork.cli.failures import BAD_INPUT, INTERRUPTED, as_options, one_line, say
from graftwork.cli.interrupts import Interrupts, Stoppable
from graftwork.cli.learn import prepare, read_source, say_files, size_of
from graftwork.cli.learner import learner_settings
from graftwork.cli.measure import hold_out
from graftwork.cli.methods import parse_methods
from graftwork.cli.progress import Progress, progress_for

if TYPE_CHECKING:
    from graftwork.report.chain_comparison import ChainComparison
    from graftwork.report.compare_chains_runs import ChainAttempt
    from graftwork.report.compare_methods import Entry
    from graftwork.report.compare_runs import Attempt, Task
    from graftwork.report.comparison import Comparison

#: Parameters that a comparison does not take: methods are its subject, at one lambda.
LEFT_OUT = (
    "method", "start", "goal", "fdr", "criterion", "required", "forbidden", "candidates",
    "penalty_weights", "missing",
)  # fmt: skip
TOO_EARLY = "interrupted before there was anything to compare."

EXAMPLES = """Examples:
graftwork compare mushroom --lam 0.05
graftwork compare data.csv --methods best-choice,edge-grafting --lam 0.01
graftwork compare data.csv -m best-choice:alpha=0,best-choice:alpha=1
graftwork compare small.csv --methods all --penalty l1 --lam 0.02
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
        help="Methods, with commas, or all; NAME:OPTION=VALUE sets an option of one. By default "
        "all for up to 10 variables; beyond, those that end soon: best-choice, first-hit and, for "
        "up to 64, edge-grafting and grafting-light.",
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
    reading: opt.Reading
    methods: Sequence[Entry] | None
    truth: Path | None
    holdout: float
    plot: bool
    quiet: bool


@opt.takes(
    opt.learning_options(without=LEFT_OUT) | opt.reading_options(),
    settings=learner_settings,
    reading=opt.Reading.of,
)
def compare(
    data: opt.Data,
    settings: dict[str, Any],
    reading: opt.Reading,
    methods: Methods = None,
    out: opt.Out = Path("compare"),
    truth: Truth = None,
    holdout: Annotated[
        float, typer.Option(help="Share of the rows kept to test on; 0 for none.", min=0, max=0.9)
    ] = 0.1,
    seed: opt.Seed = 0,
    no_plot: opt.NoPlot = False,
    quiet: opt.Quiet = False,
) -> None:
    """Run several methods on a table at one lambda; compare what they reach and what they take.

    Limits are for each method. Files: comparison.csv (a line a method), rounds.csv (every round),
    comparison.txt, comparison.json and comparison.png (everything against time and counters).
    """
    # a wrong name is refused before a long file is read
    chosen = None if methods is None else parse_methods(methods)
    plan = Plan(data, out, reading, chosen, truth, holdout, plot=not no_plot, quiet=quiet)
    try:
        code = run(plan, settings)
    except KeyboardInterrupt:  # while reading, choosing lambda, or before any method had a network
        say(TOO_EARLY)
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
            trial = run_methods(task, watched, lambda attempt: tell(progress, attempt))
            interrupts.finishing = True
            progress.note("evaluating what they found")
            comparison = evaluate(trial)
        text = comparison.words() + (f"\n{why_not}\n" if why_not else "")
        written = write_files(comparison, plan.out, plot=plan.plot)
    if not plan.quiet:
        say_files(text, plan.out, written, time.monotonic() - began)
    return say_what_is_missing(comparison, plan.out)


def say_what_is_missing(comparison: Comparison | ChainComparison, out: Path) -> int:
    """Say which methods are missing and whether it was interrupted; return the exit code."""
    for label, why in comparison.missing.items():
        say(f"{label} is missing: {one_line(as_options(why))}")
    if comparison.interrupted:
        say(f"interrupted; what there was by then is in {out}.")
        return INTERRUPTED
    return BAD_INPUT if comparison.missing else 0


def read_task(plan: Plan, settings: dict[str, Any]) -> tuple[Task, str]:
    """Return what is to be compared, and why no rows are held out where none are."""
    from graftwork.cli.truth import read_truth
    from graftwork.report.compare import make_task

    table = read_source(plan.data, plan.reading).table
    truth = None if plan.truth is None else read_truth(table.names, plan.truth)
    train, test, why_not = hold_out(table, plan.holdout, int(settings["random_state"]))
    return make_task(train, plan.methods, truth=truth, test=test, **settings), why_not


def tell(progress: Progress, attempt: Attempt | ChainAttempt) -> None:
    """Note how a method ended, and return None."""
    certificate = attempt.net.certificate_
    ended = "optimal" if certificate.converged else certificate.stop
    kept = f"{certificate.n_edges:,} {certificate.noun}{'s'[: certificate.n_edges != 1]}"
    progress.note(
        f"{attempt.label}: {kept}, objective {certificate.objective:.6g}, "
        f"{attempt.net.trace_[-1].seconds:.2f} s, {ended}"
    )


def write_files(comparison: Comparison | ChainComparison, out: Path, *, plot: bool) -> list[str]:
    """Write everything under the directory asked for, and return the names of the files."""
    written = comparison.write(out, plot=False)
    if plot:
        try:
            comparison.plot(out / "comparison.png")
            written.append("comparison.png")
        except ImportError as error:
            say(f"note: comparison.png was not drawn: {error}")
    return written
