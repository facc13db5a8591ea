"""Cost estimates: sizes by hand, odd data, every method."""

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

import graftwork as gw
from graftwork.recipes import RECIPES

from doors.estimators import GOALS, CostEstimate
from doors.recipes import best_choice


def rows(n: int = 200, seed: int = 0) -> np.ndarray:
    """Six columns of three states; the second is mostly the first."""
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 3, (n, 6))
    data[:, 1] = np.where(rng.random(n) < 0.8, data[:, 0], data[:, 1])
    return data


def check(cost: CostEstimate) -> None:
    assert 0 < cost.peak_bytes == sum(cost.memory.values())
    assert f"rows={cost.rows}, variables={cost.variables}, pairs={cost.pairs}" in repr(cost)
    assert cost.summary().startswith("Data\n")


def test_estimates_are_a_public_frozen_value() -> None:
    assert gw.CostEstimate is CostEstimate
    assert "CostEstimate" in dir(gw)
    cost = gw.MarkovNetwork(lam=0.02).estimate(rows())
    with pytest.raises(FrozenInstanceError):
        cost.rows = 3  # type: ignore[misc]


def test_sizes_by_hand() -> None:
    codes = np.array([[0, 1] * 50, [0, 1, 2, 0] * 25, [0] * 100, [0, 0, 1, 1] * 25])
    table = gw.Table(("a", "b", "c", "d"), ((0, 1), (0, 1, 2), (0,), (0, 1)), codes)
    cost = gw.MarkovNetwork(lam=0.01).estimate(table)
    assert (cost.rows, cost.merged_rows, cost.variables, cost.constant) == (100, 4, 4, 1)
    assert cost.states == (1, 3)
    assert cost.pairs == 3  # a-b, a-d, b-d
    entries = 2 * 3 + 2 * 2 + 3 * 2
    assert cost.parameters == entries + 2 + 3 + 1 + 2
    assert cost.edges == 3
    assert cost.memory == {
        "rows": 400 + 400 + 16,  # the table, its copy for counting, and the four merged rows
        "bitsets": (1 + 2 + 0 + 1) * 2 * 8,
        "counts": 8 * entries,
        "tables of a scoring batch": 5 * 8 * entries,
        "solver": 30 * 8 * (entries + 2 + 3 + 1 + 2),
        "conditionals": 8 * 4 * (1 + 2 + 1),
        "tables of the widest variable": 2 * 8 * 3**2,
    }
    check(cost)


SEARCHES = [(goal, criterion) for goal, names in GOALS.items() for criterion in (None, *names)]
NETWORKS = [
    *({"method": method, "lam": 0.02} for method in RECIPES),
    {"method": replace(best_choice(), name="new"), "lam": 0.02},
    *({"penalty": penalty, "lam": 0.02} for penalty in ("l1", "elastic-net", "l2", "none")),
    *({"goal": goal, "criterion": criterion} for goal, criterion in SEARCHES),
]
ODD = [
    [["a", "b"]],
    [["a"], ["b"], ["b"]],
    [["a", 1], ["b", 1], ["a", 1]],
    [["é", "日本"], ["è", "語"]] * 30,
    [[i % 300, i % 2] for i in range(600)],
]


def test_every_method_penalty_goal_and_criterion_has_an_estimate() -> None:
    for options in NETWORKS:
        cost = gw.MarkovNetwork(**options).estimate(rows())
        check(cost)
        method = options.get("method")
        if method:
            assert cost.method == getattr(method, "name", method)
        tested = "goal" in options and options["goal"] == "structure"
        tested = tested and options["criterion"] in (None, "tests")
        held = 2 * 8 * cost.merged_rows * 6 * 2 * 3 if tested else 0
        assert cost.memory.get("tests of edges", 0) == held


def test_odd_data() -> None:
    for data in ODD:
        for options in ({}, {"goal": "prediction"}, {"criterion": "ebic"}):
            check(gw.MarkovNetwork(**options).estimate(data))


def gappy() -> list[list[Any]]:
    """Rows of which every tenth lacks its first cell."""
    data = rows().tolist()
    for row in data[::10]:
        row[0] = None
    return data


@pytest.mark.parametrize("missing", ["state", "drop-rows", "available-case", "impute"])
@pytest.mark.parametrize("lam", [0.02, "auto"])
def test_every_policy_for_missing_cells_has_an_estimate(missing: str, lam: float | str) -> None:
    cost = gw.MarkovNetwork(lam=lam, missing=missing).estimate(gappy())
    check(cost)
    assert cost.rows == (180 if missing == "drop-rows" else 200)
    assert cost.states == (3, 4 if missing == "state" else 3)
    assert (cost.missing, cost.missing_cells, cost.incomplete_rows) == (missing, 20, 20)


