"""graftwork.ChainCRF with its defaults, from dicts."""

from __future__ import annotations

from token_dicts import dicts, labels

from graftwork import ChainCRF


def prepare(data, options):
    """Return dicts and labels, the dicts to predict labels of, and the learner."""
    crf = ChainCRF(n_jobs=options["threads"])
    return dicts(data, "train"), labels(data, "train"), dicts(data, "test"), crf


def solve(problem):
    """Fit from dicts."""
    X, y, _, crf = problem
    return crf.fit(X, y)


def answer(problem, crf):
    """Predicted labels, what the certificate says, and counters."""
    certificate = crf.certificate_
    return {
        "labels": crf.predict(problem[2]),
        "features": crf.n_features_,
        "evaluations": crf.trace_[-1].evaluations,
        "tolerance": certificate.tolerance,
        "converged": certificate.converged,
        "stop": certificate.stop,
    }
