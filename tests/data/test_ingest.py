"""as_table and align: every container, every state, every refusal."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from graftwork.data import Table, align, as_table, read_table
from graftwork.errors import DataError, DataWarning

ROWS = [["no", 3], ["yes", 1], ["no", 3]]
COLUMNS = {"a": ["no", "yes", "no"], "b": [3, 1, 3]}
FRAME = pd.DataFrame(COLUMNS)

CONTAINERS = {
    "table": lambda: as_table(COLUMNS),
    "dict": lambda: COLUMNS,
    "dict of arrays": lambda: {k: np.array(v) for k, v in COLUMNS.items()},
    "dict of pandas series": lambda: {k: FRAME[k] for k in COLUMNS},
    "dict of polars series": lambda: {k: pl.Series(v) for k, v in COLUMNS.items()},
    "dict of arrow arrays": lambda: {k: pa.array(v) for k, v in COLUMNS.items()},
    "dict of indexes": lambda: {k: pd.Index(v) for k, v in COLUMNS.items()},
    "records": lambda: FRAME.to_dict("records"),
    "pandas": lambda: FRAME,
    "pandas object": lambda: FRAME.astype(object),
    "pandas nullable": lambda: FRAME.astype({"a": "string", "b": "Int64"}),
    "pandas arrow": lambda: FRAME.convert_dtypes(dtype_backend="pyarrow"),
    "pandas odd index": lambda: FRAME.set_index(pd.Index([7, 7, 9])),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars lazy": lambda: pl.LazyFrame(COLUMNS),
    "polars categorical": lambda: pl.DataFrame(COLUMNS).cast({"a": pl.Categorical}),
    "arrow table": lambda: pa.table(COLUMNS),
    "arrow batch": lambda: pa.RecordBatch.from_pydict(COLUMNS),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_named_containers(container):
    table = as_table(CONTAINERS[container]())
    assert table.names == ("a", "b")
    assert table.states == (("no", "yes"), (1, 3))
    assert [[type(s) for s in listed] for listed in table.states] == [[str, str], [int, int]]
    assert table.codes.tolist() == [[0, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        tuple(tuple(row) for row in ROWS),
        [np.array(row, dtype=object) for row in ROWS],
        np.array(ROWS, dtype=object),
    ],
)
def test_unnamed_containers(data):
    table = as_table(data)
    assert table.names == ("x0", "x1")
    assert table.states == (("no", "yes"), (1, 3))
    assert table.codes.tolist() == [[0, 1, 0], [1, 0, 1]]
    assert as_table(data, names=["é", 7]).names == ("é", 7)


def test_a_table_comes_back_as_it_is():
    table = as_table(COLUMNS)
    assert as_table(table) is table
    assert as_table(table, weights=[1, 2, 3]).total_weight == 6
    weighted = table.with_weights([1, 2, 3])
    assert as_table(weighted, states={"b": [0, 1, 3]}).weights.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("array", "states"),
    [
        (np.array([[0, 5], [1, 5]]), ((0, 1), (5,))),
        (np.array([[-128, 0], [127, 0]], dtype=np.int8), ((-128, 127), (0,))),
        (np.array([[0, 10**9], [300, -5]]), ((0, 300), (-5, 10**9))),
        (np.array([[0, 2**64 - 1], [1, 2**64 - 2]], dtype=np.uint64), None),
        (np.array([[0, 2**63]], dtype=np.uint64), ((0,), (2**63,))),
        (np.array([[3, 250], [250, 3]], dtype=np.uint8), ((3, 250), (3, 250))),
        (np.array([[3, 700]], dtype=">i4"), ((3,), (700,))),
        (np.array([[True, False], [False, False]]), ((False, True), (False,))),
        (np.array([[1.0, 2.5], [1.0, -1.0]]), ((1.0,), (-1.0, 2.5))),
        (np.array([[0.5]], dtype=np.float16), ((0.5,),)),
        (np.array([[0.5]], dtype=np.longdouble), ((0.5,),)),
        (np.array([["b", "a"], ["a", "a"]]), (("a", "b"), ("a",))),
        (np.array([[b"b"], [b"a"]]), ((b"a", b"b"),)),
        (np.array([["b"], ["a"]], dtype=np.dtypes.StringDType()), (("a", "b"),)),
        (np.array([["2020-01-02"]], dtype="M8[D]"), ((dt.date(2020, 1, 2),),)),
        (np.array([["2020-01-02"]], dtype="M8[ns]"), ((dt.datetime(2020, 1, 2),),)),
        (np.array([[5]], dtype="m8[s]"), ((dt.timedelta(seconds=5),),)),
        (np.array([[1]], dtype="M8[ns]"), ((np.datetime64(1, "ns"),),)),
        (np.ma.masked_array([[1, 2]], mask=False), ((1,), (2,))),
        (np.asfortranarray([[1, 2], [3, 4]]), ((1, 3), (2, 4))),
        (np.array([[1.5, 2], [3, 4]]).view(np.matrix), ((1.5, 3.0), (2.0, 4.0))),
    ],
)
def test_arrays(array, states):
    table = as_table(array)
    if states is not None:
        assert table.states == states
        flat = [s for listed in states for s in listed]
        assert [type(s) for listed in table.states for s in listed] == [type(s) for s in flat]
    kept = [[listed[c] for c in row] for listed, row in zip(table.states, table.codes, strict=True)]
    assert np.array_equal(np.array(kept, dtype=object).T, np.asarray(array, dtype=object)) or (
        array.dtype.kind in "mM"
    )


def test_wide_and_narrow_integer_arrays_agree():
    array = np.random.default_rng(0).integers(-3, 4, (200, 5))
    narrow, wide = as_table(array), as_table(array * 1000)
    assert np.array_equal(narrow.codes, wide.codes)
    assert wide.states == tuple(tuple(1000 * s for s in listed) for listed in narrow.states)


SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.integers(-2, 2),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=3),
    st.binary(max_size=2),
    st.dates(),
    st.tuples(st.integers(), st.text(max_size=1)),
    st.frozensets(st.integers(0, 3)),
)


def same(a, b):
    """Equal, and not a bool for a number."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)


