"""Chains and python-crfsuite next to each other: time of predictions, time and memory of learning.

    PYTHONPATH=src .venv-peers/bin/python benchmarks/tagging.py
    PYTHONPATH=src .venv-peers/bin/python benchmarks/tagging.py --tokens 66000 264000 1056000
    PYTHONPATH=src .venv-peers/bin/python benchmarks/tagging.py --labels 10

Sentences are made: labels follow each other as in a sparse random table, words come from long-tailed
vocabularies of each label, and attributes are words around, prefixes, suffixes and shapes.

Predictions: python-crfsuite learns a model, and graftwork loads the same file, so that both do the
same work and must return the same labels. Sentences alternate between the two; each figure is the
least of several CPU times. Batches are all test sentences in one call (python-crfsuite: a loop).
Learning: each program in a process of its own, the same c1, the same number of sentences; graftwork
stops at its own tolerance, python-crfsuite after as many iterations as --iterations says; memory is
the largest resident set, less what it was before learning began and in all.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from arguments import parser_of

LENGTH = 24
Items = list[list[str]]


def made_sentences(
    n_labels: int, n_tokens: int, seed: int = 0
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield words and labels of sentences, about ``LENGTH`` words each."""
    rng = np.random.default_rng([n_labels, 5])
    moves = np.cumsum(rng.dirichlet(np.full(n_labels, 0.15), size=n_labels), axis=1)
    ends = ["".join(chr(97 + c) for c in rng.integers(26, size=2)) for _ in range(n_labels)]
    own, shared = 60_000 // n_labels, 400
    rng = np.random.default_rng([n_labels, seed])
    left, label = n_tokens, 0
    while left > 0:
        length = int(min(left, max(1, rng.poisson(LENGTH))))
        left -= length
        ranks = np.minimum(rng.zipf(1.3, size=length), own) - 1
        turns, mixed = rng.random(length), rng.random(length) < 0.15
        words, labels = [], []
        for turn, rank, anyone in zip(turns, ranks.tolist(), mixed, strict=True):
            label = min(int(np.searchsorted(moves[label], turn)), n_labels - 1)
            labels.append(f"L{label}")
            words.append(
                f"{spelled(rank % shared)}"
                if anyone
                else spelled(rank * n_labels + label) + ends[label]
            )
        yield words, labels


def spelled(number: int) -> str:
    """Return a number as letters, consonants and vowels in turn."""
    text = ""
    while number or not text:
        number, letter = divmod(number, 21)
        text += "bcdfghjklmnpqrstvwxyz"[letter] + "aeiou"[(number + letter) % 5]
    return text


def attributes(words: list[str]) -> Items:
    """Return the attributes of each word of a sentence."""
    around = ["<<", "<", *words, ">", ">>"]
    return [
        [
            "bias",
            f"w:{word}",
            f"w-1:{around[t + 1]}",
            f"w+1:{around[t + 3]}",
            f"w-2:{around[t]}",
            f"w+2:{around[t + 4]}",
            f"s2:{word[-2:]}",
            f"s3:{word[-3:]}",
            f"p2:{word[:2]}",
            f"p3:{word[:3]}",
            f"n:{min(len(word), 9)}",
            f"s2-1:{around[t + 1][-2:]}",
        ]
        for t, word in enumerate(words)
    ]


def as_dicts(items: Items) -> list[dict[str, str | float]]:
    """Return the same attributes as dicts."""
    return [
        {"bias": 1.0, **dict(attribute.split(":", 1) for attribute in item[1:])} for item in items
    ]


# ---- predictions -----------------------------------------------------------------------------


