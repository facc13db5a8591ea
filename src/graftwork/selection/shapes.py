"""Pairs of ordered variables whose tables have more than their linear part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graftwork.grafting import Problem
from graftwork.inference.layout import Ints
from graftwork.selection.pair_tester import FINAL_ROWS, PairTester
from graftwork.selection.refit import Curved, bent
from graftwork.selection.tested_network import TestedNetwork
from graftwork.testing.edge_tests import Findings
from graftwork.testing.evidence import log_q_values
from graftwork.testing.pair_tests import examine_pairs
from graftwork.testing.rests import rests_of_edges
from graftwork.testing.rows import FittedRows

# Pairs looked at together.
BATCH = 2**14


def examine_rests(network: TestedNetwork) -> Findings:
    """Return a test of what each pair of ordered variables has beside its linear part.

    Edges are fitted with whole tables for that: a pair may look bent only because an edge near it
    is bent and its table is linear.
    """
    tester, fitted = network.tester, network.fitted
    layout, scores = network.layout, tester.problem.objective.sample.scores
    ordered, found = scores.split(layout.edges), [Findings.none(0)]
    if ordered.any():
        refits = replace(network.refits, problem=bent(network.refits.problem, None))
        fitted = refits.finish(refits.fit(fitted.point.potentials, fitted))
        bending = tester.contrasts.bending(None)
        edges = rests_of_edges(FittedRows.of(fitted.point, bending))
        found.append(edges.findings(FINAL_ROWS))
    rows = FittedRows.of(fitted.point, tester.contrasts.bending(frozenset()))
    for pairs in _absent(tester.problem, layout.edges[ordered]):
        found.append(examine_pairs(rows, fitted.point, pairs, rests=True))
    return tester.lost.read(Findings.joined(found))


def count_rests(problem: Problem) -> int:
    """Return how many pairs that may be edges have a linear part and a rest."""
    scores = problem.objective.sample.scores
    if scores is None or scores.straight:
        return 0
    return sum(map(len, _absent(problem, np.zeros((0, 2), dtype=np.int64))))


def curved_pairs(rests: Findings, tester: PairTester) -> Curved:
    """Return the pairs whose rest is there at the false discovery rate of all tests."""
    log_q = log_q_values(rests.log_p, tester.family)
    fdr = tester.fdr
    return frozenset((i, j) for i, j in rests.pairs[log_q <= np.log(fdr)].tolist())


def _absent(problem: Problem, edges: Ints) -> list[Ints]:
    """Return the pairs of ordered variables that may be edges and are none, in batches."""
    space, scores = problem.space, problem.objective.sample.scores
    taken, batches = np.sort(space.keys(edges)), []
    for start in range(0, space.size, BATCH):
        keys = np.setdiff1d(np.arange(start, min(start + BATCH, space.size)), taken)
        pairs = space.pairs(keys)
        batches.append(pairs[scores.split(pairs)])
    return [pairs for pairs in batches if len(pairs)]
