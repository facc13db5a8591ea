"""Networks and chains as values: ask, sample, score, save, load."""

from __future__ import annotations

from graftwork.models.chain import ChainModel
from graftwork.models.engines import engine_for
from graftwork.models.files import load, load_chain, load_network, read_info
from graftwork.models.pairwise import PairwiseMRF

__all__ = [
    "ChainModel",
    "PairwiseMRF",
    "engine_for",
    "load",
    "load_chain",
    "load_network",
    "read_info",
]
