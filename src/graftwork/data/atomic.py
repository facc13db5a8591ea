"""Write a file completely or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO


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
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "There is no such folder", str(target.parent))
    # Beside the target, so that replacing it is one step; a name of its own for every writer.
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


@contextmanager
def _named(temporary: Path, target: Path) -> Iterator[None]:
    """Let errors about the temporary file speak of the target."""
    try:
        yield
    except OSError as error:
        if error.filename == str(temporary):
            raise type(error)(error.errno, error.strerror, str(target)) from error
        raise