@given(st.lists(SCALARS, min_size=1, max_size=30))
def test_cells_come_back(cells):
    table = as_table({"a": cells})
    assert all(map(same, table["a"].tolist(), cells))
    keys = {(isinstance(c, bool), c) for c in cells}
    assert len(table.states[0]) == len(keys)


@given(st.lists(st.one_of(st.integers(), st.booleans(), st.text(max_size=2)), min_size=1))
def test_types_are_kept_and_row_order_does_not_matter(cells):
    table, turned = as_table({"a": cells}), as_table({"a": cells[::-1]})
    assert [type(c) for c in table["a"].tolist()] == [type(c) for c in cells]
    assert table.states == turned.states
    assert [type(s) for s in table.states[0]] == [type(s) for s in turned.states[0]]


@given(st.lists(st.sampled_from([1, 1.0, True, 0, 0.0, np.int8(1), Decimal(1)]), min_size=1))
def test_equal_numbers_are_one_state_and_bools_another(cells):
    table, turned = as_table({"a": cells}), as_table({"a": cells[::-1]})
    assert all(map(same, table["a"].tolist(), cells))
    assert list(map(type, table.states[0])) == list(map(type, turned.states[0]))
    if any(type(c) in (int, np.int8) and c == 1 for c in cells):
        assert int in {type(s) for s in table.states[0] if s == 1}


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=20), st.permutations("abcd"))
def test_declared_states_keep_their_order(cells, order):
    table = as_table({"a": cells}, states={"a": order})
    assert table.states == (tuple(order),)
    assert table["a"].tolist() == cells


