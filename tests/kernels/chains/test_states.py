"""Forward-backward of many chains, against every labelling."""

import numpy as np
import pytest

from doors.kernels import infer_chains
from support.chain_arrays import ChainArrays


@pytest.mark.parametrize("size", [1.0, 150.0], ids=["exponentials", "logarithms"])
@pytest.mark.parametrize("n_labels", [1, 2, 3, 5])
@pytest.mark.parametrize("order", [1, 2])
def test_all_labellings_agree(order, n_labels, size):
    given = ChainArrays(order, n_labels, size)
    marginals, moves, log_partitions = given.room()
    infer_chains(
        order, n_labels, given.chains, *given.attributes, given.rows, given.pairs, given.moves,
        marginals, moves, log_partitions, True,
    )  # fmt: skip
    tops, wanted, expected = given.expected()
    columns = given.shape.columns(np.arange(given.shape.n_outputs))
    assert np.allclose(log_partitions, tops, rtol=1e-12)
    assert np.allclose(marginals[:, columns], wanted[:, columns], atol=1e-11)
    assert np.allclose(moves, expected, atol=1e-11)


def test_some_chains_without_marginals():
    given = ChainArrays(1, 3)
    marginals, moves, log_partitions = given.room()
    infer_chains(
        1, 3, np.array([1, 4]), *given.attributes, given.rows, given.pairs, given.moves, marginals,
        moves, log_partitions, False,
    )  # fmt: skip
    tops, _, _ = given.expected()
    assert np.allclose(log_partitions, np.where(np.isin(given.chains, [1, 4]), tops, 0.0))
    assert not marginals.any()
    assert not moves.any()
