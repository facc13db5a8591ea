"""read_table: formats, guesses, types, and one plain sentence for whatever is wrong."""

from __future__ import annotations

import gzip
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graftwork.data import as_table, read_table
from graftwork.errors import DataError, DataWarning

from doors.data import guess_separator, has_header, typed


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def test_plain(write):
    table = read_table(write("a,b\nx,1\ny,2\nx,1\n"))
    assert table.names == ("a", "b")
    assert table.states == (("x", "y"), (1, 2))
    assert table.codes.tolist() == [[0, 1, 0], [0, 1, 0]]


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_separators(write, sep):
    path = write(f"a{sep}b\n1{sep}x\n2{sep}y\n")
    assert read_table(path).states == read_table(path, sep=sep).states == ((1, 2), ("x", "y"))


@pytest.mark.parametrize(
    ("lines", "suffix", "sep"),
    [
        (["a;b", "1,5;2,5"], ".csv", ";"),
        (["a\tb,c", "1\t2,3"], ".tsv", "\t"),
        (["a,b", "1,2"], ".tsv", ","),
        (['a,"x;y;z"', 'b,"p;q"'], ".csv", ","),
        (["a", "b"], ".csv", ","),
        (["a|b|c", "1|2"], "", "|"),
        ([], "", ","),
    ],
)
def test_guess_separator(lines, suffix, sep):
    assert guess_separator(lines, suffix) == sep


def test_other_formats(write):
    text = "a,b\nx,1\ny,2\n"
    plain = read_table(write(text))
    for content, name in [
        (gzip.compress(text.encode(), mtime=0), "t.csv.gz"),
        (gzip.compress(text.encode(), mtime=0), "no_suffix"),
        (b"\xef\xbb\xbf" + text.encode(), "bom.csv"),
        (text.replace("\n", "\r\n"), "windows.csv"),
        (text.replace("\n", "\r"), "old_mac.csv"),
        (text.replace(",", "\t"), "t.tsv"),
        (gzip.compress(text.replace(",", "\t").encode(), mtime=0), "t.tsv.gz"),
        ("\n\n" + text.replace("\n", "\n\n"), "blank_lines.csv"),
        (text.rstrip(), "no_last_newline.csv"),
        ("a , b\n x, 1 \ny ,2\n   \n", "spaces.csv"),
        ('"a","b"\n"x",1\n"y", "2"\n', "quotes.csv"),
    ]:
        table = read_table(write(content, name))
        assert (table.names, table.states) == (plain.names, plain.states), name
        assert np.array_equal(table.codes, plain.codes), name


def test_quotes(write):
    table = read_table(write('a,b\n"x, y","say ""hi"""\n"two\nlines"," z "\n'))
    assert table["a"].tolist() == ["x, y", "two\nlines"]
    assert table["b"].tolist() == ['say "hi"', " z "]


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["0", "-3", "12"], [0, -3, 12]),
        (["007", "1"], ["007", "1"]),
        (["+1", "1"], ["+1", "1"]),
        (["1", "2.5"], [1.0, 2.5]),
        (["1e3", ".5", "2."], [1000.0, 0.5, 2.0]),
        (["1.0", "1.00"], [1.0, 1.0]),
        (["1e999", "1"], ["1e999", "1"]),
        (["inf"], ["inf"]),
        (["01.5"], ["01.5"]),
        (["1_000"], ["1_000"]),
        (["٣"], ["٣"]),
        (["True", "False"], [True, False]),
        (["true", "false"], [True, False]),
        (["True", "false"], ["True", "false"]),
        (["True", "1"], ["True", "1"]),
        (["T", "F"], ["T", "F"]),
        (["9" * 40], [int("9" * 40)]),
        (["9" * 5000], ["9" * 5000]),
    ],
)
def test_types(texts, values):
    assert typed(texts) == values
    assert list(map(type, typed(texts))) == list(map(type, values))


def test_types_in_files(write):
    path = write("i,f,b,s,z\n0,1.50,true,x,01\n-1,1.5,false,y,02\n")
    assert read_table(path).states == ((-1, 0), (1.5,), (False, True), ("x", "y"), ("01", "02"))
    texts = read_table(path, infer_types=False)
    assert texts.states[:3] == (("-1", "0"), ("1.5", "1.50"), ("false", "true"))


