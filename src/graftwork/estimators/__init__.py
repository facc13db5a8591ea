"""The scikit-learn face of graftwork."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graftwork.estimators.chain_crf import ChainCRF as ChainCRF
    from graftwork.estimators.markov_network import MarkovNetwork as MarkovNetwork

# Imported when first used: who learns networks does not wait for chains.
_HOMES = {
    "ChainCRF": "graftwork.estimators.chain_crf",
    "MarkovNetwork": "graftwork.estimators.markov_network",
}
__all__ = ["ChainCRF", "MarkovNetwork"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
