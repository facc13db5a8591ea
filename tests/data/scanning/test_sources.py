"""scan: each kind of source gives the states and codes that as_table gives in memory."""

import datetime as dt
import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import graftwork as gw
from graftwork.data import as_table, read_table
from graftwork.errors import DataError

from support.stored_tables import assert_same

ROWS = 501


def columns():
    rng = np.random.default_rng(7)
    return {
        "town": rng.choice(["york", "bath", "ely"], ROWS),
        "visits": rng.integers(-3, 9, ROWS),
        "dose": rng.choice([0.5, 1.0, 2.0], ROWS),
        "old": rng.random(ROWS) < 0.3,
        "day": [dt.date(2024, 1, 1 + int(k)) for k in rng.integers(0, 9, ROWS)],
        "n": rng.integers(1, 5, ROWS) / 2,
    }


FRAME = pd.DataFrame(columns())
ARROW = pa.table({name: pa.array(list(cells)) for name, cells in columns().items()})


def cut(table, *ends):
    starts = (0, *ends)
    stops = (*ends, table.num_rows)
    return [table.slice(a, b - a) for a, b in zip(starts, stops, strict=True)]


def parquet(folder):
    for k, part in enumerate(cut(ARROW, 100, 101, 400)):
        pq.write_table(part, folder / f"{k}.parquet", row_group_size=37)


def nested(folder):
    for k, part in enumerate(cut(ARROW, 100, 400)):
        (folder / "2024" / str(k)).mkdir(parents=True)
        pq.write_table(part, folder / "2024" / str(k) / "x.parquet")
    (folder / "_SUCCESS").write_text("")
    return folder


def ipc(folder, write):
    for k, part in enumerate(cut(ARROW, 100, 400)):
        write(part, folder / f"{k}.arrow")
    return folder


def stream(part, path):
    with pa.ipc.new_stream(str(path), part.schema) as sink:
        sink.write_table(part, max_chunksize=50)


def dataset(folder):
    parquet(folder)
    return pa.dataset.dataset(folder)


def duck(folder):
    duckdb = pytest.importorskip("duckdb")
    parquet(folder)
    return duckdb.sql(f"select * from read_parquet('{folder}/*.parquet')")


def dask(folder):
    frame = pytest.importorskip("dask.dataframe")
    return frame.from_pandas(FRAME, npartitions=3)


SOURCES = {
    "one Parquet file": lambda f: (pq.write_table(ARROW, f / "x.pq"), f / "x.pq")[1],
    "Parquet files by glob": lambda f: (parquet(f), f"{f}/*.parquet")[1],
    "Parquet files of a folder": lambda f: (parquet(f), f)[1],
    "Parquet files as a list": lambda f: (parquet(f), sorted(f.iterdir()))[1],
    "nested folders": nested,
    "Feather": lambda f: ipc(f, pa.feather.write_feather),
    "Arrow stream": lambda f: ipc(f, stream),
    "Arrow table": lambda f: ARROW,
    "Arrow record batch": lambda f: ARROW.combine_chunks().to_batches()[0],
    "Arrow reader": lambda f: ARROW.to_reader(max_chunksize=64),
    "Arrow data set": dataset,
    "polars": lambda f: pl.from_arrow(ARROW),
    "polars lazy": lambda f: pl.from_arrow(ARROW).lazy(),
    "polars lazy, of files": lambda f: (parquet(f), pl.scan_parquet(f"{f}/*.parquet"))[1],
    "pandas": lambda f: FRAME,
    "pandas by Arrow": lambda f: FRAME.convert_dtypes(dtype_backend="pyarrow"),
    "Dask": dask,
    "DuckDB": duck,
    "Table": lambda f: as_table(FRAME),
    "dict": lambda f: columns(),
    "generator of record batches": lambda f: iter(ARROW.to_batches(max_chunksize=33)),
    "list of tables": lambda f: cut(ARROW, 3, 100),
    "list of pandas frames": lambda f: [FRAME[:9], FRAME[9:]],
    "function that gives polars frames": lambda f: lambda: map(pl.from_arrow, cut(ARROW, 5)),
    "tuple of dicts": lambda f: tuple(FRAME[k::1][:1].to_dict("list") for k in range(ROWS)),
}


@pytest.mark.parametrize("part_rows", [None, 64])
@pytest.mark.parametrize("kind", SOURCES)
def test_sources(kind, part_rows, tmp_path):
    with gw.scan(SOURCES[kind](tmp_path), weights="n", part_rows=part_rows).store() as stored:
        table = as_table(ARROW.drop_columns("n"), weights=columns()["n"])
        if "pandas" in kind or kind in ("Dask", "Table", "tuple of dicts"):
            given = SOURCES[kind](tmp_path)
            given = FRAME if isinstance(given, list | tuple) else given
            table = as_table(given).take_columns(FRAME.columns[:-1]).with_weights(columns()["n"])
        assert_same(stored, table)
        if part_rows:
            assert stored.part_rows == (64,) * 7 + (53,)


