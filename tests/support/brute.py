"""Everything by enumeration: the plain twin that every engine is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.inference import Layout, Potentials


@dataclass(frozen=True)
class Enumeration:
    energy: np.ndarray
    log_partition: float
    joint: np.ndarray

    def marginal(self, *variables):
        rest = tuple(k for k in range(self.joint.ndim) if k not in variables)
        table = self.joint.sum(axis=rest)
        order = np.argsort(np.argsort(variables))
        return table.transpose(order) if len(variables) > 1 else table


def enumerate_states(potentials):
    layout, weights = potentials.layout, potentials.weights
    n, cards = layout.n_variables, layout.cards
    energy = np.zeros(tuple(cards))
    for i in range(n):
        energy = energy + layout.unary(weights, i).reshape([-1 if k == i else 1 for k in range(n)])
    for e, (i, j) in enumerate(layout.edges):
        shape = [cards[k] if k in (i, j) else 1 for k in range(n)]
        energy = energy + layout.table(weights, e).reshape(shape)
    top = energy.max()
    log_partition = float(top + np.log(np.exp(energy - top).sum()))
    return Enumeration(energy, log_partition, np.exp(energy - log_partition))


def random_potentials(rng, cards, edges, scale=1.0):
    layout = Layout.of(cards, edges)
    return Potentials(layout, scale * rng.normal(size=layout.size))


def random_tree(rng, n):
    return [(int(rng.integers(0, k)), k) for k in range(1, n)]


def grid(rows, columns):
    at = np.arange(rows * columns).reshape(rows, columns)
    across = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], axis=1)
    down = np.stack([at[:-1].ravel(), at[1:].ravel()], axis=1)
    return [tuple(map(int, pair)) for pair in np.concatenate([across, down])]


def complete(n):
    return [(i, j) for i in range(n) for j in range(i + 1, n)]


#: name -> (state counts, edges); all small enough to enumerate.
GRAPHS = {
    "singleton": ([4], []),
    "one state": ([1], []),
    "isolated": ([2, 1, 5, 3], []),
    "edge": ([3, 7], [(0, 1)]),
    "tree": ([2, 3, 1, 4, 2, 5, 3], [(0, 3), (1, 3), (2, 3), (3, 4), (4, 5), (0, 6)]),
    "chain": ([2] * 10, [(k, k + 1) for k in range(9)]),
    "star": ([3, 2, 4, 1, 2, 3], [(0, 5), (1, 5), (2, 5), (3, 5), (4, 5)]),
    "forest": ([2, 3, 4, 2, 1, 3], [(0, 5), (1, 2)]),
    "cycle": ([3, 2, 4, 1, 5, 2], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)]),
    "two components": ([2, 3, 2, 4, 2, 2], [(0, 2), (2, 4), (0, 4), (1, 3)]),
    "grid": ([2, 3, 2, 2, 2, 3, 2, 2, 1, 2, 3, 2], grid(3, 4)),
    "complete": ([2, 3, 4, 2, 3, 2], complete(6)),
    "wheel": (
        [2, 3, 2, 3, 2, 4],
        [*((k, 5) for k in range(5)), (0, 1), (1, 2), (2, 3), (3, 4), (0, 4)],
    ),
    "binary 16": ([2] * 16, [*grid(4, 4), (0, 15), (3, 12)]),
}  # fmt: skip

FORESTS = ("singleton", "one state", "isolated", "edge", "tree", "chain", "star", "forest")


def unflatten(flat, layout, pairs):
    out, at = [], 0
    for i, j in pairs:
        shape = (layout.cards[i], layout.cards[j])
        out.append(flat[at : at + shape[0] * shape[1]].reshape(shape))
        at += shape[0] * shape[1]
    assert at == len(flat)
    return out


def all_pairs(rng, n):
    pairs = np.array(complete(n), dtype=np.int64).reshape(-1, 2)
    swap = rng.random(len(pairs)) < 0.5
    pairs[swap] = pairs[swap][:, ::-1]
    return pairs
