"""The study of priority grafting: its verdicts on made-up results, and single runs."""

import numpy as np
import pytest

import graftwork as gw
from experiments import find_study
from experiments.engine import Context
from experiments.engine.observers import timed
from experiments.priority import (
    grafting_settings,
    learn,
    mushroom_halves,
    steps,
)
from experiments.priority.ablation import VARIANTS, Trials, ablate
from experiments.priority.claims import PRINTED, report
from graftwork.recipes import RECIPES

from doors.report import new_figure

CONTEXT = Context("quick", n_jobs=1)


def run(lam, edges=None, nll=None, tests=1000, ms=1.0):
    """A made-up run that is as printed unless said otherwise."""
    edges = PRINTED[lam].edges if edges is None else edges
    return {
        "edges": [[f"a{k:02}", "b", 1.0] for k in range(edges)],
        "nll": PRINTED[lam].nll if nll is None else nll,
        "train_nll": 30.0,
        "objective": 35.0,
        "violation": 0.0,
        "certified": True,
        "tests": tests,
        "selection_tests": tests / edges,
        "selection_ms": ms,
        "tests_by_edges": [[0, 0], [edges, tests]],
        "moved": 0,
        "joined": 0,
    }


def ablation(on=90, networks=6, **changes):
    """Made-up runs with and without the heuristic, of about 100 tests."""
    line = {
        "variables": 40, "looks": 3, "moved": 20, "joined": 0, "edges": 9, "edges_moved": 1,
        "pairs": [[0, 1]], "objective": 5.0, "certified": True, "share_moved": 0.02,
        "share_others": 0.1, **changes,
    }  # fmt: skip
    return {
        "lines": [
            {**line, "network": k, "variant": name, "tests": 100 + k if "off" in name else on + k}
            for k in range(networks)
            for name in VARIANTS
        ]
    }


def results(priority_tests=200, priority_ms=0.2, **changes):
    found = {
        "baselines": {
            "uniform": 35.7256, "independent, file order": 36.5, "independent, random halves": 20.4,
        },
        "side-by-side": {
            "lines": [
                {"settings": "our defaults", "halves": halves, "edges": 3, "nll": 6.0}
                for halves in ("file order", "random halves")
            ],
        },
    }  # fmt: skip
    for lam in PRINTED:
        line = {"method": "grafting", "tol": 0.01, "edges": 9, "nll": 32.5}
        found[f"grafting-{lam}"] = {"runs": [run(lam, **changes)]}
        found[f"priority-{lam}"] = {
            "runs": [run(lam, **changes) | {"tests": priority_tests, "selection_ms": priority_ms}]
        }
        found[f"turns-{lam}"] = found[f"priority-{lam}"]
        found[f"accuracy-{lam}"] = {"lines": [line, {**line, "method": "priority"}]}
        found[f"capped-{lam}"] = {"edges": 12, "nll": 32.44}
        found[f"halves-{lam}"] = {"lines": [{"halves": "random 0", "edges": 5, "nll": 32.6}]}
    return found | {"ablation-40": ablation()}


def verdicts(found, word):
    return [claim.verdict for claim in report(found).claims if word in claim.what]


@pytest.mark.parametrize("word", ["): edges", "test nll", "finds grafting's"])
def test_what_is_as_printed_is_reproduced(word):
    assert verdicts(results(), word) == ["reproduced", "reproduced"]


@pytest.mark.parametrize("word", ["fewer candidate", "CPU time to select"])
def test_both_orders_of_the_queue_are_judged(word):
    assert verdicts(results(), word) == ["reproduced"] * 4
    found = results()
    for lam in PRINTED:
        found[f"turns-{lam}"] = {"runs": [run(lam)]}
    assert verdicts(found, word) == ["reproduced", "differs"] * 2


def test_a_heuristic_that_never_acts_differs():
    claims = [c for c in report(results()).claims if "changes priorities" in c.what]
    assert [claim.verdict for claim in claims] == ["differs", "differs"]
    assert all("more than tau_d n^2 = 26.45 edges" in claim.because for claim in claims)
    assert "12 edges, fewer than 26.45" in claims[0].because
    acting = results()
    acting["priority-0.7"]["runs"][0] |= {"moved": 4}
    assert verdicts(acting, "changes priorities") == ["reproduced", "differs"]


def test_the_ablation_is_judged_by_two_standard_errors():
    def judged(found, word="tests with the heuristic"):
        return verdicts(results() | {"ablation-40": found}, word)

    assert judged(ablation()) == ["reproduced"] * 3
    assert judged(ablation(on=101)) == ["differs"] * 3
    assert judged(ablation(networks=3)) == ["not comparable"] * 3
    idle = ablation()
    for line in idle["lines"][:5]:  # on the first network it never acts
        line |= {"moved": 0, "tests": 10**6 if "on" in line["variant"] else 1}
    assert judged(idle) == ["reproduced"] * 3
    assert judged(ablation(moved=0)) == ["not run"] * 3
    claim = next(c for c in report(results()).claims if "tests with the heuristic" in c.what)
    assert claim.threshold == "ratio and two standard errors < 1"
    assert judged(ablation(), "moved back, and among") == ["reproduced"]
    assert judged(ablation(share_moved=0.1), "moved back, and among") == ["differs"]
    other = ablation()
    other["lines"][1]["pairs"] = [[0, 2]]
    assert judged(ablation(), "with and without") == ["reproduced"]
    assert judged(other, "with and without") == ["differs"]


