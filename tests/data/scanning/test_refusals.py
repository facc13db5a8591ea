"""scan: what is refused, and that the error says where."""

import gzip
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graftwork as gw
from graftwork.data import as_table
from graftwork.errors import DataError, DataWarning, ParameterError

from doors.data import encode_piece, unite
from support.stored_tables import assert_same, quiet


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def sales(place, middle=None, **options):
    """Scan three Parquet files in row groups; the second one may be another table, or bytes."""
    place.mkdir()
    good = pa.table({"shop": ["x", "y"] * 50, "sold": [1, 2] * 50})
    for name in "abc":
        table = middle if name == "b" and isinstance(middle, pa.Table) else good
        pq.write_table(table, place / f"{name}.parquet", row_group_size=20)
    if callable(middle):
        path = place / "b.parquet"
        path.write_bytes(middle(path.read_bytes(), pq.ParquetFile(path).metadata))
    return gw.scan(place, **options)


def texts(place, *contents, **options):
    """Scan text files."""
    place.mkdir()
    for k, content in enumerate(contents):
        suffix = ".csv.gz" if content[:2] == b"\x1f\x8b" else ".csv"
        (place / f"{k}{suffix}").write_bytes(content)
    return gw.scan(place, **options)


def weighted(*weights):
    return gw.scan([pa.table({"a": [1, 2], "w": weights})], weights="w")


def break_group(content, metadata):
    """Whole but for a row group: the end of the file says that all is well."""
    group = metadata.row_group(2)
    at = group.column(0).dictionary_page_offset or group.column(0).data_page_offset
    return content[:at] + b"\xff" * 24 + content[at + 24 :]


