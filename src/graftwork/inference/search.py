"""The most probable state by search, where the exact one is too large to find."""

from __future__ import annotations

import numpy as np

from graftwork.inference.layout import Ints, Potentials
from graftwork.inference.possible import possible_state
from graftwork.inference.sampling import gibbs_sample, log_weights

STARTS = 256
MOST_CLIMBS = 100


def search_mode(potentials: Potentials, rng: np.random.Generator) -> tuple[Ints, float]:
    """Return the best joint state found, and its log weight; -inf where none is possible.

    Gibbs draws are climbed, one variable at a time, to where no single change improves them; a
    local optimum of the best basin seen, not necessarily the mode. Where they are all impossible,
    a possible state is looked for and climbed.

    Raises
    ------
    TooLargeError
        If no possible state was found, though there may be one.

    Examples
    --------
    >>> from graftwork.inference.layout import Layout
    >>> layout = Layout.of([2, 2], [(0, 1)])
    >>> strong = Potentials(layout, np.array([0, 0, 0, 1.0, 9.0, 0, 0, 9.0]))
    >>> search_mode(strong, np.random.default_rng(0))
    (array([1, 1]), 10.0)
    """
    codes = gibbs_sample(potentials, STARTS, rng, burn_in=200, thin=5).astype(np.int64)
    best, weight = _climb(potentials, codes)
    if weight == -np.inf:
        possible = possible_state(potentials)
        if possible is not None:
            return _climb(potentials, possible[:, None])
    return best, weight


def _climb(potentials: Potentials, codes: Ints) -> tuple[Ints, float]:
    """Return the best of the columns of ``codes`` after each was improved, and its log weight."""
    layout, weights = potentials.layout, potentials.weights
    incident: list[list[int]] = [[] for _ in range(layout.n_variables)]
    for e, (i, j) in enumerate(layout.edges.tolist()):
        incident[i].append(e)
        incident[j].append(e)
    for _ in range(MOST_CLIMBS):
        before = codes.copy()
        for i in range(layout.n_variables):
            logits = np.repeat(layout.unary(weights, i)[:, None], codes.shape[1], axis=1)
            for e in incident[i]:
                first, second = layout.edges[e]
                table = layout.table(weights, e)
                logits += table[:, codes[second]] if first == i else table.T[:, codes[first]]
            codes[i] = logits.argmax(axis=0)
        if np.array_equal(before, codes):
            break
    totals = log_weights(potentials, codes.astype(np.uint16))
    best = int(np.argmax(totals))
    return codes[:, best], float(totals[best])
