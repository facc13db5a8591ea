"""Sums by codes of other variables, against one-hot matrices."""

import numpy as np
import pytest

from doors.data import table_offsets
from doors.inference import offsets
from doors.kernels import pair_sums as kernel

CARDS, EXTENDED = np.array([3, 2, 4, 2]), np.array([3, 3, 8, 2])
PAIRS = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
STARTS = table_offsets(EXTENDED, PAIRS)
ROWS = 80
EIGHT = (0,) * 8


@pytest.fixture(scope="module")
def codes():
    return np.random.default_rng(0).integers(0, EXTENDED[:, None], (4, ROWS)).astype(np.uint8)


def one_hot(codes, j):
    return np.eye(EXTENDED[j])[codes[j]]


def counts_of(codes):
    tables = [one_hot(codes, i).T @ one_hot(codes, j) for i, j in PAIRS]
    return np.concatenate([table.ravel() for table in tables])


def table_of(vector, k, side):
    """A pair's table of own states by the other's codes."""
    i, j = PAIRS[k]
    table = vector[STARTS[k] : STARTS[k + 1]].reshape(EXTENDED[i], EXTENDED[j])
    return table[: CARDS[i]] if side == 0 else table[:, : CARDS[j]].T


def observed_totals(codes, k, side):
    """In how many rows the variable is observed, by the other's code."""
    node, other = PAIRS[k, side], PAIRS[k, 1 - side]
    return (codes[node] < CARDS[node]) @ one_hot(codes, other)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("merged", [False, True])
def test_conditionals_are_added_by_the_others_codes(codes, merged, weighted):
    rng = np.random.default_rng(1)
    conditionals = rng.random((9 if merged else ROWS, 4))
    ids = rng.integers(0, 9, ROWS).astype(np.int32) if merged else np.zeros(0, np.int32)
    masses = rng.random(ROWS) if weighted else np.zeros(0)
    others = np.array([2, 1])
    out = np.full(8 * 3 + 3 * 3, np.nan)
    kernel.sum_by_others(
        (0,) * 4, conditionals.ravel(), 3, ids, masses, others, codes, EXTENDED,
        np.array([0, 24]), np.array([8, 1]), np.array([1, 3]), out,
    )  # fmt: skip
    rows = conditionals[ids] if merged else conditionals
    p = rows[:, :3] * (masses[:, None] if weighted else 1.0)
    assert np.allclose(out[:24].reshape(3, 8), p.T @ one_hot(codes, 2))
    assert np.allclose(out[24:].reshape(3, 3), one_hot(codes, 1).T @ p)


def test_variables_without_neighbours_need_no_rows(codes):
    own = np.random.default_rng(2).random(CARDS.sum())
    starts, sums = offsets(CARDS), np.full((2, STARTS[-1]), np.nan)
    degrees = np.array([0, 0, 1, 0])
    counts = counts_of(codes)
    kernel.sum_alone(PAIRS, STARTS, degrees, CARDS, EXTENDED, starts, own, counts, sums)
    for k, pair in enumerate(PAIRS):
        for side in (0, 1):
            found = table_of(sums[side], k, side)
            if degrees[pair[side]]:
                assert np.isnan(found).all()
                continue
            totals = observed_totals(codes, k, side)
            p = own[starts[pair[side]] : starts[pair[side] + 1]]
            assert np.allclose(found, np.outer(p, totals) / totals.sum())


