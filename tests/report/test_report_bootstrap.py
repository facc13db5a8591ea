import csv
import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from graftwork.errors import DataError
from graftwork.estimators import MarkovNetwork
from graftwork.report import describe

from support.problems import random_table

FILES = [
    "bootstrap.csv", "bootstrap_centrality.csv", "stability.csv",
    "bootstrap_communities.csv", "comembership.csv",
    "bootstrap.txt", "bootstrap.json", "reference.gw", "bootstrap.png",
]  # fmt: skip


@pytest.fixture(scope="module")
def boot():
    return MarkovNetwork(lam=0.03, random_state=0, n_jobs=1).bootstrap(
        random_table(0, n=5, rows=100), 6
    )


def test_files_of_the_network_itself_stay(boot, tmp_path):
    for name in ("centrality.csv", "communities.csv"):  # as graftwork learn --out writes them
        (tmp_path / name).write_text("of the network", encoding="utf-8")
    boot.save(tmp_path)
    for name in ("centrality.csv", "communities.csv"):
        assert (tmp_path / name).read_text(encoding="utf-8") == "of the network"


def test_files_hold_the_tables(boot, tmp_path):
    assert boot.save(tmp_path / "new") == FILES
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == sorted(FILES)
    for name, records in (
        ("bootstrap", boot.edges()),
        ("bootstrap_centrality", boot.centralities()),
        ("stability", boot.stability()),
        ("bootstrap_communities", boot.communities()),
        ("comembership", boot.comembers()),
    ):
        with (tmp_path / "new" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(records)
        assert list(rows[0]) == list(records[0])
    stored = json.loads((tmp_path / "new" / "bootstrap.json").read_text(encoding="utf-8"))
    assert stored == boot.to_dict()
    assert stored["edges"][0]["frequency"] == boot.edges()[0]["frequency"]
    assert stored["words"] == describe(boot)
    assert (tmp_path / "new" / "bootstrap.txt").read_text(encoding="utf-8") == boot.summary()


def test_files_of_another_run_do_not_stay(boot, tmp_path):
    boot.save(tmp_path)
    net = MarkovNetwork(lam=0.03, n_jobs=1)
    net.bootstrap([[0, 1]], 2, case_dropping=False).save(tmp_path, plot=False)
    assert (tmp_path / "bootstrap.csv").read_text().startswith("first,second,frequency,")
    assert not (tmp_path / "stability.csv").exists()
    assert not (tmp_path / "bootstrap.png").exists()


def test_differences_are_quantiles_of_the_resamples(boot):
    own = ~np.isnan(boot.strengths)
    places = np.flatnonzero(own)
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
    with pytest.raises(DataError, match="use one of edges, strength"):
        boot.difference("weights")
    with pytest.raises(DataError, match="between 0 and 1"):
        boot.difference(level=1.0)


def test_signed_edges_that_tests_chose_differ_by_their_refits():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 600)
    b, c = (np.where(rng.random(600) < share, a, 1 - a) for share in (0.95, 0.7))
    rows = {"a": a.tolist(), "b": b.tolist(), "c": c.tolist()}
    boot = MarkovNetwork(random_state=0).bootstrap(rows, 20, case_dropping=False)
    [first] = [each for each in boot.difference() if each["first"] == ("a", "b")][:1]
    places = {tuple(pair): k for k, pair in enumerate(boot.pairs.tolist())}
    away = boot.weight_refits[:, places[0, 1]] - boot.weight_refits[:, places[0, 2]]
    assert first["second"] == ("a", "c")
    ends = np.quantile(away, [0.025, 0.975])
    assert [first["low"], first["high"]] == pytest.approx(ends.tolist(), abs=1e-12)
    assert first["differs"]


def test_the_picture_of_differences_is_dark_where_two_differ(boot, tmp_path):
    figure = boot.plot_difference(tmp_path / "d.png", of="strength")
    [axes] = figure.axes
    [image] = axes.get_images()
    listed = [label.get_text() for label in axes.get_yticklabels()]
    kinds = np.asarray(image.get_array())
    assert kinds.shape == (5, 5)
    for each in boot.difference("strength"):
        i, j = listed.index(each["first"]), listed.index(each["second"])
        assert kinds[i, j] == kinds[j, i] == each["differs"]
    assert "smaller not drawn" in boot.plot_difference(top=2).axes[0].get_title(loc="left")
    none = MarkovNetwork(lam=0.03, n_jobs=1).bootstrap([[0, 1]], 2, case_dropping=False)
    none.plot_difference(tmp_path / "none.png")
    assert none.difference() == []


def test_files_of_differences_are_written_when_asked_for(boot, tmp_path):
    more = {"differences.csv", "differences_edges.png", "differences_strength.png"}
    assert set(boot.save(tmp_path, differences=True)) == {*FILES, *more}
    boot.save(tmp_path)
    assert not any((tmp_path / name).exists() for name in more)


