"""graftwork predict and impute."""

import csv
import io

import pytest

import graftwork as gw
from graftwork.cli import main


@pytest.fixture
def model(tmp_path):
    pair = {("rain", "grass"): [[2.0, 0.0], [0.0, 2.0]], ("grass", "mood"): [[0, 1.0], [1.0, 0]]}
    states = {
        "rain": ["no", "yes"],
        "grass": ["dry", "wet"],
        "mood": [1, 2],
        "age": ["<= 20", "> 20"],
    }
    network = gw.PairwiseMRF(states, {"rain": [0.5, 0]}, pair)
    network.save(tmp_path / "m.gw")
    return network


def rows_in(text):
    return list(csv.reader(io.StringIO(text)))


def test_predict_writes_states_and_says_how_often_they_are_right(model, tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("id,rain,grass,mood,age\n1,no,dry,,37\n2,yes,,1,NA\n3,no,wet,2,1\n")
    args = ["predict", str(tmp_path / "m.gw"), str(path), "--target", "rain"]
    assert main(args) == 0
    told = capsys.readouterr()
    found = rows_in(told.out)
    assert found[0] == ["rain", "probability"]
    assert [row[0] for row in found[1:]] == model.predict(path, "rain").tolist()
    assert "rain is predicted right in 66.7% of 3 rows that have it." in told.err
    out = tmp_path / "p.csv"
    assert main([*args, "--proba", "--out", str(out)]) == 0
    found = rows_in(out.read_text())
    assert found[0] == ["rain", "p(no)", "p(yes)"]
    expected = model.predict_proba(path, "rain")
    assert [[float(cell) for cell in row[1:]] for row in found[1:]] == pytest.approx(expected)


def test_predict_without_the_column_and_with_unseen_states(model, tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("grass,mood,age\nwet,1,5\nsoaked,1,5\n")
    args = ["predict", str(tmp_path / "m.gw"), str(path), "--target", "rain"]
    assert main(args) == 2
    refused = capsys.readouterr().err
    assert "a state the model does not have" in refused
    assert "--unseen ignore takes such cells as missing" in refused
    assert main([*args, "--unseen", "ignore"]) == 0
    told = capsys.readouterr()
    assert [row[0] for row in rows_in(told.out)] == ["rain", "yes", "yes"]
    assert "right" not in told.err
    assert main([*args[:-1], "grass"]) == 2
    assert "there is no column 'rain'" in capsys.readouterr().err


def test_impute_keeps_other_columns_as_they_are(model, tmp_path, capsys):
    path, out = tmp_path / "t.csv", tmp_path / "f.csv"
    path.write_text('id,rain,grass,mood,age,note\n007,no,,1,37,\n008,,wet,2,NA,"a, b"\n')
    assert main(["impute", str(tmp_path / "m.gw"), str(path), "--out", str(out)]) == 0
    assert "3 cells filled." in capsys.readouterr().err
    first, second = rows_in(out.read_text())[1:]
    assert first == ["007", "no", "dry", "1", "> 20", ""]
    assert second[:4] == ["008", "yes", "wet", "2"]
    assert second[5] == "a, b"
    draws = []
    for seed in ("1", "1", "2", "3", "4", "5"):
        args = ["impute", str(tmp_path / "m.gw"), str(path), "--draw", "--seed", seed]
        assert main(args) == 0
        draws.append(capsys.readouterr().out)
    assert draws[0] == draws[1]
    assert len(set(draws)) > 1


def test_unseen_cells_stay(model, tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("rain,grass,mood,age\nno,soaked,1,3\nyes,,1,3\n")
    assert main(["impute", str(tmp_path / "m.gw"), str(path), "--unseen", "ignore"]) == 0
    assert [row[1] for row in rows_in(capsys.readouterr().out)] == ["grass", "soaked", "wet"]


def test_the_file_of_the_model_is_not_overwritten(model, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("rain,grass,mood,age\n,wet,1,30\n")  # one column is empty
    path = tmp_path / "m.gw"
    before = path.read_bytes()
    assert main(["impute", str(path), str(tmp_path / "t.csv"), "--out", str(path)]) == 2
    assert "--out is the file of the model" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_impute_keeps_names_of_rows(model, tmp_path, capsys):
    (tmp_path / "t.csv").write_text(",rain,grass,mood,age\n1,,wet,1,30\n2,no,dry,2,10\n")
    assert main(["impute", str(tmp_path / "m.gw"), str(tmp_path / "t.csv")]) == 0
    assert [row[0] for row in rows_in(capsys.readouterr().out)[1:]] == ["1", "2"]


def test_progress_does_not_repeat_a_long_name(tmp_path, capsys):
    assert main(["learn", "x" * 100_000, "--out", str(tmp_path / "out")]) == 2
    assert len(capsys.readouterr().err) < 5000


def test_impute_fills_a_column_that_is_empty(model, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("rain,grass,mood,age\n,wet,1,30\n")
    assert main(["impute", str(tmp_path / "m.gw"), str(tmp_path / "t.csv")]) == 0
    assert rows_in(capsys.readouterr().out)[1:] == [["yes", "wet", "1", "30"]]
