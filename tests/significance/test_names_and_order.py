"""P-values depend on what the rows say: not on names of states, their order, or that of columns."""

import numpy as np
import pytest

import graftwork as gw

from doors.significance import pool


def table_with_ties(rng):
    """Return columns of few rows whose rare states are equally frequent, some of them dependent."""
    n_rows, n = int(rng.integers(60, 300)), int(rng.integers(3, 6))
    base, columns = rng.integers(3, size=n_rows), []
    for _ in range(n):
        states = int(rng.integers(2, 7))
        column = rng.choice(states, size=n_rows, p=rng.dirichlet(np.full(states, 0.6)))
        copied = rng.random(n_rows) < rng.choice([0.0, 0.3, 0.6])
        column[copied] = base[copied] % states
        if states > 3:  # the last two states occur equally often
            column[column >= states - 2] = 0
            rare = int(rng.integers(2, 12))
            places = rng.permutation(n_rows)[: 2 * rare]
            column[places[:rare]], column[places[rare:]] = states - 2, states - 1
        columns.append(column)
    return columns


def p_values(columns, names, words, order):
    """Return the p-value of each tested pair of a network of columns in this order of rows."""
    rows = {
        names[k]: [words[k][state] for state in column[order]] for k, column in enumerate(columns)
    }
    evidence = gw.MarkovNetwork(fdr=0.05, ordinal=False).fit(rows).evidence_
    return {
        frozenset((names[i], names[j])): np.exp(log_p)
        for part in (evidence.edges, evidence.others)
        for (i, j), log_p in zip(part.pairs.tolist(), part.log_p.tolist(), strict=True)
    }


def check(seed):
    rng = np.random.default_rng(seed)
    columns = table_with_ties(rng)
    n, as_given = len(columns), np.arange(len(columns[0]))
    names = [f"v{k}" for k in range(n)]
    words = [[f"s{state}" for state in range(int(column.max()) + 1)] for column in columns]
    expected = p_values(columns, names, words, as_given)
    renamed = [[f"{place}-{n}" for place in rng.permutation(len(own))] for own in words]
    turned = rng.permutation(n).tolist()
    for found in (
        p_values(columns, names, renamed, as_given),
        p_values(columns, names, words, rng.permutation(len(as_given))),
        p_values(*([part[k] for k in turned] for part in (columns, names, words)), as_given),
    ):
        assert found.keys() == expected.keys()
        assert all(abs(found[pair] - p) <= 1e-9 for pair, p in expected.items())


@pytest.mark.parametrize("seed", range(12))
def test_names_and_order_change_no_p_value(seed):
    check(seed)


@pytest.mark.slow
def test_names_and_order_change_no_p_value_of_300_tables():
    for seed in range(100, 400):
        check(seed)


@pytest.mark.parametrize(
    ("counts", "n_groups"),
    [
        ([3, 50, 8, 8], 2),  # the sum of 3 and one 8 would do, but both are alike
        ([3, 20, 20], 3),  # both are most frequent: the rare one is alone
        ([4, 4, 4], 3),
        ([1, 2, 30, 40], 2),
        ([7] * 11 + [50], 2),
        ([20] * 40, 12),
    ],
)
def test_states_that_are_equally_frequent_are_pooled_alike(counts, n_groups):
    counts = np.array(counts, dtype=float)
    groups = pool(counts)
    assert len(np.unique(groups)) == n_groups
    if len(counts) < 24:
        pooled = [np.count_nonzero(groups == group) > 1 for group in groups]
        alike = {}
        for count, together in zip(counts.tolist(), pooled, strict=True):
            assert alike.setdefault(count, together) == together
