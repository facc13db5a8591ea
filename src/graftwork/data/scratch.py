"""Folders for scratch files: in use by one process, removed at the end or by the next one.

A folder is in use while a process has a lock on a file in it. The system releases locks however a
process ends, so what one that was killed has left is known for certain, and removed by the next.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from graftwork.errors import DataError

fcntl: Any = None
with suppress(ImportError):  # not on Windows, where nothing is removed that others left
    import fcntl

_LOCK = "lock"
_PREFIX = "graftwork-"
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Hold:
    """Keeps a folder in use until it is closed or nobody refers to it, then perhaps removes it."""

    def __init__(self, folder: Path, lock: IO[bytes], *, remove: bool) -> None:
        # A forked process inherits this, and must not remove what is not its own.
        self._end = weakref.finalize(self, _release, folder, lock, os.getpid() if remove else None)

    def close(self) -> None:
        """Release the folder; remove it, if that is to be done."""
        self._end()


def _release(folder: Path, lock: IO[bytes], remover: int | None) -> None:
    if os.getpid() == remover:
        shutil.rmtree(folder, ignore_errors=True)
    lock.close()


def lock_new(folder: Path) -> IO[bytes]:
    """Return a lock on a folder that this process made."""
    own = folder / f".{secrets.token_hex(4)}"
    file = own.open("wb")
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_SH)
        own.replace(folder / _LOCK)  # nobody ever sees it unlocked
    except OSError:
        file.close()
        raise
    return file


def lock_used(folder: Path) -> IO[bytes] | None:
    """Return a lock on a folder that may be shared; None if there is none, or it is going."""
    try:
        file = (folder / _LOCK).open("rb")
    except OSError:
        return None
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if (folder / _LOCK).exists():
            return file
    except OSError:
        pass
    file.close()
    return None


def remove_unused(folder: Path) -> None:
    """Remove a folder, unless a process uses it or it belongs to somebody else; return None."""
    if fcntl is None or folder.is_symlink():
        return
    with suppress(OSError), (folder / _LOCK).open("rb") as file:
        if os.fstat(file.fileno()).st_uid != os.geteuid():
            return
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for path in folder.iterdir():
            if path.name != _LOCK:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.rmtree(folder)  # the lock goes last: who is stopped here leaves it for the next


def temporary(place: Path | None = None) -> tuple[Path, Hold]:
    """Return a new folder in the temporary folder, or in another one, and what removes it.

    What processes that were killed have left there is removed first.
    """
    where = Path(tempfile.gettempdir()) if place is None else place
    with writing(place):
        where.mkdir(parents=True, exist_ok=True)
        for old in where.glob(f"{_PREFIX}scratch-*"):
            remove_unused(old)
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}scratch-", dir=where))
        return folder, Hold(folder, lock_new(folder), remove=True)


@contextmanager
def writing(folder: Path | None) -> Iterator[None]:
    """Turn errors of the disk into one sentence; None is the temporary folder.

    Examples
    --------
    >>> with writing(Path("there")):
    ...     raise OSError(errno.EACCES, "Permission denied")
    Traceback (most recent call last):
    graftwork.errors.DataError: the scratch folder 'there' cannot be written (Permission denied);
    give workdir= another folder.
    """
    try:
        yield
    except OSError as error:
        where = Path(tempfile.gettempdir()) if folder is None else folder
        if error.errno not in _FULL:
            raise DataError(
                f"the scratch folder {str(where)!r} cannot be written "
                f"({error.strerror or error}); give workdir= another folder."
            ) from error
        free = ""
        with suppress(OSError):
            free = f" ({shutil.disk_usage(where).free / 1e6:,.0f} MB are free)"
        raise DataError(
            f"the disk of the scratch folder {str(where)!r} is full{free}; what was written there "
            "is removed: give workdir= a folder on a larger disk."
        ) from error
