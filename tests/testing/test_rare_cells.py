"""Cells that are rarely expected: sums by plain formulas, and how many edges chance brings in."""

import numpy as np
import pytest
from problems import random_table, with_holes
from scipy.sparse import csr_array
from scipy.stats import binom

from graftwork import MarkovNetwork
from graftwork.data import Table
from graftwork.data.encoded import prepare
from graftwork.grafting import Problem
from graftwork.grafting.starts import with_pairs
from graftwork.inference.layout import Potentials
from graftwork.inference.pairs import find_edges
from graftwork.objectives import PseudoLikelihood
from graftwork.objectives.protocol import independent_potentials
from graftwork.penalties import GroupL1
from graftwork.selection import refit
from graftwork.testing.contrasts import all_states
from graftwork.testing.edge_tests import EdgeTests
from graftwork.testing.rare_cells import expected_apart, seen_cells
from graftwork.testing.rows import FittedRows

EDGES = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])


def conditional(sample, potentials, i, r, replaced=None):
    """p(x_i | others) in one row, by the definition; ``replaced`` has another state of one."""
    layout = potentials.layout
    logits = layout.unary(potentials.weights, i).copy()
    for e, pair in enumerate(layout.edges.tolist()):
        if i in pair:
            j = pair[1 - pair.index(i)]
            table = layout.table(potentials.weights, e)
            table = table if pair[0] == i else table.T
            z = sample.indicators(j)[sample.codes[j, r]]
            if replaced is not None and replaced[0] == j:
                z = np.eye(table.shape[1])[replaced[1]]
            logits += table @ z
    return np.exp(logits) / np.exp(logits).sum()


def alone(sample, potentials, i, j, r):
    """p(x_i | others but j) in one row: x_j is averaged over its frequencies if it is an edge."""
    if find_edges(potentials.layout, np.array([sorted((i, j))]))[0] < 0:
        return conditional(sample, potentials, i, r)
    f = np.split(sample.frequencies, np.cumsum(sample.cards)[:-1])[j]
    return sum(f[b] * conditional(sample, potentials, i, r, (j, b)) for b in range(len(f)))


@pytest.mark.parametrize("kind", ["complete", "sampling", "incomplete"])
def test_what_is_expected_is_a_sum_of_products_of_conditionals(kind, monkeypatch):
    monkeypatch.setattr("graftwork.testing.rare_cells.BLOCK_SIZE", 100)  # several blocks of rows
    rows = 80
    weights = np.random.default_rng(3).integers(1, 4, rows) + 0.5 if kind == "sampling" else None
    table = random_table(3, n=6, rows=rows, weights=weights)
    if kind == "incomplete":
        table = with_holes(table, 3)
    sample = prepare(table, missing=kind == "incomplete")
    start = with_pairs(independent_potentials(sample), EDGES)
    problem = Problem(PseudoLikelihood(sample, 1), GroupL1(1.0))
    solution = refit(problem, start, 1e-10)
    potentials: Potentials = solution.point.potentials
    here = FittedRows.of(solution.point, all_states(sample))
    mass = np.ones(sample.n_rows) if sample.weights is None else sample.weights
    for i in range(6):
        for j in range(i + 1, 6):
            wanted, counted = 0.0, 0.0
            for r in range(sample.n_rows):
                p = [alone(sample, potentials, *both, r) for both in ((i, j), (j, i))]
                z = [sample.indicators(k)[sample.codes[k, r]] for k in (i, j)]
                seen = [sample.codes[k, r] < sample.cards[k] for k in (i, j)]
                full = [own if known else soft for own, soft, known in zip(p, z, seen, strict=True)]
                wanted += 0.5 * mass[r] * sum(seen) * np.outer(*full)
                counted += 0.5 * mass[r] * sum(seen) * np.outer(*z)
            if kind != "incomplete" and ((i, j) == (2, 3) or j > 3):  # one has no other neighbour
                f = np.split(sample.frequencies, np.cumsum(sample.cards)[:-1])
                independent = sample.total_weight * np.outer(f[i], f[j])
                assert np.allclose(wanted, independent, atol=0.5)
                wanted = independent
            pair = np.array([[i, j]])
            assert np.allclose(expected_apart(here, pair)[0], wanted, atol=2e-6), (i, j)
            assert np.allclose(seen_cells(here, pair)[0], counted)


