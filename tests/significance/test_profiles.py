"""Inverses of Hessians that rounding errors spoiled."""

import numpy as np
import pytest

from doors.objectives import RAISED, inverse


def test_the_inverse_is_that_of_the_matrix():
    root = np.random.default_rng(0).normal(size=(6, 8))
    matrix = root @ root.T
    assert np.allclose(inverse(matrix) @ matrix, np.eye(6), atol=1e-7)


@pytest.mark.parametrize("least", [0.0, -1e-9, -1e-5, -1e-2])
def test_a_matrix_that_is_not_quite_definite_is_raised_until_it_is(least):
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]
    values = np.array([least, 0.5, 1.0, 2.0, 3.0])
    matrix = turn @ np.diag(values) @ turn.T
    matrix = 0.5 * (matrix + matrix.T)
    found, mean = inverse(matrix), np.trace(matrix) / 5
    share = next(share for share in RAISED if share * mean > -least)
    assert np.allclose(found @ (matrix + share * mean * np.eye(5)), np.eye(5), atol=1e-5)
    assert np.array_equal(found, found.T)
    assert np.linalg.eigvalsh(found).min() > 0


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize("place", [(1, 1), (0, 2)])
def test_what_is_not_finite_has_no_inverse(wrong, place):
    matrix = np.eye(3)
    matrix[place] = matrix[place[::-1]] = wrong
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        inverse(matrix)


def test_a_matrix_of_zeros_has_one_too():
    assert np.isfinite(inverse(np.zeros((2, 2)))).all()
