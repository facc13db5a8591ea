"""graftwork.MarkovNetwork with any options, on all rows or the first ones (``rows``).

They come as an array, or as a sparse matrix (``sparse``). A share of the cells may be missing
(``holes``).
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse import csr_array

import graftwork as gw
from graftwork.parameters import gather


def prepare(data, options):
    """Return rows and a learner; test rows are for the answer."""
    own = ("threads", "rows", "sparse", "holes")
    settings = {key: value for key, value in options.items() if key not in own}
    net = gw.MarkovNetwork(random_state=0, n_jobs=options["threads"], **gather(settings))
    rows = data["codes"][: options.get("rows")]
    if "holes" in options:
        missing = np.random.default_rng(0).random(rows.shape) < options["holes"]
        rows = np.where(missing, np.nan, rows)
    return csr_array(rows) if options.get("sparse") else rows, data.get("test"), net


def solve(problem):
    """Fit, everything included."""
    rows, _, net = problem
    with warnings.catch_warnings():  # the certificate says the same
        warnings.simplefilter("ignore", gw.ConvergenceWarning)
        return net.fit(rows)


def answer(problem, net):
    """Edges, objective, certificate and counters."""
    test = problem[1]
    last, certificate = net.trace_[-1], net.certificate_
    found = {
        "edges": net.model_.potentials.layout.edges.tolist(),
        "objective": net.objective_,
        "lam": net.lam_,
        "converged": certificate.converged,
        "stop": certificate.stop,
        "rounds": len(net.trace_),
        "evaluations": last.evaluations,
        "scored": last.blocks_scored,
        "counted": last.tables_counted,
    }
    if test is not None:
        found["test_nlpl"] = -net.score(test)
    return found
