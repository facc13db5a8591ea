"""Variables that arrive over time: one run that goes on, and the optimum of all of them."""

from dataclasses import replace
from functools import cache
from itertools import accumulate, combinations, pairwise

import numpy as np
import pytest

import graftwork as gw
from graftwork.data import Table
from graftwork.errors import ParameterError
from graftwork.grafting import Budget, Problem, graft
from graftwork.inference import JunctionTree
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.parameters import gather
from graftwork.penalties import L1, GroupL1
from graftwork.recipes import RECIPES

from doors.data import prepare
from support.problems import all_pairs, random_table

N = 6
# The same network evaluated anew may differ in the last digit.
ROUNDING = 1e-14
GROUPS = [[4, 1], [0], [3, 5], [2]]
THERE = list(accumulate(GROUPS))  # who is there in each round
PENALTIES = {"l1": L1(0.02, 0.02), "group": GroupL1(0.02)}
# gauss-seidel walks long ways to the same place: tests/grafting/test_papers.py
METHODS = [name for name, make in RECIPES.items() if name != "gauss-seidel" and not make().sized]


def problem_of(penalty, loss="pseudo"):
    sample = prepare(random_table(81, n=N, rows=200, most=3))
    likely = loss == "likelihood"
    objective = Likelihood(sample, JunctionTree()) if likely else PseudoLikelihood(sample, 1)
    return Problem(objective, PENALTIES[penalty])


class Watching:
    """An observer that keeps the edges of every round."""

    def __init__(self):
        self.edges = []

    def on_stage(self, text, step, steps):
        pass

    def on_round(self, record):
        pass

    def on_network(self, potentials):
        self.edges.append({tuple(pair) for pair in potentials.layout.edges.tolist()})

    def on_search(self, tested, total):
        pass


@cache
def grown(method, penalty, loss):
    """A run with arrivals, what was seen of it, and its problem."""
    problem, watching = problem_of(penalty, loss), Watching()
    outcome = graft(problem, RECIPES[method](), arrivals=GROUPS, observer=watching)
    return outcome, watching, problem


@cache
def best(penalty, loss):
    """The optimum with all variables from the start."""
    return graft(problem_of(penalty, loss), RECIPES["edge-grafting"](), tolerance=1e-8)


def edges_of(outcome):
    layout, weights = outcome.potentials.layout, outcome.potentials.weights
    return {
        tuple(pair)
        for e, pair in enumerate(layout.edges.tolist())
        if np.abs(layout.table(weights, e)).max() > 1e-5
    }


EVERY = pytest.mark.parametrize(
    ("method", "penalty", "loss"),
    [(method, penalty, "pseudo") for method in METHODS for penalty in PENALTIES]
    + [("grafting-light", "l1", "likelihood"), ("best-choice", "group", "likelihood")],
)


@EVERY
def test_the_end_is_that_of_having_all_from_the_start(method, penalty, loss):
    outcome, _, _ = grown(method, penalty, loss)
    certificate, reference = outcome.certificate, best(penalty, loss)
    assert certificate.converged
    assert certificate.coverage == 1.0
    assert np.isclose(certificate.objective, reference.certificate.objective, rtol=1e-8)
    assert edges_of(outcome) == edges_of(reference)
    n_all = certificate.n_inactive + outcome.trace[-1].blocks
    cells = [int(np.prod(p)) for p in outcome.potentials.layout.cards[all_pairs(N)]]
    assert n_all == (sum(cells) if certificate.unit == "feature" else len(cells))


@EVERY
def test_the_trace_is_that_of_one_run(method, penalty, loss):
    trace = grown(method, penalty, loss)[0].trace
    assert [record.index for record in trace] == list(range(len(trace)))
    for before, after in pairwise(trace):
        assert after.objective <= before.objective * (1 + ROUNDING)
        assert after.evaluations >= before.evaluations
        assert after.blocks_scored >= before.blocks_scored
        assert after.blocks == before.blocks + after.activated - after.pruned
    assert len(trace) >= len(GROUPS)


@EVERY
def test_no_edge_comes_before_its_variables(method, penalty, loss):
    _, watching, _ = grown(method, penalty, loss)
    for round_number, edges in enumerate(watching.edges):
        there = set(THERE[min(round_number, len(THERE) - 1)])
        assert {v for pair in edges for v in pair} <= there
    assert any(watching.edges[1 : len(GROUPS)])  # it does not wait for the last either