@pytest.mark.parametrize(
    ("cells", "states"),
    [
        ([10, 9, 2], (2, 9, 10)),
        ([2.5, 1, 3], (1, 2.5, 3)),
        (["b", "B", "a"], ("B", "a", "b")),
        ([True, False], (False, True)),
        (["b", 1, True, "a", False], (False, True, 1, "a", "b")),
        ([(1, "b"), (1, "a")], ((1, "a"), (1, "b"))),
        ([("b",), (1,), ("a",)], (("b",), (1,), ("a",))),
        ([frozenset("b"), frozenset("a")], (frozenset("b"), frozenset("a"))),
        ([1j, 2j], (1j, 2j)),
        ([dt.date(2021, 1, 1), dt.date(2020, 1, 1)], (dt.date(2020, 1, 1), dt.date(2021, 1, 1))),
        ([10**30, -(10**30)], (-(10**30), 10**30)),
        ([""], ("",)),
    ],
)
def test_state_order(cells, states):
    assert as_table({"a": cells}).states == (states,)


def test_many_states_and_single_cells():
    assert as_table({"a": range(300)}).cards.tolist() == [300]
    assert as_table({"a": range(65_535)}).codes.dtype == np.uint16
    assert as_table([["only"]]).states == (("only",),)
    with pytest.raises(DataError, match=r"'a' has 65,536 distinct states, more than 65,535"):
        as_table({"a": range(65_536)})


CATEGORIES = {
    "pandas": lambda: pd.DataFrame({"a": pd.Categorical([2, 1], categories=[3, 2, 1])}),
    "pandas ordered": lambda: pd.DataFrame(
        {"a": pd.Categorical([2, 1], categories=[3, 2, 1], ordered=True)}
    ),
    "pandas bare": lambda: {"a": pd.Categorical([2, 1], categories=[3, 2, 1])},
    "pandas index": lambda: {"a": pd.CategoricalIndex([2, 1], categories=[3, 2, 1])},
    "arrow": lambda: pa.table({"a": pa.DictionaryArray.from_arrays([1, 2], [3, 2, 1])}),
    "arrow batch": lambda: pa.RecordBatch.from_pydict(
        {"a": pa.DictionaryArray.from_arrays([1, 2], [3, 2, 1])}
    ),
    "arrow chunks": lambda: pa.table(
        {
            "a": pa.chunked_array(
                [
                    pa.DictionaryArray.from_arrays([1], [3, 2]),
                    pa.DictionaryArray.from_arrays([0], [1]),
                ]
            )
        }
    ),
}


@pytest.mark.parametrize("container", CATEGORIES)
def test_categories_keep_order_type_and_unused_states(container):
    table = as_table(CATEGORIES[container]())
    assert table.states == ((3, 2, 1),)
    assert table["a"].tolist() == [2, 1]
    assert all(type(s) is int for s in table.states[0])


def test_polars_enum_keeps_unused_states():
    frame = pl.DataFrame({"a": ["y", "x"]}, schema={"a": pl.Enum(["z", "y", "x"])})
    assert as_table(frame).states == (("z", "y", "x"),)
    assert as_table({"a": frame["a"]})["a"].tolist() == ["y", "x"]


def test_polars_categorical_does_not_see_other_columns():
    frame = pl.DataFrame({"a": ["y", "x"], "b": ["q", "p"]}).cast(pl.Categorical)
    assert as_table(frame).states == (("x", "y"), ("p", "q"))


@pytest.mark.parametrize("kind", ["boolean", "bool", object])
def test_pandas_bools(kind):
    table = as_table(pd.DataFrame({"a": pd.Series([True, False], dtype=kind)}))
    assert table.states == ((False, True),)
    assert type(table.states[0][0]) is bool


