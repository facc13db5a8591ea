"""python -m experiments: the papers' experiments, beside what was printed."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments import PAPERS, find_study
from experiments.engine import Context, Size, Step, Study, reproduce
from experiments.engine.pages import SMALL, counted, verdict_of
from experiments.engine.runner import Outcome
from graftwork.cli.failures import (
    BAD_INPUT,
    INTERRUPTED,
    UNEXPECTED,
    plain_warnings,
    report_failure,
    say,
)
from graftwork.cli.interrupts import Interrupts, Stoppable
from graftwork.cli.progress import Progress, progress_for
from graftwork.datasets.files import data_folder
from graftwork.errors import DataError

ALL = "all"
PROGRAM = "python -m experiments"

EXAMPLES = f"""Examples:
{PROGRAM} --list
{PROGRAM} priority
{PROGRAM} forced-pruning --data DIR
{PROGRAM} all --quick --data DIR --out quick

DIR holds the data sets (debd, jester, yummly, conll2000, ocr_letters, mnist,
hapmap), each in a folder of its own; GRAFTWORK_DATA may name it instead.
Ctrl-C stops; the same command continues where it was."""

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command(epilog=EXAMPLES)
def run(
    papers: Annotated[
        list[str] | None, typer.Argument(metavar="[PAPER]...", help="Papers, or all.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of data sets (or GRAFTWORK_DATA).")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes: under two minutes a paper.")
    ] = False,
    tiny: Annotated[
        bool, typer.Option("--tiny", help="Every step within seconds, on made rows: does it run?")
    ] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the files go.")] = Path(
        "out/reproduced"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Threads (default: all cores).")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Discard earlier results.")] = False,
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Draw no figures.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only write the files.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the papers and exit.")] = False,
) -> None:
    """Run the experiments of a paper; print what it says, what is found here, and a verdict.

    Files, in a folder for each paper: results.json (everything), settings.json, claims.csv and
    other tables, pictures, page.md; the folder steps keeps each result as its step ends, so that a
    stopped run continues. A step or a study that fails does not stop the others.
    """
    if listed or not papers:
        width = max(map(len, PAPERS))
        for name, about in PAPERS.items():
            typer.echo(f"{name:<{width}}  {about}")
        raise typer.Exit(0 if listed else BAD_INPUT)
    asked = [find_study(name) for name in papers if name != ALL]
    studies = [find_study(name) for name in PAPERS] if ALL in papers else asked
    if quick and tiny:
        raise DataError("use one of --quick and --tiny.")
    size: Size = "tiny" if tiny else "quick" if quick else "full"
    folder = None if tiny else data_folder(data)
    needed = data is not None or any(study.data for study in studies)
    if needed and folder is not None and not folder.is_dir():
        raise DataError(f"there is no folder {str(folder)!r} to take data sets from.")
    with Interrupts() as interrupts, progress_for(quiet=quiet) as progress:
        context = Context(size, seed, folder, jobs, Stoppable(progress, interrupts))
        ends: dict[str, int] = {}
        for study in studies:
            place = out / (study.name if size == "full" else f"{study.name}-{size}")
            try:
                ends[study.name] = _run(
                    study, place, context, interrupts, progress, fresh=fresh,
                    pictures=not no_plot, quiet=quiet,
                )  # fmt: skip
            except Exception as error:  # the others are run all the same
                say(f"{study.name}: {type(error).__name__}: {error}")
                ends[study.name] = UNEXPECTED
            if interrupts.seen:
                break
    failed = [name for name, end in ends.items() if end == UNEXPECTED]
    if failed:
        say(f"failed: {', '.join(failed)}.")
    raise typer.Exit(UNEXPECTED if failed else max(ends.values()))


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
    """Run one study, print what was found, and return the exit code."""
    began = time.monotonic()

    def tell(step: Step, place: int, steps: int, state: str) -> None:
        progress.noun = step.counts
        more = f" ({state})" if state else ""
        progress.note(f"{study.name} {place + 1}/{steps}: {step.words}{more}")

    try:
        outcome = reproduce(
            study, out, context, fresh=fresh, tell=tell, interrupted=lambda: interrupts.seen,
            pictures=pictures,
        )  # fmt: skip
    except KeyboardInterrupt:
        say(f"interrupted; finished steps are in {out / 'steps'}; the same command continues.")
        return INTERRUPTED
    if not quiet:
        _show(study, outcome, out, time.monotonic() - began, size=context.size)
    for data, skipped in outcome.skipped.items():
        count = len(skipped.steps)
        say(f"{study.name}: {count} step{'s'[: count != 1]} need {data}. {skipped.reason}")
    for key, message in outcome.failed.items():
        say(f"{study.name}: step {key} failed. {message}")
    return UNEXPECTED if outcome.failed else BAD_INPUT if outcome.skipped else 0


def _show(study: Study, outcome: Outcome, out: Path, seconds: float, *, size: Size) -> None:
    """Print the verdicts as a table."""
    table = Table(title=study.paper, title_justify="left", show_lines=True)
    for name in ("what", "printed", "ours", "threshold", "verdict"):
        table.add_column(name, overflow="fold")
    for claim in outcome.report.claims:
        cells = claim.what, claim.printed, claim.ours, claim.threshold, verdict_of(claim)
        table.add_row(*map(Text, cells))
    Console(highlight=False).print(table)
    typer.echo(counted(outcome.report.claims))
    if size in SMALL:
        typer.echo(SMALL[size])
    files = ", ".join(path.name for path in outcome.files)
    typer.echo(f"{out}: {files} ({seconds:.0f} s)")


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit code: 0, 1 something failed, 2 bad input or missing data, 130 interrupted."""
    with plain_warnings():
        try:
            code = app(args=argv, prog_name=PROGRAM, standalone_mode=False)
        except (Exception, KeyboardInterrupt) as error:
            return report_failure(error)
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main())
