"""Long commands that were killed go on where they were: the same command does."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from graftwork.cli.interrupts import Interrupts
from graftwork.version import __version__

FILE = "progress.gwp"
#: What makes no difference to the answer.
_IDLE = ("n_jobs", "plot", "quiet")


@contextmanager
def resumable(
    command: str,
    out: Path,
    given: tuple[Any, ...],
    interrupts: Interrupts,
    note: Callable[[str], None],
    *,
    partial: bool = True,
) -> Iterator[None]:
    """Keep progress in a file while the block runs; remove it when that ends undisturbed.

    Parameters
    ----------
    given : tuple
        Everything that the command was told; files that it names count with their sizes and times.
    partial : bool
        Whether a single fit goes on where it was; not where its time is measured.
    """
    from graftwork.journal import Journal

    words = list(_words(given))
    if "-" in words:  # standard input cannot be read again
        yield
        return
    journal = Journal(out / FILE, fingerprint(command, words), note, partial=partial)
    interrupts.journal, finished = journal, False
    try:
        yield
        finished = not interrupts.seen
    finally:
        interrupts.journal = None
        journal.close(finished=finished)


def fingerprint(command: str, words: list[str]) -> str:
    """Return a code of version, command, parameters and of the files that they name."""
    known = hashlib.sha256(repr((__version__, command, words)).encode())
    for word in words:
        for path in sorted(_files(word)):
            status = os.stat(path)
            known.update(repr((path, status.st_size, status.st_mtime_ns)).encode())
    return known.hexdigest()


def _files(word: str) -> Iterator[str]:
    """Yield the files that a text names, if it does: a path, a folder, a pattern."""
    for path in glob.glob(word) if glob.has_magic(word) else [word]:
        if os.path.isfile(path):
            yield path
        elif os.path.isdir(path):
            for folder, _, names in os.walk(path):
                yield from (os.path.join(folder, name) for name in names)


def _words(value: Any) -> Iterator[str]:
    """Yield a value's parts as texts, in order.

    Examples
    --------
    >>> list(_words(({"lam": 0.1, "n_jobs": 2}, "a.csv")))
    ['lam', '0.1', 'a.csv']
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in fields(value) if f.name != "out"}
    if isinstance(value, Mapping):
        for name, each in value.items():
            if name not in _IDLE:
                yield from (str(name), *_words(each))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _words(each)
    else:
        yield str(value)
