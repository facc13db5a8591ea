"""How much memory is free, and how much a file would take."""

from __future__ import annotations

import os
from pathlib import Path

#: About the bytes that a cell takes while a file is read and a network learned from it.
_CELL_BYTES = 25
#: How much longer a text is than its compressed file; bytes of a text that are looked at.
_COMPRESSED, _LOOKED_AT = 8, 1 << 20
_SEPARATORS = (b",", b";", b"\t", b"|")
#: Smaller files are not looked at.
_SMALL = 10_000_000


def free_memory() -> int | None:
    """Return how many bytes of memory are free, also for containers; None if nobody knows."""
    found = [each for each in (_of_machine(), _of_container()) if each is not None]
    return min(found, default=None)


def _of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _of_container() -> int | None:
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        folder = Path("/sys/fs/cgroup")
        try:
            return int((folder / limit).read_text()) - int((folder / used).read_text())
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return None


def bytes_needed(path: Path, sep: str | None = None) -> int | None:
    """Return about how many bytes learning from a file in memory would take; None if not known."""
    try:
        size = path.stat().st_size
        if size < _SMALL:
            return None
        with path.open("rb") as stream:
            start = stream.read(_LOOKED_AT)
    except OSError:
        return None
    if start[:4] == b"PAR1":
        cells = _cells_of_parquet(path)
        return None if cells is None else cells * _CELL_BYTES
    if start[:2] == b"\x1f\x8b":
        return size * _COMPRESSED // 3 * _CELL_BYTES
    marks = _SEPARATORS if sep is None else (sep.encode(),)
    cells = max(start.count(mark) for mark in marks) + start.count(b"\n")
    return int(size / len(start) * cells) * _CELL_BYTES


def _cells_of_parquet(path: Path) -> int | None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq

        found = pq.read_metadata(path)
    except (ImportError, OSError, pa.ArrowException):
        return None
    return int(found.num_rows) * int(found.num_columns)