def test_the_picture_draws_and_repeats(boot, tmp_path):
    for name in ("a.png", "b.png"):
        figure = boot.plot(tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert figure._repr_png_() == (tmp_path / "a.png").read_bytes()  # what notebooks show
    often, _, curves = figure.axes
    assert len(often.patches) == len(boot.pairs)
    assert len(curves.get_lines()) == 1 + sum(map(boot.varies, range(5)))
    assert "not drawn" in boot.plot(top=1).axes[1].get_xlabel()
    boot.plot(tmp_path / "a.svg")
    with pytest.raises(DataError, match="use one of"):
        boot.plot(tmp_path / "a.docx")


def test_pictures_of_next_to_nothing():
    net = MarkovNetwork(lam=0.3, n_jobs=1)
    empty = net.bootstrap([[0, 1]], 2)
    assert "no edges" in [text.get_text() for text in empty.plot().axes[1].texts]
    net = MarkovNetwork(lam=0.3, n_jobs=1)
    odd = net.bootstrap({"$x": [0, 1] * 9, "_größe^2$": [0, 1] * 9}, 2, case_dropping=False)
    assert "no rows were dropped" in [text.get_text() for text in odd.plot().axes[2].texts]


def test_without_matplotlib_the_extra_is_named(boot, no_matplotlib):
    with pytest.raises(ImportError, match=r"pip install 'graftwork\[plot\]'"):
        boot.plot()


def test_without_pandas_the_frame_is_a_list(boot, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert boot.to_frame() == boot.edges()


def test_words_count_what_they_say(boot):
    own = ~np.isnan(boot.strengths)
    sure = int((own & (boot.frequencies >= 0.95)).sum())
    words = describe(boot)
    assert f"Of the network's {own.sum()} edges, {sure} " in words
    assert "\u00a0" not in words + boot.summary()
    assert all(len(line) <= 88 for line in boot.summary().splitlines())
    assert len(boot.summary(top=1)) < len(boot.summary())


def test_edges_of_chance_are_told():
    coins = np.random.default_rng(0).integers(0, 2, (400, 10))
    net = MarkovNetwork(random_state=0, n_jobs=1).fit(coins)
    assert net.model_.n_edges == 0
    boot = net.bootstrap(coins, 5, case_dropping=False)
    some = int((~np.isnan(boot.draws)).any(axis=1).sum())
    assert some > 0
    assert f"The network has no edges, but {some} of 5 resamples" in describe(boot)
    assert boot.to_dict()["tested"] is True
    kept = net.bootstrap(coins, 2, case_dropping=False, refit_lam=False)
    assert not kept.tested


def test_panels_are_drawn_one_by_one(boot, tmp_path):
    often, edges, curves = boot.plot().axes
    names = [label.get_text() for label in often.get_yticklabels()]
    [bars] = boot.plot(tmp_path / "a.png", panels="frequencies").axes
    assert [bar.get_width() for bar in bars.patches] == [bar.get_width() for bar in often.patches]
    [alone] = boot.plot(panels=["intervals"]).axes
    assert [label.get_text() for label in alone.get_yticklabels()] == names
    assert not any(label.get_text() for label in edges.get_yticklabels())
    for mine, other in zip(alone.lines, edges.lines, strict=True):
        np.testing.assert_array_equal(mine.get_xdata(), other.get_xdata())
    [alone] = boot.plot(panels="stability").axes
    for mine, other in zip(alone.lines, curves.lines, strict=True):
        np.testing.assert_array_equal(mine.get_ydata(), other.get_ydata())
    with pytest.raises(DataError, match="panels is 'edges'; use one or more of frequencies"):
        boot.plot(panels="edges")
    with pytest.raises(DataError, match="use one or more of"):
        boot.plot(panels=[])


def test_a_cs_of_zero_is_explained(boot):
    subsets = np.repeat([0.05, 0.5], 20)
    found = np.tile(boot.centrality, (40, 1, 1))
    for place in (0, 1):  # two subsets of the smallest share fail
        found[place] = -found[place]
    text = " ".join(
        describe(
            replace(boot, dropped=subsets, subset_centrality=found, shares=(0.05, 0.5))
        ).split()
    )
    assert (
        "order of variables by strength (CS 0.00, below 0.25: with 5% of the rows dropped, 2 of 20 "
        "subsets correlate by less than 0.7, and at most 1 may)."
    ) in text


def test_almost_all_is_not_all(boot):
    names = ("draws", "refits", "weight_draws", "weight_refits", "membership_draws")
    many = {name: np.repeat(getattr(boot, name), 40, axis=0) for name in names}
    many["draws"] = np.ones_like(many["draws"])
    many["draws"][0, 0] = np.nan  # 239 of 240
    central = np.repeat(boot.centrality_draws, 40, axis=0)
    text = replace(boot, **many, centrality_draws=central).summary()
    assert ">99%" in text
    assert " 100%" in text
