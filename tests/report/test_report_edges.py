import csv

import numpy as np
import pytest
from matplotlib.collections import LineCollection

import graftwork as gw
from graftwork.models import PairwiseMRF, read_info
from graftwork.report import (
    Association,
    describe_edge,
    describe_network,
    edge_table,
    plot_network,
    write_edges,
)

from doors.report import COLUMNS, EdgeTest, double_centred, edges_of, saved_edges, to_html


@pytest.fixture
def model():
    return PairwiseMRF(
        {"a": [0, 1], "b": ["x", "y", "z"], "c": [False, True]},
        pairwise={
            ("a", "b"): [[2.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
            ("c", "a"): [[5.0, 0.0], [0.0, 5.0]],
        },
    )


def test_strongest_edge_comes_first(model):
    records = edge_table(model)
    assert [(r.first, r.second) for r in records] == [("a", "c"), ("a", "b")]
    assert [r.strength for r in records] == [model.strength("a", "c"), model.strength("a", "b")]


def test_the_numbers_are_the_networks_own(model):
    potentials = model.potentials
    ordered = PairwiseMRF.from_flat(
        model.names, [*model.states.values()], potentials, scores={"b": [0.0, 1.0, 4.0]}
    )
    for record in edge_table(ordered):
        ends = record.first, record.second
        assert record.strength == ordered.strength(*ends)
        assert record.weight == pytest.approx(ordered.weight(*ends), abs=0, nan_ok=True)
        own = ordered.correlation(*ends)
        assert record.correlation == pytest.approx(own, abs=0, nan_ok=True)
        assert record.linear_share == pytest.approx(ordered.linear_share(*ends), abs=0, nan_ok=True)
    assert [r.first for r in edge_table(ordered, top=1)] == ["a"]


def test_states_keep_their_types_and_ties_take_the_last(model):
    record = edge_table(model)[0]
    assert record.together == Association(1, True, 2.5)
    assert record.apart == Association(1, False, -2.5)
    assert record.together.first_state is not True


def test_what_tables_say_about_one_variable_does_not_count():
    table = np.add.outer([3.0, 0.0], [0.0, 7.0])
    record = edge_table(PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): table}))[0]
    assert record.strength == 0
    assert record.together is None
    assert describe_edge(record) == "a - b  strength 0.00"


def test_unseen_states_are_not_named(model):
    record = edge_table(model, unseen={"b": ["x"]})[1]
    assert "x" not in (record.together.second_state, record.apart.second_state)


def test_impossible_cells_are_apart():
    table = [[0.0, -np.inf], [0.0, 1.0]]
    record = edge_table(PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): table}))[0]
    assert 0.99 < record.strength <= 1.0
    assert (record.apart.first_state, record.apart.second_state) == (0, 1)
    assert record.apart.weight == -np.inf
    assert np.isfinite(record.together.weight)


