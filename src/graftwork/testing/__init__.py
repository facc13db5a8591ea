"""Tests of edges and of absent pairs: statistics, p-values, false discovery rates."""

from graftwork.testing.evidence import Evidence
from graftwork.testing.resampled import DrawnFrom

__all__ = ["DrawnFrom", "Evidence"]
