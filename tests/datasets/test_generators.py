"""Networks of the generators: their graphs, potentials, seeds, refusals."""

import networkx as nx
import numpy as np
import pytest

import graftwork as gw
from graftwork.datasets import (
    bernoulli_network,
    make_bernoulli,
    make_planted_chain,
    make_scale_free,
    planted_chain,
    scale_free_network,
)
from graftwork.errors import ParameterError

NETWORKS = {
    "scale-free": lambda n, **more: scale_free_network(n, **more),
    "bernoulli": lambda n, **more: bernoulli_network(n, **more),
    "chain": lambda n, **more: planted_chain(4, n - 4, **more),
}
MAKERS = {
    "scale-free": lambda n, **more: make_scale_free(n, **more),
    "bernoulli": lambda n, **more: make_bernoulli(n, **more),
    "chain": lambda n, **more: make_planted_chain(4, n - 4, **more),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_the_same_seed_gives_the_same_network(name):
    one, two, other = (NETWORKS[name](12, random_state=seed) for seed in (5, 5, 6))
    assert one == two
    assert one != other
    assert one == NETWORKS[name](12, random_state=np.random.default_rng(5))


@pytest.mark.parametrize("name", MAKERS)
def test_makers_return_the_network_of_the_seed_and_rows(name):
    made = MAKERS[name](12, n_rows=40, n_test=10, random_state=3)
    again = MAKERS[name](12, n_rows=40, n_test=10, random_state=3, n_jobs=2)
    assert made.model == NETWORKS[name](12, random_state=3) == again.model
    assert made.data.n_rows == 40
    assert made.test.n_rows == 10
    assert made.data.names == made.test.names == made.model.names
    assert made.data.states == tuple(made.model.states.values())
    np.testing.assert_array_equal(made.data.codes, again.data.codes)
    np.testing.assert_array_equal(made.test.codes, again.test.codes)
    assert made.mixing.ok
    assert MAKERS[name](12, n_rows=5, n_test=0).test is None


@pytest.mark.parametrize("name", MAKERS)
def test_mixed_state_counts(name):
    cards = [2, 3, 4, 5] * 3
    made = MAKERS[name](12, n_states=cards, n_rows=500, random_state=0)
    assert made.data.cards.tolist() == cards
    assert [len(states) for states in made.model.states.values()] == cards
    assert made.data.n_rows == 500


def test_scale_free_keeps_what_seeds_gave():
    """Benchmarks quote seeds: the stream of random numbers must not change."""
    model = scale_free_network(6, 2, random_state=7)
    rng = np.random.default_rng(7)
    graph = nx.barabasi_albert_graph(6, 2, seed=int(rng.integers(2**31)))
    size = 12 + 4 * graph.number_of_edges()
    unary = rng.normal(0.0, 0.5, size)[:12]
    assert {frozenset(e) for e in model.edges} == {
        frozenset((f"x{a}", f"x{b}")) for a, b in graph.edges
    }
    np.testing.assert_array_equal(model.potentials.weights[:12], unary)
    np.testing.assert_array_equal(model.potentials.weights[12:], rng.normal(0.0, 1.0, size - 12))


def test_bernoulli_has_the_mean_degree_and_the_deviations_asked_for():
    model = bernoulli_network(400, 3, mean_degree=5, unary_sd=0.2, edge_sd=2.0, random_state=0)
    # 1,000 edges expected, with a standard deviation of about 32.
    assert abs(model.n_edges - 1000) < 5 * np.sqrt(1000)
    layout, weights = model.potentials.layout, model.potentials.weights
    assert weights[: layout.n_unary].std() == pytest.approx(0.2, rel=0.1)
    assert weights[layout.n_unary :].std() == pytest.approx(2.0, rel=0.05)
    assert abs(weights.mean()) < 0.1
    degrees = np.bincount(layout.edges.ravel(), minlength=400)
    assert degrees.max() < 20
    assert bernoulli_network(9, mean_degree=8, random_state=0).n_edges == 36
    assert bernoulli_network(9, mean_degree=0, random_state=0).n_edges == 0


def test_planted_chain_is_one_path_of_equal_strength():
    cards = np.random.default_rng(0).integers(2, 6, 60)
    model = planted_chain(10, 50, cards, coupling=1.5, random_state=1)
    graph = model.to_networkx()
    graph.remove_nodes_from(list(nx.isolates(graph)))
    assert nx.is_connected(graph)
    assert sorted(dict(graph.degree).values()) == [1, 1] + [2] * 8
    for a, b in model.edges:
        table = model.table(a, b)
        np.testing.assert_allclose(table.sum(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(table.sum(axis=1), 0, atol=1e-12)
        assert np.linalg.norm(table) == pytest.approx(1.5 * np.sqrt(table.size))
    plain = planted_chain(10, 50, shuffle=False, random_state=1)
    assert plain.edges == [(f"x{i}", f"x{i + 1}") for i in range(9)]
    # Shuffled, the chain must not lie in the order of the columns.
    assert planted_chain(10, 50, random_state=1).edges != plain.edges


def test_planted_chain_is_found_again():
    made = make_planted_chain(6, 14, [2, 3] * 10, n_rows=1500, n_test=200, random_state=0)
    net = gw.MarkovNetwork(random_state=0, n_jobs=1).fit(made.data)
    scores = gw.evaluate(net, made.test, made.model)
    assert scores.f1 == 1.0
    assert scores.hamming == 0


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"n_states": 1}, "n_states must .*got 1"),
        ({"n_states": 2.5}, "n_states is 2.5"),
        ({"n_states": [2, 3]}, "one for each of the 12"),
        ({"n_states": "22"}, "n_states is '22'"),
        ({"n_states": [2] * 11 + [0]}, "n_states must .*got 0"),
        ({"n_states": True}, "n_states must .*got True"),
        ({"unary_sd": -1}, "unary_sd must .*got -1"),
        ({"unary_sd": float("nan")}, "unary_sd must .*got nan"),
        ({"unary_sd": "big"}, "unary_sd must .*got 'big'"),
        ({"random_state": "one"}, "random_state is 'one'"),
        ({"random_state": -1}, "random_state is -1"),
    ],
)
def test_networks_refuse_nonsense(name, options, told):
    with pytest.raises((gw.DataError, ParameterError), match=told):
        NETWORKS[name](12, **options)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: scale_free_network(1), "n_variables must .*got 1"),
        (lambda: scale_free_network(5, attach=5), "attach must .*to 4, got 5"),
        (lambda: scale_free_network(5, attach=0), "attach must .*got 0"),
        (lambda: scale_free_network(5, edge_sd=np.inf), "edge_sd must .*got inf"),
        (lambda: bernoulli_network(0), "n_variables must .*got 0"),
        (lambda: bernoulli_network(5, mean_degree=4.5), "mean_degree must .*to 4, got 4.5"),
        (lambda: bernoulli_network(5, mean_degree=-1), "mean_degree must .*got -1"),
        (lambda: planted_chain(1, 5), "n_chain must .*got 1"),
        (lambda: planted_chain(3, -1), "n_noise must .*got -1"),
        (lambda: planted_chain(3, 1, coupling=-2.0), "coupling must .*got -2.0"),
        (lambda: make_bernoulli(5, n_rows=0), "n_rows must .*got 0"),
        (lambda: make_bernoulli(5, n_test=-1), "n_test must .*got -1"),
        (lambda: make_bernoulli(5, n_jobs=0), "n_jobs is 0"),
        (lambda: make_bernoulli(5, n_jobs=1.5), "n_jobs is 1.5"),
    ],
)
def test_generators_refuse_nonsense(call, told):
    with pytest.raises((gw.DataError, ParameterError), match=told):
        call()
