"""Edges of planted networks without tuning: F1, false discoveries, missing cells."""

import numpy as np
import pytest

import graftwork as gw

from doors.inference import gibbs_sample

pytestmark = pytest.mark.slow

SEEDS = range(401, 406)


def planted(n, states, rows, seed, edge_sd=1.0):
    """A scale-free network whose tables connect without freezing hubs, and rows from it."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 7, n).tolist() if states is None else states
    model = gw.datasets.scale_free_network(
        n, cards, edge_sd=edge_sd, centred=True, random_state=seed
    )
    codes = gibbs_sample(model.potentials, rows, rng, burn_in=500, n_chains=256, n_jobs=2)
    return {frozenset(edge) for edge in model.edges}, codes.T


def edges_of(net):
    return {frozenset(edge) for edge in net.model_.edges}


@pytest.mark.parametrize(
    ("n", "states", "rows", "networks", "least"),
    [
        # One of ten networks (402) has a variable that is in one state in 99 % of the rows, and
        # even its true edges, tested, reach .97 and .85 only: five would be a matter of luck.
        (50, 5, 5000, 10, 0.99),
        (50, 5, 1000, 10, 0.97),
        (200, 5, 19_000, 5, 0.98),
        # The share of false edges varies by .01 between networks: ten would be luck, too.
        (100, 2, 10_000, 20, 0.91),
        (30, None, 2000, 10, 0.97),
    ],
)
def test_edges_are_found_and_false_ones_are_few(n, states, rows, networks, least):
    f1, false = [], []
    for seed in range(401, 401 + networks):
        truth, data = planted(n, states, rows, seed)
        found = edges_of(gw.MarkovNetwork(random_state=0).fit(data))
        f1.append(2 * len(truth & found) / (len(truth) + len(found)))
        false.append(len(found - truth) / max(1, len(found)))
    assert np.mean(f1) >= least
    assert np.mean(false) <= 0.02


@pytest.mark.parametrize(("n", "states", "rows"), [(50, 5, 1000), (100, 2, 2000), (30, None, 500)])
def test_an_empty_network_has_no_edge(n, states, rows):
    _, data = planted(n, states, rows, 407, edge_sd=0.0)
    assert not edges_of(gw.MarkovNetwork(random_state=0).fit(data))


def test_the_false_discovery_rate_holds_at_five_percent():
    false = []
    for seed in SEEDS:
        truth, data = planted(50, 5, 1000, seed)
        found = edges_of(gw.MarkovNetwork(random_state=0, fdr=0.05).fit(data))
        false.append(len(found - truth) / len(found))
    assert np.mean(false) <= 0.1


@pytest.mark.parametrize("seed", [411, 412, 413])
def test_edges_are_found_with_a_tenth_of_the_cells_missing(seed):
    truth, data = planted(50, 5, 5000, seed)
    holes = data.astype(float)
    holes[np.random.default_rng(seed).random(data.shape) < 0.1] = np.nan
    net = gw.MarkovNetwork(missing="available-case", random_state=0).fit(holes)
    found = edges_of(net)
    assert 2 * len(truth & found) / (len(truth) + len(found)) >= 0.95
