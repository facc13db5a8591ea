"""One small file for each published algorithm: only a choice of parts."""

from collections.abc import Callable

from graftwork.grafting import Recipe
from graftwork.recipes.best_choice import best_choice
from graftwork.recipes.chow_liu import chow_liu
from graftwork.recipes.edge_grafting import edge_grafting
from graftwork.recipes.first_hit import first_hit
from graftwork.recipes.forced_pruning import forced_pruning
from graftwork.recipes.full import full
from graftwork.recipes.gain import gain
from graftwork.recipes.gauss_seidel import gauss_seidel
from graftwork.recipes.grafting import grafting
from graftwork.recipes.grafting_light import grafting_light
from graftwork.recipes.mutual_information import mutual_information
from graftwork.recipes.priority import priority
from graftwork.recipes.working_set import working_set

RECIPES: dict[str, Callable[..., Recipe]] = {
    "best-choice": best_choice,
    "working-set": working_set,
    "edge-grafting": edge_grafting,
    "first-hit": first_hit,
    "grafting": grafting,
    "gain": gain,
    "mutual-information": mutual_information,
    "grafting-light": grafting_light,
    "gauss-seidel": gauss_seidel,
    "full": full,
    "priority": priority,
    "chow-liu": chow_liu,
    "forced-pruning": forced_pruning,
}

__all__ = [
    "RECIPES",
    "best_choice",
    "chow_liu",
    "edge_grafting",
    "first_hit",
    "forced_pruning",
    "full",
    "gain",
    "gauss_seidel",
    "grafting",
    "grafting_light",
    "mutual_information",
    "priority",
    "working_set",
]
