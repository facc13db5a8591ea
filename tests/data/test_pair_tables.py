"""Counts of pairs: against counting by hand, added over any split, saved, screened."""

import datetime as dt
import itertools
import pickle
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

import graftwork as gw
from graftwork.errors import DataError, TooLargeError

from doors.contingency import pair_tables
from doors.data import MISSING_STATE
from doors.selection import find_levels

CELLS = st.sampled_from(["a", "b", "c", "d"])


def made(n_rows=200, cards=(2, 3, 4, 1, 5), seed=0):
    rng = np.random.default_rng(seed)
    cells = [rng.integers(0, s, n_rows) for s in cards]
    cells[1] = np.where(rng.random(n_rows) < 0.5, cells[0], cells[1])
    return gw.as_table({name: cells[i].tolist() for i, name in enumerate("abcde"[: len(cards)])})


def by_hand(table, first, second):
    """Count a pair row by row."""
    i, j = table.index(first), table.index(second)
    out = np.zeros((len(table.states[i]), len(table.states[j])))
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    for a, b, weight in zip(table.codes[i], table.codes[j], weights, strict=True):
        out[a, b] += weight
    return out


@pytest.mark.parametrize("weights", [None, "whole", "other"])
def test_counts_are_those_of_the_rows(weights):
    table = made()
    rng = np.random.default_rng(1)
    if weights is not None:
        own = rng.integers(0, 5, 200) if weights == "whole" else rng.gamma(1.0, size=200)
        table = table.with_weights(own.astype(float))
    counts = gw.count_pairs(table)
    assert counts.matrix.dtype == (np.int64 if weights is None else np.float64)
    assert counts.weighted == (weights is not None)
    assert (counts.n_rows, counts.total_weight) == (200, pytest.approx(table.total_weight))
    assert (counts.names, counts.states) == (table.names, table.states)
    for first in table.names:
        np.testing.assert_allclose(
            counts.margin(first), table.observed()[table.index(first)], rtol=1e-12
        )
        for second in table.names:
            expected = by_hand(table, first, second)
            np.testing.assert_allclose(counts.table(first, second), expected, rtol=1e-12)
    assert not counts.matrix.flags.writeable


def test_any_container_is_counted(tmp_path):
    table = made()
    table.write_csv(tmp_path / "rows.csv")
    frame = table.to_pandas()
    assert gw.count_pairs(frame) == gw.count_pairs(table)
    assert gw.count_pairs(tmp_path / "rows.csv") == gw.count_pairs(table)
    assert gw.count_pairs(str(tmp_path / "rows.csv")).names == table.names
    one = gw.count_pairs({"a": [0, 1, 1]})
    assert one.matrix.tolist() == [[1, 0], [0, 2]]
    assert repr(one) == "PairTables: 3 rows x 1 variable, 2 states in all"
    heavy = gw.count_pairs({"a": [0, 1]}, weights=[0.5, 2])
    assert repr(heavy).endswith("total weight 2.5")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=3, max_size=30), st.data())
def test_counts_add_over_any_split_of_the_rows(rows, data):
    """Each part finds its own states, and has its columns in an order of its own."""
    cuts = data.draw(st.lists(st.integers(1, len(rows) - 1), max_size=3, unique=True))
    ends = [0, *sorted(cuts), len(rows)]
    names, parts = ["x", "y", "z"], []
    for start, stop in itertools.pairwise(ends):
        order = data.draw(st.permutations(range(3))) if start else range(3)
        columns = {names[j]: [row[j] for row in rows[start:stop]] for j in order}
        parts.append(gw.count_pairs(columns))
    whole = gw.count_pairs(rows, names=names)
    left = reduce(add, parts)
    right = reduce(lambda later, part: part + later, reversed(parts))
    assert left == right == sum(parts) == whole


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS, st.floats(0.01, 9)), min_size=2, max_size=20))
def test_weighted_counts_add(rows):
    cells, weights = [row[:2] for row in rows], [row[2] for row in rows]
    whole = gw.count_pairs(cells, weights=weights)
    parts = [gw.count_pairs([c], weights=[w]) for c, w in zip(cells, weights, strict=True)]
    added = sum(parts)
    assert added.states == whole.states
    np.testing.assert_allclose(added.matrix, whole.matrix, rtol=1e-12)


