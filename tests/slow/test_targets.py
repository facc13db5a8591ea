"""Statistical and long checks: standard data sets, planted networks. Run by make test-slow."""

import numpy as np
import pytest

import graftwork as gw

from doors.inference import gibbs_sample
from support.problems import standard_split

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "lam", "nlpl", "edges"),
    [
        ("nltcs", 1e-5, 4.9506, None),
        ("msnbc", 1e-5, 6.0594, None),
        ("plants", 10**-2.5, 9.4960, 628),
        ("plants", 1e-3, 9.3571, 1138),
    ],
)
def test_standard_splits(name, lam, nlpl, edges):
    """Test NLPL of the fully converged group-l1 pseudo-likelihood, against reference figures."""
    net = gw.MarkovNetwork(lam=lam, random_state=0).fit(standard_split(name, "ts"))
    assert net.certificate_.converged
    assert abs(-net.score(standard_split(name, "test")) - nlpl) < 0.005
    if edges is not None:
        assert abs(net.model_.n_edges / edges - 1) < 0.02


def planted(seed, n=200, rows=19_000):
    """A scale-free network of five-state variables, and well-mixed rows from it."""
    model = gw.datasets.scale_free_network(n, 5, random_state=seed)
    rng = np.random.default_rng(seed)
    codes = gibbs_sample(model.potentials, rows, rng, burn_in=500, n_chains=256, n_jobs=2)
    return model, codes.T


@pytest.mark.parametrize("method", ["best-choice", "edge-grafting"])
def test_pairs_looked_at_on_the_way_to_2n_edges(method):
    """Best-choice counts what it draws; the exhaustive search looks at all pairs every round."""
    _, rows = planted(104, n=100, rows=5_000)
    net = gw.MarkovNetwork(method, lam=0.002, max_edges=200, random_state=0).fit(rows)
    pairs, last = 100 * 99 / 2, net.trace_[-1]
    assert net.model_.n_edges == 200
    if method == "best-choice":
        assert last.tables_counted <= 0.4 * pairs
    else:
        assert last.blocks_scored >= pairs * (len(net.trace_) - 1) / 2
