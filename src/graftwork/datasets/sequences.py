"""Sequences with labels drawn from a known chain model, most of whose inputs mean nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from graftwork.data.values import generator
from graftwork.inference.layout import Floats, Ints
from graftwork.limits import DRAWN
from graftwork.parameters import number, whole_number
from graftwork.text import size


@dataclass(frozen=True, slots=True, eq=False)
class LabelledChains:
    """Sequences of one length, their labels, and the chain model the labels were drawn from.

    ``log p(y | x)`` is ``sum_t x_t @ weights[:, y_t] + sum_t transitions[y_t, y_t+1]`` but for a
    constant that depends on x.

    Parameters
    ----------
    X : array of float64, shape (n_sequences, length, n_inputs)
        The inputs. ``X[k]`` is one sequence, and `graftwork.data.as_sequences` takes the whole
        array without a copy.
    y : list of list of int
        The labels, from 0 on.
    weights : array, shape (n_inputs, n_labels)
        Weight of each input for each label; zero outside `relevant`.
    transitions : array, shape (n_labels, n_labels)
        Weight of each label (row) being followed by each label (column).
    relevant : array of int, shape (n_relevant,)
        Numbers of the inputs that matter, in ascending order.

    Examples
    --------
    >>> made = labelled_chains(20, 5, 30, 3, random_state=0)
    >>> made.weights.shape, made.transitions.shape
    ((30, 2), (2, 2))
    """

    X: Floats
    y: list[list[int]]
    weights: Floats
    transitions: Floats
    relevant: Ints

    def __repr__(self) -> str:
        n_sequences, length, n_inputs = self.X.shape
        return (
            f"LabelledChains: {n_sequences} sequences of {length} positions, {n_inputs} inputs "
            f"({self.relevant.size} relevant), {self.transitions.shape[0]} labels"
        )

    def __len__(self) -> int:
        return len(self.y)

    def split(self, n_train: int) -> tuple[LabelledChains, LabelledChains]:
        """Return the first sequences and the rest, with the same model and without a copy.

        All are independent draws, so the first ones are as good as any; each part has one sequence
        at least.

        Examples
        --------
        >>> train, test = labelled_chains(10, 3, 4, 2, random_state=0).split(7)
        >>> len(train), len(test)
        (7, 3)
        """
        n_train = whole_number("n_train", n_train, 1, len(self) - 1)
        first = replace(self, X=self.X[:n_train], y=self.y[:n_train])
        return first, replace(self, X=self.X[n_train:], y=self.y[n_train:])


def labelled_chains(
    n_sequences: int = 5_000,
    length: int = 8,
    n_inputs: int = 1_000,
    n_relevant: int = 100,
    n_labels: int = 2,
    *,
    state_sd: float = 0.25,
    transition_sd: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> LabelledChains:
    """Return sequences of Gaussian inputs, with labels drawn from a random chain model.

    The synthetic problem of the Grafting-Light paper, in its sizes; the paper does not say how
    weights were drawn. Labels are exact independent draws, where the paper ran a Gibbs sampler.

    Parameters
    ----------
    n_sequences, length : int
        Sequences, and positions of each.
    n_inputs, n_relevant : int
        Inputs of a position, independent and standard normal, and how many of them, at random
        places, matter. The inputs take 8 bytes a number: 320 MB by default.
    n_labels : int
        At least 2.
    state_sd : float
        Standard deviation of the weights of a relevant input. Scores of labels vary by
        ``state_sd * sqrt(n_relevant)``. By default the most probable labels under the true model
        are wrong at about one position in seven.
    transition_sd : float
        Standard deviation of the weights of transitions.
    random_state : int, Generator or None
        The same seed gives the same sequences.

    Returns
    -------
    LabelledChains
        Inputs ``X``, labels ``y``, and the true ``weights``, ``transitions`` and ``relevant``.

    References
    ----------
    Zhu, Lao and Xing (2010), Grafting-Light: fast, incremental feature selection and structure
    learning of Markov random fields, KDD, section 6.

    Examples
    --------
    >>> made = labelled_chains(20, 5, 30, 3, random_state=0)
    >>> made
    LabelledChains: 20 sequences of 5 positions, 30 inputs (3 relevant), 2 labels
    >>> made.X[0].shape, len(made.y[0]), made.relevant.size
    ((5, 30), 5, 3)
    """
    n_sequences = whole_number("n_sequences", n_sequences, 1)
    length = whole_number("length", length, 1)
    n_inputs = whole_number("n_inputs", n_inputs, 1)
    n_relevant = whole_number("n_relevant", n_relevant, 0, n_inputs)
    n_labels = whole_number("n_labels", n_labels, 2)
    state_sd = number("state_sd", state_sd, 0.0)
    transition_sd = number("transition_sd", transition_sd, 0.0)
    held = 8 * n_inputs * max(n_sequences * length, n_labels)
    DRAWN.check(held, f"these sequences take {size(held)}", "draw fewer or shorter ones")
    rng = generator(random_state)
    relevant = np.sort(rng.choice(n_inputs, n_relevant, replace=False))
    weights = np.zeros((n_inputs, n_labels))
    weights[relevant] = rng.normal(0.0, state_sd, (n_relevant, n_labels))
    transitions = rng.normal(0.0, transition_sd, (n_labels, n_labels))
    X = rng.standard_normal((n_sequences, length, n_inputs))
    labels = draw_labels(X[:, :, relevant] @ weights[relevant], transitions, rng)
    return LabelledChains(X, labels.tolist(), weights, transitions, relevant)


def draw_labels(scores: Floats, transitions: Floats, rng: np.random.Generator) -> Ints:
    """Return labels drawn exactly from chains, one draw for each, independent of each other.

    `scores` (n_sequences, length, n_labels) are log-potentials of labels, `transitions` those of a
    label (row) being followed by another (column); the labels have shape (n_sequences, length).

    Forward filtering, backward sampling: the last label is drawn from its distribution, and every
    other one given the label after it.
    """
    n_sequences, length, _ = scores.shape
    forward = _forward(scores, transitions)
    labels = np.empty((n_sequences, length), dtype=np.int64)
    labels[:, -1] = _drawn(forward[:, -1], rng)
    for t in range(length - 2, -1, -1):
        labels[:, t] = _drawn(forward[:, t] + transitions[:, labels[:, t + 1]].T, rng)
    return labels


def _forward(scores: Floats, transitions: Floats) -> Floats:
    """Return the log-potentials of each position's label, those before it being summed out."""
    forward = scores.copy()
    for t in range(1, scores.shape[1]):
        forward[:, t] += logsumexp(forward[:, t - 1, :, None] + transitions, axis=1)
    return forward


def _drawn(log_potentials: Floats, rng: np.random.Generator) -> Ints:
    """Return one choice for each row, with probabilities in proportion to exp of the entries."""
    # The largest of potentials with Gumbel noise is such a draw, and nothing can overflow.
    noisy = log_potentials + rng.gumbel(size=log_potentials.shape)
    choices: Ints = noisy.argmax(axis=1)
    return choices
