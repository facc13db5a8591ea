"""Files of chains: what comes back, and the format; `test_tampering.py` has what is refused."""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import json
from dataclasses import replace

import numpy as np
import pytest

import graftwork as gw
from graftwork.cli import main
from graftwork.errors import DataError
from graftwork.models import ChainModel, PairwiseMRF, load, load_chain, read_info

from support.made_networks import small_chain
from support.tampering import members_of, rewrite

ODD = (
    "a", "", "\u00e9\u4e2d\U0001f600", "\ud800", "a\nb\x00", 7, 2**70, True, 1.5, None, b"\x00\xff",
    ("a", (1, None)), dt.date(2020, 2, 29), dt.timedelta(days=-1, microseconds=3),
)  # fmt: skip


def chain(labels=("N", "V", 3), attributes=("the", "dog", "x"), order=1, seed=0):
    """A chain with some weights; the weight of the last pair is -0.0."""
    rng = np.random.default_rng(seed)
    n = len(labels)
    n_outputs = n if order == 1 else n + n * n
    places = rng.choice(len(attributes) * n_outputs, size=len(attributes), replace=False)
    pairs = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.5)
    pairs[-1, -1] = -0.0
    shape = (n, n, n) if order == 2 else (0, 0, 0)
    triples = rng.normal(size=shape) * (rng.random(shape) < 0.2)
    votes = (places // n_outputs, places % n_outputs, rng.normal(size=len(places)))
    return ChainModel(labels, attributes, order, *votes, pairs, triples)


def with_columns(model):
    return replace(model, columns=np.array([4, 0, 2]), n_columns=5)


MODELS = {
    "first order": chain,
    "second order": lambda: chain(order=2),
    "columns": lambda: with_columns(chain()),
    "label counts": lambda: replace(chain(), label_counts=np.array([3.0, 0.1, 1e300])),
    "one label": lambda: chain(labels=("O",)),
    "odd names": lambda: chain(labels=ODD, attributes=ODD[::-1]),
    "numbers": lambda: chain(labels=(0, 1), attributes=tuple(range(5))),
    "nothing": lambda: ChainModel(
        ("a", "b"), (), 1, *(np.zeros(0, t) for t in (int, int, float)), np.zeros((2, 2)),
        np.zeros((0, 0, 0)),
    ),
}  # fmt: skip
ARRAYS = (
    "vote_attributes", "vote_outputs", "vote_weights", "pairs", "triples", "columns",
    "label_counts",
)  # fmt: skip


def kinds(value):
    return (type(value), tuple(map(kinds, value))) if isinstance(value, tuple) else type(value)


def same(mine, theirs):
    """Whether two chains are the same, bit for bit."""
    for name in ARRAYS:
        a, b = getattr(mine, name), getattr(theirs, name)
        if (a is None) != (b is None):
            return False
        if a is not None and (a.shape, a.dtype, a.tobytes()) != (b.shape, b.dtype, b.tobytes()):
            return False
    named = [(m.labels, m.attributes, m.order, m.n_columns) for m in (mine, theirs)]
    return named[0] == named[1] and kinds(named[0]) == kinds(named[1])


@pytest.mark.parametrize("case", MODELS)
def test_round_trip(tmp_path, case):
    model, path = MODELS[case](), tmp_path / "chain.gw"
    info = {"lam": 0.1, "nested": {"a": [None, True]}}
    model.save(path, info=info)
    for reader in (load, load_chain, gw.load):
        assert same(reader(path), model)
    assert read_info(path) == info


def test_a_loaded_chain_answers_alike(tmp_path):
    X = [[["the"], ["dog", "x"], ["unknown"], []], [["x"]]]
    for order in (1, 2):
        model = chain(order=order)
        model.save(tmp_path / "m.gw")
        again = load_chain(tmp_path / "m.gw")
        assert again.predict(X) == model.predict(X)
        assert again.log_partition(X).tobytes() == model.log_partition(X).tobytes()
        assert again.records() == model.records()
        assert repr(again) == repr(model)


def test_files_without_label_counts_are_read_as_before(tmp_path):
    path = tmp_path / "m.gw"
    chain().save(path)
    rewrite(path, lambda header: {k: v for k, v in header.items() if k != "label_counts"})
    assert same(load(path), chain())
    assert load(path).predict([[["unknown"]]]) == [["N"]]


def test_the_file_is_what_the_documentation_says(tmp_path):
    counts = np.array([2.0, 3.5, 0.0])
    model = replace(with_columns(chain(order=2)), label_counts=counts)
    path = tmp_path / "m.gw"
    model.save(path)
    members = members_of(path)
    names = ["attributes.npy", "outputs.npy", "moves.npy", "weights.npy", "columns.npy"]
    assert list(members) == ["graftwork.json", *names]
    header = json.loads(members["graftwork.json"])
    arrays = [np.load(io.BytesIO(members[name]), allow_pickle=False) for name in names]
    assert [a.dtype.str for a in arrays] == ["<i4", "<i4", "<i8", "<f8", "<i8"]
    both = b"".join(members[name] for name in names)
    assert header.pop("sha256") == hashlib.sha256(both).hexdigest()
    assert header.pop("library") == gw.__version__
    assert header == {
        "format": "graftwork-chain",
        "version": 1,
        "order": 2,
        "labels": ["mixed", [["str", "N"], ["str", "V"], ["int", 3]]],
        "attributes": ["str", ["the", "dog", "x"]],
        "n_columns": 5,
        "label_counts": [2.0, 3.5, 0.0],
        "info": {},
    }
    moves, weights = arrays[2], arrays[3][len(arrays[0]) :]
    for move, weight in zip(moves.tolist(), weights.tolist(), strict=True):
        if move < 9:
            assert model.pairs[move // 3, move % 3] == weight
        else:
            place = move - 9
            assert model.triples[place // 9, place // 3 % 3, place % 3] == weight


def test_hundreds_of_thousands_of_names_take_little_room(tmp_path):
    n, path = 300_000, tmp_path / "m.gw"
    names = tuple(f"word[{k}]" for k in range(n))
    votes = (np.arange(n), np.arange(n) % 2, np.ones(n))
    model = ChainModel(("a", "b"), names, 1, *votes, np.zeros((2, 2)), np.zeros((0, 0, 0)))
    model.save(path)
    assert load_chain(path).attributes == names
    assert path.stat().st_size < n * (4 + 4 + 8 + len("word[123456]") + 3) + 2000


def network():
    return PairwiseMRF({"a": ["x", "y"], "b": [0, 1]}, None, {("a", "b"): np.eye(2)})


@pytest.mark.parametrize(
    "words",
    [["query", "M"], ["sample", "M", "3"], ["score", "M", "D"],
     ["learn", "D", "--start", "M", "--out", "O"], ["score", "N", "D", "--truth", "M"]],
)  # fmt: skip
def test_commands_for_networks_refuse_chains_in_one_sentence(tmp_path, capsys, words):
    names = {"M": "chain.gw", "N": "network.gw", "D": "data.csv", "O": "out"}
    chain().save(tmp_path / "chain.gw")
    network().save(tmp_path / "network.gw")
    (tmp_path / "data.csv").write_text("a,b\n" + "x,0\ny,1\n" * 5)
    assert main([str(tmp_path / names[word]) if word in names else word for word in words]) == 2
    *_, line = capsys.readouterr().err.strip().splitlines()
    assert "chain.gw' holds a chain of labels, where a network" in line


WRONG = {
    "of order 1 or 2": {"order": 3},
    "at least one label": {"labels": ()},
    "each label once": {"labels": ("N", "V", "N")},
    "each attribute once": {"attributes": ("a", "b", "a")},
    "pairs of a chain of 3 labels": {"pairs": np.zeros((2, 2))},
    "triples of a chain of 3 labels": {"triples": np.zeros((3, 3, 3))},
    "one attribute, one output": {"vote_weights": np.ones(2)},
    "out of range": {"vote_outputs": np.array([0, 1, 9])},
    "votes twice": {"vote_attributes": np.array([0, 1, 0]), "vote_outputs": np.array([0, 1, 0])},
    "finite": {"vote_weights": np.array([1.0, np.nan, 1.0])},
    "go together": {"n_columns": None},
    "at most 2,147,483,647 columns": {"n_columns": 10**30},
    "not 5.5": {"n_columns": 5.5},
    "its own column": {"columns": np.array([0, 0, 1])},
    "an array of 3 finite numbers of at least 0": {"label_counts": np.array([1.0, 2.0])},
    "label_counts of a chain": {"label_counts": [1.0, 2.0, 3.0]},
}


@pytest.mark.parametrize("words", WRONG)
def test_chains_that_do_not_fit_together_are_refused(words):
    with pytest.raises(DataError, match=words):
        replace(small_chain(), **WRONG[words])


WRONG_KINDS = {
    "a list of pairs": {"pairs": [[0.0, 0.0], [0.0, 0.0]]},
    "fractions of attributes": {"vote_attributes": np.array([0.5])},
    "a list of weights": {"vote_weights": [1.0]},
    "labels that cannot be hashed": {"labels": (["a"], "b")},
    "an order that is not a whole number": {"order": 1.0},
}


@pytest.mark.parametrize("odd", WRONG_KINDS.values(), ids=WRONG_KINDS)
def test_parts_of_a_wrong_kind_are_refused(odd):
    parts = {
        "labels": ("a", "b"), "attributes": ("w",), "order": 1, "vote_attributes": np.array([0]),
        "vote_outputs": np.array([1]), "vote_weights": np.array([2.0]), "pairs": np.zeros((2, 2)),
        "triples": np.zeros((0, 0, 0)),
    }  # fmt: skip
    ChainModel(**parts)
    with pytest.raises(DataError):
        ChainModel(**{**parts, **odd})


@pytest.mark.parametrize("name", ["x.json", "x.crfsuite", "X.TXT", "x.pkl"])
def test_names_of_other_kinds_of_files_are_refused(tmp_path, name):
    X, y = [[["a"], ["b"]]] * 4, [["A", "B"]] * 4
    with pytest.raises(DataError, match=r"end the name in \.gw \(chains have no other format\)\."):
        gw.ChainCRF(lam=0.01).fit(X, y).save(tmp_path / name)
    assert not list(tmp_path.iterdir())