@pytest.mark.parametrize(
    ("columns", "drop"),
    [(["visits", "town"], None), (None, ["day", "dose", "n"]), (lambda names: names[:2], None)],
)
@pytest.mark.parametrize("kind", SOURCES)
def test_columns_that_are_wanted(kind, columns, drop, tmp_path):
    with gw.scan(SOURCES[kind](tmp_path), columns=columns, drop=drop).store() as stored:
        if callable(columns):
            columns = ["town", "visits"]
        names = columns or [name for name in FRAME.columns if name not in drop]
        assert stored.names == tuple(names)
        assert_same(stored, as_table(FRAME[list(names)]))


def text_files(folder, *, gz=False, sep=",", header=True, suffix="csv"):
    for k, part in enumerate((FRAME[:100], FRAME[100:])):
        text = part.to_csv(index=False, sep=sep, header=header)
        path = folder / f"{k}.{suffix}{'.gz' * gz}"
        path.write_bytes(gzip.compress(text.encode()) if gz else text.encode())
    whole = folder / "whole" / f"whole.{suffix}"
    whole.parent.mkdir()
    whole.write_text(FRAME.to_csv(index=False, sep=sep, header=header))
    return whole


@pytest.mark.parametrize(
    "layout",
    [
        {},
        {"gz": True},
        {"sep": ";"},
        {"sep": "\t", "suffix": "tsv"},
        {"header": False},
    ],
)
def test_text_files(layout, tmp_path):
    whole = text_files(tmp_path, **layout)
    weights = "n" if layout.get("header", True) else "x5"
    table = read_table(whole, weights=weights)
    suffix = layout.get("suffix", "csv")
    with gw.scan(f"{tmp_path}/*.{suffix}*", weights=weights, part_rows=70).store() as stored:
        assert_same(stored, table)


def test_declared_states_of_text_files(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,1\n2,x\n")
    for states in ({"a": ["2", "1", "3"]}, {"a": [3, 2, 1]}, {"a": ["<= 1", "> 1"]}):
        table = read_table(path, states=states)
        with gw.scan(path, states=states).store() as stored:
            assert_same(stored, table)


CATEGORIES = {
    "pandas": pd.DataFrame({"a": pd.Categorical(["x", "z", None], ["z", "y", "x"])}),
    "pandas ordered": pd.DataFrame({"a": pd.Categorical(["x", "z"], ["z", "x"], ordered=True)}),
    "pandas integers": pd.DataFrame({"a": pd.Categorical([3, 1], [3, 2, 1])}),
    "polars Enum": pl.DataFrame({"a": ["x", None]}, schema={"a": pl.Enum(["z", "x"])}),
    "polars Categorical": pl.DataFrame({"a": ["x", "b"]}, schema={"a": pl.Categorical}),
    "Arrow": pa.table({"a": pa.array(["x", "b"]).dictionary_encode()}),
    "Arrow ordered": pa.table(
        {"a": pa.DictionaryArray.from_arrays([1, 0, None], ["u", "v"], ordered=True)}
    ),
}


@pytest.mark.parametrize("kind", CATEGORIES)
def test_categories_declare_states(kind, tmp_path):
    """In memory, in two batches, in a file, and, in polars, before they are there."""
    frame, path = CATEGORIES[kind], tmp_path / "t.parquet"
    table = as_table(frame, missing="state")
    with gw.scan([frame, frame]).store(missing="state") as stored:
        assert stored.states == table.states
    if kind.startswith("polars"):
        frame.write_parquet(path)
    else:
        frame.to_parquet(path) if kind.startswith("pandas") else pq.write_table(frame, path)
    sources = [(frame, table), (path, read_table(path, missing="state"))]
    sources += [(frame.lazy(), table)] if kind.startswith("polars") else []
    for source, wanted in sources:
        with gw.scan(source).store(missing="state") as stored:
            assert_same(stored, wanted)


def test_different_categories_are_united_in_the_order_they_are_met(tmp_path):
    parts = [
        pa.table({"a": pa.DictionaryArray.from_arrays([1, 0], ["u", "v"])}),
        pa.table({"a": pa.DictionaryArray.from_arrays([1, 0], ["z", "u"])}),
    ]
    with gw.scan(parts).store() as stored:
        assert_same(stored, as_table(pa.concat_tables(parts)))
    mixed = [parts[0], pa.table({"a": ["b"]})]
    with gw.scan(mixed).store() as stored:
        assert stored.states == (("b", "u", "v"),)


def test_floats_of_pandas_are_whole_if_all_are():
    parts = [pd.DataFrame({"a": [1.0, np.nan]}), pd.DataFrame({"a": [2, 3]})]
    with gw.scan(parts).store(missing="state") as stored:
        assert_same(stored, as_table(pd.concat(parts), missing="state"))
    parts.append(pd.DataFrame({"a": [1.5]}))
    with gw.scan(parts).store(missing="state") as stored:
        assert_same(stored, as_table(pd.concat(parts), missing="state"))


def test_rows_are_no_batches():
    for rows in ([{"a": 1}, {"a": 2}], [[1, 2], [3, 4]], {"a": 1}):
        with pytest.raises(DataError, match="but got a single row"):
            gw.scan(rows)
    with pytest.raises(DataError, match="but got a single row"):
        gw.scan(iter([{"a": 1}])).store()


def test_iterators_give_rows_once():
    scan = gw.scan(iter([{"a": [1, 2]}]))
    with scan.store() as stored:
        assert stored.n_rows == 2
    with pytest.raises(DataError, match="only once"):
        scan.store()
