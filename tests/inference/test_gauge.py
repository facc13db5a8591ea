"""Other numbers for the same network."""

import itertools

import numpy as np
import pytest

from doors.inference import Layout, Potentials, cornered, sparsest


def joint(potentials):
    """All joint probabilities, by enumeration."""
    layout, weights = potentials.layout, potentials.weights
    scores = []
    for states in itertools.product(*(range(s) for s in layout.cards)):
        score = sum(layout.unary(weights, i)[a] for i, a in enumerate(states))
        score += sum(
            layout.table(weights, e)[states[i], states[j]] for e, (i, j) in enumerate(layout.edges)
        )
        scores.append(score)
    p = np.exp(np.array(scores) - max(scores))
    return p / p.sum()


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_stay_and_reference_states_are_zero(seed):
    rng = np.random.default_rng(seed)
    layout = Layout.of([2, 3, 1, 4], [(0, 1), (1, 3), (0, 3), (2, 3)])
    potentials = Potentials(layout, 2.0 * rng.normal(size=layout.size))
    references = rng.integers(0, layout.cards)
    changed = cornered(potentials, references)
    np.testing.assert_allclose(joint(changed), joint(potentials), rtol=1e-10)
    for e, (i, j) in enumerate(layout.edges):
        table = layout.table(changed.weights, e)
        assert not table[references[i]].any()
        assert not table[:, references[j]].any()
    for i, reference in enumerate(references):
        assert layout.unary(changed.weights, i)[reference] == 0.0
    degrees = (layout.cards - 1).sum()
    pairs = sum((layout.cards[i] - 1) * (layout.cards[j] - 1) for i, j in layout.edges)
    assert np.count_nonzero(changed.weights) == degrees + pairs
    assert sparsest(potentials, references).weights.tolist() == changed.weights.tolist()


def test_a_table_of_one_feature_is_left_alone():
    layout = Layout.of([3, 3], [(0, 1)])
    weights = layout.zeros()
    layout.table(weights, 0)[0, 0] = 1.5  # in the reference row and column of (0, 0)
    potentials = Potentials(layout, weights)
    assert sparsest(potentials, np.array([0, 0])) is potentials


def test_a_table_that_is_a_sum_of_unaries_vanishes():
    rng = np.random.default_rng(3)
    layout = Layout.of([4, 5], [(0, 1)])
    weights = rng.normal(size=layout.size)
    layout.table(weights, 0)[:] = 1e3 * (rng.normal(size=(4, 1)) + rng.normal(size=5))
    changed = sparsest(Potentials(layout, weights), np.array([1, 2]))
    assert not layout.table(changed.weights, 0).any()
