"""Scale-free Ising network, 100 variables, 10,000 rows: the home ground of node-wise l1."""

from __future__ import annotations

from bench.judging import faster, find
from bench.planted import Planted, score_edges
from bench.runs import Arrays, Entry, Problem, Results, Size, Source, Target

NAME = "ising-100"
SIZES = {
    "full": Planted(100, 2, 10_000, nodes=100),
    "smoke": Planted(20, 2, 1000, nodes=20),
    "tiny": Planted(6, 2, 200, nodes=6),
}
LAM = 0.01
OWN, LOOP = f"graftwork lam={LAM}", f"skglm l1 {LAM}"


def make(source: Source) -> Arrays:
    """Return rows and the true network."""
    return SIZES[source.size].make()


def entries(size: Size) -> tuple[Entry, ...]:
    """Return ours with skglm's tolerance and with our own, and the peers on every node."""
    same = {"lam": LAM, "tol": 1e-4}
    more = (
        Entry(f"{OWN}, tol=1e-6", "graftwork_fit", {"method": "working-set", "lam": LAM}),
        Entry('graftwork lam="auto"', "graftwork_fit"),
    )
    return (
        Entry(OWN, "graftwork_fit", {"method": "working-set", **same}),
        *(more if size == "full" else ()),
        Entry(LOOP, "skglm_nodes", same),
        Entry(f"scikit-learn l1 {LAM}", "sklearn_nodes", {**same, "max_iter": 1000}),
        Entry("pyAgrum greedy", "pyagrum_greedy"),
    )


def targets(results: Results) -> list[Target]:
    """Judge one fit."""
    ours, theirs = find(results, NAME, OWN), find(results, NAME, LOOP)
    words = f"one fit at lam={LAM} no slower than skglm's l1 loop over the nodes"
    return [faster(NAME, words, ours, theirs, 1.0)]


PROBLEM = Problem(
    NAME,
    "Scale-free Ising network, n=100, N=10,000. skglm's loop has the same penalty and tolerance.",
    make,
    entries,
    score_edges,
    targets,
)
