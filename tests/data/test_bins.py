"""Numbers in bins: quantiles, labels that say exactly what is in a bin, new numbers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graftwork.data import align, as_table, read_table
from graftwork.errors import DataError, DataWarning, ParameterError

from doors.data import cuts_of, labels, quantile_cuts


def column(values, bins, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "'a': another whole number", DataWarning)
        return as_table({"a": values}, bins=bins, **options)


def same(a, b):
    return a.states == b.states and np.array_equal(a.codes, b.codes)


numbers = st.one_of(
    st.integers(-1000, 1000),
    st.floats(-1e6, 1e6, allow_nan=False),
    st.sampled_from([0, 1, 2.5, 1e-7, 3e12]),
)


@given(st.lists(numbers, min_size=3, max_size=80), st.integers(2, 9))
@example([0, 1, 2, -5e-324], 3)
def test_labels_say_which_numbers_are_in_a_bin(values, bins):
    table = column(values, bins)
    states = table.states[0]
    if len(set(values)) <= bins:
        assert set(states) == set(values)
        assert table.ordered is None
        return
    assert 2 <= len(states) <= bins
    cuts = cuts_of(states)
    assert labels(cuts) == states
    edges = [-np.inf, *cuts, np.inf]
    for value, code in zip(values, table.codes[0], strict=True):
        assert edges[code] < value <= edges[code + 1]
    assert len(set(table.codes[0].tolist())) == len(states)  # none is empty
    again = align({"a": values}, ("a",), (states,))
    assert np.array_equal(again.codes, table.codes)


def test_bins_hold_about_equally_many_rows():
    values = np.random.default_rng(0).lognormal(10, 2, 20_000)
    table = column(values, 8)
    shares = np.bincount(table.codes[0]) / 20_000
    assert abs(shares - 1 / 8).max() < 0.25 / 8
    assert all(float(f"{cut:.1e}") == cut for cut in cuts_of(table.states[0]))


def test_weights_count_as_repeated_rows():
    values, times = np.arange(30.0), np.arange(1, 31)
    weighted = column(values, 4, weights=times)
    repeated = column(np.repeat(values, times), 4)
    assert weighted.states == repeated.states
    assert weighted.states != column(values, 4).states


def test_rows_of_weight_zero_are_not_there():
    values = [*range(10), 1000]
    assert column(values, 2, weights=[1] * 10 + [0]).states == column(values[:-1], 2).states


def test_equal_values_stay_together():
    assert column([0] * 60 + list(range(40)), 5).states[0][0] == "<= 0"
    assert quantile_cuts(np.arange(3.0), np.array([1.0, 98, 1]), 2) == [0.0]


def test_missing_stays_missing():
    values = [*range(20), None]
    table = column(values, 3, missing="state")
    assert table.states[0][-1] == "(missing)"
    assert table.codes[0, -1] == 3
    assert cuts_of(table.states[0]) is not None
    again = as_table(as_table({"a": values}, missing="state"), bins=3)  # a table read before
    with pytest.raises(DataError, match="missing"):
        column(values, 3)
    assert same(again, table)


def test_bins_are_ordered_also_of_a_table_that_is_ordered():
    frame = pd.DataFrame({
        "mood": pd.Categorical(["lo", "hi"] * 20, ["lo", "hi"], ordered=True),
        "age": np.arange(40) % 20,
    })  # fmt: skip
    table = as_table(as_table(frame), bins=3)
    assert list(table.ordered.scores) == ["mood", "age"]
    assert list(table.ordered.scores["age"].values()) == [0, 1, 2]


def test_other_columns_stay():
    data = {"a": [True, False] * 10, "b": list("xyzw") * 5, "c": [1, 2] * 10, "d": range(20)}
    table = as_table(data, bins={"d": 4})
    assert table.states[:3] == as_table(data).states[:3]
    assert len(table.states[3]) == 4
    assert as_table(data, bins=3, states={"d": range(20)}).states[3] == tuple(range(20))


def test_no_warning_and_no_limit_of_states(tmp_path):
    values = np.random.default_rng(0).normal(size=70_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = column(values, 7)
        path = tmp_path / "t.csv"
        path.write_text("a\n" + "\n".join(map(str, values.tolist())))
        assert same(read_table(path, bins=7), table)
    assert same(as_table(path, bins=7), table)
    assert same(align(path, ("a",), table.states), table)


@pytest.mark.parametrize(
    ("bins", "error", "words"),
    [
        (1, ParameterError, "whole number greater than"),
        (True, ParameterError, "whole number greater than"),
        (2.5, ParameterError, "whole number greater than"),
        ("7", ParameterError, "whole number greater than"),
        ({"a": 1}, ParameterError, "bins of 'a'"),
        ({"aa": 3}, DataError, "did you mean 'a'"),
        ({"b": 3}, DataError, "not a column of numbers: its states are 'x', 'y'"),
    ],
)
def test_refusals(bins, error, words):
    with pytest.raises(error, match=words):
        as_table({"a": range(20), "b": ["x", "y"] * 10}, bins=bins)


def test_declared_states_are_not_binned():
    with pytest.raises(DataError, match="has declared states"):
        column(range(5), {"a": 3}, states={"a": range(5)})


@pytest.mark.parametrize(
    "states",
    [
        ("low", "high"),
        ("<= 1", "> 2"),
        ("<= 1", "(1, 0]", "> 0"),
        ("<= x", "> x"),
        ("<= 1",),
        ("(0, 1]", "(1, 2]"),
        (1, 2),
        ("<= nan", "> nan"),
        (),
    ],
)
def test_other_states_are_no_bins(states):
    assert cuts_of(states) is None


def test_numbers_of_any_type_and_labels_find_their_bin():
    states = (("<= 1", "(1, 2.5]", "> 2.5"),)
    rows = [np.float32(2.5), 1, 7, "(1, 2.5]", np.int8(2)]
    assert align({"a": rows}, ("a",), states).codes.tolist() == [[1, 0, 2, 1, 1]]
    with pytest.raises(DataError, match="not one of its 3 known states"):
        align({"a": ["7"]}, ("a",), states)


def test_row_numbers_are_told_of_before_they_are_hidden_in_bins(tmp_path):
    data = {"id": range(100, 200), "income": np.arange(100) ** 2 * 100, "sex": [0, 1] * 50}
    with pytest.warns(DataWarning, match=r"'id': another whole number.*drop=\['id'\]") as caught:
        as_table(data, bins=4)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_table(data, bins={"id": 4, "income": 4})
