"""CoNLL-2000 chunking from dicts, with the defaults of ChainCRF and of sklearn-crfsuite."""

from __future__ import annotations

import operator
from typing import Any

from bench.judging import compare, faster, figure, find
from bench.problems.conll import SENTENCES, first_with_every_label
from bench.runs import Arrays, Entry, Problem, Results, Size, Source, Target
from bench.token_dicts import labels, pack
from graftwork import chunk_scores
from graftwork.datasets import load_conll2000

NAME = "conll-dicts"
PEER, OWN, TWO = "sklearn-crfsuite's defaults", "ChainCRF's defaults", "ChainCRF, two threads"


def make(source: Source) -> Arrays:
    """Return words, tags and labels; contenders make dicts of them outside the clock."""
    corpus = load_conll2000(source.folder)
    arrays: Arrays = {}
    for part, labelled in (("train", corpus.train), ("test", corpus.test)):
        kept = first_with_every_label(labelled.labels, SENTENCES[source.size])
        tokens = [[(word, tag) for word, tag, *_ in labelled.tokens[k]] for k in kept]
        arrays |= pack(part, tokens, [labelled.labels[k] for k in kept])
    return arrays


def entries(size: Size) -> tuple[Entry, ...]:
    """Return the peer, and ours on one thread and on two."""
    return (
        Entry(PEER, "crfsuite_dicts"),
        Entry(OWN, "graftwork_dicts"),
        Entry(TWO, "graftwork_dicts", threads=2),
    )


def score(arrays: Arrays, answer: dict[str, Any]) -> dict[str, Any]:
    """Return F1 of test chunks, and the counters."""
    found = answer.pop("labels")
    return {"f1": chunk_scores(labels(arrays, "test"), found).f1, **answer}


def targets(results: Results) -> list[Target]:
    """Judge time, F1 and size against the peer, and what the second thread brings."""
    theirs, ours, two = (find(results, NAME, entry) for entry in (PEER, OWN, TWO))
    return [
        faster(NAME, "ChainCRF no slower than sklearn-crfsuite (CPU)", ours, theirs, 1.0),
        faster(NAME, "ChainCRF no slower than sklearn-crfsuite (wall)", ours, theirs, 1.0, "wall"),
        faster(NAME, "two threads 1.7 times as fast (wall)", two, ours, 1.7, "wall"),
        *(
            compare(NAME, words, figure(ours, name), relation, figure(theirs, name))
            for words, name, relation in (
                ("chunk F1 no lower", "f1", operator.ge),
                ("fewer features", "features", operator.lt),
            )
        ),
    ]


PROBLEM = Problem(
    NAME,
    "CoNLL-2000 chunking, some 19 features a token as dicts; both with their defaults, from dicts "
    "to the model.",
    make,
    entries,
    score,
    targets,
)
