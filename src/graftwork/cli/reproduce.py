"""graftwork reproduce: the papers' experiments, beside what was printed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graftwork.cli import options as opt
from graftwork.cli.failures import BAD_INPUT, INTERRUPTED, say
from graftwork.cli.interrupts import Interrupts, Stoppable
from graftwork.cli.progress import Progress, progress_for

if TYPE_CHECKING:
    from graftwork.reproduce import Context, Step, Study
    from graftwork.reproduce.runner import Outcome

ALL = "all"

EXAMPLES = """Examples:
graftwork reproduce --list
graftwork reproduce priority
graftwork reproduce forced-pruning --data DIR
graftwork reproduce all --quick --data DIR --out quick

DIR holds the data sets (debd, jester, yummly, conll2000, ocr_letters, mnist,
hapmap), each in a folder of its own; GRAFTWORK_DATA may say where it is.
Ctrl-C stops; the same command goes on where it was."""


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Studies, or all.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of data sets (or GRAFTWORK_DATA).")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes: under two minutes a study.")
    ] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the files go.")] = Path(
        "reproduced"
    ),
    seed: opt.Seed = 0,
    jobs: opt.Jobs = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what earlier runs found.")] = False,
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Draw no figures.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only write the files.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Say what there is, and end.")] = False,
) -> None:
    """Run the experiments of a paper; print what it says, what is found here, and a verdict.

    Files, in a folder for each study: results.json (all), claims.csv and other tables, pictures,
    page.md; steps keeps what is done, so that a stopped run goes on.
    """
    from graftwork.datasets.folders import data_folder
    from graftwork.errors import DataError
    from graftwork.reproduce import NAMES, Context, find_study

    if listed or not names:
        width = max(map(len, NAMES))
        for name, words in NAMES.items():
            typer.echo(f"{name:<{width}}  {words}")
        raise typer.Exit(0 if listed else BAD_INPUT)
    asked = [find_study(name) for name in names if name != ALL]
    studies = [find_study(name) for name in NAMES] if ALL in names else asked
    folder = data_folder(data)
    wanted = data is not None or any(study.data for study in studies)
    if wanted and folder is not None and not folder.is_dir():
        raise DataError(f"there is no folder {str(folder)!r} to take data sets from.")
    code = 0
    with Interrupts() as interrupts, progress_for(quiet=quiet) as progress:
        context = Context(
            "quick" if quick else "full", seed, folder, jobs, Stoppable(progress, interrupts)
        )
        for study in studies:
            place = out / (f"{study.name}-quick" if quick else study.name)
            ended = _run(
                study, place, context, interrupts, progress, fresh=fresh, pictures=not no_plot,
                quiet=quiet,
            )  # fmt: skip
            code = max(code, ended)
            if interrupts.seen:
                break
    raise typer.Exit(code)


def _run(
    study: Study,
    out: Path,
    context: Context,
    interrupts: Interrupts,
    progress: Progress,
    *,
    fresh: bool,
    pictures: bool,
    quiet: bool,
) -> int:
    """Run one study, say what was found, and return the exit code."""
    from graftwork.reproduce import reproduce as run

    began = time.monotonic()

    def tell(step: Step, place: int, steps: int, state: str) -> None:
        progress.noun = step.counts
        more = f" ({state})" if state else ""
        progress.note(f"{study.name} {place + 1}/{steps}: {step.words}{more}")

    try:
        outcome = run(
            study, out, context, fresh=fresh, tell=tell, interrupted=lambda: interrupts.seen,
            pictures=pictures,
        )  # fmt: skip
    except KeyboardInterrupt:
        say(f"interrupted; the steps done are in {out / 'steps'}, and the same command goes on.")
        return INTERRUPTED
    if not quiet:
        _show(study, outcome, out, time.monotonic() - began, quick=context.quick)
    for data, skipped in outcome.skipped.items():
        count = len(skipped.steps)
        say(f"{study.name}: {count} step{'s'[: count != 1]} need {data}. {skipped.reason}")
    return BAD_INPUT if outcome.skipped else 0


def _show(study: Study, outcome: Outcome, out: Path, seconds: float, *, quick: bool) -> None:
    """Print the verdicts as a table."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from graftwork.reproduce.pages import SMALL

    table = Table(title=study.paper, title_justify="left", show_lines=True)
    for name in ("what", "printed", "ours", "verdict"):
        table.add_column(name, overflow="fold")
    for claim in outcome.report.claims:
        verdict = claim.verdict + (f" because {claim.because}" if claim.because else "")
        table.add_row(*map(Text, (claim.what, claim.printed, claim.ours, verdict)))
    Console(highlight=False).print(table)
    if quick:
        typer.echo(SMALL)
    files = ", ".join(path.name for path in outcome.files)
    typer.echo(f"{out}: {files} ({seconds:.0f} s)")
