"""Scale-free Potts network, 200 variables, 19,000 rows: the paper's smaller one."""

from __future__ import annotations

import operator

from bench.judging import compare, faster, figure, find
from bench.planted import Planted, score_edges
from bench.races import race
from bench.runs import Arrays, Entry, Problem, Results, Size, Source, Target

NAME = "potts-200"
SIZES = {
    "full": Planted(200, 5, 19_000, nodes=10, edge_sd=0.7),
    "smoke": Planted(12, 5, 600, nodes=3),
    "tiny": Planted(6, 5, 200, nodes=1),
}
LAMS = (0.01, 0.015)
AUTO = 'graftwork lam="auto"'
GREEDY = "pyAgrum greedy"


def make(source: Source) -> Arrays:
    """Return rows and the true network."""
    return SIZES[source.size].make()


def entries(size: Size) -> tuple[Entry, ...]:
    """Return ours and the peers; nodes of a sample where one node takes long."""
    own = [
        Entry(
            f"graftwork lam={lam}",
            "graftwork_fit",
            {"method": "working-set", "lam": lam, "tol": 1e-4},
        )
        for lam in LAMS
    ]
    groups = [
        Entry(f"skglm group lasso {lam}", "skglm_groups", {"lam": lam, "tol": 1e-4}, limit=3600.0)
        for lam in LAMS
    ]
    nodes = {"lam": LAMS[0], "tol": 1e-4, "max_iter": 100}
    alone = Entry(f"scikit-learn l1 {LAMS[0]}", "sklearn_nodes", nodes)
    greedy = Entry(GREEDY, "pyagrum_greedy", limit=3600.0)
    if size != "full":  # other problems have the rest
        return (own[0], greedy)
    race_entries = race(SIZES[size].variables)
    return (Entry(AUTO, "graftwork_fit"), *own, greedy, *groups, alone, *race_entries)


def targets(results: Results) -> list[Target]:
    """Judge structure and time."""
    auto = find(results, NAME, AUTO)
    judged = [
        compare(NAME, 'lam="auto": F1 at least .97', figure(auto, "f1"), operator.ge, 0.97,
                "{value:.3f}"),
        faster(NAME, 'lam="auto", everything included, in at most half of pyAgrum\'s time', auto,
               find(results, NAME, GREEDY), 2.0),
    ]  # fmt: skip
    for lam in LAMS:
        ours = find(results, NAME, f"graftwork lam={lam}")
        theirs = find(results, NAME, f"skglm group lasso {lam}")
        judged += [
            faster(NAME, f"lam={lam}: at least 100 times faster than skglm group lasso node by "
                   "node", ours, theirs, 100.0),
            compare(NAME, f"lam={lam}: F1 at the sampled nodes no lower than skglm's",
                    figure(ours, "f1_nodes"), operator.ge, figure(theirs, "f1_nodes"),
                    "{value:.3f} : {bound:.3f}"),
        ]  # fmt: skip
    return judged


PROBLEM = Problem(
    NAME,
    "Scale-free Potts network, n=200, five states, couplings with sd .7 (chains mix), N=19,000. "
    "Node-wise peers solve a sample of the nodes; their times are scaled to all. The last two stop "
    "at three edges a variable.",
    make,
    entries,
    score_edges,
    targets,
)