def test_columns_without_any_cell_are_refused_as_by_fit() -> None:
    data = [["a", None], ["b", None]] * 5
    net = gw.MarkovNetwork(lam=0.02, missing="impute")
    with pytest.raises(gw.DataError) as of_fit:
        net.fit(data)
    with pytest.raises(gw.DataError) as of_estimate:
        net.estimate(data)
    assert str(of_fit.value) == str(of_estimate.value)


def test_missing_cells_are_estimated_with_what_is_recommended() -> None:
    data = [[1.0, float("nan")], [2.0, 1.0], [1.0, 0.0]] * 30
    with pytest.raises(gw.DataError, match=r"recommended is missing='avail"):
        gw.MarkovNetwork().fit(data)
    cost = gw.MarkovNetwork(lam=0.05).estimate(data)
    assert (cost.missing, cost.missing_cells, cost.incomplete_rows) == ("available-case", 30, 30)
    told = gw.MarkovNetwork(lam=0.05, missing="available-case").estimate(data)
    assert (cost.rows, cost.pairs, cost.parameters) == (told.rows, told.pairs, told.parameters)
    whole = gw.MarkovNetwork(lam=0.05).estimate(data[1::3])
    assert (whole.missing, whole.missing_cells) == ("error", 0)
    needs_rows = gw.MarkovNetwork(lam=0.05, loss="likelihood").estimate(data)
    assert needs_rows.missing == "impute"
    with pytest.raises(gw.DataError, match="2D array"):
        gw.MarkovNetwork().estimate([1, 2])


def test_rows_without_weight_do_not_count() -> None:
    weights = np.repeat([0.0, 1.0], 100)
    cost = gw.MarkovNetwork(lam=0.02).estimate(rows(), sample_weight=weights)
    assert (cost.rows, cost.total_weight) == (100, 100.0)
    check(gw.MarkovNetwork(lam=0.02).estimate(rows(), sample_weight=weights + 0.5))


def test_a_limit_on_edges_bounds_the_network() -> None:
    assert gw.MarkovNetwork(lam=0.001, max_edges=2).estimate(rows()).edges == 2
    assert gw.MarkovNetwork(lam=0.02, max_edges=99).estimate(rows()).edges == 15


def test_prior_knowledge_counts() -> None:
    forbidden = [("x0", "x1"), ("x2", "x3")]
    cost = gw.MarkovNetwork(lam=0.02, knowledge={"forbidden": forbidden}).estimate(rows())
    check(cost)
    assert (cost.pairs, cost.parameters, cost.edges) == (13, 13 * 9 + 18, 13)
    candidates = [("x0", "x1"), ("x4", "x5")]
    net = gw.MarkovNetwork(
        lam=0.02, knowledge={"candidates": candidates, "required": candidates[:1]}
    )
    cost = net.estimate(rows())
    check(cost)
    assert (cost.pairs, cost.edges) == (2, 2)
    with pytest.raises(ValueError, match="both required and forbidden"):
        gw.MarkovNetwork(knowledge={"required": forbidden, "forbidden": forbidden}).estimate(rows())


def test_nothing_is_fitted_and_no_random_number_drawn() -> None:
    state = np.random.RandomState(0)
    net = gw.MarkovNetwork(best_choice(alpha=1.0), lam=0.02, random_state=state)
    before = dict(vars(net))
    net.estimate(rows())
    assert vars(net) == before
    assert state.randint(1000) == np.random.RandomState(0).randint(1000)


def test_ordered_variables_count_one_number_a_pair() -> None:
    rng = np.random.default_rng(0)
    data = {f"q{i}": rng.integers(1, 6, 200) for i in range(4)} | {
        "town": rng.choice(list("xyz"), 200)
    }
    order = ["q0", "q1", "q2", "q3"]
    whole, linear = (gw.MarkovNetwork(ordinal=o).estimate(data) for o in (False, order))
    unaries = 4 * 5 + 3
    assert whole.parameters == whole.entries == unaries + 6 * 25 + 4 * 15
    assert linear.parameters == unaries + 6 * 1 + 4 * 3
    assert linear.entries == whole.entries
    assert linear.likely_parameters == linear.parameters
    assert linear.memory["solver"] == whole.memory["solver"]  # tables are held whole
    words = " ".join(linear.summary().split())
    assert "41 parameters where edges of ordered variables are linear, and 233 if all had" in words
    assert "whole tables" not in whole.summary()
    known = {"forbidden": [("q0", "q1"), ("q0", "town")]}
    fewer = gw.MarkovNetwork(ordinal=order, knowledge=known).estimate(data)
    assert fewer.parameters == linear.parameters - 1 - 3
