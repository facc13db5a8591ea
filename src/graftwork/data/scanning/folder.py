"""The folder that packed parts lie in: written completely or not at all, removed at the end."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.scanning.packed import PackedPart
from graftwork.data.scratch import Hold, lock_new, lock_used, remove_unused, temporary, writing
from graftwork.errors import DataError

#: The version of the files; others are written anew.
FORMAT = 2
_MANIFEST = "manifest.json"
_PREFIX = "graftwork-store-"


def part_path(folder: Path, number: int) -> Path:
    """Return where a part is."""
    return folder / f"part-{number:06d}.bin"


class Writer:
    """Writes parts into a folder of its own, which gets its name when all is done."""

    def __init__(self, workdir: Path | None) -> None:
        self._workdir = workdir
        if workdir is None:
            self.folder, self.hold = temporary()
        else:
            with writing(workdir):
                workdir.mkdir(parents=True, exist_ok=True)
                for old in workdir.glob(f".{_PREFIX}*"):  # of processes that were killed
                    remove_unused(old)
                self.folder = workdir / f".{_PREFIX}{secrets.token_hex(8)}"
                self.folder.mkdir()
                self.hold = Hold(self.folder, lock_new(self.folder), remove=False)
        self.rows: list[int] = []
        self.bits: list[tuple[int, ...]] = []
        self.weighted = False

    def keep(self, part: PackedPart) -> None:
        """Write a part."""
        path = part_path(self.folder, len(self.rows))
        arrays: list[NDArray[Any]] = [part.cells]
        if part.weights is not None:
            arrays.append(part.weights)
        with writing(self._workdir):
            write_arrays(path, arrays, sync=self._workdir is not None)
        self.rows.append(part.n_rows)
        self.bits.append(part.bits)
        self.weighted = part.weights is not None

    def finish(self, manifest: dict[str, Any] | None, fingerprint: str) -> Path:
        """Return the folder under its final name; others in the workdir go unless they are in use.

        If another run has made the same one in the meantime, that is returned.
        """
        if self._workdir is None:
            return self.folder
        with writing(self._workdir):
            if manifest is not None:
                text = json.dumps(manifest).encode()
                path = self.folder / _MANIFEST
                write_arrays(path, [np.frombuffer(text, np.uint8)], sync=True)
            target = self._workdir / f"{_PREFIX}{fingerprint}"
            found = find_store(self._workdir, fingerprint)
            for old in self._workdir.glob(f"{_PREFIX}*"):
                remove_unused(old)
            while found is None:
                try:
                    self.folder.rename(target)
                    break
                except OSError:
                    if not target.exists():
                        raise
                    found = find_store(self._workdir, fingerprint)  # another run was quicker
                    if found is None:  # damaged, and in use
                        target.rename(self._workdir / f".{_PREFIX}{secrets.token_hex(8)}")
            if found is not None:
                self.abandon()
                self.hold = found[2]
        self.folder = target
        return target

    def abandon(self) -> None:
        """Remove what was written."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.hold.close()


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
            f"the stored rows can no longer be read ({path}): the store was closed, or its folder "
            "was deleted; scan the source again."
        ) from error
    size = len(content) - 8 * rows * weighted
    weights = np.array(content[size:].view(np.float64)) if weighted else None
    return PackedPart(rows, bits, np.asarray(content[:size]), weights)


def find_store(workdir: Path, fingerprint: str) -> tuple[Path, dict[str, Any], Hold] | None:
    """Return the folder of a run with the same fingerprint, its manifest, and what keeps it."""
    folder = workdir / f"{_PREFIX}{fingerprint}"
    lock = lock_used(folder)
    if lock is None:
        return None
    hold = Hold(folder, lock, remove=False)
    try:
        manifest = json.loads((folder / _MANIFEST).read_text())
        sizes = [part_path(folder, k).stat().st_size for k in range(len(manifest["rows"]))]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    same = manifest.get("fingerprint") == fingerprint and manifest.get("format") == FORMAT
    return (folder, manifest, hold) if same and sizes == manifest.get("sizes") else None
