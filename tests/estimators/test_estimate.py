"""Cost estimates: sizes checked by hand, odd data, every method; times only positive and finite."""

import math
from typing import Any

import numpy as np
import pytest

import graftwork as gw
from graftwork.data.compact import prepare
from graftwork.estimators.cost import CostEstimate
from graftwork.estimators.criteria import GOALS, make_criterion
from graftwork.estimators.data_notes import data_notes
from graftwork.penalties import GroupL1
from graftwork.recipes import RECIPES, best_choice
from graftwork.tuning.effort import effort_of_choice, effort_of_structure
from graftwork.tuning.operations import (
    EDGE_ROW,
    PAIR_ROW,
    bytes_of_tests,
    newton_sizes,
    of_edge_tests,
    of_pair_tests,
    star_widths,
)
from graftwork.tuning.proxy import cut, guess_network, take_part
from graftwork.tuning.variances import TILE


def rows(n: int = 200, seed: int = 0) -> np.ndarray:
    """Six columns of three states; the second is mostly the first."""
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 3, (n, 6))
    data[:, 1] = np.where(rng.random(n) < 0.8, data[:, 0], data[:, 1])
    return data


def check(cost: CostEstimate) -> None:
    assert cost.seconds is not None
    assert 0 < cost.seconds < math.inf
    assert 0 < cost.peak_bytes == sum(cost.memory.values())
    assert "Time: About" in cost.words()
    assert "rough" in cost.words()
    assert cost.to_dict()["peak_bytes"] == cost.peak_bytes


def test_estimates_are_a_public_name() -> None:
    assert gw.CostEstimate is CostEstimate
    assert "CostEstimate" in dir(gw)
    assert gw.Bootstrap.__name__ == "Bootstrap"


def test_sizes_by_hand() -> None:
    codes = np.array([[0, 1] * 50, [0, 1, 2, 0] * 25, [0] * 100, [0, 0, 1, 1] * 25])
    table = gw.Table(("a", "b", "c", "d"), ((0, 1), (0, 1, 2), (0,), (0, 1)), codes)
    cost = gw.MarkovNetwork(lam=0.01).estimate(table)
    assert (cost.rows, cost.merged_rows, cost.variables, cost.constant) == (100, 4, 4, 1)
    assert cost.states == (1, 3)
    assert cost.pairs == 3  # a-b, a-d, b-d
    assert cost.entries == 2 * 3 + 2 * 2 + 3 * 2
    assert cost.weights == cost.entries + 2 + 3 + 1 + 2
    # the table, its copy for counting, and the four merged rows, a byte each
    assert cost.memory["codes"] == 400 + 400 + 16
    assert cost.memory["bitsets"] == (1 + 2 + 0 + 1) * 2 * 8
    assert cost.memory["kept counts"] == 8 * 16
    assert cost.memory["conditionals"] == 8 * 4 * (1 + 2 + 1)
    assert cost.memory["tables of a scoring batch"] == 5 * 8 * 16
    assert cost.memory["list of pairs"] == 3  # a byte each
    check(cost)


@pytest.mark.parametrize("method", RECIPES)
def test_every_method_has_an_estimate(method: str) -> None:
    cost = gw.MarkovNetwork(method, lam=0.02).estimate(rows())
    check(cost)
    assert cost.method == method
    assert cost.expected_edges >= 1
    assert cost.memory["list of pairs"] == {"priority": 120, "forced-pruning": 120}.get(
        method, 0 if method in ("best-choice", "first-hit", "chow-liu") else 15
    )


@pytest.mark.parametrize("penalty", ["group-l1", "l1", "elastic-net", "l2", "none"])
def test_every_penalty_has_an_estimate(penalty: str) -> None:
    cost = gw.MarkovNetwork(penalty=penalty, lam=0.02, l2=0.01).estimate(rows())
    check(cost)
    if penalty in ("l2", "none"):
        assert (cost.expected_edges, cost.treewidth) == (15, 5)


@pytest.mark.parametrize("inference", ["auto", "exact", "bp"])
def test_the_likelihood_says_what_inference_needs(inference: str) -> None:
    cost = gw.MarkovNetwork(loss="likelihood", inference=inference, lam=0.02).estimate(rows())
    check(cost)
    assert "conditionals" not in cost.memory
    assert "treewidth 1" in cost.inference_words
    wanted = "does not need that" if inference == "bp" else "learning is exact"
    assert wanted in cost.inference_words


