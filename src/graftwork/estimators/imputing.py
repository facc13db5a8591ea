"""Missing cells drawn from networks that were learned without them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.compact import prepare
from graftwork.data.missing import missing_cells
from graftwork.estimators.assemble import to_model
from graftwork.estimators.starts import carry_over
from graftwork.grafting import Problem
from graftwork.inference.impute import impute
from graftwork.inference.layout import Floats
from graftwork.models import PairwiseMRF
from graftwork.objectives import pseudo_likelihood
from graftwork.penalties import GroupL1
from graftwork.tuning import refit

# Cells are drawn so many times, each time from the network learned with the last ones.
ROUNDS = 2
# Accuracy of the weights that cells are drawn with: the noise of drawing is far larger.
ACCURACY = 1e-3


def draw_missing(
    net: Any, table: Table, rng: np.random.Generator
) -> tuple[Table, tuple[Floats, ...]]:
    """Return the rows with missing cells drawn, and the states' frequencies among observed ones.

    The first network is learned from available cells, and joins variables whose common neighbours
    are missing. In rows whose cells are drawn from it nothing is missing any more, so the network
    learned from these has fewer such edges, and the last cells are drawn from it. Rows without any
    observed cell are left out.

    Parameters
    ----------
    net : MarkovNetwork
        What to learn with.
    table : Table
        Rows whose missing cells are in the state "(missing)", the last of their columns.
    """
    gone = missing_cells(table)
    empty = gone.all(axis=0)
    if empty.any() and not empty.all():
        table = table.take_rows(~empty)
    learner = _twin(net, missing="available-case", loss="pseudolikelihood").fit(table)
    frequencies, drawn = learner.missing_.frequencies, table
    for step in range(ROUNDS if gone.any() else 0):
        if step:
            learner = _twin(net, missing="error").fit(drawn)
        model = _unshrunk(learner, drawn)
        codes = impute(model.potentials, table.codes, rng)
        drawn = Table(table.names, tuple(model.states.values()), codes, table.weights)
    return drawn, frequencies


def _unshrunk(learner: Any, table: Table) -> PairwiseMRF:
    """Return a learned network with weights that no penalty shrank.

    Cells drawn with shrunken weights would depend too little on their neighbours, and leave others
    to stand in for them.
    """
    model: PairwiseMRF = learner.model_
    if learner.refitted_:
        return model
    sample = prepare(table, missing=learner.missing == "available-case", n_jobs=learner.n_jobs)
    problem = Problem(pseudo_likelihood(sample, learner.n_jobs), GroupL1(0.0))
    fitted = refit(problem, carry_over(model, table, sample), ACCURACY)
    return to_model(table, sample, fitted.point.potentials)


def _twin(net: Any, **changes: Any) -> Any:
    """Return an unfitted estimator with other parameters; weights are not tied on the way."""
    return type(net)(**{**net.get_params(deep=False), "states": None, "tie": None, **changes})
