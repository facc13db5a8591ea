"""Loaders of data sets in a folder: what they read, and what they say where it is not there."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import pytest

from graftwork import ChainCRF, DataError, DataMissingError, GraftworkError, datasets
from graftwork.datasets import (
    load_conll2000,
    load_debd,
    load_hapmap,
    load_jester,
    load_mnist,
    load_ocr_letters,
    load_yummly,
)
from graftwork.errors import ParameterError

from doors.data import write_conll

LOADERS = {
    "debd": lambda folder=None: load_debd("nltcs", folder),
    "jester": load_jester,
    "yummly": lambda folder=None, **options: load_yummly(
        folder, **{"recipes": None, "least": 2, **options}
    ),
    "conll2000": load_conll2000,
    "ocr_letters": load_ocr_letters,
    "mnist": load_mnist,
    "hapmap": load_hapmap,
}
FILES = {
    "debd": "nltcs.ts.data.gz",
    "jester": "jester1_ratings_int16.npz",
    "yummly": "train.tsv.gz",
    "conll2000": "train.txt.gz",
    "ocr_letters": "letters.npz",
    "mnist": "mnist14x14_binary.npz",
    "hapmap": "hapmap_chr22_1mb_603snps.csv.gz",
}
SENTENCES = [
    [("He", "PRP", "B-NP"), ("sleeps", "VBZ", "B-VP")],
    [("The", "DT", "B-NP"), ("dog", "NN", "I-NP"), ("barks", "VBZ", "B-VP")],
]
RECIPES = [
    "1\tgreek\tsalt|feta cheese|salt",
    "2\titalian\tsalt|olive oil\x85extra",
    "3\tgreek\tfeta cheese|salt",
    "4\tgreek\tolives",
]


def packed(path, text):
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def ratings(rng):
    cells = rng.integers(-995, 1001, (40, 100)).astype(np.int16)
    cells[:10, :60] = 9900
    cells[10:20, 3] = 9900
    cells[20] = [-1000, -601, -600, -201, -200, 199, 200, 599, 600, 1000] * 10
    cells[21] = cells[20]  # somebody with the same taste
    return cells


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with tiny made-up data sets in the form of the real ones."""
    monkeypatch.delenv("GRAFTWORK_DATA", raising=False)
    rng = np.random.default_rng(0)
    for name in LOADERS:
        (tmp_path / name).mkdir()
    packed(tmp_path / "debd/nltcs.ts.data.gz", "0,1,1\n1,0,1\n")
    packed(tmp_path / "debd/nltcs.valid.data.gz", "0,0,1\r\n")
    (tmp_path / "debd/nltcs.test.data").write_text("0,0,0\n1,1,1\n1,0,0")  # plain, no last line end
    np.savez_compressed(tmp_path / "jester" / FILES["jester"], ratings_x100=ratings(rng))
    packed(tmp_path / "yummly/train.tsv.gz", "\n".join(["id\tcuisine\tingredients", *RECIPES, ""]))
    for part in ("train", "test"):
        write_conll(tmp_path / f"conll2000/{part}.txt.gz", SENTENCES)
    np.savez_compressed(
        tmp_path / "ocr_letters/letters.npz",
        pixels_packed=rng.integers(0, 256, (7, 16), dtype=np.uint8),
        labels=np.array([0, 2, 25, 0, 1, 8, 0], dtype=np.uint8),
        word_start=np.array([0, 3, 5, 7], dtype=np.int32),
        fold=np.array([4, 0, 9], dtype=np.uint8),
    )
    np.savez_compressed(
        tmp_path / "mnist/mnist14x14_binary.npz",
        X_train_packed=np.packbits(rng.integers(0, 2, (20, 196)).astype(np.uint8), axis=1),
        y_train=np.arange(20).astype(np.uint8) % 10,
        X_test_packed=np.packbits(rng.integers(0, 2, (10, 196)).astype(np.uint8), axis=1),
        y_test=np.arange(10).astype(np.uint8),
    )
    rows = ["sample,population,rs1,rs2,rs3", "a,CEU,0,2,", "b,YRI,1,2,1", "c,YRI,,,", "d,CEU,0,1,0"]
    packed(tmp_path / "hapmap" / FILES["hapmap"], "\n".join(rows))
    (tmp_path / "hapmap/hapmap_chr22_1mb_snps.txt").write_text(
        "rsid\tposition\nrs1\t10\nrs2\t25\nrs3\t400\n"
    )
    packed(
        tmp_path / "hapmap/sim_chr10_2000snps.csv.gz",
        "sample,stratum,case,rs7,rs8\nu,CEU,1,2,0\nv,JPT+CHB,0,2,\n",
    )
    return tmp_path


