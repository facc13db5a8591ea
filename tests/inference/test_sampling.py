from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from graftwork.inference import Layout, Potentials

from doors.inference import conditionals, gibbs_sample, log_conditionals, sampling
from doors.kernels import SMALL
from support.brute import GRAPHS, complete, enumerate_states, random_potentials


def conditionals_twin(potentials, codes):
    """sum_i log p(x_i | the others) of one joint state, from the energies of its neighbours."""
    energy = enumerate_states(potentials).energy
    total = 0.0
    for i in range(len(codes)):
        line = energy[tuple(slice(None) if k == i else c for k, c in enumerate(codes))]
        top = line.max()
        total += line[codes[i]] - top - np.log(np.exp(line - top).sum())
    return total


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("scale", [1.0, 400.0])
def test_log_conditionals_equal_a_plain_twin(name, scale, rng):
    cards, edges = GRAPHS[name]
    potentials = random_potentials(rng, cards, edges, scale)
    codes = rng.integers(0, np.array(cards)[:, None], size=(len(cards), 21)).astype(np.uint8)
    expected = [conditionals_twin(potentials, column) for column in codes.T]
    np.testing.assert_allclose(
        log_conditionals(potentials, codes), expected, rtol=1e-11, atol=1e-11
    )


def test_log_conditionals_of_impossible_rows_and_any_number_of_threads(rng):
    layout = Layout.of([2, 3], [(0, 1)])
    weights = rng.normal(size=layout.size)
    layout.table(weights, 0)[1, 2] = -np.inf
    codes = rng.integers(0, [[2], [3]], size=(2, 5000)).astype(np.uint16)
    one = log_conditionals(Potentials(layout, weights), codes, n_jobs=1)
    two = log_conditionals(Potentials(layout, weights), codes, n_jobs=2)
    np.testing.assert_array_equal(one, two)
    impossible = (codes[0] == 1) & (codes[1] == 2)
    np.testing.assert_array_equal(np.isneginf(one), impossible)


@pytest.mark.parametrize("name", ["tree", "isolated", "cycle", "grid", "complete", "one state"])
def test_gibbs_draws_match_the_marginals(name, rng):
    cards, edges = GRAPHS[name]
    potentials = random_potentials(rng, cards, edges, 0.5)
    n = 40_000
    codes = gibbs_sample(potentials, n, rng, burn_in=200, thin=5)
    assert codes.shape == (len(cards), n)
    truth = enumerate_states(potentials)
    for i in range(len(cards)):
        seen = np.bincount(codes[i], minlength=cards[i]) / n
        np.testing.assert_allclose(seen, truth.marginal(i), atol=0.015)
    for i, j in edges:
        seen = np.zeros((cards[i], cards[j]))
        np.add.at(seen, (codes[i], codes[j]), 1 / n)
        np.testing.assert_allclose(seen, truth.marginal(i, j), atol=0.015)


def tug_of_war(rng, cards, pull):
    """A cycle in which two neighbours pull variable 0 to different states, both as strongly.

    All but the first two states lose, and the weights of those are exp(-pull) of the largest
    number there is in each table: float32 does for a small pull, float64 for a medium one.
    """
    n = len(cards)
    edges = [(0, n - 1), *((k, k + 1) for k in range(n - 1))]
    potentials = random_potentials(rng, cards, edges, 0.7)
    for edge in (0, 1):
        potentials.layout.table(potentials.weights, edge)[edge] += pull
    return potentials


@pytest.mark.some(3)
@pytest.mark.parametrize("pull", [0.0, 100.0, 700.0])
@pytest.mark.parametrize(
    "cards", [(2, 2, 2), (3, 2, 4), (5, 5, 5), (2, 9, 3), (3, 16, 2), (4, 17, 2), (2, 2, 12, 33)]
)
def test_gibbs_draws_have_the_exact_joint_distribution(cards, pull, rng):
    """One draw from each of many chains: independent, so that chi-square holds."""
    potentials = tug_of_war(rng, cards, pull)
    n = 60_000
    codes = gibbs_sample(potentials, n, rng, burn_in=60, thin=1, n_chains=n)
    energy = enumerate_states(potentials).energy
    truth = np.exp(energy - energy.max()).ravel()
    expected = n * truth / truth.sum()
    seen = np.bincount(np.ravel_multi_index(codes.astype(np.int64), cards), minlength=truth.size)
    rare = expected < 5.0
    if rare.any():
        expected = np.append(expected[~rare], expected[rare].sum())
        seen = np.append(seen[~rare], seen[rare].sum())
    kept = expected > 1e-9
    assert not seen[~kept].any()
    excess = ((seen - expected)[kept] ** 2 / expected[kept]).sum()
    assert chi2.sf(excess, kept.sum() - 1) > 1e-4


