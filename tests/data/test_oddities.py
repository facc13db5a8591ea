"""Columns that are hardly meant to be learned from."""

import datetime
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import graftwork as gw
from graftwork.cli import main
from graftwork.data import Table
from graftwork.errors import DataError

from doors.data import (
    MISSING_STATE,
    Ordered,
    answer_columns,
    column_remarks,
    items,
    lone_columns,
    missing_codes,
    number_columns,
    order_remarks,
    text_number_columns,
)
from doors.report import data_notes

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
        net = gw.MarkovNetwork(lam=0.2, ordinal=False).fit(SENSIBLE[name])
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
    assert "bins=7 groups them" in told


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


def test_numbers_with_other_texts_among_them_are_remarked_on(tmp_path):
    path = tmp_path / "t.csv"
    cells = [str(age) for age in RNG.integers(18, 90, 500)] + ["unknown"] * 20 + ["12,5"]
    path.write_text("age,b\n" + "\n".join(f'"{cell}",{k % 2}' for k, cell in enumerate(cells)))
    table = gw.read_table(path)
    assert text_number_columns(table) == {"age": ("12,5", "unknown")}
    (told,) = column_remarks(table)
    assert "holds numbers and '12,5', 'unknown', so all are taken as texts" in told
    assert "missing_values=['12,5', 'unknown']" in told
    codes = gw.as_table({"a": [f"{k}x" for k in range(30)] * 9, "b": list("xy") * 135})
    assert text_number_columns(codes) == {}


def test_numbers_with_decimal_commas_are_no_identifiers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("size;b\n" + "\n".join(f"{k},{k % 10};{k % 2}" for k in range(60)))
    with pytest.warns(gw.DataWarning) as warned:
        table = gw.read_table(path)
    with pytest.warns(gw.DataWarning) as scanned:
        gw.scan(path).store()
    (told,) = column_remarks(table)
    assert [str(each.message) for each in (*warned, *scanned)] == [told, told]
    assert told.startswith("The cells of column 'size' look like numbers with decimal commas, such")
    assert "'0,0'" in told
    frame = pd.read_csv(path, sep=";", decimal=",")  # what it advises
    assert gw.as_table(frame, bins=7).cards.tolist() == [7, 2]


ANSWERS = pd.DataFrame({
    "mood": RNG.integers(1, 6, 200), "balance": RNG.integers(-2, 3, 200),
    "pain": RNG.integers(0, 10, 200), "sex": RNG.integers(0, 2, 200),
    "region": RNG.choice([10, 20, 30], 200), "land": RNG.choice(["a", "b", "c"], 200),
    "hours": RNG.integers(0, 11, 200),
})  # fmt: skip


def test_ordered_answers_are_named_and_not_taken_as_ordered():
    net = gw.MarkovNetwork(lam=0.2).fit(ANSWERS)
    assert answer_columns(gw.as_table(ANSWERS)) == ("mood", "balance", "pain")
    (told,) = net.data_.remarks
    assert told.startswith("mood, balance, pain have a few whole numbers each")
    assert "ordinal=['mood', 'balance', 'pain']" in told
    assert told in " ".join(net.summary().split())
    assert not net.model_.scores
    for ordinal in (["mood"], False):
        assert gw.MarkovNetwork(lam=0.2, ordinal=ordinal).fit(ANSWERS).data_.remarks == ()
    assert gw.MarkovNetwork(penalty="l1", lam=0.2).fit(ANSWERS).data_.remarks == ()
    every = gw.as_table(ANSWERS[["mood", "pain"]])
    assert "All 2 columns have" in order_remarks(every)[0]
    gaps = ANSWERS[["mood", "sex"]].astype(float)
    gaps.iloc[3, 0] = np.nan
    assert answer_columns(gw.as_table(gaps, missing="state")) == ("mood",)


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"a": [1, 2, 3, 4, 5], "b": [1, 2, 4, 5], "c": [0, 1], "d": ["m", "w"]}, "ab"),
        ({"a": [-2, -1, 0, 1, 2]}, "a"),
        ({"a": [1.0, 2.0, 3.0]}, "a"),
        ({"a": range(1, 8), "b": range(7)}, ""),  # eight values together
        ({"a": range(1, 8)}, "a"),
        ({"a": [1, 2, 3], "b": ["x", "y", "z"]}, ""),
        ({"a": [1, 3, 5]}, ""),
        ({"a": [2, 3, 4]}, ""),
        ({"a": [0, 1], "b": [1, 2]}, ""),
        ({"a": ["1", "2", "3"], "b": [1, 2, 3], "c": ["x", "y"]}, "ab"),
        ({"a": ["-1", "0", "1"]}, "a"),
        ({"a": ["01", "02", "03"]}, ""),
        ({"a": ["1", "2", "2.0"]}, ""),
        ({"a": [1, 2, 3], "b": [10, 20, 30]}, ""),
        ({"a": [1.5, 2.5, 3.5]}, ""),
    ],
)
def test_integer_items_are_whole_numbers_in_all_columns_of_more_than_two_states(columns, found):
    states = tuple(tuple(levels) for levels in columns.values())
    table = Table(tuple(columns), states, [[0]] * len(columns))
    assert items(table) == tuple(found)
    if "b" in columns:  # what is ordered already may have any states
        known = table.with_order(Ordered({"b": dict.fromkeys(columns["b"], 0.0)}))
        assert "b" not in items(known)


