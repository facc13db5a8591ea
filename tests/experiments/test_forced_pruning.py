"""The study of forced pruning: verdicts on made-up results, bounds, and tiny runs."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import graftwork as gw
from experiments import find_study
from experiments.engine import Context, reproduce
from experiments.forced_pruning import fit_one, parts_of, report, settings_of, steps
from experiments.forced_pruning.bounds import least_loss
from experiments.forced_pruning.claims import (
    EXCHANGED,
    MORE,
    NAMES,
    PRINTED,
    Cell,
    judge_cell,
)

from doors.report import new_figure


def run(nll):
    return {"nll": nll, "train_nll": nll, "objective": nll, "edges": 20, "seconds": 1.0}


def results(shift=0.0, bound=0.0, tree=0.0, tied=0.1):
    """What would be found if ours were the printed values plus a shift."""
    found = {}
    for name in NAMES:
        found[f"{name}-trees"] = {"tree": run(7.0), "added": {str(more): run(9.0) for more in MORE}}
        least = {str(more): bound for more in MORE}
        found[f"{name}-bounds"] = {
            "best": bound, "converged": True, "edges": 9, "least": least,
            "elsewhere": {"training": bound + 0.1},
        }  # fmt: skip
        first = {
            str(more): [PRINTED[Cell("rejection", name, more, 1)] + tree + d for d in (0, 0.02)]
            for more in MORE
        }
        far = {more: [30.0] for more in first}
        found[f"{name}-nothing"] = {
            "test": {"5": far, "7": first}, "valid": {"5": 7.1, "7": 7.0},
            "values": 7, "tree": True,
        }  # fmt: skip
        found[f"{name}-tying"] = {
            "more": 15, "values": 7, "free": run(5), "in each iteration": run(5 + tied),
            "once": run(4.9),
        }  # fmt: skip
        for more in MORE:
            found[f"{name}-descent-{more}"] = run(20.0)
            for rule in ("greedy", "rejection"):
                found[f"{name}-{rule}-{more}"] = {
                    str(k): run(30.0) | {"last": PRINTED[Cell(rule, name, more, k)] + shift}
                    for k in EXCHANGED
                }
    found["plants-15-thorough"] = {"restarts": run(11.11 + shift), "on test rows": run(11.0)}
    return found


def claim_about(found, word):
    return next(claim for claim in report(found).claims if word in claim.what)


def test_all_values_of_both_tables_are_there():
    assert len(PRINTED) == 90
    assert PRINTED[Cell("greedy", "plants", 15, 10)] == 11.11
    assert PRINTED[Cell("greedy", "msnbc", 15, 10)] == 5.52
    assert PRINTED[Cell("rejection", "msnbc", 60, 5)] == 5.69


def test_equal_values_are_reproduced():
    found = results()
    for cell in PRINTED:
        assert judge_cell(cell, found).verdict == "reproduced"
    assert claim_about(found, "best of plants").verdict == "reproduced"
    assert claim_about(found, "Table 1, nltcs: 15").verdict == "reproduced"
    assert claim_about(found, "greedy beats").verdict == "reproduced"
    assert claim_about(found, "plants, m=0, k=0").verdict == "reproduced"
    assert claim_about(found, "plants, k=0, m=15 to 60").verdict == "reproduced"


def test_a_value_below_the_bound_cannot_be():
    found = results(shift=0.5, bound=4.9003)
    claim = claim_about(found, "best of nltcs")
    assert claim.verdict == "cannot be"
    assert "4.9003 on them; on training rows, likewise, 5.0003" in claim.because
    cell = Cell("rejection", "nltcs", 60, 10)
    assert PRINTED[cell] == 4.90  # may be 4.9049
    assert judge_cell(cell, found).verdict == "differs"
    assert judge_cell(cell._replace(exchanged=5), found).verdict == "cannot be"
    assert claim_about(found, "Table 1, nltcs: 15").verdict == "cannot be"


def test_a_bound_that_did_not_converge_is_none():
    found = results(shift=0.5, bound=4.9003)
    found["nltcs-bounds"] |= {"converged": False, "least": {}}
    assert claim_about(found, "best of nltcs").verdict == "differs"


def test_other_values_differ_with_what_is_known():
    found = results(shift=0.2)
    claim = claim_about(found, "best of plants")
    assert claim.verdict == "differs"
    assert "ends at 11.0000" in claim.because
    assert "even" not in claim.because
    found["plants-15-thorough"]["on test rows"] = run(11.3)
    assert claim_about(found, "best of plants").because.startswith("even")
    cell = Cell("greedy", "plants", 15, 10)
    assert "higher by 0.20; the best found here" in judge_cell(cell, found).because
    found["plants-mcmc-15"] = run(11.0)
    assert "another search of ours has 11.0000" in judge_cell(cell, found).because
    assert claim_about(found, "best of plants").verdict == "reproduced"
    lower = claim_about(results(shift=-0.2), "Table 2, msnbc")
    assert "15 differ (15 of them lower here)" in lower.because


def test_the_first_column_is_judged_by_the_number_of_values_nearest_to_it():
    claim = claim_about(results(tree=0.02), "msnbc, m=0, k=0")
    assert (claim.verdict, claim.printed) == ("reproduced", "6.40")
    assert claim.ours == "6.4200 with weights of 7 values; 5 values 30.0000, 7 values 6.4200"
    assert claim_about(results(tree=0.03), "msnbc, m=0, k=0").verdict == "differs"
    assert claim_about(results(tree=-0.01), "msnbc, k=0, m=15").verdict == "reproduced"
    claim = claim_about(results(tree=0.2), "msnbc, k=0, m=15")
    assert (claim.verdict, claim.printed) == ("differs", "5.83, 5.77, 5.75, 5.77")
    assert claim.ours.startswith("6.03 to 6.05, ")
    assert claim.because == "4 of 4 are outside, by 0.20 at most"
    claim = claim_about(results(bound=5.8), "msnbc, k=0, m=15")
    assert (claim.verdict, claim.because) == (
        "not comparable", "3 of the 4 printed values are impossible"
    )  # fmt: skip


def test_values_asked_for_by_validation_rows_are_named():
    claim = claim_about(results(), "msnbc: how many values")
    assert (claim.verdict, claim.ours[:9]) == ("differs", "7 of 5, 7")
    found = results()
    found["msnbc-nothing"]["values"] = 5
    assert claim_about(found, "msnbc: how many values").verdict == "reproduced"


def test_both_ways_of_tying_are_judged():
    found = results(tied=-0.1)
    assert claim_about(found, "weights in each iteration").verdict == "reproduced"
    assert claim_about(results(), "weights in each iteration").verdict == "differs"
    assert claim_about(results(), "weights once").verdict == "reproduced"


def test_a_table_of_which_little_was_run_is_not_judged():
    found = results()
    for more in MORE[1:]:
        del found[f"plants-greedy-{more}"]
    claim = claim_about(found, "Table 1, plants: 15")
    assert (claim.verdict, claim.because) == ("not comparable", "only 3 of 15 values were run")
    assert claim_about(found, "k=10 is better").verdict == "reproduced"


def test_trends_are_counted():
    found = results()
    for more in MORE:
        for name in NAMES:
            found[f"{name}-rejection-{more}"] = {str(k): run(1.0) for k in EXCHANGED}
    claim = claim_about(found, "greedy beats")
    assert (claim.verdict, claim.ours) == ("differs", "in 0 of 45")


def test_without_results_nothing_was_run():
    empty = report({})
    assert {line["verdict"] for line in empty.tables["cells"]} == {"not run"}
    assert {claim.verdict for claim in empty.claims} <= {"not run", "cannot be"}
    assert not empty.figures


def test_the_figure_can_be_drawn():
    [figure] = report(results(bound=4.0)).figures
    canvas = new_figure(*figure.size)
    figure.draw(canvas)
    assert len(canvas.axes) == 3


def test_no_network_of_a_size_goes_below_its_bound():
    """All graphs of five variables with so many edges, fitted on the rows themselves."""
    rows = gw.datasets.make_bernoulli(5, mean_degree=3, n_rows=60, random_state=1).data
    codes = np.column_stack([rows[name] for name in rows.names])
    _, codes = np.unique(codes, return_inverse=True)
    codes = codes.reshape(len(rows), -1)
    pairs = list(combinations(rows.names, 2))
    for size, bound in zip((1, 3), least_loss(codes, (1, 3), 4), strict=True):
        losses = [
            -gw.MarkovNetwork(
                "full", penalty="none", knowledge={"candidates": list(edges)}, tol=1e-4
            )
            .fit(rows)
            .score(rows)
            for edges in list(combinations(pairs, size))[::5]
        ]
        assert bound <= min(losses) + 1e-9
        assert bound > min(losses) - 0.2
    assert least_loss(codes, (10,), 2)[0] <= least_loss(codes, (3,), 2)[0]


def test_rows_that_can_be_separated_have_no_floor():
    rows = np.array([[0, 0], [1, 1], [1, 1]])
    assert least_loss(rows, (1,), 0) == pytest.approx([0.0], abs=1e-8)


def test_without_data_all_steps_are_skipped(tmp_path):
    context = Context("quick", folder=tmp_path)
    outcome = reproduce(find_study("forced-pruning"), tmp_path / "out", context, pictures=False)
    assert "nltcs-trees" in outcome.skipped["debd"].steps
    assert "--data" in outcome.skipped["debd"].reason
    assert {claim.verdict for claim in outcome.report.claims} == {"not run"}
    assert not any(claim.because for claim in outcome.report.claims)


def test_the_last_network_and_the_best_one_are_told_apart():
    """The paper returns the network of the last exchange; a search returns the best it saw."""
    context = Context("tiny", n_jobs=1)
    before = {"nltcs-trees": {"tree": {"edges": 9}}, "nltcs-nothing": {"values": 5}}
    step = next(step for step in steps("tiny") if step.key == "nltcs-rejection-15")
    found = step.work(replace(context, before=before))["10"]
    assert found["exchanges"] > 0
    assert found["last"] != found["nll"]
    train = parts_of("nltcs", context).train
    settings = settings_of("rejection", 10, 0, tied=5)
    net, start = fit_one(train, train, {**settings, "max_edges": 24}, context)
    assert "last" not in start  # nothing was exchanged
    assert net.exchange_.accepted == 0


def test_the_paper_exchanges_by_rejection_and_ties_in_each_iteration():
    settings = gw.preset("forced-pruning-paper")
    options = settings["method_options"]
    assert settings == settings_of("rejection", 10, 30, tied=options["tied"]) | {
        "method_options": {"delete": "rejection", "exchange": 10, "tied": options["tied"]}
    }
