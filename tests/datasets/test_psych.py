"""The two psychometric tables that come along."""

import numpy as np

from graftwork.datasets import ADHD_DOMAINS, load_adhd, load_boredom


def test_adhd_has_two_groups_and_eighteen_symptoms():
    table = load_adhd()
    assert (table["group"] == 1).sum() == 146
    assert (table["group"] == 0).sum() == 209
    listed = [name for symptoms in ADHD_DOMAINS.values() for name in symptoms]
    assert sorted(listed) == sorted(table.names[1:])


def test_boredom_is_ordered_but_for_the_language():
    table = load_boredom()
    assert dict(zip(*np.unique(table["language"], return_counts=True), strict=True)) == {
        "en": 496,
        "fr": 490,
    }
    assert set(table.ordered.scores) == set(table.names[1:])
    assert all(states == tuple(range(1, 8)) for states in table.states[1:])
