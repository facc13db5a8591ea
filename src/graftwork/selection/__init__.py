"""Choosing lambda and edges: paths, criteria, refits, the search for real edges."""

from graftwork.selection.choice import Chosen, choose_lambda
from graftwork.selection.criteria import Criterion
from graftwork.selection.levels import Levels, find_levels
from graftwork.selection.path import LambdaChoice, PathPoint
from graftwork.selection.refits import Refitted, normal_prior, refit
from graftwork.selection.structure import StructureResult, learn_structure

__all__ = [
    "Chosen",
    "Criterion",
    "LambdaChoice",
    "Levels",
    "PathPoint",
    "Refitted",
    "StructureResult",
    "choose_lambda",
    "find_levels",
    "learn_structure",
    "normal_prior",
    "refit",
]
