"""The Grafting-Light paper's synthetic comparison, at its size. Run by make test-slow."""

import pytest

from experiments.engine import Context
from experiments.grafting_light.learners import learn_chains
from graftwork.datasets import labelled_chains

pytestmark = pytest.mark.slow

LAM = 64 / 3000


@pytest.mark.parametrize(("seed", "units"), [(0, (1, 10)), (1, (10,))])
def test_the_papers_synthetic_chain(seed, units):
    """Everybody meets the batch optimum; Grafting-Light with far fewer gradients than grafting."""
    train, test = labelled_chains(5_000, random_state=seed).split(3_000)
    methods = {
        "full": {"method": "full"},
        "light": {"method": "grafting-light"},
        "gauss-seidel 100": {"method": "gauss-seidel", "select": 100},
    }
    for unit in units:
        methods[f"light {unit}"] = {"method": "grafting-light", "select": unit}
        methods[f"grafting {unit}"] = {"method": "grafting", "select": unit}
    context = Context("full")
    found = {
        label: learn_chains(context, train.X, train.y, (test.X, test.y), lam=LAM, **own)[1]
        for label, own in methods.items()
    }
    full = found["full"]
    for row in found.values():
        assert row["converged"]
        assert row["nll"] == pytest.approx(full["nll"], rel=1e-3)
        assert row["test_error"] == pytest.approx(full["test_error"], abs=2e-3)
    assert full["selected"] == 2004
    for unit in units:
        light, grafting = found[f"light {unit}"], found[f"grafting {unit}"]
        assert light["evaluations"] < 0.5 * grafting["evaluations"]
        assert light["selected"] < 0.3 * full["selected"]
    assert found["light"]["evaluations"] < 3 * full["evaluations"]
    assert found["gauss-seidel 100"]["evaluations"] > 3 * found["light"]["evaluations"]