@pytest.mark.parametrize(
    ("first", "rows", "answer"),
    [
        (["a", "b"], [["x", "y"]], True),
        (["a", ""], [["x", "y"]], False),
        (["a", "a"], [["x", "y"]], False),
        (["a", "1"], [["x", "y"]], False),
        (["a", "nan"], [["x", "y"]], False),
        (["a", "b"], [["a", "x"], ["y", "b"]], False),
        (["a", "b"], [["a", "x"], ["y", "x"]], True),
        (["a", "b"], [["b", "a"]], True),
        (["a", "b"], [["c", "d"]] * 1000 + [["a", "b"]], True),
    ],
)
def test_has_header(first, rows, answer):
    assert has_header(first, rows) is answer


def test_header_argument(write):
    path = write("a,b\nx,y\nx,z\n")
    assert read_table(path).names == ("a", "b")
    assert read_table(path, header=False).names == ("x0", "x1")
    assert read_table(path, header=False).n_rows == 3
    numbers = write("1,2\n0,1\n", "n.csv")
    assert read_table(numbers).n_rows == 2
    assert read_table(numbers, header=True).names == ("1", "2")
    assert read_table(write(",a\n0,1\n0,2\n", "i.csv"), header=True).names == ("x0", "a")


def test_states(write):
    path = write("a,b\n0,1\n1,1\n")
    assert read_table(path, states={"a": [2, 1, 0]}).states == ((2, 1, 0), (1,))
    assert read_table(path, states={"a": ["0", "1"]}).states == (("0", "1"), (1,))
    with pytest.raises(DataError, match=r"^t\.csv: column 'a', line 2: the state 0"):
        read_table(path, states={"a": [1, 2]})


def test_weights(write):
    path = write("a,n\nx,2\ny,0.5\n")
    table = read_table(path, weights="n")
    assert table.names == ("a",)
    assert table.weights.tolist() == [2, 0.5]
    assert read_table(path, weights="n", infer_types=False).weights.tolist() == [2, 0.5]
    assert read_table(path, weights=[1, 3]).total_weight == 4


@pytest.mark.parametrize(
    ("content", "weights", "message"),
    [
        ("a,n\nx,2\n", "nn", "'nn', which is not there; did you mean 'n'"),
        ("a,n\nx,2\ny,z\n", "n", "line 3: the weight 'z' in column 'n' is not a number"),
        ("a,n\nx,2\ny,NA\n", "n", "line 3: the weight in column 'n' is missing"),
        ("a,n\nx,2\ny,-1\n", "n", "negative"),
        ("n\n2\n", "n", "no columns"),
    ],
)
def test_weight_errors(write, content, weights, message):
    with pytest.raises(DataError, match=rf"t\.csv: .*{message}"):
        read_table(write(content), weights=weights)


def test_missing_cells(write):
    path = write("a,b\nx,1\n\ny,NA\nz,\n")
    with pytest.raises(DataError, match=r"t\.csv: Input contains NaN.*2 in 1 column") as caught:
        read_table(path)
    message = str(caught.value)
    assert "column 'b', line 4" in message
    assert "'NULL'" in message
    assert "missing_values=()" in message
    assert "missing='state', which makes missing a state, since 'b' is" in message
    few = write("a,b\n" + "x,1\n" * 9 + "y,\n", "few.csv")
    with pytest.raises(DataError, match="recommended is missing='available-case', which learn"):
        read_table(few)
    kept = read_table(path, missing_values=())
    assert kept.states[1] == ("", "1", "NA")
    with pytest.raises(DataError, match="column 'a', line 2"):
        read_table(path, missing_values=("x",))
    with pytest.raises(DataError, match=r"line 1; .*header=True"):
        read_table(write("a,\n0,1\n", "index.csv"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("\n \n", "the file is empty"),
        ("a,b\n", r"no rows below the header \('a', 'b'\); .*header=False"),
        ("a,b\n1,2\n1,2,3\n", "line 3 has 3 cells, expected 2"),
        ("a,b\n1,2\n\n1\n", "line 4 has 1 cell, expected 2"),
        ("a,b\n" + "1,2\n" * 5000 + "1\n", "line 5002 has 1 cell, expected 2"),
        (b"a,b\nx,y\nx,\xff\xfe\n", "line 3 is not UTF-8"),
        (b"\xff\xfea\x00,\x00b\x00", "this is text in UTF-16; save it as UTF-8"),
        ('a,b\nx,"y\n' + "z" * 200_000, "check its quotes"),
        (b"\x1f\x8bnot gzip", "damaged"),
        (gzip.compress(b"a,b\n" * 1000, mtime=0)[:-12], "damaged"),
    ],
)
def test_bad_files(write, content, message):
    with pytest.raises(DataError, match=rf"^t\.csv: .*{message}"):
        read_table(write(content))


