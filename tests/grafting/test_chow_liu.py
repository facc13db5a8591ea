"""The Chow-Liu tree: against networkx, scikit-learn, and enumeration."""

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from graftwork.data import Table, as_table
from graftwork.inference import JunctionTree
from graftwork.objectives import Likelihood

from doors.data import prepare
from doors.grafting import chow_liu_edges, pair_information, tree_potentials
from support.problems import all_pairs, random_table


def table_of(codes, weights=None):
    codes = np.asarray(codes)
    states = tuple(tuple(range(int(column.max()) + 1)) for column in codes)
    return Table(tuple(f"v{i}" for i in range(len(codes))), states, codes, weights)


def information_by_histogram(table, i, j):
    """Mutual information from a NumPy histogram: p log p summed over cells, no shared code."""
    joint = np.zeros((table.cards[i], table.cards[j]))
    weights = 1.0 if table.weights is None else table.weights
    np.add.at(joint, (table.codes[i], table.codes[j]), weights)
    joint /= joint.sum()
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float((joint[joint > 0] * np.log(joint[joint > 0] / product[joint > 0])).sum())


def tree_by_networkx(table):
    """The maximum spanning tree; of equal edges networkx takes those listed first."""
    graph = nx.Graph()
    graph.add_nodes_from(range(table.n_variables))
    for i, j in all_pairs(table.n_variables):
        information = round(information_by_histogram(table, i, j), 12)
        if information > 0:
            graph.add_edge(int(i), int(j), weight=information)
    tree = nx.maximum_spanning_tree(graph, algorithm="kruskal")
    return sorted(tuple(sorted(edge)) for edge in tree.edges)


