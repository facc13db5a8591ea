"""Rows of claims: conditions, clauses, and what forbids a verdict."""

import pytest

from experiments.engine import Row, judge, span
from experiments.engine.claims import clauses

ROW = Row(
    "Fig. {k}", "at least {printed} times", "{times:.1f} times ({seconds} s)",
    [("times", ">=", "printed"), ("seconds", "<", 10)],
    ["{evaluations} evaluations", "no more than {times:.1f}"],
    ["a budget stopped {stopped}"],
)  # fmt: skip
VALUES = {"k": 2, "printed": 3, "times": 4.0, "seconds": 5}


def test_all_conditions_must_hold():
    assert judge(ROW, VALUES).verdict == "reproduced"
    for change in ({"times": 2.9}, {"seconds": 10}, {"printed": 5}):
        assert judge(ROW, VALUES | change).verdict == "differs"


@pytest.mark.parametrize("missing", ["times", "seconds"])
def test_what_was_not_measured_was_not_run(missing):
    claim = judge(ROW, VALUES | {missing: None})
    assert (claim.what, claim.verdict, claim.ours) == ("Fig. 2", "not run", "")
    assert judge(ROW, {k: v for k, v in VALUES.items() if k != missing}).verdict == "not run"


def test_reasons_are_those_whose_values_are_known():
    slow = VALUES | {"times": 1.0}
    assert judge(ROW, slow).because == "no more than 1.0"
    assert judge(ROW, slow | {"evaluations": 9}).because == "9 evaluations; no more than 1.0"


@pytest.mark.parametrize("times", [4.0, 1.0])
def test_a_stopped_run_can_not_be_compared(times):
    claim = judge(ROW, VALUES | {"stopped": "grafting", "times": times})
    assert (claim.verdict, claim.because) == ("not comparable", "a budget stopped grafting")
    assert judge(ROW, VALUES | {"stopped": "grafting", "times": None}).verdict == "not run"


def test_thresholds_are_said_whatever_the_verdict():
    for change in ({}, {"times": 1.0}, {"stopped": "x"}):
        assert judge(ROW, VALUES | change).threshold == "times >= 3 (printed); seconds < 10"
    assert judge(ROW, VALUES | {"printed": None}).threshold == "times >= printed; seconds < 10"
    lead = Row("", "", "{lead}", [("lead.real", ">=", 5.0), ("same_edges", "==", True)])
    assert judge(lead, {"lead": 7.0, "same_edges": True}).threshold == "lead real >= 5; same edges"


def test_clauses_may_name_parts_of_values():
    assert (
        clauses(["{run[edges]} of {cell.real}"], {"run": {"edges": 3}, "cell": 2.0}) == "3 of 2.0"
    )
    assert clauses(["{run[edges]}"], {"run": None}) == ""


def test_spans_are_written_once_where_ends_look_the_same():
    assert f"{span([0.123, 0.1234]):.2f}, {span([3, 1, 2])}" == "0.12, 1 to 3"