def test_gibbs_chains_are_the_same_whatever_runs_beside_them(rng):
    """Lanes that are redone in float64 leave the others as they are."""
    potentials = tug_of_war(rng, (3, 4, 5, 2), 69.0)
    start = rng.integers(0, potentials.layout.cards, size=(80, 4))
    options = {"burn_in": 20, "n_chains": 80, "start": start}
    one, five = (
        gibbs_sample(potentials, 800, np.random.default_rng(3), n_jobs=jobs, **options)
        for jobs in (1, 5)
    )
    np.testing.assert_array_equal(one, five)
    given = conditionals(potentials.layout, np.array(potentials.weights))
    codes, first = one.astype(np.int64), given.indptr[0]
    weights = [
        given.exps[given.starts[t] + 3 * codes[given.neighbours[t]][:, None] + np.arange(3)]
        for t in range(first, given.indptr[1])
    ]
    small = (given.unary_exps[:3] * np.prod(weights, axis=0)).sum(axis=1) < SMALL
    assert 0.02 < small.mean() < 0.98


def test_gibbs_goes_on_where_a_part_of_the_draws_ended(rng, monkeypatch):
    potentials = random_potentials(rng, *GRAPHS["grid"])
    options = {"burn_in": 5, "thin": 2, "n_chains": 3}
    whole = gibbs_sample(potentials, 50, np.random.default_rng(1), **options)
    monkeypatch.setattr(sampling, "HELD_CODES", 1000)
    np.testing.assert_array_equal(
        gibbs_sample(potentials, 50, np.random.default_rng(1), **options), whole
    )


def test_gibbs_with_more_states_than_a_byte_holds(rng):
    potentials = random_potentials(rng, [300, 2], [(0, 1)], 0.5)
    codes = gibbs_sample(potentials, 60_000, rng, burn_in=10, thin=1, n_chains=60_000)
    expected = enumerate_states(potentials).marginal(0) * 60_000
    seen = np.bincount(codes[0], minlength=300)
    assert chi2.sf(((seen - expected) ** 2 / expected).sum(), 299) > 1e-4


def test_gibbs_does_not_depend_on_threads_or_lanes():
    potentials = random_potentials(np.random.default_rng(0), *GRAPHS["grid"])
    draws = [
        gibbs_sample(
            potentials, 100, np.random.default_rng(5), burn_in=20, n_chains=20, n_jobs=jobs
        )
        for jobs in (1, 2, 2)
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    np.testing.assert_array_equal(draws[0], draws[2])
    other = gibbs_sample(potentials, 100, np.random.default_rng(6), burn_in=20, n_chains=20)
    assert (other != draws[0]).any()


def test_gibbs_keeps_fixed_variables_and_zeros_out(rng):
    potentials = random_potentials(rng, *GRAPHS["complete"], 1.0)
    layout = potentials.layout
    layout.unary(potentials.weights, 2)[1] = -np.inf
    fixed = np.full(6, -1)
    fixed[4] = 2
    codes = gibbs_sample(potentials, 3_000, rng, burn_in=50, fixed=fixed)
    assert (codes[4] == 2).all()
    assert not (codes[2] == 1).any()
    truth = enumerate_states(potentials)
    given = truth.marginal(4, 0)[2]
    seen = np.bincount(codes[0], minlength=2) / 3_000
    np.testing.assert_allclose(seen, given / given.sum(), atol=0.05)


def test_gibbs_with_potentials_that_underflow(rng):
    cards, edges = [3] * 4, complete(4)
    potentials = random_potentials(rng, cards, edges, 0.5)
    shift = potentials.layout.table(potentials.weights, 0)
    shift[:, 1:] -= 2000.0
    codes = gibbs_sample(potentials, 2_000, rng, burn_in=100)
    assert (codes[1] == 0).all()


def test_gibbs_starts_where_it_is_told(rng):
    """Couplings that no sweep breaks: each chain stays in the state it was given."""
    potentials = random_potentials(rng, [4] * 5, complete(5), 0.1)
    for e in range(10):
        potentials.layout.table(potentials.weights, e)[:] += 200.0 * np.eye(4)
    start = np.repeat(np.arange(4)[:, None], 5, axis=1)
    codes = gibbs_sample(potentials, 12, rng, burn_in=3, n_chains=4, start=start)
    np.testing.assert_array_equal(codes, np.tile(np.repeat(np.arange(4), 3), (5, 1)))


@pytest.mark.parametrize("n", [0, 1, 7])
def test_gibbs_gives_as_many_rows_as_asked(n, rng):
    potentials = random_potentials(rng, [2, 3], [(0, 1)])
    assert gibbs_sample(potentials, n, rng, burn_in=1).shape == (2, n)


def test_gibbs_refuses_nonsense(rng):
    potentials = random_potentials(rng, [2], [])
    with pytest.raises(ValueError, match="thin"):
        gibbs_sample(potentials, 1, rng, thin=0)
