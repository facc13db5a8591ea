"""The one place of this room where a string becomes an inference engine."""

from __future__ import annotations

from graftwork.errors import DataError
from graftwork.inference.engines import Engine
from graftwork.inference.junction import JunctionTree
from graftwork.inference.layout import Layout
from graftwork.inference.loopy import LoopyBP

Inference = str | Engine


def engine_for(inference: Inference, layout: Layout) -> Engine:
    """Return the engine meant: "exact", "bp", "auto" (exact where it fits), or the one given.

    Examples
    --------
    >>> engine_for("auto", Layout.of([2, 2], [(0, 1)]))
    JunctionTree(limit_cells=67108864)
    """
    if not isinstance(inference, str):
        if isinstance(inference, Engine):
            return inference
        raise DataError(f'inference is {inference!r}; use "exact", "bp", "auto" or an engine.')
    if inference == "exact":
        return JunctionTree()
    if inference == "bp":
        return LoopyBP()
    if inference == "auto":
        return JunctionTree() if JunctionTree().fits(layout) else LoopyBP()
    raise DataError(f'inference is {inference!r}; use "exact", "bp", "auto" or an engine.')
