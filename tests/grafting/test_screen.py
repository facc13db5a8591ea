"""Pairs that are not scored again cannot violate: with and without a screen nothing changes."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.grafting import NetworkFamily
from graftwork.inference.sampling import gibbs_sample


@pytest.fixture(scope="module")
def rows():
    model = gw.datasets.scale_free_network(45, 3, centred=True, random_state=1)
    return gibbs_sample(model.potentials, 1500, np.random.default_rng(2), n_chains=64).T


@pytest.mark.some(3)
@pytest.mark.parametrize("method", ["working-set", "edge-grafting"])
@pytest.mark.parametrize("lam", [0.03, 0.012])
def test_the_network_is_that_of_scoring_everything(rows, method, lam, monkeypatch):
    screened = gw.MarkovNetwork(method, lam=lam, random_state=0).fit(rows)
    monkeypatch.setattr(NetworkFamily, "screen", lambda *given: None)
    plain = gw.MarkovNetwork(method, lam=lam, random_state=0).fit(rows)
    assert set(screened.graph_.edges) == set(plain.graph_.edges)
    assert screened.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    for net in (screened, plain):
        assert net.certificate_.converged
        assert net.certificate_.n_tested == net.certificate_.n_inactive
    assert screened.trace_[-1].blocks_scored < 0.8 * plain.trace_[-1].blocks_scored


def test_a_screen_made_before_serves_other_methods(rows):
    net = gw.MarkovNetwork(lam="auto", random_state=0).fit(rows)  # walks a path, then certifies
    assert net.certificate_.converged
    again = gw.MarkovNetwork("best-choice", lam=net.lam_, random_state=0).fit(rows)
    assert again.certificate_.objective == pytest.approx(net.certificate_.objective, rel=1e-7)