def test_the_command_line_says_which_option(tmp_path, capsys):
    path, out = str(tmp_path / "t.csv"), str(tmp_path / "out")
    ANSWERS.assign(id=range(200)).to_csv(path, index=False)
    args = ["learn", path, "--out", out, "--lam", "0.2", "--holdout", "0", "--no-plot"]
    assert main([*args, "--exclude", "id"]) == 0
    told = capsys.readouterr()
    assert "--ordinal mood,balance,pain says so" in " ".join(told.out.split())
    assert "warning" not in told.err
    assert main([*args, "--columns", "mood,pain"]) == 0
    assert "--ordinal all says so" in " ".join(capsys.readouterr().out.split())
    for more, told in (
        (["--columns", "mood,sex"], "mood' holds a few whole numbers, and is taken as ordered."),
        (["--columns", "mood,sex"], "--ordinal no says so"),
        (["--columns", "mood,sex", "--dry-run"], "--ordinal no says so"),
        (["--columns", "mood,land"], "--ordinal mood says so"),
    ):
        assert main(["learn", path, "--out", out, "--holdout", "0", "--no-plot", *more]) == 0
        assert told in " ".join(capsys.readouterr().out.split())
    auto = ["learn", path, "--out", out, "--holdout", "0", "--no-plot", "--columns", "mood,sex"]
    assert main([*auto, "--ordinal", "no"]) == 0
    assert "says so" not in capsys.readouterr().out
    assert main(["learn", path, "--dry-run", "--drop", "id"]) == 0
    assert "--ordinal mood,balance,pain" in " ".join(capsys.readouterr().out.split())
    assert main([*args, "--exclude", "id", "--ordinal", "mood"]) == 0
    assert "says so" not in capsys.readouterr().out
    assert main(args) == 0
    assert "--drop id" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        ([1, 2, 3, 4, 5, 9], (9,)),
        ([1, 2, 3, 4, 5, 99, 98], ()),  # 98 is no usual code
        ([0, 1, 2, 3, -1], (-1,)),
        ([1, 2, 3, -9, 99], (-9, 99)),
        ([1.0, 2.0, 3.0, 999.0], (999.0,)),
        ([1, 2, 9], (9,)),
        ([-1, 0, 1], ()),
        ([-2, -1, 0, 1, 2], ()),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9], ()),
        ([1, 2, 3, 4, 5, 6, 8], (8,)),
        ([10, 20, 30, 99], ()),
        ([*range(18, 80), 999], (999,)),
        ([*range(18, 99), 99], ()),
        ([*range(-30, 30), 999], ()),  # degrees, say
        (["1", "2", "3", "don't know"], ("don't know",)),
        (["1", "2", "3", "Don\u2019t know", "(refused)"], ("(refused)", "Don\u2019t know")),
        (["1", "2", "3", "often"], ()),
        (["yes", "no", "don't know"], ()),  # an answer like others
        (["yes", "no", "?"], ("?",)),
        (["yes", "no", "maybe", ".", "?"], (".", "?")),
        (["1", "2", "?"], ("?",)),
        (["+", "-"], ()),
        (["?"], ()),
        ([*map(chr, range(65, 90)), "."], ()),  # of many states a tag like others
    ],
)
def test_codes_of_missing_answers_are_told_from_answers(cells, codes):
    table = gw.as_table({"q": cells * 5, "b": [0, 1] * 2 + [1] * (len(cells) * 5 - 4)})
    found = missing_codes(table)
    assert set(found.get("q", ())) == set(codes)
    assert "b" not in found


