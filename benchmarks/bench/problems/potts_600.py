"""Scale-free Potts network, 600 variables, 19,000 rows: the paper's largest one."""

from __future__ import annotations

from bench.planted import Planted, score_edges
from bench.races import race, race_targets
from bench.runs import Arrays, Entry, Problem, Results, Size, Source, Target

NAME = "potts-600"
SIZES = {
    "full": Planted(600, 5, 19_000, nodes=6, edge_sd=0.5),
    "smoke": Planted(16, 5, 600, nodes=2),
    "tiny": Planted(6, 5, 200, nodes=1),
}
LAM = 0.01


def make(source: Source) -> Arrays:
    """Return rows and the true network."""
    return SIZES[source.size].make()


def entries(size: Size) -> tuple[Entry, ...]:
    """Return the race of our two searches and, in full, what peers do with so many variables."""
    same = {"lam": LAM, "tol": 1e-4}
    others = (
        Entry(f"graftwork lam={LAM}", "graftwork_fit", same),
        Entry('graftwork lam="auto"', "graftwork_fit", limit=3600.0),
        Entry("pyAgrum greedy", "pyagrum_greedy"),
        Entry(f"skglm group lasso {LAM}", "skglm_groups", same, limit=3600.0),
    )
    quick, slow = race(SIZES[size].variables)
    return (quick, *(others if size == "full" else ()), slow)  # the longest last


def targets(results: Results) -> list[Target]:
    """Judge the race."""
    return race_targets(results, NAME, "potts-200")


PROBLEM = Problem(
    NAME,
    "Scale-free Potts network, n=600, five states, couplings with sd .5 (chains mix), N=19,000. "
    "The first and the last stop at three edges a variable.",
    make,
    entries,
    score_edges,
    targets,
)
