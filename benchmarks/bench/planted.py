"""Rows of planted scale-free networks, and how well edges found agree with the true ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import graftwork as gw
from bench.runs import Arrays

Pairs = set[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Planted:
    """A scale-free network (two edges a variable, centred tables) and rows from it.

    ``nodes`` are solved by node-wise contenders; times are scaled to all variables. Couplings
    (``edge_sd``) of 1, as in the papers, freeze the hubs of large networks: chains never mix.
    """

    variables: int
    states: int
    rows: int
    test: int = 1000
    nodes: int = 10
    seed: int = 301
    edge_sd: float = 1.0

    def model(self) -> gw.PairwiseMRF:
        """Return the network."""
        return gw.datasets.scale_free_network(
            self.variables,
            self.states,
            centred=True,
            edge_sd=self.edge_sd,
            random_state=self.seed,
        )

    def make(self) -> Arrays:
        """Return rows, checked for mixing, with the true network."""
        model = self.model()
        drawn = gw.datasets.draw(
            model, self.rows, n_test=self.test, method="gibbs", random_state=self.seed, n_jobs=2
        )
        return {
            "codes": narrow(drawn.data.codes),
            "test": narrow(drawn.test.codes),
            **network(model),
            "nodes": spread(model.potentials.layout.edges, self.variables, self.nodes),
        }


def narrow(codes: np.ndarray) -> np.ndarray:
    """Return codes as (rows, variables) bytes."""
    return np.ascontiguousarray(codes.T, dtype=np.uint8)


def network(model: gw.PairwiseMRF) -> Arrays:
    """Return a network as arrays: state counts, edges, weights (unaries, then tables)."""
    layout = model.potentials.layout
    weights = np.array(model.potentials.weights)
    return {"cards": np.array(layout.cards), "edges": np.array(layout.edges), "weights": weights}


def spread(edges: np.ndarray, variables: int, count: int) -> np.ndarray:
    """Return so many variables, evenly spread from few neighbours to many."""
    order = np.argsort(np.bincount(np.ravel(edges), minlength=variables), kind="stable")
    count = min(count, variables)
    return np.sort(order[((np.arange(count) + 0.5) * variables / count).astype(int)])


def f1(truth: set, found: set) -> float:
    """Return the harmonic mean of precision and recall.

    >>> f1({1, 2}, {2, 3})
    0.5
    """
    both = len(truth) + len(found)
    return 2 * len(truth & found) / both if both else 1.0


def score_edges(arrays: Arrays, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer's figures with F1 in place of its edges.

    ``f1_nodes`` looks at the neighbours of the sampled nodes only, so that it is the same question
    for those who solved no others. Node by node, an edge is what both ends (or either, whichever
    is better) want.
    """
    figures = dict(answer)
    truth = {tuple(sorted(edge)) for edge in arrays["edges"].tolist()}
    nodes = set(arrays["nodes"].tolist())
    if "directed" in figures:
        arrows = {tuple(pair) for pair in figures.pop("directed")}
        either = {tuple(sorted(pair)) for pair in arrows}
        both = {(i, j) for i, j in either if (i, j) in arrows and (j, i) in arrows}
        found = max(either, both, key=lambda edges: f1(truth, edges))
        whole = len(nodes) == arrays["codes"].shape[1]
    else:
        found = {tuple(sorted(edge)) for edge in figures.pop("edges")}
        arrows = found | {(j, i) for i, j in found}
        whole = True
    wanted = truth | {(j, i) for i, j in truth}
    if whole:
        figures |= {"f1": f1(truth, found), "n_edges": len(found)}
        figures["false"] = len(found - truth)
    else:
        figures["nodes"] = len(nodes)
    at_nodes = [{(i, j) for i, j in pairs if i in nodes} for pairs in (wanted, arrows)]
    figures["f1_nodes"] = f1(*at_nodes)
    return figures
