"""Tests of edges and of absent pairs: statistics, p-values, false discovery rates."""

from graftwork.significance.evidence import Evidence
from graftwork.significance.resampled import DrawnFrom

__all__ = ["DrawnFrom", "Evidence"]