def zipped():
    rows = "".join(f"{k % 7},{k * k % 11}\n" for k in range(200_000))
    content = gzip.compress(("a,b\n" + rows).encode())
    return content[: len(content) // 2]


SHOP = ["x", "y"]
NO_ROWS = pa.table({"shop": pa.array([], pa.string()), "sold": pa.array([], pa.int64())})
IDS = [pa.table({"id": np.arange(50_000) + k * 50_000, "a": [1] * 50_000}) for k in (0, 1)]
#: What is scanned, and what the error says.
REFUSED = {
    "unknown state": (
        lambda p: sales(
            p, pa.table({"shop": ["x"] * 45 + ["w"], "sold": [1] * 46}), states={"shop": SHOP}
        ),
        ["b.parquet, row group 2, row 45", "'w'", "'shop'", "known states ('x', 'y')"],
    ),
    "unknown number of text": (
        lambda p: texts(p, b"a,b\n1,x\n\n2,y\n9,x\n", states={"a": [1, 2]}),
        ["0.csv, line 5", "state 9"],
    ),
    "absent column": (
        lambda p: sales(p, pa.table({"shop": ["x"]})),
        ["b.parquet", "'sold' is missing, but present in", "a.parquet"],
    ),
    "extra columns": (
        lambda p: sales(p, pa.table({"shop": ["x"], "sold": [1], "tax": [1], "vat": [2]})),
        ["b.parquet", "'tax', 'vat' are missing in", "a.parquet"],
    ),
    "texts": (
        lambda p: sales(p, pa.table({"shop": ["x"], "sold": ["1"]})),
        ["b.parquet, row group 0", "'sold' holds texts (string)", "numbers (int64)", "a.parquet"],
    ),
    "bools": (
        lambda p: sales(p, pa.table({"shop": ["x"], "sold": [True]})),
        ["b.parquet", "holds bools"],
    ),
    "another column of text": (
        lambda p: texts(p, b"a,b\n1,2\n", b"a,c\n1,2\n"),
        ["1.csv", "'b' is missing, but present in"],
    ),
    "a cell too few": (
        lambda p: texts(p, b"a,b\n1,2\n", b"a,b\n1,2\n1\n"), ["1.csv", "line 3 has 1 cell"],
    ),
    "no UTF-8": (
        lambda p: texts(p, b"a,b\n1,2\n", b"a,b\n1,2\n\xff,1\n"),
        ["1.csv", "line 3 is not UTF-8"],
    ),
    "no file of text": (lambda p: texts(p, b"a\n1\n", b""), ["1.csv: the file is empty"]),
    "half a gzip file": (
        lambda p: texts(p, zipped()), ["0.csv.gz: the compressed file is damaged"],
    ),
    "half a Parquet file": (
        lambda p: sales(p, lambda content, _: content[: len(content) // 2]),
        ["b.parquet", "cannot be read"],
    ),
    "a row group": (
        lambda p: sales(p, break_group), ["b.parquet, row group 2", "cannot be read"],
    ),
    "no bytes": (lambda p: sales(p, lambda *_: b""), ["b.parquet: the file is empty (0 bytes)"]),
    "no rows": (lambda p: gw.scan(NO_ROWS), ["no rows"]),
    "no batches": (lambda p: gw.scan(iter([])), ["no rows"]),
    "missing cells": (
        lambda p: sales(p, pa.table({"shop": ["x", None, "y"], "sold": [1, 2, None]})),
        ["2 in 2 columns", "column 'shop'", "b.parquet, row group 0, row 1",
         "missing='available-case'"],
    ),
    "missing cells of text": (
        lambda p: texts(p, b"a,b\n1,2\nNA,3\n"), ["0.csv, line 3", "missing_values=()"],
    ),
    "infinity": (
        lambda p: gw.scan([pd.DataFrame({"a": [1.5, 2.5]}), pd.DataFrame({"a": [1.0, np.inf]})]),
        ["batch 1, row 1", "infinity"],
    ),
    "infinity of Arrow": (
        lambda p: gw.scan([pa.table({"a": [1.5, 2.5]}), pa.table({"a": [1.0, -np.inf]})]),
        ["batch 1, row 1", "infinity"],
    ),
    "lists": (lambda p: gw.scan([{"a": [[1], [2]]}]), ["batch 0, row 0", "not hashable"]),
    "lists of Arrow": (
        lambda p: gw.scan(pa.table({"a": [[1], [2]]})), ["row 0", "not hashable"],
    ),
    "negative weight": (lambda p: weighted(1.0, -1.0), ["batch 0, row 1", "negative"]),
    "infinite weight": (lambda p: weighted(1.0, np.inf), ["batch 0, row 1", "inf"]),
    "missing weight": (lambda p: weighted(1, None), ["batch 0, row 1", "missing"]),
    "text as weight": (lambda p: weighted("1", "x"), ["not a number"]),
    "no weight": (lambda p: weighted(0, 0), ["all weights are zero"]),
    "weight in a text file": (
        lambda p: texts(p, b"a,w\nx,1\ny,much\n", weights="w"), ["0.csv, line 3", "'much'"],
    ),
    "too many numbers": (lambda p: gw.scan(IDS), ["'id'", "more than 65,535", "drop=['id']"]),
    "too many texts": (
        lambda p: gw.scan({"id": [str(k) for k in range(70_000)]}), ["'id'", "more than 65,535"],
    ),
    "too many for bins": (
        lambda p: gw.scan(
            [{"x": np.random.default_rng(0).random(70_000)}], memory="1MB", bins={"x": 7}
        ),
        ["'x'", "more than 65,535 distinct numbers"],
    ),
    "another order": (
        lambda p: gw.scan([ordered("lo", "hi"), ordered("hi", "lo")]),
        ["batch 1", "ordered category"],
    ),
    "weights of a Table": (
        lambda p: gw.scan([as_table({"a": [1, 2]}, weights=[1, 2])]), ["without losing them"],
    ),
}  # fmt: skip


def ordered(*categories):
    return pd.DataFrame({"a": pd.Categorical(categories[:1], categories, ordered=True)})


@pytest.mark.parametrize("case", REFUSED)
def test_refused_rows_are_said_where_and_leave_nothing(case, tmp_path, scratch):
    make, words = REFUSED[case]
    with pytest.raises(DataError) as caught:
        make(tmp_path / "rows").store()
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("case", ["absent column", "extra columns", "texts", "bools"])
def test_pieces_that_do_not_fit_are_found_when_they_are_united(case, tmp_path):
    scan = REFUSED[case][0](tmp_path / "rows")
    with pytest.raises(DataError, match=r"b\.parquet"):
        unite([encode_piece(each, scan.options).running for each in scan.pieces()], scan.options)


def test_files_that_went_since(tmp_path, scratch):
    scan = sales(tmp_path / "rows", workdir=tmp_path / "kept")
    (tmp_path / "rows" / "b.parquet").unlink()
    with pytest.raises(DataError, match=r"b\.parquet.*No such file"):
        scan.store()
    assert list(scratch.iterdir()) == []


def test_columns_that_may_differ(tmp_path):
    more = pa.table({"sold": pa.array([1.0, 3.0, None]), "tax": [1] * 3, "shop": ["x"] * 3})
    with sales(tmp_path / "a", more, columns=["sold", "shop"]).store(missing="state") as stored:
        assert stored.states == ((1, 2, 3.0, "(missing)"), ("x", "y"))
    fewer = pa.table({"sold": pa.nulls(1), "shop": pa.array(["x"]).dictionary_encode()})
    with sales(tmp_path / "b", fewer).store(missing="state") as stored:
        assert stored.states == (("x", "y"), (1, 2, "(missing)"))
    with sales(tmp_path / "c", pa.table({"shop": ["w"]}), drop=["sold"]).store() as stored:
        assert stored.states == (("w", "x", "y"),)
    with sales(tmp_path / "d", NO_ROWS, states={"shop": ["y", "x", "v"]}).store() as stored:
        assert stored.n_rows == 200
        assert stored.states[0] == ("y", "x", "v")
    with texts(tmp_path / "e", b"a,b\n1,2\n", b"a,b\n").store() as stored:
        assert stored.n_rows == 1
    with gw.scan([ordered("lo", "hi"), ordered("lo", "hi", "top")]).store() as stored:
        assert stored.states == (("lo", "hi", "top"),)


def test_rows_of_weight_zero_tell_states_and_may_be_a_part():
    both = [pa.table({"a": [1, 2], "w": [0, 0]}), pa.table({"a": [3, 3], "w": [1, 2]})]
    with gw.scan(both, weights="w", part_rows=2).store() as stored:
        assert_same(stored, as_table({"a": [1, 2, 3, 3]}, weights=[0, 0, 1, 2]))
        assert stored.part(0).total_weight == 0


def test_many_numbers_may_be_cut_into_bins():
    with gw.scan(IDS, bins={"id": 5}).store() as stored:
        assert_same(stored, as_table(pa.concat_tables(IDS), bins={"id": 5}))
    cells = {"x": np.random.default_rng(0).random(70_000)}
    edges = {"x": ["<= 0.25", "(0.25, 0.5]", "> 0.5"]}
    with gw.scan([cells], memory="1MB").store(states=edges) as stored:
        assert_same(stored, as_table(cells, states=edges))


def test_columns_that_are_warned_of():
    rng = np.random.default_rng(0)
    data = {"id": [f"p{k}" for k in range(100)], "x": rng.random(100).round(4), "k": range(100)}
    with pytest.warns(DataWarning, match="Columns 'id', 'k' have a value of their own"):
        gw.scan(data).store().close()
    frame = pd.DataFrame({"x": rng.random(300)})
    with pytest.warns(DataWarning, match="'x' looks continuous"):
        gw.scan(frame).store().close()
    with pytest.warns(DataWarning, match="row numbers"):
        gw.scan({"k": range(100)}).store(bins=5).close()
    stored = quiet(lambda: gw.scan({"k": range(100), "x": [-1.0, 2.0] * 50}).store(bins=5))
    assert_same(stored, quiet(lambda: as_table({"k": range(100), "x": [-1.0, 2.0] * 50}, bins=5)))


def test_a_state_called_missing():
    data = {"a": ["x", "(missing)", "y"], "b": [1, None, 2]}
    with gw.scan(data).store(missing="state") as stored:
        assert stored.states == (("x", "y", "(missing)"), (1, 2, "(missing)"))
    with pytest.raises(DataError, match="is a state, but other cells"):
        gw.scan({"a": ["(missing)", None]}).store(missing="state")
    states = {"a": ["(missing)", "x", "y"]}
    with gw.scan(data).store(states=states, missing="state") as stored:
        assert stored.states[0] == ("x", "y", "(missing)")
        assert stored.state_counts[0].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"memory": "much"}, ParameterError, "memory is 'much'"),
        ({"memory": 5}, ParameterError, "1MB or more"),
        ({"memory": True}, ParameterError, "memory is True"),
        ({"part_rows": 0}, ParameterError, "part_rows is 0"),
        ({"columns": "shop"}, DataError, "columns is a single string"),
        ({"columns": ["shoop"]}, DataError, "did you mean 'shop'"),
        ({"drop": ["id"]}, DataError, "no column 'id' to drop"),
        ({"drop": ["shop", "sold"]}, DataError, "no column is left"),
        ({"columns": ["shop"], "weights": "shop"}, DataError, "no column is left"),
        ({"states": [1]}, DataError, "states must be a mapping"),
        ({"states": {"shp": ["x"]}}, DataError, "states names 'shp'"),
        ({"states": {"shop": "x"}}, DataError, "one text"),
        ({"bins": 1}, ParameterError, "bins"),
        ({"bins": {"age": 3}}, DataError, "bins names 'age'"),
        ({"weights": [1, 2]}, DataError, "name of a column"),
        ({"weights": "v"}, DataError, "weights names the column 'v'"),
        ({"sep": ",,"}, DataError, "sep"),
        ({"header": "yes"}, DataError, "header"),
        ({"missing_values": {"x": ["9"]}}, DataError, "missing_values names"),
    ],
)
def test_arguments(options, error, words, tmp_path):
    with pytest.raises(error, match=words):
        sales(tmp_path / "rows", **options)


