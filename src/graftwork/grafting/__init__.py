"""The loop that grafts edges onto a network, and its parts."""

from graftwork.grafting.certificate import Certificate
from graftwork.grafting.exhaustive import Exhaustive
from graftwork.grafting.loop import Budget, Outcome, Problem, Recipe, graft
from graftwork.grafting.reservoir import Reservoir
from graftwork.grafting.selection import Choice, Selection, Selector, View
from graftwork.grafting.space import PairSpace
from graftwork.grafting.trace import Observer, Round
from graftwork.grafting.working_set import WorkingSet

__all__ = [
    "Budget",
    "Certificate",
    "Choice",
    "Exhaustive",
    "Observer",
    "Outcome",
    "PairSpace",
    "Problem",
    "Recipe",
    "Reservoir",
    "Round",
    "Selection",
    "Selector",
    "View",
    "WorkingSet",
    "graft",
]
