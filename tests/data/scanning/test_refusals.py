"""scan: what is refused, and that the error says where."""

import subprocess
import sys

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
    import tempfile

    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "sales"
    place.mkdir()
    for name in "abc":
        table = pa.table({"shop": ["x", "y"] * 50, "sold": [1, 2] * 50})
        pq.write_table(table, place / f"{name}.parquet", row_group_size=20)
    return place


def refused(scan, *words, scratch=None, **options):
    with pytest.raises(DataError) as caught:
        scan.store(**options)
    text = str(caught.value)
    for word in words:
        assert word in text, text
    assert "\n" not in text
    if scratch is not None:
        assert list(scratch.iterdir()) == []
    return text


def test_unknown_states(folder, scratch):
    pq.write_table(
        pa.table({"shop": ["x"] * 45 + ["w"], "sold": [1] * 46}),
        folder / "b.parquet",
        row_group_size=20,
    )
    text = refused(
        gw.scan(folder, states={"shop": ["x", "y"]}),
        "b.parquet, row group 2, row 45",
        "'w'",
        "'shop'",
        scratch=scratch,
    )
    assert "known states ('x', 'y')" in text
    with gw.scan(folder, states={"shop": ["y", "x", "w", "v"]}).store() as stored:
        assert stored.states[0] == ("y", "x", "w", "v")


def test_unknown_states_of_text(tmp_path, scratch):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,x\n\n2,y\n9,x\n")
    refused(gw.scan(path, states={"a": [1, 2]}), "t.csv, line 5", "state 9", scratch=scratch)
    refused(gw.scan(path, states={"b": ["x"]}), "t.csv, line 4", "state 'y'", scratch=scratch)


DRIFT = {
    "absent": (
        pa.table({"shop": ["x"]}),
        ["b.parquet", "'sold' is missing, but present in", "a.parquet"],
    ),
    "extra": (
        pa.table({"shop": ["x"], "sold": [1], "tax": [1], "vat": [2]}),
        ["b.parquet", "'tax', 'vat' are missing in", "a.parquet"],
    ),
    "texts": (
        pa.table({"shop": ["x"], "sold": ["1"]}),
        ["b.parquet, row group 0", "'sold' holds texts (string)", "numbers (int64)", "a.parquet"],
    ),
    "bools": (pa.table({"shop": ["x"], "sold": [True]}), ["b.parquet", "holds bools"]),
    "numbers": (pa.table({"shop": [1], "sold": [1]}), ["b.parquet", "'shop' holds numbers"]),
}


@pytest.mark.parametrize("kind", DRIFT)
def test_columns_that_differ_between_files(kind, folder, scratch):
    table, words = DRIFT[kind]
    pq.write_table(table, folder / "b.parquet")
    refused(gw.scan(folder), *words, scratch=scratch)
    scan = gw.scan(folder)

    def encoded():
        return [encode_piece(piece, scan.options).running for piece in scan.pieces()]

    with pytest.raises(DataError) as caught:
        unite(encoded(), scan.options)
    assert "b.parquet" in str(caught.value)
    if kind == "extra":
        with gw.scan(folder, columns=["sold", "shop"]).store() as stored:
            assert stored.n_rows == 201
    if kind in ("absent", "texts", "bools"):
        with gw.scan(folder, drop=["sold"]).store() as stored:
            assert stored.names == ("shop",)


def test_columns_in_another_order_and_numbers_of_other_types_are_the_same(folder):
    table = pa.table({"sold": pa.array([1.0, 3.0, None]), "shop": pa.array(["x"] * 3)})
    pq.write_table(table, folder / "b.parquet")
    empty = pa.table({"sold": pa.nulls(1), "shop": pa.array(["x"]).dictionary_encode()})
    pq.write_table(empty, folder / "d.parquet")
    with gw.scan(folder).store(missing="state") as stored:
        assert stored.states == (("x", "y"), (1, 2, 3.0, "(missing)"))


