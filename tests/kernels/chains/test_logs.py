"""Chains in logarithms, against every labelling."""

import numpy as np
import pytest

from doors.kernels import logs as kernel
from support.chain_arrays import ChainArrays


@pytest.mark.parametrize("size", [1.0, 150.0])
@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("order", [1, 2])
def test_all_labellings_agree(order, n_labels, size):
    given = ChainArrays(order, n_labels, size)
    marginals, moves, log_partitions = given.room()
    kernel.pass_over_logs(
        order, n_labels, given.chains, *given.attributes, given.rows, given.pairs, given.moves,
        marginals, moves, log_partitions, True,
    )  # fmt: skip
    tops, wanted, expected = given.expected()
    assert np.allclose(log_partitions, tops, rtol=1e-12)
    assert np.allclose(marginals, wanted, atol=1e-11)
    assert np.allclose(moves, expected, atol=1e-11)


def test_rows_of_attributes_are_added_up():
    given = ChainArrays(2, 3)
    out = given.shape.lines(6)
    kernel.fill_rows(3, 9, given.indptr, given.places, given.values, given.rows, out)
    assert np.allclose(out, given.votes[3:9], atol=1e-13)


def test_states_that_cannot_be_have_no_score():
    """Of second order; the first position has a label alone."""
    given = ChainArrays(2, 2)
    w, states = given.shape.reach, np.zeros((3, given.shape.reach**2))
    kernel.fill_states(w, 2, 2, 3, given.votes[:3], given.pairs, states)
    table = states.reshape(3, w, w)
    assert np.allclose(table[0, 0, :2], given.votes[0, :2])
    for t in (1, 2):
        for g in range(2):
            pair = given.votes[t, (1 + g) * w : (1 + g) * w + 2]
            wanted = given.votes[t, :2] + pair + given.pair_weights[g]
            assert np.allclose(table[t, g, :2], wanted)
    assert (table[0, 1:] == kernel.NEVER).all()
    assert (table[:, 2:] == kernel.NEVER).all()
    assert (table[:, :, 2:] == kernel.NEVER).all()
