"""What observers of a run keep: networks of some rounds, features that were there."""

import numpy as np
import pytest

from experiments.engine.observers import Album, Seen
from graftwork.grafting import Round

from doors.grafting import Silence
from doors.inference import FeatureLayout, FeatureWeights


def round_of(index):
    return Round(index, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, True, index, index, 0, index, 0.1)


@pytest.mark.parametrize("rounds", [1, 2, 9, 1000])
def test_an_album_is_small_and_even(rounds):
    album = Album(Silence(), 10)
    assert album.networks() == ()
    for index in range(rounds):
        album.on_round(round_of(index))
        album.on_network(index)
        assert len(album._kept) <= 20
    kept = album.networks()
    assert len(kept) == min(rounds, 10)
    assert all(index == network for index, network in kept)
    assert (kept[0][0], kept[-1][0]) == (0, rounds - 1)
    gaps = np.diff([index for index, _ in kept])
    assert rounds < 10 or gaps.max() <= 2 * rounds / 9


def test_features_that_come_back_are_selected_once():
    seen = Seen(Silence())
    starts = np.arange(10)
    for features in ([], [3, 1], [1], [1, 3], [7, 1]):
        blocks = np.array(features, dtype=np.int64)
        seen.on_network(FeatureWeights(FeatureLayout.of(starts, blocks), np.ones(len(blocks))))
    assert seen.counts == [0, 2, 2, 2, 3]