@pytest.mark.parametrize("name", LOADERS)
def test_the_folder_may_be_given_or_set_whole_or_the_set_s_own(name, folder, monkeypatch):
    words = repr(LOADERS[name](folder))
    assert repr(LOADERS[name](str(folder / name))) == words
    monkeypatch.setenv("GRAFTWORK_DATA", str(folder))
    assert repr(LOADERS[name]()) == words


@pytest.mark.parametrize("name", LOADERS)
def test_absent_data_are_explained(name, tmp_path, monkeypatch):
    monkeypatch.delenv("GRAFTWORK_DATA", raising=False)
    file = f"{name}/{FILES[name]}"
    with pytest.raises(DataMissingError, match="GRAFTWORK_DATA is not set") as unset:
        LOADERS[name]()
    with pytest.raises(DataMissingError, match=r"there is no folder '.*nowhere'") as nowhere:
        LOADERS[name](tmp_path / "nowhere")
    with pytest.raises(DataMissingError, match="it is neither in") as empty:
        LOADERS[name](tmp_path)
    assert str(tmp_path / name) in str(empty.value)
    for caught in (unset, nowhere, empty):
        assert isinstance(caught.value, FileNotFoundError)
        assert isinstance(caught.value, GraftworkError)
        words = str(caught.value)
        assert words.startswith(f"{file} was not found: ")
        for part in ("folder=", "set GRAFTWORK_DATA", "http", "Cite: ", "not part of graftwork"):
            assert part in words
        assert "\n" not in words
        assert str(pickle.loads(pickle.dumps(caught.value))) == words


@pytest.mark.parametrize("wrong", [3, b"x", "", ["a"]])
def test_a_folder_is_a_path(wrong):
    with pytest.raises(DataError, match="folder is"):
        load_debd("nltcs", wrong)


def test_debd(folder):
    parts = load_debd("nltcs", folder)
    assert parts.train.names == ("x0", "x1", "x2")
    assert {table.states for table in (parts.train, parts.valid, parts.test)} == {((0, 1),) * 3}
    assert [list(table) for table in (parts.train, parts.valid, parts.test)] == [
        [(0, 1, 1), (1, 0, 1)],
        [(0, 0, 1)],
        [(0, 0, 0), (1, 1, 1), (1, 0, 0)],
    ]
    assert repr(parts) == (
        "Parts: 2 rows to learn from, 1 to validate on, 3 to test on; 3 variables"
    )


@pytest.mark.parametrize("wrong", ["nltc", 3, None])
def test_debd_knows_its_names(wrong, folder):
    with pytest.raises(
        (DataError, ParameterError), match="'nltcs', 'msnbc', 'kdd', 'plants', 'jester', 'msweb'"
    ):
        load_debd(wrong, folder)
    with pytest.raises(ParameterError, match="did you mean 'nltcs'"):
        load_debd("nltc", folder)


def test_jester_bins_and_parts(folder):
    parts = load_jester(folder, held_out=0.25)
    assert parts.train.n_rows + parts.test.n_rows == 20
    assert parts.test.n_rows in (4, 5)
    assert parts.train.names[:2] == ("joke1", "joke2")
    assert set(parts.train.states) == {(1, 2, 3, 4, 5)}
    rows = [*parts.train, *parts.test]
    taste = (1, 1, 2, 2, 3, 3, 4, 4, 5, 5) * 10
    assert rows.count(taste) == 2
    assert not set(parts.train) & set(parts.test)
    again = load_jester(folder, held_out=0.25)
    assert list(again.test) == list(parts.test)
    two = load_jester(folder, bins=2)
    whole = ratings(np.random.default_rng(0))[20:].tolist()
    assert {*two.train, *two.test} == {tuple(1 + (x >= 0) for x in row) for row in whole}


@pytest.mark.parametrize("seed", range(8))
def test_jester_puts_no_row_in_both_parts(seed, folder):
    parts = load_jester(folder, held_out=0.5, random_state=seed)
    assert not set(parts.train) & set(parts.test)
    assert parts.train.n_rows >= 10


def test_jester_with_missing_cells(folder):
    parts = load_jester(folder, complete=False, least=99)
    assert parts.train.n_rows + parts.test.n_rows == 30
    assert parts.train.states[3] == (1, 2, 3, 4, 5, "(missing)") == parts.test.states[3]
    assert parts.train.states[4] == (1, 2, 3, 4, 5)
    cells = [*parts.train["joke4"], *parts.test["joke4"]]
    assert cells.count("(missing)") == 10
    everyone = load_jester(folder, complete=False, least=40)
    assert everyone.train.n_rows + everyone.test.n_rows == 40


