"""From what was learned about the states that occur to a model of all declared states."""

from __future__ import annotations

import numpy as np

from graftwork.data import Table
from graftwork.data.compact import Sample
from graftwork.inference.layout import Layout, Potentials
from graftwork.models import PairwiseMRF
from graftwork.objectives import PseudoLikelihood


def to_model(table: Table, sample: Sample, potentials: Potentials) -> PairwiseMRF:
    """Return the learned network over the table's names and all its declared states.

    A declared state that never occurs gets the weight of half an observation and no dependence on
    anything, so that new data containing it are unlikely, not impossible. Edges are in the order of
    the variables.
    """
    small = potentials.layout
    order = np.lexsort(small.edges.T[::-1])
    large = Layout.of(sample.declared, small.edges[order])
    weights = large.zeros()
    if (sample.cards < sample.declared).any():
        normalisers = PseudoLikelihood(sample).at(potentials).mean_log_normalisers
        rare = normalisers + np.log(0.5 / sample.total_weight)
        weights[: large.n_unary] = np.repeat(rare, large.cards)
    for i, kept in enumerate(sample.kept):
        large.unary(weights, i)[kept] = small.unary(potentials.weights, i)
    for place, e in enumerate(order.tolist()):
        i, j = small.edges[e]
        cells = np.ix_(sample.kept[i], sample.kept[j])
        large.table(weights, place)[cells] = small.table(potentials.weights, e)
    return PairwiseMRF.from_flat(table.names, table.states, Potentials(large, weights))
