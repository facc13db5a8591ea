"""Every method ends at the optimum that an independent solver finds."""

from __future__ import annotations

import numpy as np
import pytest

from graftwork.grafting import Budget, Problem, graft
from graftwork.penalties import L1, GroupL1

from doors.grafting import ChainFamily
from doors.inference import FeatureLayout, FeatureWeights
from doors.objectives import ChainLikelihood
from doors.recipes import full, gain, gauss_seidel, grafting, grafting_light
from support.chain_brute import Enumerated, everything, random_chains

RECIPES = {
    "grafting-light": grafting_light(1),
    "grafting-light by 10": grafting_light(10),
    "grafting": grafting(1),
    "grafting by 10": grafting(10),
    "gauss-seidel": gauss_seidel(5),
    "gain": gain(3),
    "full": full(),
}
LAM, GROUP_LAM = 0.03, 0.12


def chains(order, observed):
    lengths = (3, 4, 2, 1, 4, 3, 4, 2, 3, 4)
    data = random_chains(20 + order, 3, order, 5, lengths, values=True, weights=True)
    features, seen = everything(data, observed)
    return data, features, seen


@pytest.fixture(scope="module", params=[(1, True), (1, False), (2, True)], ids=str)
def setting(request):
    data, features, seen = chains(*request.param)
    brute = Enumerated(data, features)
    return data, features, seen, brute, brute.optimum(LAM, 0.001)


def dense(features, potentials):
    w = np.zeros(features.size)
    w[potentials.layout.features] = potentials.weights
    return w


@pytest.mark.some(3)
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_the_l1_optimum_is_that_of_another_solver(setting, recipe):
    data, features, seen, brute, (best, w) = setting
    objective = ChainLikelihood(data, features, seen, 1)
    problem = Problem(objective, L1(LAM, 0.001), ChainFamily(features, True))
    outcome = graft(problem, recipe, tolerance=1e-8)
    assert outcome.certificate.converged, outcome.certificate
    assert outcome.certificate.exact
    assert outcome.solution.objective == pytest.approx(best, abs=1e-9)
    found = dense(features, outcome.potentials)
    value = brute.loss(found)[0] + LAM * np.abs(found).sum() + 0.001 * found @ found
    assert value == pytest.approx(outcome.solution.objective, abs=1e-12)
    np.testing.assert_allclose(found, w, atol=2e-4)


@pytest.fixture(scope="module", params=[1, 2])
def grouped(request):
    data, features, seen = chains(request.param, True)
    brute = Enumerated(data, features)
    return data, features, seen, brute.group_optimum(GROUP_LAM, features.rows)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_the_group_optimum_is_that_of_another_solver(grouped, recipe):
    data, features, seen, (best, w) = grouped
    objective = ChainLikelihood(data, features, seen, 1)
    problem = Problem(objective, GroupL1(GROUP_LAM), ChainFamily(features, False))
    outcome = graft(problem, recipe, tolerance=1e-8)
    assert outcome.certificate.converged, outcome.certificate
    assert outcome.solution.objective == pytest.approx(best, abs=1e-8)
    np.testing.assert_allclose(dense(features, outcome.potentials), w, atol=2e-3)
    rows = features.rows
    kept = np.logical_or.reduceat(dense(features, outcome.potentials) != 0, rows[:-1])
    assert kept.sum() == outcome.certificate.n_edges < len(rows) - 1


def test_grafting_light_goes_on_from_any_start():
    data, features, seen = chains(1, True)
    objective = ChainLikelihood(data, features, seen, 1)
    problem = Problem(objective, L1(LAM), ChainFamily(features, True))
    fresh = graft(problem, grafting_light(5), tolerance=1e-8)
    rng = np.random.default_rng(0)
    some = rng.choice(features.size, 12, replace=False)
    layout = FeatureLayout.of(np.arange(features.size + 1), some)
    there = graft(
        problem,
        grafting_light(5),
        tolerance=1e-8,
        start=FeatureWeights(layout, rng.normal(size=12)),
    )
    assert there.solution.objective == pytest.approx(fresh.solution.objective, abs=1e-9)


def test_a_run_that_ends_on_a_budget_still_looks_at_everything():
    data, features, seen = chains(1, True)
    loss, family = ChainLikelihood(data, features, seen, 1), ChainFamily(features, True)
    problem = Problem(loss, L1(0.001), family)
    outcome = graft(problem, grafting_light(1), budget=Budget(max_edges=4), tolerance=1e-6)
    certificate = outcome.certificate
    assert certificate.stop == "edges"
    assert certificate.n_edges <= 4
    assert certificate.coverage == 1.0
    assert certificate.max_violation > 0
    assert certificate.noun == "feature"
    late = graft(problem, grafting_light(1), budget=Budget(max_seconds=0.0), tolerance=1e-6)
    assert late.certificate.stop == "seconds"
    assert late.certificate.coverage == 1.0


def test_the_trace_counts_features_and_evaluations():
    data, features, seen = chains(1, True)
    objective = ChainLikelihood(data, features, seen, 1)
    problem = Problem(objective, L1(LAM), ChainFamily(features, True))
    outcome = graft(problem, grafting_light(2), tolerance=1e-6)
    last = outcome.trace[-1]
    assert last.evaluations == objective.evaluations
    assert last.edges == last.blocks == outcome.potentials.layout.size
    assert last.tables_counted == 0
    assert all(record.activated <= 2 for record in outcome.trace)
