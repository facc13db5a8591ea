"""Bootstraps, comparisons of groups and chains have their own views."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.text import count

pytestmark = pytest.mark.browser


def chain_rows(strength, seed, n=400):
    pairs = {(a, b): [[w, -w], [-w, w]] for a, b, w in (("a", "b", strength), ("b", "c", 0.6))}
    return gw.PairwiseMRF({name: ["no", "yes"] for name in "abcd"}, None, pairs).sample(
        n, random_state=seed
    )


@pytest.fixture(scope="module")
def boot():
    return gw.MarkovNetwork(lam=0.03).bootstrap(
        chain_rows(0.4, 0), 12, case_dropping=False, random_state=0
    )


def test_a_bootstrap_shows_how_often_edges_come_back(page, boot, tmp_path):
    page.open(boot.explore(tmp_path / "boot.html"), "tab=edges").settle()
    records = {f"{r['first']} – {r['second']}": r for r in boot.edges()}
    model = boot.model
    assert page.text(".top .size") == f"4 variables, {count(model.n_edges, 'edge')}"
    assert page.text(".toolbar .counted") == f"{len(records)} of {len(records)} pairs"
    assert len(records) > model.n_edges
    headings = [text.split("\u00a0")[0] for text in page.texts(".tab-panel thead th")]
    known = {frozenset(edge) for edge in model.edges}
    for row in page.texts(".tab-panel tbody tr"):
        cells = dict(zip(headings, row.split("\t"), strict=True))
        inside = frozenset(cells["Pair"].split(" – ")) in known
        assert cells["In network"] == ("yes" if inside else "no")
    shown = [row.split("\t") for row in page.texts(".tab-panel tbody tr")]
    assert {row[0] for row in shown} == set(records)
    page.slide("#filter-frequency", 200)
    always = {name for name, record in records.items() if record["frequency"] == 1.0}
    kept = {row.split("\t")[0] for row in page.texts(".tab-panel tbody tr")}
    assert kept == always
    assert 0 < len(always) < len(records)
    page.click(".tab-panel tbody tr:first-child button").settle()
    facts = dict(zip(page.texts(".facts dt"), page.texts(".facts dd"), strict=True))
    assert facts["Resamples"] == "100 %"
    assert facts["Low"] == f"{records[page.text('.details h2')]['low']:.2f}"
    # It answers, too: the network of all rows is in it.
    assert page.text(".badge") == "margins as in the data"
    assert len(page.texts(".pair-table td")) == 4


def test_a_bootstrap_without_its_network_answers_nothing(page, boot, tmp_path):
    from doors.report import bootstrap_dict, bootstrap_view, write_page

    shown = bootstrap_view(bootstrap_dict(boot), boot.names, None, "Bootstrap")
    page.open(write_page(tmp_path / "boot.html", shown), "v=0")
    assert page.text(".details h2") == "a"
    assert page.texts("[data-tab]") == ["Details", "Pairs", "Variables"]
    assert page.js("return document.querySelector('.evidence').hidden")
    page.js("location.hash = 'e=0'")
    page.wait("document.querySelector('.details h2').textContent.includes('–')")


@pytest.fixture(scope="module")
def groups():
    tables = [chain_rows(0.1, 1), chain_rows(1.2, 2)]
    codes = np.concatenate([table.codes for table in tables], axis=1)
    label = np.repeat([0, 1], [table.n_rows for table in tables])[None].astype(codes.dtype)
    states = (*tables[0].states, ("north", "south"))
    table = gw.Table((*tables[0].names, "where"), states, np.vstack([codes, label]))
    return gw.compare_groups(table, by="where", random_state=0)


def test_a_comparison_shows_differences_and_each_group(page, groups, tmp_path):
    page.open(groups.explore(tmp_path / "groups.html"), "tab=edges").settle()
    assert page.texts("[data-model]") == ["Differences", "north", "south"]
    first = groups.edges()[0]
    assert first["differs"]
    row = page.text(".tab-panel tbody tr")
    assert row.startswith(f"{first['first']} – {first['second']}")
    assert "yes" in row
    # The difference beside p and q is that of what was tested: here of signed weights.
    headings = [text.split("\u00a0")[0] for text in page.texts(".tab-panel thead th")]
    cells = dict(zip(headings, row.split("\t"), strict=True))
    for heading, key in (
        ("Difference", "weight_difference"),
        ("Weight: north", "weight_north"),
        ("Weight: south", "weight_south"),
    ):
        assert cells[heading] == f"{first[key]:+.2f}".replace("-", "−")
    assert page.texts(".legend .line-key") == [
        "differs between groups",
        "no difference found",
        "wider: larger difference",
    ]
    page.click(".tab-panel tbody tr:first-child button").settle()
    # Both groups' tables are there, and both groups' probabilities of a variable.
    south = groups.networks["south"].model_
    assert "south:" in page.text(".pair-tables")
    page.open(tmp_path / "groups.html", "v=0&if=1:0,1").settle()
    shown = page.numbers(".marginal .number")
    wanted = south.marginals({"b": "yes"})["a"]
    np.testing.assert_allclose(shown, wanted, rtol=0, atol=1e-9)
    page.click("[data-model='1']").settle()
    assert page.state()["m"] == "1"
    north = groups.networks["north"].model_
    shown = page.numbers(".marginal .number")
    np.testing.assert_allclose(shown, north.marginals({"b": "yes"})["a"], rtol=0, atol=1e-9)
    page.click("[data-tab='edges']")
    assert len(page.texts(".tab-panel tbody tr")) == north.n_edges


def test_a_comparison_begins_with_its_tests_and_draws_differences(page, groups, tmp_path):
    page.open(groups.explore(tmp_path / "groups.html")).settle()
    shown = [row.split("\t") for row in page.texts(".details table.tests tbody tr")]
    assert [row[0] for row in shown] == ["All pairs together", "Sums of norms", "Single pairs"]
    for row, p in zip(shown, (groups.invariance, groups.strength.p_value), strict=False):
        written = float(row[1].replace("\u2212", "-"))
        assert written == pytest.approx(p, rel=0.05, abs=5e-4)
    records = groups.edges()
    differ = sum(record["differs"] for record in records)
    assert 0 < differ < len(records)
    assert shown[2][2].startswith(f"{differ} of {len(records)} pairs")
    # Lines are as wide as differences are large; those found are orange.
    lines = [each.attrib for each in page.svg().iter() if "stroke-opacity" in each.attrib]
    assert len(lines) == len(records)
    assert sum(line["stroke"] == "#d55e00" for line in lines) == differ
    assert {line["stroke"] for line in lines} == {"#d55e00", "#5f6b7a"}
    changes = sorted(record["change"] for record in groups.differences())
    widths = np.array(sorted(float(line["stroke-width"]) for line in lines))
    shares = np.array(changes) / max(changes)
    np.testing.assert_allclose(np.corrcoef(widths, shares)[0, 1], 1.0, atol=1e-3)


@pytest.mark.parametrize("order", [1, 2])
def test_a_chain_shows_weights_by_label_and_transitions(page, order, tmp_path):
    X = [
        [{"word": "the"}, {"word": "dog"}, {"word": "barks"}],
        [{"word": "dogs"}, {"word": "bark"}],
    ] * 20
    y = [["D", "N", "V"], ["N", "V"]] * 20
    crf = gw.ChainCRF(lam=0.0001, order=order).fit(X, y)
    page.open(crf.explore(tmp_path / "chain.html", title="Tags"))
    model = crf.model_
    assert page.text(".size") == f"3 labels, {count(len(model.vote_weights), 'weight')}"
    page.click("[data-label='1']")
    votes = [r for r in model.records() if r["attribute"] is not None and r["label"] == "N"]
    shown = [row.split("\t") for row in page.texts("table.data tbody tr")]
    assert [row[0] for row in shown] == [str(r["attribute"]) for r in votes]
    assert page.text(".counted") == count(len(votes), "weight")
    page.click("thead [data-sort='attribute']")
    names = page.texts("table.data tbody th")
    assert names == sorted(names)
    page.type("#attribute-filter", "dogs")
    assert all("dogs" in name for name in page.texts("table.data tbody th"))
    np.testing.assert_array_equal(page.numbers(".matrix td"), model.pairs.ravel())
    page.click("#matrix-order").click("#matrix-order")
    if order == 2:
        page.choose("#before", "0")
        np.testing.assert_array_equal(page.numbers(".matrix td"), model.triples[0].ravel())
    link = page.js("return location.hash")
    page.open(tmp_path / "chain.html", link[1:])
    assert page.js("return document.querySelector('#attribute-filter').value") == "dogs"
    assert page.js("return document.querySelector('[data-label=\"1\"]').ariaPressed") == "true"
