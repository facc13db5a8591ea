"""Annealing, as the paper does: larger lambdas first, each from the network of the one before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.encoded import prepare
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.spec import FitSpec
from graftwork.grafting import Problem
from graftwork.selection.levels import largest_score

#: Networks on the way are solved to this share of their lambda.
LOOSE = 0.1


def networks(rows: Table, settings: Mapping[str, Any], **options: Any) -> Iterator[MarkovNetwork]:
    """Yield the networks of a run, the one at its own lambda last.

    Parameters
    ----------
    settings : dict
        Arguments of `MarkovNetwork`, and perhaps ``anneal``: the larger lambdas, or their number
        (evenly spaced on a log scale from where the first edge appears).
    **options
        More arguments of `MarkovNetwork`.
    """
    own = dict(settings)
    larger = _larger(rows, own, own.pop("anneal", None))
    run = dict(own.get("method_options") or {})
    for lam in (*larger, own["lam"]):
        last = lam == own["lam"]
        how = {**own, **options, "method_options": run, "lam": lam}
        net = MarkovNetwork(**(how if last else {**how, "tol": LOOSE * lam})).fit(rows)
        yield net
        run["start"] = net
        if "max_iter" in run:  # rounds are limited together
            run["max_iter"] = max(1, run["max_iter"] - len(net.trace_))


def _larger(rows: Table, settings: Mapping[str, Any], anneal: Any) -> list[float]:
    """Return the lambdas before a run's own."""
    if not isinstance(anneal, int):
        return list(anneal or ())
    spec = FitSpec.of({name: value for name, value in settings.items() if name != "anneal"})
    sample = prepare(rows, keep_all_states=bool(spec.unary))
    lam = settings["lam"]
    top = largest_score(Problem(spec.objective_of(sample), spec.penalty_at(lam)))
    return [float(x) for x in np.geomspace(top, lam, anneal + 1)[:-1]] if lam < top else []
