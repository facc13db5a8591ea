"""Loops over ragged tables, against numpy table by table."""

import numpy as np
import pytest

from doors.data import Scores
from doors.inference import Layout
from doors.kernels import add_mean_rows, centre_tables, part_norms, subtract_mean_slopes

LAYOUT = Layout.of([2, 3, 4, 1], [(0, 1), (1, 2), (0, 3)])
ARGUMENTS = LAYOUT.cards, LAYOUT.edges, LAYOUT.edge_offsets


@pytest.fixture
def vector():
    return np.random.default_rng(0).normal(size=LAYOUT.size)


@pytest.fixture
def frequencies():
    rng = np.random.default_rng(1)
    return np.concatenate([rng.dirichlet(np.ones(s)) for s in LAYOUT.cards])


def test_tables_are_double_centred(vector):
    centred = vector.copy()
    centre_tables(centred, *ARGUMENTS)
    assert np.array_equal(centred[: LAYOUT.n_unary], vector[: LAYOUT.n_unary])
    for e in range(LAYOUT.n_edges):
        table = LAYOUT.table(vector, e)
        wanted = table - table.mean(axis=1, keepdims=True)
        wanted = wanted - wanted.mean(axis=0)
        assert np.allclose(LAYOUT.table(centred, e), wanted, atol=1e-14)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_unaries_get_what_tables_add_on_average(vector, frequencies, sign):
    found, wanted = vector.copy(), vector.copy()
    add_mean_rows(found, *ARGUMENTS, LAYOUT.unary_offsets, frequencies, sign)
    for e, (i, j) in enumerate(LAYOUT.edges):
        table = LAYOUT.table(vector, e)
        LAYOUT.unary(wanted, i)[:] += sign * table @ LAYOUT.unary(frequencies, j)
        LAYOUT.unary(wanted, j)[:] += sign * LAYOUT.unary(frequencies, i) @ table
    assert np.allclose(found, wanted, atol=1e-14)


def test_slopes_are_the_transpose_of_that(vector, frequencies):
    """With unaries that move against the tables, the slope along a step is that of both."""
    gradient, step = vector.copy(), np.random.default_rng(2).normal(size=LAYOUT.size)
    step[: LAYOUT.n_unary] = 0.0
    both = step.copy()
    add_mean_rows(both, *ARGUMENTS, LAYOUT.unary_offsets, frequencies, -1.0)
    subtract_mean_slopes(gradient, *ARGUMENTS, LAYOUT.unary_offsets, frequencies)
    assert np.isclose(gradient @ step, vector @ both, rtol=1e-12)


def test_a_linear_part_that_is_a_rounding_error_is_zero():
    scores = Scores.of([None, np.arange(3.0), np.arange(4.0), None], LAYOUT.cards, degree=1)
    vector = LAYOUT.zeros()
    LAYOUT.table(vector, 1)[:] = 3.7 * np.outer(scores.bases[1][:, 0], scores.bases[2][:, 0])
    starts, basis = LAYOUT.edge_offsets[:-1], (scores.values, scores.starts, scores.sizes)
    norms = part_norms(vector, starts, LAYOUT.edges, scores.cards, *basis)
    assert np.allclose(norms[1], [3.7, 0.0], atol=1e-14)
    assert norms[1, 1] == 0.0
