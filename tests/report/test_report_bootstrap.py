"""Files, differences and pictures of bootstraps against their draws; words are in golden/."""

import csv
import json
import sys

import numpy as np
import pytest

import graftwork as gw

from support.problems import random_table

FILES = [
    "bootstrap.csv", "bootstrap_centrality.csv", "stability.csv",
    "bootstrap_communities.csv", "comembership.csv",
    "bootstrap.txt", "bootstrap.json", "reference.gw", "bootstrap.png",
]  # fmt: skip
DIFFERENCES = {"differences.csv", "differences_edges.png", "differences_strength.png"}


@pytest.fixture(scope="module")
def boot():
    return gw.MarkovNetwork(lam=0.03, random_state=0, n_jobs=1).bootstrap(
        random_table(0, n=5, rows=100), 6
    )


@pytest.fixture(scope="module")
def nothing():
    net = gw.MarkovNetwork(lam=3.0, n_jobs=1)
    return net.bootstrap({"$x": [0, 1] * 9, "_größe^2$": [0, 0, 1] * 6}, 2, case_dropping=False)


def test_files_hold_the_tables_and_those_of_other_runs_do_not_stay(boot, nothing, tmp_path):
    for name in ("centrality.csv", "communities.csv"):  # as graftwork learn --out writes them
        (tmp_path / name).write_text("of the network", encoding="utf-8")
    assert set(boot.save(tmp_path, differences=True)) == {*FILES, *DIFFERENCES}
    for name, records in (
        ("bootstrap", boot.edges()),
        ("bootstrap_centrality", boot.centralities()),
        ("stability", boot.stability()),
        ("bootstrap_communities", boot.communities()),
        ("comembership", boot.comembers()),
    ):
        with (tmp_path / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(records)
        assert list(rows[0]) == list(records[0])
    stored = json.loads((tmp_path / "bootstrap.json").read_text(encoding="utf-8"))
    assert stored == boot.to_dict()
    assert stored["edges"][0]["frequency"] == boot.edges()[0]["frequency"]
    assert stored["words"] == gw.describe(boot)
    assert (tmp_path / "bootstrap.txt").read_text(encoding="utf-8") == boot.summary()

    nothing.save(tmp_path, plot=False)
    assert not any((tmp_path / name).exists() for name in {*DIFFERENCES, *FILES[2:3], FILES[-1]})
    for name in ("centrality.csv", "communities.csv"):
        assert (tmp_path / name).read_text(encoding="utf-8") == "of the network"


def test_differences_are_quantiles_of_the_resamples(boot, nothing):
    places = np.flatnonzero(~np.isnan(boot.strengths))
    assert len(places) > 2
    records = boot.difference()
    assert len(records) == len(places) * (len(places) - 1) // 2
    edges = [tuple(boot.names[i] for i in pair) for pair in boot.pairs.tolist()]
    for record in records:  # the table has three-state variables: strengths are compared
        a, b = (edges.index(record[end]) for end in ("first", "second"))
        away = np.nan_to_num(boot.draws[:, a]) - np.nan_to_num(boot.draws[:, b])
        assert record["difference"] == boot.strengths[a] - boot.strengths[b] >= 0
        ends = np.quantile(away, [0.025, 0.975])
        assert [record["low"], record["high"]] == pytest.approx(ends.tolist(), abs=1e-12)
        assert record["differs"] == (record["low"] > 0 or record["high"] < 0)
    central = boot.difference("closeness", level=0.5)
    assert len(central) == 10
    i, j = (boot.names.index(central[3][end]) for end in ("first", "second"))
    away = boot.centrality_draws[:, 3, i] - boot.centrality_draws[:, 3, j]
    ends = np.quantile(away, [0.25, 0.75])
    assert [central[3]["low"], central[3]["high"]] == pytest.approx(ends.tolist(), abs=1e-12)
    assert nothing.difference() == []


def test_signed_edges_that_tests_chose_differ_by_their_refits():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 600)
    b, c = (np.where(rng.random(600) < share, a, 1 - a) for share in (0.95, 0.7))
    rows = {"a": a.tolist(), "b": b.tolist(), "c": c.tolist()}
    boot = gw.MarkovNetwork(random_state=0).bootstrap(rows, 20, case_dropping=False)
    first = next(each for each in boot.difference() if each["first"] == ("a", "b"))
    places = {tuple(pair): k for k, pair in enumerate(boot.pairs.tolist())}
    away = boot.weight_refits[:, places[0, 1]] - boot.weight_refits[:, places[0, 2]]
    assert first["second"] == ("a", "c")
    ends = np.quantile(away, [0.025, 0.975])
    assert [first["low"], first["high"]] == pytest.approx(ends.tolist(), abs=1e-12)
    assert first["differs"]


def test_the_picture_of_differences_is_dark_where_two_differ(boot, nothing, tmp_path):
    [axes] = boot.plot_difference(tmp_path / "d.png", of="strength").axes
    [image] = axes.get_images()
    listed = [label.get_text() for label in axes.get_yticklabels()]
    kinds = np.asarray(image.get_array())
    assert kinds.shape == (5, 5)
    for each in boot.difference("strength"):
        i, j = listed.index(each["first"]), listed.index(each["second"])
        assert kinds[i, j] == kinds[j, i] == each["differs"]
    assert "smaller not drawn" in boot.plot_difference(top=2).axes[0].get_title(loc="left")
    nothing.plot_difference(tmp_path / "none.png")


def test_panels_are_drawn_together_and_one_by_one(boot, nothing, tmp_path):
    for name in ("a.png", "b.png", "a.svg"):
        figure = boot.plot(tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert figure._repr_png_() == (tmp_path / "a.png").read_bytes()  # what notebooks show
    often, edges, curves = figure.axes
    assert len(often.patches) == len(boot.pairs)
    assert len(curves.get_lines()) == 1 + sum(map(boot.varies, range(5)))
    assert "not drawn" in boot.plot(top=1).axes[1].get_xlabel()
    names = [label.get_text() for label in often.get_yticklabels()]
    [bars] = boot.plot(panels="frequencies").axes
    assert [bar.get_width() for bar in bars.patches] == [bar.get_width() for bar in often.patches]
    [alone] = boot.plot(panels=["intervals"]).axes
    assert [label.get_text() for label in alone.get_yticklabels()] == names
    for mine, other in zip(alone.lines, edges.lines, strict=True):
        np.testing.assert_array_equal(mine.get_xdata(), other.get_xdata())
    [alone] = boot.plot(panels="stability").axes
    for mine, other in zip(alone.lines, curves.lines, strict=True):
        np.testing.assert_array_equal(mine.get_ydata(), other.get_ydata())
    said = [{text.get_text() for text in axes.texts} for axes in nothing.plot().axes]
    assert "no edges" in said[1]
    assert "no rows were dropped" in said[2]


def test_without_pandas_the_frame_is_a_list(boot, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert boot.to_frame() == boot.edges()
