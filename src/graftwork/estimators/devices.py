"""Rows on a device: a table as a GPU has it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graftwork.data.engines import Here
from graftwork.data.placed import AnyTable, PlacedTable
from graftwork.device.choosing import find_device


def on_device(
    table: AnyTable, device: str, n_jobs: int | None = None, engine: Any = None
) -> AnyTable:
    """Return a table whose rows a device counts and sums; itself where that is the processor."""
    found = find_device(device)
    if found is None:
        return table
    from graftwork.device.engine import DeviceEngine

    if isinstance(table, PlacedTable):
        if not isinstance(table.engine, Here):  # processes and clusters have rows of their own
            return table
        reading = DeviceEngine(found, n_jobs, keep=False)
        return replace(table, engine=reading, handles=reading.place(table.handles))
    engine = engine if isinstance(engine, DeviceEngine) else DeviceEngine(found, n_jobs)
    return PlacedTable.cut(table, max(1, table.n_rows), engine, memory=_memory())


def _memory() -> int:
    """Return how many bytes of this machine's memory rows may take."""
    import os

    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        total = 0
    return max(2 * 10**9, total // 2)
