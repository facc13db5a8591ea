"""The likelihood by belief propagation beside the pseudo-likelihood, for a million rows."""

from __future__ import annotations

import numpy as np

from bench.judging import faster, find
from bench.planted import Planted, network, score_edges
from bench.runs import Arrays, Entry, Problem, Results, Size, Source, Target
from graftwork.inference.sampling import gibbs_sample

NAME = "likelihood-600"
SIZES = {
    "full": Planted(600, 5, 1_000_000, edge_sd=0.5),
    "smoke": Planted(12, 5, 2000),
    "tiny": Planted(6, 5, 200),
}
LAM = 0.005
BP, PSEUDO = "likelihood by BP", "pseudo-likelihood"


def make(source: Source) -> Arrays:
    """Return rows of many chains; they are too many for the check of mixing."""
    planted = SIZES[source.size]
    model = planted.model()
    rng = np.random.default_rng(planted.seed)
    codes = gibbs_sample(model.potentials, planted.rows, rng, burn_in=500, n_chains=256, n_jobs=2)
    rows = np.ascontiguousarray(codes.astype(np.uint8).T)
    return {"codes": rows, **network(model), "nodes": np.arange(1)}


def entries(size: Size) -> tuple[Entry, ...]:
    """Return both losses with one penalty and budget; the likelihood also with fewer rows."""
    planted = SIZES[size]
    same = {"lam": LAM, "l2": 1.0, "max_edges": 3 * planted.variables, "tol": 1e-4}
    likelihood = {**same, "loss": "likelihood", "inference": "bp"}
    few = planted.rows // 50
    quick = Entry(f"{BP}, {few:,} rows", "graftwork_fit", {**likelihood, "rows": few}, limit=3600.0)
    return (
        *((quick,) if size == "full" else ()),
        Entry(BP, "graftwork_fit", likelihood, limit=3600.0),
        Entry(PSEUDO, "graftwork_fit", same, limit=900.0),
    )


def targets(results: Results) -> list[Target]:
    """Judge the two losses."""
    ours, theirs = find(results, NAME, BP), find(results, NAME, PSEUDO)
    words = (
        "the likelihood by BP (l2=1, n=600, 1,800 edges) in under a tenth of the "
        "pseudo-likelihood's time for 1,000,000 rows"
    )
    return [faster(NAME, words, ours, theirs, 10.0)]


PROBLEM = Problem(
    NAME,
    "Scale-free Potts network, n=600, five states, couplings with sd .5, a million rows, three "
    "edges a variable at most, l2=1. The likelihood is also learned from a fiftieth of the rows: "
    "the difference is counting.",
    make,
    entries,
    score_edges,
    targets,
)
