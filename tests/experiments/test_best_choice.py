"""The best-choice study: its steps, a run, and every verdict on made-up results."""

import pytest

from experiments.best_choice import RANKS, SCALES, STUDY, report, steps
from experiments.best_choice.groups import groups
from experiments.best_choice.recorded import RECORDED, shares_of
from experiments.best_choice.runs import COUNTERS, Plan, Source, arguments, run
from experiments.engine import Context
from graftwork.estimators.presets import preset
from graftwork.grafting.trace import Silence

METHODS = ("alpha 0", "alpha 0.5", "alpha 1", "first hit", "exhaustive")


def made_up(family, setting="authors", method="alpha 0.5", name="", stop="edges", **end):
    """Return a run whose objective falls from 200 to its end in three points."""
    n, data = end.pop("n", 40), end.pop("data", "scale-free")
    last = {
        "seconds": 10.0, "evaluations": 100, "blocks_scored": 1000, "tables_counted": 500,
        "edges": 120, "objective": 100.0, "test_nlpl": 90.0, "recall": 0.3, "precision": 0.2, **end,
    }  # fmt: skip
    first = {**last, "seconds": 0.0, "edges": 0, "objective": 200.0, "test_nlpl": 190.0}
    first |= {"recall": 0.0, "precision": 0.0, "evaluations": 1}
    middle = {key: (first[key] + last[key]) / 2 for key in last}
    return {
        "family": family,
        "name": name or f"{setting} {n} {method}",
        "setting": setting,
        "method": method,
        "source": {"name": data, "variables": n, "edge_sd": 1.0},
        "changed": {},
        "mixing": {"rhat": 1.2, "ess": 50.0, "ok": False} if n else {},
        "max_edges": 3 * n,
        "max_seconds": 60.0,
        "stop": stop,
        "end": {**last, "rounds": 3},
        "curve": [first, middle, last],
    }


def as_printed(family, setting="authors", **fixed):
    """Return runs in which alpha trades quality for speed, and exhaustive is best and slowest."""
    ends = {
        "alpha 0": {"seconds": 10.0, "objective": 104.0, "recall": 0.10},
        "alpha 0.5": {"seconds": 12.0, "objective": 102.0, "recall": 0.12},
        "alpha 1": {"seconds": 14.0, "objective": 101.0, "recall": 0.16},
        "first hit": {"seconds": 9.0, "objective": 120.0, "recall": 0.02},
        "exhaustive": {"seconds": 120.0, "objective": 100.0, "recall": 0.31},
    }
    return by_key(made_up(family, setting, m, **{**end, **fixed}) for m, end in ends.items())


def by_key(runs):
    return {f"{one['family']}-{one['name']}": one for one in runs}


def judged(found):
    """Return the claims about runs that there are."""
    return [claim for claim in report(found).claims if "no runs" not in claim.what]


def verdicts(found, *words):
    claims = [c for c in judged(found) if all(word in c.what for word in words)]
    assert claims, words
    return [claim.verdict for claim in claims]


class Listener(Silence):
    """Counts rounds."""

    def __init__(self):
        self.rounds = 0

    def on_round(self, record):
        self.rounds += 1


def test_nothing_run_is_said_of_every_claim():
    made = report({})
    assert {claim.verdict for claim in made.claims} == {"not run"}
    assert not made.figures


@pytest.mark.parametrize("size", ["quick", "full"])
def test_steps_have_keys_of_their_own_and_are_what_the_paper_has(size):
    made = steps(size)
    assert len({step.key for step in made}) == len(made)
    keys = " ".join(step.key for step in made)
    for word in ("ranks", "race", "code", "chain", "alone", "heuristics", "converge", "jester",
                 "yummly"):  # fmt: skip
        assert word in keys
    full = SCALES["full"]
    assert (list(full.caps), full.recorded, full.rows, full.tests) == (
        [200, 400, 600], 400, 19_000, 1_000,
    )  # fmt: skip
    assert STUDY.name == "best-choice"


def test_presets_are_the_authors_and_ours_are_the_defaults():
    source = Source("scale-free", 400)
    theirs = arguments(Plan(source, "alpha 0.25", "authors"), 400)
    assert theirs == {
        **preset("best-choice-paper", 400),
        "method_options": {"tests": 20, "alpha": 0.25},
    }
    assert theirs["penalty_options"] == {"l2": 0.75, "unary": True}
    assert arguments(Plan(source, "first hit", "authors"), 400)["method"] == "first-hit"
    assert arguments(Plan(source, "exhaustive", "authors"), 400)["inference"] == "bp:rule=product"
    changed = Plan(source, "alpha 1", "ours", changed=(("l2", 0.75),))
    assert arguments(changed, 400) == {
        "method": "best-choice", "lam": 0.01, "method_options": {"alpha": 1.0},
        "penalty_options": {"l2": 0.75},
    }  # fmt: skip


