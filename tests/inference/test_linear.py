"""Messages as numbers answer as messages in logarithms do, or leave it to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graftwork.inference import Layout, LoopyBP, Potentials

from doors.inference import (
    attempt,
    linear_tables,
    propagate_numbers,
    read,
    read_numbers,
    ready,
    settle,
)
from support.brute import GRAPHS, complete, random_potentials


def both(potentials, sweeps=200, tol=1e-9, damping=0.0, seed=None):
    """Return attempt and beliefs by numbers, then by logarithms."""
    layout, tables = potentials.layout, ready(potentials)
    assert tables.linear is not None
    start = np.zeros(layout.cards[layout.edges].sum())
    if seed is not None:
        start = -np.random.default_rng(seed).random(start.size)
    found = propagate_numbers(layout, tables.linear, start, sweeps, tol, damping == 0.5)
    assert found is not None
    assert read_numbers(layout, tables.linear, found[0]) is not None
    for each in (tables, replace(tables, linear=None)):
        ran = attempt(layout, each, start, sweeps, tol, damping)
        yield ran, read(layout, each, ran.messages)


def assert_same(potentials, **options):
    (fast, (values, log_z)), (slow, (expected, expected_z)) = both(potentials, **options)
    assert fast.sweeps == slow.sweeps
    np.testing.assert_allclose(fast.messages, slow.messages, rtol=0, atol=1e-12)
    np.testing.assert_allclose(fast.residual, slow.residual, rtol=1e-5, atol=1e-14)
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=0)
    np.testing.assert_allclose(log_z, expected_z, rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_numbers_and_logarithms_agree(name, damping, rng):
    assert_same(random_potentials(rng, *GRAPHS[name], 0.7), damping=damping, seed=3)


@pytest.mark.parametrize("states", [2, 3, 4, 5, 8, 9, 16])
def test_they_agree_for_every_length_of_vectors(states, rng):
    edges = [(i, j) for i in range(12) for j in range(i + 1, 12) if rng.random() < 0.3]
    assert_same(random_potentials(rng, [states] * 12, edges, 0.4))


@pytest.mark.parametrize("sweeps", [1, 2, 7])
def test_they_agree_before_they_converge(sweeps, rng):
    potentials = random_potentials(rng, [3, 2, 5, 4, 2, 3], complete(6), 1.0)
    assert_same(potentials, sweeps=sweeps, tol=0.0)


def test_they_agree_at_a_hub_that_underflows_many_times(rng):
    """Three thousand messages: their product has exponents beyond those of a float64."""
    edges = [(0, k) for k in range(1, 3001)]
    potentials = random_potentials(rng, [3] * 3001, edges, 1.0)
    tables = ready(potentials)
    assert tables.linear is not None
    fast, slow = (
        settle(potentials.layout, each, np.zeros(18_000), 1, 0.0, 0.0, restart=True)
        for each in (tables, replace(tables, linear=None))
    )
    np.testing.assert_allclose(fast.messages, slow.messages, rtol=0, atol=1e-11)
    values, log_z = read(potentials.layout, tables, fast.messages)
    expected, expected_z = read(potentials.layout, replace(tables, linear=None), slow.messages)
    np.testing.assert_allclose(values, expected, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(log_z, expected_z, rtol=1e-13)


@pytest.mark.parametrize("what", ["table", "unary", "start", "zero"])
def test_extremes_are_left_to_logarithms(what, rng):
    potentials = random_potentials(rng, [3] * 4, complete(4), 0.5)
    layout, weights = potentials.layout, potentials.weights
    start = np.zeros(36)
    if what == "table":
        layout.table(weights, 0)[:, 1] -= 500.0
    elif what == "zero":
        layout.table(weights, 0)[:, 1] = -np.inf
    elif what == "unary":
        layout.unary(weights, 0)[2] = -np.inf
    else:
        start[4] = -np.inf
    tables = ready(potentials)
    if tables.linear is not None:
        assert propagate_numbers(layout, tables.linear, start, 9, 0.0, False) is None
    one = attempt(layout, tables, start, 9, 0.0, 0.0)
    two = attempt(layout, replace(tables, linear=None), start, 9, 0.0, 0.0)
    np.testing.assert_array_equal(one.messages, two.messages)


def test_a_zero_that_no_message_shows_needs_no_logarithms(rng):
    potentials = random_potentials(rng, [3] * 4, complete(4), 0.5)
    potentials.layout.table(potentials.weights, 2)[1, 1] = -np.inf
    (fast, (values, log_z)), (_, (expected, expected_z)) = both(potentials)
    assert fast.residual <= 1e-9
    np.testing.assert_allclose(values, expected, rtol=1e-11, atol=0)
    np.testing.assert_allclose(log_z, expected_z, rtol=1e-13)


def test_too_many_states_are_left_to_logarithms():
    layout = Layout.of([17, 2], [(0, 1)])
    assert linear_tables(layout, np.zeros(19), np.ones(34)) is None
    assert LoopyBP().infer(Potentials(layout, layout.zeros())).converged
