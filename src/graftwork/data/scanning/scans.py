"""scan: rows that need not fit into memory, read once and kept packed on the disk."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from graftwork.data.bins import Bins, check_bins
from graftwork.data.columns import declared_by_name
from graftwork.data.engines.dask import has_client
from graftwork.data.files import MISSING, GapTexts, MissingTexts, Wanted
from graftwork.data.missing import check_missing
from graftwork.data.scanning.arrow import arrow
from graftwork.data.scanning.encoding import Encoder, Progress, encode_piece
from graftwork.data.scanning.folder import FORMAT, Writer, find_store, part_path
from graftwork.data.scanning.options import Header, Policy, ScanOptions, States, checked_options
from graftwork.data.scanning.paths import FileSource
from graftwork.data.scanning.pieces import Piece
from graftwork.data.scanning.sources import Source, is_dask, source_of
from graftwork.data.scanning.stored import StoredTable, small_lookups
from graftwork.data.scanning.uniting import United, unite
from graftwork.data.scanning.values import from_json, ordered_from_json, ordered_to_json, to_json
from graftwork.data.scratch import Hold
from graftwork.data.text import remarks
from graftwork.errors import DataError
from graftwork.version import __version__


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """Rows to be read in parts; `graftwork.scan` makes one.

    Attributes
    ----------
    source : Source
        Where they come from.
    options : ScanOptions
        What was said about them.
    workdir : Path or None
        Where packed rows are kept for the next run.
    engine, client
        Where learners look at the rows.

    Examples
    --------
    >>> import graftwork as gw
    >>> rows = gw.scan([{"sky": ["sun", "rain"] * 50, "street": ["dry", "wet"] * 50}])
    >>> net = gw.MarkovNetwork(lam=0.01).fit(rows)
    >>> net.model_.n_edges
    1
    """

    source: Source | FileSource
    options: ScanOptions
    workdir: Path | None = None
    engine: Any = None
    client: Any = None

    def __repr__(self) -> str:
        if isinstance(self.source, FileSource):
            count = len(self.source.files)
            return f"Scan of {count} {self.source.format} file{'s'[: count != 1]}"
        return f"Scan of a {self.source.what}"

    @property
    def memory(self) -> int:
        """Bytes that may be used."""
        return self.options.memory

    def pieces(self) -> list[Piece]:
        """Return pieces that can be read one by one, each by another machine.

        Pieces of files, Dask frames and tables in memory can be pickled. `encode_piece` encodes
        one, and `unite` finds the states of all.

        Examples
        --------
        >>> len(scan([{"a": [1]}, {"a": [2]}]).pieces())
        2
        """
        return self.source.pieces(self.options)

    def store(
        self,
        *,
        states: States | None = None,
        weights: Any = None,
        missing: Policy = "error",
        bins: Bins | None = None,
        progress: Progress | None = None,
    ) -> StoredTable:
        """Read all rows once, and return them packed on the disk, with their states.

        What is given here goes before what `scan` was given.

        Parameters
        ----------
        states, weights, bins
            As in `scan`.
        missing : {"error", "state"}
            What missing cells are: an error, or a last state of their variable, ``"(missing)"``.
        progress : callable, optional
            Called as ``progress(rows, total)`` after every batch, with the rows read so far and
            with how many there are, or None if that is not known.

        Returns
        -------
        StoredTable

        Raises
        ------
        DataError
            If a file cannot be read, columns differ between files, cells are missing, states are
            unknown or too many, or the disk is full; the message says where. Nothing that was
            written is left then, nor after an interrupt.

        Warns
        -----
        DataWarning
            If a column looks continuous, or like identifiers, as in `read_table`.

        Examples
        --------
        >>> stored = scan({"a": ["x", None, "y"]}).store(missing="state")
        >>> stored.states
        (('x', 'y', '(missing)'),)
        """
        options = self.options_for(states=states, weights=weights, missing=missing, bins=bins)
        names = self.source.names()
        if names is not None:
            options.chosen(names)
        mark = _fingerprint(self.source, options)
        if self.workdir is not None and mark is not None:
            found = find_store(self.workdir, mark)
            if found is not None:
                return _from_manifest(*found, options)
        pieces = self.source.pieces(options)
        sizes = [piece.rows for piece in pieces]
        total = None if None in sizes else sum(size for size in sizes if size is not None)
        writer = Writer(self.workdir)
        try:
            encoder = Encoder(options, writer.keep, progress, total)
            for piece in pieces:
                encode_piece(piece, options, encoder)
            encoder.flush()
            united = unite([encoder.running], options)
            own = _manifest(united, writer, mark, self.source.notes)
            folder = writer.finish(own, mark or secrets.token_hex(8))
        except BaseException:
            writer.abandon()
            raise
        return _stored(united, writer, folder, options, self.source.notes)

    def options_for(
        self,
        *,
        states: States | None = None,
        weights: Any = None,
        missing: Policy = "error",
        bins: Bins | None = None,
    ) -> ScanOptions:
        """Return what `store` with these arguments would tell `encode_piece` and `unite`.

        Examples
        --------
        >>> scan({"a": [1, 2]}).options_for(missing="state").missing
        'state'
        """
        check_missing(missing)
        found = replace(self.options, missing=missing)
        if states is not None:
            found = replace(found, states=declared_by_name(states, list(states)))
        if weights is not None:
            found = replace(found, weights=weights)
        return found if bins is None else replace(found, bins=check_bins(bins))


def scan(
    source: Any,
    *,
    columns: Wanted | None = None,
    drop: Wanted | None = None,
    states: States | None = None,
    weights: Any = None,
    missing_values: MissingTexts | GapTexts = MISSING,
    sep: str | None = None,
    header: Header = "auto",
    bins: Bins | None = None,
    memory: str | int = "2GB",
    workdir: str | PathLike[str] | None = None,
    part_rows: int | None = None,
    engine: Any = None,
    client: Any = None,
    infer_types: bool = True,
) -> Scan:
    """Return rows to be read in parts, from files or other sources larger than memory.

    Nothing is read yet but the columns' names. Names and states are those that `as_table` and
    `read_table` give for all rows at once.

    Parameters
    ----------
    source : path, glob, folder, list of paths, frame, relation, reader or iterable
        Parquet files, Arrow IPC (Feather) files, CSV and TSV files, also gzipped: one, several,
        ``"sales/*.parquet"`` or a folder. A DuckDB relation; a polars frame, lazy or not; a pandas
        or Dask frame; a pyarrow Table, Dataset or RecordBatchReader; an iterable, or a function
        that returns one, of record batches, Arrow tables, frames or dicts of columns.
    columns, drop : list of names, or function of all names, optional
        Columns to read, in this order; columns to leave out. Others are not read from the disk.
    states : mapping of name to states, optional
        As in `as_table`. A state that is not declared is refused where it is met.
    weights : name, optional
        The column that holds the weights of rows, which is then no variable.
    missing_values, sep, header
        As in `read_table`; separator and header are guessed from the first file.
    bins : int or mapping of name to int, optional
        As in `as_table`.
    memory : str or int
        About how much memory reading and learning may use: ``"2GB"``, ``"500MB"``, bytes.
    workdir : path, optional
        A folder to keep packed rows in. The next scan with the same files and options uses them,
        and does not read the files again. Without it they lie in a temporary folder, which is
        removed at the end.
    part_rows : int, optional
        Rows of a part; a power of two that fits the memory otherwise.
    engine : {"processes", "dask"} or an engine of your own, optional
        Where learners look at the rows: one part after the other in this process, which needs
        little memory, unless something else is said. "processes" keeps the parts in processes of
        their own, one for each core (or ``n_jobs``), "dask" in the workers of a cluster, which read
        the files themselves. Rows of a Dask frame stay in its cluster, if there is a client.
    client : distributed.Client, optional
        The Dask client; default the current one. It means ``engine="dask"``.
    infer_types : bool
        Whether texts of CSV files become numbers and bools, as in `read_table`.

    Returns
    -------
    Scan

    Raises
    ------
    DataError
        If there is no such file, or columns named are not there; if pyarrow is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("smokes,visits\\nno,3\\nyes,1\\n")
    >>> _ = (folder / "b.csv").write_text("smokes,visits\\nno,2\\n")
    >>> stored = scan(folder).store()
    >>> stored.states, stored.n_rows
    ((('no', 'yes'), (1, 2, 3)), 3)
    """
    arrow()
    options = checked_options(
        columns=columns,
        drop=drop,
        states=states,
        weights=weights,
        missing_values=missing_values,
        sep=sep,
        header=header,
        bins=bins,
        memory=memory,
        part_rows=part_rows,
        infer_types=infer_types,
    )
    folder = None if workdir is None else Path(workdir)
    if folder is not None and folder.exists() and not folder.is_dir():
        raise DataError(f"workdir is {str(folder)!r}, which is a file, not a folder.")
    found = source_of(source, sep, header)
    names = found.names()
    if names is not None:
        found = replace(found, notes=(*found.notes, *remarks(names, options.chosen(names))))
    if engine is None and (client is not None or (is_dask(source) and has_client())):
        engine = "dask"
    return Scan(found, options.settled(names), folder, engine, client)


def _fingerprint(source: Source | FileSource, options: ScanOptions) -> str | None:
    """Return a text that changes with the files, the options and the format; None if unknown."""
    rows = source.fingerprint()
    if rows is None:
        return None
    gaps = options.gaps
    named = {repr(name): sorted(texts) for name, texts in gaps.columns.items()}
    told = [
        [repr(each) for each in (options.columns, options.drop, options.weights, options.bins)],
        [[repr(name), repr(listed)] for name, listed in options.states.items()],
        [sorted(gaps.usual), sorted(named.items())],
        [options.sep, str(options.header), options.missing, options.memory, options.part_rows],
        options.infer_types,
    ]
    text = json.dumps([FORMAT, __version__, rows, told])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _stored(
    united: United,
    writer: Writer,
    folder: Path,
    options: ScanOptions,
    notes: tuple[str, ...],
) -> StoredTable:
    return StoredTable(
        united.names,
        united.states,
        united.ordered,
        (*notes, *united.notes),
        united.n_rows,
        united.total_weight,
        writer.weighted,
        options.memory,
        united.state_counts,
        united.row_counts,
        tuple(writer.rows),
        united.first_seen,
        folder,
        tuple(writer.bits),
        small_lookups(united.lookups[0], united.states),
        writer.hold,
    )


def _manifest(
    united: United, writer: Writer, mark: str | None, notes: tuple[str, ...]
) -> dict[str, Any] | None:
    """Return what another run needs to know; None if it cannot be written, or not be used."""
    if mark is None:
        return None
    try:
        return {
            "format": FORMAT,
            "fingerprint": mark,
            "names": [to_json(name) for name in united.names],
            "states": [[to_json(state) for state in listed] for listed in united.states],
            "ordered": ordered_to_json(united.ordered),
            "notes": [*notes, *united.notes],
            "n_rows": united.n_rows,
            "total_weight": united.total_weight,
            "weighted": writer.weighted,
            "state_counts": [own.tolist() for own in united.state_counts],
            "row_counts": [own.tolist() for own in united.row_counts],
            "rows": writer.rows,
            "first_seen": united.first_seen,
            "bits": writer.bits,
            "sizes": [part_path(writer.folder, k).stat().st_size for k in range(len(writer.rows))],
            "lookups": [own.tolist() for own in united.lookups[0]],
        }
    except TypeError:
        return None


def _from_manifest(
    folder: Path, manifest: dict[str, Any], hold: Hold, options: ScanOptions
) -> StoredTable:
    states = tuple(tuple(map(from_json, listed)) for listed in manifest["states"])
    lookups = tuple(np.array(own, dtype=np.int64) for own in manifest["lookups"])
    return StoredTable(
        tuple(map(from_json, manifest["names"])),
        states,
        ordered_from_json(manifest["ordered"]),
        tuple(manifest["notes"]),
        manifest["n_rows"],
        manifest["total_weight"],
        manifest["weighted"],
        options.memory,
        tuple(np.array(own, dtype=np.float64) for own in manifest["state_counts"]),
        tuple(np.array(own, dtype=np.int64) for own in manifest["row_counts"]),
        tuple(manifest["rows"]),
        tuple(map(tuple, manifest["first_seen"])),
        folder,
        tuple(tuple(bits) for bits in manifest["bits"]),
        small_lookups(lookups, states),
        hold,
    )
