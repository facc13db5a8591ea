"""goal="structure": screening, refits, tests, and what is kept."""

import numpy as np
import pytest

from graftwork.data import Table
from graftwork.datasets import make_scale_free, scale_free_network
from graftwork.estimators import MarkovNetwork
from graftwork.grafting import Budget, NetworkFamily, PairFactors, Problem
from graftwork.inference import JunctionTree
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.penalties import GroupL1
from graftwork.recipes import RECIPES
from graftwork.selection import learn_structure

from doors.data import prepare
from doors.grafting import only
from doors.recipes import best_choice
from doors.selection import STEPS, LambdaPath, Refits, StructureSearch, absent, refits, structure
from support.problems import random_table


def learn(table, prior=None, loss=None, n_jobs=None, **options):
    options = {"recipe": best_choice(), "rng": np.random.default_rng(0)} | options
    sample = prepare(table)
    pseudo = PseudoLikelihood(sample, n_jobs)
    objective = pseudo if loss is None else loss(sample)
    family = NetworkFamily(sample, prior)
    return learn_structure(lambda lam: Problem(objective, GroupL1(lam), family), pseudo, **options)


@pytest.fixture(scope="module")
def planted():
    model = scale_free_network(15, 3, centred=True, random_state=3)
    return model, model.sample(3000, random_state=4, method="exact")


def edges_of(result):
    return set(map(tuple, result.refitted.point.potentials.layout.edges.tolist()))


def test_finds_planted_edges_and_says_how(planted):
    model, table = planted
    result = learn(table)
    truth = set(map(tuple, model.potentials.layout.edges.tolist()))
    found = edges_of(result)
    assert 2 * len(truth & found) / (len(truth) + len(found)) > 0.95
    assert len(result.path) == STEPS
    assert [point.chosen for point in result.path] == [False] * (STEPS - 1) + [True]
    assert result.outcome.certificate.converged
    tests = result.choice.tests
    assert (tests.n_kept, tests.n_required, tests.fdr) == (len(found), 0, 0.01)
    assert tests.n_listed == result.outcome.certificate.n_edges
    assert tests.n_tests == result.evidence.n_tests
    trace = result.outcome.trace
    assert [record.index for record in trace] == list(range(len(trace)))
    for name in ("seconds", "blocks_scored", "evaluations", "tables_counted"):
        values = [getattr(record, name) for record in trace]
        assert values == sorted(values)
    evidence = result.evidence
    assert set(map(tuple, evidence.edges.pairs.tolist())) == found
    assert (np.exp(evidence.edge_log_q) <= 0.01).all()
    assert (np.exp(evidence.other_log_q) > 0.01).all()


def test_every_method_ends_at_the_same_answer(planted):
    _, table = planted
    recipes = [make() for make in RECIPES.values()]
    answers = [learn(table, recipe=recipe) for recipe in recipes if not recipe.sized]
    for answer in answers[1:]:
        assert edges_of(answer) == edges_of(answers[0])
        certificate = answer.outcome.certificate
        assert np.isclose(certificate.objective, answers[0].outcome.certificate.objective)
        order = [np.lexsort(a.evidence.edges.pairs.T) for a in (answer, answers[0])]
        p = [a.evidence.edges.log_p[o] for a, o in zip((answer, answers[0]), order, strict=True)]
        assert np.allclose(*p, rtol=1e-7)


def test_the_likelihood_screens_and_weighs_while_tests_are_of_the_pseudo_likelihood(planted):
    _, table = planted
    result = learn(table, loss=lambda sample: Likelihood(sample, JunctionTree()))
    plain = learn(table)
    assert edges_of(result) == edges_of(plain)
    loss = Likelihood(prepare(table), JunctionTree())
    point = loss.at(result.refitted.point.potentials)
    n_unary = point.potentials.layout.n_unary
    slope = point.gradient.copy()
    slope[n_unary:] += point.potentials.weights[n_unary:] / table.n_rows
    assert np.abs(slope).max() < 1e-4


def test_independent_columns_rarely_give_edges():
    """At a rate of .05 one table in twenty shows an edge by chance: of 40 hardly more than 7."""
    with_edges = 0
    for seed in range(40):
        codes = np.random.default_rng(seed).integers(0, 3, (12, 500)).astype(np.uint8)
        table = Table(tuple("abcdefghijkl"), ((0, 1, 2),) * 12, codes)
        with_edges += len(edges_of(learn(table, fdr=0.05))) > 0
    assert with_edges <= 7


