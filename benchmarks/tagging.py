"""Chains and python-crfsuite on the same sentences: how long predictions and learning take.

    PYTHONPATH=src .venv-peers/bin/python benchmarks/tagging.py
    PYTHONPATH=src .venv-peers/bin/python benchmarks/tagging.py --labels 10
    PYTHONPATH=src .venv-peers/bin/python benchmarks/tagging.py --tokens 66000 264000 1056000

Sentences are made: labels follow each other as in a sparse random table, words come from
long-tailed vocabularies of each label, and attributes are words around, prefixes and suffixes.

Predictions: python-crfsuite learns a model, and graftwork loads the same file, so that both do the
same work and must return the same labels. The two take turns, and each figure is the least of
several CPU times with one thread. python-crfsuite labels sentences one by one in a loop; graftwork
is called once for each sentence, for ten, or for all.

Learning (--tokens, 49 labels, c1 = 1): each program in a process of its own, which reads sentences
from a file one after the other. graftwork stops at its default tolerance, python-crfsuite after
--iterations. Memory is the largest resident set, in all and less what it was before reading.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from arguments import parser_of

LENGTH = 24
Items = list[list[str]]
Sentence = tuple[list[str], list[str]]


def made_sentences(n_labels: int, n_tokens: int, seed: int = 0) -> Iterator[Sentence]:
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
            own_word = spelled(rank * n_labels + label) + ends[label]
            words.append(spelled(rank % shared) if anyone else own_word)
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


def train_peer(path: Path, sentences: Iterable[Sentence], c1: float, iterations: int) -> None:
    """Learn with python-crfsuite, and write its model."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for words, labels in sentences:
        trainer.append(attributes(words), labels)
    trainer.set_params({"c1": c1, "c2": 0.0, "max_iterations": iterations})
    trainer.train(str(path))


def seconds(action: Callable[[], object]) -> float:
    """Return the CPU time of one call."""
    began = time.process_time()
    action()
    return time.process_time() - began


def compare(what: str, repeats: int, n: int, mine: Callable, theirs: Callable) -> None:
    """Print the least times of both in milliseconds a sentence; they take turns."""
    pairs = [(seconds(mine), seconds(theirs)) for _ in range(repeats)]
    ours, peer = (1000.0 * min(times) / n for times in zip(*pairs, strict=True))
    print(f"{what:34} {ours:10.3f} {peer:10.3f} {ours / peer:7.2f}", flush=True)


def compare_predictions(n_labels: int, repeats: int) -> None:
    """Print how long both take with the same model, for single sentences and all at once."""
    import pycrfsuite

    import graftwork as gw

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tagger.crfsuite"
        train_peer(path, made_sentences(n_labels, 60_000), 0.0, 8)
        peer, ours = pycrfsuite.Tagger(), gw.load(path)
        peer.open(str(path))
        size = f"{len(ours.attributes):,} attributes, {ours.n_features:,} features"
        print(f"\n{n_labels} labels, {size}")
        print(f"{'':34} {'graftwork':>10} {'crfsuite':>10} {'ratio':>7}")
        test = [attributes(words) for words, _ in made_sentences(n_labels, 12_000, seed=1)]
        for form, X in (("lists", test), ("dicts", list(map(as_dicts, test)))):
            compare_forms(form, X, repeats, ours, peer)
        ours.explain(test[0])
        least = min(seconds(lambda: ours.explain(test[0])) for _ in range(repeats))
        print(f"{'explain one sentence, ms':34} {1000.0 * least:10.3f}")


