"""Choosing lambda: paths, criteria, refits."""

from graftwork.tuning.auto import AutoResult, learn_without_lambda
from graftwork.tuning.levels import Levels, find_levels
from graftwork.tuning.path import PathPoint
from graftwork.tuning.prices import edge_prices
from graftwork.tuning.refit import refit

__all__ = [
    "AutoResult",
    "Levels",
    "PathPoint",
    "edge_prices",
    "find_levels",
    "learn_without_lambda",
    "refit",
]
