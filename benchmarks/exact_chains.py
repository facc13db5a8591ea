"""Small random label chains against the enumeration of all sequences of labels."""

from __future__ import annotations

import itertools

import numpy as np
from exact_gradients import away, log_sums, slope
from exact_networks import SCALES

from graftwork.data import as_sequences
from graftwork.inference.chains import ChainShape, FeatureLayout, FeatureWeights
from graftwork.models.chain import ChainModel
from graftwork.objectives.chains.data import ChainData
from graftwork.objectives.chains.features import find_features
from graftwork.objectives.chains.likelihood import ChainLikelihood

Item = dict[int, float]


class Chain:
    """A random chain of at most three labels, three sequences of at most four positions."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.n, self.order = int(rng.integers(1, 4)), int(rng.integers(1, 3))
        lengths = [int(rng.integers(1, 5)), *rng.integers(0, 5, int(rng.integers(0, 3)))]
        attributes, named = int(rng.integers(1, 4)), rng.random() < 0.5
        self.X: list[list[Item]] = [
            [
                {a: 1.0 if named else rng.normal() for a in range(attributes) if rng.random() < 0.6}
                for _ in range(length)
            ]
            for length in lengths
        ]  # fmt: skip
        self.X[0][0][0] = 1.0  # something to know
        self.y = [rng.integers(0, self.n, length).tolist() for length in lengths]
        self.weights = rng.uniform(0.1, 3.0, len(lengths))
        self.sequences = as_sequences(self.X)
        self.names = list(self.sequences.names)
        k = self.n
        sizes = [len(self.names) * k, k * k]
        if self.order == 2:
            sizes += [len(self.names) * k * k, k**3]
        self.ends = np.cumsum(sizes)
        self.w = float(rng.choice(SCALES)) * rng.normal(size=self.ends[-1])
        self.labellings = [
            np.array(list(itertools.product(range(k), repeat=length)), dtype=np.int64)
            for length in lengths
        ]
        self.features = [
            np.array([self._sums(items, labels) for labels in every])
            for items, every in zip(self.X, self.labellings, strict=True)
        ]
        self.true = [
            int(np.flatnonzero((every == labels).all(axis=1))[0])
            for every, labels in zip(self.labellings, self.y, strict=True)
        ]

    def _sums(self, items: list[Item], labels: np.ndarray) -> np.ndarray:
        """Return the features of one labelling: votes, pairs, votes after a label, triples."""
        k, m = self.n, len(self.names)
        votes, pairs = np.zeros((m, k)), np.zeros((k, k))
        later, triples = np.zeros((m, k, k)), np.zeros((k, k, k))
        for t, c in enumerate(labels):
            for name, value in items[t].items():
                votes[self.names.index(name), c] += value
                if t > 0:
                    later[self.names.index(name), labels[t - 1], c] += value
            if t > 0:
                pairs[labels[t - 1], c] += 1
            if t > 1:
                triples[labels[t - 2], labels[t - 1], c] += 1
        parts = [votes, pairs, later, triples][: 2 * self.order]
        return np.concatenate([part.ravel() for part in parts])

    def model(self) -> ChainModel:
        """Return the chain with these weights."""
        k, m = self.n, len(self.names)
        votes, pairs, *rest = np.split(self.w, self.ends[:-1])
        later, triples = rest if rest else (np.zeros(0), np.zeros(0))
        owner, output = np.divmod(np.arange(m * k), k)
        if self.order == 2:
            second, beyond = np.divmod(np.arange(m * k * k), k * k)
            owner, output = np.append(owner, second), np.append(output, k + beyond)
        return ChainModel(
            tuple(range(k)), tuple(self.names), self.order, owner, output,
            np.concatenate([votes, later]), pairs.reshape(k, k),
            triples.reshape((k, k, k) if self.order == 2 else (0, 0, 0)),
        )  # fmt: skip

    def loss(self, columns: np.ndarray) -> np.ndarray:
        """Return the mean negative log-likelihood at columns of weights."""
        total = np.zeros(columns.shape[1], dtype=columns.dtype)
        for table, true, weight in zip(self.features, self.true, self.weights, strict=True):
            logs = table @ columns
            total += weight * (log_sums(logs) - logs[true])
        return total / self.weights.sum()

    def feature_weights(
        self, data: ChainData
    ) -> tuple[ChainLikelihood, FeatureWeights, np.ndarray]:
        """Return the learner's loss, its weights, and which of ours each of its features is."""
        features, seen = find_features(data, observed=False)
        k, places = self.n, []
        for f in range(features.size):
            attribute, labels = features.label_names(f)
            number = int(np.ravel_multi_index(labels, (k,) * len(labels)))
            if attribute is None:
                start = self.ends[0] if len(labels) == 2 else self.ends[2]
            else:
                start = 0 if len(labels) == 1 else self.ends[1]
                number += attribute * k ** len(labels)
            places.append(start + number)
        layout = FeatureLayout.of(np.arange(features.size + 1), np.arange(features.size))
        return (
            ChainLikelihood(data, features, seen, 1),
            FeatureWeights(layout, self.w[places]),
            np.array(places),
        )


def chain_answers(rng: np.random.Generator) -> dict[str, float]:
    """Return how far the answers of a random chain are from enumeration."""
    chain = Chain(rng)
    model = chain.model()
    logs = [table @ chain.w for table in chain.features]
    log_z = np.array([float(log_sums(own + 0j).real) for own in logs])
    marginals = [
        np.einsum("y,ytc->tc", np.exp(own - z), np.eye(chain.n)[every])
        for own, z, every in zip(logs, log_z, chain.labellings, strict=True)
    ]
    best = [
        own[int(np.flatnonzero((every == path).all(axis=1))[0])]
        for own, every, path in zip(
            logs, chain.labellings, model.predict(chain.X, n_jobs=1), strict=True
        )
    ]
    wanted = np.array([own[k] for own, k in zip(logs, chain.true, strict=True)]) - log_z
    shape = ChainShape(chain.n, chain.order)
    codes = np.concatenate([np.array(labels, dtype=np.int32) for labels in chain.y])
    data = ChainData.of(chain.sequences, codes, shape, chain.weights)
    objective, here, places = chain.feature_weights(data)
    point = objective.at(here)
    found = model.marginals(chain.X, n_jobs=1)
    return {
        "chains: log Z": away(model.log_partition(chain.X, n_jobs=1), log_z),
        "chains: marginals": away(np.concatenate(found), np.concatenate(marginals)),
        "chains: most probable labels (Viterbi)": away(
            np.array(best), np.array([own.max() for own in logs])
        ),
        "chains: log-probabilities of labels": away(
            model.log_prob(chain.X, chain.y, n_jobs=1), wanted
        ),
        "chain likelihood: value": away(point.value, chain.loss(chain.w[:, None])[0].real),
        "chain likelihood: gradient": away(point.gradients, slope(chain.loss, chain.w)[places]),
    }
