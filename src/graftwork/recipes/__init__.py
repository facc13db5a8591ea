"""One small file for each published algorithm: only a choice of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graftwork.registry import Registry

if TYPE_CHECKING:
    from graftwork.grafting import Recipe

#: The methods, by name. Those that learn the features of chains, too, have the trait "chains".
RECIPES: Registry[Recipe] = Registry(__name__)
