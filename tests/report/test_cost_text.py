"""Cost estimates in words."""

from dataclasses import replace

import graftwork as gw

from doors.report import cost_sections

DATA = [["a", 0, "x"], ["b", 1, "x"], ["a", 1, "y"]] * 20


def test_sections_have_the_numbers() -> None:
    cost = gw.MarkovNetwork(lam=0.1, n_jobs=1).estimate(DATA)
    words = dict(cost_sections(cost))
    assert "60 rows of 3 variables, 2 states each" in words["Data"]
    assert "leaves 3" in words["Data"]
    assert "3 pairs" in words["Data"]
    assert "18 parameters" in words["Data"]
    assert "more parameters" not in words["Data"]
    assert "with 3 edges: rows" in words["Memory"]
    assert cost.summary().count("\n\n") == len(words) - 1


def test_more_parameters_than_rows_are_warned_of() -> None:
    cost = gw.MarkovNetwork(lam=0.1).estimate(DATA)
    words = dict(cost_sections(replace(cost, total_weight=10.0)))
    assert "one of 3 edges has more parameters (18) than there are rows" in words["Data"]
