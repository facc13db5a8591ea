"""Choosing lambda (paths, criteria, refits), and tying weights together."""

from graftwork.tuning.auto import AutoResult, learn_without_lambda
from graftwork.tuning.levels import Levels, find_levels
from graftwork.tuning.path import PathPoint
from graftwork.tuning.prices import edge_prices
from graftwork.tuning.refit import normal_prior, refit
from graftwork.tuning.starts import Refitted
from graftwork.tuning.tying import Tying, tie

__all__ = [
    "AutoResult",
    "Levels",
    "PathPoint",
    "Refitted",
    "Tying",
    "edge_prices",
    "find_levels",
    "learn_without_lambda",
    "normal_prior",
    "refit",
    "tie",
]
