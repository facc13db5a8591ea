"""Files to read from: whether there is one, gzipped or not, and damage in plain words."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from graftwork.data.values import suggestion
from graftwork.errors import DataError


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
    except DataError as error:
        raise DataError(f"{file.name or file}: {error}") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{file.name}: line {_bad_line(file)} is not UTF-8 text; save the file as UTF-8."
        ) from error
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
        siblings = [p.name for p in file.parent.iterdir()] if file.parent.is_dir() else []
        hint = suggestion(file.name, siblings) if siblings else ""
        raise DataError(f"there is no such file in {str(file.parent)!r}{hint or '.'}")


def first_bytes(file: Path) -> bytes:
    """Return the four bytes that tell formats apart.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "t.csv")
    >>> _ = path.write_text("a,b,c")
    >>> first_bytes(path)
    b'a,b,'
    """
    with file.open("rb") as raw:
        return raw.read(4)


@contextmanager
def opened(file: Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, through gzip if it is gzipped.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "t.csv")
    >>> _ = path.write_bytes(gzip.compress(b"a,b"))
    >>> with opened(path) as raw:
    ...     raw.read()
    b'a,b'
    """
    if first_bytes(file)[:2] == b"\x1f\x8b":
        with gzip.open(file, "rb") as packed:
            yield packed  # type: ignore[misc]
    else:
        with file.open("rb") as raw:
            yield raw


def _bad_line(file: Path) -> int:
    """Return the number of the first line that is not UTF-8."""
    done = 0
    with opened(file) as raw:
        for line in raw:
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                break
            done += 1
    return done + 1
