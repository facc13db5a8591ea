"""Tables of Excel and SPSS; without their readers, a sentence that says how to get them."""

import datetime as dt
import sys

import numpy as np
import pandas as pd
import pytest

import graftwork as gw
from graftwork.cli import main
from graftwork.errors import DataError

from doors.data import labelled


@pytest.fixture
def excel():
    return pytest.importorskip("openpyxl", reason="needs graftwork[files]")


@pytest.fixture
def spss():
    return pytest.importorskip("pyreadstat", reason="needs graftwork[files]")


def write_sheet(excel, path, rows):
    book = excel.Workbook()
    for row in rows:
        book.active.append(row)
    other = book.create_sheet("other")
    other.append(["not", "read"])
    book.save(path)
    return path


def test_sheets_have_states_as_a_csv_file_has(excel, tmp_path):
    rows = [["sex", "visits", "size", "when", "ok"]]
    for k in range(6):
        rows.append([" f " if k % 2 else "m", k % 3, k / 2, dt.datetime(2024, 1, 1 + k), k > 2])
        rows.append([None] * 5)
    path = write_sheet(excel, tmp_path / "t.xlsx", rows)
    table = gw.read_table(path, drop=["when"])
    assert table.names == ("sex", "visits", "size", "ok")
    assert table.states == (("f", "m"), (0, 1, 2), (0.0, 0.5, 1.0, 1.5, 2.0, 2.5), (False, True))
    assert table.n_rows == 6
    assert gw.read_table(path).states[3][0] == dt.datetime(2024, 1, 1)
    assert gw.read_table(path, infer_types=False).states[1] == ("0", "1", "2")
    assert gw.MarkovNetwork(lam=0.2).fit(str(path)).n_features_in_ == 5


def test_gaps_errors_and_headers_of_sheets(excel, tmp_path):
    rows = [["a", "b"], ["x", 1], ["#N/A", 2], ["y", None], ["NA", 1]]
    path = write_sheet(excel, tmp_path / "t.xlsx", rows)
    with pytest.raises(DataError, match=r"t.xlsx: .*3 in 2 columns, the first in .*'a', row 3"):
        gw.read_table(path)
    table = gw.read_table(path, missing="state")
    assert table.states == (("x", "y", "(missing)"), (1, 2, "(missing)"))
    numbers = write_sheet(excel, tmp_path / "n.xlsx", [[1, 2], [3, 4]])
    assert gw.read_table(numbers).names == ("x0", "x1")
    assert gw.read_table(numbers, weights=[1, 2]).n_rows == 2
    for rows, words in (([[]], "the first sheet is empty"), ([["a", "b"]], "no rows below")):
        odd = write_sheet(excel, tmp_path / "odd.xlsx", rows)
        with pytest.raises(DataError, match=words):
            gw.read_table(odd, header=True)


def test_a_sheet_is_chosen_by_name(excel, tmp_path, capsys):
    book = excel.Workbook()
    book.active.title = "Codebook"
    book.active.append(["item", "text"])
    book.active.append(["mood", "How are you?"])
    data = book.create_sheet("Answers 2024")
    data.append(["mood", "sleep"])
    for k in range(60):
        data.append([k % 3 + 1 if k % 7 else 99, k % 3 + 1])
    path = tmp_path / "t.xlsx"
    book.save(path)
    table = gw.read_table(
        path, sheet="Answers 2024", missing_values={"mood": ["99"]}, missing="state"
    )
    assert table.states == ((1, 2, 3, "(missing)"), (1, 2, 3))
    assert np.count_nonzero(table.codes[0] == 3) == 9
    assert table.notes == ()
    first = gw.read_table(path)
    assert first.names == ("item", "text")
    (note,) = first.notes
    assert note == (
        "The file has 2 sheets ('Codebook', 'Answers 2024'); the first was read, and "
        "sheet='Answers 2024' would read another."
    )
    assert first.take_columns(["item"]).take_rows([0]).notes == (note,)  # and so on to the summary
    assert gw.MarkovNetwork(lam=0.1).fit(first).data_.remarks[0] == note
    with pytest.raises(DataError, match=r"t.xlsx: there is no sheet 'answers 2024'; did you mean "):
        gw.read_table(path, sheet="answers 2024")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"only Excel files .* leave sheet='x' out"):
        gw.read_table(tmp_path / "t.csv", sheet="x")
    words = [
        "learn",
        str(path),
        "--lam",
        "0.1",
        "--no-plot",
        "--holdout",
        "0",
        "--out",
        str(tmp_path),
    ]
    assert main([*words, "--sheet", "x"]) == 2
    assert (
        "there is no sheet 'x'. The sheets are 'Codebook', 'Answers 2024'"
        in capsys.readouterr().err
    )
    assert main(words) == 0
    assert "--sheet 'Answers 2024' would read another" in " ".join(capsys.readouterr().out.split())
    sheet = ["--sheet", "Answers 2024", "--missing-values", "mood:99", "--missing", "drop-rows"]
    assert main([*words, *sheet]) == 0
    assert gw.load(tmp_path / "model.gw").states == {"mood": (1, 2, 3), "sleep": (1, 2, 3)}
    model = str(tmp_path / "model.gw")
    capsys.readouterr()
    assert (
        main(["score", model, str(path), "--sheet", "Answers 2024", "--missing", "drop-rows"]) == 0
    )
    assert "rows 51" in " ".join(capsys.readouterr().out.split())
    assert main(["predict", model, str(path), "--sheet", "Answers 2024", "--target", "mood"]) == 0


