"""Calibrated unaries, and populations, against enumeration and a junction tree."""

import numpy as np
import pytest

from graftwork.inference import JunctionTree, Layout, Potentials

from doors.inference import ISLANDS, Population, calibrate, is_quick
from doors.inference import calibration as calibrating
from support.brute import complete, enumerate_states, random_potentials

CARDS, EDGES = [2, 3, 2, 4, 3], [(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4)]


def margins_of(potentials):
    joint = enumerate_states(potentials)
    return np.concatenate([joint.marginal(i) for i in range(potentials.layout.n_variables)])


def wanted_for(rng, cards):
    return np.concatenate([rng.dirichlet(np.full(states, 2.0)) for states in cards])


@pytest.mark.parametrize("scale", [0.5, 1.5, 4.0])
def test_margins_are_those_wanted_and_tables_stay(rng, scale):
    potentials = random_potentials(rng, CARDS, EDGES, scale)
    wanted = wanted_for(rng, CARDS)
    found = calibrate(potentials, wanted)
    np.testing.assert_allclose(margins_of(found.potentials), wanted, atol=2e-6)
    np.testing.assert_allclose(found.margins, wanted, atol=2e-6)
    n = potentials.layout.n_unary
    np.testing.assert_array_equal(found.potentials.weights[n:], potentials.weights[n:])
    assert found.exact
    assert found.noise == 0.0


def test_the_unaries_are_those_of_the_network_that_the_margins_are_of(rng):
    truth = random_potentials(rng, CARDS, EDGES)
    n = truth.layout.n_unary
    start = Potentials(truth.layout, np.concatenate([np.zeros(n), truth.weights[n:]]))
    found = calibrate(start, margins_of(truth)).potentials.weights[:n]
    for i in range(len(CARDS)):
        own, there = (truth.layout.unary(each, i) for each in (found, truth.weights))
        np.testing.assert_allclose(own - own.mean(), there - there.mean(), atol=1e-4)


def test_rare_states_get_their_small_probability(rng):
    potentials = random_potentials(rng, CARDS, EDGES)
    potentials.layout.table(potentials.weights, 0)[:, 2] = 0.0
    wanted = wanted_for(rng, CARDS)
    wanted[2:5] = [0.4, 0.6 - 1e-5, 1e-5]
    found = margins_of(calibrate(potentials, wanted).potentials)
    np.testing.assert_allclose(found, wanted, atol=5e-6)
    assert 0.5e-5 < found[4] < 2e-5


def test_strongly_coupled_variables_do_not_diverge():
    # All six together: steps of all unaries by their own variances would overshoot five times.
    layout = Layout.of([2] * 6, complete(6))
    weights = layout.zeros()
    for e in range(layout.n_edges):
        layout.table(weights, e)[:] = [[1.0, 0.0], [0.0, 1.0]]
    wanted = np.tile([0.8, 0.2], 6)
    found = calibrate(Potentials(layout, weights), wanted)
    np.testing.assert_allclose(margins_of(found.potentials), wanted, atol=1e-6)


def two_regions():
    """Return a network of twelve variables whose chains stay in one of two regions."""
    layout = Layout.of([2] * 12, complete(12))
    weights = layout.zeros()
    for e in range(layout.n_edges):
        layout.table(weights, e)[:] = [[1.5, 0.0], [0.0, 1.5]]
    return Potentials(layout, weights)


def test_a_population_finds_the_weight_of_both_regions():
    potentials = two_regions()
    potentials.weights[0] = 0.7
    population = Population(potentials.layout, potentials.weights[:24], np.random.default_rng(3))
    population.grow(potentials)
    mean, errors = population.mean(population.margins(potentials))
    exact = JunctionTree().infer(potentials).values[:24]
    assert population.codes.shape[1] % ISLANDS == 0
    assert 0.0 < errors.max() < 0.02
    assert np.abs(mean - exact).max() < 4.0 * errors.max()


def test_a_population_calibrates_without_a_junction_tree(monkeypatch):
    monkeypatch.setattr(calibrating, "QUICK_CELLS", 0)
    monkeypatch.setattr(calibrating, "ALL_CELLS", 0)
    potentials = two_regions()
    wanted = np.tile([0.7, 0.3], 12)
    assert not is_quick(potentials.layout)
    found = calibrate(potentials, wanted)
    exact = JunctionTree().infer(found.potentials).values[:24]
    before = JunctionTree().infer(potentials).values[:24]
    assert np.abs(before - wanted).max() > 0.15
    assert np.abs(exact - wanted).max() < 0.02
    again = calibrate(potentials, wanted, n_jobs=2)
    np.testing.assert_array_equal(again.potentials.weights, found.potentials.weights)


def test_without_time_a_population_gives_nothing(monkeypatch):
    monkeypatch.setattr(calibrating, "QUICK_CELLS", 0)
    assert calibrate(two_regions(), np.full(24, 0.5), lambda: True) is None
