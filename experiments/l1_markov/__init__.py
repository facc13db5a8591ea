"""Lee, Ganapathi and Koller: L1-regularised Markov networks on synthetic data, digits, SNPs.

The digits of the paper's numbers are lost in the copy that there is, so its words are judged: each
claim is about a mean difference over networks, and holds if that exceeds two standard errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from experiments.engine import Context, Found, Report, Size, Step, Study
from experiments.l1_markov import inference, real
from experiments.l1_markov.claims import claims
from experiments.l1_markov.figures import figures, tables
from experiments.l1_markov.inference import Line
from experiments.l1_markov.penalties import (
    PAPER as PAPERS_METHOD,
)
from experiments.l1_markov.penalties import (
    by_paper,
    compare_penalties,
    paper_grid,
    random_parts,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """How large everything is.

    Attributes
    ----------
    networks : int
        Random networks of each kind.
    n, degree, rows
        Of the random networks on which the number of rows varies.
    degrees, sizes, few
        Mean degrees and numbers of variables, one varied at a time, at ``few`` rows.
    exact_n, exact_rows
        Of networks learned by the exact likelihood.
    lambdas : int
        How many strengths are tried for L1 and L2, between 1 and .001.
    features : tuple of int
        After how many features networks are compared.
    timed : tuple of int
        Variables of the networks on which clocks run.
    loopy_n, loopy_degree, loopy_rows
        Of the networks on which belief propagation is watched.
    digits, digit_rows, snp_windows
    loopy_grid : tuple of float
        Strengths of L2 under belief propagation; those below are mostly spent on oscillations.
    """

    networks: int
    n: int
    degree: float
    rows: tuple[int, ...]
    degrees: tuple[float, ...]
    sizes: tuple[int, ...]
    few: int
    exact_n: int
    exact_rows: tuple[int, ...]
    lambdas: int
    features: tuple[int, ...]
    timed: tuple[int, ...]
    loopy_n: int
    loopy_degree: float
    loopy_rows: int
    digits: tuple[int, ...]
    digit_rows: int
    snp_windows: int
    loopy_grid: tuple[float, ...]

    def grid(self) -> list[float]:
        """Return the strengths tried."""
        return [float(lam) for lam in np.geomspace(1.0, 1e-3, self.lambdas)]


PLANS: dict[Size, Plan] = {
    "full": Plan(
        networks=12, n=16, degree=3.0, rows=(50, 100, 200, 500, 1_000),
        degrees=(4.0, 5.0, 6.0), sizes=(32, 64), few=100, exact_n=12, exact_rows=(50, 200, 1_000),
        lambdas=10, features=(4, 8, 12, 16, 24, 32, 40), timed=(16, 32, 64),
        loopy_n=16, loopy_degree=4.0, loopy_rows=500,
        digits=tuple(range(10)), digit_rows=100, snp_windows=12,
        loopy_grid=(0.3, 0.15, 0.07, 0.03),
    ),
    "quick": Plan(
        networks=4, n=12, degree=3.0, rows=(50, 500),
        degrees=(5.0,), sizes=(18,), few=50, exact_n=8, exact_rows=(50,),
        lambdas=7, features=(4, 8, 12, 16), timed=(10, 16),
        loopy_n=10, loopy_degree=4.0, loopy_rows=300,
        digits=(1, 5, 8), digit_rows=50, snp_windows=2,
        loopy_grid=(0.2,),
    ),
}  # fmt: skip

#: Strengths of the likelihood's penalty where belief propagation is watched.
LAM, SMALL_LAM, DIGIT_LAM = 0.01, 0.005, 0.02
SNP_WIDTH = 24
#: Shares of the people to learn from and to validate on.
SNP_SHARES = {"chr22": (0.4, 0.2), "chr10": (0.1, 0.1)}
N_TEST = 500


def steps(size: Size) -> list[Step]:
    """Return the steps of a size, each about one network."""
    plan = PLANS[size]
    return [*_random(plan), *_loopy(plan), *_clocks(plan), *_digits(plan), *_snps(plan)]


def _random(plan: Plan) -> Iterator[Step]:
    kinds: list[dict[str, Any]] = [
        {"n": plan.n, "degree": plan.degree, "rows": sorted({*plan.rows, plan.few}), "paper": True}
    ]
    kinds += [{"n": plan.n, "degree": each, "rows": [plan.few]} for each in plan.degrees]
    kinds += [{"n": each, "degree": plan.degree, "rows": [plan.few]} for each in plan.sizes]
    exact = {"degree": plan.degree, "rows": plan.exact_rows, "loss": "likelihood"}
    kinds.append({"n": plan.exact_n, **exact})
    for kind in kinds:
        loss = " by likelihood" if "loss" in kind else ""
        words = f"penalties, {kind['n']} variables, mean degree {kind['degree']:g}{loss}"
        key = f"penalties-{kind['n']}-{kind['degree']:g}{loss.replace(' ', '-')}"
        for k in range(plan.networks):
            yield _step(f"{key}-{k}", f"{words}, network {k}", penalties, plan, network=k, **kind)


def _loopy(plan: Plan) -> Iterator[Step]:
    kind = {"n": plan.loopy_n, "degree": plan.loopy_degree, "rows": plan.loopy_rows}
    for name, words, work in (
        ("induction", "gain, gradient, mutual information", induction),
        ("annealing", "annealing under belief propagation", annealing),
        ("rules", "marginals of inactive pairs", rules),
    ):
        for k in range(plan.networks):
            yield _step(f"{name}-{k}", f"{words}, network {k}", work, plan, network=k, **kind)


def _clocks(plan: Plan) -> Iterator[Step]:
    for n in plan.timed:
        kind = {"n": n, "degree": plan.degree, "rows": plan.loopy_rows}
        for k in range(plan.networks):
            words = f"what structure costs, {n} variables, network {k}"
            yield _step(f"clocks-{n}-{k}", words, clocks, plan, network=k, **kind)


def _digits(plan: Plan) -> Iterator[Step]:
    for digit in plan.digits:
        yield _step(f"digit-{digit}", f"digit {digit}", a_digit, plan, digit=digit)


def _snps(plan: Plan) -> Iterator[Step]:
    for which in SNP_SHARES:
        for window in range(plan.snp_windows):
            words = f"SNPs of {which}, window {window}"
            yield _step(f"snps-{which}-{window}", words, snps, plan, which=which, window=window)


def _step(key: str, words: str, work: Any, plan: Plan, **kind: Any) -> Step:
    return Step(key, words, partial(work, plan=plan, **kind), {**asdict(plan), **kind})


# ---- What steps do -------------------------------------------------------------------------------


def penalties(
    context: Context, plan: Plan, *, network: int, n: int, degree: float, rows: Any,
    loss: str = "pseudolikelihood", paper: bool = False,
) -> Found:  # fmt: skip
    """Compare penalties on one random network; with ``paper`` its own method too."""
    about = {"network": network, "n": n, "degree": degree, "loss": loss}
    options: dict[str, Any] = {"observer": context.observer, "n_jobs": context.n_jobs}
    lines: list[Line] = []
    for count in rows:
        parts, truth = random_parts(1_000 * context.seed + network, count, n, degree)
        with inference.stalls_are_counted():
            found = compare_penalties(parts, truth, loss=loss, grid=plan.grid(), **options)
            if paper:
                found[PAPERS_METHOD] = by_paper(parts, truth, grid=paper_grid(count), **options)
        lines += [
            {**about, "rows": count, **real.line_of(name, one)} for name, one in found.items()
        ]
    return {"lines": lines}


def induction(context: Context, plan: Plan, *, network: int, **kind: Any) -> Found:
    """Choose features in three ways, on one random network."""
    made = inference.random_rows(context, network, **kind)
    test = inference.tested(made)
    lines = inference.induce(context, made.data, test, plan.features, LAM, exact_too=True)
    return {"lines": [{"network": network, **line} for line in lines]}


def annealing(context: Context, plan: Plan, *, network: int, **kind: Any) -> Found:
    """Learn one random network with and without annealing."""
    made = inference.random_rows(context, network, **kind)
    lines = inference.anneal(context, made.data, inference.tested(made), SMALL_LAM)
    return {"lines": [{"network": network, **line} for line in lines]}


def rules(context: Context, plan: Plan, *, network: int, **kind: Any) -> Found:
    """Compare the rules for inactive pairs on one random network."""
    made = inference.random_rows(context, network, **kind)
    lines = inference.pair_rules(context, made, LAM)
    return {"lines": [{"network": network, **line} for line in lines]}


def clocks(context: Context, plan: Plan, *, network: int, **kind: Any) -> Found:
    """Time one random network; a small one first, so that nothing is compiled meanwhile."""
    inference.costs(context, inference.random_rows(context, 0, 6, 2.0, 50), LAM)
    made = inference.random_rows(context, network, **kind)
    lines = inference.costs(context, made, LAM)
    return {"lines": [{"network": network, "n": kind["n"], **line} for line in lines]}


def a_digit(context: Context, plan: Plan, *, digit: int) -> Found:
    """Compare penalties, losses and orders of features on images of one digit."""
    parts = real.digit_parts(context.folder, digit, plan.digit_rows, N_TEST)
    lines = real.compare_on(context, parts, plan.grid())
    chosen = next(line["lam"] for line in lines if line["penalty"] == "l1")
    lines += real.compare_on_pixels(context, parts, chosen, plan.loopy_grid)
    induced = inference.induce(
        context, parts.train, parts.test, plan.features, DIGIT_LAM, exact_too=False
    )
    annealed = inference.anneal(
        context, parts.train, parts.test, DIGIT_LAM, ("annealed", "at one lambda")
    )
    return {
        "annealing": [{"network": digit, **line} for line in annealed],
        "lines": [{"network": digit, "rows": plan.digit_rows, **line} for line in lines],
        "induction": [{"network": digit, **line} for line in induced],
        "lengths": {"network": digit, **real.edge_lengths(context, parts, chosen)},
    }


def snps(context: Context, plan: Plan, *, which: str, window: int) -> Found:
    """Compare penalties on a window of neighbouring SNPs."""
    parts = real.snp_parts(context, which, window, SNP_WIDTH, SNP_SHARES[which])
    lines = real.compare_on(context, parts, plan.grid())
    about = {"network": window, "which": which, "rows": parts.train.n_rows}
    return {"lines": [{**about, **line} for line in lines]}


PAPER = (
    "S. Lee, V. Ganapathi, D. Koller (2006), Efficient structure learning of Markov networks using "
    "L1-regularization, NIPS 19"
)


def report(found: Mapping[str, Found]) -> Report:
    """Return claims, tables and pictures of what the steps found."""
    return Report(claims(found), tables(found), figures(found))


STUDY = Study("l1-markov", PAPER, steps, report, ("mnist", "hapmap"))
