"""States that were not there when a network was learned, in rows that are scored."""

from __future__ import annotations

import numpy as np
import pytest

import graftwork as gw
from graftwork.errors import DataError, ParameterError


@pytest.fixture
def net():
    rng = np.random.default_rng(3)
    mood = rng.integers(1, 5, 300)
    sleep = np.where(rng.random(300) < 0.7, mood, rng.integers(1, 5, 300))
    return gw.MarkovNetwork(lam=0.02).fit({"mood": mood, "sleep": sleep})


def test_the_error_says_how_to_declare_and_how_to_ignore(net):
    rows = {"mood": [1, 5], "sleep": [2, 3]}
    for score in (net.score, net.score_samples, net.model_.score, net.model_.log_prob):
        with pytest.raises(DataError, match=r"states=\{'mood': \[\.\.\.\]\}.*unseen='ignore'"):
            score(rows)


def test_an_unseen_state_counts_as_a_missing_cell(net):
    rows = {"mood": [1, 5, 4], "sleep": [2, 3, 9]}
    gaps = {"mood": [1, None, 4], "sleep": [2, 3, None]}
    wanted = net.model_.score(gaps, missing="available-case")
    assert net.model_.score(rows, missing="available-case", unseen="ignore") == wanted
    assert net.score(rows, unseen="ignore") == wanted
    with pytest.raises(ParameterError, match="unseen='drop' is not known"):
        net.score(rows, unseen="drop")
    with pytest.raises(DataError, match="for rows in memory"):
        net.score(gw.scan(rows), unseen="ignore")
