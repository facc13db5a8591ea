"""The most probable labels, against every labelling."""

import numpy as np
import pytest

from doors.kernels import best_paths
from support.chain_arrays import LENGTHS, ChainArrays


def best(given, preferred):
    labels, scores = np.full(int(given.starts[-1]), -1), np.zeros(len(LENGTHS))
    starts, _, indptr, places, values = given.attributes
    best_paths(
        given.shape.order, given.shape.n_labels, given.chains, starts, indptr, places, values,
        given.rows, given.pairs, given.moves, preferred, labels, scores,
    )  # fmt: skip
    return np.split(labels, given.starts[1:-1]), scores


@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize("order", [1, 2])
def test_no_labelling_scores_higher(order, n_labels):
    given = ChainArrays(order, n_labels, seed=n_labels)
    paths, scores = best(given, np.arange(n_labels))
    for k, path in enumerate(paths):
        every, all_scores = given.enumerate(k)
        assert np.isclose(scores[k], all_scores.max(), rtol=1e-12)
        assert tuple(path.tolist()) == every[int(all_scores.argmax())]


@pytest.mark.parametrize("order", [1, 2])
def test_of_equally_good_labels_the_preferred_one_wins(order):
    given = ChainArrays(order, 3, size=0.0)
    paths, _ = best(given, np.array([2, 0, 1]))
    assert all((path == 2).all() for path in paths)
