"""What tests know of the files of selection."""

from graftwork.selection import absent, choice, levels, refits, structure
from graftwork.selection.absent import AbsentPairs, shifts
from graftwork.selection.choice import FURTHEST, RATIO
from graftwork.selection.criteria import CRITERIA, best, ebic_value, instability, spoken
from graftwork.selection.folds import count_observations, deal, draw
from graftwork.selection.levels import find_levels, largest_score, noise_level
from graftwork.selection.path import (
    PATH_ACCURACY,
    PATH_RECIPE,
    STEPS,
    Basis,
    EdgeSelection,
    LambdaPath,
    PathSearch,
)
from graftwork.selection.refits import Refits, bent, refit, unshrunk
from graftwork.selection.structure import StructureSearch
