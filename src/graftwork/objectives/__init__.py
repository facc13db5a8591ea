"""Smooth losses of a network, as means over the rows, in nats."""

from graftwork.objectives.likelihood import Likelihood
from graftwork.objectives.protocol import Objective, Point
from graftwork.objectives.pseudo import PseudoLikelihood

__all__ = [
    "Likelihood",
    "Objective",
    "Point",
    "PseudoLikelihood",
]
