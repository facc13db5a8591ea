"""What notebooks show: numbers that are right, names that are text, nothing from elsewhere."""

import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn
from sklearn.utils import estimator_html_repr

import graftwork as gw

from doors.report import to_html

HOSTILE = ["</script><script>alert(1)</script>", 'say "hi" & <b>', "שלום", "emoji 🙂", "x" * 300]
VOID = {"meta", "br", "hr", "img", "input", "path", "link"}


class Reader(HTMLParser):
    """Collects the tables of a page, and refuses tags that are not closed."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tables, self.text, self.tags = [], [], "", set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader


def rows_of(n, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 2, (n, 1))
    return np.hstack([first, (first + (rng.random((n, 4)) < 0.2)) % 2])


@pytest.fixture(scope="module")
def data():
    return gw.as_table(dict(zip(HOSTILE, rows_of(400).T.tolist(), strict=True)))


@pytest.fixture(scope="module")
def net(data):
    net = gw.MarkovNetwork(random_state=0, n_jobs=1).fit(data)
    net.predictability(data)
    net.bootstrap(data, 4, random_state=0)
    return net


@pytest.fixture(scope="module")
def crf():
    X = [[{"word": "the"}, {"word": "<b>dog"}, {"word": "barks"}], [{"word": "dogs"}]] * 20
    return gw.ChainCRF(lam=0.005).fit(X, [["D", "</td>", "V"], ["</td>"]] * 20)


@pytest.fixture(scope="module")
def groups():
    rows = rows_of(400, seed=1)
    table = dict(
        zip([*HOSTILE[:4], "g"], [*rows[:, :4].T.tolist(), ["<i>", "b"] * 200], strict=True)
    )
    return gw.compare_groups(table, by="g")


def ours(html):
    """The page without scikit-learn's diagram, which is at its end."""
    return re.sub(r"<details><summary>Parameters</summary>.*</details>", "", html, flags=re.DOTALL)


@pytest.fixture
def values(net, crf, groups):
    return [
        net, net.model_, net.certificate_, net.bootstrap_, net.predictability_, groups, crf,
        crf.model_, gw.MarkovNetwork(lam=9.0).fit(rows_of(50)),
    ]  # fmt: skip


def test_pages_are_whole_hold_no_markup_of_names_and_ask_nobody(values):
    for value in values:
        page = value._repr_html_()
        reader = read(page if "<summary>Parameters" not in page else ours(page))
        allowed = {"div", "style", "p", "span", "table", "thead", "tbody", "tr", "th", "td"}
        assert reader.tags <= allowed | {"details", "summary"}
        assert type(value).__name__ in reader.text
        assert not re.search(r"https?:|src=|href=|url\(|@import", ours(page))
        assert ours(page) == ours(value._repr_html_())


def test_names_are_shown_as_text(net):
    reader = read(ours(net._repr_html_()))
    cells = {cell for table in reader.tables for row in table for cell in row}
    assert {HOSTILE[0], HOSTILE[1], HOSTILE[2]} <= cells
    assert "x" * 59 + "…" in cells


def test_edges_and_their_numbers_are_those_of_the_network(net):
    [table, *_] = read(ours(net._repr_html_())).tables
    head, *rows = table
    assert head[:7] == ["edge", "", "strength", "weight", "95 %", "p", "q"]
    assert not head[7:]  # states are 0 and 1: weights say it all
    assert len(rows) == net.model_.n_edges
    cut = {name if len(name) < 60 else name[:59] + "…": name for name in HOSTILE}
    edges = {(r["first"], r["second"]): r for r in net.edges_.to_dict("records")}
    strengths = []
    for first, second, strength, weight, interval, p, q, *_ in rows:
        record = edges[cut[first], cut[second]]
        low, high = map(float, interval.replace("\u2212", "-").split(" to "))
        assert low == pytest.approx(record["weight_low"], abs=0.0051)
        assert high == pytest.approx(record["weight_high"], abs=0.0051)
        assert float(strength) == pytest.approx(record["strength"], abs=0.0051)
        assert float(weight.replace("\u2212", "-")) == pytest.approx(record["weight"], abs=0.0051)
        assert float(p) == pytest.approx(record["p_value"], rel=0.06)
        assert float(q) == pytest.approx(record["q_value"], rel=0.06)
        strengths.append(float(strength))
    assert strengths == sorted(strengths, reverse=True)


def test_long_tables_are_cut_and_say_by_how_much():
    rng = np.random.default_rng(0)
    names = [f"v{i}" for i in range(40)]
    pairs = {(names[i], names[i + 1]): rng.normal(size=(2, 2)) for i in range(39)}
    model = gw.PairwiseMRF({name: [0, 1] for name in names}, None, pairs)
    reader = read(model._repr_html_())
    [[_, *rows]] = reader.tables
    assert len(rows) == 20
    assert "and 19 more" in reader.text
    strongest = sorted((model.strength(*edge) for edge in model.edges), reverse=True)[:20]
    np.testing.assert_allclose([float(row[2]) for row in rows], strongest, atol=0.0051)


