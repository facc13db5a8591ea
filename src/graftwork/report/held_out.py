"""How well a network predicts rows it has not seen, beside a model without any edge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.inference.layout import Floats
from graftwork.report.found_edges import the_model
from graftwork.tuning.folds import count_observations

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
        Shape of the held-out rows; those with whole weights count as repeated.
    n_learned : int or None
        How many other rows the network was learned from, where that is to be told.
    cells : float or None
        How many cells of a held-out row are observed, on average; all of them if not given.
    """

    nlpl: float
    independent: float
    n_rows: int
    n_variables: int
    n_learned: int | None = None
    cells: float | None = None

    @property
    def _cells(self) -> float:
        return self.n_variables if self.cells is None else max(self.cells, 1e-300)

    @property
    def factor(self) -> float:
        """How many times the independent model's probability a cell gets (geometric mean)."""
        return math.exp(min((self.independent - self.nlpl) / self._cells, 700.0))

    def words(self) -> str:
        """Return the comparison in plain sentences."""
        gain = self.independent - self.nlpl
        each = "a variable" if self._cells == self.n_variables else "an observed cell"
        who, whole = "the network", ""
        if self.n_learned is not None:
            who = f"a network learned in the same way from the other {self.n_learned:,}"
            whole = " The network described here is learned from all rows."
        text = (
            f"On {self.n_rows:,} row{'s'[: self.n_rows != 1]} held out, {who} has a negative log "
            f"pseudo-likelihood of {self.nlpl:.4f} nats a row ({self.nlpl / self._cells:.4f} "
            f"{each}); without any edge it would be {self.independent:.4f}. "
        )
        if abs(gain) < 5e-5:
            text += "It predicts new rows no better than independent variables do."
        elif gain < 0:
            text += (
                f"That is {-gain:.4f} nats WORSE on new rows than independent variables: it has "
                "learned noise; use a larger lambda or more rows."
            )
        else:
            text += (
                f"Told the rest of a row, it gives a cell's true state {self.factor:.2f} times the "
                "probability that counting that variable alone would give."
            )
        return text + whole


def held_out(network: Any, train: Table, test: Table, *, apart: bool = False) -> HeldOut:
    """Return how a network and the independent model do on held-out rows.

    The independent model gives each state its share of the training rows, with half a row added
    to each state. What missing cells are is as the network was learned.

    Parameters
    ----------
    network : PairwiseMRF or MarkovNetwork
        The network.
    train, test : Table
        The rows it was learned from, and others; both with the model's variables and states.
    apart : bool
        Whether the network was learned for this comparison alone, another being learned from
        all rows; the words then say so.

    Returns
    -------
    HeldOut
        Means over the test rows, by their weights if they have some.

    Examples
    --------
    >>> from graftwork.models import PairwiseMRF
    >>> train = Table(("a",), ((0, 1),), [[0, 1]])
    >>> result = held_out(PairwiseMRF({"a": [0, 1]}), train, train)
    >>> round(result.nlpl, 4), round(result.independent, 4)
    (0.6931, 0.6931)
    """
    model = the_model(network)
    rows = model.rows_to_score(test)
    other = np.zeros(rows.codes.shape[1])
    cards = model.potentials.layout.cards.tolist()
    for codes, counts, s in zip(rows.codes, train.observed(), cards, strict=True):
        smooth = counts[:s] + _SMOOTHING
        # one state more than the network has is that of missing cells, which say nothing
        logs = np.append(np.log(smooth / smooth.sum()), 0.0)
        other += logs[codes]
    return HeldOut(
        -rows.mean(model.log_conditionals(rows)),
        -rows.mean(other),
        count_rows(rows.weights, len(other)),
        model.n_variables,
        count_rows(train.weights, train.n_rows) if apart else None,
        rows.cells,
    )


def count_rows(weights: Floats | None, n_rows: int) -> int:
    """Return how many rows there are, one of weight 3 being three.

    Examples
    --------
    >>> count_rows(np.array([3.0, 1.0]), 2), count_rows(np.array([0.3, 0.1]), 2)
    (4, 2)
    """
    return n_rows if weights is None else count_observations(weights)
