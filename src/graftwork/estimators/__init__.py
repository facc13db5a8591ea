"""The scikit-learn face of graftwork."""

from graftwork.estimators.chain_crf import ChainCRF
from graftwork.estimators.markov_network import MarkovNetwork

__all__ = ["ChainCRF", "MarkovNetwork"]
