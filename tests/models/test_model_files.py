from __future__ import annotations

import datetime as dt
import enum
import hashlib
import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest

from graftwork.errors import DataError, ModelFileError
from graftwork.models import PairwiseMRF, load, read_info

from doors.models import Gaps
from support.tampering import huge_npy, npy, rewrite

ODD = {
    "plain": ["a", "b"],
    "": ["", " ", "\n", "\u00e9\u4e2d\U0001f600", "\ud800"],
    7: [1, -(2**70), 2**20_000, 2**53 + 1],
    True: [True, False, 1, 0],
    1.5: [0.1, -0.0, float("inf"), 5e-324],
    None: [None],
    b"\x00\xff": [b"", b"bytes"],
    ("a", (1, None)): [(), ("x", 2.5, (True,))],
    dt.date(2020, 2, 29): [dt.date.min, dt.datetime(2020, 1, 1, 12, 30, 0, 7)],
    dt.datetime(2021, 10, 31, 2, 30, fold=1): [
        dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
        dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=-3))),
        dt.timedelta(days=-1, microseconds=3),
    ],
}


def odd_model():
    rng = np.random.default_rng(0)
    names = list(ODD)
    pairs = [(names[3], names[1]), (names[0], names[9]), (names[4], names[7])]
    unary = {name: rng.normal(size=len(listed)) for name, listed in ODD.items()}
    unary[None] = [-np.inf]
    tables = {(a, b): rng.normal(size=(len(ODD[a]), len(ODD[b]))) for a, b in pairs}
    return PairwiseMRF(ODD, unary, tables)


def kinds(value):
    return (type(value), tuple(map(kinds, value))) if isinstance(value, tuple) else type(value)


def test_round_trip_of_odd_names_and_states(tmp_path):
    model = odd_model()
    path = tmp_path / "odd.gw"
    model.save(path, info={"lam": 0.1, "edges": [1, 2], "nested": {"a": None}})
    again = load(path)
    assert again == model
    assert again.potentials.weights.tobytes() == model.potentials.weights.tobytes()
    assert kinds(again.names) == kinds(model.names)
    for mine, theirs in zip(model.states.values(), again.states.values(), strict=True):
        assert kinds(mine) == kinds(theirs)
        assert [repr(x) for x in mine if not isinstance(x, int)] == [
            repr(x) for x in theirs if not isinstance(x, int)
        ]
    assert read_info(path) == {"lam": 0.1, "edges": [1, 2], "nested": {"a": None}}
    assert again.names[-1].fold == 1


def test_the_file_is_what_the_documentation_says(tmp_path):
    model = PairwiseMRF({"a": ["x", "y"], "b": [0, 1]}, None, {("a", "b"): np.eye(2)})
    path = tmp_path / "m.gw"
    model.save(str(path))
    with zipfile.ZipFile(path) as archive:
        assert sorted(archive.namelist()) == ["graftwork.json", "pairwise.npy", "unary.npy"]
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
        header = json.loads(archive.read("graftwork.json"))
        arrays = archive.read("unary.npy") + archive.read("pairwise.npy")
        table = np.load(io.BytesIO(archive.read("pairwise.npy")), allow_pickle=False)
    assert header["format"] == "graftwork-model"
    assert header["version"] == 1
    assert header["edges"] == [[0, 1]]
    assert header["variables"][0] == {"name": ["str", "a"], "states": [["str", "x"], ["str", "y"]]}
    assert header["sha256"] == hashlib.sha256(arrays).hexdigest()
    assert table.tolist() == [1.0, 0.0, 0.0, 1.0]
    with np.load(path, allow_pickle=False) as opened:
        assert opened.files == ["graftwork.json", "unary", "pairwise"]
        assert json.loads(opened["graftwork.json"]) == header
        assert opened["pairwise"].tolist() == table.tolist()
    first = path.read_bytes()
    model.save(path)
    assert path.read_bytes() == first


class Colour(enum.Enum):
    RED = 1


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize("state", [Colour.RED, Text("sub"), frozenset([1]), 1j, (1, Colour.RED)])
def test_states_that_cannot_be_kept_are_named_and_nothing_is_written(tmp_path, state):
    path = tmp_path / "m.gw"
    model = PairwiseMRF({"hue": ["ok", state]})
    with pytest.raises(DataError, match=r"a state of 'hue'.*rename"):
        model.save(path)
    with pytest.raises(DataError, match="the variable name"):
        PairwiseMRF({state: [0, 1]}).save(path)
    assert list(tmp_path.iterdir()) == []


