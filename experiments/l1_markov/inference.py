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
from experiments.l1_markov.penalties import cmll_of, most_rounds
from graftwork.data import Table
from graftwork.data.encoded import prepare
from graftwork.datasets import make_bernoulli
from graftwork.datasets.drawing import Drawn
from graftwork.errors import ConvergenceWarning
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.assemble import to_model
from graftwork.estimators.presets import preset
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
ARMS = ("annealed", "at one lambda", "all features at once", "exact inference")

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


def induce(
    context: Context,
    train: Table,
    test: Table,
    features: Sequence[int],
    lam: float,
    *,
    exact_too: bool,
) -> list[Line]:
    """Return what each way to choose features has after so many of them, and at its end.

    ``features`` None in a line is the end. With ``exact_too`` the ends by exact inference come too.
    """
    lines = []
    for inference in ("bp", "exact") if exact_too else ("bp",):
        for name, method in INDUCTIONS.items():
            kept = Snapshots(context.observer, lambda record: record.blocks)
            with stalls_are_counted():
                net = MarkovNetwork(
                    method,
                    loss="likelihood",
                    inference=inference,
                    penalty="l1",
                    lam=lam,
                    tol=TOL,
                    method_options={"max_iter": most_rounds(train)},
                    random_state=0,
                    n_jobs=context.n_jobs,
                    verbose=kept,
                ).fit(train)
            about = {"induction": name, "inference": inference, **_health(net)}
            if inference == "bp":
                lines += [
                    {**about, "features": count, **_worth(model, test)}
                    for count, model in _on_the_way(kept, train, features)
                ]
            end = {"features": None, **_worth(net.model_, test)}
            lines.append({**about, **end, "exact_objective": _exact_objective(net, train)})
    return lines


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


def _health(net: MarkovNetwork) -> Line:
    certificate = net.certificate_
    return {
        "rounds": len(net.trace_),
        "untrusted": certificate.n_untrusted,
        "trusted_end": certificate.trusted,
        "stop": certificate.stop,
        "objective": net.objective_,
        "evaluations": net.trace_[-1].evaluations,
    }


# ---- Annealing, and everything at once ----------------------------------------------------------


def anneal(
    context: Context, train: Table, test: Table, lam: float, arms: Sequence[str] = ARMS
) -> list[Line]:
    """Return how belief propagation fares with annealing, without, and with all features at once.

    The paper's own method with its path rule; exact inference beside them is what they would do if
    inference did not matter.
    """
    paper = preset("l1-markov-paper", lam=lam)
    settings: dict[str, Mapping[str, Any]] = {
        "annealed": {**paper, "anneal": 8},
        "at one lambda": {**paper, "anneal": None},
        "all features at once": {**paper, "anneal": None, "method": "full"},
        "exact inference": {**paper, "anneal": None, "inference": "exact"},
    }
    lines = []
    for name in arms:
        with stalls_are_counted():
            net = MarkovNetwork(
                tol=TOL,
                random_state=0,
                n_jobs=context.n_jobs,
                verbose=context.observer,
                **gather({**settings[name], "max_iter": most_rounds(train)}),
            ).fit(train)
        line = {"arm": name, **_health(net), **_worth(net.model_, test)}
        lines.append({**line, "exact_objective": _exact_objective(net, train)})
    return lines


# ---- Marginals of inactive pairs ----------------------------------------------------------------


def pair_rules(context: Context, made: Drawn, lam: float) -> list[Line]:
    """Return how far the path and the product rule are from exact marginals, and what comes of it.

    The network is one learned by exact inference, so that neither rule had a say in it; the error
    is the mean, over pairs that are no edges, of the total variation of their joint marginals.
    """
    settings = {
        **preset("l1-markov-paper", lam=lam),
        "tol": TOL,
        "max_iter": most_rounds(made.data),
    }
    common: dict[str, Any] = {"n_jobs": context.n_jobs, "verbose": context.observer}
    common |= {"random_state": 0, **settings}
    exact = gather({**common, "inference": "exact"})
    given = MarkovNetwork(**exact).fit(made.data).model_
    lines = []
    for rule in ("path", "product"):
        with stalls_are_counted():
            own = gather({**common, "inference": f"bp:rule={rule}"})
            net = MarkovNetwork(**own).fit(made.data)
        found = compare_edges(net, made.model)
        line = {"rule": rule, "error": marginal_error(given, rule)}
        line["spurious"] = found.n_edges - found.n_hits
        lines.append({**line, **_health(net), **_worth(net.model_, tested(made))})
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


def costs(context: Context, made: Drawn, lam: float) -> list[Line]:
    """Return the seconds to learn structure and weights, and weights of the true structure alone.

    By the paper's own method, and by ours: the same loss, penalty and accuracy for both of a pair.
    """
    paper = preset("l1-markov-paper", lam=lam)
    ours = {"method": "working-set", "penalty": "l1", "lam": 2 * lam}
    true = {"method": "full", "anneal": None, "candidates": made.model.edges}
    arms = [
        ("paper", "structure", paper),
        ("paper", "true", {**paper, **true}),
        ("ours", "structure", ours),
        ("ours", "true", {**ours, **true}),
    ]
    lines = []
    for whose, what, settings in arms:
        rows = replace(made.data)  # what was counted before is forgotten
        began = time.perf_counter()
        with stalls_are_counted():
            net = MarkovNetwork(
                tol=1e-4,
                random_state=0,
                n_jobs=context.n_jobs,
                verbose=context.observer,
                **gather({**settings, "max_iter": most_rounds(rows)}),
            ).fit(rows)
        seconds = time.perf_counter() - began
        line = {"whose": whose, "what": what, "seconds": seconds, **_health(net)}
        lines.append({**line, "edges": net.model_.n_edges})
    return lines


def tested(made: Drawn) -> Table:
    """Return the rows to test on."""
    if made.test is None:  # for the type checker: rows to test on were asked for
        raise ValueError("there are no rows to test on")
    return made.test
