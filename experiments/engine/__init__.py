"""The engine of all papers: runs steps, keeps results, judges claims, writes pages."""

from experiments.engine.runner import reproduce
from experiments.engine.study import Claim, Context, Figure, Found, Report, Size, Step, Study, judge

__all__ = [
    "Claim",
    "Context",
    "Figure",
    "Found",
    "Report",
    "Size",
    "Step",
    "Study",
    "judge",
    "reproduce",
]
