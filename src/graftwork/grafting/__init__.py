"""The loop that grafts edges onto a network, and its parts."""

from graftwork.grafting.certificate import Certificate
from graftwork.grafting.chow_liu import chow_liu_edges, tree_potentials
from graftwork.grafting.exchange import Exchange, ExchangeRule, Tally
from graftwork.grafting.exchange_rules import Descent, Greedy, Metropolis, Rejection
from graftwork.grafting.factors import PairFactors
from graftwork.grafting.family import ModelFamily
from graftwork.grafting.loop import Outcome, graft
from graftwork.grafting.networks import NetworkFamily
from graftwork.grafting.priority import PriorityQueue
from graftwork.grafting.problem import Problem
from graftwork.grafting.recipe import AtTheEnd, Budget, Pruner, Recipe, Start, Zeros
from graftwork.grafting.reservoir import Reservoir
from graftwork.grafting.selectors import (
    Choice,
    Everything,
    Exhaustive,
    Gain,
    GivenEdges,
    MutualInformation,
    Scorer,
    Selection,
    Selector,
    View,
    Violation,
    WorkingSet,
)
from graftwork.grafting.spaces import CellSpace, PairSpace, Space
from graftwork.grafting.starts import ChowLiu, Given
from graftwork.grafting.trace import Observer, Round

__all__ = [
    "AtTheEnd",
    "Budget",
    "CellSpace",
    "Certificate",
    "Choice",
    "ChowLiu",
    "Descent",
    "Everything",
    "Exchange",
    "ExchangeRule",
    "Exhaustive",
    "Gain",
    "Given",
    "GivenEdges",
    "Greedy",
    "Metropolis",
    "ModelFamily",
    "MutualInformation",
    "NetworkFamily",
    "Observer",
    "Outcome",
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
