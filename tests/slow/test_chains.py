"""The Grafting-Light paper's synthetic comparison, at its size. Run by make test-slow."""

import pytest

import graftwork as gw
from graftwork.datasets import labelled_chains

pytestmark = pytest.mark.slow

LAM = 64 / 3000


def compared(seed, methods, **options):
    train, test = labelled_chains(5_000, random_state=seed).split(3_000)
    given = (test.X, test.y)
    return gw.compare_chains(train.X, train.y, methods, test=given, lam=LAM, **options)


@pytest.mark.parametrize(("seed", "units"), [(0, (1, 10)), (1, (10,))])
def test_the_papers_synthetic_chain(seed, units):
    """Everybody meets the batch optimum; Grafting-Light with far fewer gradients than grafting."""
    methods = {
        "full": "full",
        "light": "grafting-light",
        "gauss-seidel 100": {"method": "gauss-seidel", "select": 100},
    }
    for unit in units:
        methods[f"light {unit}"] = {"select": unit}
        methods[f"grafting {unit}"] = {"method": "grafting", "select": unit}
    found = {row["method"]: row for row in compared(seed, methods).table()}
    full = found["full"]
    assert set(found) == set(methods)
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
