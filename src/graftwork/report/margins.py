"""Where a network, asked about a single variable, says something else than the rows do."""

from __future__ import annotations

import numpy as np

from graftwork.estimators.learned_from import LearnedFrom
from graftwork.inference.junction import JunctionTree
from graftwork.models import PairwiseMRF

# A difference up to this is not worth a sentence.
NOTABLE = 0.05
# Networks with more edges, or whose exact tables have more cells, are not looked at.
MOST_EDGES, MOST_CELLS = 2000, 2**18


def margins_text(model: PairwiseMRF, data: LearnedFrom) -> str:
    """Return the largest difference between a network's margins and the rows', in words.

    The pseudo-likelihood fits each variable given all others, not how often its states occur. An
    empty text where all are close, or where exact answers take long.

    Examples
    --------
    >>> rows = LearnedFrom(("a",), ((0, 1),), (np.array([6.0, 4.0]),), 10, False, 10.0)
    >>> print(margins_text(PairwiseMRF({"a": [0, 1]}, {"a": [0.0, 0.0]}), rows))
    a = 0: .50 in the network, .60 in the rows.
    """
    potentials = model.potentials
    engine = JunctionTree(MOST_CELLS)
    if model.n_edges > MOST_EDGES or not engine.fits(potentials.layout):
        return ""
    values, worst, text = engine.infer(potentials).values, NOTABLE, ""
    for name, states, counts in zip(data.names, data.states, data.counts, strict=True):
        listed = list(model.states.get(name, ()))
        if listed != list(states) or not counts.sum() > 0.0:
            continue
        own = potentials.layout.unary(values, model.names.index(name))
        seen = counts / counts.sum()
        place = int(np.argmax(np.abs(own - seen)))
        if abs(own[place] - seen[place]) > worst:
            worst = float(abs(own[place] - seen[place]))
            there, here = (f"{p:.2f}".removeprefix("0") for p in (own[place], seen[place]))
            text = f"{name} = {states[place]}: {there} in the network, {here} in the rows."
    return text