def test_tables_of_a_list_are_added():
    table = made()
    first, second = table.split(0.4, 0)
    assert gw.count_pairs([first, second]) == gw.count_pairs(table)
    with pytest.raises(DataError, match="several Tables have their own"):
        gw.count_pairs([first, second], weights=np.ones(200))


def test_weights_and_whole_numbers_mix():
    plain = gw.count_pairs({"a": [0, 1], "b": [1, 1]})
    heavy = gw.count_pairs({"a": [0, 1], "b": [1, 1]}, weights=[0.5, 1])
    both = plain + heavy
    assert both.weighted
    assert both.total_weight == 3.5
    assert both.n_rows == 4
    assert both.table("a", "b").tolist() == [[1.5], [2.0]]
    assert (heavy + plain).matrix.tolist() == both.matrix.tolist()


def test_states_are_united_in_natural_order():
    def count(*cells, **options):
        return gw.count_pairs({"a": list(cells)}, **options)

    assert (count(3, 1) + count(2, 10)).states == ((1, 2, 3, 10),)
    whole = count(1.0, 2.5) + count(1)
    assert whole.states == ((1, 2.5),)
    assert type(whole.states[0][0]) is int
    assert (count(True) + count(1)).states == ((True, 1),)
    same = {"states": {"a": ["low", "mid", "high"]}}
    assert (count("low", **same) + count("mid", **same)).states == (("low", "mid", "high"),)
    gaps = count("x", None, missing="state") + count("y")
    assert gaps.states == (("x", "y", MISSING_STATE),)
    assert gaps.margin("a").tolist() == [1, 1, 1]
    days = count(dt.date(2020, 1, 2)) + count(dt.date(2020, 1, 1))
    assert days.states == ((dt.date(2020, 1, 1), dt.date(2020, 1, 2)),)


def test_other_variables_are_not_added():
    first, second = gw.count_pairs({"a": [0], "b": [0]}), gw.count_pairs({"a": [0], "c": [0]})
    with pytest.raises(DataError, match="only the first have 'b', only the second have 'c'"):
        first + second
    with pytest.raises(TypeError):
        first + 1


def test_bins_must_be_the_same():
    ages, others = [*range(60)] * 2, [*range(20, 80)] * 2
    first = gw.count_pairs({"age": ages}, bins=3)
    with pytest.raises(DataError, match="'age' has different bins on each side"):
        first + gw.count_pairs({"age": others}, bins=3)
    with pytest.raises(DataError, match="'age' has different bins on each side"):
        gw.count_pairs({"age": others}) + first
    again = gw.count_pairs({"age": others}, states={"age": first.states[0]})
    both = first + again
    assert both.states == first.states
    assert both.n_rows == 240
    assert both.ordered == first.ordered  # as bins are
    text = gw.count_pairs({"age": [first.states[0][2], first.states[0][0]]})
    assert (text + first).states == first.states


def test_order_is_kept_and_must_agree():
    pd = pytest.importorskip("pandas")

    def count(levels, cells):
        kind = pd.CategoricalDtype(levels, ordered=True)
        return gw.count_pairs(pd.DataFrame({"mood": pd.Series(cells, dtype=kind)}))

    levels = ["low", "mid", "high"]
    both = count(levels, ["low", "high"]) + count(levels, ["mid"])
    assert both.states == (("low", "mid", "high"),)
    assert both.ordered.scores == {"mood": {"low": 0.0, "mid": 1.0, "high": 2.0}}
    with pytest.raises(DataError, match="'mood' is ordered in two ways"):
        both + count(["high", "mid", "low"], ["low"])


