"""The study of forced pruning: verdicts on made-up results, bounds, and tiny runs."""

import gzip
from itertools import combinations

import numpy as np
import pytest

import graftwork as gw
from experiments import find_study
from experiments.engine import Context, reproduce
from experiments.forced_pruning import report, settings_of, steps
from experiments.forced_pruning.bounds import least_loss
from experiments.forced_pruning.claims import (
    EXCHANGED,
    MORE,
    NAMES,
    PRINTED,
    Cell,
    judge_cell,
)
from graftwork.report.figures import new_figure


def run(nll):
    return {"nll": nll, "train_nll": nll, "objective": nll, "edges": 20, "seconds": 1.0}


def results(shift=0.0, bound=0.0, tree=None, tied=0.1):
    """What would be found if ours were the printed values plus a shift."""
    found = {}
    for name in NAMES:
        first = PRINTED[Cell("greedy", name, 0, 1)] if tree is None else tree
        found[f"{name}-trees"] = {
            "tree": run(first),
            "added": {str(more): run(9.0) for more in MORE},
        }
        least = {str(more): bound for more in MORE}
        found[f"{name}-bounds"] = {
            "best": bound, "converged": True, "edges": 9, "least": least,
            "elsewhere": {"training": bound + 0.1},
        }  # fmt: skip
        found[f"{name}-tying"] = {"more": 15, "values": 10, "free": run(5), "tied": run(5 + tied)}
        for more in MORE:
            for rule in ("greedy", "rejection"):
                found[f"{name}-{rule}-{more}"] = {
                    str(k): run(PRINTED[Cell(rule, name, more, k)] + shift) for k in EXCHANGED
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
    assert claim_about(found, "k=0").verdict == "reproduced"


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
    found["plants-mcmc-15"] = {"10": run(11.0)}
    assert "another rule of ours has 11.0000" in judge_cell(cell, found).because
    assert claim_about(found, "best of plants").verdict == "reproduced"
    lower = claim_about(results(shift=-0.2), "Table 2, msnbc")
    assert "15 differ (15 of them lower here)" in lower.because


def test_the_first_column_is_no_tree_and_tying_may_help():
    found = results(tree=13.0, tied=-0.1)
    assert claim_about(found, "k=0").verdict == "differs"
    assert claim_about(found, "tying").verdict == "reproduced"
    assert claim_about(results(), "tying").verdict == "differs"


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


@pytest.fixture
def folder(tmp_path):
    """Small files under the names of the data sets."""
    rng = np.random.default_rng(0)
    (tmp_path / "debd").mkdir()
    for name in NAMES:
        for part in ("ts", "valid", "test"):
            first = rng.integers(0, 2, (80, 1))
            rows = np.hstack([first ^ (rng.random((80, 3)) < 0.2), rng.integers(0, 2, (80, 5))])
            lines = "\n".join(",".join(map(str, row)) for row in rows.astype(int)) + "\n"
            with gzip.open(tmp_path / "debd" / f"{name}.{part}.data.gz", "wt") as file:
                file.write(lines)
    return tmp_path


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_steps_build_on_the_tree(folder):
    before = {}
    context = Context("quick", folder=folder, n_jobs=1, before=before)
    for step in steps("quick")[:5]:
        before[step.key] = step.work(context)
    assert list(before)[:2] == ["nltcs-trees", "nltcs-bounds"]
    tree = before["nltcs-trees"]["tree"]["edges"]
    assert before["nltcs-greedy-0"]["10"]["edges"] == tree
    assert set(before["nltcs-greedy-0"]) == {"1", "10", "default"}
    bounds = before["nltcs-bounds"]
    assert max(bounds["best"], bounds["least"]["0"]) <= before["nltcs-greedy-0"]["10"]["nll"] + 0.01


def test_without_data_all_steps_are_skipped(tmp_path):
    context = Context("quick", folder=tmp_path)
    outcome = reproduce(find_study("forced-pruning"), tmp_path / "out", context, pictures=False)
    assert "nltcs-trees" in outcome.skipped["debd"].steps
    assert "--data" in outcome.skipped["debd"].reason
    assert {claim.verdict for claim in outcome.report.claims} == {"not run"}
    assert not any(claim.because for claim in outcome.report.claims)


def test_the_paper_exchanges_by_rejection():
    settings = gw.preset("forced-pruning-paper")
    assert settings["method_options"]["delete"] == "rejection"
    assert settings_of("greedy", 5, 3)["method"] == settings["method"]
