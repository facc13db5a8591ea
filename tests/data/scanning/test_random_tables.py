"""scan and as_table on random tables: mixed kinds, gaps, categories, cut anywhere."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

import graftwork as gw
from graftwork.data import as_table, read_table

from support.stored_tables import assert_same, quiet

WORDS = st.sampled_from(["a", "b", "yes", "no", "1", "(x)", "true"])
DATES = st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 5))
TIMES = st.datetimes(dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 0, 0, 1))
DECIMALS = st.sampled_from([Decimal("1.50"), Decimal("0.10"), Decimal("-3.00")])
FLOATS = st.sampled_from([0.0, -0.0, 1.0, 2.5, -1.0, float("nan")])
#: What is in columns that no library has a type for.
CELLS = {
    "object": st.one_of(
        WORDS, st.integers(-3, 3), st.booleans(), st.none(), st.sampled_from([0.0, 1.0, 2.5])
    ),
    "odd object": st.one_of(
        st.sampled_from([2**70, -1, b"b", b"a", (1, 2), (0, 5), frozenset("ab"), frozenset("c")]),
        DATES, TIMES, DECIMALS,
    ),
    "category": st.sampled_from(["lo", "mid", "hi"]),
}  # fmt: skip
#: Cells of the types of Arrow that pandas has as well, and of others.
PLAIN = {
    pa.string(): WORDS,
    pa.int16(): st.integers(-3, 300),
    pa.int64(): st.integers(-(2**40), 2**40),
    pa.float64(): FLOATS,
    pa.bool_(): st.booleans(),
    pa.date32(): DATES,
}
TYPES = PLAIN | {
    pa.int8(): st.integers(-3, 3),
    pa.uint64(): st.integers(2**64 - 3, 2**64 - 1),
    pa.float16(): st.sampled_from([np.float16(1.5), np.float16(2.0)]),
    pa.large_string(): WORDS,
    pa.string_view(): WORDS,
    pa.binary(): st.sampled_from([b"x", b"a"]),
    pa.decimal128(5, 2): DECIMALS,
    pa.timestamp("us"): TIMES,
    pa.timestamp("ns"): TIMES,
    pa.time64("us"): st.times(max_value=dt.time(0, 0, 1)),
    pa.duration("us"): st.timedeltas(dt.timedelta(0), dt.timedelta(seconds=1)),
    pa.dictionary(pa.int32(), pa.string()): CELLS["category"],
    pa.null(): st.none(),
}
PANDAS = {str(kind): cell for kind, cell in PLAIN.items()} | CELLS
ARROW = {str(kind): cell for kind, cell in TYPES.items()}
NAMED = {str(kind): kind for kind in TYPES}


@st.composite
def tables(draw, cells_of):
    rows = draw(st.integers(1, 12))
    out = {}
    for j in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(list(cells_of)))
        cell = cells_of[kind]
        if draw(st.booleans()):
            cell = st.one_of(cell, st.none())
        cells = draw(st.lists(cell, min_size=rows, max_size=rows))
        out[f"{j} {kind}"] = cells
    cuts = sorted(draw(st.sets(st.integers(1, rows), max_size=3)))
    return out, cuts, draw(st.integers(1, 7))


def pandas_frame(columns):
    frame = pd.DataFrame(index=range(len(next(iter(columns.values())))))
    for name, cells in columns.items():
        kind = name.split(" ", 1)[1]
        if kind == "category":
            frame[name] = pd.Categorical(cells, ["hi", "lo", "mid"], ordered=True)
        elif kind in ("object", "odd object", "date32[day]"):
            frame[name] = pd.Series(cells, dtype=object)
        else:
            frame[name] = pd.Series(cells)
    return frame


def arrow_table(columns):
    return pa.table(
        {name: pa.array(cells, NAMED[name.split(" ", 1)[1]]) for name, cells in columns.items()}
    )


def pieces(table, cuts, rows):
    starts, stops = (0, *cuts), (*cuts, rows)
    return [table[a:b] for a, b in zip(starts, stops, strict=True) if a < b]


@settings(deadline=None, max_examples=60)
@given(tables(PANDAS))
def test_pandas_frames_in_pieces(made):
    columns, cuts, part_rows = made
    frame = pandas_frame(columns)
    table = quiet(lambda: as_table(frame, missing="state"))
    for source in (frame, pieces(frame, cuts, len(frame))):
        stored = quiet(lambda s=source: gw.scan(s, part_rows=part_rows).store(missing="state"))
        with stored:
            assert_same(stored, table)


@settings(deadline=None, max_examples=60)
@given(tables(ARROW))
def test_arrow_tables_in_pieces_and_files(tmp_path_factory, made):
    columns, cuts, part_rows = made
    table = arrow_table(columns)
    parts = pieces(table, cuts, table.num_rows)
    expected = quiet(lambda: as_table(table, missing="state"))
    stored = quiet(lambda: gw.scan(parts, part_rows=part_rows).store(missing="state"))
    with stored:
        assert_same(stored, expected)
    folder = tmp_path_factory.mktemp("files")
    for k, part in enumerate(parts):
        pq.write_table(part, folder / f"{k}.parquet", row_group_size=part_rows)
    stored = quiet(lambda: gw.scan(folder, part_rows=part_rows).store(missing="state"))
    with stored:
        assert_same(stored, quiet(lambda: as_table(pa.concat_tables(
            [pq.read_table(folder / f"{k}.parquet") for k in range(len(parts))]
        ), missing="state")))  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["1", "02", "2.5", "x", "NA", "true", "-3", "1e3", ".5"]),
            st.sampled_from(["1", "2", "10", ""]),
            st.sampled_from(["true", "false", "True", "nan"]),
        ),
        min_size=1,
        max_size=8,
    ),
    st.integers(1, 7),
    st.sampled_from([{}, {"missing_values": ["x", "true"]}, {"missing_values": {"q": ["1"]}}]),
)
def test_text_files_in_pieces(tmp_path_factory, rows, cut, options):
    folder = tmp_path_factory.mktemp("texts")
    lines = [",".join(row) + "\n" for row in rows]
    (folder / "whole.csv").write_text("p,q,r\n" + "".join(lines))
    for name, part in (("a", lines[:cut]), ("b", lines[cut:])):
        (folder / f"{name}.csv").write_text("p,q,r\n" + "".join(part))
    table = read_table(folder / "whole.csv", missing="state", header=True, **options)
    scan = gw.scan([folder / "a.csv", folder / "b.csv"], header=True, part_rows=3, **options)
    with scan.store(missing="state") as stored:
        assert_same(stored, table)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.floats(0.25, 4)), min_size=10, max_size=40),
    st.integers(2, 6),
    st.booleans(),
)
def test_bins(rows, count, weighted):
    values = [value for value, _ in rows]
    weights = [weight for _, weight in rows] if weighted else None
    table = quiet(lambda: as_table({"v": values}, weights=weights, bins=count))
    data = {"v": values} | ({"w": weights} if weighted else {})
    scan = gw.scan([data], weights="w" if weighted else None, bins=count, part_rows=7)
    with quiet(scan.store) as stored:
        assert_same(stored, table)
