"""From potentials to beliefs. Nothing in this room ever sees data."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from graftwork.inference.elimination import Cost, estimate
from graftwork.inference.engines import Beliefs, Engine
from graftwork.inference.junction import JunctionTree
from graftwork.inference.layout import Layout, Potentials
from graftwork.inference.loopy import Automatic, LoopyBP
from graftwork.inference.messages import Rule
from graftwork.inference.reweighted import TreeReweighted
from graftwork.registry import ENGINES


def make_engine(name: str, rule: Rule = "path") -> Engine:
    """Return the engine of this name, with a rule for inactive pairs where it needs one."""
    factory: Callable[..., Engine] = ENGINES[name]
    takes_rule = "rule" in inspect.signature(factory).parameters
    return factory(rule=rule) if takes_rule else factory()


__all__ = [
    "ENGINES",
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
    "make_engine",
]
