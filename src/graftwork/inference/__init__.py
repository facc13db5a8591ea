"""From potentials to beliefs. Nothing in this room ever sees data."""

from __future__ import annotations

from graftwork.inference.automatic import Automatic
from graftwork.inference.beliefs import Beliefs
from graftwork.inference.elimination import Cost, estimate
from graftwork.inference.engines import Engine
from graftwork.inference.junction import JunctionTree
from graftwork.inference.layout import Layout, Potentials
from graftwork.inference.loopy import LoopyBP
from graftwork.inference.reweighted import TreeReweighted

__all__ = [
    "Automatic",
    "Beliefs",
    "Cost",
    "Engine",
    "JunctionTree",
    "Layout",
    "LoopyBP",
    "Potentials",
    "TreeReweighted",
    "estimate",
]