def test_arguments_of_store(tmp_path):
    scan = sales(tmp_path / "rows")
    with pytest.raises(DataError, match="available-case"):
        scan.store(missing="available-case")
    with pytest.raises(DataError, match="states names 'x'"):
        scan.store(states={"x": [1]})
    with pytest.raises(DataError, match="weights names"):
        scan.store(weights="w")
    with scan.store(weights="sold", states={"shop": ["y", "x"]}) as stored:
        assert stored.names == ("shop",)
        assert stored.states == (("y", "x"),)
        assert stored.total_weight == 450


def test_sources_that_are_none(tmp_path):
    (tmp_path / "notes.md").write_text("x")
    (tmp_path / "sub").mkdir()
    for source, words in [
        (tmp_path / "no.csv", "no such file"),
        (f"{tmp_path}/*.parquet", "no file matches"),
        (tmp_path, "has no Parquet, Arrow, CSV or TSV files, but 'notes.md'"),
        (tmp_path / "sub", "it is empty"),
        (3, "a int cannot be scanned"),
        (None, "cannot be scanned"),
    ]:
        with pytest.raises(DataError, match=words.replace("*", r"\*")):
            gw.scan(source)
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(DataError, match=r"gw\.read_table"):
        gw.scan(tmp_path / "t.xlsx")


def test_folders_of_different_files(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    (tmp_path / "README.md").write_text("x")
    with gw.scan(tmp_path).store() as stored:
        assert stored.notes == ("Skipped, as the file names are not those of tables: 'README.md'.",)
    (tmp_path / "b.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match="different formats"):
        gw.scan(tmp_path)


def test_without_pyarrow():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import graftwork as gw\n"
        "try: gw.scan({'a': [1]})\n"
        "except gw.DataError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'graftwork[parquet]'" in done.stdout