def test_a_higher_rate_keeps_more():
    table = random_table(8, n=12, rows=150)
    few, many = (edges_of(learn(table, fdr=fdr)) for fdr in (1e-6, 0.2))
    assert len(few) < len(many)


def test_whole_weights_equal_repeated_rows():
    rng = np.random.default_rng(1)
    for seed, most in ((11, 3), (12, 2)):  # with the second, repeated rows are not all merged
        table = random_table(seed, n=8, rows=400)
        counts = np.where(rng.random(400) < 0.1 * most, most, 1)
        counts[rng.random(400) < 0.05] = 0
        weighted = Table(table.names, table.states, table.codes, counts.astype(float))
        repeated = Table(table.names, table.states, np.repeat(table.codes, counts, axis=1))
        first, second = learn(weighted), learn(repeated)
        assert edges_of(first) == edges_of(second)
        assert np.isclose(
            first.outcome.certificate.objective, second.outcome.certificate.objective, atol=1e-8
        )
        assert np.isclose(first.refitted.objective, second.refitted.objective, atol=1e-8)
        for part in ("edges", "others"):
            one, other = getattr(first.evidence, part), getattr(second.evidence, part)
            places = [np.lexsort(x.pairs.T) for x in (one, other)]
            assert np.array_equal(one.pairs[places[0]], other.pairs[places[1]])
            p = [np.exp(x.log_p[o]) for x, o in zip((one, other), places, strict=True)]
            assert np.allclose(*p, atol=1e-8, rtol=1e-8)


def test_the_number_of_threads_changes_nothing():
    table = random_table(14, n=10, rows=900)
    results = [learn(table, n_jobs=n) for n in (1, 2, 3)]
    for other in results[1:]:
        assert np.array_equal(other.evidence.edges.log_p, results[0].evidence.edges.log_p)
        weights = [r.refitted.point.potentials.weights for r in (other, results[0])]
        assert np.array_equal(*weights)


def test_required_edges_stay_and_forbidden_pairs_are_not_tested():
    table = random_table(15, n=8, rows=300)
    free = learn(table)
    forbidden = next(iter(sorted(edges_of(free))))
    space = [(i, j) for i in range(8) for j in range(i + 1, 8)]
    striking = set(map(tuple, free.evidence.others.pairs.tolist()))
    required = next(p for p in space if p not in edges_of(free) | striking and 7 in p)
    prior = PairFactors.of(8, [forbidden], np.inf).requiring([required])
    known = learn(table, prior)
    assert required in edges_of(known)
    assert forbidden not in edges_of(known)
    assert known.evidence.n_tests == len(space) - 1
    place = known.evidence.edges.pairs.tolist().index(list(required))
    assert np.exp(known.evidence.edge_log_q[place]) > 0.01


@pytest.mark.parametrize("most", [0, 1, 5])
def test_an_edge_budget_keeps_the_surest(planted, most):
    result = learn(planted[1], budget=Budget(max_edges=most))
    assert len(edges_of(result)) == most
    assert result.outcome.certificate.stop == "edges"


