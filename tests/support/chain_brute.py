"""Chains by enumeration: every sequence of labels, written down plainly."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from graftwork.data import as_sequences

from doors.inference import ChainShape
from doors.objectives import ChainData, find_features


def random_chains(
    seed, n_labels, order, n_attributes=4, lengths=(3, 1, 2, 4, 1, 3), values=False, weights=False
):
    """Labelled sequences with dependence between attributes and labels."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for length in lengths:
        labels = rng.integers(0, n_labels, length)
        items = []
        for label in labels:
            present = rng.random(n_attributes) < 0.5
            present[label % n_attributes] |= rng.random() < 0.7
            numbers = rng.normal(size=n_attributes) if values else np.ones(n_attributes)
            items.append({f"a{k}": float(numbers[k]) for k in np.flatnonzero(present)})
        X.append(items)
        y.append(labels.tolist())
    sequences = as_sequences(X)
    codes = np.concatenate(y).astype(np.int32)
    given = rng.uniform(0.2, 3.0, len(lengths)) if weights else None
    return ChainData.of(sequences, codes, ChainShape(n_labels, order), given)


def matrix(data):
    """The attributes of all positions, dense."""
    sequences = data.sequences
    out = np.zeros((sequences.n_positions, sequences.n_attributes))
    for t in range(len(out)):
        for k in range(sequences.indptr[t], sequences.indptr[t + 1]):
            out[t, sequences.indices[k]] += sequences.values[k] if len(sequences.values) else 1.0
    return out


def feature_sums(data, features, k, labels):
    """The value of every feature for one labelling of sequence k, one position at a time."""
    shape, dense = data.shape, matrix(data)
    n, start = shape.n_labels, data.sequences.starts[k]
    counts = np.zeros((dense.shape[1], shape.n_outputs))
    pairs, triples = np.zeros(n * n), np.zeros(n**3)
    for t, c in enumerate(labels):
        counts[:, c] += dense[start + t]
        if t >= 1:
            pairs[labels[t - 1] * n + c] += 1
            if shape.order == 2:
                counts[:, n + labels[t - 1] * n + c] += dense[start + t]
        if t >= 2 and shape.order == 2:
            triples[(labels[t - 2] * n + labels[t - 1]) * n + c] += 1
    votes = counts[features.attributes, shape.outputs(features.columns.astype(int))]
    return np.concatenate([votes, pairs[features.pairs], triples[features.triples]])


class Enumerated:
    """The loss of chains from the feature values of every labelling."""

    def __init__(self, data, features):
        starts, n = data.sequences.starts, data.shape.n_labels
        self.data, self.features = data, features
        self.labellings, self.tables, self.true = [], [], []
        for k in range(len(starts) - 1):
            every = list(product(range(n), repeat=int(starts[k + 1] - starts[k])))
            self.labellings.append(every)
            self.tables.append(np.array([feature_sums(data, features, k, y) for y in every]))
            self.true.append(every.index(tuple(data.label_columns[starts[k] : starts[k + 1]])))
        self.weights = data.weights if len(data.weights) else np.ones(len(self.tables))

    def log_partitions(self, w):
        return np.array([logsumexp(table @ w) for table in self.tables])

    def loss(self, w):
        """Mean negative log-likelihood and its gradient."""
        value, slope = 0.0, np.zeros(len(w))
        for table, true, weight in zip(self.tables, self.true, self.weights, strict=True):
            scores = table @ w
            top = logsumexp(scores)
            value += weight * (top - scores[true])
            slope += weight * (np.exp(scores - top) @ table - table[true])
        total = self.weights.sum()
        return value / total, slope / total

    def marginals(self, w):
        """Probability of each label at each position."""
        out = []
        for every, table in zip(self.labellings, self.tables, strict=True):
            scores = table @ w
            chance = np.exp(scores - logsumexp(scores))
            hot = np.eye(self.data.shape.n_labels)[np.array(every)]
            out.append(np.einsum("y,ytc->tc", chance, hot))
        return np.concatenate(out)

    def best(self, w):
        """The score of the best labelling of each sequence, and the labelling."""
        tops = [int((table @ w).argmax()) for table in self.tables]
        return [
            ((table @ w)[top], every[top])
            for table, every, top in zip(self.tables, self.labellings, tops, strict=True)
        ]

    def optimum(self, lam, l2=0.0):
        """The least loss + lam ||w||_1 + l2 ||w||^2: bounded L-BFGS on w = p - q, from scipy."""
        size = self.features.size

        def split(z):
            w = z[:size] - z[size:]
            value, slope = self.loss(w)
            slope = slope + 2 * l2 * w
            return value + l2 * w @ w + lam * z.sum(), np.concatenate([slope + lam, lam - slope])

        found = minimize(
            split, np.zeros(2 * size), jac=True, method="L-BFGS-B", bounds=[(0, None)] * (2 * size),
            options={"maxiter": 20000, "maxfun": 40000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 30},
        )  # fmt: skip
        return found.fun, found.x[:size] - found.x[size:]

    def group_optimum(self, lam, starts, l2=0.0):
        """The least loss + lam sum_g sqrt(size) ||w_g||: accelerated proximal gradient steps."""
        w = before = np.zeros(self.features.size)
        sizes = np.diff(starts)
        step = 1.0 / max(1e-9, max(np.square(t).sum(axis=1).max() for t in self.tables))
        momentum = 1.0
        for _ in range(60000):
            longer = 0.5 + np.sqrt(0.25 + momentum**2)
            ahead = w + (momentum - 1) / longer * (w - before)
            momentum = longer
            _, slope = self.loss(ahead)
            moved = ahead - step * (slope + 2 * l2 * ahead)
            norms = np.sqrt(np.add.reduceat(moved**2, starts[:-1]))
            shrink = np.maximum(0, 1 - step * lam * np.sqrt(sizes) / np.maximum(norms, 1e-300))
            before, w = w, moved * np.repeat(shrink, sizes)
            if (w - before) @ (ahead - w) > 0:
                momentum = 1.0
            if np.abs(w - before).max() < 1e-12:
                break
        norms = np.sqrt(np.add.reduceat(w**2, starts[:-1]))
        return self.loss(w)[0] + lam * np.sqrt(sizes) @ norms + l2 * w @ w, w


def everything(data, observed=False):
    return find_features(data, observed=observed)
