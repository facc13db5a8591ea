"""Chains as the kernels take them, and every labelling of each written down plainly."""

from __future__ import annotations

from itertools import product

import numpy as np

from doors.inference import ChainShape

LENGTHS = (1, 2, 2, 3, 4)  # rising, as kernels want them


class ChainArrays:
    """A few chains with attributes that have values, and weights of all outputs and moves."""

    def __init__(self, order, n_labels, size=1.0, seed=0):
        rng = np.random.default_rng(seed)
        self.shape = shape = ChainShape(n_labels, order)
        self.starts = np.concatenate([[0], np.cumsum(LENGTHS)])
        self.chains, positions = np.arange(len(LENGTHS)), int(self.starts[-1])
        counts = rng.integers(0, 4, positions)
        self.indptr = np.concatenate([[0], np.cumsum(counts)])
        self.places = rng.integers(0, 5, self.indptr[-1]).astype(np.int32)
        self.values = rng.normal(size=self.indptr[-1])
        self.rows = shape.lines(5)
        columns = shape.columns(np.arange(shape.n_outputs))
        self.rows[:, columns] = size * rng.normal(size=(5, shape.n_outputs))
        self.pair_weights = size * rng.normal(size=(n_labels, n_labels))
        self.triples = size * rng.normal(size=(n_labels,) * 3 if order == 2 else 0)
        self.pairs, self.moves = shape.moves(self.pair_weights.ravel(), self.triples.ravel())
        self.weights = rng.uniform(0.5, 2.0, len(LENGTHS))
        self.votes = np.zeros((positions, shape.n_columns))
        for t in range(positions):
            for k in range(self.indptr[t], self.indptr[t + 1]):
                self.votes[t] += self.values[k] * self.rows[self.places[k]]

    @property
    def attributes(self):
        return self.starts, self.weights, self.indptr, self.places, self.values

    def score(self, k, labels):
        """The summed weights of one labelling."""
        order, reach, found = self.shape.order, self.shape.reach, 0.0
        for t, c in enumerate(labels):
            votes = self.votes[self.starts[k] + t]
            found += votes[c]
            if t >= 1:
                found += self.pair_weights[labels[t - 1], c]
                found += votes[(1 + labels[t - 1]) * reach + c] if order == 2 else 0.0
            if t >= 2 and order == 2:
                found += self.triples[labels[t - 2], labels[t - 1], c]
        return found

    def enumerate(self, k):
        """All labellings of chain k and their scores."""
        every = list(product(range(self.shape.n_labels), repeat=LENGTHS[k]))
        return every, np.array([self.score(k, labels) for labels in every])

    def expected(self):
        """Log-partition functions, weighted marginals of outputs and expected moves."""
        order, reach, tops = self.shape.order, self.shape.reach, []
        marginals, moves = np.zeros_like(self.votes), np.zeros_like(self.moves)
        for k in self.chains:
            every, scores = self.enumerate(k)
            tops.append(np.logaddexp.reduce(scores))
            for labels, chance in zip(every, np.exp(scores - tops[-1]), strict=True):
                share = self.weights[k] * chance
                for t, c in enumerate(labels):
                    marginals[self.starts[k] + t, c] += share
                    if order == 2 and t >= 1:
                        marginals[self.starts[k] + t, (1 + labels[t - 1]) * reach + c] += share
                    if t >= order:
                        g = labels[t - 1] if order == 2 else 0
                        moves[labels[t - order], g, c] += share
        return np.array(tops), marginals, moves

    def room(self):
        """What kernels fill: marginals, moves and log-partition functions."""
        marginals = self.shape.lines(int(self.starts[-1]))
        return marginals, np.zeros_like(self.moves), np.zeros(len(LENGTHS))
