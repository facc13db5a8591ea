"""L1 Markov networks: claims on made-up results, tables, pictures, and tiny runs of the steps."""

import json

import numpy as np
import pytest

import graftwork as gw
from experiments import find_study
from experiments import l1_markov as plan
from experiments.engine import Context
from experiments.engine.observers import Snapshots
from experiments.l1_markov import inference, real
from experiments.l1_markov.claims import CONSIDERABLE, above, claims
from experiments.l1_markov.corollary import CHAIN, COUPLING, crossing, needed_rows
from experiments.l1_markov.corollary_report import corollary_claims, needs_of
from experiments.l1_markov.differences import apart, difference, paired, slope
from experiments.l1_markov.made import made_digits, made_genotypes
from experiments.l1_markov.penalties import by_penalty, cmll_of, compare_penalties, random_parts
from graftwork.errors import DataMissingError

from doors.estimators import preset
from doors.report import new_figure

NETWORKS = range(4)


def wobble(k):
    return 0.001 * (k - 1.5)


def penalty_step(k, sign, n=8, degree=3.0, rows=(50, 500), loss="pseudolikelihood"):
    """L1 ahead of L2 ahead of none, most with few rows, the denser and larger the more."""
    lines = []
    for count in rows:
        more = 0.01 * (degree - 3) + 0.01 * max(np.log2(n / 8), 0)
        lead = sign * (1 / count + more) + wobble(k) / count
        cells = {"l1": lead, "l2": 0.0, "none": -sign - lead, "none, 2x rows": 0.0, "paper": lead}
        for penalty, cmll in cells.items():
            hamming = [5 + k % 2] * 4 if (penalty == "l1") == (sign > 0) else [20] * 4
            lines.append(
                {"network": k, "n": n, "degree": degree, "loss": loss, "rows": count,
                 "penalty": penalty, "cmll": float(cmll), "nlpl": 1.0, "hamming": hamming,
                 "edges": 3, "lam": 0.1, "exact": True}
            )  # fmt: skip
    return {"lines": lines}


def health(k, sick=0):
    return {
        "network": k, "rounds": 10, "untrusted": sick, "trusted_end": True, "stop": "optimal",
        "objective": 1.0, "evaluations": 5, "edges": 4, "cmll_exact": True,
    }  # fmt: skip


def induced(k, sign, inference="bp"):
    ranks = {"gain": 0.2, "gradient": 0.1, "mutual information": 0.0}
    return [
        {**health(k), "induction": name, "inference": inference, "features": count,
         "cmll": sign * (rank + wobble(k) * rank), "exact_objective": 1.0}
        for name, rank in ranks.items()
        for count in (4, 8, None)
    ]  # fmt: skip


def annealed(k, sign):
    sick = {"annealed": 0, "at one lambda": 3 + k, "all features at once": 5, "exact inference": 0}
    return [
        {**health(k, n if sign > 0 else 6 - n), "arm": arm, "cmll": -1.0,
         "exact_objective": sign * (n + wobble(k))}
        for arm, n in sick.items()
    ]  # fmt: skip


def made_up(sign):
    """All steps, as the paper says (1) or the other way round (-1)."""
    found = {}
    for k in NETWORKS:
        found[f"penalties-8-3-{k}"] = penalty_step(k, sign)
        found[f"penalties-8-5-{k}"] = penalty_step(k, sign, degree=5.0, rows=(50,))
        found[f"penalties-16-3-{k}"] = penalty_step(k, sign, n=16, rows=(50,))
        found[f"penalties-6-3-by-likelihood-{k}"] = penalty_step(k, sign, 6, loss="likelihood")
        found[f"induction-{k}"] = {"lines": induced(k, sign) + induced(k, sign, "exact")}
        found[f"annealing-{k}"] = {"lines": annealed(k, sign)}
        found[f"rules-{k}"] = {
            "lines": [
                {**health(k), "rule": rule, "error": sign * (n + wobble(k) * n), "cmll": -1.0,
                 "spurious": sign * n * (3 + k)}
                for rule, n in (("path", 1), ("product", 2))
            ]
        }  # fmt: skip
        slow = 1.5 if sign > 0 else 20.0
        found[f"clocks-8-{k}"] = {
            "lines": [
                {**health(k), "n": 8, "whose": whose, "what": what,
                 "cpu_seconds": (slow if what == "structure" else 1.0) + 0.01 * k}
                for whose in ("paper", "ours") for what in ("structure", "true")
            ]
        }  # fmt: skip
        worth = {"l1": 0.5, "paper": 0.5}
        rivals = ("l2", "none", "chow-liu", "l1, neighbours only", "l2, bp", "none, 2x rows")
        worth |= dict.fromkeys(rivals, 0.4)
        lines = [
            {"network": k, "rows": 60, "penalty": name, "cmll": sign * (one + wobble(k) * one),
             "nlpl": 1.0, "hamming": [], "edges": 3, "lam": 0.1, "exact": True}
            for name, one in worth.items()
        ]  # fmt: skip
        lengths = {"network": k, "1": 10, "2": 3, "3": 1}
        found[f"digit-{k}"] = {
            "lines": lines, "induction": induced(k, sign),
            "annealing": annealed(k, sign)[:2], "lengths": lengths,
        }  # fmt: skip
        for which in ("chr22", "chr10"):
            found[f"snps-{which}-{k}"] = {"lines": [{**line, "which": which} for line in lines]}
    return found | chains(sign)


