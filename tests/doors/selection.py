"""What tests know of the files of selection."""

from graftwork.selection import choice, levels, looks, pair_tester, screening, tested_network
from graftwork.selection.choice import FURTHEST, RATIO
from graftwork.selection.criteria import CRITERIA, has_risen, held_out, minimum
from graftwork.selection.criteria.information import ebic
from graftwork.selection.criteria.stars import instability
from graftwork.selection.folds import count_observations, deal, draw
from graftwork.selection.levels import find_levels, largest_score, noise_level
from graftwork.selection.pair_tester import PairTester
from graftwork.selection.path import (
    PATH_ACCURACY,
    PATH_RECIPE,
    STEPS,
    Basis,
    EdgeSelection,
    LambdaPath,
    PathSearch,
)
from graftwork.selection.refit import bent, refit, unshrunk
from graftwork.selection.tested_refit import Refits
