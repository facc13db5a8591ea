"""Networks to begin with: the optimum does not depend on them, and given edges stay."""

import numpy as np
import pytest
from scipy.optimize import minimize

from graftwork.data import Table
from graftwork.grafting import Budget, ChowLiu, Given, Problem, chow_liu_edges, graft
from graftwork.inference import JunctionTree, Layout, Potentials
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.penalties import L1, GroupL1
from graftwork.recipes import RECIPES

from doors.data import prepare
from doors.grafting import draw_pairs, strongest
from doors.recipes import chow_liu, edge_grafting
from doors.solvers import never
from support.problems import all_pairs, dense_likelihood, dense_pseudo, random_table

DENSE = {"pseudo": dense_pseudo, "likelihood": dense_likelihood}
SEARCHES = [name for name, factory in RECIPES.items() if not factory().sized]


def problem_of(table, loss, penalty):
    sample = prepare(table)
    objective = (
        PseudoLikelihood(sample, 1) if loss == "pseudo" else Likelihood(sample, JunctionTree())
    )
    return Problem(objective, penalty)


def begin(start, problem, budget=None, seed=0):
    return start.begin(problem, budget or Budget(), np.random.default_rng(seed), never)


def pairs_of(potentials):
    return sorted(map(tuple, potentials.layout.edges.tolist()))


@pytest.mark.some(4)
@pytest.mark.parametrize("penalty", [GroupL1(0.02), L1(0.03), GroupL1(0.02, 0.01, 0.01)])
@pytest.mark.parametrize("loss", DENSE)
@pytest.mark.parametrize("method", SEARCHES)
def test_the_optimum_does_not_depend_on_the_start(method, loss, penalty):
    table = random_table(31, n=5, rows=150, most=3)
    recipe = RECIPES[method]()
    problem = problem_of(table, loss, penalty)
    tree = begin(ChowLiu(), problem)
    cold = graft(problem_of(table, loss, penalty), recipe, tolerance=1e-8)
    warm = graft(problem, recipe, tolerance=1e-8, start=tree)
    assert tree.layout.n_edges == 4
    assert cold.certificate.converged
    assert warm.certificate.converged
    assert abs(warm.certificate.objective / cold.certificate.objective - 1) < 1e-7
    assert warm.trace[0].index == 0
    assert 0 < warm.trace[0].evaluations <= warm.trace[-1].evaluations


@pytest.mark.parametrize("l2", [0.002, 0.1])
@pytest.mark.parametrize("loss", DENSE)
def test_weights_of_the_tree_are_those_of_scipy(loss, l2):
    table = random_table(32, n=5, rows=300, most=3)
    problem = problem_of(table, loss, GroupL1(0.0, l2))
    outcome = graft(problem, chow_liu(), tolerance=1e-8)
    edges = outcome.potentials.layout.edges
    n_unary = outcome.potentials.layout.n_unary

    def objective(weights):
        value, slope = DENSE[loss](table, weights, edges)
        ridge = np.where(np.arange(len(weights)) < n_unary, 0.0, l2)
        return value + ridge @ weights**2, slope + 2 * ridge * weights

    start = np.zeros(outcome.potentials.layout.size)
    best = minimize(objective, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-15}).fun
    assert abs(outcome.certificate.objective - best) < 1e-7
    assert pairs_of(outcome.potentials) == sorted(
        map(tuple, chow_liu_edges(problem.objective.sample)[0].tolist())
    )


def test_the_likelihood_is_at_its_optimum_from_the_start():
    """Without empty cells and a penalty there is nothing to solve."""
    table = random_table(1, n=7, rows=3000, most=3)
    problem = problem_of(table, "likelihood", L1(0.0))
    outcome = graft(problem, chow_liu(), tolerance=1e-3)
    assert problem.objective.evaluations == 1
    assert outcome.certificate.stationarity < 1e-3


def test_the_certificate_of_a_tree_claims_no_optimum():
    table = random_table(33, n=8, rows=300, most=3)
    outcome = graft(problem_of(table, "pseudo", GroupL1(0.0, 1e-3)), chow_liu())
    certificate = outcome.certificate
    assert (certificate.stop, certificate.converged) == ("given", False)
    assert (certificate.n_edges, certificate.n_tested) == (7, 0)
    assert certificate.stationarity <= 1e-6


def test_a_tree_of_two_variables_is_everything():
    table = random_table(34, n=2, rows=100, most=3)
    outcome = graft(problem_of(table, "pseudo", GroupL1(0.0, 1e-3)), chow_liu())
    assert outcome.certificate.converged


@pytest.mark.parametrize("most", [0, 3, 7, 20])
def test_an_edge_budget_keeps_the_strongest_of_the_tree(most):
    table = random_table(35, n=8, rows=300, most=3)
    problem = problem_of(table, "pseudo", GroupL1(0.0, 1e-3))
    edges, _ = chow_liu_edges(problem.objective.sample)
    outcome = graft(problem, chow_liu(), budget=Budget(max_edges=most))
    assert pairs_of(outcome.potentials) == sorted(map(tuple, edges[:most].tolist()))
    assert outcome.certificate.stop == ("given" if most == 20 else "edges")
    assert not outcome.certificate.converged


def test_a_penalty_on_the_tree_is_respected():
    table = random_table(36, n=8, rows=300, most=3)
    norms = []
    for lam in (0.01, 0.05, 0.3):
        outcome = graft(problem_of(table, "pseudo", GroupL1(lam)), chow_liu())
        assert outcome.certificate.stationarity <= 1e-6
        norms.append(
            np.linalg.norm(outcome.potentials.weights[outcome.potentials.layout.n_unary :])
        )
    assert norms[0] > norms[1] > norms[2]
    assert outcome.certificate.n_edges < 7