@pytest.mark.parametrize("method", METHODS)
def test_what_was_learned_is_carried_on(method):
    """Fewer evaluations than learning anew each time somebody arrives.

    All at once is solved to the end each time, and gains less.
    """
    _, _, problem = grown(method, "group", "pseudo")
    cold = 0
    for there in THERE[1:]:
        alone = problem_of("group")
        assert graft(alone, RECIPES[method](), arrivals=[there]).certificate.converged
        cold += alone.objective.evaluations
    assert problem.objective.evaluations < (0.9 if method == "full" else 0.7) * cold


class Spying:
    """A solver that keeps what it was given and what it gave back."""

    def __init__(self, inner):
        self.inner, self.seen = inner, []

    def improve(self, objective, penalty, blocks, solution, tolerance, *rest):
        end = self.inner.improve(objective, penalty, blocks, solution, tolerance, *rest)
        self.seen.append((solution, end))
        return end


@pytest.mark.parametrize("method", ["grafting-light", "best-choice"])
def test_the_weights_and_memory_of_the_round_before_are_where_the_next_begins(method):
    recipe = RECIPES[method]()
    spying = Spying(recipe.solver)
    graft(problem_of("l1"), replace(recipe, solver=spying), arrivals=GROUPS)
    assert len(spying.seen) > len(GROUPS)
    remembered = 0
    for (_, end), (start, _) in pairwise(spying.seen):
        assert np.isclose(start.objective, end.objective, rtol=1e-14)
        for old, new in ((end, start), (start, end)):
            for pair, table in tables_of(old).items():
                assert np.array_equal(tables_of(new).get(pair, np.zeros_like(table)), table)
        remembered += len(end.memory.pairs) > 0 and len(start.memory.pairs) > 0
    assert remembered > len(GROUPS)


def tables_of(solution):
    layout, weights = solution.point.potentials.layout, solution.point.potentials.weights
    return {tuple(p): layout.table(weights, e) for e, p in enumerate(layout.edges.tolist())}


def test_variables_that_never_arrive_have_no_edges_and_are_not_counted():
    problem = problem_of("group")
    outcome = graft(problem, RECIPES["best-choice"](), arrivals=[[0, 1], [2, 3]])
    assert {v for pair in edges_of(outcome) for v in pair} <= {0, 1, 2, 3}
    certificate = outcome.certificate
    assert certificate.converged
    assert certificate.n_inactive + certificate.n_edges == 6
    assert problem.objective.sample.counts.n_computed <= 6


def test_nobody_there_is_a_network_without_edges():
    outcome = graft(problem_of("group"), RECIPES["best-choice"](), arrivals=[])
    assert outcome.certificate.n_edges == outcome.certificate.n_inactive == 0
    assert outcome.certificate.converged


def test_groups_may_be_empty_repeat_themselves_or_hold_constant_columns():
    table = random_table(82, n=4, rows=150, most=3)
    constant = np.concatenate([table.codes, np.zeros((1, 150), dtype=np.uint8)])
    whole = Table((*table.names, "c"), (*table.states, ("x",)), constant)
    outcomes = [
        graft(Problem(PseudoLikelihood(prepare(whole), 1), GroupL1(0.02)), recipe, arrivals=groups)
        for recipe in (RECIPES["best-choice"](), RECIPES["full"]())
        for groups in (None, [[], [0, 4], [0, 0], [], [3, 1], [1, 2, 0], []])
    ]
    assert all(outcome.certificate.converged for outcome in outcomes)
    assert all(edges_of(outcome) == edges_of(outcomes[0]) for outcome in outcomes)
    assert len(edges_of(outcomes[0])) > 2
    ends = [outcome.certificate.objective for outcome in outcomes]
    assert np.allclose(ends, ends[0], rtol=1e-9)


def test_arrivals_are_taken_one_a_round_and_not_before():
    """A stream: a group is asked for only when its round has come."""
    told = []

    class Counting(Watching):
        def on_round(self, record):
            told.append("round")

    def stream():
        for group in GROUPS:
            told.append("group")
            yield group

    graft(problem_of("group"), RECIPES["best-choice"](), arrivals=stream(), observer=Counting())
    assert told[:8] == ["group", "round"] * 4
    assert told.count("group") == 4