def test_other_frame_types():
    moment = dt.datetime(2020, 1, 1, 12)
    assert as_table(pd.DataFrame({"a": [moment]})).states == ((moment,),)
    assert as_table(pl.DataFrame({"a": [moment], "b": [moment.date()]})).states[1] == (
        moment.date(),
    )
    assert as_table(pa.table({"a": [Decimal("1.5")]})).states == ((Decimal("1.5"),),)
    assert as_table(pa.table({"a": [True, False]})).states == ((False, True),)
    views = pa.table({"a": pa.array(["y", "x"], pa.string_view())})
    assert as_table(views).states == (("x", "y"),)
    large = pa.table({"a": pa.array(["y", "x"], pa.large_string())})
    assert as_table(large).states == (("x", "y"),)
    assert as_table(pl.DataFrame({"a": [True]})).states == ((True,),)
    assert as_table(pl.DataFrame({"a": [1, "x"]}, schema={"a": pl.Object})).states == ((1, "x"),)


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(pd.arrays.SparseArray([1, 0])),
        pd.Series(pd.period_range("2020-01", periods=2, freq="M")),
        pd.Series(pd.interval_range(0, 2)),
        pd.Series(pd.date_range("2020-01-01", periods=2, tz="UTC")),
        pd.Series(pd.to_timedelta([1, 2], unit="s")),
        pd.Series([b"x", b"y"]),
    ],
    ids=lambda series: str(series.dtype),
)
def test_pandas_extension_types(series):
    table = as_table(pd.DataFrame({"a": series}))
    assert table["a"].tolist() == series.tolist()
    assert table.states[0] == tuple(sorted(series.tolist()))


def test_pandas_names_stay_what_they_are():
    table = as_table(pd.DataFrame(np.eye(2, dtype=int)))
    assert table.names == (0, 1)
    assert type(table.names[0]) is int


MISSING = {
    "none": {"a": ["x", "y"], "b": ["x", None]},
    "nan": {"a": [1.0, 2.0], "b": [1.0, float("nan")]},
    "nan among text": {"a": ["x", "y"], "b": ["x", float("nan")]},
    "decimal": {"a": [1, 2], "b": [1, Decimal("nan")]},
    "numpy nan": {"a": [1, 2], "b": [1, np.float32("nan")]},
    "nat": {"a": [1, 2], "b": np.array(["2020", "NaT"], dtype="M8[D]")},
    "float array": np.array([[1.0, 2.0], [1.0, np.nan]]),
    "object array": np.array([[1, 2], [1, None]], dtype=object),
    "masked": np.ma.masked_array([[1, 2], [1, 2]], mask=[[False, False], [False, True]]),
    "rows": [["x", "y"], ["x", None]],
    "records": [{"a": 1, "b": 1}, {"a": 2}],
    "pandas str": pd.DataFrame({"a": ["x", "y"], "b": ["x", None]}),
    "pandas NA": pd.DataFrame({"a": [1, 2], "b": pd.array([1, None], dtype="Int64")}),
    "pandas object NA": pd.DataFrame({"a": [1, 2], "b": pd.Series([1, pd.NA], dtype=object)}),
    "pandas NaT": pd.DataFrame({"a": [1, 2], "b": pd.to_datetime(["2020-01-01", None])}),
    "pandas category": pd.DataFrame({"a": [1, 2], "b": pd.Categorical([1, None])}),
    "polars int": pl.DataFrame({"a": [1, 2], "b": [1, None]}),
    "polars bool": pl.DataFrame({"a": [1, 2], "b": [True, None]}),
    "polars text": pl.DataFrame({"a": [1, 2], "b": ["x", None]}),
    "polars enum": pl.DataFrame({"a": [1, 2], "b": pl.Series(["x", None], dtype=pl.Enum(["x"]))}),
    "polars float": pl.DataFrame({"a": [1, 2], "b": [1.0, None]}),
    "arrow int": pa.table({"a": [1, 2], "b": [1, None]}),
    "arrow text": pa.table({"a": [1, 2], "b": ["x", None]}),
    "arrow dictionary": pa.table({"a": [1, 2], "b": pa.array(["x", None]).dictionary_encode()}),
}  # fmt: skip


