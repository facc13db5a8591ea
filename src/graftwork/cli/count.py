"""graftwork count: files of rows, or of counts, in; the counts of all pairs of states out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graftwork.cli import options as opt
from graftwork.cli.failures import mention
from graftwork.cli.learn import read_source
from graftwork.cli.progress import Progress, progress_for
from graftwork.errors import DataError, DataWarning
from graftwork.parameters import READING

if TYPE_CHECKING:
    from graftwork.contingency import PairTables
    from graftwork.data import Table

#: Counts below this are called small, unless --min-count says another number.
SMALL = 5

EXAMPLES = """Examples:
graftwork count data.csv
graftwork count north.csv south.csv --out both.gwc
graftwork count north.csv --out north.gwc --drop id,comment --min-count 5
graftwork count north.gwc south.gwc --out both.gwc --screen pairs.csv
graftwork learn both.gwc --loss likelihood --lam 0.01

Counts hold no rows, but small ones may still reveal something about individuals."""

_Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Files of rows (CSV, TSV, Parquet, Excel, SPSS), data sets of the package (adhd, "
        "boredom, mushroom), or files of counts (.gwc). All have the same variables; their counts "
        "are added.",
    ),
]
_Missing = Annotated[
    opt.CountedMissing,
    typer.Option(
        "--missing",
        help="How to treat missing cells: as an error, one more state, or a reason to leave out "
        "the row.",
        rich_help_panel=READING,
    ),
]
_MinCount = Annotated[
    float | None,
    typer.Option(
        "--min-count",
        metavar="N",
        help="Write nothing if a state, or a pair of states, occurs, but fewer than N times.",
        min=0,
    ),
]
_Screen = Annotated[
    Path | None,
    typer.Option(
        "--screen",
        metavar="FILE",
        help="Also write a CSV file with the test of independence of every pair of variables.",
    ),
]
_Out = Annotated[Path, typer.Option(metavar="FILE", help="The file of counts to write.")]
_LEARNING = opt.learning_options()


@opt.takes(
    opt.reading_options() | {name: _LEARNING[name] for name in ("bins", "n_jobs")},
    reading=opt.Reading.of,
    jobs=lambda given: given["n_jobs"],
)
def count(
    files: _Files,
    reading: opt.Reading,
    jobs: int | None,
    out: _Out = Path("counts.gwc"),
    missing: _Missing = opt.CountedMissing.ERROR,
    min_count: _MinCount = None,
    screen: _Screen = None,
    quiet: opt.Quiet = False,
) -> None:
    """Count all pairs of states, and write the counts to one file, which holds no rows.

    Folders and globs (in quotes) are read in parts.

    Counts of several files are added, also of counts that others have written. Networks are
    learned from them by graftwork learn with --loss likelihood. Bins are those of the first file.
    """
    with progress_for(quiet=quiet) as progress:
        counts = _count_files(files, reading, missing.value, jobs, progress)
        counts.save(out, min_count=min_count, info={"files": [Path(name).name for name in files]})
        if screen is not None:
            _write_screen(screen, counts)
    if not quiet:
        below = SMALL if min_count is None else min_count
        mention(_told(counts, below, len(files)))
        written = [str(out), *([] if screen is None else [str(screen)])]
        mention(f"Written: {', '.join(written)}")


def _count_files(
    files: Sequence[str],
    reading: opt.Reading,
    missing: str,
    jobs: int | None,
    progress: Progress,
) -> PairTables:
    """Return the counts of all files together."""
    from graftwork.cli.parts import is_pattern, scan_files
    from graftwork.contingency import PairTables, count_pairs
    from graftwork.contingency.files import is_counts_file

    total: PairTables | None = None
    how: Any = missing
    for name in files:
        progress.note(f"counting {name}")
        if is_pattern(name):
            own = count_pairs(scan_files([name], reading, opt.InParts()), missing=how, n_jobs=jobs)
        elif is_counts_file(name):
            own = PairTables.load(name)
        else:
            table = _read(name, reading, _bins_of(total))
            own = count_pairs(table, missing=how, n_jobs=jobs)
        try:
            total = own if total is None else total + own
        except DataError as error:
            raise DataError(f"{Path(name).name}: {error}") from error
    assert total is not None
    return total


def _read(name: str, reading: opt.Reading, bins: dict[Any, tuple[Any, ...]]) -> Table:
    """Return the rows of a file, numbers in the bins of earlier ones."""
    from graftwork.data import Table, as_table
    from graftwork.data.missing import MISSING_STATE

    if not bins:
        table = read_source(name, reading).table
        assert isinstance(table, Table)
        return table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of numbers that are not in bins yet
        table = read_source(name, replace(reading, bins=None)).table
    states = {}
    for column, listed in zip(table.names, table.states, strict=True):
        if column in bins:
            missing = (MISSING_STATE,) if MISSING_STATE in listed else ()
            states[column] = (*bins[column], *missing)
    return as_table(table, states=states)


def _bins_of(counts: PairTables | None) -> dict[Any, tuple[Any, ...]]:
    """Return the bins of variables that have some, missing cells not among them."""
    from graftwork.data.bins import cuts_of
    from graftwork.data.missing import MISSING_STATE

    if counts is None:
        return {}
    return {
        name: tuple(state for state in states if state != MISSING_STATE)
        for name, states in zip(counts.names, counts.states, strict=True)
        if cuts_of(states) is not None
    }


def _write_screen(path: Path, counts: PairTables) -> None:
    """Write the tests of all pairs, the surest first, and return None."""
    from graftwork.contingency.screening import COLUMNS, screen_records
    from graftwork.report.trace import write_records

    write_records(path, screen_records(counts), COLUMNS)


def _told(counts: PairTables, below: float, n_files: int) -> str:
    """Return what was counted, in words."""
    from graftwork.text import count as number
    from graftwork.text import verb, wrap

    rows, states = number(counts.n_rows, "row"), number(len(counts.matrix), "state")
    text = (
        f"{number(n_files, 'file')}: {rows} of {number(counts.n_variables, 'variable')} with "
        f"{states} in all"
    )
    text += f", total weight {counts.total_weight:,.6g}." if counts.weighted else "."
    small = sum(int(each["cells"]) for each in counts.few_cells(below))
    told = f"{number(small, 'count')} of states or pairs of states {verb(small)} below {below:g}"
    end = ", and may tell something about single people." if small else "."
    lines = [text, told + end]
    levels = counts.lambda_levels()
    if levels.largest > 0:
        lines.append(
            f"With --loss likelihood, --lam {levels.largest:.3g} is the smallest that gives no "
            f"edge, and {levels.noise:.3g} what chance alone would reach."
        )
    return "\n".join(wrap(line) for line in lines)