def test_centring_leaves_no_margins():
    centred = double_centred(np.random.default_rng(0).normal(size=(3, 4)))
    np.testing.assert_allclose(centred.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(centred.sum(axis=1), 0, atol=1e-12)


def test_file_has_a_line_an_edge(model, tmp_path):
    write_edges(tmp_path / "e.csv", model)
    with open(tmp_path / "e.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert [row["second"] for row in rows] == ["c", "b"]
    assert float(rows[1]["strength"]) == model.strength("a", "b")
    assert [p.name for p in tmp_path.iterdir()] == ["e.csv"]


def test_words_use_meanings(model):
    text = describe_network(model, meanings={"b": {"x": "zebra"}}, top=2)
    assert "a = 0 goes with b = zebra" in text
    assert describe_network(model, top=0) == ""
    assert "Strongest edges" in describe_network(model, top=1)


def mixed_rows(rows=2000):
    """A weak edge of two variables of eight states, and a strong one of two binary variables."""
    rng = np.random.default_rng(0)
    many = rng.integers(8, size=rows)
    other = np.where(rng.random(rows) < 0.5, many, rng.integers(8, size=rows))
    few = rng.integers(2, size=rows)
    copy = np.where(rng.random(rows) < 0.9, few, 1 - few)
    return {"many": many, "other": other, "few": few, "copy": copy}


def lines_of(ax):
    (lines,) = [each for each in ax.collections if isinstance(each, LineCollection)]
    return lines


def test_large_tables_are_not_stronger_for_their_size(tmp_path):
    net = gw.MarkovNetwork(lam=0.02).fit(mixed_rows())
    pairs = [("many", "other"), ("few", "copy")]
    assert set(net.model_.edges) == set(pairs)
    tables = [double_centred(net.model_.table(*pair)) for pair in pairs]
    assert np.linalg.norm(tables[0]) > np.linalg.norm(tables[1])
    first, second = edges_of(net)
    assert (first.first, first.second) == ("few", "copy")
    # Alone, an edge's joint is that of the rows, but for the penalty: compare with their numbers.
    rows = mixed_rows()
    assert first.strength == pytest.approx(np.corrcoef(rows["few"], rows["copy"])[0, 1], abs=0.1)
    words = net.summary()
    assert "Edges, strongest first" in words
    assert f"few - copy  strength {first.strength:.2f}, weight" in words
    ax = gw.plot_network(net)
    drawn, own = lines_of(ax), lines_of(plot_network(net.graph_))
    widths = drawn.get_linewidths()  # the widest is drawn last
    ends = np.array(drawn.get_segments())
    assert np.allclose(own.get_linewidths(), widths)
    assert np.allclose(np.array(own.get_segments()), ends)
    assert "are stronger" in " ".join(text.get_text().replace("\n", " ") for text in ax.texts)
    assert widths[0] == pytest.approx(0.8 + 4.4 * second.strength / first.strength)
    assert widths[1] == pytest.approx(5.2)
    net.save(tmp_path / "m.gw")
    saved = saved_edges(gw.load(tmp_path / "m.gw"), read_info(tmp_path / "m.gw"))
    assert [r.first for r in saved] == ["few", "many"]
    assert [r.strength for r in saved] == [first.strength, second.strength]


def test_copies_are_as_strong_as_edges_can_be_and_no_stronger():
    rng = np.random.default_rng(0)
    a, n = rng.integers(2, size=500), rng.integers(4, size=500)
    net = gw.MarkovNetwork().fit(
        {"a": a, "b": a.copy(), "n": ["wxyz"[k] for k in n], "m": ["wxyz"[k] for k in n]}
    )
    found = {(r.first, r.second): r for r in edges_of(net)}
    assert set(found) == {("a", "b"), ("n", "m")}
    assert 0.9 < found["a", "b"].strength <= 1.0
    # Four even states: log 4 nats in common, if all of them are.
    assert 0.9 < found["n", "m"].strength <= np.sqrt(1 - 1 / 16) + 1e-6


def test_a_linear_edge_of_known_order_is_told_by_its_weight_and_interval():
    """Naming its states would say 1 and 1, 1 and 0."""
    agree = [[1.0, 0.0], [0.0, 1.0]]
    line = [[0.2 * a * b for b in range(3)] for a in range(3)]
    bent = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.1]]
    states = {
        "one": [0, 1], "two": ["no", "yes"], "sex": ["f", "m"], "flag": [False, True],
        "low": ["never", "some", "often"], "high": [1, 2, 3], "odd": ["never", "some", "often"],
    }  # fmt: skip
    pairs = {
        ("one", "two"): agree, ("two", "sex"): agree, ("one", "flag"): agree,
        ("low", "high"): line, ("high", "odd"): bent, ("sex", "low"): [row[:] for row in line[:2]],
    }  # fmt: skip
    plain = PairwiseMRF(states, None, pairs)
    scores = {name: [0.0, 1.0, 2.0] for name in ("low", "high", "odd")}
    model = PairwiseMRF.from_flat(plain.names, [*states.values()], plain.potentials, scores=scores)
    tests = {edge: EdgeTest(0.001, 0.002, 10.0, 1.0, 0.1, -0.25, 0.75) for edge in model.edges}
    text = " ".join(describe_network(model, tests=tests).split())
    told = {edge: text.split(f"{edge[0]} - {edge[1]} ")[1].split(" - ")[0] for edge in model.edges}
    for edge, words in told.items():
        assert "(-0.25 to 0.75)" in words
        assert ("goes with" in words) == ("sex" in edge or "odd" in edge)
    # Words for states are what the reader is to see.
    named = describe_network(model, meanings={"one": {0: "control", 1: "treated"}})
    assert "one = treated goes with two = yes" in " ".join(named.split())
    page = to_html(model)
    assert "yes and m" in page
    assert "1 and yes" not in page
    assert "1 and True" not in page