def test_exact_inference_that_does_not_fit_is_said_to_be_refused() -> None:
    from graftwork.inference import JunctionTree

    net = gw.MarkovNetwork(loss="likelihood", inference=JunctionTree(limit_cells=5), lam=0.02)
    cost = net.estimate(rows())
    assert cost.seconds is None
    assert "treewidth" in cost.refusals[0]
    assert cost.words().startswith("Refused: Exact inference")


def test_methods_that_list_all_pairs_are_refused_where_fit_would_refuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("graftwork.estimators.estimate.MOST_LISTED", 14)
    cost = gw.MarkovNetwork("priority", lam=0.02).estimate(rows())
    assert "list of all 15 pairs" in cost.refusals[0]
    monkeypatch.setattr("graftwork.estimators.estimate.MOST_ENTRIES", 134)
    cost = gw.MarkovNetwork("full", lam=0.02).estimate(rows())
    assert "all 135 weights" in cost.refusals[0]
    assert not gw.MarkovNetwork("full", lam=0.02, max_edges=3).estimate(rows()).refusals


@pytest.mark.parametrize(
    "data",
    [
        [["a", "b"]],
        [["a"], ["b"], ["b"]],
        [["a", 1], ["b", 1], ["a", 1]],
        [["é", "日本"], ["è", "語"]] * 30,
        [[i % 300, i % 2] for i in range(600)],
        {"x": [0, 1, 1], "y": [1, 0, 0]},
    ],
)
def test_odd_data(data: object) -> None:
    check(gw.MarkovNetwork().estimate(data))


SEARCHES = [(goal, criterion) for goal, names in GOALS.items() for criterion in (None, *names)]


@pytest.mark.parametrize(("goal", "criterion"), SEARCHES)
def test_every_goal_and_criterion_has_an_estimate(goal: str, criterion: str | None) -> None:
    cost = gw.MarkovNetwork(goal=goal, criterion=criterion).estimate(rows())
    check(cost)
    tested = goal == "structure" and criterion in (None, "tests")
    assert ("tests" in cost.memory) == tested


@pytest.mark.parametrize(("goal", "criterion"), SEARCHES)
def test_odd_data_have_estimates_for_every_criterion(goal: str, criterion: str | None) -> None:
    net = gw.MarkovNetwork(goal=goal, criterion=criterion)
    for data in ([["a", "b"]], [["a"], ["b"], ["b"]], [["a", 1], ["b", 1], ["a", 1]]):
        check(net.estimate(data))


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ({"criterion": "hold-out"}, {"criterion": "k-fold"}),
        ({"criterion_options": {"folds": 2}}, {"criterion_options": {"folds": 9}}),
        ({"criterion": "ebic"}, {"criterion": "ebic-refit"}),
    ],
)
def test_more_work_is_estimated_for_more_fits(less: dict[str, Any], more: dict[str, Any]) -> None:
    efforts = [
        effort_of_choice(make_criterion(gw.MarkovNetwork(goal="prediction", **given)), 99, 999, 500)
        for given in (less, more)
    ]
    assert efforts[0].evaluations < efforts[1].evaluations


def test_operations_of_tests_by_hand() -> None:
    sizes, edges = np.array([1, 2, 3, 0]), np.array([[0, 1], [1, 2]])
    assert star_widths(sizes, edges).tolist() == [3, 5, 3, 1]
    many = 10**9  # rows are all that matters then
    assert of_pair_tests(sizes, many) == pytest.approx(3 * PAIR_ROW * many, rel=1e-3)
    assert of_edge_tests(sizes, edges, many) == pytest.approx(8 * EDGE_ROW * many, rel=1e-3)
    assert of_edge_tests(sizes, edges[:0], many) == 0.0


def test_memory_of_tests_is_that_of_the_lines() -> None:
    sizes, cards = np.full(1000, 4), np.full(1000, 5)
    lines = 8 * 2 * TILE  # of two groups of variables
    assert lines < bytes_of_tests(sizes, cards, 10**6) < 4 * lines


def test_newton_steps_are_not_counted_with_very_many_states() -> None:
    many = prepare(gw.as_table([[i % 60, i % 2] for i in range(600)]))
    assert newton_sizes(many, np.array([[0, 1]])) is None
    few = effort_of_structure(10, 45, 0.0, newton=True)
    assert few.evaluations < effort_of_structure(10, 45, 0.0, newton=False).evaluations


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
    draws = missing in ("available-case", "impute")
    assert ("about 3 times as long" in cost.words()) == draws
    assert "20 cells are missing" in cost.words()


def test_complete_data_take_no_longer_where_cells_may_be_missing() -> None:
    cost = gw.MarkovNetwork(lam=0.02, missing="impute").estimate(rows())
    assert cost.missing_words == ""


