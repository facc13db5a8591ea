"""One pair the other way: the refit that takes over a Hessian is the one from the start."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.data.encoded import prepare
from graftwork.grafting import NetworkFamily, Problem
from graftwork.grafting.networks import only
from graftwork.grafting.starts import with_pairs
from graftwork.objectives.protocol import independent_potentials
from graftwork.objectives.pseudo import PseudoLikelihood
from graftwork.penalties import GroupL1
from graftwork.selection.refit import refit, unshrunk
from graftwork.testing import newton as module
from graftwork.testing.newton import Curvature, newton, switch


@pytest.mark.parametrize("states", [2, 3])
@pytest.mark.parametrize("pair", [(0, 1), (2, 9)])
def test_a_pair_the_other_way_is_fitted_exactly(states, pair, monkeypatch):
    made = gw.datasets.make_scale_free(12, states, n_rows=600, random_state=3)
    sample = prepare(made.data)
    problem = Problem(PseudoLikelihood(sample, 1), GroupL1(0.05), NetworkFamily(sample))
    chain = np.array([(i, i + 1) for i in range(11)] + [(0, 5)])
    start = with_pairs(independent_potentials(sample), chain)
    smooth = unshrunk(problem)
    here = newton(smooth, refit(problem, start, 1e-4), 1e-13)
    potentials = here.point.potentials
    there = (potentials.layout.edges != np.array(pair)).any(axis=1)
    other = only(potentials, there)
    if there.all():
        other = with_pairs(potentials, np.array([pair]))
    plain = newton(smooth, refit(problem, other, 1e-6), 1e-13)
    curvature = Curvature.of(smooth, here)
    whole = []
    monkeypatch.setattr(module, "newton", lambda *given: whole.append(given) or newton(*given))
    found = switch(smooth, curvature, other, np.array(pair), 1e-13)
    assert found.residual <= 1e-13
    assert not whole  # no other Hessian was needed
    assert found.objective == pytest.approx(plain.objective, rel=1e-12)
    for one in (found, plain):  # constants of unaries are free
        unaries = one.point.potentials.weights[: 12 * states].reshape(12, states)
        unaries -= unaries.mean(axis=1, keepdims=True)
    weights = found.point.potentials.weights, plain.point.potentials.weights
    assert weights[0] == pytest.approx(weights[1], abs=1e-9)
