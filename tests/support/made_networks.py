"""Random networks as plain lists of factors, and what they mean by enumeration."""

from __future__ import annotations

import itertools
import re

import numpy as np

from graftwork.models import ChainModel, PairwiseMRF


def random_network(seed, cards=()):
    """A network of up to six variables with 1 to 7 states, some of them without an edge.

    Two variables at least have several states, unless numbers of states are given.
    """
    rng = np.random.default_rng(seed)
    while not len(cards):
        drawn = rng.integers(1, 8, rng.integers(2, 7))
        cards = drawn if (drawn > 1).sum() > 1 else ()
    n = len(cards)
    names = [f"variable {i}" for i in range(n)]
    states = {name: [f"s{k}" for k in range(card)] for name, card in zip(names, cards, strict=True)}
    unary = {name: rng.normal(0, 2, len(own)) for name, own in states.items()}
    pairs = [pair for pair in itertools.combinations(names, 2) if rng.random() < 0.5]
    tables = {(a, b): rng.normal(0, 2, (len(states[a]), len(states[b]))) for a, b in pairs}
    return PairwiseMRF(states, unary, tables)


def tied_network(values=(0.0, -0.0, 0.25, -1e-320, 1 / 3, -7.0, -np.inf), variables=12):
    """A network of three-state variables in a ring whose numbers are few, but odd."""
    rng = np.random.default_rng(0)
    names = [f"v{i}" for i in range(variables)]
    pick = np.array(values)
    unary = {name: rng.choice(pick[pick > -np.inf], 3) for name in names}
    edges = zip(names, [*names[1:], names[0]], strict=True)
    return PairwiseMRF(
        dict.fromkeys(names, (0, 1, 2)), unary, {edge: rng.choice(pick, (3, 3)) for edge in edges}
    )


def small_chain():
    """A chain of three labels with votes on the diagonal, two moves, and columns."""
    pairs = np.zeros((3, 3))
    pairs[0, 0] = pairs[2, 2] = 1.0
    votes = (np.arange(3), np.arange(3), np.ones(3))
    return ChainModel(
        tuple("NVX"), tuple("abc"), 1, *votes, pairs, np.zeros((0, 0, 0)), np.array([4, 0, 2]), 5
    )


#: The networks that all readers must agree on.
NETWORKS = {seed: random_network(seed) for seed in range(40)}
#: Others, which pgmpy or pyAgrum cannot read from a file.
LONELY = {f"states {c}": random_network(0, c) for c in ((1,), (5,), (1, 1), (1, 4, 1))}


def enumerate_factors(cards, factors):
    """Return log Z and the marginals of a product of tables, summed over all joint states."""
    joint = np.ones(cards)
    for scope, table in factors:
        for place in np.ndindex(*cards):
            joint[place] *= table[tuple(place[i] for i in scope)]
    total = joint.sum()
    axes = range(len(cards))
    sums = [joint.sum(axis=tuple(k for k in axes if k != i)) / total for i in axes]
    return np.log(total), sums


def enumerate_model(model):
    """Return log Z and the marginals of a network by enumeration."""
    names = list(model.names)
    factors = [((i,), np.exp(model.unary(name))) for i, name in enumerate(names)]
    factors += [
        ((names.index(a), names.index(b)), np.exp(model.table(a, b))) for a, b in model.edges
    ]
    return enumerate_factors([len(own) for own in model.states.values()], factors)


def read_uai_plainly(text, logs=False):
    """Return numbers of states and tables of a UAI file: the last variable is the fastest."""
    words = iter(text.split())
    assert next(words) == "MARKOV"
    cards = [int(next(words)) for _ in range(int(next(words)))]
    scopes = []
    for _ in range(int(next(words))):
        scopes.append([int(next(words)) for _ in range(int(next(words)))])
    factors = []
    for scope in scopes:
        values = [float(next(words)) for _ in range(int(next(words)))]
        table = np.array(values).reshape([cards[i] for i in scope])
        factors.append((scope, np.exp(table) if logs else table))
    assert next(words, None) is None
    return cards, factors


def read_fg_plainly(text):
    """Return numbers of states and tables of a libDAI file: the first variable is the fastest."""
    head, *blocks = re.split(r"\n\s*\n", text.strip())
    assert int(head) == len(blocks)
    cards, factors = {}, []
    for block in blocks:
        lines = block.splitlines()
        scope, sizes = ([int(word) for word in line.split()] for line in lines[1:3])
        assert int(lines[0]) == len(scope)
        assert int(lines[3]) == len(lines) - 4
        cards |= dict(zip(scope, sizes, strict=True))
        table = np.zeros(sizes)
        for line in lines[4:]:
            place, value = line.split()
            rest, index = int(place), []
            for size in sizes:
                rest, k = divmod(rest, size)
                index.append(k)
            table[tuple(index)] = float(value)
        factors.append((scope, table))
    return [cards[i] for i in sorted(cards)], factors


def with_zeros():
    """A network with impossible states and pairs of states."""
    return PairwiseMRF(
        {"a": ["x", "y", "z"], "b": [0, 1], "c": [True, False]},
        {"a": [0.5, -np.inf, 1.0]},
        {("a", "b"): [[0.0, 1.0], [2.0, -1.0], [-np.inf, 0.3]], ("c", "b"): [[1.0, 0], [0, 1.0]]},
    )
