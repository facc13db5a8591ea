"""What leaves the network: zeros at once, zeros at the end, or small weights at the end."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from graftwork.grafting import AtTheEnd, Budget, Problem, Zeros, graft
from graftwork.objectives import PseudoLikelihood
from graftwork.penalties import L1, GroupL1

from doors.data import prepare
from doors.recipes import full, grafting, grafting_light, priority
from support.problems import random_table

N = 6
PENALTIES = {"l1": L1(0.03, 0.01), "group": GroupL1(0.03)}


def problem_of(penalty):
    sample = prepare(random_table(101, n=N, rows=200, most=3))
    return Problem(PseudoLikelihood(sample, 1), PENALTIES[penalty])


class Watching:
    """An observer that keeps the tables of every round."""

    def __init__(self):
        self.tables = []

    def on_stage(self, text, step, steps):
        pass

    def on_round(self, record):
        pass

    def on_network(self, potentials):
        self.tables.append(tables_of(potentials))

    def on_search(self, tested, total):
        pass


def tables_of(potentials):
    layout, weights = potentials.layout, potentials.weights
    return {tuple(p): layout.table(weights, e) for e, p in enumerate(layout.edges.tolist())}


def watch(penalty, recipe, **options):
    watching = Watching()
    outcome = graft(problem_of(penalty), recipe, observer=watching, **options)
    return outcome, watching.tables


@cache
def optimum(penalty):
    return graft(problem_of(penalty), full(), tolerance=1e-9)


def test_what_each_pruner_lets_go():
    largest = np.array([0.0, 1e-5, 0.5, 0.0])
    cases = {
        Zeros(): ([True, False, False, True], [True, False, False, True]),
        Zeros(1e-4): ([True, False, False, True], [True, True, False, True]),
        Zeros(1.0): ([True, False, False, True], [True] * 4),
        AtTheEnd(): ([False] * 4, [True, False, False, True]),
    }
    for pruner, expected in cases.items():
        for final in (False, True):
            assert pruner.leaving(largest, final).tolist() == expected[final]
            assert pruner.leaving(np.zeros(0), final).tolist() == []


@pytest.mark.parametrize("penalty", PENALTIES)
def test_at_the_end_zeros_stay_until_then(penalty):
    outcome, tables = watch(penalty, full())
    all_of_them = N * (N - 1) // 2
    left = outcome.certificate.n_edges
    assert 0 < left < all_of_them
    sizes = [len(network) for network in tables]
    assert sizes[0] == 0
    before = sizes[1 : sizes.index(left)]
    assert before
    assert set(before) == {all_of_them}
    assert set(sizes[sizes.index(left) :]) == {left}
    last = tables[sizes.index(left) - 1]  # solved, and with its zeros
    assert sum(not table.any() for table in last.values()) == all_of_them - left
    assert sum(record.pruned for record in outcome.trace) == all_of_them - left
    assert all(table.any() for table in tables[-1].values())
    assert outcome.certificate.converged
    assert outcome.certificate.n_tested == all_of_them - left  # and looked at again


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("pruner", [Zeros(), AtTheEnd()])
def test_when_zeros_leave_changes_nothing_of_the_end(pruner, penalty):
    for recipe in (full(), grafting(count=8, features=False), grafting_light(count=20)):
        outcome, tables = watch(penalty, replace(recipe, pruner=pruner))
        best = optimum(penalty)
        assert outcome.certificate.converged
        assert np.isclose(outcome.certificate.objective, best.certificate.objective, rtol=1e-8)
        assert set(tables[-1]) == set(tables_of(best.potentials))


def test_zeros_leave_in_the_round_they_appear():
    _, tables = watch("group", replace(full(), pruner=Zeros()))
    assert all(table.any() for network in tables for table in network.values())
    outcome, tables = watch("l1", replace(grafting_light(count=20), pruner=Zeros()))
    assert sum(record.pruned for record in outcome.trace) > 0
    for record, network in zip(outcome.trace, tables, strict=True):
        assert record.blocks == sum(int((table != 0).sum()) for table in network.values())


@pytest.mark.parametrize("name", ["priority", "grafting-tables"])
def test_a_threshold_drops_small_tables_and_the_certificate_says_so(name):
    sizes = {pair: np.abs(t).max() for pair, t in tables_of(optimum("l1").potentials).items()}
    epsilon = float(np.sort(list(sizes.values()))[1:3].mean())  # between the second and third
    recipe = {
        "priority": priority(epsilon=epsilon),
        "grafting-tables": replace(grafting(features=False), pruner=Zeros(epsilon)),
    }[name]
    outcome, tables = watch("l1", recipe)
    certificate = outcome.certificate
    kept = {pair for pair, size in sizes.items() if size >= epsilon}
    assert len(kept) == len(sizes) - 2
    assert set(tables[-1]) == kept
    assert certificate.n_edges == len(kept)
    assert certificate.stop == "pruned"
    assert not certificate.converged
    assert certificate.max_violation > certificate.tolerance
    assert certificate.stationarity <= certificate.tolerance  # and the rest solved again
    assert certificate.objective > optimum("l1").certificate.objective
    if name == "grafting-tables":  # which looks at all of them; priority stops at the first
        assert certificate.coverage == 1.0
    assert any(record.pruned == 2 for record in outcome.trace)


def test_a_threshold_drops_small_cells_of_features():
    best = graft(problem_of("l1"), grafting(count=10), tolerance=1e-9)
    cells = np.sort(
        np.abs(np.concatenate([t[t != 0] for t in tables_of(best.potentials).values()]))
    )
    epsilon = float(cells[1:3].mean())  # two are smaller
    assert cells[1] < 0.9 * epsilon < epsilon < 0.9 * cells[2]
    outcome, tables = watch("l1", replace(grafting(count=10), pruner=Zeros(epsilon)))
    assert outcome.certificate.stop == "pruned"
    assert not outcome.certificate.converged
    assert outcome.certificate.stationarity <= outcome.certificate.tolerance
    assert sum(int((t != 0).sum()) for t in tables[-1].values()) == len(cells) - 2


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_threshold_nothing_is_below_drops_nothing(penalty):
    smallest = min(np.abs(t).max() for t in tables_of(optimum(penalty).potentials).values())
    outcome, _ = watch(penalty, priority(epsilon=0.9 * smallest))
    assert outcome.certificate.converged
    assert outcome.certificate.stop == "optimal"
    assert np.isclose(
        outcome.certificate.objective, optimum(penalty).certificate.objective, rtol=1e-8
    )


def test_a_threshold_above_everything_leaves_the_independent_network():
    outcome, tables = watch("group", priority(epsilon=100.0))
    assert tables[-1] == {}
    assert outcome.certificate.stop == "pruned"
    assert np.isclose(outcome.certificate.objective, outcome.trace[0].objective, rtol=1e-12)


@pytest.mark.parametrize("budget", [Budget(max_edges=8), Budget(max_rounds=6)], ids=str)
@pytest.mark.parametrize("epsilon", [0.1, 0.3])
def test_what_a_budget_leaves_is_solved_after_small_tables_went(budget, epsilon):
    outcome, tables = watch("l1", priority(epsilon=epsilon), budget=budget)
    certificate = outcome.certificate
    assert certificate.stop in ("edges", "rounds")
    assert certificate.stationarity <= certificate.tolerance
    assert 0 < certificate.n_edges == len(tables[-1]) <= 8
    assert not certificate.converged
