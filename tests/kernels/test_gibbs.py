"""Conditionals of rows against plain sums, and chains against the distribution they draw from."""

import numpy as np
import pytest
from scipy.stats import kstest

from doors.inference import conditionals, look_ups
from doors.kernels import gibbs as kernel
from support.brute import enumerate_states, random_potentials

CARDS, EDGES = [3, 2, 20, 2], [(0, 1), (1, 2), (2, 3), (1, 3)]


@pytest.mark.parametrize("size", [0.5, 500.0], ids=["products", "logarithms"])
def test_log_conditionals_are_those_of_the_energy(size):
    rng = np.random.default_rng(0)
    potentials = random_potentials(rng, CARDS, EDGES, size)
    energy = enumerate_states(potentials).energy
    x = rng.integers(0, np.array(CARDS)[:, None], (4, 2 * kernel.LANES)).astype(np.uint8)
    out = np.ones(x.shape[1])
    given = conditionals(potentials.layout, potentials.weights)
    kernel.sum_conditionals(x, *given.arrays(), out)
    for column, found in zip(x.T.tolist(), out, strict=True):
        wanted = 1.0
        for i in range(4):
            rest = energy[tuple(slice(None) if k == i else column[k] for k in range(4))]
            wanted += rest[column[i]] - np.logaddexp.reduce(rest)
        assert np.isclose(found, wanted, rtol=1e-10)


def draws_of(potentials, state, lanes, free=None, burn_in=20, draws=40):
    """Return chains from all zeros on, shape (n, draws, lanes)."""
    given, n = conditionals(potentials.layout, potentials.weights), len(CARDS)
    fast = look_ups(potentials.layout, given)
    x, out = np.zeros((n, lanes), np.uint8), np.zeros((n, draws, lanes), np.uint8)
    kernel.run_chains(
        fast.sizes, x, np.arange(n) if free is None else free, fast.narrow, state, burn_in, 1,
        fast.unaries, fast.tables, *given.arrays(), out,
    )  # fmt: skip
    return out


def generators(lanes):
    return np.random.default_rng(1).integers(1, 2**32, (4, lanes)).astype(np.uint32)


def test_chains_draw_from_the_network():
    potentials = random_potentials(np.random.default_rng(2), CARDS, EDGES, 0.7)
    lanes = 16 * kernel.LANES
    out = draws_of(potentials, generators(lanes), lanes).reshape(4, -1)
    twin = enumerate_states(potentials)
    for i, s in enumerate(CARDS):
        shares = np.bincount(out[i], minlength=s) / out.shape[1]
        assert np.abs(shares - twin.marginal(i)).max() < 0.02
    shares = np.histogram2d(out[1], out[3], [range(3), range(3)])[0] / out.shape[1]
    assert np.abs(shares - twin.marginal(1, 3)).max() < 0.02


def test_a_chain_is_the_same_whatever_runs_beside_it():
    potentials = random_potentials(np.random.default_rng(3), CARDS, EDGES)
    lanes = 2 * kernel.LANES
    both = draws_of(potentials, generators(lanes), lanes)
    alone = draws_of(potentials, generators(lanes)[:, kernel.LANES :].copy(), kernel.LANES)
    assert np.array_equal(both[:, :, kernel.LANES :], alone)


def test_variables_that_are_not_free_stay():
    potentials = random_potentials(np.random.default_rng(4), CARDS, EDGES)
    out = draws_of(potentials, generators(kernel.LANES), kernel.LANES, free=np.array([0, 2]))
    assert not out[[1, 3]].any()
    assert out[[0, 2]].any()


def test_draws_are_dealt_to_the_columns_of_their_lanes():
    part = np.arange(2 * 3 * 4).reshape(2, 3, 4).astype(np.uint8)
    out = np.full((2, 9), 99, dtype=np.uint8)
    kernel.deal(part, np.array([0, 3, 6]), np.array([3, 5, 9]), out)
    for i in range(2):
        wanted = [*part[i, :, 0], *part[i, :2, 1], 99, *part[i, :, 2]]
        assert out[i].tolist() == wanted


def test_cells_are_drawn_one_after_the_other_given_the_others_of_their_rows():
    """A chain of three variables; of the last cell drawn the first one is a neighbour's."""
    rng = np.random.default_rng(5)
    cards, tables = np.array([2, 3, 2]), (rng.normal(size=(2, 3)), rng.normal(size=(3, 2)))
    unaries = [rng.normal(size=s) for s in cards]
    weights = np.concatenate([*unaries, *(table.ravel() for table in tables)])
    halves = np.array([[1, 7, 3, 1], [0, 7, 1, 3], [2, 13, 2, 1], [1, 13, 1, 2]])
    indptr, offsets = np.array([0, 1, 3, 4]), np.array([0, 2, 5, 7])
    rows, starts = np.array([0, 3, 1, 3]), np.array([0, 2, 4, 4])
    codes = rng.integers(0, 2, (3, 4)).astype(np.uint8)
    drawn, wanted = codes.copy(), codes.astype(np.int64)
    kernel.draw_cells(
        2, 7, 100, rows, starts, cards, offsets, weights, indptr, halves, drawn
    )  # fmt: skip
    assert not np.array_equal(drawn, codes)

    def state(logits, row, i):
        shares = np.exp(logits) / np.exp(logits).sum()
        return int((shares.cumsum() <= kernel.uniform_at(7, 100 + row, 2 * 3 + i)).sum())

    for row in (0, 3):
        wanted[0, row] = state(unaries[0] + tables[0][:, wanted[1, row]], row, 0)
    for row in (1, 3):
        logits = unaries[1] + tables[0][wanted[0, row]] + tables[1][:, wanted[2, row]]
        wanted[1, row] = state(logits, row, 1)
    assert np.array_equal(drawn, wanted)


def test_numbers_by_counters_look_random():
    numbers = np.array([kernel.uniform_at(3, r, k) for r in range(300) for k in range(20)])
    grid = numbers.reshape(300, 20)
    assert kstest(numbers, "uniform").pvalue > 1e-3
    assert np.abs(np.corrcoef(grid.T) - np.eye(20)).max() < 0.25
    assert np.abs(np.corrcoef(grid[:-1].ravel(), grid[1:].ravel())[0, 1]) < 0.05
    assert len(np.unique(numbers)) == numbers.size