def chains(sign, rows=None):
    """Rows that chains need: for L1 as ln n or, the other way round, as its square; L2 as n^2."""
    powers = {"l1-likelihood": 1, "l1-pseudo": 1, "l2-pseudo": 2} if sign > 0 else {
        "l1-likelihood": 2, "l1-pseudo": 2, "l2-pseudo": 0.5,
    }  # fmt: skip
    found = {}
    for name, power in powers.items():
        for k in NETWORKS:
            lines = []
            for n in (16, 32, 64):
                base = np.log(n) if sign > 0 and "l1" in name else n
                need = (rows or {}).get(n, 100 * base**power) * (1 + 0.01 * k)
                wanted = plan.PLANS["full"].arms[name].excess
                lines += [
                    {"network": k, "arm": name, "n": n, "rows": count, "edges": 9,
                     "excess": wanted * need / count}
                    for count in (need / 1.5, need * 1.5)
                ]  # fmt: skip
            found[f"corollary-{name}-{k}"] = {"lines": lines}
    return found


def test_claims_hold_where_results_are_as_the_paper_says():
    judged_now = find_study("l1-markov").report(made_up(1)).claims
    assert {claim.verdict for claim in judged_now} == {"reproduced"}
    assert all(claim.ours and claim.threshold and not claim.because for claim in judged_now)
    assert any("networks)" in claim.ours and "s.e." in claim.ours for claim in judged_now)


def test_claims_fail_with_a_reason_where_results_are_the_other_way_round():
    judged_now = find_study("l1-markov").report(made_up(-1)).claims
    differ = [claim for claim in judged_now if claim.verdict == "differs"]
    # Only these look the same from both sides.
    fine = {claim.what.split(":")[0] for claim in judged_now if claim.verdict != "differs"}
    assert fine == {"Exact inference"}
    assert all(claim.because for claim in differ if "rows of L2" not in claim.what)
    costs = [claim for claim in differ if claim.what.startswith("CPU time")]
    assert all("evaluated" in claim.because for claim in costs)
    assert len(costs) == 2


def test_a_lead_within_two_standard_errors_is_not_reproduced():
    claim = above("a lead", "above 0", difference([0.1, -0.1, 0.1, -0.05]))
    assert claim.verdict == "differs"
    assert claim.because == "it is within two standard errors of zero"
    assert above("a lead", "above 0", difference([0.1])).verdict == "not run"


def test_a_trend_is_judged_over_all_its_points():
    """Leads of 1, 3 and 2: the last is above the first, and the last step clearly goes down."""
    found = {}
    for n, lead in ((8, 1.0), (16, 3.0), (32, 2.0)):
        for k in NETWORKS:
            step = penalty_step(k, 1, n=n, rows=(50, 500) if n == 8 else (50,))
            for line in step["lines"]:
                line["cmll"] = lead + wobble(k) if line["penalty"] == "l1" else 0.0
            found[f"penalties-{n}-3-{k}"] = step
    [claim] = [c for c in claims(found) if "over L2 with each doubling of the variables" in c.what]
    assert claim.verdict == "differs"
    assert "16 to 32 goes clearly the other way" in claim.because
    assert "means 1, 3, 2 at 8, 16, 32" in claim.ours
    assert claim.threshold.endswith("steps clearly against it = 0")
    for key, step in found.items():
        if key.startswith("penalties-32"):
            for line in step["lines"]:
                line["cmll"] += 3.0 * (line["penalty"] == "l1")
    [claim] = [c for c in claims(found) if "over L2 with each doubling of the variables" in c.what]
    assert claim.verdict == "reproduced"


