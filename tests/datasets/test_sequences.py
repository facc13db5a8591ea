"""Labelled chains: labels follow the exact conditional distribution, seeds, shapes, refusals."""

from itertools import product

import numpy as np
import pytest

from graftwork.data import as_sequences
from graftwork.datasets import labelled_chains
from graftwork.errors import DataError, ParameterError

from doors.datasets import draw_labels


def probabilities(scores, transitions):
    """Return the probability of every labelling of one chain, by enumeration."""
    length, n_labels = scores.shape
    table = np.empty((n_labels,) * length)
    for y in product(range(n_labels), repeat=length):
        table[y] = sum(scores[t, y[t]] for t in range(length))
        table[y] += sum(transitions[y[t], y[t + 1]] for t in range(length - 1))
    table = np.exp(table - table.max())
    return table / table.sum()


def most_probable(scores, transitions):
    """Return the most probable labels of one chain, by the Viterbi recursion."""
    best, back = scores[0], []
    for row in scores[1:]:
        steps = best[:, None] + transitions
        back.append(steps.argmax(axis=0))
        best = steps.max(axis=0) + row
    labels = [int(best.argmax())]
    for pointers in reversed(back):
        labels.append(int(pointers[labels[-1]]))
    return labels[::-1]


@pytest.mark.parametrize(("length", "n_labels"), [(1, 3), (2, 2), (4, 2), (3, 3)])
def test_labels_follow_the_exact_distribution(length, n_labels):
    rng = np.random.default_rng(length)
    scores = rng.normal(size=(length, n_labels))
    transitions = rng.normal(size=(n_labels, n_labels))
    n_draws = 100_000
    drawn = draw_labels(np.broadcast_to(scores, (n_draws, *scores.shape)), transitions, rng)
    wanted = probabilities(scores, transitions)
    counts = np.zeros_like(wanted)
    np.add.at(counts, tuple(drawn.T), 1)
    spread = np.sqrt(wanted * (1 - wanted) / n_draws)
    assert (np.abs(counts / n_draws - wanted) < 5 * spread).all()


def test_labels_of_made_chains_follow_their_own_weights():
    made = labelled_chains(4_000, 3, 2, 1, 2, state_sd=1.5, random_state=1)
    scores = made.X @ made.weights
    pairs, wanted = np.zeros((2, 2, 2)), np.zeros((2, 2, 2))
    for row, labels in zip(scores, made.y, strict=True):
        pairs[tuple(labels)] += 1
        wanted += probabilities(row, made.transitions)
    assert (np.abs(pairs - wanted) < 5 * np.sqrt(wanted)).all()
    # The score function has mean zero: inputs and labels agree as the model says.
    at = np.eye(2)[np.array(made.y)]
    by_enumeration = np.array([probabilities(row, made.transitions) for row in scores])
    margins = [by_enumeration.sum(axis=tuple({1, 2, 3} - {t + 1})) for t in range(3)]
    residual = at - np.stack(margins, axis=1)
    gradient = np.einsum("ntd,ntk->dk", made.X, residual)
    assert (np.abs(gradient) < 5 * np.sqrt(12_000 / 4)).all()


def test_extreme_potentials_do_not_overflow():
    scores = np.array([[[0.0, 1e5], [0.0, 1e5], [1e5, 0.0]]])
    drawn = draw_labels(scores, np.zeros((2, 2)), np.random.default_rng(0))
    assert drawn.tolist() == [[1, 1, 0]]


def test_shapes_and_the_relevant_inputs():
    made = labelled_chains(30, 4, 12, 5, 3, random_state=0)
    assert made.X.shape == (30, 4, 12)
    assert made.X.dtype == np.float64
    assert [len(labels) for labels in made.y] == [4] * 30
    assert {type(label) for labels in made.y for label in labels} == {int}
    assert set(np.ravel(made.y)) <= {0, 1, 2}
    assert made.transitions.shape == (3, 3)
    assert made.weights.shape == (12, 3)
    assert np.flatnonzero(made.weights.any(axis=1)).tolist() == made.relevant.tolist()
    assert made.relevant.size == 5
    assert len(made) == 30
    assert "30 sequences of 4 positions, 12 inputs (5 relevant), 3 labels" in repr(made)


def test_split_shares_the_inputs():
    made = labelled_chains(10, 2, 3, 1, random_state=0)
    train, test = made.split(6)
    assert np.shares_memory(train.X, made.X)
    assert np.shares_memory(as_sequences(test.X).values, made.X)
    np.testing.assert_array_equal(np.concatenate([train.X, test.X]), made.X)
    assert train.y + test.y == made.y
    assert train.weights is test.weights is made.weights
    for wrong in (0, 10, 2.5):
        with pytest.raises(ParameterError, match="n_train"):
            made.split(wrong)


def test_the_same_seed_gives_the_same_sequences():
    one, two = (labelled_chains(8, 3, 5, 2, random_state=4) for _ in range(2))
    generated = labelled_chains(8, 3, 5, 2, random_state=np.random.default_rng(4))
    for field in ("X", "y", "weights", "transitions", "relevant"):
        np.testing.assert_array_equal(getattr(one, field), getattr(two, field))
        np.testing.assert_array_equal(getattr(one, field), getattr(generated, field))
    assert not np.array_equal(one.X, labelled_chains(8, 3, 5, 2, random_state=5).X)


def test_the_default_problem_is_neither_trivial_nor_hopeless():
    for seed in range(5):
        made = labelled_chains(1_000, n_inputs=100, random_state=seed)
        guesses = [most_probable(row, made.transitions) for row in made.X @ made.weights]
        assert 0.08 < (np.array(guesses) != np.array(made.y)).mean() < 0.2


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_sequences": 0},
        {"length": 0},
        {"n_inputs": 0},
        {"n_relevant": 11},
        {"n_relevant": -1},
        {"n_labels": 1},
        {"state_sd": -1.0},
        {"transition_sd": np.nan},
        {"random_state": "seed"},
    ],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises((DataError, ParameterError), match=next(iter(wrong))):
        labelled_chains(**{"n_sequences": 5, "n_inputs": 10, "n_relevant": 2, **wrong})
