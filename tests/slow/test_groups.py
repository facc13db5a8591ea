"""Comparisons of groups mean what they say: planted differences, equal groups, permutations."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.data import Table

from doors.report import double_centred

pytestmark = pytest.mark.slow


def joined(tables):
    """Return tables one below the other, with a column that says which is which."""
    codes = np.concatenate([table.codes for table in tables], axis=1)
    labels = np.repeat(np.arange(len(tables)), [table.n_rows for table in tables])
    first, groups = tables[0], tuple(range(len(tables)))
    both = np.vstack([codes, labels[None].astype(codes.dtype)])
    return Table((*first.names, "g"), (*first.states, groups), both)


def network(n, states, seed, coupling=0.5):
    """Return a scale-free network whose tables have the same norm for all edges."""
    drawn = gw.datasets.scale_free_network(n, states, centred=True, random_state=seed)
    norm = 2.0 * coupling
    tables = {
        (a, b): norm * drawn.table(a, b) / np.linalg.norm(double_centred(drawn.table(a, b)))
        for a, b in drawn.edges
    }
    unaries = {name: drawn.unary(name) for name in drawn.names}
    return unaries, tables


def model(states, unaries, tables):
    return gw.PairwiseMRF({name: list(range(states)) for name in unaries}, unaries, tables)


def planted(states, seed, rows, coupling):
    """Return two groups of 22 variables with 40 edges, five of which the second lacks."""
    unaries, tables = network(22, states, seed, coupling)
    rng = np.random.default_rng(seed)
    gone = [list(tables)[k] for k in rng.choice(len(tables), 5, replace=False)]
    rest = {pair: table for pair, table in tables.items() if pair not in gone}
    both = [model(states, unaries, each) for each in (tables, rest)]
    drawn = [each.sample(rows, random_state=seed + k) for k, each in enumerate(both, 100)]
    return joined(drawn), {frozenset(pair) for pair in gone}


@pytest.mark.parametrize(("states", "coupling"), [(2, 0.5), (3, 0.7)])
def test_five_of_forty_edges_that_differ(states, coupling):
    hits = false = missed = 0
    for seed in range(5):
        table, gone = planted(states, seed, 1000, coupling)
        found = gw.compare_groups(table, "g")
        sure = {frozenset((e["first"], e["second"])) for e in found.edges() if e["differs"]}
        hits += len(sure & gone)
        false += len(sure - gone)
        missed += len(gone - sure)
        assert found.invariance < 0.01
    assert 2 * hits / (2 * hits + false + missed) >= 0.9


@pytest.mark.parametrize(
    ("states", "n", "rows"),
    [(2, 20, (500, 500)), (3, 15, (400, 400)), (5, 10, (400, 400)), (2, 12, (1000, 120)),
     (2, 12, (300, 300, 300))],
)  # fmt: skip
def test_the_same_network_twice(states, n, rows):
    """Twenty seeds: about one in twenty has a false difference, and p-values are uniform."""
    false, p_values, strengths = 0, [], []
    for seed in range(20):
        unaries, tables = network(n, states, seed, 0.5 if states < 5 else 0.8)
        own = model(states, unaries, tables)
        drawn = [own.sample(size, random_state=1000 * k + seed) for k, size in enumerate(rows, 1)]
        found = gw.compare_groups(joined(drawn), "g")
        false += bool(found.different.any())
        p_values += np.exp(found.tests.log_p[found.known]).tolist()
        strengths.append(found.strength.p_value)
    assert false <= 3
    assert np.mean(np.array(p_values) < 0.05) < 0.08
    assert np.mean(np.array(p_values) < 0.01) < 0.025
    if min(rows) * 2 >= max(rows):
        assert np.mean(np.array(strengths) < 0.05) <= 0.2


def test_theory_and_permutations_agree():
    unaries, tables = network(10, 2, 0)
    own = model(2, unaries, tables)
    rows = joined([own.sample(600, random_state=k) for k in (1, 2)])
    found = gw.compare_groups(rows, "g", n_permutations=1000)
    theory, permuted = np.exp(found.tests.log_p), found.permutations.p_values
    error = np.sqrt(theory * (1 - theory) / 1000)
    assert (np.abs(theory - permuted) < 4 * error + 0.02).all()
    assert abs(found.strength.p_value - found.permutations.strength) < 0.1


def test_intervals_of_differences_cover():
    """Of strengths that differ by one, or not at all."""
    covered = total = 0
    for seed in range(10):
        table, gone = planted(2, seed, 600, 0.5)
        for each in gw.compare_groups(table, "g").edges():
            true = 1.0 if frozenset((each["first"], each["second"])) in gone else 0.0
            total += 1
            covered += each["low"] <= true <= each["high"]
    assert covered / total >= 0.92
