"""Answers, losses and draws of 10,000 random networks and chains against enumeration.

Run by make test-slow.
"""

import numpy as np
import pytest
from exact_draws import Fit
from exactness import campaign

pytestmark = pytest.mark.slow


def test_answers_and_draws_are_those_of_enumeration():
    found, fits = campaign(10_000)
    for name, (worst, asked) in found.items():
        assert asked > 1_000, name
        assert worst < 1e-9, name
    for name, fit in fits.items():
        assert fit.networks > 1_000, name
        assert fit.impossible == 0, name
        assert fit.p_value > 1e-4, name
        assert abs(fit.z) < 4, name


@pytest.mark.parametrize(("bias", "differs"), [(0.0, False), (0.05, True)])
def test_draws_with_a_small_bias_are_found(bias, differs):
    """The bounds above tell a sampler that has each state 5 % too often or too rarely."""
    rng, fit = np.random.default_rng(0), Fit()
    for _ in range(1000):
        shares = rng.dirichlet(np.ones(int(rng.integers(2, 20))))
        wrong = shares * (1 + bias * rng.choice([-1, 1], len(shares)))
        fit.add(rng.multinomial(500, wrong / wrong.sum()), shares)
    assert (abs(fit.z) > 4) == differs
    assert fit.p_value > 1e-4
