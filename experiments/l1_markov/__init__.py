"""Lee, Ganapathi and Koller: L1-regularised Markov networks on synthetic data, digits, SNPs.

The digits of the paper's numbers are lost in the copy that there is, so its words are judged: most
claims are about a mean difference over networks, and hold if that exceeds two standard errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from experiments.engine import Context, Found, Report, Size, Step, Study
from experiments.l1_markov import inference, real
from experiments.l1_markov.claims import claims
from experiments.l1_markov.corollary import CHAIN, COUPLING, needed_rows
from experiments.l1_markov.corollary_report import (
    corollary_claims,
    corollary_figures,
    corollary_table,
)
from experiments.l1_markov.figures import figures, tables
from experiments.l1_markov.inference import Line
from experiments.l1_markov.penalties import (
    BATCH,
    DRAWN,
    L2_BY_PROPAGATION,
    UNPENALISED,
    annealed_once,
    by_paper,
    compare_penalties,
    paper_grid,
    random_parts,
)
from experiments.l1_markov.penalties import (
    PAPER as PAPERS_METHOD,
)
from experiments.l1_markov.plans import PLANS, Plan

#: Strengths of the likelihood's penalty where belief propagation is watched.
LAM, SMALL_LAM = 0.01, 0.005
#: Shares of the people to learn from and to validate on.
SNP_SHARES = {"chr22": (0.4, 0.2), "chr10": (0.1, 0.1)}
#: How networks are learned where penalties are compared.
PENALTIES = {"l1 and l2": BATCH, "none": UNPENALISED}
#: Rows that score networks on planted chains.
CHAIN_TEST = 4_000


def steps(size: Size) -> list[Step]:
    """Return the steps of a size, each about one network."""
    plan = PLANS[size]
    return [
        *_random(plan), *_loopy(plan), *_clocks(plan), *_corollary(plan), *_digits(plan),
        *_snps(plan),
    ]  # fmt: skip


def _random(plan: Plan) -> Iterator[Step]:
    kinds: list[dict[str, Any]] = [
        {"n": plan.n, "degree": plan.degree, "rows": sorted({*plan.rows, plan.few}), "paper": True}
    ]
    kinds += [{"n": plan.n, "degree": each, "rows": [plan.few]} for each in plan.degrees]
    kinds += [{"n": each, "degree": plan.degree, "rows": [plan.few]} for each in plan.sizes]
    exact = {"degree": plan.degree, "rows": list(plan.exact_rows), "loss": "likelihood"}
    kinds.append({"n": plan.exact_n, **exact})
    for kind in kinds:
        loss = " by likelihood" if "loss" in kind else ""
        words = f"penalties, {kind['n']} variables, mean degree {kind['degree']:g}{loss}"
        key = f"penalties-{kind['n']}-{kind['degree']:g}{loss.replace(' ', '-')}"
        learners: dict[str, Any] = {**PENALTIES}
        if "paper" in kind:
            grids = {count: paper_grid(count) for count in kind["rows"]}
            learners["paper"] = {k: annealed_once(kind["n"], grid) for k, grid in grids.items()}
        for k in range(plan.networks):
            yield _step(
                f"{key}-{k}", f"{words}, network {k}", penalties, {"learners": learners, **DRAWN},
                network=k, grid=plan.grid(), **kind,
            )  # fmt: skip


def _loopy(plan: Plan) -> Iterator[Step]:
    kind = {"n": plan.loopy_n, "degree": plan.loopy_degree, "rows": plan.loopy_rows}
    arms = {
        "induction": inference.induction_arms(plan.loopy_n, LAM, exact_too=True),
        "annealing": inference.annealing_arms(plan.loopy_n, SMALL_LAM),
        "rules": inference.rule_arms(plan.loopy_n, LAM),
    }
    for name, words, work in (
        ("induction", "gain, gradient, mutual information", induction),
        ("annealing", "annealing under belief propagation", annealing),
        ("rules", "marginals of inactive pairs", rules),
    ):
        own = {"features": plan.features} if name == "induction" else {}
        for k in range(plan.networks):
            yield _step(
                f"{name}-{k}", f"{words}, network {k}", work, {}, network=k, arms=arms[name],
                **own, **kind,
            )  # fmt: skip


def _clocks(plan: Plan) -> Iterator[Step]:
    for n in plan.timed:
        kind = {"n": n, "degree": plan.degree, "rows": plan.loopy_rows}
        for k in range(plan.networks):
            words = f"what structure costs, {n} variables, network {k}"
            arms = inference.cost_arms(n, LAM)
            yield _step(f"clocks-{n}-{k}", words, clocks, {}, network=k, arms=arms, **kind)


def _corollary(plan: Plan) -> Iterator[Step]:
    about = {"chain": CHAIN, "coupling": COUPLING}
    for name, arm in plan.arms.items():
        settings = {**about, "arm": asdict(arm), "learner": arm.settings()}
        for k in range(plan.chains):
            words = f"rows needed as variables are added, {name}, chain {k}"
            yield _step(
                f"corollary-{name}-{k}", words, needed_rows, settings, network=k, name=name,
                arm=arm, n_test=CHAIN_TEST,
            )  # fmt: skip


def _digits(plan: Plan) -> Iterator[Step]:
    pixels = plan.side**2
    kind = {
        "side": plan.side,
        "rows": plan.digit_rows,
        "n_test": plan.n_test,
        "grid": plan.grid(),
        "loopy_grid": plan.loopy_grid,
        "features": plan.features,
        "orders": inference.induction_arms(pixels, plan.digit_lam, exact_too=False),
        "annealing": {
            name: arm
            for name, arm in inference.annealing_arms(pixels, plan.digit_lam).items()
            if name in ("annealed", "at one lambda")
        },
    }
    paper = annealed_once(pixels, paper_grid(plan.digit_rows))
    learners = {**PENALTIES, "paper": paper, "l2, bp": L2_BY_PROPAGATION}
    learners |= {"neighbours": real.NEIGHBOURS, "lengths": real.LENGTHS}
    for digit in plan.digits:
        own = {"digit": digit, **kind}
        yield _step(f"digit-{digit}", f"digit {digit}", a_digit, {"learners": learners}, **own)


def _snps(plan: Plan) -> Iterator[Step]:
    kind = {"width": plan.snp_width, "grid": plan.grid()}
    for which, shares in SNP_SHARES.items():
        for window in range(plan.snp_windows):
            words = f"SNPs of {which}, window {window}"
            yield _step(
                f"snps-{which}-{window}", words, snps, {"learners": PENALTIES}, which=which,
                window=window, shares=shares, **kind,
            )  # fmt: skip


def _step(key: str, words: str, work: Any, settings: Mapping[str, Any], **kind: Any) -> Step:
    """Return a step that does its work with these arguments; settings are what else matters."""
    return Step(key, words, partial(work, **kind), {**kind, **settings})


# ---- What steps do -------------------------------------------------------------------------------


def penalties(
    context: Context, *, network: int, n: int, degree: float, rows: Any, grid: list[float],
    loss: str = "pseudolikelihood", paper: bool = False,
) -> Found:  # fmt: skip
    """Compare penalties on one random network; with ``paper`` its own method too."""
    about = {"network": network, "n": n, "degree": degree, "loss": loss}
    options: dict[str, Any] = {"observer": context.observer, "n_jobs": context.n_jobs}
    lines: list[Line] = []
    for count in rows:
        parts, truth = random_parts(1_000 * context.seed + network, count, n, degree)
        with inference.stalls_are_counted():
            found = compare_penalties(parts, truth, loss=loss, grid=grid, **options)
            if paper:
                found[PAPERS_METHOD] = by_paper(parts, truth, grid=paper_grid(count), **options)
        lines += [
            {**about, "rows": count, **real.line_of(name, one)} for name, one in found.items()
        ]
    return {"lines": lines}


def induction(context: Context, *, network: int, features: Any, arms: Any, **kind: Any) -> Found:
    """Choose features in three ways, on one random network."""
    made = inference.random_rows(context, network, **kind)
    test = inference.tested(made)
    lines = inference.induce(context, made.data, test, features, arms)
    return {"lines": [{"network": network, **line} for line in lines]}


def annealing(context: Context, *, network: int, arms: Any, **kind: Any) -> Found:
    """Learn one random network with and without annealing."""
    made = inference.random_rows(context, network, **kind)
    lines = inference.anneal(context, made.data, inference.tested(made), arms)
    return {"lines": [{"network": network, **line} for line in lines]}


def rules(context: Context, *, network: int, arms: Any, **kind: Any) -> Found:
    """Compare the rules for inactive pairs on one random network."""
    made = inference.random_rows(context, network, **kind)
    lines = inference.pair_rules(context, made, arms)
    return {"lines": [{"network": network, **line} for line in lines]}


def clocks(context: Context, *, network: int, arms: Any, **kind: Any) -> Found:
    """Time one random network; a small one first, so that nothing is compiled meanwhile."""
    inference.costs(context, inference.random_rows(context, 0, 6, 2.0, 50), arms)
    made = inference.random_rows(context, network, **kind)
    lines = inference.costs(context, made, arms)
    return {"lines": [{"network": network, "n": kind["n"], **line} for line in lines]}


def a_digit(
    context: Context, *, digit: int, side: int, rows: int, n_test: int, grid: Any, loopy_grid: Any,
    features: Any, orders: Any, annealing: Any,
) -> Found:  # fmt: skip
    """Compare penalties, losses and orders of features on images of one digit."""
    parts = real.digit_parts(context, digit, side, rows, n_test)
    lines = real.compare_on(context, parts, grid)
    chosen = next(line["lam"] for line in lines if line["penalty"] == "l1")
    lines += real.compare_on_pixels(context, parts, chosen, loopy_grid)
    induced = inference.induce(context, parts.train, parts.test, features, orders)
    annealed = inference.anneal(context, parts.train, parts.test, annealing)
    return {
        "annealing": [{"network": digit, **line} for line in annealed],
        "lines": [{"network": digit, "rows": rows, **line} for line in lines],
        "induction": [{"network": digit, **line} for line in induced],
        "lengths": {"network": digit, **real.edge_lengths(context, parts, side, chosen)},
    }


def snps(
    context: Context, *, which: str, window: int, width: int, shares: tuple[float, float], grid: Any
) -> Found:
    """Compare penalties on a window of neighbouring SNPs."""
    parts = real.snp_parts(context, which, window, width, shares)
    lines = real.compare_on(context, parts, grid)
    about = {"network": window, "which": which, "rows": parts.train.n_rows}
    return {"lines": [{**about, **line} for line in lines]}


PAPER = (
    "S. Lee, V. Ganapathi, D. Koller (2006), Efficient structure learning of Markov networks using "
    "L1-regularization, NIPS 19"
)


def report(found: Mapping[str, Found]) -> Report:
    """Return claims, tables and pictures of what the steps found."""
    return Report(
        [*claims(found), *corollary_claims(found)],
        {**tables(found), "corollary": corollary_table(found)},
        [*figures(found), *corollary_figures(found)],
    )


STUDY = Study("l1-markov", PAPER, steps, report, ("mnist", "hapmap"))
