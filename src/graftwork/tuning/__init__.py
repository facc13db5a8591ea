"""Choosing lambda (paths, criteria, refits), and tying weights together."""

from graftwork.tuning.auto import AutoResult, learn_without_lambda
from graftwork.tuning.levels import Levels, find_levels
from graftwork.tuning.path import PathPoint
from graftwork.tuning.prices import edge_prices
from graftwork.tuning.refit import refit
from graftwork.tuning.tying import Tying, tie

__all__ = [
    "AutoResult",
    "Levels",
    "PathPoint",
    "Tying",
    "edge_prices",
    "find_levels",
    "learn_without_lambda",
    "refit",
    "tie",
]
