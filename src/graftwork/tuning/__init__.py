"""Choosing lambda (paths, criteria, refits), and tying weights together."""

from graftwork.tuning.choice import Chosen, choose_lambda
from graftwork.tuning.criteria import Criterion
from graftwork.tuning.evidence import Evidence
from graftwork.tuning.levels import Levels, find_levels
from graftwork.tuning.path import LambdaChoice, PathPoint
from graftwork.tuning.refit import normal_prior, refit
from graftwork.tuning.resampled import DrawnFrom
from graftwork.tuning.starts import Refitted
from graftwork.tuning.structure import StructureResult, learn_structure
from graftwork.tuning.tying import Tying, tie

__all__ = [
    "Chosen",
    "Criterion",
    "DrawnFrom",
    "Evidence",
    "LambdaChoice",
    "Levels",
    "PathPoint",
    "Refitted",
    "StructureResult",
    "Tying",
    "choose_lambda",
    "find_levels",
    "learn_structure",
    "normal_prior",
    "refit",
    "tie",
]
