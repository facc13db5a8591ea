"""Groups of rows compared: a network of each, and tests of where the networks differ."""

from graftwork.groups.comparison import GroupComparison

__all__ = ["GroupComparison"]
