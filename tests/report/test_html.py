"""What notebooks show: names that are text, nothing from elsewhere; numbers are in golden/."""

import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn
from sklearn.utils import estimator_html_repr

import graftwork as gw

HOSTILE = ["</script><script>alert(1)</script>", 'say "hi" & <b>', "שלום", "emoji 🙂", "x" * 300]
TAGS = {
    "div", "style", "p", "span", "table", "thead", "tbody", "tr", "th", "td", "details", "summary",
}  # fmt: skip


class Reader(HTMLParser):
    """Collects the tables of a page, and refuses tags that are not closed."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tables, self.text, self.tags = [], [], "", set()
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
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


def ours(value):
    """The page without scikit-learn's diagram, which is at its end."""
    folded = r"<details><summary>Parameters</summary>.*</details>"
    return re.sub(folded, "", value._repr_html_(), flags=re.DOTALL)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, (400, 1))
    columns = np.hstack([first, (first + (rng.random((400, 4)) < 0.2)) % 2]).T.tolist()
    return dict(zip(HOSTILE, columns, strict=True))


@pytest.fixture(scope="module")
def net(rows):
    net = gw.MarkovNetwork(random_state=0, n_jobs=1).fit(rows)
    net.predictability(rows)
    net.bootstrap(rows, 4, random_state=0)
    return net


def test_pages_are_whole_hold_no_markup_of_names_and_ask_nobody(net, rows):
    groups = gw.compare_groups(rows | {"g": ["<i>", "b"] * 200}, by="g")
    X = [[{"word": "the"}, {"word": "<b>dog"}, {"word": "barks"}], [{"word": "dogs"}]] * 20
    crf = gw.ChainCRF(lam=0.005).fit(X, [["D", "</td>", "V"], ["</td>"]] * 20)
    for value in (
        net, net.model_, net.certificate_, net.bootstrap_, net.predictability_, groups, crf,
        crf.model_, gw.MarkovNetwork(lam=9.0).fit(rows),
    ):  # fmt: skip
        page = ours(value)
        reader = Reader(page)
        assert reader.tags <= TAGS
        assert type(value).__name__ in reader.text
        assert not re.search(r"https?:|src=|href=|url\(|@import", page)
        assert page == ours(value)
    cells = {cell for table in Reader(ours(net)).tables for row in table for cell in row}
    assert {*HOSTILE[:3], "x" * 59 + "…"} <= cells


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


def test_edges_are_a_table_without_pandas_too(net, rows, monkeypatch):
    assert "&lt;script&gt;" in net.edges_._repr_html_()
    frame = net.edges_
    monkeypatch.setitem(sys.modules, "pandas", None)
    records = net.edges_
    assert repr(list(records)) == repr(frame.to_dict("records"))  # NaN is not equal to itself
    [table] = Reader(records._repr_html_()).tables
    assert table[0] == list(frame.columns)
    assert len(table) - 1 == len(frame)
    assert "no rows" in gw.MarkovNetwork(lam=9.0).fit(rows).edges_._repr_html_()
