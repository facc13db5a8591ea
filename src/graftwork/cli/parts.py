"""Rows that a command reads in parts: which, with how much memory, and where they are looked at."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graftwork.cli import options as opt
from graftwork.cli.interrupts import Interrupts
from graftwork.cli.learner import chosen, spec_without_files
from graftwork.cli.memory import bytes_needed, free_memory
from graftwork.cli.progress import Progress
from graftwork.errors import DataError

if TYPE_CHECKING:
    from graftwork.data.placed import PlacedTable
    from graftwork.data.scanning import Scan

#: Amounts of memory, of which the first is taken that is at most half of what is free.
_USUAL = (("2GB", 2 * 10**9), ("1GB", 10**9), ("500MB", 5 * 10**8))
_LEAST = "200MB"
_SHOWN = 2


def asks_for_parts(data: Sequence[str], how: opt.InParts) -> bool:
    """Return whether rows are to be read in parts: of several files, or as options say.

    Examples
    --------
    >>> asks_for_parts(["a.csv"], opt.InParts()), asks_for_parts(["*.csv"], opt.InParts())
    (False, True)
    >>> asks_for_parts(["a.csv"], opt.InParts(memory="1GB"))
    True
    """
    return len(data) > 1 or how != opt.InParts() or is_pattern(data[0])


def is_pattern(text: str) -> bool:
    """Return whether a text stands for several files: a glob, or a folder."""
    return Path(text).is_dir() or (glob.has_magic(text) and not Path(text).exists())


def too_large(path: Path, reading: opt.Reading) -> str | None:
    """Return why a file is read in parts by itself: in memory it would take too much."""
    if _is_whole(path) or not path.is_file():
        return None
    free = free_memory()
    needed = None if free is None else bytes_needed(path, reading.sep)
    if free is None or needed is None or needed <= free / 2:
        return None
    return (
        f"{path.name} is read in parts: in memory it would take about {needed / 1e9:,.1f} GB, and "
        f"{free / 1e9:,.1f} GB are free (--memory says how much may be used)"
    )


def _is_whole(path: Path) -> bool:
    """Return whether a file is read whole or not at all, by its name."""
    from graftwork.data.kinds import named_kind

    kind = named_kind(path)
    return kind is not None and kind.whole


def usual_memory() -> str:
    """Return how much memory is used where nothing is said."""
    free = free_memory()
    if free is None:
        return _USUAL[0][0]
    return next((text for text, size in _USUAL if size <= free / 2), _LEAST)


def name_of(data: Sequence[str]) -> str:
    """Return what files are called in reports, without the folders they are in.

    Examples
    --------
    >>> name_of(["/home/me/sales.csv"]), name_of(["/home/me/sales/*/*.parquet"])
    ('sales.csv', 'sales/*/*.parquet')
    >>> name_of(["a.csv", "b.csv", "c.csv", "d.csv"])
    'a.csv, b.csv and 2 more'
    """
    named = [_short(text) for text in data[:_SHOWN]]
    more = len(data) - _SHOWN
    return ", ".join(named) + (f" and {more:,} more" if more > 0 else "")


def _short(text: str) -> str:
    folders = Path(text).parts
    magic = [k for k, each in enumerate(folders) if glob.has_magic(each)]
    if not magic or Path(text).exists():
        return Path(text).name or Path(text).resolve().name
    first = max(magic[0] - 1, 0)
    return str(Path(*(each for each in folders[first:] if each != Path(text).anchor)))


def source_words(files: int, name: str) -> str:
    """Return a sentence about rows that were read in parts.

    Examples
    --------
    >>> source_words(3, "sales/*.parquet")
    'They were read in parts, from 3 files (sales/*.parquet).'
    """
    count = f"{files:,} file{'s'[: files != 1]}"
    return f"They were read in parts, from {count} ({name})."


def check_criterion(settings: Mapping[str, Any]) -> None:
    """Refuse, before a long file is read, criteria that choose lambda by splitting the rows."""
    from graftwork.selection.criteria.held_out import HoldOut, KFold
    from graftwork.selection.criteria.stars import Stars

    spec = spec_without_files(settings)
    if spec.chooses and isinstance(spec.criterion, HoldOut | KFold | Stars):
        raise DataError(
            "this way of choosing lambda splits the rows, which must all be in memory; for rows "
            "read in parts use --goal structure, --criterion ebic, or set --lam."
        )


def scan_files(
    data: Sequence[str], reading: opt.Reading, how: opt.InParts, *, engine: Any = None, **more: Any
) -> Scan:
    """Return the files to read in parts, as options say; refuse those that are read whole."""
    from graftwork.data.scanning import scan

    for text in data:
        if _is_whole(Path(text)):
            raise DataError(
                f"{text}: Excel and SPSS files cannot be read in parts: leave out --memory, "
                "--workdir and --engine, or save them as Parquet or CSV."
            )
        if text == "-":
            raise DataError(
                "standard input cannot be read in parts: leave out --memory, --workdir and "
                "--engine, or save the rows to a file."
            )
    if reading.sheet is not None:
        raise DataError("--sheet is for Excel files, which cannot be read in parts; leave it out.")
    return scan(
        list(data),
        sep=reading.sep,
        header=reading.header.value_for_reading(),
        weights=reading.weights,
        memory=how.memory or usual_memory(),
        workdir=how.workdir,
        engine=engine,
        **{
            "columns": chosen(reading.columns),
            "drop": chosen(reading.drop),
            "missing_values": reading.missing_texts,
            "infer_types": not reading.strings,
            "bins": reading.bins,
        }
        | more,
    )


@contextmanager
def rows_in_parts(
    data: Sequence[str],
    reading: opt.Reading,
    how: opt.InParts,
    jobs: int | None,
    progress: Progress,
    interrupts: Interrupts,
    *,
    gaps: bool,
) -> Iterator[tuple[PlacedTable, int]]:
    """Yield the rows in parts, and the number of files; scratch files go when the block ends."""
    from graftwork.data.placing import placed

    def tell(rows: int, total: int | None) -> None:
        interrupts.check()
        progress.on_rows(rows, total)

    scan_files(data, reading, how)  # refuses what is wrong before processes are started
    with engine_for(how, jobs, progress, interrupts) as engine:
        source = scan_files(data, reading, how, engine=engine)
        missing = "state" if gaps else "error"
        with placed(source, missing=missing, n_jobs=jobs, progress=tell) as table:
            yield table, len(source.source.files)  # type: ignore[union-attr]


@contextmanager
def engine_for(
    how: opt.InParts, jobs: int | None, progress: Progress, interrupts: Interrupts
) -> Iterator[Any]:
    """Yield what looks at the parts; it tells about progress, and can be interrupted."""
    from graftwork.cli.engines import dask_client
    from graftwork.data.engines import Here, Processes
    from graftwork.data.engines.dask import DaskEngine

    if how.engine == "dask":
        with dask_client(how.scheduler, jobs) as client:
            progress.on_stage("reading rows on the cluster", 0, 1)
            interrupts.waits = True  # what is under way on other processes is not broken off
            yield DaskEngine(client, interrupts.check)
        return
    found: Any
    if how.engine == "processes":
        interrupts.waits = True
        found = Processes(jobs, interrupts.check)
    else:
        found = Here(jobs, how.workdir, partial(_told, progress, interrupts))
    try:
        yield found
    finally:
        found.close()


def _told(progress: Progress, interrupts: Interrupts, part: int, parts: int) -> None:
    interrupts.check()
    progress.on_part(part, parts)
