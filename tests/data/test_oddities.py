"""Columns that are hardly meant to be learned from."""

import datetime
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import graftwork as gw
from graftwork.data.oddities import column_remarks, lone_columns, number_columns
from graftwork.report.data_notes import data_notes

FOLDER = Path(os.environ.get("GRAFTWORK_DATA", Path(__file__).parents[3] / "shared" / "data"))
RNG = np.random.default_rng(0)
WORDS = ["the", "food", "was", "good", "we", "will", "come", "again", "but", "slow"]


def text(words):
    return " ".join(RNG.choice(WORDS, words))


def frame(n=300):
    sex = RNG.choice(["f", "m"], n)
    return pd.DataFrame(
        {
            "sex": sex,
            "likes": np.where(RNG.random(n) < 0.8, sex == "f", sex == "m"),
            "item": RNG.integers(1, 6, n),
        }
    )


LONE = {
    "ids": np.arange(300),
    "shuffled ids": RNG.permutation(10_000)[:300],
    "codes": [f"P-{i:05d}" for i in RNG.permutation(300)],
    "two visits of some": [f"P-{i % 240}" for i in range(300)],
    "days": [datetime.date(2020, 1, 1) + datetime.timedelta(i) for i in range(300)],
    "comments": [text(9) for _ in range(300)],
    "comments of some": [text(9) if i % 4 == 0 else "none" for i in range(300)],
    "comments with gaps": [text(9) if i % 4 == 0 else None for i in range(300)],
    "ids as categories": pd.Categorical(np.arange(300)),
}


@pytest.mark.parametrize("name", LONE)
def test_fit_warns_once_of_columns_that_are_no_variables(name):
    data = frame().assign(id=LONE[name])
    net = gw.MarkovNetwork(lam=0.1, missing="state")
    with pytest.warns(gw.DataWarning) as caught:
        net.fit(data)
    assert len(caught) == 1
    told = str(caught[0].message)
    assert told.startswith("Column 'id' has a value of its own in many rows")
    assert "drop=['id']" in told
    assert caught[0].filename == __file__
    assert told in " ".join(net.summary().split())
    assert told in data_notes(gw.as_table(data, missing="state"))
    with pytest.warns(gw.DataWarning, match=r"Columns 'id', 'key' have .*drop=\['id', 'key'\]"):
        gw.MarkovNetwork(lam=0.1, missing="state").fit(data.assign(key=data["id"]))


def test_files_are_warned_of_when_they_are_read(tmp_path):
    path = tmp_path / "t.csv"
    frame().assign(id=np.arange(300)).to_csv(path, index=False)
    with pytest.warns(gw.DataWarning, match="Column 'id'") as caught:
        table = gw.read_table(path)
    assert len(caught) == 1
    gw.MarkovNetwork(lam=0.1).fit(table)  # nothing more to say
    with pytest.warns(gw.DataWarning, match="Column 'id'") as caught:
        net = gw.MarkovNetwork(lam=0.1).fit(path)
    assert len(caught) == 1
    net.score(path)
    gw.MarkovNetwork(lam=0.1).fit(gw.read_table(path, drop=["id"]))


SENSIBLE = {
    "items": pd.DataFrame(RNG.integers(1, 6, (40, 6))),
    "binary": pd.DataFrame(RNG.integers(0, 2, (20, 8))),
    "few rows": pd.DataFrame({"a": range(10), "b": [0, 1] * 5}),
    "ages": pd.DataFrame({"age": RNG.integers(18, 90, 1000), "b": RNG.integers(0, 2, 1000)}),
    "countries": pd.DataFrame({"land": [f"land {i}" for i in RNG.integers(0, 60, 900)]}),
    "long answers": pd.DataFrame({"a": RNG.choice([text(6) for _ in range(25)], 900)}),
    "a floats' matter": pd.DataFrame({"a": np.arange(60) / 7}),
}


@pytest.mark.parametrize("name", SENSIBLE)
def test_sensible_columns_are_left_alone(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net = gw.MarkovNetwork(lam=0.2).fit(SENSIBLE[name])
    assert bool(net.data_.remarks) == (name in ("ages", "a floats' matter"))


def test_rows_that_count_for_many_are_no_ids():
    table = gw.as_table({"town": [f"t{i}" for i in range(40)], "b": [0, 1] * 20})
    assert lone_columns(table) == ("town",)
    assert lone_columns(table.with_weights(np.full(40, 900.0))) == ()


def test_ages_are_remarked_on():
    table = gw.as_table(SENSIBLE["ages"])
    assert number_columns(table) == {"age": 72}
    (told,) = column_remarks(table)
    assert told.startswith("Many different numbers, each taken as a state of its own: age (72).")
    assert "pandas.qcut(df['age'], 5)" in told


@pytest.mark.parametrize("name", ["psych/adhd.csv", "psych/boredom.csv"])
def test_real_surveys_are_left_alone(name):
    if not (FOLDER / name).is_file():
        pytest.skip(f"{FOLDER / name} is not there; set GRAFTWORK_DATA to a folder that has it")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = gw.read_table(FOLDER / name)
    assert column_remarks(table) == ()


def test_mushrooms_and_nltcs_are_left_alone():
    assert column_remarks(gw.datasets.load_mushroom()) == ()
    if not (FOLDER / "debd").is_dir():
        pytest.skip(f"{FOLDER / 'debd'} is not there; set GRAFTWORK_DATA to a folder that has it")
    assert column_remarks(gw.datasets.load_debd("nltcs", FOLDER).train) == ()