def test_edges_with_impossible_states_have_a_strength_and_no_weight_but_infinity():
    pairs = {("a", "b"): [[9.0, 0.0], [0.0, 9.0]], ("b", "c"): [[0.0, -np.inf], [0.0, 1.0]]}
    model = gw.PairwiseMRF({name: [0, 1] for name in "abc"}, None, pairs)
    [[_, *rows]] = read(model._repr_html_()).tables
    shown = {(row[0], row[1]): row[2:4] for row in rows}
    assert shown["b", "c"] == [f"{model.strength('b', 'c'):.2f}", "+inf"]
    assert shown["a", "b"] == [f"{np.tanh(18 / 4):.2f}", "+18.00"]


def test_numbers_of_other_results_are_theirs(net, groups, crf):
    [table] = read(net.certificate_._repr_html_()).tables
    numbers = dict(table)
    assert float(numbers["stationarity of the edges kept"]) == pytest.approx(
        net.certificate_.stationarity, rel=0.06
    )
    assert numbers["exact"] == "yes"
    edges, stability = read(net.bootstrap_._repr_html_()).tables
    assert [row[1] for row in edges[1:]] == [
        f"{r['frequency']:.0%}" for r in net.bootstrap_.edges()
    ]
    assert len(stability) - 1 == len(set(net.bootstrap_.dropped.tolist()))
    [table] = read(net.predictability_._repr_html_()).tables
    found = sorted(net.predictability_.normalised_accuracy, reverse=True)
    assert [row[1] for row in table[1:]] == [f"{share:.2f}" for share in found]
    tables = read(groups._repr_html_()).tables
    assert sum(len(table) - 1 for table in tables) == len(groups.pairs)
    moves = read(crf.model_._repr_html_()).tables[-1]
    assert moves[0][1:] == list(crf.model_.labels)
    for row, weights in zip(moves[1:], crf.model_.pairs, strict=True):
        shown = [0.0 if cell == "·" else float(cell.replace("\u2212", "-")) for cell in row[1:]]
        np.testing.assert_allclose(shown, weights, atol=0.0051)


def numbered(html):
    """scikit-learn numbers its diagrams: leave the numbers out."""
    return re.sub(r"sk-(container|estimator)-id-[\w-]+", "", html)


def test_unfitted_estimators_have_the_diagram_and_fitted_ones_fold_it(net):
    fresh = gw.MarkovNetwork(lam=0.1)
    assert numbered(fresh._repr_html_()) == numbered(estimator_html_repr(fresh))
    page = net._repr_html_()
    assert "<details><summary>Parameters</summary>" in page
    assert numbered(estimator_html_repr(net)) in numbered(page)
    assert net._repr_mimebundle_()["text/plain"] == repr(net)
    with sklearn.config_context(display="text"):
        assert net._repr_html_() is None
        assert set(net._repr_mimebundle_()) == {"text/plain"}


def test_edges_are_a_table_without_pandas_too(net, monkeypatch):
    assert "&lt;script&gt;" in net.edges_._repr_html_()
    frame = net.edges_
    monkeypatch.setitem(sys.modules, "pandas", None)
    records = net.edges_
    assert repr(list(records)) == repr(frame.to_dict("records"))  # NaN is not equal to itself
    [table] = read(records._repr_html_()).tables
    assert table[0] == list(frame.columns)
    assert len(table) - 1 == len(frame)
    assert "no rows" in gw.MarkovNetwork(lam=9.0).fit(rows_of(50)).edges_._repr_html_()


def test_other_values_have_no_page():
    with pytest.raises(TypeError, match="no HTML of an object of type int"):
        to_html(3)


def test_edges_of_tables_of_all_sizes_are_ordered_by_their_strength():
    rng = np.random.default_rng(1)
    few, many = rng.integers(0, 2, 600), rng.integers(0, 5, 600)
    copy = np.where(rng.random(600) < 0.9, few, 1 - few)
    other = np.where(rng.random(600) < 0.5, many, rng.integers(0, 5, 600))
    mixed = gw.MarkovNetwork(lam=0.02).fit(np.stack([few, copy, many, other], axis=1))
    assert "Edges, strongest first" in mixed._repr_html_()
    page = Reader()
    page.feed(mixed._repr_html_().split("<details>")[0])  # what follows is folded
    [table] = [t for t in page.tables if "strength" in t[0]]
    shown = [float(row[table[0].index("strength")]) for row in table[1:]]
    assert shown == sorted(shown, reverse=True)
    assert table[1][:2] == ["x0", "x1"]  # the binary pair, whose table is smaller
