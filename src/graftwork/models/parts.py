"""The one place of this room where a string becomes an inference engine."""

from __future__ import annotations

from graftwork.errors import DataError
from graftwork.inference import ENGINES
from graftwork.inference.engines import Engine
from graftwork.inference.junction import JunctionTree
from graftwork.inference.layout import Layout
from graftwork.inference.loopy import LoopyBP

Inference = str | Engine


def engine_for(inference: Inference, layout: Layout) -> Engine:
    """Return the engine meant: a word, or the one given.

    "exact" is a junction tree, "bp" loopy belief propagation, "trw" tree-reweighted belief
    propagation (its log Z is an upper bound), "auto" a junction tree where that fits, else "bp".

    Examples
    --------
    >>> engine_for("auto", Layout.of([2, 2], [(0, 1)]))
    JunctionTree(limit_cells=67108864)
    """
    if isinstance(inference, str):
        if inference == "auto":
            return JunctionTree() if JunctionTree().fits(layout) else LoopyBP()
        if inference in ENGINES:
            return ENGINES[inference]()
    elif isinstance(inference, Engine):
        return inference
    raise DataError(f'inference is {inference!r}; use "exact", "bp", "trw", "auto" or an engine.')