def test_info_that_is_not_json_is_refused(tmp_path):
    model = PairwiseMRF({"a": [0, 1]})
    for info in ({"a": object()}, {"a": float("nan")}):
        with pytest.raises(DataError, match="info"):
            model.save(tmp_path / "m.gw", info=info)
    assert list(tmp_path.iterdir()) == []


def test_numpy_states_come_back_as_the_python_values_they_equal(tmp_path):
    model = PairwiseMRF({np.str_("a"): np.array([0, 1]), "b": np.array(["x", "y"])})
    model.save(tmp_path / "m.gw")
    assert load(tmp_path / "m.gw").states == {"a": (0, 1), "b": ("x", "y")}


def test_an_old_file_survives_a_failure(tmp_path, monkeypatch):
    path = tmp_path / "m.gw"
    PairwiseMRF({"a": [0, 1]}).save(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, fail)
            with pytest.raises(OSError, match="disk full"):
                PairwiseMRF({"b": [0, 1]}).save(path)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]


def test_missing_and_foreign_files(tmp_path):
    with pytest.raises(ModelFileError, match="there is no file"):
        load(tmp_path / "none.gw")
    with pytest.raises(ModelFileError, match="cannot read"):
        load(tmp_path)
    foreign = {
        "empty": b"",
        "text": b"hello",
        "pickle": pickle.dumps({"a": 1}),
        "pk": b"PK\x03\x04",
    }
    for name, data in foreign.items():
        (tmp_path / name).write_bytes(data)
        for reader in (load, read_info):
            with pytest.raises(ModelFileError, match="not a graftwork model"):
                reader(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(ModelFileError, match=r"members are 'readme.txt'"):
        load(tmp_path / "other.zip")


def damage(path, data, model, step):
    """Cut the file off here and there and change every byte; return how many changes were refused.

    A change that is not refused must not matter: a date or a flag of the zip.
    """
    for size in range(0, len(data), step):
        path.write_bytes(data[:size])
        with pytest.raises(ModelFileError):
            load(path)
    refused = 0
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x5A]) + data[at + 1 :])
        try:
            assert load(path) == model
        except ModelFileError:
            refused += 1
    return refused


def test_every_truncation_and_every_flipped_byte(tmp_path):
    model = PairwiseMRF({"a": ["x", "y"], "b": [0, 1]}, {"a": [0.1, 0.2]}, {("a", "b"): np.eye(2)})
    path = tmp_path / "m.gw"
    model.save(path)
    data = path.read_bytes()
    refused = damage(path, data, model, 7)
    assert refused > 0.8 * len(data)


