"""Learning by belief propagation: in which order features come, how, and what that costs."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.engine import Context
from experiments.engine.observers import Snapshots
from experiments.l1_markov.annealing import networks
from experiments.l1_markov.penalties import cmll_of, paper_settings
from graftwork.data import Table
from graftwork.data.encoded import prepare
from graftwork.datasets import make_bernoulli
from graftwork.datasets.drawing import Drawn
from graftwork.errors import ConvergenceWarning
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.assemble import to_model
from graftwork.grafting.trace import Observer
from graftwork.inference import JunctionTree, LoopyBP
from graftwork.models import PairwiseMRF
from graftwork.parameters import MethodName, gather
from graftwork.report import compare_edges

#: How features are chosen, the paper's names for it, and ours.
INDUCTIONS: dict[str, MethodName] = {
    "gain": "gain",
    "gradient": "grafting",
    "mutual information": "mutual-information",
}
TOL = 1e-5
#: The accuracy to which times are compared.
COST_TOL = 1e-4

Line = dict[str, Any]


@contextmanager
def stalls_are_counted() -> Iterator[None]:
    """Leave out warnings of runs that stall under belief propagation: they are what is counted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def random_rows(context: Context, network: int, n: int, degree: float, rows: int) -> Drawn:
    """Return a random network and rows of it; the same for the same number and seed."""
    seed = 1_000 * context.seed + network
    return make_bernoulli(n, mean_degree=degree, n_rows=rows, random_state=seed)


def exact_objective(net: MarkovNetwork, rows: Table) -> float:
    """Return the exact mean negative log-likelihood plus penalty of what was learned."""
    certificate = net.certificate_
    return float(-net.model_.log_prob(rows).mean() + certificate.objective - certificate.loss)


# ---- The order of features ----------------------------------------------------------------------


def induction_arms(n_variables: int, lam: float, *, exact_too: bool) -> dict[str, dict[str, Any]]:
    """Return the settings of each way to choose features, by inference and name."""
    arms = {}
    for inference in ("bp", "exact") if exact_too else ("bp",):
        for name, method in INDUCTIONS.items():
            changes = {"method": method, "inference": inference, "anneal": None}
            arms[f"{inference}, {name}"] = paper_settings(n_variables, lam, TOL, **changes)
    return arms


def induce(
    context: Context,
    train: Table,
    test: Table,
    features: Sequence[int],
    arms: Mapping[str, Mapping[str, Any]],
) -> list[Line]:
    """Return what each way to choose features has after so many of them, and at its end.

    ``features`` None in a line is the end.
    """
    lines = []
    for arm, settings in arms.items():
        inference, name = arm.split(", ")
        kept = Snapshots(context.observer, lambda record: record.blocks)
        nets = _learn(context, train, settings, kept)
        net = nets[-1]
        about = {"induction": name, "inference": inference, **_health(nets)}
        if inference == "bp":
            lines += [
                {**about, "features": count, **_worth(model, test)}
                for count, model in _on_the_way(kept, train, features)
            ]
        end = {"features": None, **_worth(net.model_, test)}
        lines.append({**about, **end, "exact_objective": _exact_objective(net, train)})
    return lines


def _learn(
    context: Context, rows: Table, settings: Mapping[str, Any], observer: Observer | None = None
) -> list[MarkovNetwork]:
    """Return the network learned with these settings, after those on the way to its lambda."""
    options = {"n_jobs": context.n_jobs, "verbose": observer or context.observer}
    with stalls_are_counted():
        return list(networks(rows, settings, **options))


def _on_the_way(
    kept: Snapshots, train: Table, features: Sequence[int]
) -> Iterator[tuple[int, PairwiseMRF]]:
    sample = prepare(train, keep_all_states=False)
    for count in features:
        if count in kept.found:
            yield count, to_model(train, sample, kept.found[count][1])


def _worth(model: PairwiseMRF, test: Table) -> Line:
    cmll, exact = cmll_of(model, test)
    return {"cmll": cmll, "cmll_exact": exact, "edges": model.n_edges}


def _exact_objective(net: MarkovNetwork, rows: Table) -> float | None:
    fits = JunctionTree().fits(net.model_.potentials.layout)
    return exact_objective(net, rows) if fits else None


def _health(nets: Sequence[MarkovNetwork]) -> Line:
    certificate = nets[-1].certificate_
    return {
        "rounds": sum(len(net.trace_) for net in nets),
        "untrusted": sum(net.certificate_.n_untrusted for net in nets),
        "trusted_end": certificate.trusted,
        "stop": certificate.stop,
        "objective": nets[-1].objective_,
        "evaluations": sum(net.trace_[-1].evaluations for net in nets),
    }


# ---- Annealing, and everything at once ----------------------------------------------------------