def test_duplicate_header(write):
    with pytest.raises(DataError, match=r"t\.csv: column names occur more than once: 'a'"):
        read_table(write("a,b,a\n1,2,3\n"), header=True)


def test_no_such_file(tmp_path):
    (tmp_path / "data.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match=r"dota\.csv: there is no such file.*'data.csv'"):
        read_table(tmp_path / "dota.csv")
    with pytest.raises(DataError, match=r"there is no such file in '[^']*'\.$"):
        read_table(tmp_path / "rows.csv")  # like the other in its extension only
    with pytest.raises(DataError, match="no such file"):
        read_table(tmp_path / "nowhere" / "t.csv")
    with pytest.raises(DataError, match="is a directory"):
        read_table(tmp_path)


def test_bad_arguments(write):
    path = write("a\n1\n")
    with pytest.raises(DataError, match="True, False or 'auto'"):
        read_table(path, header="yes")
    with pytest.raises(DataError, match="states must be a mapping"):
        read_table(path, states=[1])
    with pytest.raises(DataError, match="one character"):
        read_table(path, sep=", ")


def test_one_column(write):
    assert read_table(write("a\nx\ny\n")).states == (("x", "y"),)


def test_more_rows_than_a_chunk(write):
    values = np.random.default_rng(0).integers(0, 400, 7001)
    table = read_table(write("a,b\n" + "".join(f"{v},x\n" for v in values)))
    assert table.codes.dtype == np.uint16
    assert table["a"].tolist() == values.tolist()


def test_wide_rows(write):
    rows = np.random.default_rng(0).integers(0, 2, (25, 50_000))
    table = read_table(write("".join(",".join(map(str, row)) + "\n" for row in rows.tolist())))
    assert np.array_equal(np.asarray(table), rows)


def test_continuous_columns_warn(write):
    path = write("a\n" + "".join(f"{i / 7}\n" for i in range(200)))
    with pytest.warns(DataWarning, match="'a' looks continuous"):
        read_table(path)


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8))
def test_text_round_trip(tmp_path, rows):
    table = as_table(rows)
    table.write_csv(tmp_path / "t.csv")
    again = read_table(
        tmp_path / "t.csv", sep=",", header=True, infer_types=False, missing_values=()
    )
    assert list(again) == rows
    assert (again.names, again.states) == (table.names, table.states)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False)),
        min_size=1,
        max_size=8,
    )
)
def test_typed_round_trip(tmp_path, rows):
    as_table(rows).write_csv(tmp_path / "t.csv.gz")
    assert [[type(c) for c in row] for row in read_table(tmp_path / "t.csv.gz")] == [
        [type(c) for c in row] for row in rows
    ]
    assert list(read_table(tmp_path / "t.csv.gz")) == rows


class TestParquet:
    def test_plain_and_categories(self, tmp_path):
        frame = pd.DataFrame(
            {"a": pd.Categorical(["x", "y"], categories=["z", "y", "x"]), "b": [1, 0]}
        )
        frame.to_parquet(tmp_path / "t.parquet")
        table = read_table(tmp_path / "t.parquet")
        assert table.states == (("z", "y", "x"), (0, 1))
        (tmp_path / "t.parquet").rename(tmp_path / "t")
        assert read_table(tmp_path / "t").states == table.states

    def test_weights_and_states(self, tmp_path):
        pq.write_table(pa.table({"a": [0, 1], "w": [0.5, 2.0]}), tmp_path / "t.parquet")
        table = read_table(tmp_path / "t.parquet", weights="w", states={"a": [0, 1, 2]})
        assert table.weights.tolist() == [0.5, 2.0]
        assert table.states == ((0, 1, 2),)

    def test_errors(self, tmp_path):
        pq.write_table(pa.table({"a": [0, None]}), tmp_path / "t.parquet")
        with pytest.raises(DataError, match=r"t\.parquet: Input contains NaN.*row 1"):
            read_table(tmp_path / "t.parquet")
        (tmp_path / "bad.parquet").write_bytes(b"PAR1 and then nothing")
        with pytest.raises(DataError, match=r"bad\.parquet: cannot be read as Parquet"):
            read_table(tmp_path / "bad.parquet")

    def test_other_libraries_than_pyarrow(self, tmp_path, monkeypatch):
        path = tmp_path / "t.parquet"
        pq.write_table(pa.table({"a": ["x", None], "b": [1, 0], "id": [[1], [2]]}), path)
        by_pyarrow = read_table(path, columns=["b", "a"], missing="state")
        for name in ("pyarrow", "pyarrow.parquet"):
            monkeypatch.setitem(sys.modules, name, None)
        by_polars = read_table(path, columns=["b", "a"], missing="state")
        assert by_polars.names == by_pyarrow.names == ("b", "a")
        assert by_polars.to_dict() == by_pyarrow.to_dict()
        assert by_polars.states == by_pyarrow.states == ((0, 1), ("x", "(missing)"))
        with pytest.raises(DataError, match=r"t\.parquet: there is no column 'c' to drop"):
            read_table(path, drop=["c"])
        monkeypatch.setitem(sys.modules, "polars", None)
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(DataError, match=r"pyarrow or polars: pip install 'graftwork\[parq"):
            read_table(path)

    def test_columns_that_are_dropped_are_not_read(self, tmp_path):
        pq.write_table(
            pa.table({"tags": [["a"], ["b", "c"]], "a": [1, 0], "b": [0, 1]}), tmp_path / "t.pq"
        )
        with pytest.raises(DataError, match="tags"):
            read_table(tmp_path / "t.pq")
        assert read_table(tmp_path / "t.pq", drop=["tags"]).names == ("a", "b")
        assert read_table(tmp_path / "t.pq", columns=["b", "a"]).names == ("b", "a")


