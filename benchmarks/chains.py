"""NP chunks by chains of second order, with millions of candidate features.

    python benchmarks/chains.py FOLDER

FOLDER has the CoNLL-2000 data, conll2000/train.txt.gz and conll2000/test.txt.gz. Attributes are
those of the template "chunking"; every attribute with every label and pair of labels is a
candidate: grafting-light against the model with all features (a normal prior). First order beside
python-crfsuite: ``make bench BENCH=conll-2000``.
"""

from __future__ import annotations

import argparse
import resource
import time

from arguments import folder_parser

from graftwork import ChainCRF, ChainModel, chunk_scores
from graftwork.datasets import load_conll2000


def load(folder: str):
    """Return attributes and labels to learn from, and others to test on."""
    corpus = load_conll2000(folder, np_only=True)
    return [(part.attributes(), part.labels) for part in (corpus.train, corpus.test)]


def report(name: str, model: ChainModel, objective: float, seconds: float, X, y) -> None:
    f1 = 100 * chunk_scores(y, model.predict(X)).f1
    print(f"{name:28} {objective:12.1f} {model.n_features:10,} {f1:7.2f} {seconds:8.1f}")


def main(chosen: argparse.Namespace) -> None:
    (X, y), test = load(chosen.folder)
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


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    return folder_parser(__doc__).parse_args(arguments)


if __name__ == "__main__":
    main(parse())
