"""The papers' experiments, each by name: run, compared with what was printed, drawn, written."""

from graftwork.reproduce.names import NAMES, find_study
from graftwork.reproduce.runner import reproduce
from graftwork.reproduce.study import Claim, Context, Figure, Report, Step, Study

__all__ = [
    "NAMES",
    "Claim",
    "Context",
    "Figure",
    "Report",
    "Step",
    "Study",
    "find_study",
    "reproduce",
]
