"""python-crfsuite as ``sklearn_crfsuite.CRF().fit(X, y)`` calls it: defaults, from dicts."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pycrfsuite
from token_dicts import dicts, labels


def prepare(data, options):
    """Return dicts and labels, and the dicts to predict labels of."""
    return dicts(data, "train"), labels(data, "train"), dicts(data, "test")


def solve(problem):
    """Train from dicts (L-BFGS, c1=0, c2=1), and open the model."""
    X, y, _ = problem
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for items, wanted in zip(X, y, strict=True):
        trainer.append(items, wanted)
    folder = tempfile.TemporaryDirectory()
    path = str(Path(folder.name) / "model")
    trainer.train(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    return trainer, tagger, folder


def answer(problem, solution):
    """Predicted labels, and counters."""
    trainer, tagger, _ = solution
    info, last = tagger.info(), trainer.logparser.last_iteration
    return {
        "labels": [tagger.tag(items) for items in problem[2]],
        "features": len(info.state_features) + len(info.transitions),
        "iterations": last["num"] if last else 0,
    }