def annealing_arms(n_variables: int, lam: float) -> dict[str, dict[str, Any]]:
    """Return the settings with annealing, without, and with all features at once.

    The paper's own method with its path rule; exact inference beside them is what they would do if
    inference did not matter.
    """
    changes: dict[str, dict[str, Any]] = {
        "annealed": {"anneal": 8},
        "at one lambda": {"anneal": None},
        "all features at once": {"anneal": None, "method": "full"},
        "exact inference": {"anneal": None, "inference": "exact"},
    }
    return {name: paper_settings(n_variables, lam, TOL, **own) for name, own in changes.items()}


def anneal(
    context: Context, train: Table, test: Table, arms: Mapping[str, Mapping[str, Any]]
) -> list[Line]:
    """Return how belief propagation fares in each of these ways."""
    lines = []
    for name, settings in arms.items():
        nets = _learn(context, train, settings)
        net = nets[-1]
        line = {"arm": name, **_health(nets), **_worth(net.model_, test)}
        lines.append({**line, "exact_objective": _exact_objective(net, train)})
    return lines


# ---- Marginals of inactive pairs ----------------------------------------------------------------


def rule_arms(n_variables: int, lam: float) -> dict[str, dict[str, Any]]:
    """Return the settings with exact inference, and with either rule."""
    kinds = {"exact": "exact", "path": "bp:rule=path", "product": "bp:rule=product"}
    return {
        name: paper_settings(n_variables, lam, TOL, inference=kind) for name, kind in kinds.items()
    }


def pair_rules(context: Context, made: Drawn, arms: Mapping[str, Mapping[str, Any]]) -> list[Line]:
    """Return how far the path and the product rule are from exact marginals, and what comes of it.

    The network is one learned by exact inference, so that neither rule had a say in it; the error
    is the mean, over pairs that are no edges, of the total variation of their joint marginals.
    """
    given = _learn(context, made.data, arms["exact"])[-1].model_
    lines = []
    for rule in ("path", "product"):
        nets = _learn(context, made.data, arms[rule])
        net = nets[-1]
        found = compare_edges(net, made.model)
        line = {"rule": rule, "error": marginal_error(given, rule)}
        line["spurious"] = found.n_edges - found.n_hits
        lines.append({**line, **_health(nets), **_worth(net.model_, tested(made))})
    return lines


def marginal_error(model: PairwiseMRF, rule: Any) -> float:
    """Return the mean total variation of a rule's marginals of inactive pairs from exact ones."""
    potentials = model.potentials
    layout = potentials.layout
    edges = {tuple(pair) for pair in layout.edges.tolist()}
    count = layout.cards.size
    pairs = np.array(
        [(i, j) for i in range(count) for j in range(i + 1, count) if (i, j) not in edges]
    )
    tables = []
    for engine in (LoopyBP(rule=rule), JunctionTree()):
        beliefs = engine.infer(potentials)
        tables.append(engine.pair_marginals(potentials, beliefs, pairs)[0])
    return float(np.abs(tables[0] - tables[1]).sum() / 2 / len(pairs))


# ---- What structure costs -----------------------------------------------------------------------


def cost_arms(n_variables: int, lam: float) -> dict[str, dict[str, Any]]:
    """Return the settings of the paper's own method and of ours, to the same accuracy.

    The pseudo-likelihood has every pair twice, so that its lambda is twice as large.
    """
    ours = {"method": "working-set", "penalty": "l1", "lam": 2 * lam, "tol": COST_TOL}
    return {
        "paper": paper_settings(n_variables, lam, COST_TOL),
        "ours": {**ours, "random_state": 0},
    }


def costs(context: Context, made: Drawn, arms: Mapping[str, Mapping[str, Any]]) -> list[Line]:
    """Return the CPU seconds to learn structure and weights, and weights of the true structure.

    By the paper's own method, and by ours: the same loss, penalty and accuracy for both of a pair.
    """
    lines = []
    for whose, settings in arms.items():
        true: dict[str, Any] = {"method": "full", "candidates": made.model.edges}
        if whose == "paper":
            true["anneal"] = None
        for what, changes in (("structure", {}), ("true", true)):
            rows = replace(made.data)  # what was counted before is forgotten
            began = time.process_time()
            nets = _learn(context, rows, gather({**settings, **changes}))
            seconds = time.process_time() - began
            line = {"whose": whose, "what": what, "cpu_seconds": seconds, **_health(nets)}
            lines.append({**line, "edges": nets[-1].model_.n_edges})
    return lines


def tested(made: Drawn) -> Table:
    """Return the rows to test on."""
    if made.test is None:  # for the type checker: rows to test on were asked for
        raise ValueError("there are no rows to test on")
    return made.test
