"""Runs of the best-choice study: data as the paper draws them, one method on them, its curve."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from experiments.engine import Context, Found
from graftwork.comparing.networks import make_task
from graftwork.comparing.runner import Attempt, run_methods
from graftwork.data import Table
from graftwork.data.encoded import prepare
from graftwork.datasets import draw, load_jester, load_yummly, scale_free_network
from graftwork.errors import ApproximationWarning
from graftwork.estimators.assemble import to_model
from graftwork.estimators.presets import preset
from graftwork.parameters import gather, joined
from graftwork.report.edges import score_edges

#: The counters of a round that curves are drawn against.
COUNTERS = ("seconds", "evaluations", "blocks_scored", "tables_counted")
#: A curve has at most so many points: their networks are evaluated when the clock has stopped.
POINTS = 40

Setting = Literal["ours", "authors"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where the rows come from.

    Attributes
    ----------
    name : "scale-free", "jester" or "yummly"
    variables, edge_sd :
        Of a scale-free network.
    rows, tests : int
        Rows to learn from and to test on; of real data at most so many are used.
    """

    name: str
    variables: int = 0
    edge_sd: float = 1.0
    rows: int = 19_000
    tests: int = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows to learn from and to test on, the true network where there is one, and its chains."""

    train: Table
    test: Table
    truth: Any
    mixing: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """One run: the data, the method, whose settings, and what is changed of them.

    Attributes
    ----------
    method : str
        "exhaustive", "first hit", or "alpha 0.5" and the like for best-choice.
    max_edges, max_seconds : optional
        Where the run ends at the latest.
    changed : tuple of pairs
        Arguments of `MarkovNetwork` that differ from the setting's, for controls.
    """

    source: Source
    method: str
    setting: Setting
    max_edges: int | None = None
    max_seconds: float | None = None
    changed: tuple[tuple[str, Any], ...] = ()

    def settings(self) -> dict[str, Any]:
        """Return everything the run depends on, for the record."""
        return {**asdict(self), "changed": dict(self.changed)}


@lru_cache(maxsize=1)
def read_rows(source: Source, seed: int, folder: Any, n_jobs: int | None) -> Rows:
    """Return a source's rows; those of the last source asked for are kept.

    Scale-free networks are sampled as the paper did: Gibbs chains, 1,000 sweeps thrown away, every
    tenth kept, whether they have mixed or not (what the check says is in the record).
    """
    if source.name != "scale-free":
        jester = source.name == "jester"
        parts = (load_jester if jester else load_yummly)(folder, random_state=seed)
        return Rows(parts.train[: source.rows], parts.test[: source.tests], None, {})
    rng = np.random.default_rng(seed)
    model = scale_free_network(source.variables, 5, edge_sd=source.edge_sd, random_state=rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        drawn = draw(
            model, source.rows, n_test=source.tests, method="gibbs", max_burn_in=1_000,
            random_state=rng, n_jobs=n_jobs,
        )  # fmt: skip
    assert drawn.test is not None  # test rows were asked for
    mixing = {"rhat": drawn.mixing.rhat, "ess": drawn.mixing.ess, "ok": drawn.mixing.ok}
    return Rows(drawn.data, drawn.test, model, mixing)


def arguments(plan: Plan, n: int) -> dict[str, Any]:
    """Return the arguments of `MarkovNetwork` that a plan stands for.

    Examples
    --------
    >>> arguments(Plan(Source("scale-free", 400), "alpha 0.5", "authors"), 400)["method_options"]
    {'tests': 20, 'alpha': 0.5}
    >>> arguments(Plan(Source("scale-free", 400), "exhaustive", "ours"), 400)
    {'method': 'edge-grafting', 'lam': 0.01}
    """
    method = {"exhaustive": "edge-grafting", "first hit": "first-hit"}.get(
        plan.method, "best-choice"
    )
    if plan.setting == "authors":
        of_paper = {"edge-grafting": "exhaustive-paper"}.get(method, f"{method}-paper")
        chosen = preset(of_paper, n)
    else:
        chosen = {"method": method, "lam": OUR_LAM}
    if method == "best-choice":
        alpha = float(plan.method.split()[-1])
        chosen = joined(chosen, {"method_options": {"alpha": alpha}})
    for name, value in dict(plan.changed).items():
        chosen = joined(chosen, _argument(name, value))
    return chosen


def _argument(name: str, value: Any) -> dict[str, Any]:
    """Return one changed setting as an argument of `MarkovNetwork`."""
    if name == "rule":
        return {"inference": f"bp:rule={value}"}
    if name in ("tests", "structure"):
        return {"method_options": {name: value}}
    return gather({name: value})


#: Of the paper's grid (powers of ten) the one at which the pseudo-likelihood finds most.
OUR_LAM = 0.01


def run(plan: Plan, context: Context) -> Found:
    """Return what became of a run: its end, and its curve, evaluated outside the clock."""
    rows = read_rows(plan.source, context.seed, context.folder, context.n_jobs)
    chosen = arguments(plan, rows.train.n_variables)
    lam = chosen.pop("lam")
    task = make_task(
        rows.train,
        {plan.method: chosen},
        lam=lam,
        truth=rows.truth,
        test=rows.test,
        random_state=context.seed,
        n_jobs=context.n_jobs,
        max_edges=plan.max_edges,
        max_seconds=plan.max_seconds,
        points=POINTS,
    )
    (attempt,) = run_methods(task, context.observer).attempts
    curve = _curve(attempt, rows, task.truth)
    certificate = attempt.net.certificate_
    return {
        **plan.settings(),
        "lam": float(lam),
        "true_edges": None if task.truth is None else len(task.truth),
        "mixing": dict(rows.mixing),
        "stop": certificate.stop,
        "converged": bool(certificate.converged),
        "end": {**curve[-1], "rounds": len(attempt.net.trace_)},
        "curve": curve,
    }


def _curve(attempt: Attempt, rows: Rows, truth: Any) -> list[Found]:
    """Return some rounds: counters, objective, and what their networks are worth."""
    net = attempt.net
    sample = prepare(rows.train, keep_all_states=bool(net.spec().unary), n_jobs=net.n_jobs)
    told = {record.index: record for record in net.trace_}
    points = []
    for index, potentials in attempt.watcher.networks():
        record = told[index]
        point: Found = {name: getattr(record, name) for name in COUNTERS}
        point |= {"edges": record.edges, "objective": record.objective}
        model = to_model(rows.train, sample, potentials)
        point["test_nlpl"] = -float(np.mean(model.log_pseudo_likelihood(rows.test)))
        if truth is not None:
            found = score_edges(potentials.layout, truth)
            point |= {"recall": found.recall, "precision": found.precision}
        points.append({name: _plain(value) for name, value in point.items()})
    return points


def _plain(value: Any) -> float | int:
    return int(value) if isinstance(value, int | np.integer) else float(value)
