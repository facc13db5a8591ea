"""Missing cells as a state, and tables without them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from graftwork.data import Table, align, as_table, read_table
from graftwork.errors import DataError

from doors.data import (
    MISSING_STATE,
    PairCounts,
    complete_rows,
    missing_cells,
    missing_last,
    prepare,
)

GONE = MISSING_STATE
CONTAINERS = {
    "floats": (np.array([[1.0], [np.nan], [3.0]]), (1.0, 3.0)),
    "objects": (np.array([["ä"], [None], ["ж"]], dtype=object), ("ä", "ж")),
    "nan in objects": (np.array([["ä"], [float("nan")], ["ж"]], dtype=object), ("ä", "ж")),
    "rows": ([[1], [None], [3]], (1, 3)),
    "dicts": ([{"a": 1, "b": 0}, {"b": 0}, {"a": 3, "b": 0}], (1, 3)),
    "masked": (np.ma.array([[1], [7], [3]], mask=[[0], [1], [0]]), (1, 3)),
    "masked infinity": (np.ma.masked_invalid([[1.0], [np.inf], [3.0]]), (1.0, 3.0)),
    "times": (np.array([["2020-01-01"], ["NaT"], ["2021-01-01"]], dtype="M8[D]"), None),
    "pandas": (pd.DataFrame({"a": ["x", None, "y"]}), ("x", "y")),
    "pandas ints": (pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")}), (1, 3)),
    "pandas bools": (pd.DataFrame({"a": pd.array([True, None, False], dtype="boolean")}),
                     (False, True)),
    "pandas categories": (pd.DataFrame({"a": pd.Categorical(["x", None, "y"], ["z", "y", "x"])}),
                          ("z", "y", "x")),
    "polars": (pl.DataFrame({"a": ["x", None, "y"]}), ("x", "y")),
    "polars enum": (pl.DataFrame({"a": pl.Series(["x", None, "y"], dtype=pl.Enum(["y", "x"]))}),
                    ("y", "x")),
    "arrow": (pa.table({"a": [1, None, 3]}), (1, 3)),
    "arrow dictionary": (pa.table({"a": pa.array(["x", None, "y"]).dictionary_encode()}),
                         ("x", "y")),
}  # fmt: skip


@pytest.mark.parametrize("container", CONTAINERS)
def test_missing_cells_become_the_last_state(container):
    data, states = CONTAINERS[container]
    table = as_table(data, missing="state")
    if states is not None:
        assert table.states[0] == (*states, GONE)
    assert table.states[0][-1] == GONE
    assert missing_cells(table)[0].tolist() == [False, True, False]
    with pytest.raises(DataError, match="missing cells: 1 in 1 column"):
        as_table(data)


def test_columns_without_missing_cells_get_no_state():
    assert as_table({"a": [1, None], "b": [1, 2]}, missing="state").states[1] == (1, 2)


@pytest.mark.parametrize("states", [None, {"a": ["x", "y"]}])
def test_a_column_of_nothing(states):
    table = as_table({"a": [None, None], "b": [0, 1]}, states=states, missing="state")
    assert table.states[0] == (*(() if states is None else ("x", "y")), GONE)


def test_declared_states_get_one_more():
    table = as_table({"a": [1, None, 0]}, states={"a": [2, 1, 0]}, missing="state")
    assert table.states == ((2, 1, 0, GONE),)
    assert table.codes.tolist() == [[1, 3, 2]]
    own = as_table({"a": [1, None, 0]}, states={"a": [GONE, 1, 0]}, missing="state")
    assert own.codes.tolist() == [[1, 0, 2]]
    assert missing_last(own).states == ((1, 0, GONE),)
    assert missing_last(own).codes.tolist() == [[0, 2, 1]]


def test_the_text_itself_as_a_state_is_refused():
    with pytest.raises(DataError, match=r"'a', row 0: the text '\(missing\)'.*rename"):
        as_table({"a": [GONE, None, "x"]}, missing="state")
    assert as_table({"a": [GONE, "x"]}, missing="state").states == ((GONE, "x"),)
    with pytest.raises(DataError, match="did you mean 'state'"):
        as_table([[1]], missing="stat")


def test_files(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,x\nNA,?\n2,\n")
    table = read_table(path, missing="state")
    assert table.states == ((1, 2, GONE), ("?", "x", GONE))
    table = read_table(path, missing="state", missing_values=["?", "NA"])
    assert table.states == ((1, 2, GONE), ("", "x", GONE))


def test_new_data_find_the_state_where_there_is_one():
    table = align({"a": [None, "x"]}, ["a"], [("x", GONE)])
    assert table.codes.tolist() == [[1, 0]]
    with pytest.raises(
        DataError, match="1 in 1 column, the first in column 'b', row 1; missing is"
    ):
        align({"a": [None, "x"], "b": [0, None]}, ["a", "b"], [("x", GONE), (0, 1)])
    marked = as_table({"a": ["x", None]}, missing="state")
    with pytest.raises(DataError, match="1 in 1 column, the first in column 'a', row 1"):
        align(marked, ["a"], [("x", "y")])
    assert align(marked, ["a"], [("y", GONE, "x")]).codes.tolist() == [[2, 1]]


def test_rows_without_missing_cells():
    table = as_table(
        {"a": [1, None, 2, 1], "b": [0, 0, None, 1]}, missing="state", weights=range(4)
    )
    left = complete_rows(table)
    assert list(left) == [(1, 0), (1, 1)]
    assert left.states == ((1, 2), (0, 1))
    assert left.weights.tolist() == [0, 3]
    with pytest.raises(
        DataError, match=r"every one of the 2 rows.*most are in 'b'.*available-case"
    ):
        complete_rows(as_table({"a": [1, None], "b": [None, None]}, missing="state"))
    with pytest.raises(DataError, match="positive weight"):
        complete_rows(table.with_weights([0, 1, 1, 0]))


def test_samples_refuse_a_column_of_nothing():
    table = as_table({"a": [None, None, 1], "b": [0, 1, 1]}, missing="state", weights=[1, 1, 0])
    with pytest.raises(DataError, match=r"1 column without any observed cell.*: 'a'"):
        prepare(table, missing=True)
    assert prepare(table).cards.tolist() == [1, 2]


def test_a_row_of_nothing_and_unseen_states():
    data = {"a": [None, 1, 0], "b": ["u", None, None], "c": [None, 2, None]}
    table = as_table(data, states={"a": [0, 7, 1]}, missing="state")
    sample = prepare(table, missing=True)
    assert sample.cards.tolist() == [2, 1, 1]
    assert sample.declared.tolist() == [3, 1, 1]
    assert sample.kept[0].tolist() == [0, 2]
    assert sample.codes.tolist() == [[2, 1, 0], [0, 1, 1], [1, 0, 1]]
    assert sample.observed_weight.tolist() == [2, 1, 1]
    assert sample.frequencies.tolist() == [0.5, 0.5, 1, 1]
    assert prepare(table, missing=True, keep_all_states=True).cards.tolist() == [3, 1, 1]


@pytest.mark.parametrize("weights", [None, np.random.default_rng(0).random(90)])
@pytest.mark.parametrize("most", [3, 40])
def test_counts_are_of_rows_that_have_both(weights, most):
    rng = np.random.default_rng(1)
    cards = np.array([most, 3, 2])
    codes = np.stack([rng.integers(0, s + 1, 90) for s in (most, 3, 1)]).astype(np.uint8)
    counts = PairCounts(codes, cards, weights, 1)
    each = np.ones(90) if weights is None else weights
    assert counts.extended.tolist() == [most + 1, 4, 2]
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    expected = []
    for i, j in pairs:
        table = np.zeros((cards[i] + 1, cards[j] + 1))
        np.add.at(table, (codes[i], codes[j]), each)
        expected.append(table[: cards[i], : cards[j]].ravel())
    for found in (counts.tables(pairs), counts.tables(pairs), counts.compute(pairs)):
        assert np.allclose(found[0], np.concatenate(expected))
    for i in range(3):
        margin = [each[codes[i] == a].sum() for a in range(cards[i])]
        assert np.allclose(counts.margin(i), margin)


def test_a_table_that_needs_nothing_comes_back():
    table = Table(("a",), ((0, 1),), [[0, 1]])
    assert missing_last(table) is table
    assert complete_rows(table) is table
