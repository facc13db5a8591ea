"""Write a file completely or not at all."""

from __future__ import annotations

import errno
import gzip
import io
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from graftwork.limits import check_name


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file that takes the place of ``path`` when the block ends well.

    An older file survives any failure, Ctrl-C included; errors name the path asked for.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "note.txt"
    >>> with replacing(path) as file:
    ...     _ = file.write(b"done")
    >>> path.read_text()
    'done'
    """
    target = Path(path)
    check_name(target)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "There is no such folder", str(target.parent))
    # In the target's folder, so that replacing it is one step; each writer has its own name.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with _named(temporary, target), temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _named(temporary, target):
            temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_lines(path: str | PathLike[str], lines: Iterable[str]) -> None:
    """Write text as UTF-8, completely or not at all, and return None.

    Pieces of text bring their line ends; the file is compressed if it ends in ``.gz``.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "note.txt"
    >>> write_lines(path, ["one\\n", "two\\n"])
    >>> path.read_text()
    'one\\ntwo\\n'
    """
    target = Path(path)
    with replacing(target) as raw:
        # No name and no time in the gzip header: equal texts give equal files.
        inner: Any = raw
        if target.suffix == ".gz":
            inner = gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
        text = io.TextIOWrapper(inner, encoding="utf-8", newline="")
        text.writelines(lines)
        text.detach()  # flushes, and leaves closing to whoever opened the file
        if inner is not raw:
            inner.close()


@contextmanager
def _named(temporary: Path, target: Path) -> Iterator[None]:
    """Let errors about the temporary file speak of the target."""
    try:
        yield
    except OSError as error:
        if error.filename == str(temporary):
            raise type(error)(error.errno, error.strerror, str(target)) from error
        raise


@contextmanager
def replacing_together(folder: str | PathLike[str], stale: Iterable[str] = ()) -> Iterator[Path]:
    """Yield a folder for files that go into ``folder`` together when the block ends well.

    Files of an earlier run that are not written anew, and would not fit, go then, too: those named
    ``stale``. After a failure everything is as it was.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "old.txt").write_text("of an earlier run")
    >>> with replacing_together(folder, ["old.txt"]) as new:
    ...     _ = (new / "note.txt").write_text("done")
    >>> [path.name for path in folder.iterdir()]
    ['note.txt']
    """
    target = Path(folder)
    new = target / f".{secrets.token_hex(4)}.parts"
    with _told_of(new, target):
        new.mkdir()
        try:
            yield new
            names = sorted(path.name for path in new.iterdir())
            for name in names:
                (new / name).replace(target / name)
            for name in set(stale) - set(names):
                (target / name).unlink(missing_ok=True)
        finally:
            shutil.rmtree(new, ignore_errors=True)


@contextmanager
def _told_of(new: Path, target: Path) -> Iterator[None]:
    """Let errors about files of a new folder speak of those that they would have become."""
    try:
        yield
    except OSError as error:
        name = error.filename
        if isinstance(name, str) and name.startswith(str(new)):
            told = str(target) + name.removeprefix(str(new))
            raise type(error)(error.errno, error.strerror, told) from error
        raise
