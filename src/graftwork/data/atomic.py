"""Write a file completely or not at all.

It is written in a hidden folder first, which is in use until then (see ``graftwork.data.scratch``):
what a process that was killed has left is removed by the next one that writes there.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from graftwork.data.scratch import lock_new, remove_unused
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
    with _new_in(target.parent, target) as new:
        with new.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        new.replace(target)


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
    with _new_in(target, target) as new:
        new.mkdir()
        yield new
        names = sorted(path.name for path in new.iterdir())
        for name in names:
            (new / name).replace(target / name)
        for name in set(stale) - set(names):
            (target / name).unlink(missing_ok=True)


@contextmanager
def _new_in(folder: Path, asked: Path) -> Iterator[Path]:
    """Yield a path in a hidden folder, on the disk of ``folder``; errors about it speak of `asked`.

    Each writer has its own, and holds a lock on it; those that nobody holds any more are removed.
    """
    with suppress(OSError):
        for old in folder.glob(".????????.parts"):
            remove_unused(old)
    own = folder / f".{secrets.token_hex(4)}.parts"
    new, lock = own / "new", None
    try:
        own.mkdir()
        with suppress(OSError):  # some disks know no locks
            lock = lock_new(own)
        yield new
    except OSError as error:
        name = error.filename
        if isinstance(name, str) and name.startswith(str(own)):
            told = str(asked) + name.removeprefix(str(own)).removeprefix(f"{os.sep}{new.name}")
            raise type(error)(error.errno, error.strerror, told) from error
        raise
    finally:
        shutil.rmtree(own, ignore_errors=True)
        if lock is not None:
            lock.close()
