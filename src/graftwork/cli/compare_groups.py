"""graftwork compare-groups: a network of each group of rows, and where they differ."""

from __future__ import annotations

import shutil
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graftwork.cli import options as opt
from graftwork.cli.bootstrap import Countdown, parts_in
from graftwork.cli.failures import INTERRUPTED, say
from graftwork.cli.interrupts import Interrupts, Stoppable
from graftwork.cli.learn import prepare, read_source, say_files, size_of
from graftwork.cli.learner import chosen, learner_settings, with_files
from graftwork.cli.matching import find_variable, match_text
from graftwork.cli.presets import completed
from graftwork.cli.progress import Progress, progress_for
from graftwork.errors import DataError

if TYPE_CHECKING:
    from graftwork.data.placed import AnyTable
    from graftwork.groups import GroupComparison

TOO_EARLY = "interrupted before the groups were compared."

EXAMPLES = """Examples:
graftwork compare-groups survey.csv --by language
graftwork compare-groups survey.csv --by diagnosis --out groups --permutations 1000
graftwork compare-groups survey.csv --by sex --drop id,comment --missing available-case
graftwork compare-groups counts.csv --by wave --weights n --fdr 0.01

Ctrl-C stops the permutations and keeps those done; a second one does not wait."""

_GROUPS = "Groups"
By = Annotated[
    str,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="The column that says which group a row belongs to: 2 to 20 values.",
        rich_help_panel=_GROUPS,
    ),
]
Fdr = Annotated[
    float,
    typer.Option(
        "--fdr",
        metavar="RATE",
        help="False discovery rate of the differences.",
        min=0,
        max=1,
        rich_help_panel=_GROUPS,
    ),
]
EdgeFdr = Annotated[
    float,
    typer.Option(
        "--edge-fdr",
        metavar="RATE",
        help="False discovery rate of the edges of each network.",
        min=0,
        max=1,
        rich_help_panel=_GROUPS,
    ),
]
Permuted = Annotated[
    int,
    typer.Option(
        "--permutations",
        metavar="N",
        help="Permutations of the group labels, to check the tests; 1000 for p-values to publish.",
        min=0,
        rich_help_panel=_GROUPS,
    ),
]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do around the learning itself."""

    data: str
    by: str
    out: Path
    reading: opt.Reading
    fdr: float
    edge_fdr: float
    permutations: int
    plot: bool
    quiet: bool


@opt.takes(
    opt.learning_options(without=("fdr",)) | opt.reading_options(),
    settings=lambda given: learner_settings({**given, "fdr": None}),  # --fdr is of differences
    reading=opt.Reading.of,
)
def compare_groups(
    data: opt.Data,
    settings: dict[str, Any],
    reading: opt.Reading,
    by: By,
    out: opt.Out = Path("groups"),
    fdr: Fdr = 0.05,
    edge_fdr: EdgeFdr = 0.01,
    permutations: Permuted = 0,
    seed: opt.Seed = 0,
    no_plot: opt.NoPlot = False,
    quiet: opt.Quiet = False,
) -> None:
    """Learn a network of each group of rows, and test where the networks differ.

    Files: differences.csv (a line per pair tested), groups.csv (each two groups), groups.txt,
    groups.json, groups.png (the networks side by side), model-1.gw, ... (one per group, in their
    order; graftwork show names it).
    """
    plan = Plan(data, by, out, reading, fdr, edge_fdr, permutations, plot=not no_plot, quiet=quiet)
    try:
        code = run(plan, settings)
    except KeyboardInterrupt:  # while reading, or learning the networks
        say(TOO_EARLY)
        code = INTERRUPTED
    raise typer.Exit(code)


def run(plan: Plan, settings: dict[str, Any]) -> int:
    """Compare the groups, write the files, and return the exit code."""
    began = time.monotonic()
    with Interrupts() as interrupts:
        with progress_for(quiet=plan.quiet) as progress:
            progress.note(f"reading {plan.data}")
            prepare(plan.out)
            table = read(plan)
            progress.note(f"comparing groups of {size_of(table)}")
            folder = parts_in(plan.out, progress)
            interrupts.waits = True
            found = compared(plan, table, settings, folder, progress, interrupts)
        written = write_files(found, plan.out, plot=plan.plot)
        if folder.exists() and not found.interrupted:
            shutil.rmtree(folder)
    if not plan.quiet:
        say_files(found.summary(), plan.out, written, time.monotonic() - began)
    if found.interrupted:
        done = f"the permutations done by then are in {plan.out}"
        say(f"interrupted; {done}. The same command goes on.")
    return INTERRUPTED if found.interrupted else 0


def read(plan: Plan) -> AnyTable:
    """Return the rows; a column of groups that is not there is refused before missing cells are."""
    try:
        return read_source(plan.data, plan.reading).table
    except DataError:
        if Path(plan.data).is_file() and not plan.reading.keeps_gaps:
            with warnings.catch_warnings(action="ignore"):
                names: tuple[Any, ...] | None = None
                with suppress(DataError):
                    names = read_source(plan.data, plan.reading, gaps=True).table.names
            if names is not None:
                group_column(plan, names)
        raise


def group_column(plan: Plan, names: Sequence[Any]) -> Any:
    """Return the column of groups, or refuse what names none."""
    drop = chosen(plan.reading.drop)
    if match_text(plan.by, names) is None and drop is not None and plan.by in drop([plan.by]):
        raise DataError(
            f"--by names {plan.by!r}, which --drop leaves out; take it out of --drop (it is no "
            "variable of the networks in any case)."
        )
    return find_variable(names, plan.by)


def compared(
    plan: Plan,
    table: Any,
    settings: dict[str, Any],
    folder: Path,
    progress: Progress,
    interrupts: Interrupts,
) -> GroupComparison:
    """Return the comparison of a table's groups."""
    from graftwork.groups.compare import compare_groups as compare

    by = group_column(plan, table.names)
    others = [name for name in table.names if name != by]
    given = with_files(completed(settings, len(others)), others)
    return compare(
        table,
        by,
        fdr=plan.fdr,
        edge_fdr=plan.edge_fdr,
        n_permutations=plan.permutations,
        observer=Countdown(progress, interrupts),
        folder=folder,
        verbose=Stoppable(progress, interrupts),
        **given,
    )


def write_files(found: GroupComparison, out: Path, *, plot: bool) -> list[str]:
    """Write everything under the directory asked for, and return the names of the files."""
    written = found.save(out, plot=False)
    if plot:
        try:
            found.plot(out / "groups.png")
            written.append("groups.png")
        except ImportError as error:
            say(f"note: groups.png was not drawn: {error}")
    return written