def test_rows_are_added_to_the_cells_they_lie_in(codes):
    """Variables 0 and 1 share nine cells, 2 has eight of its own."""
    rng = np.random.default_rng(3)
    variables, strides = np.array([0, 1, 2]), np.array([1, 3, 1])
    bounds, bases, sizes = np.array([0, 2, 3]), np.array([0, 9]), np.array([9, 8])
    cells, start, count = np.empty((50, 2), np.uint32), 20, 50
    kernel.find_cells(variables, strides, bounds, bases, codes, start, 8, cells)
    here = codes[:, start : start + count].astype(np.int64)
    assert np.array_equal(cells, 8 * np.stack([here[0] + 3 * here[1], 9 + here[2]], axis=1))
    conditionals, masses = rng.random((ROWS, 4)), rng.random(ROWS)
    ids, own = np.arange(ROWS, dtype=np.int32)[::-1].copy(), np.zeros(count * 8)
    kernel.take_states(4, 1, 3, conditionals.ravel(), ids, masses, start, 2, 8, own)
    wanted = (masses[:, None] * conditionals[ids])[start : start + count, 1:3]
    assert np.array_equal(own.reshape(count, 8)[:, 2:4], wanted)
    sums, out, places = np.zeros(17 * 8), np.zeros(14 * 8), np.array([0, 3, 6])
    kernel.add_rows(EIGHT, own, cells.ravel(), sums)
    kernel.part_cells(EIGHT, strides, EXTENDED[variables], bounds, bases, sizes, places, sums, out)
    hot = np.hstack([one_hot(codes, j)[start : start + count] for j in variables])
    assert np.allclose(out.reshape(14, 8), hot.T @ own.reshape(count, 8))
    blocks, both = np.ones((2, 14, 8)), np.stack([own, 2.0 * own])
    kernel.add_blocks(
        EIGHT, both, cells.ravel(), strides, EXTENDED[variables], bounds, bases, sizes, places,
        blocks,
    )  # fmt: skip
    for block, times in zip(blocks, (1.0, 2.0), strict=True):
        assert np.allclose(block, 1.0 + times * out.reshape(14, 8))


@pytest.mark.parametrize("side", [0, 1])
def test_products_are_placed_and_the_last_state_is_the_rest(codes, side):
    """The lines of variables 0, 2 and 3: all states but the last."""
    rng, degrees = np.random.default_rng(4), np.array([1, 0, 1, 1])
    lines, columns = np.array([0, -1, 2, 5]), offsets(EXTENDED)[:-1]
    products, sums = rng.random((1, EXTENDED.sum(), 8)), np.full((2, STARTS[-1]), np.nan)
    kernel.place_products(
        PAIRS, side, STARTS, degrees, lines, columns, products, CARDS, EXTENDED,
        counts_of(codes), sums,
    )  # fmt: skip
    for k, pair in enumerate(PAIRS):
        node, other, found = pair[side], pair[1 - side], table_of(sums[side], k, side)
        if not degrees[node]:
            assert np.isnan(found).all()
            continue
        first = columns[other]
        free = products[0, first : first + EXTENDED[other], lines[node] :][:, : CARDS[node] - 1]
        rest = observed_totals(codes, k, side) - free.sum(axis=1)
        assert np.allclose(found, np.vstack([free.T, rest]))


def test_codes_are_folded_to_the_states_they_count_as():
    """Variable 1 has one code for averages, variable 2 a drawn code for each state."""
    rng = np.random.default_rng(5)
    values, ends = rng.random((2, STARTS[-1])), table_offsets(CARDS, PAIRS)
    frequencies = np.concatenate([rng.dirichlet(np.ones(s)) for s in CARDS])
    starts, out = offsets(CARDS), np.zeros((2, ends[-1]))
    kernel.fold_codes(PAIRS, CARDS, EXTENDED, starts, frequencies, values, STARTS, ends, out)
    counted = [np.eye(s) for s in CARDS]
    counted[1] = np.vstack([np.eye(2), frequencies[starts[1] : starts[2]]])
    counted[2] = np.vstack([np.eye(4), np.eye(4)])
    for k, (i, j) in enumerate(PAIRS):
        for side in (0, 1):
            found = out[side, ends[k] : ends[k + 1]].reshape(CARDS[i], CARDS[j])
            wanted = table_of(values[side], k, side) @ counted[PAIRS[k, 1 - side]]
            assert np.allclose(found if side == 0 else found.T, wanted)