def compare_forms(form: str, X: list, repeats: int, ours: object, peer: object) -> None:
    """Print the times of sentences in one form."""

    def one_by_one(sentences: list) -> list:
        return [peer.tag(items) for items in sentences]

    labels = ours.predict(X)
    if labels != one_by_one(X):
        print(f"    labels of {form} differ")
    some, ten = X[:100], X[:10]
    compare(
        f"one sentence of {form}, ms", repeats, len(some),
        lambda: [ours.predict([items], n_jobs=1) for items in some], lambda: one_by_one(some),
    )  # fmt: skip
    for part, times in ((ten, 10 * repeats), (X, repeats)):
        compare(
            f"{len(part)} sentences of {form}, ms each", times, len(part),
            lambda part=part: ours.predict(part, n_jobs=1), lambda part=part: one_by_one(part),
        )  # fmt: skip


# ---- learning --------------------------------------------------------------------------------


def write_sentences(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write sentences, one a line."""
    with path.open("w", encoding="utf-8") as file:
        for words, labels in sentences:
            file.write(f"{' '.join(words)}\t{' '.join(labels)}\n")


def read_sentences(path: Path) -> Iterator[Sentence]:
    """Yield the sentences that `write_sentences` wrote."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            words, labels = line.rstrip("\n").split("\t")
            yield words.split(" "), labels.split(" ")


def peak() -> float:
    """Return the largest resident set so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def learn(who: str, path: Path, iterations: int) -> dict[str, float]:
    """Learn from a file of sentences; return CPU seconds, memory, and what it took."""
    if who == "crfsuite":
        import pycrfsuite  # noqa: F401  # before the clock

        began, before = time.process_time(), peak()
        with tempfile.TemporaryDirectory() as folder:
            train_peer(Path(folder) / "model", read_sentences(path), 1.0, iterations)
        return {"seconds": time.process_time() - began, "before": before, "peak": peak()}
    import graftwork as gw

    first = [sentence for sentence, _ in zip(read_sentences(path), range(3), strict=False)]
    X, y = [attributes(words) for words, _ in first], [labels for _, labels in first]
    gw.ChainCRF(lam=0.1, n_jobs=1, max_iter=1, tol=1e-2).fit(X, y)  # kernels
    began, before = time.process_time(), peak()
    y = [list(map(sys.intern, labels)) for _, labels in read_sentences(path)]
    X = (attributes(words) for words, _ in read_sentences(path))
    crf = gw.ChainCRF(lam=1.0 / len(y), n_jobs=1).fit(X, y)
    return {
        "seconds": time.process_time() - began,
        "before": before,
        "peak": peak(),
        "evaluations": crf.trace_[-1].evaluations,
        "features": crf.n_features_,
    }


def compare_learning(n_labels: int, sizes: list[int], iterations: int) -> None:
    """Print CPU time and memory of both, each in a process of its own."""
    print(
        f"\nlearning, {n_labels} labels{'CPU s':>30} {'MiB':>8} {'in all':>8} {'evaluations':>12}"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sentences"
        for n_tokens in sizes:
            write_sentences(path, made_sentences(n_labels, n_tokens))
            for who in ("graftwork", "crfsuite"):
                call = [sys.executable, __file__, "--learn", who, str(path)]
                call += ["--iterations", str(iterations)]
                done = subprocess.run(call, check=True, capture_output=True, text=True)
                found = json.loads(done.stdout.splitlines()[-1])
                print(
                    f"{n_tokens:>15,} tokens, {who:12} {found['seconds']:12.1f} "
                    f"{found['peak'] - found['before']:8.0f} {found['peak']:8.0f} "
                    f"{found.get('evaluations', '')!s:>12}",
                    flush=True,
                )


def main(chosen: argparse.Namespace) -> None:
    if chosen.learn:
        who, path = chosen.learn
        print(json.dumps(learn(who, Path(path), chosen.iterations)))
        return
    for n_labels in chosen.labels:
        compare_predictions(n_labels, chosen.repeats)
    if chosen.tokens:
        compare_learning(49, chosen.tokens, chosen.iterations)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--labels", type=int, nargs="*", default=[10, 50, 150])
    parser.add_argument("--tokens", type=int, nargs="*", default=[])
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--learn", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(parse())
