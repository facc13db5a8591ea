"""Annealing: lambda falls along a schedule, and a convex loss ends where it would anyway."""

from dataclasses import replace
from functools import cache
from itertools import groupby, pairwise

import numpy as np
import pytest

import graftwork as gw
from graftwork.errors import ParameterError
from graftwork.grafting import Budget, Problem, graft
from graftwork.inference import JunctionTree, Layout
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.parameters import gather
from graftwork.penalties import L1, GroupL1
from graftwork.recipes import RECIPES
from graftwork.solvers import OrthantWise

from doors.data import prepare
from support.problems import all_pairs, dense_pseudo, random_table

PENALTIES = {
    "l1": L1(0.02, 0.02),
    "group": GroupL1(0.02),
    "unaries too": GroupL1(0.02, 0.0, 0.02),
}
METHODS = [name for name, make in RECIPES.items() if name != "gauss-seidel" and not make().sized]
# The same network evaluated anew may differ in the last digit.
ROUNDING = 1e-14
FALLING = [0.2, 0.1, 0.05, 0.03]


def table():
    return random_table(91, n=5, rows=200, most=3)


def problem_of(penalty, loss="pseudo"):
    sample = prepare(table(), keep_all_states=PENALTIES[penalty].unary_lam > 0)
    likely = loss == "likelihood"
    objective = Likelihood(sample, JunctionTree()) if likely else PseudoLikelihood(sample, 1)
    return Problem(objective, PENALTIES[penalty])


@cache
def annealed(method, penalty, loss):
    return graft(problem_of(penalty, loss), RECIPES[method](), schedule=FALLING)


@cache
def straight(penalty, loss):
    return graft(problem_of(penalty, loss), RECIPES["edge-grafting"](), tolerance=1e-8)


def lams_of(trace):
    """Each value of lambda in the order of the trace, once a stretch."""
    return [lam for lam, _ in groupby(record.lam for record in trace)]


EVERY = pytest.mark.parametrize(
    ("method", "penalty", "loss"),
    [(method, "l1", "pseudo") for method in METHODS]
    + [("best-choice", "group", "pseudo"), ("priority", "unaries too", "pseudo")]
    + [("grafting-light", "l1", "likelihood"), ("edge-grafting", "group", "likelihood")],
)


@EVERY
def test_the_optimum_is_the_same_as_without(method, penalty, loss):
    certificate, reference = annealed(method, penalty, loss).certificate, straight(penalty, loss)
    assert certificate.converged
    assert certificate.coverage == 1.0
    assert certificate.lam == 0.02
    assert np.isclose(certificate.objective, reference.certificate.objective, rtol=1e-8)


@EVERY
def test_lambda_falls_along_the_schedule_and_the_objective_with_it(method, penalty, loss):
    trace = annealed(method, penalty, loss).trace
    assert lams_of(trace) == [*FALLING, 0.02]
    assert [record.index for record in trace] == list(range(len(trace)))
    for before, after in pairwise(trace):
        assert after.objective <= before.objective * (1 + ROUNDING)
        assert after.evaluations >= before.evaluations


@EVERY
def test_each_lambda_is_solved_to_a_share_of_it_before_the_next(method, penalty, loss):
    trace = annealed(method, penalty, loss).trace
    for lam, records in groupby(trace, key=lambda record: record.lam):
        *_, last = records
        assert last.stationarity <= (0.1 * lam if lam > 0.02 else 1e-6)


def test_a_lambda_is_left_where_its_own_optimum_lies():
    """The network at the end of a stretch is, up to the share, the optimum of that lambda."""
    outcome = graft(problem_of("group"), RECIPES["edge-grafting"](), schedule=[0.1, 0.05])
    for lam in (0.1, 0.05):
        alone = graft(problem_of("group").at(lam), RECIPES["edge-grafting"]())
        last = [record for record in outcome.trace if record.lam == lam][-1]
        assert alone.certificate.objective <= last.objective + 1e-12
        assert np.isclose(last.objective, alone.certificate.objective, rtol=5e-3)
        assert last.edges <= alone.certificate.n_edges


def test_nothing_comes_while_lambda_is_above_what_anything_scores():
    outcome = graft(problem_of("group"), RECIPES["best-choice"](), schedule=[50.0, 5.0])
    assert {record.edges for record in outcome.trace if record.lam > 1} == {0}
    assert outcome.certificate.converged
    assert outcome.certificate.n_edges > 0


