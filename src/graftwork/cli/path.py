"""graftwork path: the lambdas tried, what became of each, and which was chosen."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from graftwork.cli import options as opt
from graftwork.cli.failures import BAD_INPUT, INTERRUPTED, say
from graftwork.cli.interrupts import Interrupts
from graftwork.cli.learn import (
    TOO_EARLY,
    Source,
    facts,
    fit,
    prepare,
    read_source,
    say_files,
    size_of,
)
from graftwork.cli.learner import learner_settings, with_files
from graftwork.cli.progress import progress_for
from graftwork.cli.resuming import resumable

if TYPE_CHECKING:
    from graftwork.estimators import MarkovNetwork

EXAMPLES = """Examples:
graftwork path mushroom
graftwork path data.csv --goal prediction --out path
graftwork path data.csv --goal prediction --criterion k-fold:folds=5
graftwork path data.csv --criterion stars:threshold=0.05
graftwork path survey.csv --missing impute --forbidden smokes~cough --drop id

Ctrl-C once stops and keeps the path so far; twice gives up."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do around the learning itself."""

    data: str
    out: Path
    reading: opt.Reading
    plot: bool
    quiet: bool


@opt.takes(
    opt.learning_options(without=("preset", "lam", "start", "tie")) | opt.reading_options(),
    settings=learner_settings,
    reading=opt.Reading.of,
)
def path(
    data: opt.Data,
    settings: dict[str, Any],
    reading: opt.Reading,
    out: opt.Out = Path("path"),
    seed: opt.Seed = 0,
    no_plot: opt.NoPlot = False,
    quiet: opt.Quiet = False,
) -> None:
    """Fit networks for decreasing lambdas; show every value tried, and which one was chosen.

    Files: path.csv (one line per lambda, of the penalised fits), path.png, and model.gw: the
    network at the lambda chosen or, with --goal structure, that of the edges that tests keep.
    """
    plan = Plan(data, out, reading, plot=not no_plot, quiet=quiet)
    try:
        code = run(plan, settings)
    except KeyboardInterrupt:  # while reading, or before the first round
        say(TOO_EARLY)
        code = INTERRUPTED
    raise typer.Exit(code)


def run(plan: Plan, settings: dict[str, Any]) -> int:
    """Walk the path, show it, write the files, and return the exit code."""
    from graftwork.report import path_table
    from graftwork.report.choice_text import choice_text
    from graftwork.text import wrap

    began = time.monotonic()
    with Interrupts() as interrupts, ExitStack() as kept:
        with progress_for(quiet=plan.quiet) as progress:
            progress.note(f"reading {plan.data}")
            prepare(plan.out)
            source = read_source(plan.data, plan.reading)
            progress.note(f"learning from {size_of(source.table)}")
            known = with_files(settings, source.table.names)
            given = (plan, settings)
            kept.enter_context(resumable("path", plan.out, given, interrupts, progress.note))
            net = fit(source.table, known, progress, interrupts)
        interrupts.finishing = True
        stopped = interrupts.seen
        if not net.path_ and not stopped and settings.get("penalty") != "none" and not net.lam_:
            say(f"error: there is no path: {choice_text(net.choice_)} Choose another --method.")
            return BAD_INPUT
        written = write_files(plan, source, net, settings)
    if not plan.quiet:
        words = f"{choice_text(net.choice_)} {which_is_which(net)}".rstrip()
        text = f"{path_table(net.path_)}\n\n{wrap(words)}\n"
        say_files(text, plan.out, written, time.monotonic() - began)
    if stopped:
        say(f"interrupted; the path so far is in {plan.out / 'path.csv'}.")
    return INTERRUPTED if stopped else 0


def which_is_which(net: MarkovNetwork) -> str:
    """Return how the network in the file differs from the line chosen in the table, if it does."""
    from graftwork.text import count

    if not net.refitted_ or not net.path_:
        return ""
    edges = count(net.model_.n_edges, "edge")
    if net.evidence_ is not None and not any(point.chosen for point in net.path_):
        return (
            f"The table has the penalised fits; model.gw has the {edges} that tests keep, refitted."
        )
    if net.evidence_ is not None:
        return (
            "The table counts edges of the penalised fits, in the line chosen those of the short "
            f"list; model.gw has the {edges} kept, with the weights of the refit."
        )
    return (
        f"The table has penalised fits; model.gw has the {edges} of the one chosen, refitted "
        "without the penalty."
    )


def write_files(
    plan: Plan, source: Source, net: MarkovNetwork, settings: dict[str, Any]
) -> list[str]:
    """Write the path, its picture and the model; return the names of the files."""
    from graftwork.data.atomic import replacing_together
    from graftwork.report import plot_path, write_path

    written = ["path.csv", "model.gw"]
    info = facts(source, net, settings, None, plan.reading.missing)
    with replacing_together(plan.out, ["path.png"]) as out:
        write_path(out / "path.csv", net.path_)
        net.model_.save(out / "model.gw", info=info)
    if plan.plot and net.path_:
        try:
            plot_path(net, plan.out / "path.png")
            written.append("path.png")
        except ImportError as error:
            say(f"note: path.png was not drawn: {error}")
    return written
