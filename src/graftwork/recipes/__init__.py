"""One small file for each published algorithm: only a choice of parts."""

from graftwork.registry import RECIPES

__all__ = ["RECIPES"]
