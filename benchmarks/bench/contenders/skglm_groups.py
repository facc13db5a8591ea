"""skglm's group lasso, node by node: which other variables tell this one's state.

skglm has no multinomial loss. Nearest to it is its logistic loss with groups, one state of the node
against the others: a group is the one-hot columns of another variable, and an edge is there where
any of the node's states keeps the group. GroupProxNewton is its only solver for this pair (the
block descent solver takes step sizes from the wrong shape for ``LogisticGroup``).

The penalty: graftwork has lam sqrt(s_i s_j) ||W|| once for both nodes of an edge, so a node's
share is half, and one of s_i rows of the table has 1/sqrt(s_i) of its norm: lam/2 sqrt(s_j) for
each group. Columns are centred, which is a little faster than 0/1. Encoding is outside the clock.
"""

from __future__ import annotations

import numpy as np
from coding import directed, one_hot, scale_of
from skglm.datafits import LogisticGroup
from skglm.penalties import WeightedGroupL2
from skglm.solvers import GroupProxNewton


def prepare(data, options):
    """Return codes, columns of each node of the sample, and options."""
    encoded = [one_hot(data["codes"], data["cards"], node) for node in data["nodes"]]
    for columns, _ in encoded:
        columns -= columns.mean(axis=0)
    return data, encoded, options


def solve(problem):
    """Return directed edges, and the largest residual."""
    data, encoded, options = problem
    edges, worst = [], 0.0
    for node, (columns, starts) in zip(data["nodes"], encoded, strict=True):
        groups = starts.astype(np.int32), np.arange(starts[-1], dtype=np.int32)
        weights = np.sqrt(np.diff(starts).astype(float))
        penalty = WeightedGroupL2(options["lam"] / 2, weights, *groups)
        sizes = np.zeros(len(weights))
        for state in range(data["cards"][node]):
            y = np.where(data["codes"][:, node] == state, 1.0, -1.0)
            solver = GroupProxNewton(fit_intercept=True, tol=options["tol"])
            w, _, residual = solver.solve(columns, y, LogisticGroup(*groups), penalty)
            sizes += np.add.reduceat(np.abs(w[:-1]), starts[:-1])
            worst = max(worst, float(residual))
        edges += directed(node, sizes)
    return edges, worst


def answer(problem, solution):
    """Directed edges of the sampled nodes."""
    data, _, _ = problem
    edges, worst = solution
    return {"directed": edges, "residual": worst, "scale": scale_of(data)}
