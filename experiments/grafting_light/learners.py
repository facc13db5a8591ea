"""Chains learned and measured: the six criteria of section 6.1, and the way there."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from experiments.engine import Context, Found
from experiments.engine.observers import CpuClock, Seen, curve_of
from graftwork.data.chains import as_sequences
from graftwork.errors import ConvergenceWarning
from graftwork.estimators import ChainCRF

CURVE = ("evaluations", "objective", "loss", "features", "selected")
#: The sequences a method is tried on first, lambda and rounds of that: so that it is compiled.
_WARM_SEQUENCES, _WARM_LAM, _WARM_ROUNDS = 32, 0.01, 3


def learn_chains(
    context: Context, X: Any, y: Any, test: tuple[Any, Any] | None = None, **settings: Any
) -> tuple[ChainCRF, Found]:
    """Return a chain learned, and its criteria; ``test_error`` where there are sequences to test.

    ``nll`` is of the whole training set, ``selected`` counts the different features there were at
    the end of any round, and ``cpu_seconds`` begin with the first round.
    """
    settings["n_jobs"] = context.n_jobs
    short = {"lam": _WARM_LAM, "max_iter": _WARM_ROUNDS, "max_evaluations": None}
    first = np.arange(len(y)) < _WARM_SEQUENCES
    _fitted(ChainCRF(**{**settings, **short}), as_sequences(X).chosen(first), y[:_WARM_SEQUENCES])
    clock = CpuClock(context.observer)
    seen = Seen(clock)
    net = _fitted(ChainCRF(**settings, verbose=seen), X, y)
    certificate, trace = net.certificate_, net.trace_
    rounds = [
        {**each.to_dict(), "features": each.edges, "selected": count}
        for each, count in zip(trace, seen.counts, strict=True)
    ]
    found: Found = {
        "nll": float(certificate.loss * len(y)),
        **({} if test is None else {"test_error": 1.0 - net.score(*test)}),
        "features": net.model_.n_features,
        "selected": seen.counts[-1],
        "evaluations": trace[-1].evaluations,
        "cpu_seconds": clock.seconds,
        "objective": certificate.objective,
        "rounds": len(trace),
        "converged": certificate.converged,
        "stop": certificate.stop,
        "curve": curve_of(rounds, CURVE),
    }
    return net, found


def _fitted(net: ChainCRF, X: Any, y: Any) -> ChainCRF:
    """Return the chain learned; its certificate says where it did not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return net.fit(X, y)