def test_ranks_are_those_expected():
    (step,) = [step for step in steps("quick") if step.key == "ranks"]
    found = step.work(Context("quick"))
    assert found["pairs"] == 79_800
    assert len(found["mean"]) == RANKS[1]
    assert all(a <= b <= c for a, b, c in
               zip(found["least"], found["mean"], found["largest"], strict=True))  # fmt: skip
    assert verdicts({"ranks": found}, "Fig. 1") == ["reproduced", "reproduced"]
    wrong = {**found, "mean": [2 * mean for mean in found["mean"]]}
    assert verdicts({"ranks": wrong}, "Fig. 1: mean") == ["differs"]


@pytest.mark.parametrize("setting", ["authors", "ours"])
def test_a_run_has_a_curve_with_counters_and_qualities(setting):
    plan = Plan(Source("scale-free", 6, 1.0, 300, 100), "alpha 0.5", setting, 18, 20.0)
    heard = Listener()
    found = run(plan, Context("quick", n_jobs=1, observer=heard))
    assert heard.rounds  # and no stages: those are the study's
    assert found["true_edges"] == 8
    assert found["end"]["edges"] == found["curve"][-1]["edges"] > 0
    objectives = [point["objective"] for point in found["curve"]]
    assert objectives[-1] < objectives[0]
    for name in (*COUNTERS, "test_nlpl", "recall", "precision"):
        assert all(point[name] >= 0 for point in found["curve"])


def test_a_race_that_ended_at_the_optimum_is_not_run_again_to_convergence():
    known = made_up("race", "ours", "alpha 0", name="ours 20 alpha 0", stop="optimal", n=20)
    (step,) = [step for step in steps("quick") if step.key == "converge-ours-20-alpha-0"]
    found = step.work(Context("quick", before={"race-ours-20-alpha-0": known}))
    assert found == {**known, "family": "converge"}


def test_chains_are_judged_by_their_check():
    found = as_printed("race")
    assert verdicts(found, "do the chains mix") == ["differs"]
    for one in found.values():
        one["mixing"] = {"rhat": 1.01, "ess": 5000.0, "ok": True}
    assert verdicts(found, "do the chains mix") == ["reproduced"]


def test_races_as_printed_are_reproduced():
    found = {**as_printed("race"), **as_printed("race", n=80)}
    assert verdicts(found, "Fig. 2, n=80", "seconds") == ["reproduced"]
    assert verdicts(found, "alpha trades") == ["reproduced", "reproduced"]
    assert verdicts(found, "Fig. 3") == ["reproduced", "reproduced"]
    assert verdicts(found, ": first hit") == ["reproduced", "reproduced"]
    assert verdicts(found, "falls behind") == ["differs", "not run"]  # not more than before


def test_races_that_end_at_one_optimum_differ_and_say_why():
    found = as_printed("race", "ours", objective=100.0, recall=0.9, seconds=5.0, stop="optimal")
    (claim,) = [c for c in judged(found) if "alpha trades" in c.what]
    assert claim.verdict == "differs"
    assert "same objective" in claim.because
    (claim,) = [c for c in judged(found) if "seconds of exhaustive" in c.what]
    assert claim.verdict == "differs"
    assert "scored 1 times the pairs" in claim.because
    assert verdicts(found, ": first hit") == ["differs"]


def test_runs_that_the_clock_ended_are_compared_where_all_have_been():
    found = as_printed("race")
    found["race-authors 40 exhaustive"] |= {"stop": "seconds"}
    found["race-authors 40 exhaustive"]["curve"][1] |= {"objective": 103.0, "seconds": 60.0}
    (group,) = groups(found, "race")
    lead = group.lead()
    assert lead.until == "until objective 104, which all reach"
    assert lead.times == 60.0 / 12.0
    (claim,) = [c for c in judged(found) if "seconds of exhaustive" in c.what]
    assert "exhaustive > 120.0 s" in claim.ours
    (figure,) = [f for f in report(found).figures if f.name == "fig2-4-n40"]
    assert "the clock (60 s) ended exhaustive" in figure.caption


def test_convergence_is_judged_by_the_spread_of_objectives():
    same = as_printed("converge", objective=100.0, stop="optimal")
    assert verdicts(same, "Fig. 5", "end") == ["reproduced"]
    same["converge-authors 40 first hit"]["end"]["seconds"] = 500.0
    assert verdicts(same, "Fig. 5", "last") == ["reproduced"]
    same["converge-authors 40 first hit"] |= {"stop": "seconds"}
    assert verdicts(same, "Fig. 5", "end") == ["differs"]
    other = as_printed("converge", stop="optimal")
    assert verdicts(other, "Fig. 5", "end") == ["differs"]


def test_heuristics_are_judged_at_equal_numbers_of_edges():
    plain = by_key([made_up("heuristics", method="alpha 0.5", recall=0.05)])
    assert verdicts({**plain, **as_printed("race")}, "Fig. 6") == ["reproduced"]
    better = by_key([made_up("heuristics", method="alpha 0.5", recall=0.4)])
    assert verdicts({**better, **as_printed("race")}, "Fig. 6") == ["differs"]
    assert verdicts(plain, "Fig. 6") == ["not run"]


