"""MarkovNetwork.bootstrap: resamples of a fitted network, without case dropping."""

from __future__ import annotations

import numpy as np

import graftwork as gw


def prepare(data, options):
    """Return rows, with a share of the cells missing if asked for, and a network fitted to them."""
    rows, settings = data["codes"], {}
    if "holes" in options:
        missing = np.random.default_rng(0).random(rows.shape) < options["holes"]
        rows, settings = np.where(missing, np.nan, rows), {"missing": options["missing"]}
    net = gw.MarkovNetwork(random_state=0, n_jobs=options["threads"], **settings)
    return rows, net.fit(rows), options["resamples"]


def solve(problem):
    """Learn again from resamples."""
    rows, net, count = problem
    return net.bootstrap(rows, count, case_dropping=False, random_state=0)


def answer(problem, boot):
    """How many edges the network has, and its resamples on average."""
    _, net, count = problem
    return {
        "resamples": count,
        "n_edges": net.model_.n_edges,
        "edges_a_resample": float(boot.frequencies.sum()),
    }
