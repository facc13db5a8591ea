"""Data sets that come with the package, by name."""

from collections.abc import Callable

from graftwork.data import Table
from graftwork.datasets.mushroom import MUSHROOM_MEANINGS, load_mushroom

EMBEDDED: dict[str, Callable[[], Table]] = {"mushroom": load_mushroom}

__all__ = ["EMBEDDED", "MUSHROOM_MEANINGS", "load_mushroom"]
