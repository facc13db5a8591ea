"""By how much the objective of chains would fall if a feature alone were optimised."""

from __future__ import annotations

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.chains.gains import move_gains, vote_gains
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.chains.data import Occurrences
from graftwork.objectives.chains.likelihood import ChainPoint


def feature_gains(point: ChainPoint, lam: float, l2: float, chosen: Ints) -> Floats:
    """Return the gain of each of these inactive features, about.

    Labels of different positions are taken as independent, with the probabilities they have now;
    moves from label to label as equally probable everywhere. Only the order in which features are
    activated depends on it.

    Shapes: chosen (k,) int64.
    """
    objective, data = point.objective, point.objective.data
    features, total = objective.features, objective.total
    gains = np.empty(len(chosen))
    seen = objective.seen.sums[chosen]
    voting = chosen < features.n_votes
    own = chosen[voting]
    attributes, columns = features.attributes[own], features.columns[own]
    marginals, places = objective.marginals(point.potentials), Occurrences.of(data.sequences)
    found = np.empty(len(own))
    wanted = seen[voting]

    def run(part: slice) -> None:
        vote_gains(
            part.start, part.stop, attributes, columns, wanted, places.starts, places.positions,
            places.values, marginals, data.position_weights, lam * total, l2 * total, found,
        )  # fmt: skip

    costs = np.diff(places.starts)[attributes] + 1.0
    run_chunks(run, cut_evenly(costs, objective.n_threads), objective.n_threads)
    gains[voting] = found
    moving = chosen[~voting]
    rest = np.empty(len(moving))
    expected = point.gradients[moving] * total + seen[~voting]
    pair = moving < features.n_votes + len(features.pairs)
    totals = np.where(pair, *_moves(point))
    move_gains(expected, seen[~voting], totals, lam * total, l2 * total, rest)
    gains[~voting] = rest
    return gains / total


def row_gains(
    point: ChainPoint, lam: float, l2: float, chosen: Ints, offsets: Ints, scales: Floats
) -> Floats:
    """Return the gain of each of some rows of features, by a quadratic model of the loss."""
    if not len(scales):
        return np.zeros(0)
    objective = point.objective
    slopes = np.sqrt(np.add.reduceat(point.gradients[chosen] ** 2, offsets[:-1]))
    curvatures = np.maximum.reduceat(objective.seen.spread[chosen], offsets[:-1]) / objective.total
    gains: Floats = np.maximum(0.0, slopes - lam * scales) ** 2 / (2.0 * (curvatures + 2.0 * l2))
    return gains


def _moves(point: ChainPoint) -> tuple[float, float]:
    """Return the weighted number of moves with a pair, and with a triple of labels."""
    data = point.objective.data
    weights = data.position_weights
    pairs, triples = data.pairs >= 0, data.triples >= 0
    if len(weights):
        return float(weights[pairs].sum()), float(weights[triples].sum())
    return float(pairs.sum()), float(triples.sum())
