"""pxpy's likelihood by belief propagation with a proximal l1 step, on all pairs.

It has no search for edges: the graph is the full one, and pairs whose tables end at zero are no
edges. ``lambda_proximal`` is lam: its loss is the mean over rows.
"""

from __future__ import annotations

import numpy as np
import pxpy


def prepare(data, options):
    """Return the rows as pxpy wants them."""
    return np.ascontiguousarray(data["codes"].astype(np.uint16)), data["cards"], options


def solve(problem):
    """Train with accelerated proximal gradient steps."""
    rows, _, options = problem
    return pxpy.train(
        data=rows,
        graph=pxpy.GraphType.full,
        iters=options["iterations"],
        proximal_operator=pxpy.prox_l1,
        lambda_proximal=options["lam"],
        zero_init=True,
    )


def answer(problem, model):
    """Edges with a weight that is not zero."""
    edges = model.graph.edgelist.astype(int)
    weights = np.array(model.weights)
    kept = [e for e in range(len(edges)) if np.abs(model.slice_edge(e, weights)).max() > 0]
    return {"edges": [sorted(edges[e].tolist()) for e in kept], "objective": float(model.obj)}