def as_pairs(edges):
    return sorted(map(tuple, edges.tolist()))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_information_is_that_of_scikit_learn(seed, weighted):
    weights = np.random.default_rng(seed).integers(0, 4, 200).astype(float) if weighted else None
    table = random_table(seed, n=6, rows=200, most=5, weights=weights)
    pairs = all_pairs(6)
    rows = np.repeat(np.arange(200), 1 if weights is None else weights.astype(int))
    codes = table.codes[:, rows]
    expected = [mutual_info_score(codes[i], codes[j]) for i, j in pairs]
    assert np.allclose(pair_information(prepare(table), pairs), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_tree_is_that_of_networkx(seed, weighted):
    rng = np.random.default_rng(seed)
    weights = rng.exponential(1.0, 300) if weighted else None
    table = random_table(seed, n=15, rows=300, most=5, weights=weights)
    edges, information = chow_liu_edges(prepare(table))
    assert as_pairs(edges) == tree_by_networkx(table)
    assert len(edges) == 14
    assert (np.diff(information) <= 0).all()
    expected = [information_by_histogram(table, i, j) for i, j in edges]
    assert np.allclose(information, expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_of_equal_edges_the_first_goes_first(seed):
    """Copies of columns, with states renamed, tie with each other everywhere."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 3, (4, 60))
    copies = np.array([(base[k] + rng.integers(3)) % 3 for k in rng.integers(0, 4, 12)])
    table = table_of(copies)
    edges, _ = chow_liu_edges(prepare(table))
    assert as_pairs(edges) == tree_by_networkx(table)


def test_information_does_not_depend_on_the_order_of_states_or_variables():
    table = random_table(5, n=2, rows=500, most=5)
    codes = table.codes.copy()
    codes[0] = np.random.default_rng(0).permutation(table.cards[0])[codes[0]]
    values = {
        float(pair_information(prepare(table_of(c)), np.array([[0, 1]]))[0])
        for c in (table.codes, codes, codes[::-1])
    }
    assert len(values) == 1


def test_the_tree_does_not_depend_on_threads():
    table = random_table(3, n=40, rows=400, most=4)
    found = [chow_liu_edges(prepare(table, n_jobs=jobs)) for jobs in (1, 2, 5)]
    for edges, information in found[1:]:
        assert (edges == found[0][0]).all()
        assert (information == found[0][1]).all()


def test_memory_stays_small_with_large_tables(monkeypatch):
    monkeypatch.setattr("graftwork.grafting.chow_liu.MOST_CELLS", 20)
    table = random_table(8, n=9, rows=100, most=6)
    sample = prepare(table)
    sizes, compute = [], sample.counts._compute

    def noting(pairs):
        counted = compute(pairs)
        sizes.append(len(counted[0]))
        return counted

    monkeypatch.setattr(sample.counts, "_compute", noting)
    edges, _ = chow_liu_edges(sample)
    assert as_pairs(edges) == tree_by_networkx(table)
    assert max(sizes) <= 36


def test_independent_columns_give_a_forest():
    codes = np.stack(np.meshgrid([0, 1], [0, 1, 2], [0, 1], indexing="ij")).reshape(3, -1)
    codes = np.concatenate([codes, codes[1:2]])  # a copy of the second
    edges, information = chow_liu_edges(prepare(table_of(codes)))
    assert edges.tolist() == [[1, 3]]
    assert np.isclose(information[0], np.log(3))
    assert len(chow_liu_edges(prepare(table_of(codes[:3])))[0]) == 0


def test_rounding_of_weights_is_no_dependence():
    codes = np.stack(np.meshgrid([0, 1], [0, 1, 2], indexing="ij")).reshape(2, -1)
    first, second = np.array([0.1, 0.9]), np.array([0.3, 0.3, 0.4])
    weights = (first[:, None] * second).ravel()
    edges, _ = chow_liu_edges(prepare(table_of(np.tile(codes, 999), np.tile(weights, 999))))
    assert len(edges) == 0


def test_the_smallest_dependence_of_whole_counts_is_found():
    counts = np.array([[2501, 2500], [2500, 2499]])
    codes = np.repeat(np.indices((2, 2)).reshape(2, -1), counts.ravel(), axis=1)
    edges, information = chow_liu_edges(prepare(table_of(codes)))
    assert edges.tolist() == [[0, 1]]
    assert np.isclose(information[0], 8e-16, rtol=1e-6)  # 8 / rows^4 of the determinant -1


@pytest.mark.parametrize("scale", [1e-100, 2.0**-40, 1e90])
def test_the_unit_of_weights_does_not_matter(scale):
    weights = np.random.default_rng(0).integers(1, 5, 200).astype(float)
    table = random_table(6, n=8, rows=200, most=4, weights=weights)
    scaled = Table(table.names, table.states, table.codes, weights * scale)
    (edges, information), (same, close) = (chow_liu_edges(prepare(t)) for t in (table, scaled))
    assert len(edges) == 7
    assert (edges == same).all()
    assert np.allclose(information, close, rtol=1e-12)


def test_a_halt_leaves_part_of_the_tree():
    table = random_table(3, n=12, rows=300, most=3)
    whole = as_pairs(chow_liu_edges(prepare(table))[0])
    calls = iter([False] * 5 + [True] * 99)
    part = as_pairs(chow_liu_edges(prepare(table), lambda: next(calls))[0])
    assert len(part) == 4
    assert set(part) < set(whole)


ODD = {
    "one row": [["a", "b", "c"]],
    "one column": [[0], [1]],
    "constant columns": [[0, 1, 5], [1, 0, 5], [0, 1, 5]],
    "300 states": [[i, i // 2, i % 7] for i in range(300)],
    "huge integers": [[10**30, 1], [0, 2], [10**30, 1], [0, 1]],
    "duplicates": [[i % 3, i % 3, i % 3] for i in range(30)],
}


@pytest.mark.parametrize("name", ODD)
def test_odd_tables(name):
    table = as_table(ODD[name])
    edges, _ = chow_liu_edges(prepare(table))
    assert as_pairs(edges) == tree_by_networkx(table)
    assert np.isfinite(tree_potentials(prepare(table), edges).weights).all()


def test_rows_without_weight_do_not_count():
    table = random_table(4, n=6, rows=200, most=3)
    weights = (np.arange(200) < 80).astype(float)
    weighted = Table(table.names, table.states, table.codes, weights)
    edges, information = chow_liu_edges(prepare(weighted))
    fewer, other = chow_liu_edges(prepare(table_of(table.codes[:, :80])))
    assert (edges == fewer).all()
    assert (information == other).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_tree_weights_reproduce_the_data(seed, weighted):
    """Exact inference gives back every pair frequency, and the likelihood has no slope left."""
    weights = np.random.default_rng(seed).exponential(1.0, 3000) if weighted else None
    table = random_table(seed, n=7, rows=3000, most=3, weights=weights)
    sample = prepare(table)
    edges, _ = chow_liu_edges(sample)
    fit = tree_potentials(sample, edges, 0.0)
    assert np.isfinite(fit.weights).all()  # no empty cell here
    beliefs = JunctionTree().infer(fit)
    assert abs(beliefs.log_partition) < 1e-12
    mass = np.ones(3000) if weights is None else weights
    for e, (i, j) in enumerate(edges):
        joint = np.zeros((table.cards[i], table.cards[j]))
        np.add.at(joint, (table.codes[i], table.codes[j]), mass / mass.sum())
        assert np.allclose(fit.layout.table(beliefs.values, e), joint, atol=1e-12)
    gradient = Likelihood(sample, JunctionTree()).at(fit).gradient
    assert np.abs(gradient).max() < 1e-12


def test_empty_cells_stay_finite_and_marginals_stay_those_of_the_data():
    table = table_of([[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1]])
    sample = prepare(table)
    edges, _ = chow_liu_edges(sample)
    fit = tree_potentials(sample, edges)
    assert np.isfinite(fit.weights).all()
    beliefs = JunctionTree().infer(fit)
    assert abs(beliefs.log_partition) < 1e-12
    own = beliefs.values[: fit.layout.n_unary]
    assert np.allclose(own, sample.frequencies, atol=1e-12)


def test_kept_states_without_rows_get_a_little():
    table = Table(("a", "b"), ((0, 1, 2), (0, 1)), [[0, 0, 1, 1], [0, 0, 1, 0]])
    sample = prepare(table, keep_all_states=True)
    edges, _ = chow_liu_edges(sample)
    fit = tree_potentials(sample, edges)
    assert np.isfinite(fit.weights).all()
    beliefs = JunctionTree().infer(fit)
    assert abs(beliefs.log_partition) < 1e-12
    assert 0 < fit.layout.unary(beliefs.values, 0)[2] < 0.05


def test_no_other_tree_has_a_larger_likelihood():
    """Every spanning tree of five variables, by its own closed form."""
    table = random_table(11, n=5, rows=400, most=3)
    sample = prepare(table)
    loss = Likelihood(sample, JunctionTree())

    def value(edges):
        return loss.at(tree_potentials(sample, np.array(sorted(edges)), 1e-9)).value

    best = value(as_pairs(chow_liu_edges(sample)[0]))
    trees = [
        [tuple(sorted(e)) for e in nx.from_prufer_sequence([a, b, c]).edges]
        for a in range(5) for b in range(5) for c in range(5)
    ]  # fmt: skip
    values = [value(tree) for tree in trees]
    assert len(values) == 125
    assert best <= min(values) + 1e-9
    assert np.median(values) > best + 0.01