def train_peer(path: Path, n_labels: int, n_tokens: int, c1: float, iterations: int) -> None:
    """Learn with python-crfsuite, and write its model."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for words, labels in made_sentences(n_labels, n_tokens):
        trainer.append(attributes(words), labels)
    trainer.set_params({"c1": c1, "c2": 0.0, "max_iterations": iterations})
    trainer.train(str(path))


def least(run: Callable[[], object], repeats: int) -> float:
    """Return the least CPU time of several runs, in seconds."""
    found = []
    for _ in range(repeats):
        began = time.process_time()
        run()
        found.append(time.process_time() - began)
    return min(found)


def compare_predictions(n_labels: int, repeats: int) -> None:
    """Print how long both take with the same model, for single sentences and all at once."""
    import pycrfsuite

    import graftwork as gw

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tagger.crfsuite"
        train_peer(path, n_labels, 60_000, 0.0, 8)
        peer = pycrfsuite.Tagger()
        peer.open(str(path))
        ours = gw.load(path)
        test = [attributes(words) for words, _ in made_sentences(n_labels, 12_000, seed=1)]
        dicts = [as_dicts(items) for items in test]
        size = (
            f"{n_labels} labels, {len(ours.attributes):,} attributes, {ours.n_features:,} features"
        )
        print(f"\n{size}\n{'':34} {'graftwork':>10} {'crfsuite':>10} {'ratio':>7}")
        for form, X in (("lists", test), ("dicts", dicts)):
            same = ours.predict(X) == [peer.tag(items) for items in X]
            if not same:
                print(f"    labels of {form} differ")
            some = X[:100]
            mine, theirs = [], []
            for _ in range(repeats):
                mine.append(least(lambda: [ours.predict([items], n_jobs=1) for items in some], 1))
                theirs.append(least(lambda: [peer.tag(items) for items in some], 1))
            line(f"one sentence of {form}, ms", min(mine) * 10, min(theirs) * 10)
            for count in (10, len(X)):
                part = X[:count]
                scale = 1000.0 / count
                rounds = max(repeats, 1000 // count if count < 50 else 0)
                mine, theirs = [], []
                for _ in range(rounds):
                    mine.append(least(lambda: ours.predict(part, n_jobs=1), 1))
                    theirs.append(least(lambda: [peer.tag(items) for items in part], 1))
                line(
                    f"{count} sentences of {form}, ms each", min(mine) * scale, min(theirs) * scale
                )
        items = test[0]
        ours.explain(items)
        mine = least(lambda: ours.explain(items), repeats) * 1000
        print(f"{'explain one sentence, ms':34} {mine:10.3f}")


def line(what: str, mine: float, theirs: float) -> None:
    print(f"{what:34} {mine:10.3f} {theirs:10.3f} {mine / theirs:7.2f}", flush=True)


# ---- learning --------------------------------------------------------------------------------


def peak() -> float:
    """Return the largest resident set so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def learn(who: str, n_labels: int, n_tokens: int, iterations: int) -> dict[str, float]:
    """Learn from sentences that are made one after the other; return CPU seconds and memory."""
    if who == "crfsuite":
        began, before = time.process_time(), peak()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            train_peer(path, n_labels, n_tokens, 1.0, iterations)
            size = path.stat().st_size
        return {"seconds": time.process_time() - began, "before": before, "peak": peak()}
    import graftwork as gw

    first = list(made_sentences(n_labels, 100))
    X, y = [attributes(words) for words, _ in first], [labels for _, labels in first]
    gw.ChainCRF(lam=0.1, n_jobs=1, max_iter=1, tol=1e-2).fit(X, y)  # kernels
    began, before = time.process_time(), peak()
    y = [labels for _, labels in made_sentences(n_labels, n_tokens)]
    made = (attributes(words) for words, _ in made_sentences(n_labels, n_tokens))
    crf = gw.ChainCRF(lam=1.0 / len(y), n_jobs=1).fit(made, y)
    return {
        "seconds": time.process_time() - began,
        "before": before,
        "peak": peak(),
        "evaluations": crf.trace_[-1].evaluations,
        "features": crf.n_features_,
    }


def compare_learning(n_labels: int, sizes: list[int], iterations: int) -> None:
    """Print CPU time and memory of both, each in a process of its own."""
    print(f"\nlearning with {n_labels} labels\n{'':34} {'CPU s':>10} {'MiB':>10} {'in all':>10}")
    for n_tokens in sizes:
        for who in ("graftwork", "crfsuite"):
            call = [sys.executable, __file__, "--learn", who, "--tokens", str(n_tokens)]
            call += ["--labels", str(n_labels), "--iterations", str(iterations)]
            done = subprocess.run(call, check=True, capture_output=True, text=True)
            found = json.loads(done.stdout.splitlines()[-1])
            more = found["peak"] - found["before"]
            print(
                f"{n_tokens:>12,} tokens, {who:12} {found['seconds']:10.1f} {more:10.0f} "
                f"{found['peak']:10.0f}  {found.get('evaluations', '')}",
                flush=True,
            )


def main(chosen: argparse.Namespace) -> None:
    if chosen.learn:
        found = learn(chosen.learn, chosen.labels[0], chosen.tokens[0], chosen.iterations)
        print(json.dumps(found))
        return
    for n_labels in chosen.labels:
        compare_predictions(n_labels, chosen.repeats)
    if chosen.tokens:
        compare_learning(49, chosen.tokens, chosen.iterations)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--labels", type=int, nargs="+", default=[10, 50, 150])
    parser.add_argument("--tokens", type=int, nargs="*", default=[])
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--learn", choices=("graftwork", "crfsuite"), help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(parse())
