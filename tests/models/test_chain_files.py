"""Files of chains: what comes back, what is refused, and that networks are told from chains."""

from __future__ import annotations

import datetime as dt
import enum
import hashlib
import io
import json
import os
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import graftwork as gw
from graftwork.cli import main
from graftwork.errors import DataError, ModelFileError
from graftwork.models import (
    ChainModel,
    PairwiseMRF,
    load,
    load_chain,
    load_network,
    read_info,
)

from support.tampering import huge_npy, members_of, npy, rewrite

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
    first = path.read_bytes()
    load_chain(path).save(str(path), info)
    assert path.read_bytes() == first
    assert [p.name for p in tmp_path.iterdir()] == ["chain.gw"]


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
    with zipfile.ZipFile(path) as archive:
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
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


class Colour(enum.Enum):
    RED = 1


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize("value", [Colour.RED, Text("sub"), frozenset([1]), 1j, (1, Colour.RED)])
def test_what_cannot_be_kept_is_named_and_nothing_is_written(tmp_path, value):
    path = tmp_path / "m.gw"
    with pytest.raises(DataError, match=r"cannot write the label .* of type .*rename"):
        chain(labels=("a", value)).save(path)
    with pytest.raises(DataError, match=r"cannot write the attribute .* of type .*rename"):
        chain(attributes=("a", value, "b")).save(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [object(), float("nan"), float("inf"), {1}, Colour.RED, b"x"])
def test_info_that_is_not_json_is_refused(tmp_path, value):
    with pytest.raises(DataError, match="info of the model cannot be written"):
        chain().save(tmp_path / "m.gw", info={"a": [value]})
    assert list(tmp_path.iterdir()) == []


def test_an_old_file_survives_a_failure(tmp_path, monkeypatch):
    path = tmp_path / "m.gw"
    chain().save(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, fail)
            with pytest.raises(OSError, match="disk full"):
                chain(seed=1).save(path)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]


def network():
    return PairwiseMRF({"a": ["x", "y"], "b": [0, 1]}, None, {("a", "b"): np.eye(2)})


def test_networks_and_chains_are_told_apart(tmp_path):
    chain_path, network_path = tmp_path / "chain.gw", tmp_path / "network.gw"
    chain().save(chain_path, info={"what": "chain"})
    network().save(network_path, info={"what": "network"})
    assert isinstance(load(chain_path), ChainModel)
    assert load(network_path) == load_network(network_path) == network()
    assert read_info(chain_path)["what"] == "chain"
    assert read_info(network_path)["what"] == "network"
    with pytest.raises(ModelFileError, match=r"chain.gw' holds a chain of labels.* is wanted"):
        load_network(chain_path)
    with pytest.raises(ModelFileError, match=r"network.gw' holds a network.* is wanted"):
        load_chain(network_path)


@pytest.mark.parametrize(
    "words",
    [["query", "M"], ["sample", "M", "3"], ["score", "M", "D"],
     ["learn", "D", "--start", "M", "--out", "O"], ["score", "N", "D", "--truth", "M"]],
)  # fmt: skip
def test_commands_for_networks_refuse_chains_in_one_sentence(tmp_path, capsys, words):
    names = {"M": "chain.gw", "N": "network.gw", "D": "data.csv", "O": "out"}
    chain().save(tmp_path / "chain.gw")
    network().save(tmp_path / "network.gw")
    (tmp_path / "data.csv").write_text("a,b\nx,0\ny,1\n" * 5)
    assert main([str(tmp_path / names[word]) if word in names else word for word in words]) == 2
    *_, line = capsys.readouterr().err.strip().splitlines()
    assert "chain.gw' holds a chain of labels, where a network" in line


def test_truncations_and_flipped_bytes(tmp_path):
    model, path = with_columns(chain(order=2)), tmp_path / "m.gw"
    model.save(path)
    data = path.read_bytes()
    for size in range(0, len(data), 29):
        path.write_bytes(data[:size])
        with pytest.raises(ModelFileError):
            load(path)
    refused = 0
    for at in range(0, len(data), 2):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x5A]) + data[at + 1 :])
        try:
            assert same(load(path), model)  # a date or a flag of the zip
        except ModelFileError:
            refused += 1
    assert refused > 0.37 * len(data)


def put(**fields):
    return lambda header: header.update(fields)


HEADERS = {
    "checksum": put(sha256="0" * 64),
    "no checksum": lambda h: h.pop("sha256"),
    "order 3": put(order=3),
    "order 0": put(order=0),
    "order true": put(order=True),
    "order a text": put(order="1"),
    "order a list": put(order=[1]),
    "no order": lambda h: h.pop("order"),
    "fewer labels": put(labels=["str", ["N", "V"]]),
    "no labels": put(labels=["str", []]),
    "label twice": put(labels=["str", ["N", "V", "N"]]),
    "equal labels": put(labels=["mixed", [["int", 1], ["float", "0x1p+0"], ["str", "N"]]]),
    "labels a text": put(labels="NVX"),
    "labels unlisted": put(labels=["str", "NVX"]),
    "labels of a wrong tag": put(labels=["int", ["N", "V", "X"]]),
    "unknown tag": put(labels=["object", [1, 2, 3]]),
    "mixed without tags": put(labels=["mixed", ["N", "V", "X"]]),
    "tag a list": put(labels=[["str"], ["N", "V", "X"]]),
    "attribute twice": put(attributes=["str", ["a", "b", "a"]]),
    "fewer attributes": put(attributes=["str", ["a", "b"]]),
    "no attributes": lambda h: h.pop("attributes"),
    "attributes a dict": put(attributes={"str": ["a", "b", "c"]}),
    "columns out of range": put(n_columns=4),
    "columns negative": put(n_columns=-1),
    "columns a text": put(n_columns="5"),
    "columns a fraction": put(n_columns=5.5),
    "columns true": put(n_columns=True),
    "columns unsaid": put(n_columns=None),
    "no columns": lambda h: h.pop("n_columns"),
    "counts a number": put(label_counts=3),
    "counts of texts": put(label_counts=["1", "2", "3"]),
    "counts of bools": put(label_counts=[True, False, True]),
    "fewer counts": put(label_counts=[1.0, 2.0]),
    "negative counts": put(label_counts=[1.0, 2.0, -3.0]),
    "counts beyond floats": put(label_counts=[1.0, 2.0, 10**400]),
    "info a list": put(info=[]),
    "no info": lambda h: h.pop("info"),
    "version zero": put(version=0),
    "version a text": put(version="1"),
    "version true": put(version=True),
    "another format": put(format="other"),
    "the other format": put(format="graftwork-model"),
    "format a list": put(format=["graftwork-chain"]),
}


