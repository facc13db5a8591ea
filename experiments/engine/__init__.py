"""The engine of all papers: runs steps, keeps results, judges claims, writes pages."""

from experiments.engine.claims import Claim, Row, Span, judge, judge_all, span
from experiments.engine.runner import reproduce
from experiments.engine.study import Context, Figure, Found, Report, Size, Step, Study

__all__ = [
    "Claim",
    "Context",
    "Figure",
    "Found",
    "Report",
    "Row",
    "Size",
    "Span",
    "Step",
    "Study",
    "judge",
    "judge_all",
    "reproduce",
    "span",
]