def test_whole_numbers_of_pandas_with_gaps_are_those_of_the_file(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,c\n1,1.5,-3\n2,2,0\n,,5\n1,2.5,\n")
    frame = pd.read_csv(path)
    assert [str(dtype) for dtype in frame.dtypes] == ["float64"] * 3
    tables = [read_table(path, missing="state"), as_table(frame, missing="state")]
    assert tables[0].states == tables[1].states
    assert np.array_equal(tables[0].codes, tables[1].codes)
    assert [list(map(str, states)) for states in tables[1].states] == [
        ["1", "2", "(missing)"],
        ["1.5", "2.0", "2.5", "(missing)"],
        ["-3", "0", "5", "(missing)"],
    ]
    whole = as_table(frame.dropna()[["a", "b"]])
    assert [list(map(str, states)) for states in whole.states] == [["1", "2"], ["1.5", "2.0"]]


@pytest.mark.parametrize("cells", [[1e300, np.nan], [np.nan, np.nan], [0.5, 1.0], [2.0**60, 1.0]])
def test_other_floats_of_pandas_stay_floats(cells):
    [states] = as_table(pd.DataFrame({"a": cells}), missing="state").states
    assert all(isinstance(state, float) for state in states if state != "(missing)")


@pytest.mark.parametrize("container", MISSING)
def test_missing_cells(container):
    with pytest.raises(DataError, match=r"Input contains NaN.*1 in 1 column, .*row 1; ") as caught:
        as_table(MISSING[container])
    assert "'b'" in str(caught.value) or "'x1'" in str(caught.value)
    assert str(caught.value).count("'state'") == 1
    assert "recommended is missing='available-case', which" in str(caught.value)


@pytest.mark.parametrize("frame", [pl.DataFrame({"a": [None, None]}), {"a": [None, None]}])
def test_columns_with_nothing_in_them(frame):
    with pytest.raises(DataError, match=r"NaN.*2 in 1 column.*row 0"):
        as_table(frame)


def test_missing_cells_are_counted_before_unknown_ones():
    with pytest.raises(DataError, match="3 in 2 columns, the first in column 'b', row 0"):
        as_table({"a": [1, 2, None], "b": [None, None, 1]}, states={"a": [2, 1]})


@pytest.mark.parametrize(
    "data",
    [
        np.array([[0.0, 1.0], [np.inf, 1.0]]),
        [[1, 2], [float("-inf"), 2]],
        pd.DataFrame({"x0": pd.Categorical([1.0, np.inf])}),
        {"x0": [Decimal(1), Decimal("Infinity")]},
    ],
)
def test_infinity(data):
    with pytest.raises(DataError, match=r"infinity \(inf\) in column 'x0', row 1"):
        as_table(data)


class TestDeclaredStates:
    def test_unused_states_and_order_are_kept(self):
        table = as_table(np.array([[0, 1], [1, 1]]), states={"x1": [2, 1, 0]})
        assert table.states == ((0, 1), (2, 1, 0))
        assert table["x1"].tolist() == [1, 1]

    def test_numbers_match_by_value(self):
        table = as_table({"a": [1.0, 0.0]}, states={"a": [0, 1]})
        assert table.codes.tolist() == [[1, 0]]
        assert type(table.states[0][0]) is int
        assert as_table({"a": [1]}, states={"a": [0.0, 1.0]}).codes.tolist() == [[1]]

    def test_bools_match_zero_and_one_unless_both_are_there(self):
        assert as_table({"a": [True]}, states={"a": [0, 1]}).codes.tolist() == [[1]]
        assert as_table({"a": [0]}, states={"a": [True, False]}).codes.tolist() == [[1]]
        both = as_table({"a": [1, True]}, states={"a": [True, 1]})
        assert both.codes.tolist() == [[1, 0]]

    @pytest.mark.parametrize(
        ("cells", "states", "message"),
        [
            (["a", "bb"], ["a", "b"], r"'c', row 1: the state 'bb' .* 2 known .*'a', 'b'\)"),
            (["yess"], ["yes", "no"], "did you mean 'yes'"),
            (["1"], [0, 1], r"did you mean 1 \(int, not str\)"),
            ([1], ["0", "1"], r"did you mean '1' \(str, not int\)"),
            ([50], range(20), "8, 9 and 10 more"),
            ([2], [True, False], "state 2 is not one of"),
        ],
    )
    def test_unknown_states(self, cells, states, message):
        with pytest.raises(DataError, match=message):
            as_table({"c": cells}, states={"c": states})

    @pytest.mark.parametrize(
        ("states", "message"),
        [
            ({"a": [1, 1]}, "1 is declared twice for 'a'"),
            ({"a": [1, 1.0]}, "declared twice"),
            ({"a": []}, "no states are declared"),
            ({"a": "xy"}, "one text"),
            ({"a": 2}, "'a' are 2; pass a list"),
            ({"a": [1, None]}, "missing value"),
            ({"a": [[1], [2]]}, "not hashable"),
            ({"aa": [1]}, "'aa', which is not a column; did you mean 'a'"),
            ({"zebra": [1]}, r"'zebra', which is not a column\. The columns are 'a'"),
            ([[1]], "states must be a mapping"),
        ],
    )
    def test_bad_declarations(self, states, message):
        with pytest.raises(DataError, match=message):
            as_table({"a": [1]}, states=states)

    def test_states_over_categories(self):
        frame = pd.DataFrame({"a": pd.Categorical(["x"], categories=["x", "unused"])})
        assert as_table(frame, states={"a": ["y", "x"]}).states == (("y", "x"),)


class TestContinuous:
    def warned(self, data, match):
        with pytest.warns(DataWarning, match=match):
            as_table(data)

    def test_broken_floats(self):
        values = np.round(np.random.default_rng(0).normal(size=5000), 2)
        count = len(np.unique(values))
        self.warned({"a": values}, rf"'a' looks continuous: {count:,} distinct.*bins=7")

    def test_whole_floats_that_mostly_differ(self):
        self.warned({"a": np.arange(150.0)}, "looks continuous")

    def test_objects_and_several_columns(self):
        cells = [i / 7 for i in range(200)]
        self.warned({"a": [0] * 200, "b": cells, "c": cells}, r"'b' looks .*\(so do 'c'\)")

    def test_it_points_at_the_caller(self):
        with pytest.warns(DataWarning) as caught:
            as_table({"a": np.arange(150.0)})
        assert caught[0].filename == __file__

    @pytest.mark.parametrize(
        "data",
        [
            {"a": np.arange(100) / 7},
            {"a": np.arange(400.0) % 150},
            {"a": np.arange(1000)},
            {"a": pd.Categorical(np.arange(200) / 7)},
        ],
    )
    def test_quiet(self, data):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            as_table(data)

    def test_quiet_when_declared(self):
        as_table({"a": np.arange(150.0)}, states={"a": range(150)})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "no rows"),
        ({}, "no columns"),
        ({"a": []}, "no rows"),
        ([[]], "no columns"),
        (np.empty((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
        (np.empty((12, 0)), r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required"),
        (pd.DataFrame({"a": []}), "no rows"),
        (pd.DataFrame(index=[1, 2]), "no columns"),
        (pl.DataFrame(), "no columns"),
        (pa.table({"a": pa.array([], pa.int64())}), "no rows"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), "more than once: 'a';"),
        (pa.table([[1], [2]], names=["a", "a"]), "more than once: 'a';"),
        (pd.DataFrame([[1]], columns=[None]), "no name"),
        ([[1, 2], [3]], "row 1 has 1 cells, expected 2"),
        ({"a": [1, 2], "b": [1]}, "'b' has 1 cells, but column 'a' has 2"),
        ([[1], 2], "row 1 is a int, not a list"),
        ([{"a": 1}, [1]], "row 1 is a list, but the first is a dict"),
        ([1, 2, 3], "Expected 2D array, got 1D array instead.*Reshape your data"),
        (["a", "b"], "Expected 2D array.*Reshape your data"),
        (np.array([1, 2]), "Expected 2D array, got 1D array instead.*Reshape your data"),
        (np.array(3), "Expected 2D array, got scalar array.*Reshape your data"),
        (np.zeros((2, 2, 2)), "Expected 2D array, got 3D array.*Reshape your data"),
        (pd.Series([1, 2]), "got 1D array.*to_frame.*Reshape your data"),
        (pl.Series([1, 2]), "got 1D array"),
        (sparse.csr_array(np.eye(2, dtype=complex)), "Complex"),
        (sparse.coo_array(np.ones(3)), "2D array"),
        (np.array([[1j]]), "Complex data not supported"),
        (pd.DataFrame({"a": [1j]}), "Complex data not supported"),
        ({"a": np.array([1j])}, "Complex data not supported"),
        ([[[1]], [[2]]], "'x0', row 0: a list cannot be a state because it is not hashable"),
        ({"a": ["x", {"y": 1}]}, "'a', row 1: a dict cannot"),
        (pl.DataFrame({"a": [[1], [2]]}), "a list cannot be a state"),
        (pa.table({"a": [[1], [2]]}), "a list cannot be a state"),
        ("data.csv", r"data\.csv: there is no such file in '\.'"),
        (__import__("pathlib").Path("data.csv"), r"data\.csv: there is no such file"),
        ("a,b\n1,2\n", r"to read a file, pass its path as text, or use gw\.read_table"),
        (b"data.csv", r"to read a file, pass its path as text, or use gw\.read_table"),
        (None, "NoneType is not a table"),
        ((i for i in range(3)), "generator is not a table"),
        ({1, 2}, "set is not a table"),
        (object(), "object is not a table"),
        (np.array([(1, 2)], dtype=[("a", int), ("b", int)]), "structured arrays"),
        ({"a": "text"}, "'a' must be a list or a 1-D array"),
        ({"a": 3}, "'a' must be a list"),
        ({"a": np.zeros((2, 1))}, "'a' must be a list or a 1-D array"),
    ],
)
def test_refusals(data, message):
    with pytest.raises(DataError, match=message):
        as_table(data)


def test_names_errors():
    array = np.zeros((2, 2), dtype=int)
    for names, message in [
        (["a"], "1 names were given for 2 columns"),
        (["a", "a"], "more than once: 'a'"),
        ("ab", "one text"),
        ([[1], [2]], "must be hashable"),
    ]:
        with pytest.raises(DataError, match=message):
            as_table(array, names=names)
    with pytest.raises(DataError, match="name their columns"):
        as_table(FRAME, names=["a", "b"])


def test_weights():
    table = as_table(FRAME, weights=pd.Series([1, 0, 2]))
    assert table.weights.tolist() == [1, 0, 2]
    assert table.states[0] == ("no", "yes")
    with pytest.raises(DataError, match="3 rows"):
        as_table(FRAME, weights=[1])


def test_objects_with_an_array_inside():
    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1, 2], [3, 4]])

    assert as_table(Wrapped()).states == ((1, 3), (2, 4))


