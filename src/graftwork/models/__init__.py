"""Networks as values: ask, sample, score, save, load."""

from __future__ import annotations

from graftwork.models.files import load, read_info
from graftwork.models.pairwise import PairwiseMRF
from graftwork.models.parts import engine_for

__all__ = ["PairwiseMRF", "engine_for", "load", "read_info"]