def test_no_time_leaves_a_network_without_edges():
    table = random_table(37, n=8, rows=300, most=3)
    outcome = graft(
        problem_of(table, "pseudo", GroupL1(0.0, 1e-3)), chow_liu(), budget=Budget(max_seconds=0)
    )
    assert outcome.certificate.stop == "seconds"
    assert outcome.certificate.n_edges == 0


class Interrupting:
    """An observer that presses Ctrl-C at the first look, and counts."""

    def on_search(self, tested, total):
        self.seen = (tested, total)
        raise KeyboardInterrupt


def test_an_interrupt_is_heard_while_the_tree_is_sought():
    table = random_table(37, n=8, rows=300, most=3)
    observer = Interrupting()
    with pytest.raises(KeyboardInterrupt):
        graft(problem_of(table, "pseudo", GroupL1(0.0)), chow_liu(), observer=observer)
    assert observer.seen == (0, 28)


def test_filling_draws_absent_pairs_of_varying_variables():
    table = random_table(38, n=7, rows=200, most=3)
    codes = np.concatenate([table.codes, np.zeros((1, 200), dtype=np.uint8)])
    table = Table((*table.names, "constant"), (*table.states, (0,)), codes)
    problem = problem_of(table, "pseudo", GroupL1(0.0, 1e-3))
    tree = begin(ChowLiu(), problem)
    filled = begin(ChowLiu(fill=True), problem, Budget(max_edges=12))
    assert filled.layout.n_edges == 12
    assert pairs_of(filled)[-1][1] < 7
    assert len(set(pairs_of(filled))) == 12
    assert set(pairs_of(tree)) < set(pairs_of(filled))
    assert (filled.weights[: tree.layout.size] == tree.weights).all()
    assert not filled.weights[tree.layout.size :].any()
    again = begin(ChowLiu(fill=True), problem, Budget(max_edges=12))
    other = begin(ChowLiu(fill=True), problem, Budget(max_edges=12), seed=1)
    assert pairs_of(again) == pairs_of(filled) != pairs_of(other)
    everything = begin(ChowLiu(fill=True), problem, Budget(max_edges=99))
    assert pairs_of(everything) == sorted(map(tuple, all_pairs(7).tolist()))
    assert pairs_of(begin(ChowLiu(fill=True), problem, Budget(max_edges=2))) == sorted(
        map(tuple, tree.layout.edges[:2].tolist())
    )
    assert pairs_of(begin(ChowLiu(fill=True), problem)) == pairs_of(tree)


def test_every_absent_pair_has_the_same_chance():
    table = random_table(39, n=6, rows=200, most=3)
    problem = problem_of(table, "pseudo", GroupL1(0.0))
    tree = begin(ChowLiu(), problem).layout
    rng = np.random.default_rng(0)
    seen = np.zeros((6, 6))
    for _ in range(2000):
        i, j = draw_pairs(problem, tree, 3, rng).T
        seen[i, j] += 1
    absent = [p for p in map(tuple, all_pairs(6).tolist()) if p not in set(map(tuple, tree.edges))]
    counts = np.array([seen[p] for p in absent])
    assert counts.sum() == seen.sum() == 6000
    assert (abs(counts - 600) < 5 * np.sqrt(600 * 0.7)).all()


def test_the_strongest_edges_of_a_given_network_stay():
    layout = Layout.of([2, 3, 2], [(0, 1), (1, 2), (0, 2)])
    rng = np.random.default_rng(0)
    weights = rng.normal(size=layout.size)
    weights[layout.entries(np.array([1]))] += 50.0  # a constant is no strength
    norms = []
    for e in range(3):
        table = layout.table(weights, e)
        centred = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
        norms.append(np.linalg.norm(centred))
    kept = strongest(Potentials(layout, weights), 2)
    best = np.sort(np.argsort(norms)[1:])
    assert (kept.layout.edges == layout.edges[best]).all()
    for place, e in enumerate(best):
        assert (kept.layout.table(kept.weights, place) == layout.table(weights, e)).all()
    assert strongest(Potentials(layout, weights), 3).weights is weights


def test_a_start_that_is_not_centred_is_the_same_network():
    """A solver that searches centred tables only gets there from any tables."""
    table = random_table(40, n=5, rows=200, most=3)
    problem = problem_of(table, "likelihood", GroupL1(0.01))
    layout = Layout.of(problem.objective.sample.cards, all_pairs(5))
    shifted = Potentials(layout, np.random.default_rng(0).normal(1.0, 1.0, layout.size))
    outcome = graft(problem, edge_grafting(), start=shifted)
    cold = graft(problem_of(table, "likelihood", GroupL1(0.01)), edge_grafting())
    assert outcome.certificate.converged
    assert np.isclose(outcome.certificate.objective, cold.certificate.objective, rtol=1e-8)


def test_a_given_network_is_cut_to_the_edge_budget():
    table = random_table(41, n=5, rows=200, most=3)
    problem = problem_of(table, "pseudo", GroupL1(0.0, 1e-3))
    tree = begin(ChowLiu(), problem)
    assert pairs_of(begin(Given(tree), problem)) == pairs_of(tree)
    assert begin(Given(tree), problem, Budget(max_edges=2)).layout.n_edges == 2