def test_an_order_with_no_answer_among_its_states_is_remarked_on():
    words = ["never", "often", "always", "no answer"]
    answers = pd.Categorical(RNG.choice(words, 200), words, ordered=True)
    (told,) = column_remarks(gw.as_table(pd.DataFrame({"q": answers, "b": [0, 1] * 100})))
    assert told.startswith("Column 'q' has no answer among other answers")


def test_what_a_remark_says_about_missing_answers_works(tmp_path):
    rows = RNG.integers(1, 6, (300, 4)).astype(object)
    rows[::17, :2] = 99
    rows[5::19, 2] = "don't know"
    rows[:, 3] = RNG.choice([10, 20, 99], 300)  # here 99 is a region
    rows[::40, 0] = ""
    path = tmp_path / "t.csv"
    lines = [",".join(map(str, row)) for row in [["mood", "sleep", "work", "region"], *rows]]
    path.write_text("\n".join(lines), encoding="utf-8")
    net = gw.MarkovNetwork(lam=0.2, missing="available-case").fit(
        gw.read_table(path, missing="state")
    )
    codes, texts = net.data_.remarks[:2]
    assert (
        "Columns 'mood', 'sleep' have 99 among other answers, which looks like no answer" in codes
    )
    assert "missing_values={'mood': ['99'], 'sleep': ['99']} says so when a file is read" in codes
    assert "missing_values={'work': [\"don't know\"]}" in texts
    told = {"mood": ["99"], "sleep": ["99"], "work": ["don't know"]}
    table = gw.read_table(path, missing="state", missing_values=told)
    for name, empty in (("mood", 8), ("sleep", 0), ("work", 0)):
        cells = table.column(name).tolist()
        assert {c for c in cells if c != "(missing)"} == {1, 2, 3, 4, 5}
        own = rows[:, ["mood", "sleep", "work"].index(name)]
        gone = np.isin(own.astype(str), ["99", "don't know", ""])
        assert [c == "(missing)" for c in cells] == gone.tolist()
        assert cells.count("(missing)") > empty
    assert 99 in table.column("region").tolist()
    assert all("99" not in each for each in column_remarks(table))
    with pytest.raises(DataError, match=r"missing_values names the column 'moods', .* mean 'mood'"):
        gw.read_table(path, missing_values={"moods": ["9"]})
    everywhere = gw.read_table(path, missing="state", missing_values={None: ["99", "don't know"]})
    assert 99 not in everywhere.states[3]
    assert MISSING_STATE in everywhere.states[0]


def test_codes_are_remarked_on_in_bins_too():
    answers = np.tile([1, 2, 3, 4, 5], 60)
    answers[:9], answers[9:20] = 99, -9
    clean = np.tile([1, 2, 3, 4, 5], 60)
    table = gw.as_table({"i1": answers, "i2": clean}, bins=4)
    (note,) = table.notes
    assert "Column 'i1' has -9, 99 among its numbers" in note
    assert "missing_values={'i1': ['-9', '99']}" in note
    net = gw.MarkovNetwork(bins=4, lam=0.5).fit({"i1": answers, "i2": clean})
    assert "Column 'i1' has -9, 99 among its numbers" in " ".join(net.summary().split())