def test_real_data_compare_both_dimensions():
    jester = as_printed("real", data="jester", n=0)
    yummly = as_printed("real", data="yummly", n=0)
    both = {f"{k}-{one['source']['name']}": one for d in (jester, yummly) for k, one in d.items()}
    slower = made_up("real", method="exhaustive", data="yummly", n=0, seconds=500.0)
    both["real-authors 0 exhaustive-yummly"] = slower
    assert verdicts(both, "dimension") == ["reproduced", "not run"]
    assert verdicts(both, "Fig. 7, jester", "seconds") == ["reproduced"]


def test_the_recorded_run_is_compared_in_recall_and_order():
    runs = by_key(
        made_up("code", method=method, recall=values[1], objective=values[2], n=400)
        for method, values in RECORDED.items()
    )
    assert verdicts(runs, "recorded run") == ["reproduced", "reproduced"]
    runs["code-authors 400 alpha 1"]["end"] |= {"recall": 0.9, "objective": 540.0}
    assert verdicts(runs, "recorded run") == ["differs", "differs"]


def test_low_recalls_and_their_cause_are_found():
    ours = as_printed("race", "ours", recall=0.9, objective=50.0, stop="optimal", n=400)
    found = {**as_printed("race", n=400), **as_printed("code", n=400), **ours}
    assert verdicts(found, "settings is low") == ["reproduced", "not run"]
    assert verdicts(found, "recall with our defaults") == ["reproduced", "not run"]
    assert verdicts(found, "seconds with our defaults") == ["reproduced", "not run"]
    chain = by_key([
        made_up("chain", name="free unaries", recall=0.7, n=400),
        made_up("chain", name="pseudo-likelihood", recall=0.8, n=400),
        made_up("alone", name="authors, free unaries", recall=0.2, n=400),
        made_up("alone", "ours", name="ours, penalised unaries", recall=0.2, n=400),
    ])  # fmt: skip
    found |= chain
    assert verdicts(found, "one change after the other") == ["reproduced"]
    assert verdicts(found, "one change alone") == ["differs", "reproduced"]
    chain["chain-free unaries"]["end"]["recall"] = 0.2
    (claim,) = [c for c in judged(found) if "one change after" in c.what]
    assert claim.verdict == "differs"
    assert "free unaries closes 10%, pseudo-likelihood closes 77%" in claim.because


def test_what_the_clock_stopped_is_not_reproduced():
    ours = as_printed("race", "ours", recall=0.9, objective=50.0, stop="optimal", n=400)
    theirs = as_printed("race", n=400, stop="seconds")
    assert verdicts({**theirs, **ours}, "settings is low") == ["differs", "not run"]
    assert verdicts({**theirs, **ours}, "trades", "authors") == ["differs"]
    slow = as_printed("race", "ours", recall=0.9, objective=50.0, stop="seconds", n=400)
    assert verdicts({**theirs, **slow}, "seconds with our defaults") == ["differs", "not run"]
    small = {**as_printed("race"), **as_printed("code"), **as_printed("race", "ours", recall=0.9)}
    assert "differs" in verdicts(small, "settings is low")  # theirs has 400 variables


def test_no_way_no_lead():
    runs = as_printed("race", n=400, stop="seconds")
    for one in runs.values():  # stopped where they began
        one["end"]["objective"] = one["curve"][0]["objective"]
    runs["race-authors 400 alpha 1"]["end"]["objective"] -= 50.0
    [claim] = [c for c in judged(runs) if c.what.startswith("Fig. 2, n=400")]
    assert claim.verdict == "not run"


def test_heuristics_are_compared_while_both_have_edges():
    helped, plain = made_up("race", method="alpha 0.5"), made_up("heuristics", method="alpha 0.5")
    plain["curve"] = plain["curve"][:2]
    plain["end"] = {**plain["end"], "edges": plain["curve"][-1]["edges"]}
    (claim,) = [c for c in judged(by_key([helped, plain])) if "Fig. 6" in c.what]
    assert "+0.000 on average" in claim.ours
    assert claim.verdict == "differs"


def test_shares_of_no_gap_are_zero():
    one = made_up("race")
    assert shares_of(one, [{**one, "name": "x"}], one) == {"x": 0.0, "no ridge": 0.0}


def test_figures_are_drawn():
    from graftwork.report.figures import new_figure

    found = {
        **as_printed("race"),
        **as_printed("race", "ours", objective=50.0),
        **as_printed("converge", stop="optimal"),
        **as_printed("real", data="jester", n=0),
        **by_key([made_up("heuristics"), made_up("chain", name="free unaries"),
                  made_up("alone", "ours", name="ours, ridge")]),
    }  # fmt: skip
    drawn = report(found).figures
    assert [figure.name for figure in drawn] == [
        "fig2-4-n40", "fig2-4-n40-counters", "fig5-convergence", "fig6-heuristics", "fig7-jester",
        "controls",
    ]  # fmt: skip
    for figure in drawn:
        canvas = new_figure(*figure.size)
        figure.draw(canvas)
        assert canvas.axes[0].get_xlabel()
