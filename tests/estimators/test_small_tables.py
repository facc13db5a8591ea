"""Thirty rows of five columns take few evaluations, whatever the parameters: no fit takes long."""

import warnings

import numpy as np
import pandas as pd
import pytest

import graftwork as gw

#: What there was before a Hessian was asked for: up to 400,000 evaluations, minutes.
MOST_EVALUATIONS = 20_000


def table(seed, states, noise):
    """Return columns that follow one hidden number, some cells drawn at random."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 6, 30)
    drawn = [rng.random(30) < noise for _ in range(5)]
    codes = [np.where(odd, rng.integers(0, states, 30), hidden % states) for odd in drawn]
    return pd.DataFrame({f"v{k}": [f"s{code}" for code in own] for k, own in enumerate(codes)})


CASES = [
    {"method": "grafting", "lam": 0.0, "penalty": "l2"},
    {"method": "gauss-seidel", "lam": 0.001, "penalty": "l2"},
    {"method": "gauss-seidel", "lam": 1e-12, "penalty": "l1"},
    {"method": "full", "lam": 1e-12, "penalty": "l1"},
    {"method": "working-set", "lam": 1e-12, "penalty": "group-l1"},
    {"method": "best-choice", "lam": 1e-12, "penalty": "group-l1"},
    {"method": "grafting-light", "lam": 1e-12, "penalty": "elastic-net"},
    {"method": "forced-pruning", "max_edges": 6},
]


@pytest.mark.some(2)
@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("given", CASES, ids=lambda given: "-".join(map(str, given.values())))
def test_they_reach_the_optimum_in_few_evaluations(given, noise):
    net = gw.MarkovNetwork(**given, loss="likelihood", random_state=0, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gw.errors.DataWarning)
        net.fit(table(7, 4, noise))
    assert net.certificate_.stop in ("optimal", "searched")
    assert net.certificate_.stationarity <= 1e-6
    assert net.trace_[-1].evaluations < MOST_EVALUATIONS


@pytest.mark.parametrize("inference", ["bp", "trw"])
def test_approximate_inference_with_hardly_a_penalty_says_before_the_start_that_it_takes_long(
    inference,
):
    given = {"loss": "likelihood", "inference": inference, "max_edges": 1}
    with pytest.warns(gw.ApproximationWarning, match="may take minutes. Set max_seconds"):
        gw.MarkovNetwork(**given, lam=1e-6).fit(table(0, 2, 0.5))
    for quick in ({"lam": 0.01}, {"lam": 1e-6, "max_seconds": 5}):
        with warnings.catch_warnings():
            warnings.simplefilter("error", gw.ApproximationWarning)
            warnings.simplefilter("ignore", gw.ConvergenceWarning)
            gw.MarkovNetwork(**given, **quick).fit(table(0, 2, 0.5))