class TestAlign:
    names = ("a", "b")
    states = (("no", "yes"), (1, 2, 3))

    @pytest.mark.parametrize("container", CONTAINERS)
    def test_by_name(self, container):
        table = align(CONTAINERS[container](), self.names, self.states)
        assert (table.names, table.states) == (self.names, self.states)
        assert table.codes.tolist() == [[0, 1, 0], [2, 0, 2]]

    def test_order_and_extra_columns(self):
        data = {"z": [None, 5.5, [1]], "b": [1, 2, 3], "a": ["no"] * 3}
        assert align(data, self.names, self.states)["b"].tolist() == [1, 2, 3]
        assert align(as_table(COLUMNS), ["b"], [(3, 1)]).codes.tolist() == [[0, 1, 0]]

    def test_by_position(self):
        assert align(ROWS, self.names, self.states).names == self.names
        with pytest.raises(DataError, match="X has 1 features, but model is expecting 2 features"):
            align([["no"]], self.names, self.states)
        with pytest.raises(DataError, match="but Ising is expecting 2 features as input"):
            align(np.zeros((1, 3)), self.names, self.states, owner="Ising")

    def test_missing_columns(self):
        with pytest.raises(DataError, match=r"lack 1 of 2 columns: 'b'; did you mean 'bb'.*array"):
            align({"a": ["no"], "bb": [1]}, self.names, self.states)

    def test_numbers_match_by_value_but_text_does_not(self):
        floats = align(np.array([[1.0], [3.0]]), ["b"], [(1, 2, 3)])
        assert floats.codes.tolist() == [[0, 2]]
        assert align([[1]], ["b"], [(1.0, 2.0)]).states == ((1.0, 2.0),)
        assert align(np.array([[True]]), ["b"], [(0, 1)]).codes.tolist() == [[1]]
        assert align(np.array([[1]]), ["b"], [(False, True)]).codes.tolist() == [[1]]
        with pytest.raises(DataError, match=r"'b', row 0: the state '1'.*\(int, not str\)"):
            align([["1"]], ["b"], [(1, 2, 3)])
        with pytest.raises(DataError, match=r"state 1\.5"):
            align([[1.5]], ["b"], [(1, 2, 3)])

    def test_missing_cells(self):
        with pytest.raises(DataError, match="NaN"):
            align(np.array([[np.nan]]), ["b"], [(1, 2, 3)])

    def test_a_table_that_fits_is_not_copied(self):
        table = as_table(COLUMNS, weights=[1, 2, 3])
        fitted = align(table, table.names, table.states)
        assert np.shares_memory(fitted.codes, table.codes)
        assert fitted.weights.tolist() == [1, 2, 3]
        assert align(table, ["b"], [(3, 1)]).weights.tolist() == [1, 2, 3]
        assert align(table, table.names, table.states, weights=[1, 0, 0]).total_weight == 1

    @given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("xyz")), min_size=1))
    def test_round_trip(self, rows):
        table = as_table(rows)
        for data in (rows, table, table.to_dict(), table.to_polars(), np.asarray(table)):
            again = align(data, table.names, table.states)
            assert np.array_equal(again.codes, table.codes)


