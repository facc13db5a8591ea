"""Linear parts of tables, against projections by matrices."""

import numpy as np
import pytest

from doors.data import Scores
from doors.inference import Layout
from doors.kernels import part_norms, scale_parts

CARDS = np.array([4, 5, 3, 2])
SCORES = Scores.of([np.arange(4.0), np.array([0.0, 1, 2, 5, 9]), None, None], CARDS, degree=1)
TWO = Scores.of([np.arange(4.0), np.arange(5.0), None, None], CARDS, degree=2)
LAYOUT = Layout.of(CARDS, [(0, 1), (0, 2), (1, 3)])


def projector(scores, i):
    basis = scores.bases[i]
    s = len(basis)
    return basis @ basis.T if basis.shape[1] else np.eye(s) - np.full((s, s), 1 / s)


def arguments(scores):
    starts = LAYOUT.edge_offsets[:-1]
    return starts, LAYOUT.edges, scores.cards, scores.values, scores.starts, scores.sizes


@pytest.mark.parametrize("scores", [SCORES, TWO])
def test_both_parts_are_projections(scores):
    vector = np.random.default_rng(0).normal(size=LAYOUT.size)
    norms = part_norms(vector, *arguments(scores))
    factors = np.random.default_rng(1).normal(size=(3, 2))
    scaled = vector.copy()
    scale_parts(scaled, *arguments(scores), factors)
    assert np.array_equal(scaled[: LAYOUT.n_unary], vector[: LAYOUT.n_unary])
    for e, (i, j) in enumerate(LAYOUT.edges):
        table = LAYOUT.table(vector, e)
        line = projector(scores, i) @ table @ projector(scores, j)
        assert np.allclose(norms[e], [np.linalg.norm(line), np.linalg.norm(table - line)])
        wanted = factors[e, 0] * line + factors[e, 1] * (table - line)
        assert np.allclose(LAYOUT.table(scaled, e), wanted, atol=1e-13)


def test_a_part_that_is_a_rounding_error_is_zero():
    basis = SCORES.bases
    vector = LAYOUT.zeros()
    LAYOUT.table(vector, 0)[:] = 3.7 * np.outer(basis[0][:, 0], basis[1][:, 0])
    norms = part_norms(vector, *arguments(SCORES))
    assert np.allclose(norms[0], [3.7, 0.0], atol=1e-14)
    assert norms[0, 1] == 0.0
