"""CoNLL-2000 chunking: ChainCRF to the objective that python-crfsuite reaches."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.judging import faster, find
from bench.runs import Arrays, Entry, Problem, Results, Runs, Size, Source, Target
from bench.sentences import pack, sentences
from graftwork import ChainModel, chunk_scores
from graftwork.datasets import load_conll2000

NAME = "conll-2000"
C1 = 1.0
ITERATIONS = 60
PEER, OWN = "python-crfsuite", "graftwork ChainCRF"
SENTENCES = {"full": None, "smoke": 300, "tiny": 20}


def make(source: Source) -> Arrays:
    """Return attributes of the template "chunking", and labels."""
    corpus = load_conll2000(source.folder)
    arrays: Arrays = {}
    for part, labelled in (("train", corpus.train), ("test", corpus.test)):
        X, y = labelled.attributes(), labelled.labels
        kept = first_with_every_label(y, SENTENCES[source.size])
        arrays |= pack(part, [X[k] for k in kept], [y[k] for k in kept])
    return arrays


def first_with_every_label(y: list[list[str]], most: int | None) -> list[int]:
    """Return the first sentences, and the first ones of all labels that those lack.

    Kernels are compiled for the number of labels, so a tiny problem needs them all.
    """
    kept = dict.fromkeys(range(len(y))[:most])
    seen = {label for k in kept for label in y[k]}
    for k, labels in enumerate(y):
        if not seen.issuperset(labels):
            seen.update(labels)
            kept[k] = None
    return list(kept)


def entries(size: Size) -> tuple[Entry, ...]:
    """Return the peer first: ours stops at its objective."""
    return (
        Entry(PEER, "crfsuite", {"c1": C1, "iterations": ITERATIONS}),
        Entry(OWN, "graftwork_chain", own_options),
    )


def own_options(runs: Runs) -> dict[str, Any]:
    """Return the penalty, and where to stop if the peer got anywhere."""
    objective = runs[PEER].figures.get("objective") if PEER in runs else None
    return {"c1": C1, "objective": objective}


def score(arrays: Arrays, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the objective, computed anew from the weights, and F1 of test chunks."""
    model = model_of(answer)
    X, y = sentences(arrays, "train")
    test, wanted = sentences(arrays, "test")
    kept = {key: answer[key] for key in ("evaluations", "stop") if key in answer}
    return {
        "objective": objective_of(model, X, y, C1),
        "f1": chunk_scores(wanted, model.predict(test)).f1,
        "features": model.n_features,
        **kept,
    }


def objective_of(model: ChainModel, X: Any, y: Any, c1: float) -> float:
    """Return the summed loss plus c1 times the l1 norm."""
    norm = np.abs(model.vote_weights).sum() + np.abs(model.pairs).sum()
    return float(-model.log_prob(X, y).sum() + c1 * norm)


def model_of(answer: dict[str, Any]) -> ChainModel:
    """Return the weights of an answer as one of our models."""
    labels = tuple(answer["labels"])
    code = {label: k for k, label in enumerate(labels)}
    pairs = np.zeros((len(labels), len(labels)))
    for before, label, weight in answer["pairs"]:
        pairs[code[before], code[label]] = weight
    names = {name: k for k, name in enumerate(dict.fromkeys(a for a, _, _ in answer["votes"]))}
    attributes = np.array([names[a] for a, _, _ in answer["votes"]])
    outputs = np.array([code[label] for _, label, _ in answer["votes"]])
    weights = np.array([weight for _, _, weight in answer["votes"]])
    none = np.zeros((0, 0, 0))
    return ChainModel(labels, tuple(names), 1, attributes, outputs, weights, pairs, none)


def targets(results: Results) -> list[Target]:
    """Judge CPU time to the same objective."""
    ours, theirs = find(results, NAME, OWN), find(results, NAME, PEER)
    words = f"ChainCRF reaches the objective of {ITERATIONS} iterations no later than crfsuite"
    return [faster(NAME, words, ours, theirs, 1.0)]


PROBLEM = Problem(
    NAME,
    f"CoNLL-2000 chunking, c1=1. python-crfsuite makes {ITERATIONS} iterations; ChainCRF stops at "
    "its objective.",
    make,
    entries,
    score,
    targets,
)