def test_texts_that_mean_missing_in_files_of_all_kinds(spss, tmp_path):
    frame = pd.DataFrame({"mood": [1.0, 2.0, 9.0, 3.0], "town": ["a", "?", "b", "a"]})
    frame.to_parquet(tmp_path / "t.parquet")
    spss.write_sav(frame, tmp_path / "t.sav", variable_value_labels={"mood": {3.0: "high"}})
    told = {"mood": ["9", "high"], "town": ["?"]}
    parquet = gw.read_table(tmp_path / "t.parquet", missing="state", missing_values=told)
    assert parquet.states == ((1, 2, 3, "(missing)"), ("a", "b", "(missing)"))
    assert parquet.codes.tolist() == [[0, 1, 3, 2], [0, 2, 1, 0]]
    labels = gw.read_table(tmp_path / "t.sav", missing="state", missing_values=told)
    assert labels.states == ((1, 2, "(missing)"), ("a", "b", "(missing)"))


def test_files_that_are_no_sheets(excel, tmp_path):
    bad = tmp_path / "bad.xlsx"
    bad.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"bad.xlsx: cannot be read as an Excel file"):
        gw.read_table(bad)


def test_old_sheets_are_refused(tmp_path):
    old = tmp_path / "old.xls"
    old.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(64))
    with pytest.raises(DataError, match=r"save it as .xlsx or CSV"):
        gw.read_table(old)


@pytest.fixture
def sav(spss, tmp_path):
    frame = pd.DataFrame({
        "sex": [1.0, 2.0, 2.0, 1.0, 9.0],
        "mood": [3.0, 1.0, 2.0, np.nan, 1.0],
        "age": [31.0, 40.0, 0.0, 29.0, 55.0],
        "town": ["Ulm", "", "Bonn", "Ulm", "Ulm"],
        "agree": [1.0, 2.0, 3.0, 4.0, 5.0],
    })  # fmt: skip
    path = tmp_path / "t.sav"
    spss.write_sav(
        frame,
        path,
        variable_value_labels={
            "sex": {1: "female", 2: "male", 9: "refused"},
            "mood": {1: "low", 2: "medium", 3: "high", 4: "highest"},
            "age": {0: "less than a year"},
            "agree": {1: "not at all", 5: "very much"},
        },
        missing_ranges={"sex": [9]},
        variable_measure={"sex": "nominal", "mood": "ordinal", "age": "scale", "agree": "ordinal"},
    )
    return path


def test_labels_missing_codes_and_levels_of_spss(sav):
    table = gw.read_table(sav, missing="state")
    assert table.names == ("sex", "mood", "age", "town", "agree")
    assert table.states == (
        ("female", "male", "(missing)"),
        ("low", "medium", "high", "highest", "(missing)"),
        (0, 29, 31, 40, 55),
        ("Bonn", "Ulm", "(missing)"),
        ("not at all", 2, 3, 4, "very much"),
    )
    assert table["sex"].tolist() == ["female", "male", "male", "female", "(missing)"]
    assert list(table.ordered.scores) == ["mood", "agree"]
    assert table.ordered.scores["mood"]["highest"] == 3
    with pytest.raises(
        DataError, match=r"t.sav: .*3 in 3 columns, the first in column 'town', row 1"
    ):
        gw.read_table(sav)
    assert gw.read_table(sav, columns=["age", "agree"]).names == ("age", "agree")
    assert len(gw.read_table(sav, columns=["age"], bins=2).states[0]) == 2


def test_networks_of_spss_files(sav, tmp_path, capsys):
    args = ["learn", str(sav), "--columns", "mood,sex,agree", "--missing", "available-case"]
    assert main([*args, "--lam", "0.3", "--no-plot", "--out", str(tmp_path / "out")]) == 0
    model = gw.load(tmp_path / "out" / "model.gw")
    assert model.states["sex"] == ("female", "male")
    assert set(model.scores) >= {"agree"}
    assert main(["score", str(tmp_path / "out" / "model.gw"), str(sav)]) == 0
    assert model.predict(sav, "sex").tolist()
    assert main(["predict", str(tmp_path / "out" / "model.gw"), str(sav), "--target", "sex"]) == 0
    capsys.readouterr()


def test_damaged_spss_files(spss, tmp_path):
    bad = tmp_path / "bad.sav"
    bad.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"bad.sav: cannot be read as an SPSS file"):
        gw.read_table(bad)


@pytest.mark.parametrize(
    ("name", "content", "package"),
    [("t.xlsx", b"PK\x03\x04", "openpyxl"), ("t.sav", b"$FL2", "pyreadstat")],
)
def test_without_a_reader_the_error_says_how_to_get_it(
    name, content, package, tmp_path, monkeypatch, capsys
):
    monkeypatch.setitem(sys.modules, package, None)
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{name}: reading .* needs {package}: pip install"):
        gw.read_table(path)
    assert main(["learn", str(path), "--out", str(tmp_path / "out")]) == 2
    assert "pip install 'graftwork[files]'" in capsys.readouterr().err


def test_labels_stay_apart():
    assert labelled([1, 2, 3], {1: "no", 2: "no", 3: ""}, "nominal").states == (
        "no (1)",
        "no (2)",
        3,
    )
    assert labelled(["a", "", None], {"a": "Ann"}, "nominal").states == ("Ann",)
    assert labelled([None, np.nan], {}, "unknown").states == ()
    assert labelled([1.5, 2.0], {}, "scale").states == (1.5, 2)
