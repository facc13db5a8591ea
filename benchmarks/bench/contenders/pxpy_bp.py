"""pxpy's loopy belief propagation on given weights: so many iterations, several times over.

pxpy has weights of edges only: a variable's own potential goes into its first edge's table. An
iteration updates every message once, as a sweep of ours does.
"""

from __future__ import annotations

import numpy as np
import pxpy


def prepare(data, options):
    """Return the model."""
    cards, edges = data["cards"].astype(np.int64), data["edges"].astype(np.int64)
    unary = np.split(data["weights"][: cards.sum()], np.cumsum(cards)[:-1])
    sizes = cards[edges[:, 0]] * cards[edges[:, 1]]
    tables = np.split(data["weights"][cards.sum() :].copy(), np.cumsum(sizes)[:-1])
    seen: set[int] = set()
    for (i, j), flat in zip(edges.tolist(), tables, strict=True):
        table = flat.reshape(cards[i], cards[j])
        if i not in seen:
            table += unary[i][:, None]
        if j not in seen:
            table += unary[j][None, :]
        seen |= {i, j}
    ends = np.ascontiguousarray(edges.astype(np.uint64))
    graph = pxpy.create_graph(ends)
    weights = np.concatenate(tables)
    states = np.ascontiguousarray(cards.astype(np.uint64))
    model = pxpy.create_model(weights, graph, int(cards[0]) if len(set(cards)) == 1 else states)
    # Kept beside the model: the library goes on reading from their memory.
    return model, options, int(cards.sum()), (ends, graph, weights, states)


def solve(problem):
    """Infer from uniform messages each time."""
    model, options = problem[:2]
    for _ in range(options["repeats"]):
        marginals, log_partition = model.infer(iterations=options["sweeps"], epsilon=0.0)
    return marginals, log_partition


def answer(problem, solution):
    """Marginals, and sweeps in all."""
    _, options, n_unary, _ = problem
    marginals = solution[0][:n_unary].tolist()
    return {"marginals": marginals, "sweeps": options["sweeps"] * options["repeats"]}
