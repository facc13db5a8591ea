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

# How often edges are learned before the final network, and how often cells are drawn with each
# set of edges.
STAGES = 2
DRAWS = 3
# Accuracy of the weights that cells are drawn with: the noise of drawing is far larger.
ACCURACY = 1e-3


def draw_missing(
    net: Any, table: Table, rng: np.random.Generator
) -> tuple[Table, tuple[Floats, ...]]:
    """Return the rows with missing cells drawn, and the states' frequencies among observed ones.

    The first edges are learned from available cells: those of the network, and weak ones between
    variables whose common neighbours are missing. Their weights are fitted to rows with drawn
    cells, where nothing is missing, in turns with the drawing (a stochastic EM algorithm), and the
    weak ones fade. Edges learned anew from such rows have few of them. Rows without any observed
    cell are left out.

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
    frequencies = learner.missing_.frequencies
    if not gone.any():
        return table, frequencies
    drawn = table
    for stage in range(STAGES):
        if stage:
            learner = _twin(net, missing="error").fit(drawn)
        model = learner.model_ if learner.refitted_ else _refitted(learner, drawn)
        for draw in range(DRAWS):
            if draw:
                model = _refitted(learner, drawn, model)
            codes = impute(model.potentials, table.codes, rng)
            drawn = Table(table.names, tuple(model.states.values()), codes, table.weights)
    return drawn, frequencies


def _refitted(learner: Any, table: Table, model: PairwiseMRF | None = None) -> PairwiseMRF:
    """Return a network with the learned edges and weights that fit the table, not shrunken.

    Cells drawn with shrunken weights would depend too little on their neighbours, and leave others
    to stand in for them.
    """
    sample = prepare(table, missing=True, n_jobs=learner.n_jobs)
    problem = Problem(pseudo_likelihood(sample, learner.n_jobs), GroupL1(0.0))
    fitted = refit(problem, carry_over(model or learner.model_, table, sample), ACCURACY)
    return to_model(table, sample, fitted.point.potentials)


def _twin(net: Any, **changes: Any) -> Any:
    """Return an unfitted estimator with other parameters; weights are not tied on the way."""
    return type(net)(**{**net.get_params(deep=False), "states": None, "tie": None, **changes})
