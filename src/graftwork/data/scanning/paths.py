"""Files to scan: one, a list, a glob or a folder of Parquet, Arrow or text files."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graftwork.data.files import opened_text
from graftwork.data.scanning.encoding import Running
from graftwork.data.scanning.options import Header, ScanOptions
from graftwork.data.scanning.pieces import (
    ArrowPiece,
    Piece,
    TextPiece,
    arrow_names,
    parquet_pieces,
    reading,
)
from graftwork.data.sources import Source as OneFile
from graftwork.data.sources import check_file
from graftwork.data.values import listing
from graftwork.errors import DataError

_SUFFIXES = {
    "Parquet": (".parquet", ".pq"),
    "Arrow": (".arrow", ".arrows", ".feather", ".ipc"),
    "text": (".csv", ".tsv", ".tab", ".txt"),
}
_MARKS = {b"PAR1": "Parquet", b"ARRO": "Arrow", b"FEA1": "Arrow"}
_ELSEWHERE = (".xlsx", ".xlsm", ".xls", ".sav", ".zsav", ".por")


@dataclass(frozen=True, slots=True)
class FileSource:
    """Files of one format, in the order their rows are read.

    Attributes
    ----------
    files : tuple of Path
    format : str
        "Parquet", "Arrow" or "text".
    sep, header
        Of text files, as in `read_table`; the first file says what is not given.
    notes : tuple of str
        Which files of a folder are not read.
    """

    files: tuple[Path, ...]
    format: str
    sep: str | None = None
    header: Header = "auto"
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(data: Any, sep: str | None, header: Header) -> FileSource:
        """Return the files that a path, a glob, a folder or a list of these stands for."""
        given = [data] if isinstance(data, str | os.PathLike) else list(data)
        files: list[Path] = []
        ignored: list[Path] = []
        for each in given:
            found, others = _found(os.fspath(each))
            files += found
            ignored += others
        formats: dict[str, Path] = {}
        for file in files:
            formats.setdefault(_format(file), file)
        if len(formats) > 1:
            one, other = list(formats.values())[:2]
            raise DataError(
                f"{one} and {other} have different formats ({' and '.join(formats)}); scan one "
                "format at a time, for example with a pattern such as 'folder/*.parquet'."
            )
        notes: tuple[str, ...] = ()
        if ignored:
            names = listing([file.name for file in ignored], 3)
            notes = (f"Skipped, as the file names are not those of tables: {names}.",)
        return FileSource(tuple(files), next(iter(formats)), sep, header, notes)

    def names(self) -> list[Any]:
        """Return all columns of the first file."""
        first = str(self.files[0])
        if self.format == "Parquet":
            return parquet_pieces(first, first, 0)[0]
        if self.format == "Arrow":
            return arrow_names(first, first)
        return self._layout()[2]

    def _layout(self) -> tuple[str, bool, list[Any]]:
        """Return separator, whether there is a header, and titles of the first text file."""
        first = self.files[0]
        with reading(str(first)), opened_text(OneFile.of(first), self.sep, self.header) as text:
            return text.sep, text.header, list(text.titles)

    def pieces(self, options: ScanOptions) -> list[Piece]:
        """Return the pieces; columns that differ are refused here, before anything is read."""
        labels = [str(file) for file in self.files]
        if self.format == "text":
            sep, header, _ = self._layout()
            return [TextPiece(label, label, sep, header) for label in labels]
        running, pieces = Running(options), []
        for label in labels:
            if self.format == "Arrow":
                names, own = arrow_names(label, label), [ArrowPiece(label, label)]
            else:
                names, own = parquet_pieces(label, label, options.memory)  # type: ignore[assignment]
            running.choose(names, label)
            pieces += own
        return list(pieces)

    def fingerprint(self) -> Any:
        """Return what changes when a file does: paths, sizes and times."""
        return [_mark_of(file) for file in self.files]


def _mark_of(file: Path) -> list[Any]:
    """Return what changes when a file does."""
    with reading(str(file)):
        found = file.stat()
    return [str(file.resolve()), found.st_size, found.st_mtime_ns]


def _found(path: str) -> tuple[list[Path], list[Path]]:
    """Return the files of a path, a glob or a folder, and those of a folder that are no tables."""
    if glob.has_magic(path) and not Path(path).exists():
        files = sorted(Path(each) for each in glob.glob(path, recursive=True))
        files = [file for file in files if file.is_file()]
        if not files:
            raise DataError(f"no file matches {path!r}; check the folder and the pattern.")
        return files, []
    if Path(path).is_dir():
        return _in_folder(Path(path))
    with reading(path):
        check_file(Path(path))
        if not Path(path).is_file():
            raise DataError(
                "is not a regular file and cannot be read twice; save it to a file first."
            )
    return [Path(path)], []


def _in_folder(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the tables in a folder and the folders in it, by name, and other files."""
    inner = sorted(folder.rglob("*"))
    hidden = [
        any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
        for file in inner
    ]
    seen = [file for file, skip in zip(inner, hidden, strict=True) if not skip and file.is_file()]
    tables = [file for file in seen if _known(file)]
    if not tables:
        raise DataError(
            f"the folder {str(folder)!r} has no Parquet, Arrow, CSV or TSV files"
            + (f", but {listing([file.name for file in seen], 3)}." if seen else "; it is empty.")
        )
    return tables, [file for file in seen if file not in set(tables)]


def _inner(file: Path) -> str:
    """Return the extension, looking through .gz."""
    inner = Path(file.stem) if file.suffix.lower() == ".gz" else file
    return inner.suffix.lower()


def _known(file: Path) -> bool:
    """Return whether a file of a folder is a table, by its name or its first bytes."""
    suffix = _inner(file)
    listed: Sequence[str] = [each for own in _SUFFIXES.values() for each in own]
    return suffix in listed or (not suffix and _mark(file) in _MARKS)


def _mark(file: Path) -> bytes:
    with reading(str(file)), file.open("rb") as stream:
        return stream.read(4)


def _format(file: Path) -> str:
    """Return the format of a file, by its first bytes, then by its name."""
    mark, suffix = _mark(file), _inner(file)
    if not mark:
        raise DataError(f"{file}: the file is empty (0 bytes).")
    if suffix in _ELSEWHERE:
        raise DataError(
            f"{file}: Excel and SPSS files cannot be read in parts: use gw.read_table, or save "
            "them as Parquet or CSV."
        )
    if mark in _MARKS:
        return _MARKS[mark]
    return next((name for name, own in _SUFFIXES.items() if suffix in own), "text")
