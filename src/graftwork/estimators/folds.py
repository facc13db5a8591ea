"""Parts of a table's rows, to learn from and to judge by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graftwork.data import Table
from graftwork.data.encoded import EncodedRows
from graftwork.estimators.assemble import to_model
from graftwork.estimators.missing import frequencies_of
from graftwork.estimators.starts import carry_over
from graftwork.grafting import Problem
from graftwork.inference.layout import Floats, Potentials
from graftwork.models.gaps import log_conditionals_of
from graftwork.selection.folds import Fold


@dataclass(frozen=True, slots=True, eq=False)
class TableFolder:
    """Makes folds of a table.

    Attributes
    ----------
    table : Table
    sample : EncodedRows
        The whole table, prepared.
    prepared : function
        A table, prepared for learning.
    problem_of : function
        The problem of a sample, as a function of lambda.
    n_jobs : int, optional
        Threads that score rows.
    """

    table: Table
    sample: EncodedRows
    prepared: Callable[[Table], EncodedRows]
    problem_of: Callable[[EncodedRows], Callable[[float], Problem]]
    n_jobs: int | None = None

    @property
    def weights(self) -> Floats:
        """Weight of each row, shape (rows,)."""
        weights = self.table.weights
        return np.ones(self.table.n_rows) if weights is None else weights

    def fold(self, learned: Floats, judged: Floats | None = None) -> Fold:
        """Return the fold of rows with these weights; without rows to judge by, scores are NaN."""
        rows = np.flatnonzero(learned)
        part = self.table.with_weights(None).take_rows(rows).with_weights(learned[rows])
        sample = self.prepared(part)

        def lift(potentials: Potentials) -> Potentials:
            return carry_over(to_model(part, sample, potentials), self.table, self.sample)

        problem_at = self.problem_of(sample)
        if judged is None:
            return Fold(problem_at, lift, lambda _: float("nan"), 0.0)
        places = np.flatnonzero(judged)
        others = self.table.with_weights(None).take_rows(places)
        weights = judged[places]

        def score(potentials: Potentials) -> float:
            large = to_model(part, sample, potentials).potentials
            rows = log_conditionals_of(large, others.codes, frequencies_of(sample), self.n_jobs)
            return -float(np.average(rows, weights=weights))

        return Fold(problem_at, lift, score, float(weights.sum()))