CHANGES = {
    "checksum": lambda h: h.update(sha256="0" * 64),
    "no checksum": lambda h: h.pop("sha256"),
    "edge out of range": lambda h: h.update(edges=[[0, 5]]),
    "edge backwards": lambda h: h.update(edges=[[1, 0]]),
    "edge twice": lambda h: h.update(edges=[[0, 1], [0, 1]]),
    "edge of text": lambda h: h.update(edges=[["0", "1"]]),
    "edges missing": lambda h: h.update(edges=[]),
    "no edges": lambda h: h.pop("edges"),
    "fewer variables": lambda h: h["variables"].pop(),
    "more states": lambda h: h["variables"][0]["states"].append(["str", "z"]),
    "same state": lambda h: h["variables"][0].update(states=[["int", 1], ["int", 1]]),
    "same name": lambda h: h["variables"][1].update(name=["str", "a"]),
    "unknown tag": lambda h: h["variables"][0].update(name=["object", "a"]),
    "wrong payload": lambda h: h["variables"][0].update(name=["int", 1.5]),
    "no tag": lambda h: h["variables"][0].update(name="a"),
    "bad hex": lambda h: h["variables"][0].update(name=["int", "zz"]),
    "bad date": lambda h: h["variables"][0].update(name=["datetime", ["nope"]]),
    "variables a number": lambda h: h.update(variables=3),
    "info a list": lambda h: h.update(info=[]),
    "version zero": lambda h: h.update(version=0),
    "version a text": lambda h: h.update(version="1"),
    "format": lambda h: h.update(format="other"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_inconsistent_headers_are_refused(tmp_path, case):
    path = tmp_path / "m.gw"
    PairwiseMRF({"a": ["x", "y"], "b": [0, 1]}, None, {("a", "b"): np.eye(2)}).save(path)

    def change(header):
        CHANGES[case](header)

    rewrite(path, change)
    with pytest.raises(ModelFileError):
        load(path)


ARRAYS = {
    "short": {"unary.npy": npy(np.zeros(3))},
    "long": {"pairwise.npy": npy(np.zeros(9))},
    "nan": {"unary.npy": npy([0, 0, 0, np.nan])},
    "+inf": {"unary.npy": npy([0, 0, 0, np.inf])},
    "float32": {"unary.npy": npy(np.zeros(4, np.float32))},
    "matrix": {"unary.npy": npy(np.zeros((2, 2)))},
    "objects": {"unary.npy": npy(np.array([1, 2, 3, 4], dtype=object))},
    "huge": {"unary.npy": huge_npy()},
    "not npy": {"unary.npy": b"nothing"},
}


@pytest.mark.parametrize("case", ARRAYS)
def test_inconsistent_arrays_are_refused(tmp_path, case):
    path = tmp_path / "m.gw"
    PairwiseMRF({"a": ["x", "y"], "b": [0, 1]}, None, {("a", "b"): np.eye(2)}).save(path)
    rewrite(path, lambda h: h, arrays=ARRAYS[case])
    with pytest.raises(ModelFileError, match="damaged"):
        load(path)


def test_a_newer_format_says_what_to_install(tmp_path):
    path = tmp_path / "m.gw"
    PairwiseMRF({"a": [0, 1]}).save(path)
    rewrite(path, lambda h: {**h, "version": 3, "library": "9.0"})
    with pytest.raises(ModelFileError, match=r"format version 3.*reads up to 2.*graftwork 9.0"):
        load(path)


def test_compressed_members_are_refused(tmp_path):
    path = tmp_path / "m.gw"
    PairwiseMRF({"a": [0, 1]}).save(path)
    rewrite(path, lambda h: {**h, "info": {"a": "x" * 10_000_000}}, zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelFileError, match="compressed"):
        load(path)


def test_deeply_nested_json_is_refused(tmp_path):
    path = tmp_path / "m.gw"
    PairwiseMRF({"a": [0, 1]}).save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["graftwork.json"] = b'{"format":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(ModelFileError):
        load(path)


def tied_model(values=(0.0, -0.0, 0.25, -1e-320, 1 / 3, -7.0, -np.inf), variables=12):
    """A network of three-state variables in a ring whose numbers are few, but odd."""
    rng = np.random.default_rng(0)
    names = [f"v{i}" for i in range(variables)]
    pick = np.array(values)
    unary = {name: rng.choice(pick[pick > -np.inf], 3) for name in names}
    edges = zip(names, [*names[1:], names[0]], strict=True)
    return PairwiseMRF(
        dict.fromkeys(names, (0, 1, 2)), unary, {edge: rng.choice(pick, (3, 3)) for edge in edges}
    )


def plain_size(monkeypatch, model, path):
    with monkeypatch.context() as patch:
        patch.setattr("graftwork.models.files.pack", lambda numbers: None)
        model.save(path)
    assert load(path) == model
    return path.stat().st_size


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7])
def test_numbers_that_repeat_are_kept_once_and_come_back_bit_for_bit(tmp_path, monkeypatch, count):
    model = tied_model((0.0, -0.0, 0.25, -1e-320, 1 / 3, -7.0, -np.inf)[:count])
    path = tmp_path / "tied.gw"
    plain = plain_size(monkeypatch, model, path)
    model.save(path, info={"why": "tied"})
    again = load(path)
    assert again.potentials.weights.tobytes() == model.potentials.weights.tobytes()
    assert read_info(path) == {"why": "tied"}
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("graftwork.json"))
        assert archive.namelist() == ["graftwork.json", "values.npy", "indices.npy"]
        values = np.load(io.BytesIO(archive.read("values.npy")), allow_pickle=False)
        indices = np.load(io.BytesIO(archive.read("indices.npy")), allow_pickle=False)
        arrays = archive.read("values.npy") + archive.read("indices.npy")
    assert header["version"] == 2
    assert header["sha256"] == hashlib.sha256(arrays).hexdigest()
    size = model.potentials.layout.size
    assert len(values) == count
    assert len(indices) == -(-size * max(1, (count - 1).bit_length()) // 8)
    assert path.stat().st_size < plain - 0.7 * 8 * size


def test_a_model_of_many_numbers_is_still_of_version_1(tmp_path):
    rng = np.random.default_rng(0)
    model = PairwiseMRF(
        {"a": range(30), "b": range(30)}, None, {("a", "b"): rng.normal(size=(30, 30))}
    )
    model.save(tmp_path / "m.gw")
    with zipfile.ZipFile(tmp_path / "m.gw") as archive:
        assert json.loads(archive.read("graftwork.json"))["version"] == 1
        assert "unary.npy" in archive.namelist()


def test_truncations_and_flipped_bytes_of_tied_models(tmp_path):
    model = tied_model()
    path = tmp_path / "m.gw"
    model.save(path)
    data = path.read_bytes()
    refused = damage(path, data, model, 11)
    assert refused > 0.8 * len(data)


# 12 variables of 3 states in a ring: 144 numbers of 7 values, so 3 bits each, 54 bytes.
TIED_ARRAYS = {
    "short": {"indices.npy": npy(np.zeros(53, np.uint8))},
    "long": {"indices.npy": npy(np.zeros(55, np.uint8))},
    "index too large": {"indices.npy": npy(np.full(54, 255, np.uint8))},
    "indices of floats": {"indices.npy": npy(np.zeros(54))},
    "indices of words": {"indices.npy": npy(np.zeros(54, np.uint16))},
    "matrix": {"indices.npy": npy(np.zeros((2, 27), np.uint8))},
    "no values": {"values.npy": npy(np.zeros(0)), "indices.npy": npy(np.zeros(18, np.uint8))},
    "few values": {"values.npy": npy([0.0, 1.0])},
    "value twice": {"values.npy": npy([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 5.0])},
    "nan": {"values.npy": npy([np.nan, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])},
    "+inf": {"values.npy": npy([np.inf, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])},
    "float32": {"values.npy": npy(np.arange(7, dtype=np.float32))},
    "huge": {"values.npy": huge_npy()},
    "not npy": {"indices.npy": b"nothing"},
}


@pytest.mark.parametrize("case", TIED_ARRAYS)
def test_inconsistent_values_and_indices_are_refused(tmp_path, case):
    path = tmp_path / "m.gw"
    tied_model().save(path)
    arrays = TIED_ARRAYS[case]
    rewrite(path, lambda h: h, arrays={"values.npy": npy(np.arange(7.0)), **arrays})
    with pytest.raises(ModelFileError, match="damaged"):
        load(path)


def test_bits_after_the_last_index_are_refused(tmp_path):
    path = tmp_path / "m.gw"
    tied_model((0.0, 1.0), variables=11).save(path)  # 132 numbers of one bit in 17 bytes
    rewrite(path, lambda h: h, arrays={"indices.npy": npy(np.zeros(17, np.uint8))})
    assert not load(path).potentials.weights.any()
    rewrite(path, lambda h: h, arrays={"indices.npy": npy(np.append(np.zeros(16), 1).astype("u1"))})
    with pytest.raises(ModelFileError, match="do not end"):
        load(path)


HOSTILE = {
    "version 1 with values": lambda h: h.update(version=1),
    "version true": lambda h: h.update(version=True),
    "checksum": lambda h: h.update(sha256="0" * 64),
    "an edge less": lambda h: h["edges"].pop(),
    "a state more": lambda h: h["variables"][0]["states"].append(["int", 3]),
    "many states": lambda h: h["variables"][0].update(states=[["int", i] for i in range(100_000)]),
    "edges of text": lambda h: h.update(edges="01"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_inconsistent_headers_of_tied_models_are_refused(tmp_path, case):
    path = tmp_path / "m.gw"
    tied_model().save(path)

    def change(header):
        HOSTILE[case](header)

    rewrite(path, change)
    with pytest.raises(ModelFileError):
        load(path)


def test_arrays_of_the_other_version_are_refused(tmp_path):
    path = tmp_path / "m.gw"
    PairwiseMRF({"a": [0, 1]}).save(path)
    rewrite(path, lambda h: h.update(version=2))
    with pytest.raises(ModelFileError, match="not those of format version 2"):
        load(path)


def test_what_missing_cells_were_is_kept_and_checked(tmp_path):
    states = {"a": ["x", "y"], "b": [0, 1, 2]}
    potentials = PairwiseMRF(states).potentials
    frequencies = (np.array([0.1, 0.9]), np.array([1 / 3, 1 / 3, 1 / 3]))
    gaps = Gaps("available-case", frequencies)
    model = PairwiseMRF.from_flat(list(states), list(states.values()), potentials, gaps)
    path = tmp_path / "m.gw"
    model.save(path)
    again = load(path)
    assert again.missing == "available-case"
    rows = {"a": ["x", None], "b": [None, 2]}
    assert again.score(rows) == model.score(rows)
    for found in (
        {"policy": "available-case", "frequencies": [[0.1, 0.9]]},
        {"policy": "available-case", "frequencies": [[0.1, 0.9], [0.5, 0.5]]},
        {"policy": "available-case", "frequencies": [[0.1, 0.8], [0.2, 0.3, 0.5]]},
        {"policy": "available-case", "frequencies": [[-0.1, 1.1], [0.2, 0.3, 0.5]]},
        {"policy": 3, "frequencies": []},
        {"policy": "state"},
        7,
    ):
        rewrite(path, lambda header, found=found: header | {"missing": found})
        with pytest.raises(ModelFileError, match="damaged"):
            load(path)
