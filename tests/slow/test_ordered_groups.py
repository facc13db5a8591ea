"""Comparisons of groups of ordered items mean what they say."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.data import Table

pytestmark = pytest.mark.slow

POINTS = np.arange(5) - 2.0


def joined(tables):
    """Return tables one below the other, with a column that says which is which."""
    codes = np.concatenate([table.codes for table in tables], axis=1)
    labels = np.repeat(np.arange(len(tables)), [table.n_rows for table in tables])
    first, groups = tables[0], tuple(range(len(tables)))
    both = np.vstack([codes, labels[None].astype(codes.dtype)])
    return Table((*first.names, "g"), (*first.states, groups), both)


def ring(thetas):
    """Return five-point items on a ring, with tables theta * x * y."""
    n = len(thetas)
    names = [f"i{k}" for k in range(n)]
    tables = {
        (names[k], names[(k + 1) % n]): theta * np.outer(POINTS, POINTS)
        for k, theta in enumerate(thetas)
    }
    unaries = dict.fromkeys(names, -0.25 * POINTS**2)
    return gw.PairwiseMRF({name: [1, 2, 3, 4, 5] for name in names}, unaries, tables)


@pytest.mark.parametrize(
    ("n", "rows"),
    [(15, (300, 300)), (15, (500, 500)), (12, (1000, 120)), (12, (300, 300, 300))],
)
def test_the_same_network_twice(n, rows):
    """Twenty seeds: about one in twenty has a false difference, and p-values are uniform."""
    own, false, p_values, strengths = ring([0.3] * n), 0, [], []
    for seed in range(20):
        drawn = [own.sample(size, random_state=1000 * k + seed) for k, size in enumerate(rows, 1)]
        found = gw.compare_groups(joined(drawn), "g", ordinal=True)
        false += bool(found.different.any())
        p_values += np.exp(found.tests.log_p[found.known]).tolist()
        strengths.append(found.strength.p_value)
    assert false <= 3
    assert np.mean(np.array(p_values) < 0.05) < 0.08
    assert np.mean(np.array(p_values) < 0.01) < 0.025
    assert np.mean(np.array(strengths) < 0.05) <= 0.2


def test_five_of_twenty_edges_that_differ():
    """Also: intervals of differences of weights cover."""
    hits = false = missed = covered = total = 0
    for seed in range(10):
        gone = np.random.default_rng(seed).choice(20, 5, replace=False)
        thetas = np.full((2, 20), 0.3)
        thetas[1, gone] = 0.1
        drawn = [
            ring(each).sample(500, random_state=100 + 10 * seed + k)
            for k, each in enumerate(thetas.tolist())
        ]
        true = {frozenset((f"i{k}", f"i{(k + 1) % 20}")) for k in gone.tolist()}
        edges = gw.compare_groups(joined(drawn), "g", ordinal=True).edges()
        sure = {frozenset((e["first"], e["second"])) for e in edges if e["differs"]}
        hits += len(sure & true)
        false += len(sure - true)
        missed += len(true - sure)
        for each in edges:
            away = 0.2 * (frozenset((each["first"], each["second"])) in true)
            covered += each["weight_low"] <= away <= each["weight_high"]
            total += 1
    assert 2 * hits / (2 * hits + false + missed) >= 0.9
    assert covered / total >= 0.92


def test_theory_and_permutations_agree():
    own = ring([0.3] * 10)
    rows = joined([own.sample(400, random_state=k) for k in (1, 2)])
    found = gw.compare_groups(rows, "g", ordinal=True, n_permutations=1000)
    theory, permuted = np.exp(found.tests.log_p), found.permutations.p_values
    error = np.sqrt(theory * (1 - theory) / 1000)
    assert (np.abs(theory - permuted) < 4 * error + 0.02).all()
    assert abs(found.strength.p_value - found.permutations.strength) < 0.1
