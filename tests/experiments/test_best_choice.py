"""The best-choice study: its steps, a run, and every verdict on made-up results."""

import pytest

from experiments.best_choice import STUDY, report
from experiments.best_choice.groups import Group, groups
from experiments.best_choice.plans import SCALES, steps
from experiments.best_choice.recorded import RECORDED, shares_of
from experiments.best_choice.runs import COUNTERS, Plan, Source, arguments, read_rows, run
from experiments.engine import Context

from doors.estimators import preset
from doors.grafting import Silence

METHODS = ("alpha 0", "alpha 0.5", "alpha 1", "first hit", "exhaustive")
COLUMNS = ("round", "seconds", "evaluations", "blocks_scored", "tables_counted", "edges",
           "objective")  # fmt: skip


def made_up(family, setting="authors", method="alpha 0.5", name="", stop="edges", **end):
    """Return a run whose objective falls from 700 to its end in three points."""
    n, data, rows = end.pop("n", 200), end.pop("data", "scale-free"), end.pop("rows", 19_000)
    changed, lam = end.pop("changed", {}), end.pop("lam", 0.05)
    last = {
        "round": 30, "seconds": 10.0, "evaluations": 100, "blocks_scored": 1000,
        "tables_counted": 500, "edges": 120, "objective": 100.0, "test_nlpl": 90.0, "recall": 0.3,
        "precision": 0.2, **end,
    }  # fmt: skip
    first = {**dict.fromkeys(last, 0), "objective": 700.0, "test_nlpl": 690.0, "evaluations": 1}
    middle = {key: (first[key] + last[key]) / 2 for key in last}
    return {
        "family": family,
        "name": name or f"{setting} {n} {method}",
        "setting": setting,
        "method": method,
        "source": {"name": data, "variables": n, "edge_sd": 1.0, "rows": rows, "made": False},
        "arguments": {"method_options": {"tests": 14}},
        "changed": changed,
        "lam": lam,
        "budget": {"max_tests": 15_000} if stop == "tests" else {},
        "mixing": {"rhat": 1.2, "ess": 50.0, "limit": 1.05} if data == "scale-free" else {},
        "max_edges": None if family == "converge" else 3 * n,
        "true_edges": 100,
        "stop": stop,
        "first": {**middle, "tables_counted": 20, "blocks_scored": 20},
        "end": {**last, "rounds": 30},
        "path": {name: [point[name] for point in (first, middle, last)] for name in COLUMNS},
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


def said(found, *words):
    claims = [c for c in judged(found) if all(word in c.what for word in words)]
    assert claims, words
    return claims


def verdicts(found, *words):
    return [claim.verdict for claim in said(found, *words)]


class Listener(Silence):
    """Counts rounds."""

    def __init__(self):
        self.rounds = 0

    def on_round(self, record):
        self.rounds += 1


# ---- Steps and runs ----------------------------------------------------------------------------


def test_nothing_run_is_said_of_every_claim():
    made = report({})
    assert {claim.verdict for claim in made.claims} == {"not run"}
    assert all(claim.threshold for claim in made.claims)
    assert not made.figures


@pytest.mark.parametrize("size", ["tiny", "quick", "full"])
def test_steps_have_keys_of_their_own_and_are_what_the_paper_has(size):
    made = steps(size)
    assert len({step.key for step in made}) == len(made)
    keys = " ".join(step.key for step in made)
    for word in ("ranks", "race", "code", "chain", "alone", "heuristics", "converge", "hubs-always",
                 "hubs-off", "grid-exhaustive", "jester", "yummly"):  # fmt: skip
        assert word in keys
    full = SCALES["full"]
    assert (full.networks, full.recorded, full.rows, full.tests, full.ranks) == (
        (200, 400, 600), 400, 19_000, 1_000, (400, 500, 100),
    )  # fmt: skip
    assert (full.lambdas, full.ridges) == ((1.0, 0.1, 0.01, 0.001, 0.0001), (0.5, 0.75, 1.0, 1.5))
    assert STUDY.name == "best-choice"


def test_settings_of_a_step_have_all_arguments_and_no_limit_of_time():
    by_name = {step.key: step.settings for step in steps("full")}
    race = by_name["race-authors-600-exhaustive"]
    assert race["arguments"] == {
        **preset("exhaustive-paper", 600), "max_edges": 1800,
        "method_options": {"max_tests": 140_000_000},
    }  # fmt: skip
    assert race["source"]["rows"] == 19_000
    hubs = by_name["hubs-always-0.05"]["plans"]
    assert [plan["seed"] for plan in hubs] == [0, 1, 2]
    assert hubs[0]["arguments"]["method_options"] == {
        "tests": 14, "alpha": 0.5, "hubs": "always", "hub_threshold": 0.05,
    }  # fmt: skip
    grid = by_name["grid-exhaustive"]["plans"]
    ridges = {plan["arguments"]["penalty_options"]["l2"] for plan in grid}
    assert ridges == {0.25, 0.375, 0.5, 0.75}  # half of the paper's
    assert "seconds" not in str(by_name)


def test_presets_are_the_authors_and_ours_are_the_defaults():
    source = Source("scale-free", 400)
    theirs = arguments(Plan(source, "alpha 0.25", "authors"))
    assert theirs == {
        **preset("best-choice-paper", 400),
        "method_options": {"tests": 20, "alpha": 0.25},
    }
    assert theirs["penalty_options"] == {"l2": 0.75, "unary": True}
    assert arguments(Plan(source, "first hit", "authors"))["method"] == "first-hit"
    assert arguments(Plan(source, "exhaustive", "authors"))["inference"] == "bp:rule=product"
    changed = Plan(source, "alpha 1", "ours", changed=(("l2", 0.75), ("structure", False)))
    assert arguments(changed) == {
        "method": "best-choice", "lam": 0.01, "penalty_options": {"l2": 0.75},
        "method_options": {"alpha": 1.0, "structure": False},
    }  # fmt: skip


@pytest.mark.parametrize(("name", "states"), [("jester", (1, 2, 3, 4, 5)), ("yummly", (0, 1))])
def test_made_rows_have_the_states_of_the_data_and_follow_from_the_seed(name, states):
    source = Source(name, 4, rows=50, tests=20, made=True)
    rows = read_rows(source, 3, None, 1)
    assert rows.truth is None
    assert (rows.train.n_rows, rows.test.n_rows) == (50, 20)
    assert set(rows.train.states) == set(rows.test.states) == {states}
    read_rows.cache_clear()
    again = read_rows(source, 3, None, 1)
    assert (again.train.codes == rows.train.codes).all()


@pytest.mark.parametrize("setting", ["authors", "ours"])
def test_a_run_has_a_curve_with_counters_and_qualities(setting):
    plan = Plan(Source("scale-free", 6, 1.0, 300, 100), "alpha 0.5", setting, 18)
    heard = Listener()
    found = run(plan, Context("quick", n_jobs=1, observer=heard))
    assert heard.rounds == found["end"]["rounds"] + 1 == len(found["path"]["edges"])
    assert found["true_edges"] == 8
    assert found["end"]["edges"] == found["curve"][-1]["edges"] > 0
    objectives = [point["objective"] for point in found["curve"]]
    assert objectives[-1] < objectives[0]
    for name in (*COUNTERS, "test_nlpl", "recall", "precision"):
        assert all(point[name] >= 0 for point in found["curve"])
    assert found["first"]["round"] == 1
    assert found["first"]["tables_counted"] == found["first"]["blocks_scored"] > 0


def test_a_budget_ends_a_run():
    source = Source("scale-free", 6, 1.0, 300, 100)
    plan = Plan(source, "first hit", "ours", 18, (("max_evaluations", 3),))
    found = run(plan, Context("quick", n_jobs=1))
    assert found["stop"] == "evaluations"
    whose = Group(6, "scale-free", "ours", {"first hit": found})
    assert whose.ended(["first hit"]) == "a budget ended first hit (after 3 evaluations)"


def test_a_race_that_ended_at_the_optimum_is_not_run_again_to_convergence():
    known = made_up("race", "ours", "alpha 0", name="ours 20 alpha 0", stop="optimal", n=20)
    (step,) = [step for step in steps("quick") if step.key == "converge-ours-20-alpha-0"]
    found = step.work(Context("quick", before={"race-ours-20-alpha-0": known}))
    assert found == {**known, "family": "converge"}


# ---- Verdicts ----------------------------------------------------------------------------------


def test_ranks_are_those_expected():
    (step,) = [step for step in steps("quick") if step.key == "ranks"]
    found = step.work(Context("quick"))
    assert found["pairs"] == 79_800
    assert len(found["mean"]) == 500
    assert all(a <= b <= c for a, b, c in
               zip(found["least"], found["mean"], found["largest"], strict=True))  # fmt: skip
    assert verdicts({"ranks": found}, "Fig. 1") == ["reproduced", "reproduced"]
    wrong = {**found, "mean": [2 * mean for mean in found["mean"]]}
    assert verdicts({"ranks": wrong}, "Fig. 1: mean") == ["differs"]


def test_chains_are_judged_by_their_check():
    found = as_printed("race")
    assert verdicts(found, "do the chains mix") == ["differs"]
    for one in found.values():
        one["mixing"] = {"rhat": 1.01, "ess": 5000.0, "limit": 1.05}
    assert verdicts(found, "do the chains mix") == ["reproduced"]


def test_races_as_printed_are_reproduced():
    found = {**as_printed("race"), **as_printed("race", n=400)}
    assert verdicts(found, "Fig. 2, n=400", "exhaustive against") == ["reproduced", "reproduced"]
    assert verdicts(found, "alpha trades") == ["reproduced", "reproduced"]
    assert verdicts(found, "Fig. 3") == ["reproduced", "reproduced"]
    assert verdicts(found, ": first hit") == ["reproduced", "reproduced"]
    assert verdicts(found, "falls behind") == ["reproduced", "not run"]
    slow = {**as_printed("race"), **as_printed("race", n=400, seconds=10.0)}
    assert verdicts(slow, "falls behind") == ["differs", "not run"]


def test_networks_of_other_sizes_are_not_comparable():
    found = {**as_printed("race", n=20), **as_printed("race", n=40)}
    kinds = ("exhaustive against", "alpha trades", ": first hit", "falls behind")
    for kind in kinds:
        assert set(verdicts(found, kind)) <= {"not comparable", "not run"}
    assert "40 variables, the paper's 200, 400 and 600" in said(found, "n=40", "trades")[0].because
    small = as_printed("converge", n=60, stop="optimal")
    assert verdicts(small, "Fig. 5", "last") == ["not comparable"]
    rows = as_printed("real", data="jester", n=100, rows=600)
    assert verdicts(rows, "Fig. 7, jester", "exhaustive against") == ["not comparable"]


def test_nearly_ten_times_has_two_sides():
    for seconds, verdict in ((120.0, "reproduced"), (50.0, "differs"), (372.0, "differs")):
        found = as_printed("race")
        found["race-authors 200 exhaustive"]["end"]["seconds"] = seconds
        assert verdicts(found, "to add all 600 edges") == [verdict]


def test_a_budget_leaves_open_what_is_not_yet_too_much():
    found = as_printed("race")
    found["race-authors 200 exhaustive"] |= {"stop": "tests", "budget": {"max_tests": 15_000}}
    (claim,) = said(found, "to add all")
    assert claim.verdict == "not comparable"
    assert claim.because == "a budget ended exhaustive (after 15,000 tests)"
    assert "more than 10.0 times" in claim.ours
    found["race-authors 200 exhaustive"]["end"]["seconds"] = 360.0
    assert verdicts(found, "to add all") == ["differs"]
    (figure,) = [f for f in report(found).figures if f.name == "fig2-4-n200"]
    assert "a budget ended exhaustive (authors' settings, after 15,000 tests)" in figure.caption
    found["race-authors 200 first hit"] |= {"stop": "tests"}
    assert verdicts(found, ": first hit") == ["not comparable"]


def test_runs_without_a_limit_of_edges_are_not_comparable():
    found = as_printed("race", "ours", objective=100.0, recall=0.9, seconds=5.0, stop="optimal")
    for kind in ("alpha trades", ": first hit", "to add all"):
        (claim,) = said(found, kind)
        assert claim.verdict == "not comparable"
        assert "all end at the optimum, with 120 edges" in claim.because
    (claim,) = said(found, "exhaustive against")[:1]
    assert claim.verdict == "differs"
    assert "scored 1 times the pairs" in claim.because


def test_the_tradeoff_is_judged_over_all_values_of_alpha():
    found = as_printed("race")
    found["race-authors 200 alpha 0.5"]["end"]["recall"] = 0.2  # above that of alpha 1
    (claim,) = said(found, "alpha trades")
    assert claim.verdict == "differs"
    assert "recall 0.50" in claim.because


def test_a_lead_is_taken_where_all_runs_have_been():
    found = as_printed("race")
    (group,) = groups(found, "race")
    lead = group.lead()
    assert lead.objective == pytest.approx(700 - 0.99 * 596)
    assert lead.way == pytest.approx(0.99 * 596 / 600)
    # straight lines from 700: each run needs its seconds times the share of its own way
    share = {end: (700 - lead.objective) / (700 - end) for end in (100.0, 102.0)}
    assert lead.times == pytest.approx(120.0 * share[100.0] / (12.0 * share[102.0]))


def test_no_way_no_lead():
    runs = as_printed("race")
    for one in runs.values():  # it never left its start
        one["end"]["objective"] = 700.0
        one["path"]["objective"] = [700.0] * 3
    runs["race-authors 200 alpha 1"]["end"]["objective"] -= 50.0
    (claim,) = said(runs, "Fig. 2, n=200", "exhaustive against")[:1]
    assert claim.verdict == "not comparable"
    assert "hardly left its start" in claim.because


def test_convergence_is_judged_by_the_spread_of_objectives():
    same = as_printed("converge", objective=100.0, stop="optimal")
    assert verdicts(same, "Fig. 5", "end") == ["reproduced"]
    assert verdicts(same, "Fig. 5", "last") == ["differs"]
    same["converge-authors 200 first hit"]["end"]["seconds"] = 121.0
    assert verdicts(same, "Fig. 5", "last") == ["reproduced"]
    same["converge-authors 200 first hit"] |= {"stop": "tests"}
    assert verdicts(same, "Fig. 5", "end") == ["not comparable"]
    other = as_printed("converge", stop="optimal")
    assert verdicts(other, "Fig. 5", "end") == ["differs"]


def test_real_data_compare_both_dimensions():
    jester = as_printed("real", data="jester", n=100)
    yummly = as_printed("real", data="yummly", n=489)
    both = {f"{k}-{one['source']['name']}": one for d in (jester, yummly) for k, one in d.items()}
    slower = made_up("real", method="exhaustive", data="yummly", n=489, seconds=500.0)
    both["real-authors 489 exhaustive-yummly"] = slower
    assert verdicts(both, "dimension") == ["reproduced", "not run"]
    assert verdicts(both, "Fig. 7, jester", "exhaustive against") == ["reproduced"]


# ---- Table I, hubs, the grid -------------------------------------------------------------------


def test_table_one_is_judged_by_its_formulas():
    """With r = 20 and t_max = 14 a run may count 20 + 120 * 14 = 1,700 tables for 120 edges."""
    found = as_printed("race", n=200)
    found["race-authors 200 exhaustive"]["first"]["tables_counted"] = 19_900
    found["race-authors 200 exhaustive"]["end"]["blocks_scored"] = 30 * (19_900 - 60)
    (before, counted, scored, in_a_round) = said(found, "Table I, n=200")
    assert [one.verdict for one in (before, counted, scored)] == ["reproduced"] * 3
    assert "0.92 of r + j t_max" not in counted.ours
    assert "at most 0.29 of r + j t_max after every round (r = 20, 0.1 n" in counted.ours
    assert in_a_round.verdict == "differs"  # 980 pairs in 29 rounds, the reservoir's among them
    assert in_a_round.ours.startswith("34 on average")
    found["race-authors 200 alpha 1"]["path"]["tables_counted"][-1] = 1_701
    assert verdicts(found, "after j edges") == ["differs"]
    found["race-authors 200 alpha 1"]["path"]["round"][-1] = 122  # one of 121 edges left again
    assert verdicts(found, "after j edges") == ["reproduced"]
    found["race-authors 200 exhaustive"]["first"]["tables_counted"] = 19_899
    assert verdicts(found, "before the first edge") == ["differs"]


def test_exponents_of_tables_counted():
    found = {}
    for n in (200, 400, 600):
        found |= as_printed("race", n=n, tables_counted=round(n**1.5))
        found[f"race-authors {n} exhaustive"]["end"]["tables_counted"] = n * (n - 1) // 2
    (claim,) = said(found, "counted as n grows")
    assert claim.verdict == "reproduced"
    assert "exhaustive 2.00, alpha 0 1.50" in claim.ours
    found["race-authors 600 alpha 0"]["end"]["tables_counted"] = 600**2 // 3
    assert verdicts(found, "counted as n grows") == ["not comparable"]  # two thirds of all pairs


def hubs(gains, n=200, seeds=2):
    """Return runs of each rule: recalls grow linearly to .1 and these gains."""
    found = {}
    for name, gain in gains.items():
        ends = [0.1 + gain + 0.01 * seed for seed in range(seeds)]
        runs = [made_up("hubs", n=n, recall=end) for end in ends]
        found[f"hubs-{name}"] = {"family": "hubs", "name": name, "runs": runs}
    return found


def test_rules_for_hubs_are_judged_by_their_least_gain():
    gains = {"off": 0.0, "once, mean": 0.08, "once, 0.05": 0.06, "always, mean": 0.081,
             "always, 0.05": 0.06}  # fmt: skip
    found = hubs(gains)
    assert verdicts(found, "Fig. 6", "priorities fall") == ["reproduced", "reproduced"]
    assert verdicts(found, "in every reorganisation or once") == ["reproduced"]
    assert verdicts(found, "threshold of hubs") == ["reproduced"]
    weak = hubs({**gains, "once, 0.05": 0.02, "always, 0.05": 0.06})
    assert verdicts(weak, "priorities fall once") == ["differs"]  # half of it on average
    assert verdicts(weak, "in every reorganisation or once") == ["differs"]
    better = hubs({**gains, "once, 0.05": 0.2, "always, 0.05": 0.2})
    (claim,) = said(better, "threshold of hubs")
    assert claim.verdict == "differs"
    assert claim.because == "threshold 0.05 is best"
    assert set(verdicts(hubs(gains, n=20), "Fig. 6")) == {"not comparable"}
    assert [line["rule"] for line in report(found).tables["hubs"]] == [
        "off", "once", "once", "always", "always",
    ]  # fmt: skip
    del found["hubs-off"]
    (claim,) = [c for c in report(found).claims if "priorities fall once" in c.what]
    assert claim.verdict == "not run"


def test_heuristics_are_judged_at_equal_numbers_of_edges():
    plain = by_key([made_up("heuristics", method="alpha 0.5", recall=0.05)])
    assert verdicts({**plain, **as_printed("race")}, "Fig. 6", "heuristics") == ["reproduced"]
    better = by_key([made_up("heuristics", method="alpha 0.5", recall=0.4)])
    assert verdicts({**better, **as_printed("race")}, "Fig. 6", "heuristics") == ["differs"]
    assert verdicts(plain, "Fig. 6", "heuristics") == ["not run"]


def test_heuristics_are_compared_while_both_have_edges():
    helped, plain = made_up("race", method="alpha 0.5"), made_up("heuristics", method="alpha 0.5")
    plain["curve"] = plain["curve"][:2]
    plain["end"] = {**plain["end"], "edges": plain["curve"][-1]["edges"]}
    (claim,) = said(by_key([helped, plain]), "Fig. 6", "heuristics, alpha")
    assert "+0.000 on average" in claim.ours
    assert claim.verdict == "differs"


def grid(recalls, precisions, stop="edges"):
    """Return the runs of one method: recalls by l2 at each lambda, precisions by lambda."""
    runs = []
    for lam, precision in precisions.items():
        for l2, recall in recalls.items():
            fixed = {"lam": lam, "changed": {"l2": l2 / 2}, "n": 40, "recall": recall,
                     "precision": precision, "test_nlpl": 50.0 + lam}  # fmt: skip
            runs += [made_up("grid", stop=stop, **fixed)]
            runs += [{**made_up("grid", stop=stop, **fixed), "max_edges": None}]
    return {"grid-alpha-0.5": {"family": "grid", "name": "alpha 0.5", "runs": runs}}


def test_the_grid_is_judged_over_all_lambdas_and_ridges():
    falling = {0.1: 0.8, 0.01: 0.4, 0.001: 0.1}
    found = grid({0.5: 0.50, 1.5: 0.46}, falling)
    assert verdicts(found, "grid") == ["reproduced", "reproduced"]
    (l2, small) = said(found, "grid")
    assert "at lambda = 0.001" in l2.ours
    assert "0.1 0.80 (120), 0.01 0.40 (120), 0.001 0.10 (120)" in small.ours
    assert verdicts(grid({0.5: 0.50, 1.5: 0.40}, falling), "sensitivity") == ["differs"]
    turning = {**falling, 0.01: 0.9}
    assert verdicts(grid({0.5: 0.5}, turning), "small lambda") == ["differs"]
    assert verdicts(grid({0.5: 0.5}, {0.1: 0.9, 0.01: 0.8}), "small lambda") == ["differs"]
    assert verdicts(grid({0.5: 0.5}, falling, stop="tests"), "grid") == ["not comparable"] * 2
    assert len(report(found).tables["grid"]) == 12


# ---- The recorded run, and controls ------------------------------------------------------------


def test_the_recorded_run_is_compared_in_recall_and_order():
    runs = by_key(
        made_up("code", method=method, recall=values[1], objective=values[2], n=400)
        for method, values in RECORDED.items()
    )
    assert verdicts(runs, "recorded run") == ["reproduced", "reproduced"]
    runs["code-authors 400 alpha 1"]["end"] |= {"recall": 0.9, "objective": 540.0}
    assert verdicts(runs, "recorded run") == ["differs", "differs"]
    runs["code-authors 400 alpha 1"] |= {"stop": "tests"}
    assert verdicts(runs, "recorded run") == ["not comparable", "not comparable"]


def test_low_recalls_are_found():
    ours = as_printed("race", "ours", recall=0.9, objective=50.0, stop="optimal", n=400)
    found = {**as_printed("race", n=400), **as_printed("code", n=400), **ours}
    assert verdicts(found, "settings is low") == ["reproduced", "not run"]
    assert verdicts(found, "recall with our defaults") == ["reproduced", "not run"]
    assert verdicts(found, "seconds with our defaults") == ["reproduced", "not run"]
    theirs = as_printed("race", n=400, stop="tests")
    assert verdicts({**theirs, **ours}, "settings is low") == ["not comparable", "not run"]
    slow = as_printed("race", "ours", recall=0.9, objective=50.0, stop="tests", n=400)
    runs = {**theirs, **slow}
    assert verdicts(runs, "seconds with our defaults") == ["not comparable", "not run"]
    small = {**as_printed("race"), **as_printed("code"), **as_printed("race", "ours", recall=0.9)}
    assert set(verdicts(small, "settings is low")) <= {"not comparable", "not run"}


def test_the_causes_of_low_recalls_are_found():
    chain = by_key([
        made_up("chain", name="free unaries", recall=0.7),
        made_up("chain", name="pseudo-likelihood", recall=0.8),
        made_up("alone", name="authors, free unaries", recall=0.2),
        made_up("alone", "ours", name="ours, penalised unaries", recall=0.2),
    ])  # fmt: skip
    ours = as_printed("race", "ours", recall=0.9, objective=50.0, stop="optimal")
    found = {**as_printed("race"), **ours, **chain}
    assert verdicts(found, "one change after the other") == ["reproduced"]
    assert verdicts(found, "one change alone") == ["differs", "reproduced"]
    chain["chain-free unaries"]["end"]["recall"] = 0.2
    (claim,) = said(found, "one change after")
    assert claim.verdict == "differs"
    assert "free unaries closes 10%, pseudo-likelihood closes 77%" in claim.because


def test_shares_of_no_gap_are_zero():
    one = made_up("race")
    assert shares_of(one, [{**one, "name": "x"}], one) == {"x": 0.0, "no ridge": 0.0}


def everything():
    """Return some runs of every kind."""
    return {
        **as_printed("race"),
        **as_printed("race", "ours", objective=50.0),
        **as_printed("converge", stop="optimal"),
        **as_printed("real", data="jester", n=100),
        **by_key([made_up("heuristics"), made_up("chain", name="free unaries"),
                  made_up("alone", "ours", name="ours, ridge")]),
        **hubs({"off": 0.0, "once, mean": 0.1, "always, mean": 0.1}),
        **grid({0.5: 0.5, 1.5: 0.4}, {1.0: 0.9, 0.1: 0.5}),
    }  # fmt: skip


def test_any_step_may_be_missing():
    found = everything()
    for key in found:
        assert report({other: one for other, one in found.items() if other != key}).claims
        assert report({key: found[key]}).claims


def test_figures_are_drawn():
    from doors.report import new_figure

    drawn = report(everything()).figures
    assert [figure.name for figure in drawn] == [
        "fig2-4-n200", "fig2-4-n200-counters", "fig5-convergence", "fig6-heuristics", "fig6-hubs",
        "grid-alpha-0.5", "fig7-jester", "controls",
    ]  # fmt: skip
    for figure in drawn:
        canvas = new_figure(*figure.size)
        figure.draw(canvas)
        assert canvas.axes[0].get_xlabel()
