"""Files to scan: one, a list, a glob or a folder of Parquet, Arrow or text files."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graftwork.data.files import opened_text
from graftwork.data.kinds import ARROW, PARQUET, TEXT, kind_of, named_kind, suffix_of
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


@dataclass(frozen=True, slots=True)
class FileSource:
    """Files of one format, in the order their rows are read."""

    files: tuple[Path, ...]
    format: str  # "Parquet", "Arrow" or "text"
    sep: str = ","  # sep, header: of text files; the first file says what was not given
    header: bool = True
    notes: tuple[str, ...] = ()  # which files of a folder are not read
    titles: tuple[str, ...] = ()  # the columns of the first of text files

    @staticmethod
    def of(data: Any, sep: str | None, header: Header) -> FileSource:
        """Return the files that a path, a glob, a folder or a list of these stands for."""
        given = [data] if isinstance(data, str | os.PathLike) else list(data)
        files: list[Path] = []
        ignored: list[Path] = []
        for each in given:
            with reading(os.fspath(each)):
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
        [kind] = formats
        if kind != TEXT.name:
            return FileSource(tuple(files), kind, notes=notes)
        first = files[0]
        with reading(str(first)), opened_text(OneFile.of(first), sep, header) as text:
            titles = tuple(text.titles)
            return FileSource(tuple(files), kind, text.sep, text.header, notes, titles)

    def names(self) -> list[Any]:
        """Return all columns of the first file."""
        first = str(self.files[0])
        if self.format == "Parquet":
            return parquet_pieces(first, first, 0)[0]
        if self.format == "Arrow":
            return arrow_names(first, first)
        return list(self.titles)

    def pieces(self, options: ScanOptions) -> list[Piece]:
        """Return the pieces; columns that differ are refused here, before anything is read."""
        labels = [str(file) for file in self.files]
        if self.format == "text":
            return [TextPiece(label, label, self.sep, self.header) for label in labels]
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
    if not path:
        raise DataError("the name of the file is empty.")
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


def _known(file: Path) -> bool:
    """Return whether a file of a folder is a table, by its name or its first bytes."""
    kind = named_kind(file)
    if kind is None and not suffix_of(file):
        with reading(str(file)), file.open("rb") as stream:
            start = stream.read(8)
        kind = next((each for each in (PARQUET, ARROW) if each.matches(start)), None)
    return kind in (PARQUET, ARROW, TEXT)


def _format(file: Path) -> str:
    """Return the format of a file, by its first bytes, then by its name."""
    if not file.stat().st_size:
        raise DataError(f"{file}: the file is empty (0 bytes).")
    with reading(str(file)):
        kind = kind_of(OneFile.of(file))
        if kind.whole:
            raise DataError(
                "Excel and SPSS files cannot be read in parts: use gw.read_table, or save them as "
                "Parquet or CSV."
            )
    return kind.name
