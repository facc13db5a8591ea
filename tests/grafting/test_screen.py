"""Pairs that are not scored again cannot violate: with and without a screen nothing changes."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.data import as_table
from graftwork.grafting import Budget, NetworkFamily, Problem, graft
from graftwork.objectives import PseudoLikelihood
from graftwork.penalties import L1, GroupL1

from doors.data import prepare
from doors.inference import gibbs_sample
from doors.recipes import best_choice


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
    net = gw.MarkovNetwork(lam="auto", ordinal=False, random_state=0).fit(
        rows
    )  # walks a path, then certifies
    assert net.certificate_.converged
    again = gw.MarkovNetwork("best-choice", lam=net.lam_, random_state=0).fit(rows)
    assert again.certificate_.objective == pytest.approx(net.certificate_.objective, rel=1e-7)


@pytest.mark.parametrize("penalty", [GroupL1(0.01), L1(0.02)])
def test_pairs_at_variables_score_together_as_one_by_one(rows, penalty):
    sample = prepare(as_table(rows[:, :40]))
    problem = Problem(PseudoLikelihood(sample), penalty)
    point = graft(problem, best_choice(), budget=Budget(max_edges=25)).solution.point
    space = problem.family.space(problem.variables, False)
    variables = np.random.default_rng(0).permutation(40)
    scorer = problem.family.stars(problem.objective, penalty, space)
    pairs, scores = scorer.above(point, variables, 7, 0.004, lambda: False)
    keys = np.concatenate(space.keys_of_stars(variables, 7))
    assert len(np.unique(keys)) == len(keys) == 7 * 39 - 21
    gradients, starts, _ = space.gradients(point, keys)
    expected = penalty.scores(gradients, starts, space.scales(sample.declared, keys))
    known = dict(zip(keys.tolist(), expected.tolist(), strict=True))
    above = {key: score for key, score in known.items() if score > 0.004}
    found = dict(zip(space.keys(pairs).tolist(), scores.tolist(), strict=True))
    assert found == pytest.approx(above)
    assert 0 < len(above) < len(keys)
    assert scorer.above(point, variables, 7, 0.004, lambda: True) is None


@pytest.mark.parametrize(
    "more", [{}, {"knowledge": {"forbidden": [("x0", "x1")]}}, {"missing": "available-case"}]
)
@pytest.mark.parametrize("kept", [True, False], ids=["bounds", "no bounds"])
def test_best_choice_ends_where_a_working_set_does(rows, more, kept, monkeypatch):
    """With bounds on all scores or (beyond 11,585 variables) by looking at all pairs again."""
    table = np.where(np.random.default_rng(1).random(rows.shape) < 0.01, None, rows)
    table = table if "missing" in more else rows
    whole = gw.MarkovNetwork("working-set", lam=0.02, random_state=0, **more).fit(table)
    if not kept:
        monkeypatch.setattr("graftwork.grafting.networks.MOST_PAIRS", 0)
    net = gw.MarkovNetwork("best-choice", lam=0.02, random_state=0, **more).fit(table)
    assert net.certificate_.converged
    assert net.certificate_.n_tested == net.certificate_.n_inactive
    assert set(net.graph_.edges) == set(whole.graph_.edges)
    assert net.objective_ == pytest.approx(whole.objective_, rel=1e-8)
    first = next(record for record in net.trace_ if record.edges)
    assert first.blocks_scored < 0.5 * whole.certificate_.n_inactive


def test_best_choice_keeps_to_its_budgets(rows):
    options = {"lam": 0.02, "random_state": 0, "method": "best-choice"}
    few = gw.MarkovNetwork(**options, max_edges=12).fit(rows)
    assert few.model_.n_edges == 12
    tested = gw.MarkovNetwork(**options, method_options={"max_tests": 60}).fit(rows)
    assert tested.certificate_.stop == "tests"
    assert tested.trace_[-1].blocks_scored < 200
    late = gw.MarkovNetwork(**options, max_seconds=0).fit(rows)
    assert late.certificate_.stop == "seconds"