def test_yummly(folder):
    parts = load_yummly(folder, recipes=None, least=1, held_out=0.25)
    assert parts.train.names == ("salt", "feta cheese", "olive oil\x85extra", "olives")
    assert parts.train.states == ((0, 1),) * 4
    assert sorted([*parts.train, *parts.test]) == sorted(
        [(1, 1, 0, 0), (1, 0, 1, 0), (1, 1, 0, 0), (0, 0, 0, 1)]
    )
    assert (parts.train.n_rows, parts.test.n_rows) == (3, 1)
    few = load_yummly(folder, recipes=2, least=2, cuisine=True)
    assert few.train.names == ("cuisine", "salt", "feta cheese")
    assert few.train.states[0] == ("greek", "italian")
    order = np.random.default_rng(0).permutation(4)[:2]
    recipes = [("greek", 1, 1), ("italian", 1, 0), ("greek", 1, 1), ("greek", 0, 0)]
    assert [*few.train, *few.test] == [recipes[k] for k in order]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"recipes": 5}, "recipes is 5, but there are 4"),
        ({"recipes": 1}, "recipes must .*got 1"),
        ({"least": 4, "recipes": None}, "no ingredient is in more than 3 recipes"),
        ({"held_out": 1.0}, "held_out"),
    ],
)
def test_yummly_refuses(options, words, folder):
    with pytest.raises((DataError, ParameterError), match=words):
        load_yummly(folder, **options)


def test_conll(folder):
    corpus = load_conll2000(folder)
    assert corpus.train.tokens == [[token[:2] for token in sentence] for sentence in SENTENCES]
    assert corpus.train.labels == [["B-NP", "B-VP"], ["B-NP", "I-NP", "B-VP"]]
    assert repr(corpus.train) == "LabelledSentences: 2 sentences, 5 tokens, 3 labels"
    only = load_conll2000(folder, np_only=True)
    assert only.test.labels == [["B-NP", "O"], ["B-NP", "I-NP", "O"]]
    X = only.train.attributes()
    assert len(only.train) == len(X) == 2
    assert ChainCRF(lam=0.01).fit(X, only.train.labels).predict(X) == only.train.labels
    write_conll(folder / "conll2000/test.txt.gz", [[("a", "B-NP")]])
    with pytest.raises(DataError, match=r"test\.txt\.gz: lines have 2 columns"):
        load_conll2000(folder)


def test_letters(folder):
    everything = load_ocr_letters(folder, None)
    assert everything.images.shape == (7, 16, 8)
    assert everything.labels.tolist() == list("aczabia")
    assert everything.words.tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert everything.folds.tolist() == [4, 4, 4, 0, 0, 9, 9]
    bits = np.load(folder / "ocr_letters/letters.npz")["pixels_packed"]
    assert np.array_equal(np.packbits(everything.images.reshape(7, -1), axis=1), bits)
    some = load_ocr_letters(folder)
    assert some.labels.tolist() == list("acaia")
    assert repr(some) == "Letters: 5 images of 16 x 8 pixels, of aci"
    table = some.table("a")
    assert table.shape == (3, 128)
    assert table.names[9] == "r1c1"
    assert np.array_equal(np.asarray(table).reshape(3, 16, 8), everything.images[[0, 3, 6]])
    assert some.table().n_rows == len(some) == 5
    large = load_ocr_letters(folder, padded=True)
    assert large.images.shape == (5, 20, 20)
    assert np.array_equal(large.images[:, 2:18, 6:14], some.images)
    assert large.images.sum() == some.images.sum()
    with pytest.raises(
        (DataError, ParameterError), match=r"letter='b' is not known.* 'a', 'c', 'i'"
    ):
        some.table("b")


@pytest.mark.parametrize("wrong", ["A", "", "a c", 3])
def test_letters_are_lower_case(wrong, folder):
    with pytest.raises(DataError, match="letters is"):
        load_ocr_letters(folder, wrong)
    with pytest.raises(DataError, match="none of its letters is in 'xy'"):
        load_ocr_letters(folder, "xy")