def test_missing_cells():
    rows = {"a": ["x", None, "y"], "b": [0, 1, 1]}
    with pytest.raises(DataError, match="missing cells"):
        gw.count_pairs(rows)
    assert gw.count_pairs(rows, missing="state").margin("a").tolist() == [1, 1, 1]
    assert gw.count_pairs(rows, missing="drop-rows").table("a", "b").tolist() == [[1, 0], [0, 1]]
    for policy in ("available-case", "impute"):
        with pytest.raises(DataError, match="counted over the same rows"):
            gw.count_pairs(rows, missing=policy)
    with pytest.raises(DataError, match="did you mean 'state'"):
        gw.count_pairs(rows, missing="stat")


def test_variables_are_taken_and_states_merged():
    table = made()
    counts = gw.count_pairs(table)
    some = counts.take_columns(["e", "a"])
    assert some == gw.count_pairs(table.take_columns(["e", "a"]))
    merged = counts.merge_states("c", {9: [1, 3]})
    column = [9 if cell in (1, 3) else cell for cell in table["c"]]
    expected = gw.count_pairs(table.to_dict() | {"c": column}, states={"c": [0, 9, 2]})
    assert merged == expected
    for groups, told in [
        ({"x": [7]}, "7 is none of its states"),
        ({"x": [0], "y": [0]}, "0 is in two groups"),
        ({2: [0, 1]}, "another one that stays"),
        ({"x": "01"}, "needs a list of states"),
    ]:
        with pytest.raises(DataError, match=told):
            counts.merge_states("c", groups)
    with pytest.raises(DataError, match="no variable 'z'"):
        counts.margin("z")
    with pytest.raises(DataError, match="no variables were selected"):
        counts.take_columns([])


def test_small_counts_are_found_and_not_saved(tmp_path):
    rows = [["a", "x"]] * 9 + [["b", "x"]] * 7 + [["b", "y"]] * 3 + [["a", "y"]] * 20
    counts = gw.count_pairs(rows)
    found = counts.small_cells(5)
    assert found.to_dict("records") == [
        {"first": "x0", "second": "x1", "cells": 1.0, "smallest": 3.0}
    ]
    assert len(counts.small_cells(3)) == 0
    path = tmp_path / "few.gwc"
    with pytest.raises(DataError, match=r"1 counts? .*min_count=5 .* 'x0' with 'x1'"):
        counts.save(path, min_count=5)
    assert not path.exists()
    counts.save(path, min_count=3)
    lone = gw.count_pairs({"a": [0, 0, 1]})
    assert lone.small_cells(2).to_dict("records")[0]["second"] is None
    with pytest.raises(DataError, match="is of 'a'"):
        lone.save(path, min_count=2)


# ---- files -----------------------------------------------------------------------------------


def odd_counts():
    cells = {
        "plain": ["a", "b", "a"],
        7: [1, -(2**70), 2**53 + 1],
        ("a", None): [True, 1, 0],
        "number": [0.1, 2.5, -0.0],
        "day": [dt.date(2020, 2, 29), dt.date.min, dt.date(2020, 2, 29)],
    }
    return gw.count_pairs(cells, states={"plain": ["b", "a", "never"]})


@pytest.mark.parametrize("weights", [None, [0.1, 0.2, 0.3]])
def test_saved_counts_come_back(weights, tmp_path):
    counts = odd_counts()
    if weights is not None:
        counts = gw.count_pairs({"a": ["x", "y", "x"], "b": [1, 1, 2]}, weights=weights)
    path = tmp_path / "counts.gwc"
    counts.save(path, info={"ward": "north"})
    again = gw.PairTables.load(path)
    assert again == counts
    assert [type(s) for own in again.states for s in own] == [
        type(s) for own in counts.states for s in own
    ]
    assert pickle.loads(pickle.dumps(counts)) == counts
    with np.load(path, allow_pickle=False) as archive:
        assert {"margins", "tables"} <= set(archive)


def test_order_is_saved(tmp_path):
    counts = gw.count_pairs({"age": [*range(60)] * 2, "b": [0, 1] * 60}, bins=3)
    counts.save(tmp_path / "binned.gwc")
    again = gw.PairTables.load(tmp_path / "binned.gwc")
    assert again.ordered is not None
    assert again == counts


