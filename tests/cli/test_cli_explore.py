"""graftwork explore: from what commands wrote to one page."""

import json
import re
import webbrowser

import pytest

from graftwork.exchange import export
from graftwork.models import PairwiseMRF, load, read_info


def data_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def keys(data, model=0):
    return [column["key"] for column in data["models"][model]["columns"]]


def test_a_folder_of_learn_with_tests_and_predictability(graftwork, chain_csv, tmp_path):
    out = tmp_path / "run"
    assert graftwork("learn", chain_csv, "--out", out, "--quiet").code == 0
    done = graftwork("explore", out)
    assert done.code == 0
    assert f"Wrote {out / 'explorer.html'} (" in done.out
    data = data_of(out / "explorer.html")
    assert data["names"] == ["a", "b", "c", "d"]
    assert data["title"] == "chain.csv"
    assert keys(data) == ["strength", "weight", "p_value", "q_value", "correlation"]
    assert [column["key"] for column in data["columns"]] == ["predictability"]
    assert data["words"][0] == "Learned from 300 rows of chain.csv."
    assert read_info(out / "model.gw")["edge_tests"]
    # A bootstrap in the same folder adds its columns.
    words = ("bootstrap", chain_csv, "--out", out, "--n", 3, "--quiet", "--no-plot")
    assert graftwork(*words).code == 0
    assert graftwork("explore", out).code == 0
    assert keys(data_of(out / "explorer.html"))[-3:] == ["frequency", "low", "high"]


@pytest.mark.parametrize("reference", [True, False])
@pytest.mark.parametrize(
    ("model", "told"),
    [
        (PairwiseMRF({name: [0, 1] for name in "abcx"}), "other variables"),
        (PairwiseMRF({name: [0, 1] for name in "abcd"}), "other edges"),
    ],
)
def test_a_bootstrap_of_another_network_is_left_out(
    graftwork, chain_csv, tmp_path, model, told, reference
):
    words = ("bootstrap", chain_csv, "--out", tmp_path, "--n", 3, "--lam", 0.05, "--no-plot")
    assert graftwork(*words, "--quiet").code == 0
    if not reference:
        (tmp_path / "reference.gw").unlink()
    model.save(tmp_path / "model.gw")
    done = graftwork("explore", tmp_path)
    assert done.code == 0
    assert f"bootstrap.json' is left out: its network has {told} than model.gw" in done.err
    assert "frequency" not in keys(data_of(tmp_path / "explorer.html"))


def test_a_model_file_and_groups_of_variables(graftwork, model_file, tmp_path):
    groups = tmp_path / "groups.csv"
    groups.write_text("variable,group\nrain,sky\nwet,ground\n")
    page = tmp_path / "page.html"
    words = ("explore", model_file, "--out", page, "--groups", groups, "--title", "Rain")
    assert graftwork(*words).code == 0
    data = data_of(page)
    assert data["title"] == "Rain"
    assert data["groupings"][0] == {"label": "Group", "names": ["sky", "ground"], "of": [0, -1, 1]}
    assert graftwork("explore", model_file).code == 0
    assert (tmp_path / "m.html").is_file()


def test_the_page_is_opened_if_asked_for(graftwork, model_file, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    assert graftwork("explore", model_file, "--open").code == 0
    assert opened == [(tmp_path / "m.html").as_uri()]
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    assert "open the file by hand" in graftwork("explore", model_file, "--open").out


def test_folders_of_bootstrap_and_of_compare_groups(graftwork, chain_csv, tmp_path):
    boot = tmp_path / "boot"
    words = ("bootstrap", chain_csv, "--out", boot, "--n", 3, "--lam", 0.05, "--quiet", "--no-plot")
    assert graftwork(*words).code == 0
    assert graftwork("explore", boot).code == 0
    data = data_of(boot / "explorer.html")
    assert keys(data)[:4] == ["frequency", "low", "high", "strength"]
    assert "weights" in data["models"][0]
    assert data["states"] == [
        [str(state) for state in states] for states in load(boot / "reference.gw").states.values()
    ]
    (boot / "reference.gw").unlink()
    assert graftwork("explore", boot).code == 0
    without = data_of(boot / "explorer.html")
    assert "weights" not in without["models"][0]
    assert sorted(without["names"]) == ["a", "b", "c", "d"]
    groups = tmp_path / "groups"
    words = ("compare-groups", chain_csv, "--by", "d", "--out", groups, "--quiet", "--no-plot")
    assert graftwork(*words).code == 0
    assert graftwork("explore", groups).code == 0
    data = data_of(groups / "explorer.html")
    assert [model["label"] for model in data["models"]] == ["Differences", "0", "1"]
    assert {"q_value", "norm_0", "norm_1", "differs"} <= set(keys(data))
    assert data["names"] == ["a", "b", "c"]


def test_files_of_other_programs_are_explored(graftwork, model, tmp_path):
    export(model, tmp_path / "m.uai")
    groups = tmp_path / "groups.csv"
    groups.write_text("variable,group\nrain,sky\n")
    assert graftwork("explore", tmp_path / "m.uai", "--groups", groups).code == 0
    data = data_of(tmp_path / "m.html")
    assert data["names"] == list(model.names)
    assert data["models"][0]["untested"] == "this file holds no tests"


def test_groups_are_for_networks(graftwork, tmp_path):
    from graftwork import ChainCRF

    X, y = [[["w=a"], ["w=b"]], [["w=b"]]] * 9, [["A", "B"], ["A"]] * 9
    ChainCRF(lam=0.01).fit(X, y).save(tmp_path / "chain.gw")
    assert graftwork("explore", tmp_path / "chain.gw").code == 0
    assert data_of(tmp_path / "chain.html")["kind"] == "chain"
    (tmp_path / "groups.csv").write_text("A,b\n")
    done = graftwork("explore", tmp_path / "chain.gw", "--groups", tmp_path / "groups.csv")
    assert done.code == 2
    assert "--groups is for a network" in done.err


def test_states_of_data_that_come_along_have_their_meanings(graftwork, tmp_path):
    model = PairwiseMRF({"odor": ["f", "n"], "class": ["e", "p"]})
    model.save(tmp_path / "model.gw", info={"data": "mushroom", "embedded": True})
    assert graftwork("explore", tmp_path).code == 0
    data = data_of(tmp_path / "explorer.html")
    assert data["states"] == [["f (foul)", "n (none)"], ["e (edible)", "p (poisonous)"]]
