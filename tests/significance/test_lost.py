"""What missing cells take from tests, against formulas, and tables that a single draw misleads."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.data import Table

from doors.data import prepare
from doors.estimators import imputing
from doors.significance import NOTHING_LOST, Findings, Lost, log_tail
from support.problems import gappy_chain


@pytest.mark.parametrize("policy", ["available-case", "impute"])
def test_what_two_independent_columns_lose(policy, monkeypatch):
    """Shares known by arithmetic: a row tells of the pair only if both cells are observed.

    Of variance 4 in rows that have both, slopes keep 1 in rows that have one cell, all of it lost;
    "impute" counts the drawn cell too. Rows that lack both count in neither.
    """
    seen, of = [], Lost.of
    monkeypatch.setattr(Lost, "of", lambda *given: seen.append(of(*given)) or seen[-1])
    observed, copies = 0.75, imputing.COPIES
    both, one = observed**2, 2 * observed * (1 - observed)
    if policy == "available-case":
        curvature, variance = one / (2 * both + one), one / (4 * both + one)
    else:
        curvature = variance = one / (both + one)
    left = (1 - variance) / (1 - curvature) ** 2
    noise = variance * (1 / copies + curvature**2 / (1 - curvature**2))
    known = gw.PriorKnowledge(required=[("x0", "x1")])
    for seed in range(2):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, 2, (4000, 2)).astype(object)
        rows[rng.random(rows.shape) > observed] = None
        gw.MarkovNetwork(missing=policy, knowledge=known, random_state=seed, n_jobs=1).fit(rows)
    factors = [each.factors[0, 1] for each in seen]
    assert np.isclose(np.mean(factors), 1 / (left + noise), rtol=0.06)
    assert np.ptp(factors) < 0.1


def test_tests_are_read_with_what_is_missing():
    pairs = np.array([[0, 1], [0, 2]])
    statistics, degrees = np.array([10.0, 10.0]), np.array([1.0, 2.0])
    careful = log_tail(statistics, degrees) + np.array([0.0, 1.0])  # a rare cell: see rare_cells
    found = Findings(pairs, statistics, degrees, careful, statistics)
    assert NOTHING_LOST.read(found) is found
    read = Lost({(0, 1): 0.5}).read(found)
    assert np.allclose(read.log_p, [log_tail(np.array([5.0]), np.ones(1))[0], careful[1]])
    equal = Lost({(0, 2): 1 - 1e-12}).read(found)
    assert np.allclose(equal.log_p, careful)  # as careful as before
    errors = Lost({(0, 1): 0.25}).errors(pairs, np.ones(2))
    assert errors.tolist() == [2.0, 1.0]


def test_a_false_edge_of_single_draws():
    """With one draw, taken for observed, each of these seeds has an edge past the chain."""
    rows, edges = gappy_chain(18), []
    for seed in (1, 2, 3):
        net = gw.MarkovNetwork(missing="available-case", fdr=0.05, random_state=seed, n_jobs=1)
        edges.append({tuple(pair) for pair in net.fit(rows).evidence_.edges.pairs.tolist()})
        assert 0.05 < net.missing_.lost < 0.6
    assert edges[0] == edges[1] == edges[2] == {(i, i + 1) for i in range(7)}


def test_rows_in_copies_count_as_before():
    codes = np.array([[0, 1, 2, 1, 2], [0, 1, 1, 2, 2]])
    table = Table(("a", "b"), ((0, 1, "(missing)"),) * 2, codes, np.array([1.0, 2, 3, 4, 5]))
    sample = prepare(table, missing=True)
    copied = sample.in_copies(4)
    assert copied.counts.codes.shape == (2, 14)
    assert copied.total_weight == sample.total_weight == copied.weights.sum()
    assert np.array_equal(copied.counts.margins, sample.counts.margins)
    pairs = np.array([[0, 1]])
    assert np.array_equal(copied.counts.tables(pairs)[0], sample.counts.tables(pairs)[0])
