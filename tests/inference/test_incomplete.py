"""Observed cells with the missing ones summed out, against enumeration."""

import numpy as np
import pytest

from graftwork.errors import TooLargeError

from doors.inference import log_observed_weights, log_weights
from support.brute import GRAPHS, enumerate_states, grid, random_potentials


def holes(rng, cards, rows, share):
    codes = np.stack([rng.integers(0, s, rows) for s in cards])
    return np.where(rng.random(codes.shape) < share, np.array(cards)[:, None], codes)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_it_is_the_sum_over_all_states(name, share):
    rng = np.random.default_rng(0)
    potentials = random_potentials(rng, *GRAPHS[name])
    energy = enumerate_states(potentials).energy
    codes = holes(rng, GRAPHS[name][0], 30, share)
    found = log_observed_weights(potentials, codes)
    for row, value in zip(codes.T, found, strict=True):
        place = tuple(slice(None) if x == s else x for x, s in zip(row, energy.shape, strict=True))
        assert np.isclose(value, np.log(np.exp(energy[place]).sum()), rtol=1e-10)


def test_complete_rows_do_not_notice_the_others():
    rng = np.random.default_rng(1)
    potentials = random_potentials(rng, [3] * 9, grid(3, 3))
    codes = holes(rng, [3] * 9, 20, 0.0)
    alone = log_weights(potentials, codes)
    codes = np.concatenate([codes, holes(rng, [3] * 9, 20, 0.3)], axis=1)
    assert (log_observed_weights(potentials, codes)[:20] == alone).all()


def test_impossible_states_and_what_does_not_fit():
    rng = np.random.default_rng(2)
    potentials = random_potentials(rng, [2] * 16, grid(4, 4))
    weights = potentials.weights.copy()
    weights[0] = -np.inf  # state 0 of the first variable
    potentials = type(potentials)(potentials.layout, weights)
    codes = np.full((16, 3), 2)
    codes[0] = [0, 1, 2]
    found = log_observed_weights(potentials, codes)
    assert found[0] == -np.inf
    assert found[1] == pytest.approx(found[2])
    with pytest.raises(TooLargeError, match="Leave out rows that lack many cells"):
        log_observed_weights(potentials, codes, most_cells=64)
