"""Networks of numbers in bins: learned, asked, scored, saved, and by the command line."""

import warnings

import numpy as np
import pandas as pd
import pytest

import graftwork as gw
from graftwork.cli import main


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    z = rng.normal(size=400)
    return pd.DataFrame({
        "weight": (70 + 10 * z + rng.normal(size=400)).round(2),
        "height": (170 + 8 * z + 2 * rng.normal(size=400)).round(1),
        "sex": np.where(z + rng.normal(size=400) > 0, "m", "f"),
    })  # fmt: skip


@pytest.fixture(scope="module")
def net(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return gw.MarkovNetwork(bins=4).fit(frame)


def test_edges_between_bins_have_one_signed_number(net):
    assert all(len(net.model_.states[name]) == 4 for name in ("weight", "height"))
    assert net.model_.weight("weight", "height") > 0.5
    assert "Numbers are grouped by quantiles: weight, height in 4 bins." in net.summary()
    assert "looks continuous" not in net.summary()


def test_other_ordinal_columns_leave_bins_ordered(frame):
    more = frame.assign(answer=np.arange(400) % 3)
    for ordinal in (["answer"], {"answer": [0, 1, 2]}, None):
        net = gw.MarkovNetwork(bins=4, ordinal=ordinal, lam=0.1).fit(more)
        assert {"weight", "height"} <= set(net.model_.scores)
    assert not gw.MarkovNetwork(bins=4, ordinal=False, lam=0.1).fit(frame).model_.scores


def test_numbers_are_asked_about_and_scored_by_labels_alone(net, frame, tmp_path):
    net.save(tmp_path / "m.gw")
    model = gw.load(tmp_path / "m.gw")
    states = model.states["height"]
    cut = float(states[0].removeprefix("<= "))
    for value, state in ((cut, states[0]), (np.nextafter(cut, 1e9), states[1]), (1e9, states[-1])):
        found = model.marginals({"height": value})
        assert np.array_equal(found["weight"], model.marginals({"height": state})["weight"])
    assert model.score(frame) == pytest.approx(net.score(gw.as_table(frame, bins=4)))
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert model.score(tmp_path / "t.csv") == pytest.approx(net.score(frame))


def test_bootstrap_and_estimate_take_the_bins_of_all_rows(frame):
    net = gw.MarkovNetwork(bins={"weight": 3, "height": 3}, lam=0.05)
    boot = net.bootstrap(frame, 3, case_dropping=False, random_state=0)
    assert boot.frequency("weight", "height") == 1.0
    assert "3 variables" in net.estimate(frame).summary()


def test_command_line(frame, tmp_path, capsys):
    frame.assign(kg=frame.weight).to_csv(tmp_path / "t.csv", index=False)
    out = str(tmp_path / "out")
    args = ["learn", str(tmp_path / "t.csv"), "--out", out, "--no-plot", "--drop", "kg"]
    assert main([*args, "--bins", "4"]) == 0
    told = capsys.readouterr()
    assert "weight, height in 4 bins" in told.out
    assert "continuous" not in told.err
    model = gw.load(f"{out}/model.gw")
    assert model == gw.MarkovNetwork(bins=4, random_state=0).fit(frame).model_
    assert main(["query", f"{out}/model.gw", "sex", "--given", "weight=91.5"]) == 0
    last = model.states["weight"][-1]
    assert f"weight = {last}" in capsys.readouterr().out
    assert main(["score", f"{out}/model.gw", str(tmp_path / "t.csv")]) == 0
    assert main([*args, "--bins", "weight:3,height:5"]) == 0
    assert [len(each) for each in gw.load(f"{out}/model.gw").states.values()] == [3, 5, 2]
    for wrong in ("few", ":3", "1", "weigth:3"):
        assert main([*args, "--bins", wrong]) == 2
    assert "did you mean 'weight'" in capsys.readouterr().err
