"""One pair the other way: the refit that takes over a Hessian is the one from the start."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.grafting import NetworkFamily, Problem
from graftwork.penalties import GroupL1

from doors.data import prepare
from doors.grafting import only, with_pairs
from doors.objectives import PseudoLikelihood, independent_potentials
from doors.selection import refit, unshrunk
from doors.solvers import Curvature, newton, switch, switch_nearby
from doors.solvers import newton_module as module


@pytest.mark.parametrize("states", [2, 3])
@pytest.mark.parametrize("pair", [(0, 1), (2, 9)])
def test_a_pair_the_other_way_is_fitted_exactly(states, pair, monkeypatch):
    made = gw.datasets.make_scale_free(12, states, n_rows=600, random_state=3)
    sample = prepare(made.data)
    problem = Problem(PseudoLikelihood(sample, 1), GroupL1(0.05), NetworkFamily(sample))
    chain = np.array([(i, i + 1) for i in range(11)] + [(0, 5)])
    start = with_pairs(independent_potentials(sample), chain)
    smooth = unshrunk(problem)
    here = newton(smooth.on(start.layout), refit(problem, start, 1e-4), 1e-13)
    potentials = here.point.potentials
    there = (potentials.layout.edges != np.array(pair)).any(axis=1)
    other = only(potentials, there)
    if there.all():
        other = with_pairs(potentials, np.array([pair]))
    plain = newton(smooth.on(other.layout), refit(problem, other, 1e-6), 1e-13)
    curvature = Curvature.of(smooth.on(potentials.layout), here)
    whole = []
    monkeypatch.setattr(module, "newton", lambda *given: whole.append(given) or newton(*given))
    found = switch(
        smooth.on(other.layout), curvature, smooth.solution(other), np.array(pair), 1e-13
    )
    assert found.residual <= 1e-13
    assert not whole  # no other Hessian was needed
    assert found.objective == pytest.approx(plain.objective, rel=1e-12)
    for one in (found, plain):  # constants of unaries are free
        unaries = one.point.potentials.weights[: 12 * states].reshape(12, states)
        unaries -= unaries.mean(axis=1, keepdims=True)
    weights = found.point.potentials.weights, plain.point.potentials.weights
    assert weights[0] == pytest.approx(weights[1], abs=1e-9)


@pytest.mark.parametrize("pair", [(0, 1), (2, 9)])
def test_in_large_networks_only_the_weights_at_the_pair_move(pair):
    made = gw.datasets.make_scale_free(40, 3, n_rows=3000, random_state=5)
    sample = prepare(made.data)
    problem = Problem(PseudoLikelihood(sample, 1), GroupL1(0.05), NetworkFamily(sample))
    truth = np.array(sorted((int(a[1:]), int(b[1:])) for a, b in made.model.edges))
    truth = truth[(truth != np.array(pair)).any(axis=1)]
    edges = np.concatenate([truth, [pair]]) if pair == (0, 1) else truth
    smooth = unshrunk(problem)
    start = with_pairs(independent_potentials(sample), edges)
    here = newton(smooth.on(start.layout), refit(problem, start, 1e-4), 1e-13)
    potentials = here.point.potentials
    there = (potentials.layout.edges != np.array(pair)).any(axis=1)
    other = with_pairs(potentials, np.array([pair])) if there.all() else only(potentials, there)
    found = switch_nearby(
        smooth.on(other.layout), smooth.solution(other, None, here), np.array(pair)
    )
    exact = newton(smooth.on(other.layout), refit(problem, other, 1e-6), 1e-13)
    change = found.point.potentials.weights - other.weights
    near = np.isin(other.layout.edges, pair).any(axis=1)
    assert not change[other.layout.entries(np.flatnonzero(~near))].any()
    assert np.abs(change[other.layout.entries(np.flatnonzero(near))]).max() > 1e-3
    # What the likelihood ratio statistic would be, and is.
    ratios = [2 * 3000 * abs(one.objective - here.objective) for one in (exact, found)]
    assert ratios[1] == pytest.approx(ratios[0], rel=0.05)
    # Nothing at the pair is left to gain.
    again = switch_nearby(smooth.on(other.layout), found, np.array(pair))
    assert found.objective - again.objective < 1e-8
