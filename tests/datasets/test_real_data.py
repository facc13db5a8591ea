"""The data sets themselves, where they are: sizes and counts that their sources state."""

from __future__ import annotations

import numpy as np
import pytest

from graftwork import ChainCRF, label_scores
from graftwork.datasets import (
    load_conll2000,
    load_debd,
    load_hapmap,
    load_jester,
    load_mnist,
    load_ocr_letters,
    load_yummly,
)

from doors.data import missing_cells
from support.problems import FOLDER, standard_split

SIZES = {
    "nltcs": (16, 16181, 2157, 3236, 0.332, 0),
    "msnbc": (17, 291326, 38843, 58265, 0.166, 0),
    "kdd": (64, 180092, 19907, 34955, 0.008, 0),
    "plants": (69, 17412, 2321, 3482, 0.180, 1),
    "jester": (100, 9000, 1000, 4116, 0.608, 0),
    "msweb": (294, 29441, 3270, 5000, 0.010, 11),
}


def need(name):
    if not (FOLDER / name).is_dir():
        pytest.skip(f"{FOLDER / name} is not there; set GRAFTWORK_DATA to a folder that has {name}")
    return FOLDER


@pytest.mark.parametrize("name", SIZES)
def test_standard_splits(name):
    parts = load_debd(name, need("debd"))
    width, train, valid, test, ones, constant = SIZES[name]
    tables = (parts.train, parts.valid, parts.test)
    assert [table.shape for table in tables] == [(rows, width) for rows in (train, valid, test)]
    share = sum(table.codes.sum() for table in tables) / sum(table.codes.size for table in tables)
    assert round(float(share), 3) == ones
    assert sum(int((row == row[0]).all()) for row in parts.train.codes) == constant


def test_standard_splits_are_what_numpy_reads():
    parts = load_debd("nltcs", need("debd"))
    for part, table in (("ts", parts.train), ("valid", parts.valid), ("test", parts.test)):
        assert np.array_equal(np.asarray(table), standard_split("nltcs", part))


def test_jester():
    parts = load_jester(need("jester"))
    assert (parts.train.shape, parts.test.shape) == ((6480, 100), (720, 100))
    assert set(parts.train.states) == {(1, 2, 3, 4, 5)}
    both = np.concatenate([np.unique(t.codes.T, axis=0) for t in (parts.train, parts.test)])
    assert len(np.unique(both, axis=0)) == len(both)
    everyone = load_jester(FOLDER, complete=False, least=36)
    assert everyone.train.n_rows + everyone.test.n_rows == 24983
    cells = sum(int((~missing_cells(t)).sum()) for t in (everyone.train, everyone.test))
    assert cells == 1_810_455


def test_jester_in_two_bins_is_the_binary_data_set():
    need("debd")
    parts = load_jester(need("jester"), bins=2)
    binary = load_debd("jester", FOLDER)
    rows = {row.tobytes() for t in (binary.train, binary.valid, binary.test) for row in t.codes.T}
    own = [row.tobytes() for t in (parts.train, parts.test) for row in t.codes.T]
    # Users of this part are among those of the binary data set, whose 1 is a rating >= 0.
    assert len(own) == 7200
    assert rows.issuperset(own)


def test_yummly():
    parts = load_yummly(need("yummly"))
    assert (parts.train.shape, parts.test.shape) == ((9000, 489), (1000, 489))
    few = load_yummly(FOLDER, recipes=100, least=1, cuisine=True)
    assert few.train.n_variables == 1 + 6714
    assert len(few.train.states[0]) == 20
    everything = load_yummly(FOLDER, recipes=None, least=5000)
    assert everything.train.n_rows + everything.test.n_rows == 39774


def test_conll():
    corpus = load_conll2000(need("conll2000"))
    parts = (corpus.train, corpus.test)
    assert [len(part) for part in parts] == [8936, 2012]
    assert [sum(map(len, part.tokens)) for part in parts] == [211_727, 47_377]
    assert [sum(row.count("B-NP") for row in part.labels) for part in parts] == [55_081, 12_422]
    assert len({label for row in corpus.train.labels for label in row}) == 22
    assert len({token[1] for row in corpus.train.tokens for token in row}) == 44
    only = load_conll2000(FOLDER, np_only=True)
    assert {label for row in only.test.labels for label in row} == {"B-NP", "I-NP", "O"}


@pytest.mark.slow
def test_conll_has_a_label_in_its_test_set_alone():
    corpus = load_conll2000(need("conll2000"))
    labels = [
        {label for row in part.labels for label in row} for part in (corpus.train, corpus.test)
    ]
    assert labels[1] - labels[0] == {"I-LST"}
    crf = ChainCRF(max_iter=3).fit(corpus.train.attributes()[:200], corpus.train.labels[:200])
    X, y = corpus.test.attributes(), corpus.test.labels
    assert crf.score(X, y) == pytest.approx(label_scores(y, crf.predict(X)).accuracy)
    impossible = [not set(row) <= set(crf.classes_) for row in y]
    assert np.isneginf(crf.score_samples(X, y)).tolist() == impossible


def test_letters():
    letters = load_ocr_letters(need("ocr_letters"), None)
    assert letters.images.shape == (52152, 16, 8)
    assert len(np.unique(letters.words)) == 6877
    assert set(letters.folds.tolist()) == set(range(10))
    some = load_ocr_letters(FOLDER, padded=True)
    counts = {letter: int((some.labels == letter).sum()) for letter in "acmsig"}
    # The Grafting-Light paper has 4,033 of the letter a, the file one more.
    assert counts == {"a": 4034, "c": 2114, "m": 1602, "s": 1394, "i": 4913, "g": 2472}
    assert some.table("c").shape == (2114, 400)


def test_mnist():
    found = load_mnist(need("mnist"))
    assert (found.train.shape, found.test.shape) == ((60000, 196), (10000, 196))
    assert round(float(found.train.codes.mean()), 3) == 0.128
    assert sum(int(not row.any()) for row in found.train.codes) == 34
    assert np.bincount(found.train_digits).tolist() == [
        5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("which", "shape", "kinds", "missing"),
    [
        ("chr22", (180, 603), {"CEU": 90, "YRI": 90}, 0.013),
        ("chr10", (1000, 2000), {"CEU": 494, "JPT+CHB": 506}, 0.010),
    ],
)
def test_hapmap(which, shape, kinds, missing):
    found = load_hapmap(need("hapmap"), which)
    assert found.table.shape == shape
    assert {kind: found.populations.count(kind) for kind in kinds} == kinds
    gone = missing_cells(found.table)
    assert round(float(gone.mean()), 3) == missing
    binary = load_hapmap(FOLDER, which, binary=True)
    assert np.array_equal(missing_cells(binary.table), gone)
    if which == "chr22":
        assert (np.diff(found.positions) > 0).all()
        assert found.positions.size == 603
    else:
        assert found.cases.sum() == 500
        copies = np.where(gone, 0, found.table.codes).sum(axis=1) / (~gone).sum(axis=1) / 2
        assert np.minimum(copies, 1 - copies).min() >= 0.05
