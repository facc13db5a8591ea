"""Counts of all pairs of states as values: they add up, are saved, and are learned from."""

from __future__ import annotations

from graftwork.contingency.counting import count_pairs
from graftwork.contingency.pair_tables import PairTables

__all__ = ["PairTables", "count_pairs"]