@pytest.mark.parametrize("case", HEADERS)
def test_inconsistent_headers_are_refused(tmp_path, case):
    path = tmp_path / "m.gw"
    with_columns(chain()).save(path)

    def change(header):
        HEADERS[case](header)

    rewrite(path, change)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert "m.gw" in str(caught.value)
    assert "\n" not in str(caught.value)


def i4(*values):
    return npy(np.array(values, dtype=np.int32))


def i8(*values):
    return npy(np.array(values, dtype=np.int64))


# A chain of 3 labels and 3 attributes with votes (0, 0), (1, 1), (2, 2) and the moves 0 and 8.
TAMPERED = {
    "attribute out of range": {"attributes.npy": i4(0, 1, 3)},
    "attribute negative": {"attributes.npy": i4(0, 1, -1)},
    "output out of range": {"outputs.npy": i4(0, 1, 3)},
    "output negative": {"outputs.npy": i4(0, -1, 2)},
    "vote twice": {"attributes.npy": i4(0, 1, 1), "outputs.npy": i4(0, 1, 1)},
    "fewer votes": {"attributes.npy": i4(0, 1)},
    "more outputs": {"outputs.npy": i4(0, 1, 2, 0)},
    "move out of range": {"moves.npy": i8(0, 9)},
    "move negative": {"moves.npy": i8(-1, 8)},
    "move twice": {"moves.npy": i8(0, 0)},
    "moves backwards": {"moves.npy": i8(8, 0)},
    "moves overflow": {"moves.npy": i8(2**62, -(2**62))},
    "fewer moves": {"moves.npy": i8(0)},
    "nan vote": {"weights.npy": npy([np.nan, 1.0, 1.0, 1.0, 1.0])},
    "inf move": {"weights.npy": npy([1.0, 1.0, 1.0, 1.0, np.inf])},
    "-inf move": {"weights.npy": npy([1.0, 1.0, 1.0, 1.0, -np.inf])},
    "fewer weights": {"weights.npy": npy(np.ones(4))},
    "more weights": {"weights.npy": npy(np.ones(6))},
    "column twice": {"columns.npy": i8(4, 4, 2)},
    "column out of range": {"columns.npy": i8(4, 5, 2)},
    "column negative": {"columns.npy": i8(4, -1, 2)},
    "fewer columns": {"columns.npy": i8(4, 0)},
    "no columns": {"columns.npy": i8()},
    "int64 attributes": {"attributes.npy": i8(0, 1, 2)},
    "float32 weights": {"weights.npy": npy(np.ones(5, np.float32))},
    "big-endian weights": {"weights.npy": npy(np.ones(5, ">f8"))},
    "matrix": {"moves.npy": npy(np.zeros((1, 2), dtype=np.int64))},
    "objects": {"weights.npy": npy(np.array([1, 2, 3, 4, 5], dtype=object))},
    "huge": {"weights.npy": huge_npy()},
    "not npy": {"columns.npy": b"nothing"},
}


def small_chain():
    pairs = np.zeros((3, 3))
    pairs[0, 0] = pairs[2, 2] = 1.0
    votes = (np.arange(3), np.arange(3), np.ones(3))
    return ChainModel(
        tuple("NVX"), tuple("abc"), 1, *votes, pairs, np.zeros((0, 0, 0)), np.array([4, 0, 2]), 5
    )


@pytest.mark.parametrize("case", TAMPERED)
def test_inconsistent_arrays_are_refused(tmp_path, case):
    path = tmp_path / "m.gw"
    small_chain().save(path)
    rewrite(path, lambda h: h)
    assert same(load(path), small_chain())
    rewrite(path, lambda h: h, arrays=TAMPERED[case])
    with pytest.raises(ModelFileError, match="damaged"):
        load(path)


def test_changed_arrays_under_the_old_checksum_are_refused(tmp_path):
    path = tmp_path / "m.gw"
    small_chain().save(path)
    rewrite(path, lambda h: h, arrays={"weights.npy": npy(np.zeros(5))}, resign=False)
    with pytest.raises(ModelFileError, match="checksum"):
        load(path)


def test_newer_versions_say_what_to_install(tmp_path):
    path = tmp_path / "m.gw"
    chain().save(path)
    rewrite(path, lambda h: {**h, "version": 2, "library": "9.0"})
    with pytest.raises(ModelFileError, match=r"format version 2.*reads up to 1.*graftwork 9.0"):
        load(path)


def test_compressed_members_are_refused(tmp_path):
    path = tmp_path / "m.gw"
    chain().save(path)
    rewrite(path, lambda h: {**h, "info": {"a": "x" * 1_000_000}}, zipfile.ZIP_DEFLATED)
    for reader in (load, read_info):
        with pytest.raises(ModelFileError, match="compressed"):
            reader(path)


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
