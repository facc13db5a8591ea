"""What standard errors say where cells are missing, in simulations."""

import numpy as np
import pytest

import graftwork as gw

from support.problems import gappy_chain

pytestmark = pytest.mark.slow

THETA, N = 1.0, 8


@pytest.mark.parametrize("policy", ["available-case", "impute"])
def test_estimates_vary_as_their_standard_errors_say(policy):
    """Of single draws taken for observed, by 1.24 ("available-case") and 1.46 times as much."""
    chain = gw.PriorKnowledge(required=[(f"x{i}", f"x{i + 1}") for i in range(N - 1)])
    off = []
    for seed in range(80):
        net = gw.MarkovNetwork(missing=policy, random_state=0, n_jobs=1, knowledge=chain)
        potentials = net.fit(gappy_chain(seed, 400, 0.3, THETA, N)).model_.potentials
        places = {tuple(pair): e for e, pair in enumerate(potentials.layout.edges.tolist())}
        found = net.evidence_
        for (i, j), error in zip(found.edges.pairs.tolist(), found.errors, strict=True):
            if j == i + 1:
                table = potentials.layout.table(potentials.weights, places[i, j])
                linear = (table[0, 0] - table[0, 1] - table[1, 0] + table[1, 1]) / 2
                off.append((linear - 2 * THETA) / error)
    assert len(off) == 80 * (N - 1)
    assert 0.9 < np.std(off) < 1.15