def test_too_many_states_are_refused_before_counting(monkeypatch):
    monkeypatch.setattr(pair_tables, "MOST_STATES", 10)
    with pytest.raises(TooLargeError, match="column 'e' has 5"):
        gw.count_pairs(made())
    with pytest.raises(TooLargeError, match=r"'id' has 5,000 states.*at most 4,096"):
        gw.count_pairs({"id": [*range(5000)]})


def test_matrices_that_are_no_counts_are_refused():
    def of(matrix, n_rows=2, total=2.0):
        return gw.PairTables(("a", "b"), ((0, 1), (0,)), np.array(matrix), n_rows, total)

    good = [[1, 0, 1], [0, 1, 1], [1, 1, 2]]
    assert of(good).table("a", "b").tolist() == [[1], [1]]
    for bad, told in [
        ([[1, 0], [0, 1]], "3 x 3"),
        ([[1, 0, 1], [0, 1, 1], [1, 0, 2]], "not symmetric"),
        ([[1, 1, 1], [1, 1, 1], [1, 1, 2]], "two states"),
        ([[2, 0, 1], [0, 0, 1], [1, 1, 2]], "add up"),
    ]:
        with pytest.raises(DataError, match=told):
            of(bad)
    with pytest.raises(DataError, match="total weight is not the number of rows"):
        of(good, total=2.5)
    with pytest.raises(DataError, match="distinct names"):
        gw.PairTables(("a", "a"), ((0,), (0,)), np.ones((2, 2), dtype=int), 1, 1.0)


# ---- screening -------------------------------------------------------------------------------


def test_screening_is_the_g_test_of_every_pair():
    table = made()
    found = gw.count_pairs(table).screen().to_dict("records")
    assert len(found) == 10
    p_values = []
    for record in found:
        expected = by_hand(table, record["first"], record["second"])
        if min(expected.shape) == 1:
            assert (record["statistic"], record["df"]) == (0.0, 0.0)
            assert record["p_value"] == record["q_value"] == 1.0
            continue
        test = chi2_contingency(expected, correction=False, lambda_="log-likelihood")
        assert record["statistic"] == pytest.approx(test.statistic, rel=1e-9)
        assert record["df"] == test.dof
        assert record["p_value"] == pytest.approx(test.pvalue, rel=1e-9)
        assert record["information"] == pytest.approx(test.statistic / 400, rel=1e-9)
        p_values.append((record["p_value"], record["q_value"]))
    assert p_values == sorted(p_values)
    assert len(p_values) == 6
    m = len(p_values)
    for k, (_, q) in enumerate(p_values):
        expected = min(
            1.0, *(m * p / (rank + 1) for rank, (p, _) in enumerate(p_values) if rank >= k)
        )
        assert q == pytest.approx(expected, rel=1e-9)
    assert found[0]["first"] == "a"
    assert found[0]["second"] == "b"
    few = gw.count_pairs(table).screen(fdr=0.01)
    assert list(zip(few["first"], few["second"], strict=True)) == [("a", "b")]


def test_screening_without_pairs_is_empty():
    assert len(gw.count_pairs({"a": [0, 1]}).screen()) == 0


def test_lambda_levels_are_those_of_the_rows():
    from graftwork.grafting import NetworkFamily, Problem
    from graftwork.inference import make_engine
    from graftwork.objectives import Likelihood
    from graftwork.penalties import L1, GroupL1

    from doors.data import prepare

    table = made()
    sample = prepare(table)
    for name, penalty in (("group-l1", GroupL1(1.0)), ("l1", L1(1.0))):
        objective = Likelihood(sample, make_engine("auto"))
        expected = find_levels(Problem(objective, penalty, NetworkFamily(sample)))
        found = gw.count_pairs(table).lambda_levels(name)
        assert found.largest == pytest.approx(expected.largest, rel=1e-12)
        assert found.noise == pytest.approx(expected.noise, rel=1e-12)
    counts = gw.count_pairs(table)
    net = gw.MarkovNetwork(loss="likelihood", lam=counts.lambda_levels().largest * 1.0001)
    assert net.fit(counts).model_.n_edges == 0
    net = gw.MarkovNetwork(loss="likelihood", lam=counts.lambda_levels().largest * 0.99)
    assert net.fit(counts).model_.n_edges == 1
