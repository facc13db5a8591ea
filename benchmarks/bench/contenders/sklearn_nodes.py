"""scikit-learn's l1 multinomial logistic regression at each node (solver saga).

C is 1 / (rows * alpha): the mean loss with alpha times the l1 norm of one-hot coefficients. alpha
is half of lam, the node's share of an edge; entries are penalised one by one, so the penalty is
like graftwork's in strength only. A binary node has liblinear, which is faster.
"""

from __future__ import annotations

import warnings

import numpy as np
from coding import directed, one_hot, scale_of
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression


def prepare(data, options):
    """Return columns of each node of the sample, and options."""
    encoded = [one_hot(data["codes"], data["cards"], node) for node in data["nodes"]]
    return data, encoded, options


def solve(problem):
    """Return directed edges and the number of nodes that were not solved to the tolerance."""
    data, encoded, options = problem
    strength = 1.0 / (len(data["codes"]) * options["lam"] / 2)
    edges, unsolved = [], 0
    for node, (columns, starts) in zip(data["nodes"], encoded, strict=True):
        y = data["codes"][:, node]
        solver = "liblinear" if data["cards"][node] == 2 else "saga"
        model = LogisticRegression(
            l1_ratio=1.0,
            C=strength,
            solver=solver,
            tol=options["tol"],
            max_iter=options["max_iter"],
            random_state=0,
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(np.ascontiguousarray(columns) if solver == "saga" else columns, y)
        unsolved += any(issubclass(w.category, ConvergenceWarning) for w in caught)
        sizes = np.add.reduceat(np.abs(model.coef_).sum(axis=0), starts[:-1])
        edges += directed(node, sizes)
    return edges, unsolved


def answer(problem, solution):
    """Directed edges of the sampled nodes."""
    edges, unsolved = solution
    return {"directed": edges, "unsolved": unsolved, "scale": scale_of(problem[0])}