def test_on_networks_the_heuristic_acts_and_changes_nothing_else():
    lines = ablate(Trials(1, n=20, rows=400, central=2), CONTEXT)["lines"]
    by = {line["variant"]: line for line in lines}
    assert by["top, off"]["moved"] == by["turns, off"]["moved"] == 0
    assert by["top, on"]["moved"] > 0
    assert by["turns, on, joining"]["joined"] > 0
    assert len({str(line["pairs"]) for line in lines}) == 1
    assert all(line["certified"] for line in lines)


def test_other_numbers_differ_and_the_controls_say_why():
    claims = report(results(edges=15, nll=31.0)).claims
    edges = next(claim for claim in claims if claim.what.endswith("edges"))
    assert edges.verdict == "differs"
    assert "certified optimum, with 15 edges" in edges.because
    assert "solved only to 0.01, grafting has 9" in edges.because
    assert "random halves: 5" in edges.because
    nll = next(claim for claim in claims if claim.what.endswith("test nll"))
    assert nll.verdict == "differs"
    assert "stops at the printed 12 edges has 32.4400" in nll.because
    assert "not around the printed value" in nll.because


def test_another_network_is_told_apart_from_another_nll():
    found = results()
    found["priority-0.7"]["runs"].append(run(0.7, edges=13))
    assert verdicts(found, "finds grafting's") == ["differs", "reproduced"]
    found = results()
    found["priority-0.6"]["runs"].append(run(0.6, nll=31.3))
    assert verdicts(found, "finds grafting's") == ["reproduced", "differs"]


def test_few_tests_saved_or_slow_searches_differ():
    assert verdicts(results(priority_tests=600), "fewer candidate") == ["differs"] * 4
    slow = results(priority_ms=0.9)
    claim = next(claim for claim in report(slow).claims if "CPU time to" in claim.what)
    assert claim.verdict == "differs"
    assert "us each" in claim.because


def test_table_three_contradicts_table_two():
    (claim,) = [c for c in report(results()).claims if "Table 3" in c.what]
    assert claim.verdict == "differs"
    assert "Table 2 prints 31.2475" in claim.because


def test_runs_without_a_certificate_reproduce_nothing():
    found = results()
    for key, step in found.items():
        if key.startswith(("grafting", "priority")):
            for run in step["runs"]:
                run["certified"] = False
    claims = [c for c in report(found).claims if "): edges" in c.what or "'s network" in c.what]
    assert {claim.verdict for claim in claims} == {"not comparable"}
    assert all("no certified optimum" in claim.because for claim in claims)


def test_without_results_nothing_was_run_and_nothing_is_drawn():
    empty = report({})
    assert {claim.verdict for claim in empty.claims} == {"not run"}
    assert not empty.figures
    assert not any(empty.tables.values())


def test_every_figure_can_be_drawn():
    figures = report(results()).figures
    assert [figure.name for figure in figures] == [
        "networks-0.7", "networks-0.6", "tests", "accuracy", "side-by-side", "ablation",
    ]  # fmt: skip
    for figure in figures:
        canvas = new_figure(*figure.size)
        figure.draw(canvas)
        assert canvas.axes


def test_halves_are_those_behind_the_printed_values():
    train, test = mushroom_halves()
    assert abs(np.log(train.cards).sum() - 35.726) < 5e-4
    assert len(train) == len(test) == 2822
    shuffled, _ = mushroom_halves(0)
    assert not np.array_equal(shuffled.codes, train.codes)


def test_a_run_says_what_it_found():
    found = learn(mushroom_halves(), {**grafting_settings(), "max_edges": 2}, CONTEXT)
    assert len(found["edges"]) == 2
    assert found["selection_tests"] == 252.5  # of 253 pairs, then of 252
    assert 32.0 < found["nll"] < 35.7


def test_a_timed_recipe_does_the_same():
    made = gw.datasets.make_bernoulli(6, n_rows=200, random_state=0).data
    recipe, searches = timed(RECIPES["priority"]())
    plain = gw.MarkovNetwork("priority", lam=0.05, random_state=0).fit(made)
    watched = gw.MarkovNetwork(recipe, lam=0.05, random_state=0).fit(made)
    assert watched.objective_ == plain.objective_
    assert len(searches.seconds) == len(searches.tests) >= watched.model_.n_edges


def test_the_first_step_has_the_values_of_networks_without_edges():
    step = steps("quick")[0]
    found = step.work(CONTEXT)
    assert abs(found["independent, random halves"] - 20.45) < 0.05
    assert found["independent, file order"] > found["uniform"]


@pytest.mark.parametrize("size", ["tiny", "quick", "full"])
def test_steps_have_names_of_their_own(size):
    keys = [step.key for step in find_study("priority").steps(size)]
    assert len(keys) == len(set(keys))


def test_the_preset_has_the_papers_thresholds():
    options = gw.preset("priority-paper")["method_options"]
    assert options == {"central": 4, "density": 0.05, "epsilon": 1e-4}
