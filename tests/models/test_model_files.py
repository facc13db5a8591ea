"""Files of networks: what comes back, and the format; `test_tampering.py` has what is refused."""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import json
import zipfile

import numpy as np
import pytest

from graftwork.errors import ModelFileError
from graftwork.models import PairwiseMRF, load, read_info

from doors.models import Gaps
from support.made_networks import tied_network
from support.tampering import npy, rewrite

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


def test_numpy_states_come_back_as_the_python_values_they_equal(tmp_path):
    model = PairwiseMRF({np.str_("a"): np.array([0, 1]), "b": np.array(["x", "y"])})
    model.save(tmp_path / "m.gw")
    assert load(tmp_path / "m.gw").states == {"a": (0, 1), "b": ("x", "y")}


def plain_size(monkeypatch, model, path):
    with monkeypatch.context() as patch:
        patch.setattr("graftwork.models.files.pack", lambda numbers: None)
        model.save(path)
    assert load(path) == model
    return path.stat().st_size


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7])
def test_numbers_that_repeat_are_kept_once_and_come_back_bit_for_bit(tmp_path, monkeypatch, count):
    model = tied_network((0.0, -0.0, 0.25, -1e-320, 1 / 3, -7.0, -np.inf)[:count])
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


def test_bits_after_the_last_index_are_refused(tmp_path):
    path = tmp_path / "m.gw"
    tied_network((0.0, 1.0), variables=11).save(path)  # 132 numbers of one bit in 17 bytes
    rewrite(path, lambda h: h, arrays={"indices.npy": npy(np.zeros(17, np.uint8))})
    assert not load(path).potentials.weights.any()
    rewrite(path, lambda h: h, arrays={"indices.npy": npy(np.append(np.zeros(16), 1).astype("u1"))})
    with pytest.raises(ModelFileError, match="do not end"):
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