def test_no_frame_library_is_imported_unasked():
    code = (
        "import sys, numpy as np; from graftwork.data import as_table, align; "
        "t = as_table(np.eye(2, dtype=int)); align([[0, 1]], t.names, t.states); "
        "as_table({'a': ['x']}); "
        "sys.exit(str({'pandas', 'polars', 'pyarrow'} & set(sys.modules) or ''))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == ""


def test_result_type():
    assert isinstance(as_table(ROWS), Table)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, float])
def test_sparse_matrices_are_read_as_dense_ones(make, dtype):
    dense = np.random.default_rng(0).choice([0, 0, 0, 1, 3], size=(30, 7)).astype(dtype)
    dense[:, 3] = 0
    dense[:, 4] = 1
    read, wanted = as_table(make(dense)), as_table(dense)
    assert read.states == wanted.states
    assert [list(map(type, own)) for own in read.states] == [
        list(map(type, own)) for own in wanted.states
    ]
    assert np.array_equal(read.codes, wanted.codes)
    assert as_table(make(dense), names=list("abcdefg")).names == tuple("abcdefg")


def test_cells_of_a_sparse_matrix_that_are_stored_twice_add_up_and_stored_zeros_are_zeros():
    twice = sparse.coo_array((np.array([1, 1, 0]), ([0, 0, 1], [0, 0, 1])), shape=(3, 2))
    assert as_table(twice).states == ((0, 2), (0,))


def test_missing_cells_of_a_sparse_matrix_are_found():
    cells = sparse.csr_array(np.array([[0.0, 1.0], [np.nan, 0.0]]))
    with pytest.raises(DataError, match="missing"):
        as_table(cells)
    assert as_table(cells, missing="state").states == ((0.0, "(missing)"), (0.0, 1.0))
