"""Data sets that come with the package, by name, and generators of artificial ones."""

from collections.abc import Callable

from graftwork.data import Table
from graftwork.datasets.mushroom import MUSHROOM_MEANINGS, load_mushroom
from graftwork.datasets.scale_free import scale_free_network

EMBEDDED: dict[str, Callable[[], Table]] = {"mushroom": load_mushroom}

__all__ = ["EMBEDDED", "MUSHROOM_MEANINGS", "load_mushroom", "scale_free_network"]
