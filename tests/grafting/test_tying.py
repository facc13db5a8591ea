"""Tying: few values, near the learned network, nothing where nothing is needed."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from graftwork.data import Table
from graftwork.estimators import MarkovNetwork
from graftwork.grafting import Problem
from graftwork.inference import JunctionTree, Layout, LoopyBP, Potentials, TreeReweighted
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.penalties import GroupL1
from graftwork.selection import refit

from doors.data import prepare
from doors.grafting import tie, tying
from doors.objectives import independent_potentials
from support.problems import random_sample, random_table

LOSSES = {
    "pseudo": lambda sample: PseudoLikelihood(sample, 1),
    "exact": lambda sample: Likelihood(sample, JunctionTree()),
    "bp": lambda sample: Likelihood(sample, LoopyBP()),
    "trw": lambda sample: Likelihood(sample, TreeReweighted()),
}


def learned(sample, objective, edges=((0, 1), (1, 2), (0, 2), (2, 3))):
    start = independent_potentials(sample)
    layout = Layout.of(sample.cards, edges)
    weights = layout.zeros()
    weights[: layout.n_unary] = start.weights
    problem = Problem(objective, GroupL1(0.01))
    return refit(problem, Potentials(layout, weights), 1e-6).point.potentials


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_weights_take_no_more_values(loss, count):
    sample = random_sample(1, n=4, rows=150, most=3)
    objective = LOSSES[loss](sample)
    potentials = learned(sample, objective)
    tying = tie(objective, potentials, count)
    weights = tying.potentials.weights
    different = np.unique(weights[weights != 0])
    assert len(different) <= count
    assert tying.values.tolist() == different.tolist()
    assert tying.n_weights == np.count_nonzero(weights)
    assert np.isfinite(weights).all()
    assert tying.loss_before == pytest.approx(objective.at(potentials).value, rel=1e-12)
    assert tying.loss_after == pytest.approx(objective.at(tying.potentials).value, rel=1e-9)
    assert np.array_equal(tying.potentials.layout.edges, potentials.layout.edges)


def best_by_enumeration(objective, tied, potentials, count):
    """The smallest divergence of all groupings of the few weights that are not zero."""
    layout = tied.layout
    held = np.flatnonzero(tied.weights)
    slope = objective.at(potentials).gradient
    best = np.inf
    for groups in itertools.product(range(count), repeat=len(held)):
        if set(groups) != set(range(count)):
            continue

        def divergence(values, groups=groups):
            weights = layout.zeros()
            weights[held] = values[list(groups)]
            point = objective.at(Potentials(layout, weights))
            change = point.gradient - slope
            sums = np.bincount(groups, change[held], minlength=count)
            return point.value - slope @ weights, sums

        found = minimize(divergence, np.zeros(count), jac=True, method="BFGS")
        best = min(best, float(found.fun))
    return best


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_few_weights_are_grouped_as_well_as_by_enumeration(seed):
    sample = random_sample(seed, n=3, rows=120, most=2)
    objective = PseudoLikelihood(sample, 1)
    potentials = learned(sample, objective, ((0, 1), (1, 2), (0, 2)))
    slope = objective.at(potentials).gradient
    tying = tie(objective, potentials, 2)
    assert tying.n_weights == 6
    reached = objective.at(tying.potentials).value - slope @ tying.potentials.weights
    least = objective.at(potentials).value - slope @ potentials.weights
    best = best_by_enumeration(objective, tying.potentials, potentials, 2)
    assert reached >= best - 1e-9
    assert reached - least <= 1.25 * (best - least) + 1e-9


def test_more_values_come_nearer():
    sample = random_sample(4, n=4, rows=300, most=4)
    objective = PseudoLikelihood(sample, 1)
    potentials = learned(sample, objective)
    slope = objective.at(potentials).gradient
    base = objective.at(potentials).value - slope @ potentials.weights
    away = []
    for count in (1, 2, 4, 8, 16):
        weights = tie(objective, potentials, count).potentials.weights
        value = objective.at(Potentials(potentials.layout, weights)).value
        away.append(value - slope @ weights - base)
    assert away == sorted(away, reverse=True)
    assert away[-1] < 0.02 * away[0]


def test_the_end_is_stationary_in_the_values():
    sample = random_sample(2, n=4, rows=150, most=3)
    objective = PseudoLikelihood(sample, 1)
    potentials = learned(sample, objective)
    tying = tie(objective, potentials, 3, tolerance=1e-8)
    weights = tying.potentials.weights
    change = objective.at(tying.potentials).gradient - objective.at(potentials).gradient
    for value in tying.values:
        assert abs(change[weights == value].sum()) <= 1e-8


@pytest.mark.parametrize("loss", ["pseudo", "exact"])
def test_as_many_values_as_weights_change_nothing(loss):
    sample = random_sample(1, n=4, rows=150, most=3)
    objective = LOSSES[loss](sample)
    potentials = learned(sample, objective)
    distinct = len(np.unique(potentials.weights[potentials.weights != 0]))
    for count in (distinct, 10**9):
        tying = tie(objective, potentials, count)
        assert tying.potentials is potentials
        assert tying.rounds == 0
    degrees = int((sample.cards - 1).sum())
    degrees += sum(
        (sample.cards[i] - 1) * (sample.cards[j] - 1) for i, j in potentials.layout.edges
    )
    assert degrees < distinct
    tying = tie(objective, potentials, degrees)  # other numbers for the same network
    assert tying.rounds == 0
    assert len(tying.values) <= degrees
    assert objective.at(tying.potentials).value == pytest.approx(tying.loss_before, rel=1e-12)


def test_features_stay_zero():
    sample = random_sample(3, n=3, rows=100, most=3)
    layout = Layout.of(sample.cards, [(0, 1), (1, 2)])
    weights = layout.zeros()
    weights[: layout.n_unary] = independent_potentials(sample).weights
    layout.table(weights, 0)[1, 0], layout.table(weights, 1)[0, 1] = 0.5, -0.3
    tying = tie(PseudoLikelihood(sample, 1), Potentials(layout, weights), 2)
    tables = tying.potentials.weights[layout.n_unary :]
    assert np.flatnonzero(tables).tolist() == np.flatnonzero(weights[layout.n_unary :]).tolist()


def test_threads_do_not_matter():
    sample = random_sample(5, n=6, rows=400, most=4)
    edges = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5))
    one, two = PseudoLikelihood(sample, 1), PseudoLikelihood(sample, 2)
    potentials = learned(sample, one, edges)
    assert np.array_equal(
        tie(one, potentials, 4).potentials.weights, tie(two, potentials, 4).potentials.weights
    )


def test_weighted_rows_are_repeated_rows():
    counts = np.arange(1, 61) % 4 + 1.0
    weighted = random_table(9, n=3, rows=60, most=3, weights=counts)
    repeated = Table(
        weighted.names, weighted.states, np.repeat(weighted.codes, counts.astype(int), axis=1)
    )
    ends = []
    for table in (weighted, repeated):
        sample = prepare(table)
        objective = PseudoLikelihood(sample, 1)
        ends.append(tie(objective, learned(sample, objective, ((0, 1), (1, 2))), 3))
    assert ends[0].loss_after == pytest.approx(ends[1].loss_after, abs=1e-6)
    np.testing.assert_allclose(ends[0].values, ends[1].values, atol=1e-3)


def test_separable_data_stay_finite():
    column = np.arange(60) % 2
    table = Table(("a", "b", "c"), ((0, 1),) * 3, np.stack([column, column, 1 - column]))
    sample = prepare(table)
    objective = PseudoLikelihood(sample, 1)
    tying = tie(objective, learned(sample, objective, ((0, 1), (1, 2))), 2)
    assert np.abs(tying.potentials.weights).max() < 50
    assert tying.loss_after < 3 * np.log(2)


def test_bits_and_bytes():
    sample = random_sample(4, n=4, rows=300, most=4)
    objective = PseudoLikelihood(sample, 1)
    tying = tie(objective, learned(sample, objective), 7)
    assert tying.bits == 3  # seven values and zero
    size = tying.potentials.layout.size
    assert tying.n_bytes == (8 * size, 8 * 8 + -(-size * 3 // 8))
    assert len(tying.values) == 7
    assert tying.n_weights == np.count_nonzero(tying.potentials.weights)


@pytest.mark.parametrize("count", [0, -1, 2.5, True, None, "3"])
def test_counts_that_mean_nothing_are_refused(count):
    sample = random_sample(0, n=2, rows=20, most=2)
    with pytest.raises(ValueError, match="count must be"):
        tie(PseudoLikelihood(sample, 1), independent_potentials(sample), count)


def test_a_limit_on_time_holds_for_tying_too(monkeypatch):
    table = random_table(3, n=6, rows=400)
    whole = MarkovNetwork(lam=0.01, tie=3, n_jobs=1).fit(table)
    assert whole.tying_.rounds == tying.ROUNDS
    asked = iter(range(10**9))
    found = tie(
        PseudoLikelihood(prepare(table), 1),
        MarkovNetwork(lam=0.01, n_jobs=1).fit(table).model_.potentials,
        3,
        halted=lambda: next(asked) > 40,
    )
    assert 0 < found.rounds < tying.ROUNDS
    assert len(found.values) <= 3
