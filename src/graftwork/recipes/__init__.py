"""One small file for each published algorithm: only a choice of parts."""

from collections.abc import Callable

from graftwork.grafting import Recipe
from graftwork.recipes.best_choice import best_choice
from graftwork.recipes.edge_grafting import edge_grafting
from graftwork.recipes.first_hit import first_hit

RECIPES: dict[str, Callable[..., Recipe]] = {
    "best-choice": best_choice,
    "edge-grafting": edge_grafting,
    "first-hit": first_hit,
}

__all__ = ["RECIPES", "best_choice", "edge_grafting", "first_hit"]
