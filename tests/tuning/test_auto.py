"""lam="auto": the path, the refit, the words."""

import numpy as np
import pytest
from problems import dense_pseudo, random_table

from graftwork.data import Table
from graftwork.data.compact import prepare
from graftwork.datasets import scale_free_network
from graftwork.grafting import Budget, Problem, graft
from graftwork.objectives import PseudoLikelihood
from graftwork.penalties import GroupL1
from graftwork.recipes import RECIPES, best_choice
from graftwork.tuning import find_levels, learn_without_lambda, refit
from graftwork.tuning.path import STEPS
from graftwork.tuning.prices import edge_prices


def learn(table, **options):
    options = {"recipe": best_choice(), "rng": np.random.default_rng(0)} | options
    return learn_without_lambda(
        PseudoLikelihood(prepare(table)), GroupL1, PseudoLikelihood, **options
    )


@pytest.fixture(scope="module")
def planted():
    model = scale_free_network(15, 3, random_state=3)
    return model, model.sample(3000, random_state=4, method="exact")


def edges_of(potentials):
    return set(map(tuple, potentials.layout.edges.tolist()))


def test_the_largest_lambda_gives_no_edge_and_a_little_less_gives_one():
    table = random_table(31, n=6, rows=300)
    problem = Problem(PseudoLikelihood(prepare(table)), GroupL1(1.0))
    levels = find_levels(problem, PseudoLikelihood, np.random.default_rng(0))
    assert 0 < levels.noise < levels.largest
    for factor, expected in ((1.001, 0), (0.98, 1)):
        penalised = Problem(problem.objective, GroupL1(factor * levels.largest))
        outcome = graft(penalised, best_choice(), tolerance=1e-9)
        assert outcome.certificate.n_edges == expected


def test_finds_planted_edges_and_says_how(planted):
    model, table = planted
    result = learn(table)
    truth = set(map(tuple, model.potentials.layout.edges.tolist()))
    found = edges_of(result.refitted.point.potentials)
    assert 2 * len(truth & found) / (len(truth) + len(found)) > 0.9
    assert len(result.path) == STEPS
    assert sum(point.chosen for point in result.path) == 1
    assert result.outcome.certificate.converged
    assert "noise level" in result.words
    lams = [point.lam for point in result.path]
    assert lams == sorted(lams, reverse=True)
    trace = result.outcome.trace
    assert [record.index for record in trace] == list(range(len(trace)))
    for name in ("seconds", "blocks_scored", "evaluations", "tables_counted"):
        values = [getattr(record, name) for record in trace]
        assert values == sorted(values)


def test_every_method_ends_at_the_same_answer(planted):
    _, table = planted
    recipes = [make() for make in RECIPES.values()]
    answers = [learn(table, recipe=recipe) for recipe in recipes if not recipe.sized]
    for answer in answers[1:]:
        assert edges_of(answer.refitted.point.potentials) == edges_of(
            answers[0].refitted.point.potentials
        )
        assert np.isclose(
            answer.outcome.certificate.objective,
            answers[0].outcome.certificate.objective,
            rtol=1e-8,
        )


def test_independent_columns_rarely_give_edges():
    """One table in twenty may show an edge by chance: among 30, more than 5 would be a defect."""
    with_edges = 0
    for seed in range(30):
        codes = np.random.default_rng(seed).integers(0, 3, (12, 500)).astype(np.uint8)
        table = Table(tuple("abcdefghijkl"), ((0, 1, 2),) * 12, codes)
        with_edges += len(edges_of(learn(table).refitted.point.potentials)) > 0
    assert with_edges <= 5


def test_refit_is_stationary_for_the_ridge():
    table = random_table(32, n=5, rows=200)
    problem = Problem(PseudoLikelihood(prepare(table)), GroupL1(0.03))
    start = graft(problem, best_choice()).potentials
    end = refit(problem, start, 1e-8).point.potentials
    _, gradient = dense_pseudo(table, end.weights, end.layout.edges)
    gradient[end.layout.n_unary :] += end.weights[end.layout.n_unary :] / table.n_rows
    assert np.abs(gradient).max() < 1e-7


def test_an_exact_copy_of_a_column_stays_finite():
    column = np.random.default_rng(0).integers(0, 3, 200).astype(np.uint8)
    table = Table(("a", "b"), ((0, 1, 2),) * 2, np.stack([column, column]))
    result = learn(table)
    assert edges_of(result.refitted.point.potentials) == {(0, 1)}
    assert np.abs(result.refitted.point.potentials.weights).max() < 20


def test_prices_grow_with_the_table_and_the_number_of_pairs():
    small, large = (
        Problem(PseudoLikelihood(prepare(random_table(33, n=n, most=5))), GroupL1(1.0))
        for n in (4, 12)
    )
    pair = np.array([[0, 1]])
    assert edge_prices(large, pair)[0] > 0
    cards = small.objective.sample.cards
    order = np.argsort([(cards[i] - 1) * (cards[j] - 1) for i, j in [(0, 1), (1, 2), (2, 3)]])
    prices = edge_prices(small, np.array([(0, 1), (1, 2), (2, 3)]))
    assert np.all(np.diff(prices[order]) >= 0)


def test_an_edge_budget_holds_for_the_refit_too(planted):
    _, table = planted
    result = learn(table, budget=Budget(max_edges=5))
    assert len(edges_of(result.refitted.point.potentials)) <= 5
    assert result.outcome.certificate.stop == "edges"


class StopAt:
    """An observer that presses Ctrl-C at a stage."""

    def __init__(self, stage):
        self.stage = stage

    def on_stage(self, text, step, steps):
        self.here = text.startswith(self.stage)

    def on_round(self, record):
        if self.here:
            raise KeyboardInterrupt

    def on_network(self, potentials):
        pass

    def on_search(self, tested, total):
        pass


@pytest.mark.parametrize("stage", ["lambda 0.0", "final"])
def test_an_interrupt_keeps_the_best_so_far(planted, stage):
    result = learn(planted[1], observer=StopAt(stage))
    assert result.outcome.interrupted
    assert np.isfinite(result.refitted.point.potentials.weights).all()


def test_an_interrupt_in_a_refit_is_not_lost(planted, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("graftwork.tuning.auto.refit", interrupted)
    result = learn(planted[1])
    assert result.outcome.interrupted
    assert not result.outcome.certificate.converged


@pytest.mark.parametrize("copies", [3, 4, 5])
@pytest.mark.parametrize("states", [2, 3])
def test_copies_of_a_column_are_not_all_let_go(copies, states):
    """Edges that can stand in for each other must not leave together."""
    column = np.random.default_rng(copies).integers(0, states, 200).astype(np.uint8)
    names = tuple(f"c{k}" for k in range(copies))
    table = Table(names, (tuple(range(states)),) * copies, np.stack([column] * copies))
    potentials = learn(table).refitted.point.potentials
    assert set(potentials.layout.edges.ravel().tolist()) == set(range(copies))


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
