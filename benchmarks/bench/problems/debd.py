"""The binary density-estimation data sets, at the lambdas that validation chose."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.judging import find, run_under
from bench.runs import Arrays, Entry, Problem, Results, Size, Source, Target
from graftwork.datasets import load_debd

#: Chosen on validation rows (0/1 coding, one weight an edge: the same number for our tables).
#: Nobody has chosen one for msweb.
LAMS = {
    "nltcs": 1e-5,
    "msnbc": 1e-5,
    "kdd": 10**-4.5,
    "plants": 10**-3.5,
    "jester": 10**-2.5,
    "msweb": 1e-3,
}
TIMED = ("kdd", "msnbc")
NODES = 10


def maker(name: str):
    """Return what makes the problem of a data set."""

    def make(source: Source) -> Arrays:
        parts = load_debd(name, source.folder)
        train, test = (np.ascontiguousarray(table.codes.T) for table in (parts.train, parts.test))
        if source.size != "full":
            rows, columns = (200, 6) if source.size == "tiny" else (1000, 16)
            frequent = np.sort(np.argsort(-train.var(axis=0), kind="stable")[:columns])
            train, test = train[:rows, frequent], test[:rows, frequent]
        vary = np.flatnonzero(train.min(axis=0) < train.max(axis=0))
        nodes = vary[np.linspace(0, len(vary) - 1, min(NODES, len(vary))).astype(int)]
        cards = np.full(train.shape[1], 2)
        return {"codes": train, "test": test, "cards": cards, "nodes": nodes}

    return make


def entries_of(name: str):
    """Return who solves it."""

    def entries(size: Size) -> tuple[Entry, ...]:
        lam = LAMS[name]
        own = Entry("graftwork", "graftwork_fit", {"method": "working-set", "lam": lam})
        peers = (
            Entry("skglm l1", "skglm_nodes", {"lam": lam, "tol": 1e-6}),
            Entry("pyAgrum greedy", "pyagrum_greedy"),
        )
        return (own, *(peers if size == "full" else ()))

    return entries


def score(arrays: Arrays, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer's figures with the number of edges in place of edges."""
    figures = dict(answer)
    if "directed" in figures:
        figures["mean_degree"] = len(figures.pop("directed")) / len(arrays["nodes"])
        figures["nodes"] = len(arrays["nodes"])
    else:
        figures["n_edges"] = len(figures.pop("edges"))
        figures["mean_degree"] = 2 * figures["n_edges"] / arrays["codes"].shape[1]
    return figures


def targets_of(name: str):
    """Return the judge of a data set."""

    def targets(results: Results) -> list[Target]:
        if name not in TIMED:
            return []
        words = f"{name} fully converged at lam={LAMS[name]:.2g} in under 60 s"
        return [run_under(f"debd-{name}", words, find(results, f"debd-{name}", "graftwork"), 60.0)]

    return targets


PROBLEMS = tuple(
    Problem(
        f"debd-{name}",
        f"The data set {name} at lam={lam:.2g}, to 1e-6. skglm solves a sample of the nodes; its "
        "times are scaled to all.",
        maker(name),
        entries_of(name),
        score,
        targets_of(name),
    )
    for name, lam in LAMS.items()
)
