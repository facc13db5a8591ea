"""Vectors of several chains: products against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from doors.kernels import BLOCKS, SIDE, TILES, add_products, mix, turn

LANES = len(SIDE)


@njit
def _mix(size, table, entry, row_step, source, first, step, count, out, place, out_step):
    mix(SIDE, size, table, entry, row_step, source, first, step, count, out, place, out_step)


@njit
def _add_products(size, count, left, left_step, right, out, out_step):
    add_products(SIDE, size, count, left, 1, left_step, 20, right, 2, 9, out, 3, out_step)


@njit
def _turn(source, step, out, out_step):
    turn(SIDE, source, 1, step, out, 2, out_step)


def numbers(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("size", BLOCKS)
def test_mix_multiplies_a_table_with_vectors(size):
    table, source = numbers(0, 7, 15), numbers(1, 20, LANES)
    out = np.zeros((40, LANES))
    _mix(size, table.ravel(), 2, 15, source.ravel(), 1, 3, 6, out.ravel(), 4, 2)
    wanted = np.zeros_like(out)
    wanted[4 : 4 + 2 * size : 2] = table[:6, 2 : 2 + size].T @ source[1:19:3]
    np.testing.assert_allclose(out, wanted, atol=1e-13)


@pytest.mark.parametrize("size", TILES)
def test_products_are_added_over_positions(size):
    left, right, out = numbers(0, 5, 20, LANES), numbers(1, 5, 9, LANES), numbers(2, 30, LANES)
    wanted = out.copy()
    for i in range(size):
        for j in range(size):
            wanted[3 + 6 * i + j] += (left[:, 1 + 4 * i] * right[:, 2 + j]).sum(axis=0)
    _add_products(size, 5, left.ravel(), 4, right.ravel(), out.ravel(), 6)
    np.testing.assert_allclose(out, wanted, atol=1e-13)


def test_turning_exchanges_rows_and_columns():
    source, out = numbers(0, LANES, LANES + 3), np.zeros((LANES + 1, LANES + 5))
    _turn(source.ravel(), LANES + 3, out.ravel(), LANES + 5)
    np.testing.assert_array_equal(out[:LANES, 2 : 2 + LANES], source[:, 1 : 1 + LANES].T)
