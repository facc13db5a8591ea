"""From what was learned about the states that occur to a model of all declared states."""

from __future__ import annotations

import numpy as np

from graftwork.data import Table
from graftwork.data.encoded import EncodedRows
from graftwork.inference.layout import Layout, Potentials
from graftwork.models import PairwiseMRF
from graftwork.models.gaps import Gaps
from graftwork.objectives import PseudoLikelihood


def to_model(
    table: Table, sample: EncodedRows, potentials: Potentials, gaps: Gaps | None = None
) -> PairwiseMRF:
    """Return the learned network over the table's names and all its declared states.

    A declared state that never occurs gets the weight of half an observation and no dependence on
    anything, so that new data containing it are unlikely, not impossible. Missing is a state only
    if the sample took it as one; ``gaps`` says what else it was. Edges are in the order of the
    variables.
    """
    small = potentials.layout
    order = np.lexsort(small.edges.T[::-1])
    large = Layout.of(sample.declared, small.edges[order])
    weights = large.zeros()
    if (sample.cards < sample.declared).any():
        normalisers = PseudoLikelihood(sample).at(potentials).mean_log_normalisers
        rare = normalisers + np.log(0.5 / sample.observed_weight)
        weights[: large.n_unary] = np.repeat(rare, large.cards)
    for i, kept in enumerate(sample.kept):
        large.unary(weights, i)[kept] = small.unary(potentials.weights, i)
    for place, e in enumerate(order.tolist()):
        i, j = small.edges[e]
        cells = np.ix_(sample.kept[i], sample.kept[j])
        large.table(weights, place)[cells] = small.table(potentials.weights, e)
    # Where cells are missing, that is the table's last state, and none of the model's.
    states = [listed[:s] for listed, s in zip(table.states, sample.declared, strict=True)]
    return PairwiseMRF.from_flat(table.names, states, Potentials(large, weights), gaps)
