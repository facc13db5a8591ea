"""python-crfsuite: L-BFGS (OWL-QN) with an l1 penalty, a given number of iterations."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pycrfsuite
from sentences import sentences


def prepare(data, options):
    """Return lists of attributes and labels."""
    return (*sentences(data, "train"), options)


def solve(problem):
    """Train from lists of attributes, and read the weights back."""
    X, y, options = problem
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for items, labels in zip(X, y, strict=True):
        trainer.append(items, labels)
    limits = {"c1": options["c1"], "c2": 0.0, "max_iterations": options["iterations"]}
    trainer.set_params(limits)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        with tagger.open(path):
            return tagger.info()


def answer(problem, info):
    """Weights in the form all chain contenders use."""
    return {
        "labels": sorted(info.labels),
        "votes": [[a, label, float(w)] for (a, label), w in info.state_features.items()],
        "pairs": [[before, label, float(w)] for (before, label), w in info.transitions.items()],
    }
