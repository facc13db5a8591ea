"""L1 Markov networks: claims on made-up results, tables, pictures, and tiny runs of the steps."""

import json
from functools import partial

import numpy as np
import pytest

import graftwork as gw
from experiments import find_study
from experiments import l1_markov as plan
from experiments.engine import Context
from experiments.engine.observers import Snapshots
from experiments.l1_markov import inference, real
from experiments.l1_markov.claims import CONSIDERABLE, above, claims
from experiments.l1_markov.differences import difference, paired, slope
from experiments.l1_markov.penalties import by_penalty, cmll_of, compare_penalties, random_parts
from graftwork.errors import DataMissingError
from graftwork.estimators.presets import preset
from graftwork.report.figures import new_figure

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
                 "seconds": (slow if what == "structure" else 1.0) + 0.01 * k}
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
    return found


def test_claims_hold_where_results_are_as_the_paper_says():
    judged_now = claims(made_up(1))
    assert {claim.verdict for claim in judged_now} == {"reproduced"}
    assert all(claim.ours and not claim.because for claim in judged_now)
    assert any("networks)" in claim.ours and "s.e." in claim.ours for claim in judged_now)


def test_claims_fail_with_a_reason_where_results_are_the_other_way_round():
    judged_now = claims(made_up(-1))
    differ = [claim for claim in judged_now if claim.verdict == "differs"]
    # Only these look the same from both sides.
    fine = {claim.what.split(":")[0] for claim in judged_now if claim.verdict != "differs"}
    assert fine == {"Exact inference"}
    assert all(claim.because for claim in differ)
    costs = [claim for claim in differ if claim.what.startswith("Seconds")]
    assert all("evaluated" in claim.because for claim in costs)
    assert len(costs) == 2


def test_a_lead_within_two_standard_errors_is_not_reproduced():
    claim = above("a lead", "above 0", difference([0.1, -0.1, 0.1, -0.05]))
    assert claim.verdict == "differs"
    assert claim.because == "it is within two standard errors of zero"
    assert above("a lead", "above 0", difference([0.1])).verdict == "not run"


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
    assert len(report.figures) == 7


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
    lines = [{"network": 0, "p": "a", "y": [1, 5]}, {"network": 0, "p": "b", "y": [1, 2]}]
    assert paired(lines, "p", "a", "b", ("y", 1)) == {0: 3.0}


# ---- Tiny runs ---------------------------------------------------------------------------------

CONTEXT = Context("quick", n_jobs=1)


def test_steps_have_names_of_their_own_and_settings_that_json_holds():
    for size in ("full", "quick"):
        steps = find_study("l1-markov").steps(size)
        assert len({step.key for step in steps}) == len(steps)
        json.dumps([dict(step.settings) for step in steps])
    assert plan.PLANS["full"].networks >= 10


def test_penalties_are_compared_on_a_tiny_network():
    tiny = plan.PLANS["quick"]
    kind = {"network": 0, "n": 5, "degree": 2.0, "rows": [40], "paper": True}
    found = plan.penalties(CONTEXT, tiny, **kind)
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


@pytest.mark.parametrize("work", [plan.induction, plan.annealing, plan.rules])
def test_belief_propagation_is_watched_on_a_tiny_network(work):
    tiny = plan.PLANS["quick"]
    found = work(CONTEXT, tiny, network=0, n=6, degree=2.0, rows=100)
    json.dumps(found)
    key = work.__name__
    assert {claim.verdict for claim in claims({f"{key}-0": found})} <= {"not run", "reproduced"}
    assert all(line["rounds"] > 0 and line["cmll"] < 0 for line in found["lines"])


def test_the_path_rule_is_exact_on_trees_and_the_product_rule_is_not():
    alike = [[1.0, 0.0], [0.0, 1.0]]
    chain = gw.PairwiseMRF({n: [0, 1] for n in "abc"}, None, {("a", "b"): alike, ("b", "c"): alike})
    assert inference.marginal_error(chain, "path") < 1e-9
    assert inference.marginal_error(chain, "product") > 0.01


def test_costs_are_of_the_same_problem():
    made = inference.random_rows(CONTEXT, 0, 6, 2.0, 100)
    lines = inference.costs(CONTEXT, made, 0.01)
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
    tiny = plan.PLANS["quick"]
    works = (
        partial(plan.a_digit, digit=1),
        partial(plan.snps, which="chr22", window=0),
    )
    for work in works:
        with pytest.raises(DataMissingError):
            work(context, tiny)


def test_the_papers_own_settings():
    settings = preset("l1-markov-paper", lam=0.1)
    assert settings["method"] == "gain"
    assert settings["inference"] == "bp"
    assert settings["penalty"] == "l1"
    gw.MarkovNetwork(**settings).spec()
