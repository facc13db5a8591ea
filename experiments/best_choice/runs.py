"""Runs of the best-choice study: data as the paper draws them, one method on them, its curve."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from experiments.engine import Context, Found
from experiments.engine.observers import Album, CpuClock, curve_of
from graftwork.comparing import rehearse
from graftwork.data import Table
from graftwork.data.encoded import prepare
from graftwork.datasets import draw, load_jester, load_yummly, scale_free_network
from graftwork.errors import ApproximationWarning, ConvergenceWarning
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.assemble import to_model
from graftwork.estimators.presets import preset
from graftwork.parameters import gather, joined
from graftwork.report.edges import score_edges, true_edges

#: The counters of a round that curves are drawn against; seconds are those of the processor.
COUNTERS = ("seconds", "evaluations", "blocks_scored", "tables_counted")
#: A curve has at most this many points: their networks are evaluated when the clock has stopped.
POINTS = 40
#: Counters and objectives are kept of at most this many rounds.
PATH_POINTS = 400
#: The states of a variable of real data.
STATES: dict[str, tuple[int, ...]] = {"jester": (1, 2, 3, 4, 5), "yummly": (0, 1)}
#: Of the paper's grid (powers of ten) the one at which the pseudo-likelihood finds most.
OUR_LAM = 0.01
#: Changes that are options of the method.
OF_METHOD = ("tests", "structure", "hubs", "hub_threshold")

Setting = Literal["ours", "authors"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where the rows come from.

    Attributes
    ----------
    name : "scale-free", "jester" or "yummly"
    variables : int
    edge_sd : float
        Of a scale-free network.
    rows, tests : int
        Rows to learn from and to test on; of real data at most this many are used.
    made : bool
        Rows with the states of real data are drawn from a network instead.
    """

    name: str
    variables: int
    edge_sd: float = 1.0
    rows: int = 19_000
    tests: int = 1_000
    made: bool = False


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
    max_edges : int, optional
        Where the run ends.
    budget : tuple of pairs
        Where it ends before, because it would take too long: ``max_tests`` or ``max_evaluations``.
    changed : tuple of pairs
        Arguments of `MarkovNetwork` that differ from the setting's, for controls.
    seed : int
        Of the method, on the same data.
    """

    source: Source
    method: str
    setting: Setting
    max_edges: int | None = None
    budget: tuple[tuple[str, int], ...] = ()
    changed: tuple[tuple[str, Any], ...] = ()
    seed: int = 0

    def settings(self) -> dict[str, Any]:
        """Return everything the run depends on, for the record."""
        changes = {"changed": dict(self.changed), "budget": dict(self.budget)}
        return {**asdict(self), **changes, "arguments": arguments(self), "points": POINTS}


@lru_cache(maxsize=1)
def read_rows(source: Source, seed: int, folder: Any, n_jobs: int | None) -> Rows:
    """Return a source's rows; those of the last source asked for are kept.

    Scale-free networks are sampled as the paper did: Gibbs chains, 1,000 sweeps thrown away, every
    tenth kept, whether they have mixed or not (what the check says is in the record).
    """
    if source.name != "scale-free" and not source.made:
        jester = source.name == "jester"
        parts = (load_jester if jester else load_yummly)(folder, random_state=seed)
        return Rows(parts.train[: source.rows], parts.test[: source.tests], None, {})
    rng, states = np.random.default_rng(seed), STATES.get(source.name, range(5))
    model = scale_free_network(
        source.variables, len(states), edge_sd=source.edge_sd, random_state=rng
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        drawn = draw(
            model, source.rows, n_test=source.tests, method="gibbs", max_burn_in=1_000,
            random_state=rng, n_jobs=n_jobs,
        )  # fmt: skip
    assert drawn.test is not None  # test rows were asked for
    if source.made:
        named = (tuple(states),) * source.variables
        train, test = (Table(part.names, named, part.codes) for part in (drawn.data, drawn.test))
        return Rows(train, test, None, {})
    mixing = {"rhat": drawn.mixing.rhat, "limit": drawn.mixing.limit, "ess": drawn.mixing.ess}
    return Rows(drawn.data, drawn.test, model, mixing)


def arguments(plan: Plan) -> dict[str, Any]:
    """Return the arguments of `MarkovNetwork` that a plan stands for.

    Examples
    --------
    >>> network = Source("scale-free", 400)
    >>> arguments(Plan(network, "alpha 0.5", "authors", 1200))["method_options"]
    {'tests': 20, 'alpha': 0.5}
    >>> arguments(Plan(network, "exhaustive", "ours", 1200))
    {'method': 'edge-grafting', 'lam': 0.01, 'max_edges': 1200}
    """
    method = {"exhaustive": "edge-grafting", "first hit": "first-hit"}.get(
        plan.method, "best-choice"
    )
    if plan.setting == "authors":
        of_paper = {"edge-grafting": "exhaustive-paper"}.get(method, f"{method}-paper")
        chosen = preset(of_paper, plan.source.variables)
    else:
        chosen = {"method": method, "lam": OUR_LAM}
    if method == "best-choice":
        alpha = float(plan.method.split()[-1])
        chosen = joined(chosen, {"method_options": {"alpha": alpha}})
    for name, value in plan.changed:
        chosen = joined(chosen, _argument(name, value))
    limits = {"max_edges": plan.max_edges} if plan.max_edges is not None else {}
    return joined(chosen, gather({**limits, **dict(plan.budget)}))


def _argument(name: str, value: Any) -> dict[str, Any]:
    """Return one changed setting as an argument of `MarkovNetwork`."""
    if name == "rule":
        return {"inference": f"bp:rule={value}"}
    return {"method_options": {name: value}} if name in OF_METHOD else gather({name: value})


class Clock(CpuClock):
    """An observer that knows the CPU seconds of a run at the end of each round."""

    def by_round(self) -> list[float]:
        """Return the seconds since the first round."""
        return [time - self._times[0] for time in self._times]


def run(plan: Plan, context: Context) -> Found:
    """Return what became of a run: its end, and its curve, evaluated outside the clock."""
    rows = read_rows(plan.source, context.seed, context.folder, context.n_jobs)
    truth = None if rows.truth is None else true_edges(rows.truth, rows.train.names)
    settings = arguments(plan)
    settings |= {"random_state": context.seed + plan.seed, "n_jobs": context.n_jobs}
    rehearse(settings, rows.train)
    clock = Clock(context.observer)
    album = Album(clock, POINTS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the record says how it ended
        net = MarkovNetwork(**settings, verbose=album).fit(rows.train)
    rounds = _rounds(net, clock)
    curve = _curve(net, album, rounds, rows, truth)
    certificate = net.certificate_
    return {
        **plan.settings(),
        "lam": float(settings["lam"]),
        "true_edges": None if truth is None else len(truth),
        "mixing": dict(rows.mixing),
        "stop": certificate.stop,
        "converged": bool(certificate.converged),
        "first": rounds[min(1, len(rounds) - 1)],
        "end": {**curve[-1], "rounds": len(rounds) - 1},
        "path": curve_of(rounds, tuple(rounds[0]), PATH_POINTS),
        "curve": curve,
    }


def _rounds(net: MarkovNetwork, clock: Clock) -> list[Found]:
    """Return the counters of each round, from the network without edges on."""
    return [
        {
            **{name: getattr(record, name) for name in COUNTERS[1:]},
            "seconds": seconds,
            "round": record.index,
            "edges": record.edges,
            "objective": float(record.objective),
        }
        for record, seconds in zip(net.trace_, clock.by_round(), strict=True)
    ]


def _curve(
    net: MarkovNetwork, album: Album, rounds: list[Found], rows: Rows, truth: Any
) -> list[Found]:
    """Return some rounds: counters, objective, and what their networks are worth."""
    sample = prepare(rows.train, keep_all_states=bool(net.spec().unary), n_jobs=net.n_jobs)
    points = []
    for index, potentials in album.networks():
        point = dict(rounds[index])
        model = to_model(rows.train, sample, potentials)
        point["test_nlpl"] = -float(np.mean(model.log_pseudo_likelihood(rows.test)))
        if truth is not None:
            found = score_edges(potentials.layout, truth)
            point |= {"recall": float(found.recall), "precision": float(found.precision)}
        points.append(point)
    return points
