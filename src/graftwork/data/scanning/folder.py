"""The folder that packed parts lie in: written completely or not at all, removed at the end."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import socket
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.scanning.packed import PackedPart
from graftwork.errors import DataError

#: The version of the files; others are written anew.
FORMAT = 2
_MANIFEST = "manifest.json"
_PREFIX = "graftwork-store-"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_UNFINISHED = re.compile(r"\.graftwork-store-(?P<host>[0-9a-z]+)-(?P<pid>[0-9]+)-[0-9a-f]+")


def part_path(folder: Path, number: int) -> Path:
    """Return where a part is."""
    return folder / f"part-{number:06d}.bin"


class Keeper:
    """Removes a folder when nobody needs it any more: when asked, collected or at exit."""

    def __init__(self, folder: Path) -> None:
        # A forked process inherits this, and must not remove what is not its own.
        self._remove = weakref.finalize(self, _remove_own, folder, os.getpid())

    def close(self) -> None:
        """Remove the folder, if it is still there."""
        self._remove()


def _remove_own(folder: Path, pid: int) -> None:
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)


class Writer:
    """Writes parts into a folder that becomes visible under its name when all is done.

    Parameters
    ----------
    workdir : Path or None
        Where the folder stays for the next run; a temporary one is made otherwise.

    Attributes
    ----------
    folder : Path
    keeper : Keeper or None
        Who removes a temporary folder.
    rows : list of int
        Rows of each part so far.
    bits : list of tuple of int
        Bits of the columns of each.
    weighted : bool
        Whether rows have weights.
    """

    def __init__(self, workdir: Path | None) -> None:
        self._workdir = workdir
        self.keeper: Keeper | None = None
        with _plainly(workdir):
            if workdir is None:
                self.folder = Path(tempfile.mkdtemp(prefix="graftwork-scan-"))
                self.keeper = Keeper(self.folder)
            else:
                workdir.mkdir(parents=True, exist_ok=True)
                _remove_unfinished(workdir)
                token = secrets.token_hex(4)
                self.folder = workdir / f".{_PREFIX}{_host()}-{os.getpid()}-{token}"
                self.folder.mkdir()
        self.rows: list[int] = []
        self.bits: list[tuple[int, ...]] = []
        self.weighted = False

    def keep(self, part: PackedPart) -> None:
        """Write a part."""
        path = part_path(self.folder, len(self.rows))
        arrays: list[NDArray[Any]] = [part.cells]
        if part.weights is not None:
            arrays.append(part.weights)
        with _plainly(self._workdir):
            write_arrays(path, arrays, sync=self._workdir is not None)
        self.rows.append(part.n_rows)
        self.bits.append(part.bits)
        self.weighted = part.weights is not None

    def finish(self, manifest: dict[str, Any] | None, fingerprint: str) -> Path:
        """Return the folder under its final name; others of ours in the workdir are removed."""
        if self._workdir is None:
            return self.folder
        with _plainly(self._workdir):
            if manifest is not None:
                text = json.dumps(manifest).encode()
                path = self.folder / _MANIFEST
                write_arrays(path, [np.frombuffer(text, np.uint8)], sync=True)
            target = self._workdir / f"{_PREFIX}{fingerprint}"
            for old in self._workdir.glob(f"{_PREFIX}*"):
                if old.is_dir():
                    shutil.rmtree(old, ignore_errors=True)
            self.folder.rename(target)
        self.folder = target
        return target

    def abandon(self) -> None:
        """Remove what was written."""
        shutil.rmtree(self.folder, ignore_errors=True)


def write_arrays(path: Path, arrays: list[NDArray[Any]], *, sync: bool) -> None:
    """Write arrays one after the other into a new file; to the disk at once if `sync`."""
    with path.open("xb") as file:
        for array in arrays:
            file.write(np.ascontiguousarray(array).data.cast("B"))
        if sync:
            file.flush()
            os.fsync(file.fileno())


def read_part(
    folder: Path, number: int, rows: int, bits: tuple[int, ...], weighted: bool
) -> PackedPart:
    """Return a part, its cells mapped from the file."""
    path = part_path(folder, number)
    try:
        content = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:
        raise DataError(
            f"a part of the stored rows cannot be read any more ({path}): the store was closed, or "
            "its folder removed; scan the source again."
        ) from error
    size = len(content) - 8 * rows * weighted
    weights = np.array(content[size:].view(np.float64)) if weighted else None
    return PackedPart(rows, bits, np.asarray(content[:size]), weights)


def find_store(workdir: Path, fingerprint: str) -> tuple[Path, dict[str, Any]] | None:
    """Return the folder of an earlier run with the same fingerprint, and its manifest."""
    folder = workdir / f"{_PREFIX}{fingerprint}"
    try:
        manifest = json.loads((folder / _MANIFEST).read_text())
        sizes = [part_path(folder, k).stat().st_size for k in range(len(manifest["rows"]))]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    same = manifest.get("fingerprint") == fingerprint and manifest.get("format") == FORMAT
    return (folder, manifest) if same and sizes == manifest.get("sizes") else None


def _remove_unfinished(workdir: Path) -> None:
    """Remove folders that processes of this machine began and did not live to finish."""
    for path in workdir.iterdir():
        found = _UNFINISHED.fullmatch(path.name)
        if found and found["host"] == _host() and not _alive(int(found["pid"])):
            shutil.rmtree(path, ignore_errors=True)


def _host() -> str:
    return re.sub("[^0-9a-z]", "", socket.gethostname().lower()) or "host"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@contextmanager
def _plainly(workdir: Path | None) -> Iterator[None]:
    """Say in plain words why the folder cannot be written."""
    try:
        yield
    except OSError as error:
        where = Path(tempfile.gettempdir()) if workdir is None else workdir
        if error.errno not in _FULL:
            raise DataError(
                f"the folder for packed rows, {str(where)!r}, cannot be written "
                f"({error.strerror or error}); give workdir= another folder."
            ) from error
        free = ""
        with suppress(OSError):
            free = f" ({shutil.disk_usage(where).free / 1e6:,.0f} MB are free)"
        raise DataError(
            f"the disk of the folder for packed rows, {str(where)!r}, is full{free}; what was "
            "written there is removed: give workdir= a folder on a larger disk."
        ) from error
