"""graftwork.ChainCRF, stopped at a given objective if there is one."""

from __future__ import annotations

from contextlib import suppress

from sentences import sentences

from graftwork import ChainCRF
from graftwork.grafting.trace import Silence


class Stop(Silence):
    """Ends a fit when the objective is reached."""

    def __init__(self, objective: float) -> None:
        self.objective = objective

    def on_round(self, record) -> None:
        """Interrupt the fit."""
        if record.objective <= self.objective:
            raise KeyboardInterrupt


def prepare(data, options):
    """Return attributes, labels and the learner."""
    X, y = sentences(data, "train")
    crf = ChainCRF(lam=options["c1"] / len(X), n_jobs=options["threads"])
    if options.get("objective") is not None and len(X) > 100:
        crf.set_params(verbose=Stop(options["objective"] / len(X)))
    return X, y, crf


def solve(problem):
    """Fit from lists of attributes."""
    X, y, crf = problem
    with suppress(KeyboardInterrupt):
        crf.fit(X, y)
    return crf


def answer(problem, crf):
    """Weights in the form all chain contenders use, and counters."""
    model = crf.model_
    return {
        "labels": list(model.labels),
        "votes": [
            [model.attributes[a], model.labels[output], float(weight)]
            for a, output, weight in zip(
                model.vote_attributes, model.vote_outputs, model.vote_weights, strict=True
            )
        ],
        "pairs": [
            [before, label, float(model.pairs[i, j])]
            for i, before in enumerate(model.labels)
            for j, label in enumerate(model.labels)
        ],
        "evaluations": crf.trace_[-1].evaluations,
        "stop": crf.certificate_.stop,
    }
