"""graftwork compare: the same data at the same lambda through many methods."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graftwork.cli import options as opt
from graftwork.cli.failures import BAD_INPUT, INTERRUPTED, as_options, one_line, say
from graftwork.cli.interrupts import Interrupts, Stoppable
from graftwork.cli.learn import prepare, read_source, say_files, size_of
from graftwork.cli.learner import shared_settings
from graftwork.cli.measure import hold_out
from graftwork.cli.methods import parse_methods
from graftwork.cli.progress import Progress, progress_for

if TYPE_CHECKING:
    from graftwork.comparing.comparison import Comparison
    from graftwork.comparing.methods import Entry
    from graftwork.comparing.networks import NetworkTask
    from graftwork.comparing.runner import Attempt, Task

#: Parameters that a comparison does not take: methods are its subject, at one lambda.
LEFT_OUT = (
    "preset", "method", "start", "goal", "fdr", "criterion", "required", "forbidden", "candidates",
    "penalty_weights", "missing",
)  # fmt: skip

EXAMPLES = """Examples:
graftwork compare mushroom --lam 0.05
graftwork compare data.csv --methods best-choice,edge-grafting --lam 0.01
graftwork compare data.csv -m best-choice:alpha=0,best-choice:alpha=1
graftwork compare small.csv --methods all --penalty l1 --lam 0.02
graftwork compare made.csv --truth truth.gw --holdout 0.2 --out compare

The truth is a model, or a table that names the ends of an edge in its first
two columns, such as the edges.csv of learn.
Ctrl-C stops and keeps the results so far; a second one does not wait for the step under way."""

Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--methods",
        "-m",
        metavar="NAME,NAME",
        help="Methods of learn, with commas, or all; NAME:OPTION=VALUE sets an option of one. By "
        "default all for up to 10 variables; with more variables, the fast ones: best-choice, "
        "first-hit and, for up to 64, edge-grafting and grafting-light.",
    ),
]
Truth = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The true network: a model (.gw) or a table of edges."),
]


@opt.takes(
    opt.learning_options(without=LEFT_OUT) | opt.reading_options(),
    settings=shared_settings,
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
    """Run several methods on a table at one lambda; compare their results and costs.

    Limits apply to each method. Files: comparison.csv (a line per method), rounds.csv (every
    round), comparison.txt, comparison.json and comparison.png (against time and counters).
    """
    # a wrong name is refused before a long file is read
    chosen = None if methods is None else parse_methods(methods)

    def read(progress: Progress) -> tuple[NetworkTask, str]:
        progress.note(f"reading {data}")
        task, why_not = read_task(data, reading, chosen, truth, holdout, settings)
        progress.note(f"comparing on {size_of(task.table)}")
        return task, why_not

    raise typer.Exit(run(read, out, plot=not no_plot, quiet=quiet))


def read_task(
    data: str,
    reading: opt.Reading,
    methods: Sequence[Entry] | None,
    truth: Path | None,
    holdout: float,
    settings: dict[str, Any],
) -> tuple[NetworkTask, str]:
    """Return what is to be compared, and why no rows are held out where none are."""
    from graftwork.cli.truth import read_truth
    from graftwork.comparing.networks import make_task
    from graftwork.data import Table

    table = read_source(data, reading).table
    assert isinstance(table, Table)
    true = None if truth is None else read_truth(table.names, truth)
    train, test, why_not = hold_out(table, holdout, int(settings["random_state"]))
    return make_task(train, methods, truth=true, test=test, **settings), why_not


def run(
    read: Callable[[Progress], tuple[Task, str]],
    out: Path,
    *,
    plot: bool,
    quiet: bool,
    noun: str = "edge",
) -> int:
    """Compare, say what was found, write the files, and return the exit code.

    Parameters
    ----------
    read : function
        Returns what is to be compared, and a sentence to add to the results.
    noun : str
        What rounds count.
    """
    try:
        return _run(read, out, plot=plot, quiet=quiet, noun=noun)
    except KeyboardInterrupt:  # while reading, choosing lambda, or in the first round of all
        say("interrupted before there was anything to compare.")
        return INTERRUPTED


def _run(
    read: Callable[[Progress], tuple[Task, str]],
    out: Path,
    *,
    plot: bool,
    quiet: bool,
    noun: str,
) -> int:
    from graftwork.comparing.runner import evaluate, run_methods

    began = time.monotonic()
    with Interrupts() as interrupts:
        with progress_for(quiet=quiet, noun=noun) as progress:
            prepare(out)
            task, remark = read(progress)
            watched = Stoppable(progress, interrupts)
            interrupts.waits = True
            trial = run_methods(task, watched, lambda attempt: tell(progress, attempt))
            progress.note("evaluating the results")
            comparison = evaluate(task, trial)
        written = write_files(comparison, out, plot=plot)
    if not quiet:
        text = comparison.words() + (f"\n{remark}\n" if remark else "")
        say_files(text, out, written, time.monotonic() - began)
    return say_what_is_missing(comparison, out)


def tell(progress: Progress, attempt: Attempt) -> None:
    """Note how a method ended, and return None."""
    certificate = attempt.net.certificate_
    ended = "optimal" if certificate.converged else certificate.stop
    kept = f"{certificate.n_edges:,} {certificate.noun}{'s'[: certificate.n_edges != 1]}"
    progress.note(
        f"{attempt.label}: {kept}, objective {certificate.objective:.6g}, "
        f"{attempt.net.trace_[-1].seconds:.2f} s, {ended}"
    )


def write_files(comparison: Comparison, out: Path, *, plot: bool) -> list[str]:
    """Write everything to the directory asked for, and return the names of the files."""
    written = comparison.write(out, plot=False)
    if plot:
        try:
            comparison.plot(out / "comparison.png")
            written.append("comparison.png")
        except ImportError as error:
            say(f"note: comparison.png was not drawn: {error}")
    return written


def say_what_is_missing(comparison: Comparison, out: Path) -> int:
    """Say which methods are missing and whether it was interrupted; return the exit code."""
    for label, why in comparison.missing.items():
        say(f"{label} is missing: {one_line(as_options(why))}")
    if comparison.interrupted:
        say(f"interrupted; the results so far are in {out}.")
        return INTERRUPTED
    return BAD_INPUT if comparison.missing else 0
