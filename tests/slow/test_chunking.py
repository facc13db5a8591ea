"""CoNLL-2000: sparse chains of first order, and of second order from millions of features."""

from __future__ import annotations

import resource

import pytest

from graftwork import ChainCRF, Template, chunk_scores, read_conll

from doors.data import split_labels
from support.problems import FOLDER

pytestmark = pytest.mark.slow
CORPUS = FOLDER / "conll2000"


def load(part, only=None):
    path = CORPUS / f"{part}.txt.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there; set GRAFTWORK_DATA to a folder that has conll2000/")
    tokens, labels = split_labels(read_conll(path))
    if only:
        labels = [[y if y.endswith(only) else "O" for y in row] for row in labels]
    return Template.named("chunking").attributes(tokens), labels


def f1(crf, X, y):
    return 100 * chunk_scores(y, crf.predict(X)).f1


def test_all_chunk_types_with_few_features():
    X, y = load("train")
    crf = ChainCRF(max_iter=100).fit(X, y)  # c1 = 1
    assert crf.n_features_ <= 20_000
    assert f1(crf, *load("test")) >= 93.6
    # what python-crfsuite has after 60 iterations on these attributes (make bench BENCH=conll-2000)
    assert crf.objective_ * len(X) <= 17_607.5


def test_second_order_from_millions_of_candidates():
    X, y = load("train", "-NP")
    test = load("test", "-NP")
    settings = {"order": 2, "candidates": "all", "max_iter": 100}
    sparse = ChainCRF(**settings).fit(X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    assert peak < 6.0  # GiB, of everything so far
    assert sparse.n_candidates_ > 3_000_000
    assert sparse.n_features_ < 0.01 * sparse.n_candidates_
    every = ChainCRF("full", penalty="l2", lam=0.5 / len(X), tol=1e-4, **settings).fit(X, y)
    assert f1(sparse, *test) > f1(every, *test) - 1.0
