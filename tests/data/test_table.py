"""Table: what goes in comes out, and nothing impossible gets in."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import _safe_indexing

from graftwork.data import Table, as_table, read_table
from graftwork.errors import DataError


@pytest.fixture
def table() -> Table:
    return as_table({"a": [0, 1, 1, 2], "b": ["x", "y", "y", "x"], "c": [True, False, True, True]})


def test_shape(table):
    assert (table.n_rows, table.n_variables, table.shape, len(table)) == (4, 3, (4, 3), 4)
    assert table.columns == table.names == ("a", "b", "c")
    assert table.cards.tolist() == [3, 2, 2]
    assert table.cards.dtype == np.int64
    assert table.total_weight == 4.0


def test_codes_are_small_contiguous_and_read_only(table):
    assert table.codes.dtype == np.uint8
    assert table.codes.flags.c_contiguous
    assert not table.codes.flags.writeable
    assert as_table({"a": range(256)}).codes.dtype == np.uint8
    assert as_table({"a": range(257)}).codes.dtype == np.uint16


def test_the_callers_array_stays_writable():
    codes = np.zeros((1, 2), dtype=np.uint8)
    weights = np.ones(2)
    table = Table(("a",), ((0,),), codes, weights)
    codes[0, 0] = 0
    weights[0] = 5
    assert table.weights.tolist() == [1, 1]


def test_getitem(table):
    assert table["a"].tolist() == [0, 1, 1, 2]
    assert [type(v) for v in table["a"].tolist()] == [int] * 4
    assert table["b"].tolist() == ["x", "y", "y", "x"]
    assert table["c"].tolist() == [True, False, True, True]
    assert table[1] == (1, "y", False)
    assert table[np.int64(-1)] == (2, "x", True)
    assert table[1:3]["a"].tolist() == [1, 1]
    assert table[[3, 0]]["a"].tolist() == [2, 0]
    assert table[np.array([True, False, False, True])]["a"].tolist() == [0, 2]


def test_an_int_that_is_a_name_is_a_column():
    table = as_table({0: ["p", "q"], 1: ["r", "s"]})
    assert table[0].tolist() == ["p", "q"]
    assert table.row(0) == ("p", "r")
    assert table[-1] == ("q", "s")


def test_rows_out_of_range(table):
    with pytest.raises(IndexError, match="row 9 of a table of 4 rows"):
        table[9]
    with pytest.raises(DataError, match="between 0 and 3"):
        table.take_rows([4])


def test_iteration(table):
    assert list(table) == [table.row(i) for i in range(4)]
    long = as_table({"a": np.arange(3000) % 7})
    assert [row[0] for row in long] == (np.arange(3000) % 7).tolist()


def test_array():
    ints = np.array([[1, 5], [2, 6]])
    assert np.array_equal(np.asarray(as_table(ints)), ints)
    assert np.asarray(as_table(ints)).dtype == np.int64
    assert np.asarray(as_table(ints), dtype=float).dtype == np.float64
    assert np.asarray(as_table(ints == 1)).dtype == np.bool_
    mixed = np.asarray(as_table([[1, "a"], [2, "b"]]))
    assert mixed.dtype == object
    assert mixed.tolist() == [[1, "a"], [2, "b"]]
    with pytest.raises(ValueError, match="without a copy"):
        np.array(as_table(ints), copy=False)


def test_index(table):
    assert table.index("b") == 1
    with pytest.raises(DataError, match="no column 'bb'; did you mean 'b'"):
        table.index("bb")
    with pytest.raises(DataError, match="no column 'zebra'; the columns are 'a', 'b', 'c'"):
        table["zebra"]


def test_take_rows(table):
    taken = table.with_weights([1, 2, 3, 4]).take_rows([2, 2, 0])
    assert taken["a"].tolist() == [1, 1, 0]
    assert taken.weights.tolist() == [3, 3, 1]
    assert taken.states == table.states
    assert taken.codes.flags.c_contiguous
    assert table.take_rows(table["c"])["a"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no rows were taken"),
        ([False] * 4, "no rows were taken"),
        ([True], "needs 4 entries"),
        ([0.5], "row numbers or a mask"),
        (["a"], "row numbers or a mask"),
        ([[0, 1]], "row numbers or a mask"),
    ],
)
def test_take_rows_errors(table, rows, message):
    with pytest.raises(DataError, match=message):
        table.take_rows(rows)


def test_scikit_learn_can_take_rows(table):
    assert _safe_indexing(table, np.array([3, 1]))["a"].tolist() == [2, 1]
    assert _safe_indexing(table, [0])["a"].tolist() == [0]


def test_weights(table):
    weighted = table.with_weights([0, 1, 2.5, 0])
    assert weighted.total_weight == 3.5
    assert not weighted.weights.flags.writeable
    assert [c.tolist() for c in weighted.observed()] == [[0, 3.5, 0], [0, 3.5], [1, 2.5]]
    assert [c.tolist() for c in table.observed()] == [[1, 2, 1], [2, 2], [1, 3]]
    assert weighted.with_weights(None).weights is None


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"shape \(2,\), but the table has 4 rows"),
        ([[1], [2], [3], [4]], "one weight per row"),
        ([1, -2, 3, 4], "row 1 is negative"),
        ([1, 2, float("nan"), 4], "row 2 is nan"),
        ([1, 2, float("inf"), 4], "row 2 is inf"),
        ([0, 0, 0, 0], "all weights are zero"),
        (["a", "b", "c", "d"], "must be numbers"),
        (3.0, "one weight per row"),
    ],
)
def test_weight_errors(table, weights, message):
    with pytest.raises(DataError, match=message):
        table.with_weights(weights)


@given(st.integers(2, 50), st.floats(0.01, 0.99), st.integers(0, 5))
def test_split_shares_out_every_row(n, fraction, seed):
    table = as_table({"a": range(n)})
    first, second = table.split(fraction, np.random.default_rng(seed))
    assert sorted(first["a"].tolist() + second["a"].tolist()) == list(range(n))
    assert first.states == second.states == table.states
    again, _ = table.split(fraction, seed)
    assert np.array_equal(again.codes, first.codes)


def test_split_errors(table):
    with pytest.raises(DataError, match="between 0 and 1"):
        table.split(1.0, 0)
    with pytest.raises(DataError, match="one row cannot be split"):
        table.take_rows([0]).split(0.5, 0)


def test_repr(table):
    assert repr(table) == "Table: 4 rows x 3 variables, 2 to 3 states"
    assert repr(as_table([["a"]])) == "Table: 1 row x 1 variable, 1 state each"
    assert repr(table.with_weights([1, 1, 1, 0])).endswith(", total weight 3")


def test_pickle(table):
    for given_table in (table, table.with_weights([1, 2, 3, 4])):
        again = pickle.loads(pickle.dumps(given_table))
        assert again.names == given_table.names
        assert again.states == given_table.states
        assert np.array_equal(again.codes, given_table.codes)
        assert np.array_equal(again.weights, given_table.weights)
        assert not again.codes.flags.writeable


@pytest.mark.parametrize(
    ("names", "states", "codes", "message"),
    [
        (("a",), ((0, 1),), [[2]], "codes must be integers"),
        (("a",), ((0, 1),), [[-1]], "codes must be integers"),
        (("a",), ((0, 1),), [[0.5]], "codes must be integers"),
        (("a",), ((0, 1),), [0], "do not fit together"),
        (("a", "b"), ((0, 1),), [[0]], "do not fit together"),
        (("a", "a"), ((0,), (0,)), [[0], [0]], "more than once"),
        (("a",), ((0,),), np.empty((1, 0), int), "no rows"),
        ((), (), np.empty((0, 3), int), "no columns"),
        (("a",), (tuple(range(65_536)),), [[0]], "65,535"),
    ],
)
def test_impossible_tables(names, states, codes, message):
    with pytest.raises(DataError, match=message):
        Table(names, states, codes)


def test_numpy_scalars_become_python_values():
    table = Table((np.str_("a"),), ((np.int64(0), np.bool_(True)),), [[0, 1]])
    assert [type(s) for s in (*table.names, *table.states[0])] == [str, int, bool]


def test_to_dict(table):
    assert table.to_dict()["b"] == ["x", "y", "y", "x"]


def test_to_pandas(table):
    frame = table.to_pandas()
    assert frame.columns.tolist() == ["a", "b", "c"]
    assert frame["a"].tolist() == [0, 1, 1, 2]
    assert as_table(frame).states == table.states
    odd = as_table([[1, 2]], names=[("p", 1), ("q", 2)]).to_pandas()
    assert odd.columns.tolist() == [("p", 1), ("q", 2)]
    assert odd.columns.nlevels == 1


def test_to_polars(table):
    frame = table.to_polars()
    assert as_table(frame).states == table.states
    mixed = as_table([[1, 10**30], ["a", 2]], names=[0, 1]).to_polars()
    assert mixed.columns == ["0", "1"]
    assert mixed["0"].to_list() == [1, "a"]
    assert mixed["1"].to_list() == [10**30, 2]
    with pytest.raises(DataError, match="two names here are one as text"):
        as_table([[1, 2]], names=[0, "0"]).to_polars()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_that_are_not_installed(table, monkeypatch, library):
    monkeypatch.setitem(__import__("sys").modules, library, None)
    with pytest.raises(ImportError, match=f"pip install {library}"):
        getattr(table, f"to_{library}")()


def test_write_csv(table, tmp_path):
    table.write_csv(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines()[:2] == ["a,b,c", "0,x,True"]
    again = read_table(tmp_path / "t.csv")
    assert (again.names, again.states) == (table.names, table.states)
    assert np.array_equal(again.codes, table.codes)
    table.write_csv(tmp_path / "t.csv.gz")
    packed = (tmp_path / "t.csv.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "t.csv").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.csv", "t.csv.gz"]


def test_write_csv_with_weights(table, tmp_path):
    weighted = table.with_weights([0.1, 1, 2, 1 / 3])
    with pytest.raises(DataError, match="weight_column"):
        weighted.write_csv(tmp_path / "t.csv")
    with pytest.raises(DataError, match="no weights"):
        table.write_csv(tmp_path / "t.csv", weight_column="w")
    with pytest.raises(DataError, match="a column already"):
        weighted.write_csv(tmp_path / "t.csv", weight_column="a")
    weighted.write_csv(tmp_path / "t.csv", weight_column="w")
    again = read_table(tmp_path / "t.csv", weights="w")
    assert again.weights.tolist() == weighted.weights.tolist()
    assert again.names == table.names


def test_a_failed_write_leaves_the_old_file(table, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("old")

    def fail(*args, **kwargs):
        raise RuntimeError("disk")

    monkeypatch.setattr("graftwork.data.export._cell", fail)
    with pytest.raises(RuntimeError, match="disk"):
        table.write_csv(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