def test_mnist(folder):
    path = folder / "mnist/mnist14x14_binary.npz"
    bits = np.unpackbits(np.load(path)["X_train_packed"], axis=1, count=196)
    found = load_mnist(folder)
    assert found.train.names[15] == "r1c1"
    assert np.array_equal(np.asarray(found.train), bits)
    assert found.train_digits.tolist() == [*range(10)] * 2
    some = load_mnist(folder, digits=[3, 8], n_train=3, size=7)
    assert some.train_digits.tolist() == [3, 8, 3]
    assert some.test_digits.tolist() == [3, 8]
    images = bits[[3, 8, 13]].reshape(3, 14, 14)
    sums = sum(images[:, a::2, b::2] for a in (0, 1) for b in (0, 1))
    assert np.array_equal(np.asarray(some.train), (sums >= 2).reshape(3, -1))
    assert repr(some) == "Digits: 3 images to learn from, 2 to test on; 49 pixels; of 3, 8"
    assert load_mnist(folder, digits=7).test_digits.tolist() == [7]


@pytest.mark.parametrize(
    "options",
    [{"size": 3}, {"size": 7.0}, {"digits": 10}, {"digits": []}, {"digits": "3"}, {"n_train": 21},
     {"n_test": 0}, {"digits": 2.0}],
)  # fmt: skip
def test_mnist_refuses(options, folder):
    with pytest.raises((DataError, ParameterError), match=next(iter(options))):
        load_mnist(folder, **options)


def test_hapmap(folder):
    found = load_hapmap(folder)
    missing = "(missing)"
    assert found.table.states == ((0, 1, 2, missing),) * 3
    gone = missing
    assert list(found.table) == [(0, 2, gone), (1, 2, 1), (gone, gone, gone), (0, 1, 0)]
    assert found.table.names == ("rs1", "rs2", "rs3")
    assert found.positions.tolist() == [10, 25, 400]
    assert found.samples == tuple("abcd")
    assert found.populations == ("CEU", "YRI", "YRI", "CEU")
    assert found.cases is None
    assert repr(found) == "Genotypes: 4 people (2 CEU, 2 YRI) x 3 SNPs"
    two = load_hapmap(folder, n=2, binary=True)
    assert two.table.states == ((0, 1, missing),) * 2
    assert list(two.table) == [(0, 0), (1, 0), (gone, gone), (0, 1)]  # rs2 was swapped
    assert two.positions.tolist() == [10, 25]
    made = load_hapmap(folder, "chr10")
    assert made.table.states == ((0, 1, 2), (0, 1, 2, missing))
    assert made.positions is None
    assert made.cases.tolist() == [1, 0]
    assert made.populations == ("CEU", "JPT+CHB")


def test_hapmap_refuses(folder):
    with pytest.raises(
        (DataError, ParameterError), match="which='chr2' is not known; did you mean 'chr22'"
    ):
        load_hapmap(folder, "chr2")
    with pytest.raises(ParameterError, match=r"n must .* got 4"):
        load_hapmap(folder, n=4)
    (folder / "hapmap/hapmap_chr22_1mb_snps.txt").write_text("rsid\tposition\nrs1\t10\n")
    with pytest.raises(DataError, match=r"hapmap_chr22_1mb_snps\.txt: it does not list"):
        load_hapmap(folder)


DAMAGED = {
    "debd": ("0,1,1\n1,0,2\n", "line 2, cell 3: '2' is not one of '01'"),
    "jester": ({"ratings_x100": np.full((3, 100), 1001)}, "1001 is not a rating"),
    "yummly": ("id\tcuisine\tingredients\n1\tgreek\t\n", "line 2 lacks one of id, cuisine"),
    "conll2000": ("He PRP\nsleeps VBZ B-VP\n", "line 2"),
    "ocr_letters": ({"word_start": np.array([0, 5, 3, 7])}, "do not fit together"),
    "mnist": ({"y_train": np.full(20, 10)}, "'y_train' holds 10, not from 0 to 9"),
    "hapmap": ("sample,population,rs1\na,CEU,3\n", "line 2, cell 1: '3'"),
}


@pytest.mark.parametrize("name", LOADERS)
def test_damage_is_said_with_the_file_and_the_place(name, folder):
    path = folder / name / FILES[name]
    whole, (content, words) = path.read_bytes(), DAMAGED[name]
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=path.name):
        LOADERS[name](folder)
    path.write_bytes(whole)
    if isinstance(content, str):
        packed(path, content)
    else:
        np.savez(path, **{**np.load(path), **content})
    with pytest.raises(DataError, match=f"{path.name}: .*{words}"):
        LOADERS[name](folder)


def test_every_data_set_has_a_loader_and_says_what_it_is():
    assert set(datasets.EMBEDDED) == {"adhd", "boredom", "mushroom"}
    for name, each in datasets.DATASETS.items():
        assert getattr(datasets, f"load_{name}") is each.load
        assert each.embedded or (each.form and each.source and each.cite)