class TestColumns:
    TEXT = "id,age,sex,n\n1,30,m,2\n2,40,f,3\n"

    def test_some_in_the_order_wanted(self, write):
        table = read_table(write(self.TEXT), columns=["sex", "age"])
        assert table.names == ("sex", "age")
        assert list(table) == [("m", 30), ("f", 40)]
        assert read_table(write(self.TEXT), drop=["id", "n"]).names == ("age", "sex")
        assert read_table(write(self.TEXT), columns=["age", "id"], drop=["id"]).names == ("age",)

    def test_a_function_chooses(self, write):
        table = read_table(write(self.TEXT), columns=lambda names: [n for n in names if n > "k"])
        assert table.names == ("sex", "n")

    def test_the_weights_need_not_be_named(self, write):
        table = read_table(write(self.TEXT), columns=["sex"], weights="n")
        assert (table.names, table.total_weight) == (("sex",), 5.0)
        with pytest.raises(DataError, match="'n' holds the weights, so it cannot be dropped"):
            read_table(write(self.TEXT), drop=["n"], weights="n")

    def test_without_a_header(self, write):
        table = read_table(write("1,2,3\n2,3,4\n"), drop=["x1"])
        assert table.names == ("x0", "x2")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"drop": ["agee"]}, "no column 'agee' to drop; did you mean 'age'. The columns are"),
            ({"columns": ["name"]}, "no column 'name' to read"),
            ({"columns": "age"}, r"columns is one text, 'age'; pass a list of names, \['age'\]"),
            ({"drop": ["id", "age", "sex", "n"]}, "no column is left"),
            ({"drop": ["id", "age", "sex"], "weights": "n"}, "no column is left"),
        ],
    )
    def test_refusals(self, write, options, message):
        with pytest.raises(DataError, match=message):
            read_table(write(self.TEXT), **options)

    def test_what_is_dropped_may_be_anything(self, write):
        """More different cells than a column may have, two columns of one name, gaps."""
        rows = "".join(f"name {i},{i % 2},,{i % 3}\n" for i in range(70_000))
        path = write("id,a,gap,gap\n" + rows)
        with pytest.raises(DataError):
            read_table(path)
        table = read_table(path, drop=["id", "gap"])
        assert (table.names, table.n_rows) == (("a",), 70_000)


def test_repeated_names_above_numbers_are_a_header_and_refused(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("a,a\n1,2\n2,1\n")
    with pytest.raises(DataError, match="'a'"):
        read_table(path)


def test_writing_into_a_folder_that_is_not_there_names_the_folder(tmp_path):
    table = read_table(_small(tmp_path))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        table.write_csv(tmp_path / "nowhere" / "x.csv")


def _small(folder):
    path = folder / "small.csv"
    path.write_text("a,b\nx,1\ny,2\n")
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe_is_read_from_its_first_byte_on(pipe, pack):
    table = read_table(pipe(pack(b"smokes,visits\nno,3\nyes,1\n")))
    assert table.names == ("smokes", "visits")
    assert table.n_rows == 2