@pytest.mark.some(3)
@pytest.mark.parametrize("most", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("seed", [31, 34])
def test_a_limit_is_reached_whatever_the_search_does(most, seed):
    table = make_scale_free(12, 5, n_rows=800, random_state=seed).data
    free, limited = (MarkovNetwork(max_edges=k).fit(table) for k in (None, most))
    assert limited.model_.n_edges == most
    assert limited.choice_.tests.max_edges == most
    assert free.choice_.tests.max_edges is None
    surest = [set(edge) for edge in free.edges_[["first", "second"]].to_numpy().tolist()]
    assert all(set(edge) in surest for edge in limited.model_.edges)


class StopAt:
    """An observer that presses Ctrl-C when a stage begins, or in its first round."""

    def __init__(self, stage, at_once):
        self.stage, self.at_once, self.here = stage, at_once, False

    def on_stage(self, text, step, steps):
        assert 0 <= step <= steps
        self.here = text.startswith(self.stage)
        if self.here and self.at_once:
            raise KeyboardInterrupt

    def on_round(self, record):
        if self.here:
            raise KeyboardInterrupt

    def on_network(self, potentials):
        pass

    def on_search(self, tested, total):
        pass


@pytest.mark.parametrize(
    ("stage", "at_once"),
    [
        ("lambda 0.0", False),
        ("short list", False),
        ("refitting", True),
        ("testing", True),
        ("final", True),
    ],
)
def test_an_interrupt_keeps_the_best_so_far(planted, stage, at_once):
    result = learn(planted[1], observer=StopAt(stage, at_once))
    assert result.outcome.interrupted
    assert result.evidence is None
    assert (result.choice.stop, result.choice.tests) == ("interrupted", None)
    assert result.choice.how == ("testing" if stage in ("testing", "final") else "tests")
    assert np.isfinite(result.refitted.point.potentials.weights).all()


def test_an_interrupt_in_a_refit_is_not_lost(planted, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(refits, "refit", interrupted)
    result = learn(planted[1])
    assert result.outcome.interrupted
    assert not result.outcome.certificate.converged


@pytest.mark.parametrize("copies", [2, 3, 4, 5])
@pytest.mark.parametrize("states", [2, 3])
def test_copies_of_a_column_are_not_all_let_go(copies, states):
    """Edges that can stand in for each other must not leave together; weights stay finite."""
    column = np.random.default_rng(copies).integers(0, states, 200).astype(np.uint8)
    names = tuple(f"c{k}" for k in range(copies))
    table = Table(names, (tuple(range(states)),) * copies, np.stack([column] * copies))
    potentials = learn(table).refitted.point.potentials
    assert set(potentials.layout.edges.ravel().tolist()) == set(range(copies))
    assert np.abs(potentials.weights).max() < 20


def test_noisy_copies_are_not_all_let_go():
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 3, 200)
    noisy = [np.where(rng.random(200) < 0.05, rng.integers(0, 3, 200), hidden) for _ in range(6)]
    table = Table(tuple("abcdef"), ((0, 1, 2),) * 6, np.stack(noisy).astype(np.uint8))
    assert {v for edge in edges_of(learn(table)) for v in edge} == set(range(6))


@pytest.mark.parametrize(
    ("budget", "stop"),
    [
        (Budget(max_tests=1), "tests"),
        (Budget(max_seconds=0.0), "seconds"),
        (Budget(max_rounds=1), "rounds"),
    ],
)
def test_budgets_hold_for_the_whole_path_and_what_is_kept_is_solved(planted, budget, stop):
    result = learn(planted[1], budget=budget)
    assert result.outcome.certificate.stop == stop
    assert not result.outcome.certificate.converged
    assert result.outcome.certificate.stationarity <= 1e-6


def test_pairs_that_were_not_tested_as_edges_are_left_out_when_the_time_is_up(monkeypatch):
    """Pairs that pass a first look are no edges yet."""
    table = make_scale_free(12, 5, n_rows=800, random_state=31).data
    seen = {"late": False}

    def nothing_listed(potentials, *arguments):
        return only(potentials, np.zeros(potentials.layout.n_edges, dtype=bool))

    enter = StructureSearch.enter

    def entering(network, pairs):
        seen["late"], seen["entered"] = True, len(pairs)
        enter(network, pairs)

    known = Refits.known
    monkeypatch.setattr(Refits, "known", lambda own, start: nothing_listed(start)
                        if not seen["late"] else known(own, start))  # fmt: skip
    monkeypatch.setattr(StructureSearch, "enter", entering)
    monkeypatch.setattr(LambdaPath, "late", lambda path: seen["late"])
    result = learn(table)
    assert seen["entered"] > 0
    assert result.choice.how == "testing"
    assert result.refitted.point.potentials.layout.n_edges == 0


def test_rare_states_do_not_make_edges_and_real_ones_are_found():
    """Columns with five ones in 5,000 rows meet by chance; twenty ones that always meet do not."""
    rng = np.random.default_rng(2)
    codes = np.zeros((30, 5000), dtype=np.uint8)
    for row in codes:
        row[rng.choice(5000, 5, replace=False)] = 1
    names, states = tuple(f"v{i}" for i in range(30)), ((0, 1),) * 30
    assert not edges_of(learn(Table(names, states, codes)))
    codes[:2] = 0
    codes[:2, rng.choice(5000, 20, replace=False)] = 1
    assert edges_of(learn(Table(names, states, codes))) == {(0, 1)}


def test_an_interrupt_before_there_is_any_network_goes_on(monkeypatch):
    def begin(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("graftwork.grafting.state.RunState.begin", begin)
    with pytest.raises(KeyboardInterrupt):
        MarkovNetwork().fit(np.eye(4, dtype=int)[[0, 1, 2, 3] * 9])


@pytest.fixture
def some_rows(monkeypatch):
    """A few thousand rows are many."""
    for name, value in (("MANY_ROWS", 1000), ("LEAST_ROWS", 300), ("MOST_SHARE", 0.8)):
        monkeypatch.setattr(structure, name, value)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_path_walked_with_some_of_the_rows_ends_at_the_same_network(request, weighted):
    table = make_scale_free(10, (2, 3, 4, 5, 2) * 2, n_rows=20_000, random_state=3).data
    if weighted:
        table = table.with_weights(np.random.default_rng(0).integers(1, 3, table.n_rows) * 1.0)
    whole = MarkovNetwork(n_jobs=1).fit(table)
    request.getfixturevalue("some_rows")
    begun = MarkovNetwork(n_jobs=1).fit(table)
    assert begun.path_[0].loss != whole.path_[0].loss
    assert [point.lam for point in begun.path_] == [point.lam for point in whole.path_]
    assert begun.certificate_.converged
    assert begun.objective_ == pytest.approx(whole.objective_, abs=1e-9)
    assert begun.model_.edges == whole.model_.edges
    here, there = (_sorted(net.evidence_.edges) for net in (begun, whole))
    np.testing.assert_allclose(here, there, rtol=1e-9)


def test_an_interrupt_on_the_way_with_some_of_the_rows_keeps_the_best_so_far(some_rows):
    table = make_scale_free(8, 3, n_rows=20_000, random_state=3).data
    stopped = MarkovNetwork(n_jobs=1, verbose=StopAt("lambda 0.0", at_once=False))
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(table)
    assert stopped.certificate_.stop == "interrupted"
    assert len(stopped.path_) < STEPS
    assert np.isfinite(stopped.score(table))


def _sorted(findings):
    return findings.log_p[np.lexsort(findings.pairs.T)]


@pytest.mark.parametrize("limit", ["FEWEST_PAIRS", "FEWEST_PRODUCTS"])
@pytest.mark.parametrize("seed", [0, 1])
def test_settling_among_close_pairs_ends_at_the_network_of_testing_all(seed, limit, monkeypatch):
    table = make_scale_free(66, 2, n_rows=400, random_state=seed).data
    for name in ("FEWEST_PAIRS", "FEWEST_PRODUCTS"):  # of pairs, and of pairs times rows
        monkeypatch.setattr(absent.pair_screen, name, 0 if name == limit else 10**12)
    close = MarkovNetwork(n_jobs=1).fit(table)
    monkeypatch.setattr(absent.pair_screen, limit, 10**12)
    every = MarkovNetwork(n_jobs=1).fit(table)
    assert set(close.model_.edges) == set(every.model_.edges)
    np.testing.assert_allclose(*(_sorted(net.evidence_.edges) for net in (close, every)), rtol=1e-6)
    assert (close.evidence_.edge_log_q <= np.log(0.01)).all()
    assert (close.evidence_.other_log_q > np.log(0.01)).all()


def test_of_very_many_pairs_fewer_are_listed_and_the_edges_are_the_same(monkeypatch):
    table = make_scale_free(30, 2, n_rows=2000, random_state=0).data
    whole = MarkovNetwork().fit(table)
    assert whole.evidence_.striking == 0.05
    monkeypatch.setattr(structure, "LISTED_BY_CHANCE", 4.35)  # of 435 pairs: p of .01
    fewer = MarkovNetwork().fit(table)
    assert fewer.evidence_.striking == pytest.approx(0.01)
    assert fewer.edges_.equals(whole.edges_)
    others, all_others = fewer.evidence_.others, whole.evidence_.others
    listed = all_others.log_p < np.log(0.01)
    assert 0 < len(others.pairs) == listed.sum() < len(all_others.pairs)
    assert np.array_equal(others.log_p, all_others.log_p[listed])
    text = " ".join(fewer.summary().split())
    assert "a p-value below 0.01; chance alone gives about 4" in text