@pytest.mark.parametrize("missing", ["drop-rows", "available-case", "impute"])
def test_columns_without_any_cell_are_refused_as_by_fit(missing: str) -> None:
    data = [["a", None], ["b", None]] * 5
    net = gw.MarkovNetwork(lam=0.02, missing=missing)
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
    assert cost.missing_words.startswith("30 cells are missing in 30 of 90 rows, which is refused")
    assert "Recommended is missing='available-case'" in cost.missing_words
    told = gw.MarkovNetwork(lam=0.05, missing="available-case").estimate(data)
    assert cost.missing_words.endswith(told.missing_words)
    assert (cost.rows, cost.pairs, cost.weights) == (told.rows, told.pairs, told.weights)
    whole = gw.MarkovNetwork(lam=0.05).estimate(data[1::3])
    assert whole.missing_words == ""
    needs_rows = gw.MarkovNetwork(lam=0.05, loss="likelihood").estimate(data)
    assert "missing='impute', since the likelihood needs complete rows" in needs_rows.missing_words
    with pytest.raises(gw.DataError, match="2D array"):
        gw.MarkovNetwork().estimate([1, 2])


def test_rows_without_weight_do_not_count() -> None:
    weights = np.repeat([0.0, 1.0], 100)
    cost = gw.MarkovNetwork(lam=0.02).estimate(rows(), sample_weight=weights)
    assert (cost.rows, cost.total_weight) == (100, 100.0)
    check(gw.MarkovNetwork(lam=0.02).estimate(rows(), sample_weight=weights + 0.5))


def test_nothing_is_fitted_and_no_random_number_drawn() -> None:
    state = np.random.RandomState(0)
    net = gw.MarkovNetwork(best_choice(alpha=1.0), lam=0.02, random_state=state)
    before = dict(vars(net))
    net.estimate(rows())
    assert vars(net) == before
    assert state.randint(1000) == np.random.RandomState(0).randint(1000)


def test_budgets_bound_the_estimate() -> None:
    cost = gw.MarkovNetwork(lam=0.001, max_edges=2, max_seconds=1e-9).estimate(rows())
    assert cost.expected_edges == 2
    assert cost.seconds is not None


def test_the_guess_is_near_the_network() -> None:
    made = gw.datasets.make_scale_free(20, 3, n_rows=3000, n_test=0, random_state=0)
    net = gw.MarkovNetwork(lam=0.02)
    expected = net.estimate(made.data).expected_edges
    found = net.fit(made.data).certificate_.n_edges
    assert found / 3 <= expected <= 3 * found


def test_large_data_are_looked_at_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = prepare(gw.as_table(rows(2000)))
    monkeypatch.setattr("graftwork.tuning.proxy.MOST_PAIRS", 8)
    monkeypatch.setattr("graftwork.tuning.proxy.MOST_WORDS", 1.0)
    monkeypatch.setattr("graftwork.tuning.proxy.LEAST_ROWS", 100)
    part = take_part(sample, np.random.default_rng(0))
    assert len(part.cards) < 6
    assert part.total_weight < sample.total_weight
    proxy = guess_network(sample, GroupL1(0.02), 0.02, rng=np.random.default_rng(0))
    assert proxy.variables > 1
    check(gw.MarkovNetwork(lam=0.02).estimate(rows(2000)))


def test_a_part_has_its_own_counts() -> None:
    sample = prepare(gw.as_table(rows(40)))
    part = cut(sample, np.array([1, 4]), np.arange(25))
    tables, _ = part.counts.tables(np.array([[0, 1]]))
    own = rows(40)[:25][:, [1, 4]]
    assert tables.tolist() == [
        int(((own == [a, b]).all(axis=1)).sum()) for a in range(3) for b in range(3)
    ]


def test_notes_name_what_is_odd() -> None:
    n = 60
    data = {
        "id": list(range(n)),
        "twin": [i % 2 for i in range(n)],
        "copy": [i % 2 for i in range(n)],
        "same": [7] * n,
        "rare": ["seldom"] * 3 + ["often"] * (n - 3),
    }
    table = gw.as_table(data)
    words = " ".join(data_notes(table, prepare(table), 1000))
    assert "1 variable never changes: same." in words
    assert "Column 'id' has a value of its own in many rows" in words
    assert "twin and copy" in words
    assert "1 state with fewer than 10 counts" in words
    assert "rare = seldom" in words
    assert "more weights (1,000) than the data have rows (60)" in words
    assert "one column only" in gw.MarkovNetwork().estimate([["a"], ["b"]]).notes[0]