def test_costs_are_judged_at_every_size():
    """Small networks do not make up for what large ones cost."""
    found = made_up(1)
    for n, ratio in ((8, 1.5), (16, 2.0), (32, 4.0)):
        for k in NETWORKS:
            step = json.loads(json.dumps(found[f"clocks-8-{k}"]))
            for line in step["lines"]:
                line |= {"n": n, "cpu_seconds": ratio if line["what"] == "structure" else 1.0}
            found[f"clocks-{n}-{k}"] = step
    for claim in (c for c in claims(found) if c.what.startswith("CPU time")):
        assert claim.verdict == "differs"
        assert "1.5, 2, 4 for 8, 16, 32 variables, up to 4 with two s.e." in claim.ours
        assert "it grows with the number of variables" in claim.because
        assert claim.threshold == "largest ratio of a size at two standard errors < 3"


def test_costs_of_runs_without_an_optimum_are_not_compared():
    found = made_up(1)
    for k in NETWORKS:
        for line in found[f"clocks-8-{k}"]["lines"]:
            line["stop"] = "stalled" if line["whose"] == "paper" and k > 0 else "optimal"
    paper, ours = (c for c in claims(found) if c.what.startswith("CPU time"))
    assert (paper.verdict, ours.verdict) == ("not comparable", "reproduced")
    for line in found["clocks-8-1"]["lines"]:
        line["stop"] = "optimal"
    paper = next(c for c in claims(found) if c.what.startswith("CPU time"))
    assert "geometric mean of 2 networks" in paper.ours
    assert "2 more networks have no optimum" in paper.ours


def test_few_networks_cannot_tell_what_is_not_clear():
    found = made_up(1)
    for k in NETWORKS:
        for line in found[f"induction-{k}"]["lines"]:
            line["cmll"] = 0.1 * (k - 2) * (line["induction"] == "gain")
    [claim] = [
        c for c in claims(found) if "random networks: held-out CMLL at the end, gain less gradient"
        in c.what
    ]  # fmt: skip
    assert (claim.verdict, claim.because) == ("not comparable", "4 networks cannot tell")


def test_rows_that_grow_with_the_root_of_n_are_not_logarithmic():
    slow, _ = corollary_claims(chains(1, {16: 400.0, 32: 565.7, 64: 800.0}))
    assert slow.verdict == "differs"
    assert "by 1.41 for a doubling" in slow.because
    late, beside = corollary_claims(chains(1, {16: 400.0, 32: 410.0, 64: 590.0}))
    assert (late.verdict, beside.verdict) == ("differs", "differs")
    assert "from 32 variables" in late.because
    found = chains(1)
    found["corollary-l1-likelihood-0"]["lines"] = [
        line for line in found["corollary-l1-likelihood-0"]["lines"] if line["n"] != 64
    ]
    assert set(needs_of(found, "l1-likelihood")) == {16, 32}  # where all chains got there


def test_nothing_is_judged_where_nothing_was_run():
    for found in ({}, {"penalties-8-3-0": penalty_step(0, 1)}):
        report = find_study("l1-markov").report(found)
        assert {claim.verdict for claim in report.claims} == {"not run"}
    assert not [name for name, lines in find_study("l1-markov").report({}).tables.items() if lines]


def test_tables_and_pictures_of_all_that_was_found():
    report = find_study("l1-markov").report(made_up(1))
    json.dumps(report.tables)
    assert all(report.tables.values())
    for lines in report.tables.values():
        assert all(set(line) == set(lines[0]) for line in lines)
    for figure in report.figures:
        canvas = new_figure(*figure.size)
        figure.draw(canvas)
        assert all(ax.get_ylabel() for ax in canvas.axes)
        assert canvas.legends
    assert len(report.figures) == 8


