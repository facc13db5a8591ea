"""Graph files hold all numbers: networkx, csv and json read them back."""

from __future__ import annotations

import csv
import json

import networkx as nx
import numpy as np
import pytest

import graftwork as gw
from graftwork.errors import DataError, ModelFileError

NUMBERS = ("strength", "correlation", "weight", "p_value", "q_value", "statistic", "df")


@pytest.fixture(scope="module")
def net():
    """A learned network of binary and other variables, with tests and one variable alone."""
    rng = np.random.default_rng(5)
    a = rng.integers(2, size=400)
    b = np.where(rng.random(400) < 0.85, 1 - a, a)
    c = np.where(rng.random(400) < 0.8, a, 2)
    rows = {"a": a, "b & <b>": [f"é{k}" for k in b], "c": c, "alone": rng.integers(2, size=400)}
    return gw.MarkovNetwork(ordinal=False, random_state=0).fit(rows)


def of_cytoscape(path):
    return nx.cytoscape_graph(json.loads(path.read_text()))


READERS = {"graphml": nx.read_graphml, "gexf": nx.read_gexf, "cyjs": of_cytoscape}


def expected(net):
    return {
        frozenset((edge["first"], edge["second"])): {
            name: edge[name] for name in NUMBERS if edge[name] == edge[name]
        }
        for edge in net.edges_.to_dict("records")
    }


@pytest.mark.parametrize("suffix", READERS)
def test_networkx_reads_all_numbers(suffix, net, tmp_path):
    path = tmp_path / f"net.{suffix}"
    assert net.export(path).format == {"cyjs": "cytoscape"}.get(suffix, suffix)
    graph = READERS[suffix](path)
    assert set(graph.nodes) == set(net.model_.names)
    for name, states in net.model_.states.items():
        assert json.loads(graph.nodes[name]["states"]) == list(states)
    wanted = expected(net)
    found = {frozenset(edge): data for *edge, data in graph.edges(data=True)}
    assert set(found) == set(wanted)
    assert {"weight", "p_value", "correlation"} <= set().union(*wanted.values())
    for edge, numbers in wanted.items():
        assert {name: found[edge][name] for name in numbers} == numbers
        assert ("sign" in found[edge]) == ("weight" in numbers)
        assert found[edge].get("sign", 0) == np.sign(numbers.get("correlation", 0))
    assert any(data.get("sign") == -1 for data in found.values())


@pytest.mark.parametrize("suffix", READERS)
def test_saved_networks_are_written_like_fitted_ones(suffix, net, tmp_path):
    net.save(tmp_path / "net.gw")
    info = gw.exchange.read_info(tmp_path / "net.gw")
    gw.load(tmp_path / "net.gw").export(tmp_path / f"saved.{suffix}", info=info)
    net.export(tmp_path / f"fitted.{suffix}")
    saved, fitted = (READERS[suffix](tmp_path / f"{n}.{suffix}") for n in ("saved", "fitted"))
    ours, theirs = (
        {frozenset(edge): {k: data[k] for k in data if k not in ("id", "name")}
         for *edge, data in graph.edges(data=True)}
        for graph in (saved, fitted)
    )  # fmt: skip
    assert ours == theirs


def test_cytoscape_json_has_its_schema(net, tmp_path):
    net.export(tmp_path / "net.cyjs")
    page = json.loads((tmp_path / "net.cyjs").read_text())
    assert set(page) >= {"format_version", "generated_by", "data", "elements"}
    nodes, edges = page["elements"]["nodes"], page["elements"]["edges"]
    assert all(set(element) == {"data"} for element in nodes + edges)
    ids = [element["data"]["id"] for element in nodes + edges]
    assert all(isinstance(each, str) for each in ids)
    assert len(set(ids)) == len(ids)
    for edge in edges:
        assert {edge["data"]["source"], edge["data"]["target"]} <= {n["data"]["id"] for n in nodes}
    for element in nodes + edges:
        assert all(isinstance(value, str | int | float) for value in element["data"].values())


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_edges_for_gephi(net, tmp_path):
    wanted = expected(net)
    written = net.export(tmp_path / "edges.csv")
    assert "1 variable without an edge" in written.lost
    rows = rows_of(tmp_path / "edges.csv")
    assert list(rows[0])[:5] == ["Source", "Target", "Type", "Weight", "Sign"]
    assert len(rows) == len(wanted)
    for row in rows:
        numbers = wanted[frozenset((row["Source"], row["Target"]))]
        assert float(row["Weight"]) == numbers["strength"] > 0
        assert (row["Sign"] or "0") == str(int(np.sign(numbers.get("correlation", 0))))
        for name in ("p_value", "q_value", "statistic", "df"):
            assert float(row[name]) == numbers[name]


