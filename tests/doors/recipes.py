"""What tests know of the files of recipes."""

from graftwork.recipes.best_choice import best_choice
from graftwork.recipes.chow_liu import chow_liu
from graftwork.recipes.edge_grafting import edge_grafting
from graftwork.recipes.forced_pruning import forced_pruning
from graftwork.recipes.full import full
from graftwork.recipes.gain import gain
from graftwork.recipes.gauss_seidel import gauss_seidel
from graftwork.recipes.grafting import grafting
from graftwork.recipes.grafting_light import grafting_light
from graftwork.recipes.priority import priority