def test_slopes_and_differences_are_those_of_textbooks():
    rng = np.random.default_rng(0)
    x = np.repeat([1.0, 2.0, 3.0], 50)
    y = 0.5 * x + rng.normal(size=x.size)
    found = slope(x, y)
    design = np.c_[np.ones_like(x), x]
    weights, *_ = np.linalg.lstsq(design, y, rcond=None)
    inverse = np.linalg.inv(design.T @ design)
    meat = design.T @ (design * ((y - design @ weights) ** 2)[:, None])
    assert found.mean == pytest.approx(weights[1])
    error = np.sqrt((inverse @ meat @ inverse)[1, 1] * x.size / (x.size - 2))
    assert found.error == pytest.approx(error)
    assert not slope([1, 1, 1], [1, 2, 3]).known
    first, second = rng.normal(size=20), rng.normal(size=30)
    two = apart(first, second)
    assert two.mean == pytest.approx(first.mean() - second.mean())
    assert two.error == pytest.approx(np.sqrt(first.var(ddof=1) / 20 + second.var(ddof=1) / 30))
    lines = [{"network": 0, "p": "a", "y": [1, 5]}, {"network": 0, "p": "b", "y": [1, 2]}]
    assert paired(lines, "p", "a", "b", ("y", 1)) == {0: 3.0}


# ---- Tiny runs ---------------------------------------------------------------------------------

CONTEXT = Context("quick", n_jobs=1)


def test_steps_have_names_of_their_own_and_settings_that_json_holds():
    for size in ("full", "quick", "tiny"):
        steps = find_study("l1-markov").steps(size)
        assert len({step.key for step in steps}) == len(steps)
        json.dumps([dict(step.settings) for step in steps])
    assert plan.PLANS["full"].networks >= 10


def test_penalties_are_compared_on_a_tiny_network():
    kind = {"network": 0, "n": 5, "degree": 2.0, "rows": [40], "paper": True}
    found = plan.penalties(CONTEXT, grid=[1.0, 0.1, 0.01], **kind)
    json.dumps(found)
    names = [line["penalty"] for line in found["lines"]]
    assert names == ["l1", "l2", "none", "none, 2x rows", "paper"]
    assert all(line["exact"] and line["cmll"] < 0 for line in found["lines"])
    edges = {line["penalty"]: line["edges"] for line in found["lines"]}
    assert edges["l2"] == edges["none"] == 10


def test_cmll_is_what_evaluate_says():
    parts, truth = random_parts(0, 30, 5, 2.0)
    value, exact = cmll_of(truth, parts.test)
    assert exact
    assert value == pytest.approx(gw.evaluate(truth, parts.test).cmll)
    few = by_penalty(0, 30, 5, 2.0)
    assert few == compare_penalties(parts, truth)


@pytest.mark.parametrize("key", ["induction", "annealing", "rules"])
def test_belief_propagation_is_watched_on_a_tiny_network(key):
    step = next(one for one in find_study("l1-markov").steps("tiny") if one.key == f"{key}-0")
    found = step.work(CONTEXT)
    json.dumps(found)
    assert {c.verdict for c in claims({f"{key}-0": found})} <= {"not run", "reproduced"}
    assert all(line["rounds"] > 0 and line["cmll"] < 0 for line in found["lines"])


def test_the_path_rule_is_exact_on_trees_and_the_product_rule_is_not():
    alike = [[1.0, 0.0], [0.0, 1.0]]
    chain = gw.PairwiseMRF({n: [0, 1] for n in "abc"}, None, {("a", "b"): alike, ("b", "c"): alike})
    assert inference.marginal_error(chain, "path") < 1e-9
    assert inference.marginal_error(chain, "product") > 0.01


def test_costs_are_of_the_same_problem():
    made = inference.random_rows(CONTEXT, 0, 6, 2.0, 100)
    lines = inference.costs(CONTEXT, made, inference.cost_arms(6, 0.01))
    true = {(line["whose"], line["what"]): line for line in lines}
    for whose in ("paper", "ours"):
        assert true[whose, "structure"]["objective"] <= true[whose, "true"]["objective"] + 1e-3
        assert true[whose, "true"]["edges"] <= made.model.n_edges
    assert CONSIDERABLE > 1


