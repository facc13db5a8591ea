"""Files and pipes to read from: whether there is one, gzipped or not, damage in plain words."""

from __future__ import annotations

import codecs
import difflib
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from graftwork.data.values import suggestion
from graftwork.errors import DataError, TooLargeError
from graftwork.limits import BLANK, LINE, RATIO, read_bytes

#: Bytes of text that are looked at together; those that may be unpacked from anything.
_PIECE, _UNPACKED = 1 << 17, 1 << 24
#: Bytes at the beginning that tell formats apart.
_START = 512
#: Names of files that are less like each other than this are no slips of the keyboard.
_ALIKE = 0.6


@contextmanager
def named_after(file: Path) -> Iterator[None]:
    """Put the file's name in front of every error, and turn damage into one.

    Examples
    --------
    >>> with named_after(Path("t.csv")):
    ...     raise DataError("line 3 is odd.")
    Traceback (most recent call last):
    graftwork.errors.DataError: t.csv: line 3 is odd.
    """
    try:
        yield
    except (DataError, TooLargeError) as error:
        kind = TooLargeError if isinstance(error, TooLargeError) else DataError
        raise kind(f"{file.name or file}: {error}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{file.name}: the compressed file is damaged ({error}).") from error
    except OSError as error:
        raise DataError(f"{file.name}: cannot be read ({error.strerror or error}).") from error


def check_file(file: Path) -> None:
    """Return None if there is a file to read, or refuse.

    Examples
    --------
    >>> import tempfile
    >>> check_file(Path(tempfile.mkdtemp()))
    Traceback (most recent call last):
    graftwork.errors.DataError: is a directory; name the file in it.
    """
    if file.is_dir():
        raise DataError("is a directory; name the file in it.")
    if not file.exists():
        hint = suggestion(file.name, _alike(file)) or "."
        raise DataError(f"there is no such file in {str(file.parent)!r}{hint}")


def _alike(file: Path) -> list[str]:
    """Return the names in a file's folder that are like its own, whatever their extensions."""
    names = [path.name for path in file.parent.iterdir()] if file.parent.is_dir() else []
    stems = {name.partition(".")[0] for name in names}
    near = difflib.get_close_matches(file.name.partition(".")[0], stems, cutoff=_ALIKE)
    return [name for name in names if name.partition(".")[0] in near]


@dataclass(frozen=True, slots=True)
class Source:
    """Something to read from that can be opened again and again."""

    path: Path  # the file
    # what was in it, if it is no regular file: a pipe gives its bytes only once
    content: bytes | None = None

    @staticmethod
    def of(file: Path) -> Source:
        """Return the source for a file; one that is not regular is read here, whole."""
        return Source(file, None if file.is_file() else read_bytes(file))

    def open(self) -> BinaryIO:
        """Return its bytes, from the first one on."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    def size(self) -> int:
        """Return how many bytes it has."""
        return self.path.stat().st_size if self.content is None else len(self.content)


def start_of(source: Source) -> bytes:
    """Return the first bytes, which tell formats apart; those of the text if it is gzipped.

    The mark of UTF-8 is left out.
    """
    with source.open() as raw, gzip.open(raw, "rb") if is_gzip(source) else raw as plain:
        return plain.read(_START).removeprefix(codecs.BOM_UTF8)


def is_gzip(source: Source) -> bool:
    """Return whether a file is gzipped, whatever its name."""
    with source.open() as raw:
        return raw.read(2) == b"\x1f\x8b"


def check_unpacked(held: int, size: int) -> None:
    """Refuse a file of some size that unpacks to very many times as many bytes.

    Examples
    --------
    >>> check_unpacked(10_000_000, 1000)
    >>> check_unpacked(100_000_000, 1000)
    Traceback (most recent call last):
    graftwork.errors.TooLargeError: the file unpacks to 100,000 times its size, more than ...
    """
    ratio = held // max(1, size)
    if held > _UNPACKED and ratio > RATIO.value():
        RATIO.check(ratio, f"the file unpacks to {ratio:,} times its size", "check what it is")


@contextmanager
def opened(file: Path | Source) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, through gzip if it is gzipped; refuse what is not UTF-8."""
    source = file if isinstance(file, Source) else Source.of(file)
    try:
        with _unpacked(source) as raw:
            yield raw
    except UnicodeDecodeError as error:
        raise DataError(
            f"line {_bad_line(source)} is not UTF-8 text; save the file as UTF-8."
        ) from error


@contextmanager
def flowing(file: Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes as `opened` does, but a pipe's as they come, and only once.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "t.csv")
    >>> _ = path.write_bytes(b"a,b")
    >>> with flowing(path) as raw:
    ...     raw.read()
    b'a,b'
    """
    if file.is_file():
        with opened(file) as raw:
            yield raw
        return
    try:
        with file.open("rb") as raw:
            if raw.peek(2)[:2] == b"\x1f\x8b":
                with gzip.open(raw, "rb") as plain, _guarded(plain, raw) as guarded:  # type: ignore
                    yield guarded
            else:
                with _guarded(raw) as guarded:
                    yield guarded
    except UnicodeDecodeError as error:
        raise DataError("there is a line that is not UTF-8 text; give it as UTF-8.") from error


@contextmanager
def _unpacked(source: Source) -> Iterator[BinaryIO]:
    """Open a source for reading bytes, through gzip if it is gzipped."""
    packed = is_gzip(source)
    with source.open() as raw:
        if packed:
            with gzip.open(raw, "rb") as plain, _guarded(plain, raw) as guarded:  # type: ignore
                yield guarded
        else:
            with _guarded(raw) as guarded:
                yield guarded


def _guarded(stream: BinaryIO, packed: BinaryIO | None = None) -> BinaryIO:
    return io.BufferedReader(_Guard(stream, packed), _PIECE)


class _Guard(io.RawIOBase):
    """Text that is refused where a line does not end, or little is unpacked to very much."""

    def __init__(self, stream: Any, packed: BinaryIO | None) -> None:
        self._stream, self._packed = stream, packed
        self._read = self._line = self._blank = 0
        self._longest = LINE.value()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with more of the text; return how many bytes of it."""
        part = self._stream.read1(len(buffer))  # what is there: a pipe may go on later
        if b"\0" in part:
            raise DataError("this is no text, as it has zero bytes; save the table as CSV.")
        buffer[: len(part)] = part
        self._read += len(part)
        end = max(part.rfind(b"\n"), part.rfind(b"\r"))
        self._line = self._line + len(part) if end < 0 else len(part) - end - 1
        self._blank = self._blank + len(part) if part.isspace() else 0
        BLANK.check(self._blank, f"{self._blank:,} bytes in a row are blank", "check what it is")
        if self._line > self._longest:
            LINE.check(
                self._line,
                f"a line has at least {self._line:,} bytes",
                "check its line ends and what kind of file it is",
            )
        if self._packed is not None and self._packed.seekable():  # a pipe does not say
            check_unpacked(self._read, self._packed.tell())
        return len(part)


def _bad_line(source: Source) -> int:
    """Return the number of the first line that is not UTF-8."""
    done = 0
    with _unpacked(source) as raw:
        for line in raw:
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                break
            done += 1
    return done + 1