def test_columns_that_differ_between_text_files(tmp_path, scratch):
    place = tmp_path / "t"
    place.mkdir()
    (place / "a.csv").write_text("a,b\n1,2\n")
    (place / "b.csv").write_text("a,c\n1,2\n")
    refused(gw.scan(place), "b.csv", "'b' is missing, but present in", scratch=scratch)
    (place / "b.csv").write_text("a,b\n1,2\n1\n")
    refused(gw.scan(place), "b.csv", "line 3 has 1 cell", scratch=scratch)
    (place / "b.csv").write_bytes(b"a,b\n1,2\n\xff,1\n")
    refused(gw.scan(place), "b.csv", "line 3 is not UTF-8", scratch=scratch)
    (place / "b.csv").write_text("")
    with pytest.raises(DataError, match=r"b\.csv: the file is empty"):
        gw.scan(place)
    (place / "b.csv").write_text("a,b\n")
    with gw.scan(place).store() as stored:
        assert stored.n_rows == 1


def test_a_damaged_gzip_file(tmp_path, scratch):
    import gzip

    path = tmp_path / "t.csv.gz"
    rows = "".join(f"{k % 7},{k * k % 11}\n" for k in range(200_000))
    content = gzip.compress(("a,b\n" + rows).encode())
    path.write_bytes(content[: len(content) // 2])
    refused(gw.scan(path), "t.csv.gz: the compressed file is damaged", scratch=scratch)


def test_a_broken_file_in_the_middle(folder, scratch):
    path = folder / "b.parquet"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    refused(gw.scan(folder), "b.parquet", "cannot be read", scratch=scratch)
    # whole but for a row group: the end of the file says that all is well
    file = pq.ParquetFile(folder / "a.parquet")
    group = file.metadata.row_group(2)
    at = group.column(0).dictionary_page_offset or group.column(0).data_page_offset
    damaged = bytearray(content)
    damaged[at : at + 24] = b"\xff" * 24
    path.write_bytes(damaged)
    refused(gw.scan(folder), "b.parquet, row group 2", "cannot be read", scratch=scratch)


def test_empty_files(folder, scratch):
    (folder / "b.parquet").write_bytes(b"")
    with pytest.raises(DataError, match=r"b\.parquet: the file is empty \(0 bytes\)"):
        gw.scan(folder)
    # a table without rows is no harm among others
    none = pa.table({"shop": pa.array([], pa.string()), "sold": pa.array([], pa.int64())})
    pq.write_table(none, folder / "b.parquet")
    with gw.scan(folder).store() as stored:
        assert stored.n_rows == 200
    refused(gw.scan(folder / "b.parquet"), "no rows", scratch=scratch)
    refused(gw.scan(none), "no rows", scratch=scratch)
    refused(gw.scan(iter([])), "no rows", scratch=scratch)
    refused(gw.scan([]), "no rows", scratch=scratch)


def test_missing_cells(folder, scratch):
    table = pa.table({"shop": ["x", None, "y"], "sold": [1, 2, None]})
    pq.write_table(table, folder / "b.parquet")
    refused(
        gw.scan(folder),
        "2 in 2 columns",
        "column 'shop'",
        "b.parquet, row group 0, row 1",
        "missing='available-case'",
        scratch=scratch,
    )


def test_files_that_went_since(folder, scratch, tmp_path):
    scan = gw.scan(folder, workdir=tmp_path / "kept")
    (folder / "b.parquet").unlink()
    refused(scan, "b.parquet", "No such file", scratch=scratch)


def test_missing_cells_of_text(tmp_path, scratch):
    (tmp_path / "t.csv").write_text("a,b\n1,2\nNA,3\n")
    text = refused(gw.scan(tmp_path / "t.csv"), "t.csv, line 3", "missing_values=()")
    assert "header=True" not in text
    table = gw.read_table(tmp_path / "t.csv", missing_values=())
    with gw.scan(tmp_path / "t.csv", missing_values=()).store() as stored:
        assert_same(stored, table)


def test_infinite_and_unhashable_cells(scratch):
    good = pd.DataFrame({"a": [1.5, 2.5]})
    for bad in (pd.DataFrame({"a": [1.0, np.inf]}), pa.table({"a": [1.0, -np.inf]})):
        refused(gw.scan([good, bad]), "batch 1, row 1", "infinity", scratch=scratch)
    refused(gw.scan([{"a": [[1], [2]]}]), "batch 0, row 0", "not hashable", scratch=scratch)
    refused(gw.scan(pa.table({"a": [[1], [2]]})), "row 0", "not hashable", scratch=scratch)


def test_weights(scratch):
    def table(*weights):
        return pa.table({"a": [1, 2], "w": weights})

    refused(gw.scan([table(1.0, -1.0)], weights="w"), "batch 0, row 1", "negative", scratch=scratch)
    refused(gw.scan([table(1.0, np.inf)], weights="w"), "batch 0, row 1", "inf", scratch=scratch)
    refused(gw.scan([table(1, None)], weights="w"), "batch 0, row 1", "missing", scratch=scratch)
    refused(gw.scan([table("1", "x")], weights="w"), "not a number", scratch=scratch)
    refused(gw.scan([table(0, 0)], weights="w"), "all weights are zero", scratch=scratch)
    with pytest.raises(DataError, match="weights names the column 'v'"):
        gw.scan(table(1, 2), weights="v")
    # rows of weight zero still tell states, and a part of such rows is a part
    both = [table(0, 0), pa.table({"a": [3, 3], "w": [1, 2]})]
    with gw.scan(both, weights="w", part_rows=2).store() as stored:
        assert_same(stored, as_table({"a": [1, 2, 3, 3]}, weights=[0, 0, 1, 2]))
        assert stored.part(0).total_weight == 0


def test_tables_that_would_lose_something():
    table = as_table({"a": [1, 2]}, weights=[1, 2])
    for source in (table, [table], iter([table])):
        with pytest.raises(DataError, match="without losing them"):
            gw.scan(source).store()


def test_weights_of_text(tmp_path, scratch):
    path = tmp_path / "t.csv"
    path.write_text("a,w\nx,1\ny,2.5\n")
    with gw.scan(path, weights="w").store() as stored:
        assert_same(stored, gw.read_table(path, weights="w"))
    path.write_text("a,w\nx,1\ny,much\n")
    refused(gw.scan(path, weights="w"), "t.csv, line 3", "'much'", scratch=scratch)


def test_too_many_states(scratch):
    batches = [pa.table({"id": np.arange(50_000) + k * 50_000, "a": [1] * 50_000}) for k in (0, 1)]
    refused(gw.scan(batches), "'id'", "more than 65,535", "drop=['id']", scratch=scratch)
    texts = {"id": [str(k) for k in range(70_000)]}
    refused(gw.scan(texts), "'id'", "more than 65,535", scratch=scratch)
    with gw.scan(batches, bins={"id": 5}).store() as stored:
        assert_same(stored, as_table(pa.concat_tables(batches), bins={"id": 5}))
    many = gw.scan([{"x": np.random.default_rng(0).random(70_000)}], memory="1MB")
    refused(many, "'x'", "more than 65,535 distinct numbers", bins=7, scratch=scratch)
    edges = {"x": ["<= 0.25", "(0.25, 0.5]", "> 0.5"]}
    with many.store(states=edges) as stored:
        table = as_table({"x": np.random.default_rng(0).random(70_000)}, states=edges)
        assert_same(stored, table)


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


def test_ordered_categories_that_differ(scratch):
    def frame(categories):
        cells = pd.Categorical(categories[:1], categories, ordered=True)
        return pd.DataFrame({"a": cells})

    with gw.scan([frame(["lo", "hi"]), frame(["lo", "hi", "top"])]).store() as stored:
        assert stored.states == (("lo", "hi", "top"),)
    scan = gw.scan([frame(["lo", "hi"]), frame(["hi", "lo"])])
    refused(scan, "batch 1", "ordered category", scratch=scratch)


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
        ({"sep": ",,"}, DataError, "sep"),
        ({"header": "yes"}, DataError, "header"),
        ({"missing_values": {"x": ["9"]}}, DataError, "missing_values names"),
    ],
)
def test_arguments(options, error, words, folder):
    with pytest.raises(error, match=words):
        gw.scan(folder, **options)


def test_arguments_of_store(folder):
    scan = gw.scan(folder)
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