def test_snapshots_keep_the_last_network_of_each_kind():
    made = inference.random_rows(CONTEXT, 0, 5, 2.0, 100)
    kept = Snapshots(CONTEXT.observer, lambda record: record.edges)
    net = gw.MarkovNetwork("grafting", lam=0.02, penalty="l1", verbose=kept).fit(made.data)
    record, network = kept.found[net.model_.n_edges]
    assert record.objective == pytest.approx(net.objective_, abs=1e-6)
    assert network.layout.n_edges == record.edges


def test_families_are_those_who_share_an_allele_everywhere():
    parent, child, other = [0, 1, 2, 0, 2, 0], [1, 1, 1, 0, 2, 0], [2, 1, 0, 2, 0, 2]
    table = gw.Table(
        tuple("abcdef"), ((0, 1, 2, "(missing)"),) * 6, np.array([parent, child, other]).T
    )
    first, second, third = real.families(table)
    assert first == second != third


def test_steps_without_their_data_are_skipped(tmp_path):
    context = Context("quick", n_jobs=1, folder=tmp_path)
    for key in ("digit-1", "snps-chr22-0"):
        step = next(one for one in find_study("l1-markov").steps("quick") if one.key == key)
        with pytest.raises(DataMissingError):
            step.work(context)


def test_made_rows_are_of_the_kind_of_the_data_sets():
    digits = made_digits(3, 50, 7)
    assert digits.names[:2] == ("r0c0", "r0c1")
    assert (digits.codes == made_digits(3, 50, 7).codes).all()
    assert (digits.codes != made_digits(4, 50, 7).codes).any()
    raw = made_genotypes("chr22", *real.MADE_PANEL, binary=False)
    carriers = made_genotypes("chr22", *real.MADE_PANEL, binary=True)
    here = raw.codes < 3
    assert (np.minimum(raw.codes, 1)[here] == carriers.codes[here]).all()
    assert 0 < (~here).mean() < 0.03
    assert len(set(real.families(raw))) > 0.9 * raw.n_rows  # hardly anybody is another's child
    near = np.corrcoef(carriers.codes[:2].astype(float))[0, 1]
    assert near > 0.3


# ---- The corollary -----------------------------------------------------------------------------


def test_rows_between_two_are_found_where_the_excess_is_a_power_of_them():
    rows = [50, 100, 200, 400]
    assert crossing(rows, [300.0 / count for count in rows], 2.0) == pytest.approx(150.0)
    assert crossing(rows, [8.0, 4.0, 2.0, 1.0], 0.5) is None


def test_the_excess_is_above_the_true_network_and_falls_with_rows():
    arm = plan.PLANS["tiny"].arms["l1-likelihood"]
    found = needed_rows(CONTEXT, network=0, name="l1", arm=arm, n_test=2_000)
    json.dumps(found)
    for n in arm.sizes:
        lines = [line for line in found["lines"] if line["n"] == n]
        excess = [line["excess"] for line in lines]
        assert excess == sorted(excess, reverse=True)
        assert excess[-1] <= arm.excess < excess[-2]
        for line in lines:
            assert line["lam"] == pytest.approx(0.6 * np.sqrt(np.log(n) / line["rows"]))
            assert line["converged"]


def test_the_excess_asked_for_is_a_fifth_of_what_the_chain_is_worth():
    """Both by hand: neighbours agree with probability p, and coins are fair."""
    p = np.exp(COUPLING) / (np.exp(COUPLING) + np.exp(-COUPLING))
    entropy = -p * np.log(p) - (1 - p) * np.log(1 - p)
    arms = plan.PLANS["full"].arms
    likelihood = (CHAIN - 1) * (np.log(2) - entropy)
    assert arms["l1-likelihood"].excess == pytest.approx(likelihood / 5, rel=0.02)
    both = p**2 + (1 - p) ** 2  # the neighbours of one in the middle agree with each other
    q = p**2 / both
    inner = both * (-q * np.log(q) - (1 - q) * np.log(1 - q)) + (1 - both) * np.log(2)
    pseudo = CHAIN * np.log(2) - 2 * entropy - (CHAIN - 2) * inner
    assert arms["l2-pseudo"].excess == pytest.approx(pseudo / 5, rel=0.05)


def test_the_papers_own_settings():
    settings = preset("l1-markov-paper", lam=0.1)
    assert settings["method"] == "gain"
    assert settings["inference"] == "bp"
    assert settings["penalty"] == "l1"
    gw.MarkovNetwork(**settings).spec()