def twins(rows, variables, pairs, seed=0):
    """Rare ones; the first variables are pairs that share nine ones in ten."""
    rng = np.random.default_rng(seed)
    codes = (rng.random((rows, variables)) < 0.01).astype(np.uint8)
    for j in range(0, 2 * pairs, 2):
        again = rng.random(rows) < 0.1
        codes[:, j + 1] = np.where(again, codes[:, j + 1], codes[:, j])
    return codes


def test_coincidences_of_rare_ones_are_no_edges():
    """By chi-square tails alone 38 of 98 edges were wrong with 1,500 variables."""
    net = MarkovNetwork(n_jobs=1, random_state=0).fit(csr_array(twins(3000, 400, 20)))
    assert net.model_.potentials.layout.edges.tolist() == [[j, j + 1] for j in range(0, 40, 2)]
    net = MarkovNetwork(n_jobs=1, random_state=0, fdr=0.1).fit(twins(2000, 400, 0))
    assert net.model_.n_edges == 0


def test_an_edge_of_few_coincidences_has_their_binomial_tail():
    codes = twins(2000, 6, 0)
    codes[:, :2] = 0
    codes[:20, 0] = codes[16:36, 1] = 1  # four coincidences, .2 expected
    sample = prepare(Table(
        tuple("abcdef"), ((0, 1),) * 6, np.ascontiguousarray(codes.T)
    ))  # fmt: skip
    problem = Problem(PseudoLikelihood(sample, 1), GroupL1(1.0))
    start = with_pairs(independent_potentials(sample), np.array([[0, 1]]))
    fitted = refit(problem, start, 1e-10)
    found = EdgeTests.of(FittedRows.of(fitted.point, all_states(sample))).findings(10**6)
    assert np.isclose(found.log_p[0], binom.logsf(3, 20, 0.01), rtol=1e-6)


def test_ordered_variables_with_and_without_pooled_states_are_tested_together():
    """Their bases may have one shape though their groups have not."""
    rng = np.random.default_rng(0)
    shares = np.array([0.25, 0.25, 0.1, 0.1])  # of the last two, the third state is pooled
    codes = rng.binomial(2, shares, (300, 4))
    for j in (1, 3):
        codes[:, j] = np.where(rng.random(300) < 0.8, codes[:, j - 1], codes[:, j])
    codes[:4, 2:] = 2
    thirds = (codes == 2).sum(axis=0)
    assert (thirds[:2] >= 10).all()
    assert (thirds[2:] > 0).all()
    assert (thirds[2:] < 10).all()
    net = MarkovNetwork(ordinal=True).fit(codes)
    assert list(net.model_.edges) == [("x0", "x1"), ("x2", "x3")]


@pytest.mark.parametrize("cells", [1, 5, 9])
def test_a_state_seen_a_few_times_makes_no_edge_of_pairs_that_others_explain(cells):
    """In the tests it is pooled with another state, whose many rows are what counts."""
    false = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        b = rng.integers(0, 3, 2000)
        a = np.where(rng.random(2000) < 0.6, b % 2, rng.integers(0, 2, 2000))
        c = np.where(rng.random(2000) < 0.6, b, rng.integers(0, 3, 2000))
        a[:cells] = 9
        net = MarkovNetwork(random_state=0).fit({"a": a, "b": b, "c": c})
        assert {("a", "b"), ("b", "c")} <= set(net.model_.edges)
        false += ("a", "c") in net.model_.edges
    assert false <= 1