def test_a_schedule_may_be_empty_or_end_at_the_last_lambda():
    best = straight("group", "pseudo").certificate.objective
    for schedule in ([], [0.02], [0.02, 0.02]):
        outcome = graft(problem_of("group"), RECIPES["best-choice"](), schedule=schedule)
        assert outcome.certificate.converged
        assert np.isclose(outcome.certificate.objective, best, rtol=1e-8)
        assert {record.lam for record in outcome.trace} == {0.02}


def test_a_budget_on_the_way_stops_at_the_last_lambda_and_says_so():
    outcome = graft(
        problem_of("group"), RECIPES["best-choice"](), schedule=FALLING, budget=Budget(max_edges=1)
    )
    certificate = outcome.certificate
    assert (certificate.stop, certificate.n_edges, certificate.lam) == ("edges", 1, 0.02)
    assert certificate.stationarity <= 1e-6
    assert not certificate.converged
    assert outcome.trace[-1].lam == 0.02


class StallsAbove:
    """A solver that gets nowhere while lambda is large: as belief propagation may, for once."""

    def __init__(self, limit):
        self.limit, self.inner = limit, OrthantWise()

    def improve(self, objective, penalty, blocks, solution, *rest):
        if penalty.lam > self.limit:
            return replace(solution, stalled=True)
        return self.inner.improve(objective, penalty, blocks, solution, *rest)


def test_a_stall_on_the_way_is_not_the_end():
    recipe = replace(RECIPES["edge-grafting"](), solver=StallsAbove(0.04))
    outcome = graft(problem_of("group"), recipe, schedule=FALLING)
    assert outcome.certificate.converged
    best = straight("group", "pseudo").certificate.objective
    assert np.isclose(outcome.certificate.objective, best, rtol=1e-8)


def fit(**options):
    return gw.MarkovNetwork("edge-grafting", **gather({"lam": 0.02, **options})).fit(table())


@pytest.mark.parametrize("penalty", ["group-l1", "l1"])
@pytest.mark.parametrize("count", [1, 3, np.int64(4)])
def test_a_number_of_lambdas_is_spaced_from_where_the_first_edge_appears(penalty, count):
    net = fit(anneal=count, penalty=penalty)
    found = lams_of(net.trace_)
    layout = Layout.of(table().cards, all_pairs(5))
    start = np.concatenate([np.log(np.bincount(column) / 200) for column in table().codes])
    weights = np.concatenate([start, np.zeros(layout.size - layout.n_unary)])
    gradient = dense_pseudo(table(), weights, layout.edges)[1]
    norm = np.linalg.norm if penalty == "group-l1" else lambda x: np.abs(x).max()
    scale = np.sqrt(layout.edge_sizes) if penalty == "group-l1" else np.ones(10)
    top = max(norm(layout.table(gradient, e).ravel()) / scale[e] for e in range(10))
    assert np.allclose(found, np.geomspace(top, 0.02, int(count) + 1))
    assert np.isclose(net.objective_, fit(penalty=penalty).objective_, rtol=1e-8)
    assert net.certificate_.converged


def test_lambdas_can_be_given():
    for values in (FALLING, tuple(FALLING), np.array(FALLING), [0.02]):
        net = fit(anneal=values)
        assert lams_of(net.trace_) == [*[lam for lam in values if lam > 0.02], 0.02]
        assert net.certificate_.converged
    assert lams_of(fit(anneal=0).trace_) == [0.02]
    assert lams_of(fit(anneal=3, lam=50.0).trace_) == [50.0]  # no edge anyway


def test_unaries_keep_their_own_lambda_all_the_way():
    nets = [fit(anneal=a, unary=0.05) for a in (None, 3)]
    assert np.isclose(nets[0].objective_, nets[1].objective_, rtol=1e-8)


@pytest.mark.parametrize("lam", [0.02, "auto"])
@pytest.mark.parametrize(
    "anneal",
    [
        [0.1, 0.2],  # rises
        [0.3, 0.1, 0.2],
        [-0.1],
        [0.1, 0.0],
        [float("nan")],
        [float("inf"), 0.1],
        ["a"],
        "abc",
        "3",
        2.5,
        -1,
        True,
        [True],
        [None],
        float("nan"),
    ],
    ids=repr,
)
def test_a_schedule_that_means_nothing_is_refused(anneal, lam):
    with pytest.raises(ParameterError, match="anneal must"):
        fit(anneal=anneal, lam=lam)


def test_a_schedule_below_lambda_is_refused():
    with pytest.raises(ParameterError, match="end at lam or above it"):
        fit(anneal=[0.1, 0.01])
