"""The scikit-learn face of graftwork."""

from graftwork.estimators.markov_network import MarkovNetwork

__all__ = ["MarkovNetwork"]
