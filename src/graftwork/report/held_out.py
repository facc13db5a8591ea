"""How well a network predicts rows it has not seen, beside a model without any edge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.models import PairwiseMRF

#: Added to every count of the independent model, so that a state new in the test rows is possible.
_SMOOTHING = 0.5


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Mean negative log pseudo-likelihoods a row, in nats, on held-out rows.

    Attributes
    ----------
    nlpl, independent : float
        Of the network, and of the model that knows only how often each state occurs.
    n_rows, n_variables : int
        Shape of the held-out rows.
    """

    nlpl: float
    independent: float
    n_rows: int
    n_variables: int

    @property
    def factor(self) -> float:
        """How many times the independent model's probability a cell gets (geometric mean)."""
        return math.exp(min((self.independent - self.nlpl) / self.n_variables, 700.0))

    def words(self) -> str:
        """Return the comparison in plain sentences."""
        gain = self.independent - self.nlpl
        text = (
            f"On {self.n_rows:,} rows held out, the negative log pseudo-likelihood is "
            f"{self.nlpl:.4f} nats a row ({self.nlpl / self.n_variables:.4f} a variable); without "
            f"any edge it would be {self.independent:.4f}. "
        )
        if abs(gain) < 5e-5:
            return text + "The network predicts new rows no better than independent variables do."
        if gain < 0:
            return text + (
                f"The network is {-gain:.4f} nats WORSE on new rows than independent variables: "
                "it has learned noise; use a larger lambda or more rows."
            )
        return text + (
            f"Told the rest of a row, the network gives a cell's true state {self.factor:.2f} "
            "times the probability that counting that variable alone would give."
        )


def held_out(model: PairwiseMRF | Any, train: Table, test: Table) -> HeldOut:
    """Return how a network and the independent model do on held-out rows.

    The independent model gives each state its share of the training rows, with half a row added
    to each state.

    Parameters
    ----------
    model : PairwiseMRF or MarkovNetwork
        The network. Of an estimator that learned from available cells, missing ones do not count.
    train, test : Table
        The rows it was learned from, and others; both with the model's variables and states.

    Returns
    -------
    HeldOut
        Means over the test rows, by their weights if they have some.

    Examples
    --------
    >>> train = Table(("a",), ((0, 1),), [[0, 1]])
    >>> result = held_out(PairwiseMRF({"a": [0, 1]}), train, train)
    >>> round(result.nlpl, 4), round(result.independent, 4)
    (0.6931, 0.6931)
    """
    if isinstance(model, PairwiseMRF):
        network, values = model, model.log_pseudo_likelihood(test)
    else:
        network, values = model.model_, model.score_samples(test)
    rows = np.zeros(test.n_rows)
    cards = network.potentials.layout.cards.tolist()
    for codes, listed, counts, s in zip(
        test.codes, test.states, train.observed(), cards, strict=True
    ):
        smooth = counts[:s] + _SMOOTHING
        # one state more than the network has is that of missing cells, which say nothing
        logs = np.zeros(max(s, len(listed)))
        logs[:s] = np.log(smooth / smooth.sum())
        rows += logs[codes]
    mine = np.average(values, weights=test.weights)
    other = np.average(rows, weights=test.weights)
    return HeldOut(-float(mine), -float(other), test.n_rows, test.n_variables)
