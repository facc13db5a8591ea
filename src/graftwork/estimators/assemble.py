"""From what was learned about the states that occur to a model of all declared states."""

from __future__ import annotations

import numpy as np

from graftwork.contingency.encoding import has_rows
from graftwork.data.encoded import EncodedRows
from graftwork.data.placed import AnyTable
from graftwork.grafting.chow_liu import pair_information
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.models import PairwiseMRF
from graftwork.models.gaps import Gaps
from graftwork.objectives import PseudoLikelihood


def in_order(layout: Layout) -> Ints:
    """Return the edges of a layout in the order of the variables, as models have them."""
    return np.lexsort(layout.edges.T[::-1])


def to_model(
    table: AnyTable, sample: EncodedRows, potentials: Potentials, gaps: Gaps | None = None
) -> PairwiseMRF:
    """Return the learned network over the table's names and all its declared states.

    A declared state that never occurs gets the weight of half an observation and no dependence on
    anything, so that new data containing it are unlikely, not impossible. Missing is a state only
    if the sample took it as one; ``gaps`` says what else it was. Edges are in the order of the
    variables.
    """
    small = potentials.layout
    order = in_order(small)
    large = Layout.of(sample.declared, small.edges[order])
    weights = large.zeros()
    if (sample.cards < sample.declared).any():
        rare = _mean_log_normalisers(sample, potentials) + np.log(0.5 / sample.observed_weight)
        weights[: large.n_unary] = np.repeat(rare, large.cards)
    for i, kept in enumerate(sample.kept):
        large.unary(weights, i)[kept] = small.unary(potentials.weights, i)
    for place, e in enumerate(order.tolist()):
        i, j = small.edges[e]
        cells = np.ix_(sample.kept[i], sample.kept[j])
        large.table(weights, place)[cells] = small.table(potentials.weights, e)
    # Where cells are missing, that is the table's last state, and none of the model's.
    states = [listed[:s] for listed, s in zip(table.states, sample.declared, strict=True)]
    scores = {}
    for name, listed, kept in zip(table.names, states, sample.kept, strict=True):
        used = [listed[k] for k in kept.tolist()]
        own = None if table.ordered is None else table.ordered.of(name, used)
        if own is not None:
            known = dict(zip(used, own, strict=True))
            scores[name] = [known.get(state, float("nan")) for state in listed]
    return PairwiseMRF.from_flat(table.names, states, Potentials(large, weights), gaps, scores)


def _mean_log_normalisers(sample: EncodedRows, potentials: Potentials) -> Floats:
    """Return the mean log normaliser of each variable's conditional, shape (n,).

    That is the mean of the weights that speak for the state of a row, plus the mean of -log
    p(x_i | rest). Counts without rows tell the first, and of the second about the entropy that the
    neighbours leave, each taken by itself.
    """
    if has_rows(sample):
        found: Floats = PseudoLikelihood(sample).at(potentials).mean_log_normalisers
        return found
    layout, f = potentials.layout, sample.frequencies
    tables, starts = sample.counts.tables(layout.edges)
    data = np.concatenate([f, tables / sample.total_weight])
    spoken = data * potentials.weights
    left = np.add.reduceat(-f * np.log(np.maximum(f, 1e-300)), layout.unary_offsets[:-1])
    mean: Floats = np.add.reduceat(spoken[: layout.n_unary], layout.unary_offsets[:-1])
    information = pair_information(sample, layout.edges)
    for e, pair in enumerate(layout.edges.tolist()):
        first, last = layout.n_unary + starts[e : e + 2]
        mean[pair] += spoken[first:last].sum()
        left[pair] -= information[e]
    return mean + np.maximum(left, 0.0)
