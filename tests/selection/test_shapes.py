"""Ordered variables with goal="structure": linear parts and rests, each tested on its own."""

import numpy as np
import pytest

import graftwork as gw

SCORES = np.arange(5) - 2.0
STRAIGHT = np.outer(SCORES, SCORES)
BENT = np.outer(SCORES, SCORES**2 - 2.0)


def drawn(tables, rows, seed=0, n=6):
    model = gw.PairwiseMRF({i: range(5) for i in range(n)}, None, tables)
    return model.sample(rows, random_state=seed).codes.T.astype(int)


def edges(net):
    return {tuple(sorted((int(a[1:]), int(b[1:])))) for a, b in net.model_.edges}


def test_linear_relations_need_few_rows():
    chain = {(i, i + 1): 0.2 * STRAIGHT for i in range(5)}
    rows = drawn(chain, 150)
    net = gw.MarkovNetwork(ordinal=True).fit(rows)
    assert edges(net) == set(chain)
    assert not net.evidence_.curved
    assert (net.edges_["df"] == 1).all()
    assert len(gw.MarkovNetwork().fit(rows).model_.edges) < 5
    for a, b in net.model_.edges:  # a linear table is theta x y and nothing else
        table = net.model_.table(a, b)
        table = table - table.mean(0) - table.mean(1, keepdims=True) + table.mean()
        assert np.allclose(table, net.model_.weight(a, b) * STRAIGHT, atol=1e-9)
    assert np.allclose(net.edges_["weight"], 0.2, atol=0.12)


def test_a_relation_that_is_not_monotone_is_found():
    rows = drawn({(0, 1): 0.3 * BENT, (2, 3): 0.3 * STRAIGHT}, 400)
    net = gw.MarkovNetwork(ordinal=True).fit(rows)
    assert edges(net) == {(0, 1), (2, 3)}
    assert net.evidence_.curved == {(0, 1)}
    found = net.edges_.set_index(["first", "second"])
    assert found.loc[("x2", "x3"), "df"] == 1
    assert found.loc[("x0", "x1"), "df"] > 1
    assert "1 is not linear and has a whole table: x0 - x1" in " ".join(net.summary().split())
    assert found.loc[("x2", "x3"), "linear_share"] == pytest.approx(1.0)
    first, second = (np.stack([SCORES]), np.stack([SCORES]))
    table = net.model_.table("x0", "x1")
    table = table - table.mean(0) - table.mean(1, keepdims=True) + table.mean()
    along = float((first @ table @ second.T)[0, 0]) ** 2 / (SCORES @ SCORES) ** 2
    share = found.loc[("x0", "x1"), "linear_share"]
    assert share == pytest.approx(along / (table**2).sum())
    assert share < 0.2


def test_an_edge_with_both_parts_is_curved():
    both = 0.3 * STRAIGHT + 0.12 * np.outer(SCORES**2 - 2, SCORES**2 - 2)
    rows = drawn({(0, 1): both}, 1500)
    net = gw.MarkovNetwork(ordinal=True).fit(rows)
    assert edges(net) == {(0, 1)}
    assert net.evidence_.curved == {(0, 1)}
    assert net.model_.weight("x0", "x1") > 0


@pytest.mark.parametrize("seed", range(3))
def test_independent_items_have_no_edges(seed):
    rows = np.random.default_rng(seed).integers(5, size=(200, 8))
    net = gw.MarkovNetwork(ordinal=True).fit(rows)
    assert not net.model_.n_edges


def test_an_unordered_variable_has_a_number_for_each_difference():
    rng = np.random.default_rng(0)
    town = rng.integers(3, size=500)
    odds = np.exp(0.4 * np.array([-1.0, 0.0, 1.0])[town][:, None] * SCORES)
    odds /= odds.sum(axis=1, keepdims=True)
    mood = (rng.random(500)[:, None] > odds.cumsum(axis=1)).sum(axis=1)
    table = {
        "town": [f"t{t}" for t in town],
        "mood": mood.tolist(),
        "age": rng.integers(5, size=500),
    }
    net = gw.MarkovNetwork(ordinal=["mood", "age"]).fit(table)
    assert net.model_.edges == [("town", "mood")]
    assert net.edges_["df"][0] == pytest.approx(2.0, abs=0.01)  # Satterthwaite
    assert np.isnan(net.edges_["weight"][0])


def test_resamples_keep_the_curved_pairs():
    rows = drawn({(0, 1): 0.3 * BENT, (2, 3): 0.3 * STRAIGHT}, 400)
    net = gw.MarkovNetwork(ordinal=True).fit(rows)
    found = net.bootstrap(rows, n=6, random_state=0).to_frame()
    often = {
        (a, b): f for a, b, f in found[["first", "second", "frequency"]].itertuples(index=False)
    }
    assert often[("x0", "x1")] == often[("x2", "x3")] == 1.0
