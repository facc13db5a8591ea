"""Chunking by chains: beside python-crfsuite, and second order with millions of candidates.

    python benchmarks/chains.py crfsuite FOLDER
    python benchmarks/chains.py second-order FOLDER

FOLDER has the CoNLL-2000 data, conll2000/train.txt.gz and conll2000/test.txt.gz. Attributes are
those of the template "chunking". The first part needs python-crfsuite (in the checkout:
pip install -e ".[bench]").

``crfsuite``: python-crfsuite takes 60 iterations with c1 = 1; ChainCRF stops as soon as its
objective is no worse. CPU time of either is everything from lists of attributes to the weights,
once kernels are compiled. The objective of python-crfsuite is computed anew from the weights in its
model file.

``second-order``: NP chunks only, labels of second order, every attribute with every label and pair
of labels as candidates: grafting-light against the model with all features (a normal prior).
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from arguments import parser_of

from graftwork import ChainCRF, ChainModel, chunk_scores
from graftwork.datasets import load_conll2000

ITERATIONS = 60


def load(folder: str, np_only: bool = False):
    """Return attributes and labels to learn from, and others to test on."""
    corpus = load_conll2000(folder, np_only=np_only)
    return [(part.attributes(), part.labels) for part in (corpus.train, corpus.test)]


class Target:
    """Ends a fit when the objective is reached."""

    def __init__(self, objective: float) -> None:
        self.objective = objective

    def on_round(self, record) -> None:
        if record.objective <= self.objective:
            raise KeyboardInterrupt

    def on_stage(self, *args) -> None: ...
    def on_network(self, *args) -> None: ...
    def on_search(self, *args) -> None: ...


def run_crfsuite(X, y, c1: float, iterations: int) -> tuple[ChainModel, float]:
    """Return python-crfsuite's model as one of ours, and its CPU seconds."""
    import pycrfsuite

    began = time.process_time()
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for items, labels in zip(X, y, strict=True):
        trainer.append(items, labels)
    trainer.set_params({"c1": c1, "c2": 0.0, "max_iterations": iterations})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        seconds = time.process_time() - began
        tagger = pycrfsuite.Tagger()
        with tagger.open(path):
            info = tagger.info()
    labels = tuple(sorted(info.labels))
    code = {label: k for k, label in enumerate(labels)}
    names = {name: k for k, name in enumerate(dict.fromkeys(a for a, _ in info.state_features))}
    pairs = np.zeros((len(labels), len(labels)))
    for (before, label), weight in info.transitions.items():
        pairs[code[before], code[label]] = weight
    votes = [(names[a], code[label], w) for (a, label), w in info.state_features.items()]
    attributes, outputs, weights = (np.array(column) for column in zip(*votes, strict=True))
    model = ChainModel(
        labels, tuple(names), 1, attributes, outputs, weights, pairs, np.zeros((0, 0, 0))
    )
    return model, seconds


def objective_of(model: ChainModel, X, y, c1: float) -> float:
    """Return the summed loss plus c1 times the l1 norm."""
    norm = np.abs(model.vote_weights).sum() + np.abs(model.pairs).sum()
    return float(-model.log_prob(X, y).sum() + c1 * norm)


def fit_until(X, y, objective: float, **options) -> tuple[ChainCRF, float]:
    """Return a fit that ended at the objective (of the summed loss), and its CPU seconds."""
    crf = ChainCRF(lam=1.0 / len(X), verbose=Target(objective / len(X)), **options)
    began = time.process_time()
    with suppress(KeyboardInterrupt):
        crf.fit(X, y)
    return crf, time.process_time() - began


def report(name: str, model: ChainModel, objective: float, seconds: float, X, y) -> None:
    f1 = 100 * chunk_scores(y, model.predict(X)).f1
    print(f"{name:28} {objective:12.1f} {model.n_features:10,} {f1:7.2f} {seconds:8.1f}")


def beside_crfsuite(folder: str) -> None:
    import pycrfsuite  # noqa: F401  # where it is missing, say so before anything takes long

    (X, y), test = load(folder)
    ChainCRF(max_seconds=1.0, n_jobs=1).fit(X, y)  # compiles what is compiled once
    print(f"{'':28} {'objective':>12} {'features':>10} {'test F1':>7} {'CPU s':>8}")
    model, seconds = run_crfsuite(X, y, 1.0, ITERATIONS)
    target = objective_of(model, X, y, 1.0)
    report(f"python-crfsuite, {ITERATIONS} it.", model, target, seconds, *test)
    crf, own = fit_until(X, y, target, n_jobs=1)
    report("ChainCRF, to the same", crf.model_, crf.objective_ * len(X), own, *test)
    print(f"ratio of CPU time {own / seconds:.2f}, {crf.trace_[-1].evaluations} evaluations")
    check = objective_of(crf.model_, X, y, 1.0)
    print(f"the objective from the weights: {check:.1f}")


def second_order(folder: str) -> None:
    (X, y), test = load(folder, np_only=True)
    print(f"{'':28} {'objective':>12} {'features':>10} {'test F1':>7} {'CPU s':>8}")
    settings = {
        "grafting-light": {"lam": 1.0 / len(X), "max_seconds": 120.0},
        "all features, normal prior": {"method": "full", "penalty": "l2", "lam": 0.5 / len(X)},
    }
    for name, options in settings.items():
        began = time.process_time()
        crf = ChainCRF(order=2, candidates="all", tol=1e-4, **options).fit(X, y)
        seconds = time.process_time() - began
        report(name, crf.model_, crf.objective_ * len(X), seconds, *test)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        dropped = 1.0 - crf.n_features_ / crf.n_candidates_
        print(
            f"    {crf.n_candidates_:,} candidates, {dropped:.2%} dropped; peak {peak:.2f} GiB; "
            f"{crf.trace_[-1].evaluations} evaluations; {crf.certificate_.stop}"
        )


PARTS = {"crfsuite": beside_crfsuite, "second-order": second_order}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("folder", metavar="FOLDER")
    return parser.parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    PARTS[chosen.part](chosen.folder)


if __name__ == "__main__":
    main(parse())
