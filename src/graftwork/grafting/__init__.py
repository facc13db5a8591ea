"""The loop that grafts edges onto a network, and its parts."""

from graftwork.grafting.cells import CellSpace
from graftwork.grafting.certificate import Certificate
from graftwork.grafting.chow_liu import chow_liu_edges, tree_potentials
from graftwork.grafting.deletions import Greedy, Rejection
from graftwork.grafting.domain import Domain, PairDomain
from graftwork.grafting.everything import Everything
from graftwork.grafting.exchange import Exchange, ExchangeRule, Tally
from graftwork.grafting.exhaustive import Exhaustive
from graftwork.grafting.factors import PairFactors
from graftwork.grafting.given import GivenEdges
from graftwork.grafting.loop import Outcome, graft
from graftwork.grafting.metropolis import Metropolis
from graftwork.grafting.priority import PriorityQueue
from graftwork.grafting.problem import Budget, Problem, Recipe, Start
from graftwork.grafting.pruning import AtTheEnd, Pruner, Zeros
from graftwork.grafting.reservoir import Reservoir
from graftwork.grafting.scorers import Gain, MutualInformation, Scorer, Violation
from graftwork.grafting.selection import Choice, Selection, Selector, View
from graftwork.grafting.space import PairSpace, Space
from graftwork.grafting.starts import ChowLiu, Given
from graftwork.grafting.trace import Observer, Round
from graftwork.grafting.working_set import WorkingSet

__all__ = [
    "AtTheEnd",
    "Budget",
    "CellSpace",
    "Certificate",
    "Choice",
    "ChowLiu",
    "Domain",
    "Everything",
    "Exchange",
    "ExchangeRule",
    "Exhaustive",
    "Gain",
    "Given",
    "GivenEdges",
    "Greedy",
    "Metropolis",
    "MutualInformation",
    "Observer",
    "Outcome",
    "PairDomain",
    "PairFactors",
    "PairSpace",
    "PriorityQueue",
    "Problem",
    "Pruner",
    "Recipe",
    "Rejection",
    "Reservoir",
    "Round",
    "Scorer",
    "Selection",
    "Selector",
    "Space",
    "Start",
    "Tally",
    "View",
    "Violation",
    "WorkingSet",
    "Zeros",
    "chow_liu_edges",
    "graft",
    "tree_potentials",
]