def test_edges_for_qgraph_have_one_unit_and_their_signs(net, tmp_path):
    """An edge without a sign has its strength, and changes nothing of the others."""
    wanted = expected(net)
    written = net.export(tmp_path / "net.qgraph.csv")
    (told,) = [text for text in written.lost if text.startswith("a sign")]
    unsigned = sum("correlation" not in n for n in wanted.values())
    assert 0 < unsigned < len(wanted)
    assert told.startswith(f"a sign, which {unsigned} edge")
    assert net.export(tmp_path / "other.csv", format="qgraph").format == "qgraph"
    signed = rows_of(tmp_path / "net.qgraph.csv")
    assert signed == rows_of(tmp_path / "other.csv")
    assert list(signed[0]) == ["Source", "Target", "Weight"]
    assert len(signed) == len(wanted)
    for row in signed:
        numbers = wanted[frozenset((row["Source"], row["Target"]))]
        assert float(row["Weight"]) == numbers.get("correlation", numbers["strength"])
    assert {np.sign(float(row["Weight"])) for row in signed} == {-1.0, 1.0}


def test_bent_negative_edges_are_negative_for_qgraph(tmp_path):
    """The joint of two ordered variables by hand: even margins, from a symmetric table."""
    points = np.arange(5) - 2.0
    bent = 0.2 * np.outer(points**2 - 2, points**2 - 2) - 0.15 * np.outer(points, points)
    pairs = {("a", "b"): bent, ("b", "c"): 0.3 * np.eye(5, 2), ("c", "d"): -1.2 * np.eye(2)}
    states = {"a": range(5), "b": range(5), "c": ["x", "y"], "d": [0, 1]}
    plain = gw.PairwiseMRF(states, None, pairs)
    model = gw.PairwiseMRF.from_flat(
        plain.names, [*plain.states.values()], plain.potentials,
        scores={"a": range(5), "b": range(5)},
    )  # fmt: skip
    assert model.linear_share("a", "b") < 0.5
    model.export(tmp_path / "net.qgraph.csv")
    found = {r["Source"] + r["Target"]: float(r["Weight"])
             for r in rows_of(tmp_path / "net.qgraph.csv")}  # fmt: skip
    joint = np.exp(bent)
    for _ in range(1000):  # symmetric, so one vector of scales does for both sides
        joint *= np.sqrt(np.outer(0.2 / joint.sum(axis=1), 0.2 / joint.sum(axis=0)))
    assert found["ab"] == pytest.approx(points @ joint @ points / 2.0)
    assert found["ab"] < -0.2
    assert found["cd"] == pytest.approx(np.tanh(-2.4 / 4))  # Yule's Y


@pytest.mark.parametrize("suffix", [*READERS, "csv", "qgraph.csv"])
def test_infinite_weights_are_left_out_and_that_is_said(suffix, tmp_path):
    pairs = {("a", "b"): [[0.0, -np.inf], [0.0, 0.0]], ("b", "c"): [[1.0, 0.0], [0.0, 1.0]]}
    model = gw.PairwiseMRF({name: [0, 1] for name in "abc"}, None, pairs)
    found = model.export(tmp_path / f"net.{suffix}")
    assert "the weight of 1 edge with impossible states, which is infinite" in found.lost
    assert "inf" not in (tmp_path / f"net.{suffix}").read_text().lower().replace("graph_info", "")


@pytest.mark.parametrize("suffix", [*READERS, "csv", "qgraph.csv"])
def test_names_are_told_apart_by_their_texts(suffix, tmp_path):
    path = tmp_path / f"net.{suffix}"
    with pytest.raises(DataError, match="'1' are the same text"):
        gw.PairwiseMRF({1: [0], "1": [0]}).export(path)
    with pytest.raises(DataError, match="not a text that a file can hold"):
        gw.PairwiseMRF({"\ud800": [0]}).export(path)
    assert not path.exists()


@pytest.mark.parametrize("suffix", ["graphml", "gexf"])
def test_characters_that_xml_cannot_hold_are_refused(suffix, tmp_path):
    with pytest.raises(DataError, match="character that XML cannot hold"):
        gw.PairwiseMRF({"a\x00b": [0]}).export(tmp_path / f"net.{suffix}")
    gw.PairwiseMRF({"a\x00b": [0]}).export(tmp_path / "net.cyjs")
    assert list(of_cytoscape(tmp_path / "net.cyjs")) == ["a\x00b"]


@pytest.mark.parametrize("name", ["</script>", "مرحبا", "🦌", "x" * 300, 'a,"b"', " lead", "a\nb"])
@pytest.mark.parametrize("suffix", [*READERS, "csv"])
def test_hostile_names_come_back(suffix, name, tmp_path):
    model = gw.PairwiseMRF({name: [0, 1], "b": [0, 1]}, None, {(name, "b"): np.eye(2)})
    model.export(tmp_path / f"net.{suffix}")
    if suffix == "csv":
        assert rows_of(tmp_path / "net.csv")[0]["Source"] == name
    else:
        assert set(READERS[suffix](tmp_path / f"net.{suffix}")) == {name, "b"}


@pytest.mark.parametrize("suffix", [*READERS, "csv"])
def test_graphs_are_not_read_as_networks(suffix, net, tmp_path):
    path = tmp_path / f"net.{suffix}"
    net.export(path)
    with pytest.raises(ModelFileError, match="not read as networks"):
        gw.load(path)
