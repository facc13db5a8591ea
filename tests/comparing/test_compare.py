"""compare: the same data and lambda for every method, and records of what each reached."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.comparing import METHODS, corner_of, labelled_methods, rehearse

from doors.recipes import best_choice
from support.problems import dense_optimum, dense_pseudo, random_table


@pytest.fixture(scope="module")
def table():
    return random_table(3, n=7, rows=250)


def test_every_method_reaches_the_independent_optimum(table):
    best = dense_optimum(dense_pseudo, table, "group-l1", 0.05, 0.0)
    found = gw.compare(table, lam=0.05, n_jobs=1)
    assert [each["method"] for each in found] == [*METHODS]
    for each in found:
        assert each["objective"] == pytest.approx(best, abs=1e-6)
        assert 0 <= each["gap"] < 1e-6
        assert each["converged"]
        assert each["network"].model_.edges == found[0]["network"].model_.edges
    assert min(each["gap"] for each in found) == 0


def test_the_numbers_are_those_of_a_run_alone(table):
    test, train = table.split(0.2, 0)
    settings = {"max_edges": 2, "method_options": {"alpha": 1.0}}
    methods = {"first": "first-hit", "short": {"method": "best-choice", **settings}}
    found = gw.compare(table, methods, lam=0.03, test=0.2, n_jobs=1)
    for each, (method, own) in zip(
        found, [("first-hit", {}), ("best-choice", settings)], strict=True
    ):
        net = gw.MarkovNetwork(method, lam=0.03, random_state=0, n_jobs=1, **own).fit(train)
        assert each["network"].model_ == net.model_
        assert each["test_nlpl"] == pytest.approx(-net.score(test), abs=1e-12)
        assert each["objective"] == net.certificate_.objective
        assert each["edges"] == net.certificate_.n_edges
        assert each["evaluations"] == net.trace_[-1].evaluations
        assert each["rounds"] == len(net.trace_)
    assert (found[1]["stop"], found[1]["converged"], found[1]["edges"]) == ("edges", False, 2)
    assert found[1]["gap"] > 0


def test_lambda_is_chosen_once(table):
    found = gw.compare(table, ["auto", "edge-grafting"], n_jobs=1)
    lam = gw.MarkovNetwork(random_state=0, n_jobs=1).fit(table).lam_
    assert {each["network"].lam_ for each in found} == {lam}
    sized = gw.compare(table, ["forced-pruning", "chow-liu"], max_edges=8)
    assert [each["network"].lam_ for each in sized] == [0, 0]
    assert [each["edges"] for each in sized] == [8, 6]


def test_different_problems_are_not_held_against_each_other(table):
    methods = ["best-choice", {"penalty": "l1"}, {"penalty": "l1", "method": "full"}]
    groups, one, other = gw.compare(table, methods, lam=0.05, n_jobs=1)
    assert groups["gap"] == 0
    assert groups["objective"] != pytest.approx(one["objective"], abs=1e-4)
    assert (one["gap"] == 0) or (other["gap"] == 0)
    assert max(one["gap"], other["gap"]) < 1e-6


def test_rows_are_read_once_with_weights_bins_and_declared_states():
    rows = {"a": ["x", "x", "y", "y"] * 10, "age": np.arange(40.0)}
    weights = np.arange(40) % 3
    given = {"states": {"a": ["x", "y", "never"]}, "bins": {"age": 4}}
    [found] = gw.compare(rows, "first-hit", lam=0.05, sample_weight=weights, **given)
    assert found["network"].model_.states["a"] == ("x", "y", "never")
    assert len(found["network"].model_.states["age"]) == 4
    table = gw.as_table(rows, weights=weights, **given)
    assert found["network"].model_ == gw.MarkovNetwork("first-hit", lam=0.05).fit(table).model_


def test_methods_have_labels_that_differ():
    recipe = best_choice(alpha=1.0)
    listed = labelled_methods(["best-choice", recipe, {"max_edges": 3}, "best-choice"])
    assert list(listed) == ["best-choice", "best-choice (2)", "auto", "best-choice (3)"]
    assert listed["best-choice (2)"] == {"method": recipe}
    assert labelled_methods({"α = 1": recipe}) == {"α = 1": {"method": recipe}}


@pytest.mark.parametrize(
    ("methods", "options", "told"),
    [
        (["best-choise"], {}, "did you mean 'best-choice'"),
        ([], {}, "empty"),
        (7, {}, "not a list of methods"),
        ([7], {}, "7 is not a method"),
        ({"a": {"lam": 0.1}}, {}, "may not set lam"),
        ({"a": {"penalti": "l1"}}, {}, "did you mean 'penalty'"),
        (["best-choice"], {"max_edge": 3}, "did you mean 'max_edges'"),
        (["best-choice"], {"method": "first-hit"}, "methods="),
        (["first-hit", {"method_options": {"alpha": -1}}], {}, "alpha"),
        (["first-hit"], {"penalty": "l7"}, "penalty"),
        (["first-hit"], {"lam": 0}, "lam"),
        (["first-hit"], {"random_state": "x"}, "random_state"),
        (["first-hit"], {"test": "x"}, "no such file"),
    ],
)
def test_nonsense_is_refused_before_any_run(table, monkeypatch, methods, options, told):
    monkeypatch.setattr(gw.MarkovNetwork, "fit", None)
    with pytest.raises(gw.GraftworkError, match=told):
        gw.compare(table, methods, **{"lam": 0.1, **options})


def test_an_interrupt_keeps_the_records_so_far(table, monkeypatch):
    fit, stopped = gw.MarkovNetwork.fit, ["first-hit"]

    def interrupted(self, X, *rest):
        if self.method in stopped and X.n_variables == table.n_variables and self.lam == 0.1:
            raise KeyboardInterrupt
        return fit(self, X, *rest)

    monkeypatch.setattr(gw.MarkovNetwork, "fit", interrupted)
    found = gw.compare(table, lam=0.1, n_jobs=1)
    assert [each["method"] for each in found] == ["best-choice", "edge-grafting"]
    stopped.append("best-choice")
    with pytest.raises(KeyboardInterrupt):
        gw.compare(table, lam=0.1, n_jobs=1)


@pytest.mark.parametrize("rows", [[["a", "b"]], [["a"], ["b"], ["a"]], [["same", "same"]] * 5])
def test_odd_tables(rows):
    assert all(each["converged"] for each in gw.compare(rows, lam=0.01, test=rows, n_jobs=1))


def test_a_corner_has_the_widest_column_and_is_learned_whatever_a_start_names():
    codes = np.random.default_rng(0).integers(0, 2, (12, 500))
    codes[11] = np.arange(500)
    states = (*[(0, 1)] * 11, tuple(range(500)))
    table = gw.Table(tuple(range(12)), states, codes, np.linspace(0, 1, 500))
    corner = corner_of(table)
    assert (corner.n_variables, 11 in corner.names) == (8, True)
    assert corner.weights is not None
    rehearse({"method": "best-choice", "method_options": {"start": [(9, 10)]}}, table)