def test_a_start_brings_its_own_variables():
    problem = problem_of("group")
    first = graft(problem, RECIPES["best-choice"](), arrivals=[[0, 1, 4]])
    assert first.certificate.n_edges > 0
    start = first.potentials
    grown_on = graft(problem, RECIPES["best-choice"](), start=start, arrivals=[[2], [3, 5]])
    assert np.isclose(
        grown_on.certificate.objective, best("group", "pseudo").certificate.objective, rtol=1e-8
    )
    assert grown_on.trace[0].edges == first.certificate.n_edges


@pytest.mark.parametrize(
    "recipe",
    [RECIPES["best-choice"](alpha=1.0), RECIPES["edge-grafting"](), RECIPES["priority"]()],
    ids=lambda recipe: recipe.name,
)
@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
def test_a_budget_that_ends_early_looks_only_at_those_who_are_there(recipe, rounds):
    """Whatever else was counted before: the sample may have served another run."""
    problem = problem_of("group")
    problem.objective.sample.counts.tables(all_pairs(N))
    budget = Budget(max_rounds=rounds)
    groups = [[5, 3], [0], [4], [1], [2]]
    outcome = graft(problem, recipe, arrivals=groups, budget=budget)
    certificate, layout = outcome.certificate, outcome.potentials.layout
    there = sorted(list(accumulate(groups))[rounds])
    pairs = [[i, j] for i, j in combinations(there, 2) if [i, j] not in layout.edges.tolist()]
    assert certificate.stop == "rounds"
    assert not certificate.converged
    assert certificate.n_inactive == len(pairs)
    assert certificate.n_tested == len(pairs)
    gradients, offsets, _ = outcome.solution.point.pair_gradients(np.array(pairs))
    scale = np.sqrt(np.prod(layout.cards[np.array(pairs)], axis=1))
    worst = problem.penalty.scores(gradients, offsets, scale).max()
    assert np.isclose(certificate.max_violation, worst - problem.penalty.lam, atol=1e-9)


NAMED = [["v4", "v1"], ["v0"], ["v3", "v5"], ["v2"]]


@pytest.mark.parametrize("method", ["best-choice", "grafting-light", "priority", "full"])
def test_the_estimator_takes_names(method):
    table = random_table(81, n=N, rows=200, most=3)
    options = {"lam": 0.02, "penalty": "l1", "l2": 0.02, "random_state": 0}
    net = gw.MarkovNetwork(method, **gather({"arrivals": NAMED, **options})).fit(table)
    assert net.certificate_.converged
    assert np.isclose(
        net.objective_, best("l1", "pseudo").certificate.objective, rtol=1e-8
    )  # fmt: skip
    early = gw.MarkovNetwork(method, **gather({"arrivals": ["v0", ["v2", "v5"]], **options})).fit(
        table
    )
    assert {name for edge in early.model_.edges for name in edge} <= {"v0", "v2", "v5"}
    assert len(early.model_.edges) > 0
    assert set(early.graph_.nodes) == set(table.names)


@pytest.mark.parametrize("arrivals", [[["v0", "nobody"]], [["v0"], "nobody"], [[0, 1]]])
def test_names_that_are_no_columns_are_refused(arrivals):
    table = random_table(81, n=N, rows=200, most=3)
    with pytest.raises(
        ParameterError, match=r"arrivals name columns that are not there: .*(nobody|0)"
    ):
        gw.MarkovNetwork(lam=0.02, method_options={"arrivals": arrivals}).fit(table)


def test_columns_named_by_numbers_arrive_too():
    rows = np.asarray(random_table(81, n=N, rows=200, most=3))
    columns = {i: rows[:, i].tolist() for i in range(N)}
    for arrivals in ([[0, 1], [2]], [[0, 1], 2]):  # a name alone is a group of one
        net = gw.MarkovNetwork(lam=0.02, method_options={"arrivals": arrivals}).fit(columns)
        assert net.model_.edges
        assert {name for edge in net.model_.edges for name in edge} <= {0, 1, 2}


def test_lambda_must_be_given_for_arrivals():
    with pytest.raises(ParameterError, match="lam must be a number with arrivals"):
        gw.MarkovNetwork(method_options={"arrivals": NAMED}).fit(
            random_table(81, n=N, rows=200, most=3)
        )
