"""Scale-free Potts network, 50 variables, 5,000 rows: all structure learners, all nodes."""

from __future__ import annotations

from bench.planted import Planted, score_edges
from bench.runs import Arrays, Entry, Problem, Size, Source

SIZES = {
    "full": Planted(50, 5, 5000, nodes=50),
    "smoke": Planted(12, 5, 600, nodes=4),
    "tiny": Planted(6, 5, 200, nodes=1),
}
LAM = 0.02


def make(source: Source) -> Arrays:
    """Return rows and the true network."""
    return SIZES[source.size].make()


def entries(size: Size) -> tuple[Entry, ...]:
    """Return ours, and the peers on every node."""
    same = {"lam": LAM, "tol": 1e-4}
    prox = {"lam": LAM, "iterations": 100 if size == "full" else 20}
    given = Entry(f"graftwork lam={LAM}", "graftwork_fit", same)
    return (
        Entry('graftwork lam="auto"', "graftwork_fit"),
        *((given,) if size == "full" else ()),
        Entry("pyAgrum greedy", "pyagrum_greedy"),
        Entry(f"skglm group lasso {LAM}", "skglm_groups", same),
        Entry(f"scikit-learn l1 {LAM}", "sklearn_nodes", {**same, "max_iter": 100}),
        Entry(f"pxpy prox-l1 {LAM}", "pxpy_prox", prox, limit=600.0),
    )


PROBLEM = Problem(
    "potts-50",
    "Scale-free Potts network, n=50, five states, N=5,000.",
    make,
    entries,
    score_edges,
)
