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
    anything, so that new data containing it are unlikely, not impossible.
    """
    small = potentials.layout
    if (sample.cards == sample.declared).all():
        return PairwiseMRF.from_flat(table.names, table.states, potentials)
    large = Layout.of(sample.declared, small.edges)
    weights = large.zeros()
    normalisers = PseudoLikelihood(sample).at(potentials).mean_log_normalisers
    for i, kept in enumerate(sample.kept):
        unary = large.unary(weights, i)
        unary[:] = normalisers[i] + np.log(0.5 / sample.total_weight)
        unary[kept] = small.unary(potentials.weights, i)
    for e, (i, j) in enumerate(small.edges):
        table_of_edge = large.table(weights, e)
        table_of_edge[np.ix_(sample.kept[i], sample.kept[j])] = small.table(potentials.weights, e)
    return PairwiseMRF.from_flat(table.names, table.states, Potentials(large, weights))
