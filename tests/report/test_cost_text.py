"""Cost estimates in words."""

from dataclasses import replace

import graftwork as gw

from doors.report import cost_sections

DATA = [["a", 0, "x"], ["b", 1, "x"], ["a", 1, "y"]] * 20


def test_sections_have_the_numbers() -> None:
    cost = gw.MarkovNetwork(lam=0.1, n_jobs=1).estimate(DATA)
    timing = replace(cost.timing, evaluation=0.002, scoring=0.05)
    words = dict(cost_sections(replace(cost, timing=timing, seconds=(0.16, 150.0))))
    assert "60 rows of 3 variables, 2 states each" in words["Data"]
    assert "leaves 3" in words["Data"]
    assert "3 pairs" in words["Data"]
    assert "18 parameters" in words["Data"]
    assert words["Time"].startswith("Between 0.16 s and 2 min on 1 thread")
    for part in ("takes 2 ms in a network of 3 edges", "all pairs 50 ms", "30 to 1,000"):
        assert part in words["Time"]
    assert "treewidth 2" in words["Inference"]
    assert cost.summary().count("\n\n") == len(words) - 1


def test_what_was_timed_in_part_is_said() -> None:
    cost = gw.MarkovNetwork(loss="likelihood").estimate(DATA)
    part = replace(cost.timing, variables=2, rows=2, refused=9)
    words = dict(cost_sections(replace(cost, timing=part, networks=3)))
    assert "timed on 2 rows of 2 variables" in words["Time"]
    assert "10 to 30 such fits" in words["Time"]
    assert "3 networks" in words["Time"]
    assert "treewidth at least 2" in words["Inference"]
    assert words["Inference"].endswith("with 9 edges it is refused.")
