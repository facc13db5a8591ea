"""Files of graftwork's own formats: saved whole or not at all, refused once somebody changed them.

Each format is a row of `FORMATS` with what may be wrong in its header and its arrays; what holds
for all of them is asked of all of them.
"""

from __future__ import annotations

import enum
import io
import json
import os
import pickle
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

import graftwork as gw
from graftwork.errors import DataError, ModelFileError
from graftwork.models import ChainModel, PairwiseMRF, load, load_chain, load_network, read_info

from support.made_networks import small_chain, tied_network
from support.stored_tables import assert_same
from support.tampering import huge_npy, members_of, npy, rewrite


def at(place, value):
    """Change one number of an array."""

    def change(array):
        array[place] = value
        return array

    return change


def i4(*values):
    return np.array(values, dtype=np.int32)


def i8(*values):
    return np.array(values, dtype=np.int64)


def array_of(data):
    return np.load(io.BytesIO(data))


def network():
    return PairwiseMRF({"a": ["x", "y"], "b": [0, 1]}, {"a": [0.1, 0.2]}, {("a", "b"): np.eye(2)})


def counts(weights=None):
    rng = np.random.default_rng(0)
    cells = {
        name: rng.integers(0, s, 200).tolist() for name, s in zip("abcd", (2, 3, 4, 1), strict=True)
    }
    return gw.count_pairs(cells, weights=weights)


@dataclass(frozen=True)
class Format:
    """A format: something to save, what reads it, and what may be wrong in its files.

    Headers are changed by values of a field that it must not have, or by functions; arrays by
    others, or by functions of the array.
    """

    make: Callable[[], Any]
    load: Callable[[Any], Any]
    newest: int
    odd: Callable[[Any], Any]
    fields: dict[str, list[Any]]
    arrays: dict[Any, list[Any]]
    headers: dict[str, Callable[[dict[str, Any]], Any]] = field(default_factory=dict)


#: What no field of a header may be, but the one that says who wrote it.
NONSENSE = [None, True, -1, 0, 1.5, 10**30, "x", "", [], [1], ["str"], "01", {}, {"a": []}]
#: But these; `order` is that of a chain, or None for counts without ordered variables.
MAY_BE = {"info": [{}, {"a": []}], "label_counts": [None], "order": [None]}
ANY_ARRAY = {
    "short": lambda data: npy(array_of(data)[:-1]),
    "long": lambda data: npy(np.append(array_of(data), array_of(data)[:1])),
    "another kind": lambda data: npy(array_of(data).astype(np.float32)),
    "big-endian": lambda data: npy(array_of(data).astype(">f8")),
    "matrix": lambda data: npy(array_of(data)[None]),
    "objects": lambda data: npy(array_of(data).astype(object)),
    "huge": lambda data: huge_npy(),
    "not npy": lambda data: b"nothing",
    "nothing": lambda data: b"",
    "cut off": lambda data: data[:-1],
    "unclosed header": lambda data: data.replace(b",), }", b",, }"),
    "code in the header": lambda data: data.replace(b",), }", b"+0,)}"),
    "number of Python 2": lambda data: data.replace(b",), }", b"L,)}"),
    "another version of NumPy's": lambda data: data.replace(b"NUMPY\x01", b"NUMPY\x03"),
    "a header of a size of its own": lambda data: data[:8] + b"\x10" + data[9:],
}
VARIABLES = {
    "fewer variables": lambda h: h["variables"].pop(),
    "a state less": lambda h: h["variables"][0]["states"].pop(),
    "a state more": lambda h: h["variables"][0]["states"].append(["str", "z"]),
    "many states": lambda h: h["variables"][0].update(states=[["int", k] for k in range(70_000)]),
    "same state": lambda h: h["variables"][0].update(states=[["int", 1], ["int", 1]]),
    "same name": lambda h: h["variables"][1].update(name=h["variables"][0]["name"]),
    "unknown tag": lambda h: h["variables"][0].update(name=["object", "a"]),
    "wrong payload": lambda h: h["variables"][0].update(name=["int", 1.5]),
    "no tag": lambda h: h["variables"][0].update(name="a"),
    "bad hex": lambda h: h["variables"][0].update(name=["int", "zz"]),
    "bad date": lambda h: h["variables"][0].update(name=["datetime", ["nope"]]),
}
EDGES = {
    "an edge less": lambda h: h["edges"].pop(),
    "edge out of range": lambda h: h["edges"][0].__setitem__(1, 50),
    "edge backwards": lambda h: h["edges"][0].reverse(),
    "edge twice": lambda h: h.update(edges=h["edges"][:1] * max(2, len(h["edges"]))),
    "edge of text": lambda h: h.update(edges=[["0", "1"]]),
}
FORMATS = {
    "network": Format(
        network, load, 2,
        lambda odd: PairwiseMRF({"hue": ["ok", odd]}),
        {"version": [2], "format": ["graftwork-chain"]},
        {"unary.npy": [at(3, np.nan), at(3, np.inf)], "pairwise.npy": [at(0, np.nan)]},
        VARIABLES | EDGES,
    ),
    # 12 variables of 3 states in a ring: 144 numbers of 7 values, so 3 bits each, 54 bytes.
    "tied network": Format(
        tied_network, load, 2,
        lambda odd: PairwiseMRF({odd: [0, 1]}),
        {"version": [1]},
        {
            "indices.npy": [np.full(54, 255, np.uint8)],
            "values.npy": [np.array([0.0, 1.0]), lambda v: v[[0, 0, 2, 3, 4, 5, 6]],
                           at(0, np.nan), at(0, np.inf)],
            ("values.npy", "indices.npy"): [(np.zeros(0), np.zeros(18, np.uint8))],
        },
        VARIABLES | EDGES,
    ),
    # 3 labels and 3 attributes with votes (0, 0), (1, 1), (2, 2) and the moves 0 and 8.
    "chain": Format(
        small_chain, load_chain, 1,
        lambda odd: ChainModel(
            ("a", "b"), (odd,), 1, *(np.zeros(0, t) for t in (int, int, float)), np.zeros((2, 2)),
            np.zeros((0, 0, 0)),
        ),
        {
            "format": ["graftwork-model", ["graftwork-chain"]],
            "order": [3, "1", [1]],
            "labels": [
                ["str", ["N", "V"]], ["str", []], ["str", ["N", "V", "N"]], ["str", "NVX"], "NVX",
                ["mixed", [["int", 1], ["float", "0x1p+0"], ["str", "N"]]], ["object", [1, 2, 3]],
                ["int", ["N", "V", "X"]], ["mixed", ["N", "V", "X"]], [["str"], ["N", "V", "X"]],
            ],
            "attributes": [["str", ["a", "b", "a"]], ["str", ["a", "b"]], {"str": ["a", "b", "c"]}],
            "n_columns": [4, "5", 5.5],
            "label_counts": [
                3, ["1", "2", "3"], [True, False, True], [1.0, 2.0], [1.0, 2.0, -3.0],
                [1.0, 2.0, 10**400],
            ],
        },
        {
            "attributes.npy": [at(2, 3), at(2, -1)],
            "outputs.npy": [at(2, 3), at(1, -1)],
            ("attributes.npy", "outputs.npy"): [(i4(0, 1, 1), i4(0, 1, 1))],
            "moves.npy": [i8(0, 9), i8(-1, 8), i8(0, 0), i8(8, 0), i8(2**62, -(2**62))],
            "weights.npy": [at(0, np.nan), at(4, np.inf), at(4, -np.inf)],
            "columns.npy": [i8(4, 4, 2), i8(4, 5, 2), i8(4, -1, 2), i8()],
        },
    ),
    "counts": Format(
        counts, gw.PairTables.load, 2,
        lambda odd: gw.count_pairs({"hue": [odd, odd]}),
        {
            "version": [2],
            "rows": [199, "200", 2**60],
            "weight": ["inf", 200, (0.0).hex(), (3.0).hex()],
            "order": [
                {"degree": 1, "scores": [[9, []]]}, {"degree": 0, "scores": []}, [1],
                {"degree": 1, "scores": [[0, [[["int", 0], "x"]]]]},
            ],
        },
        {
            "tables.npy": [at(3, -1), at(3, 77), at(3, 2**62),
                           lambda own: own + np.eye(len(own), dtype=int)[0]
                           - np.eye(len(own), dtype=int)[1]],
            "margins.npy": [at(0, 3)],
        },
        VARIABLES,
    ),
    "weighted counts": Format(
        lambda: counts(np.random.default_rng(1).gamma(1.0, size=200)), gw.PairTables.load, 2,
        lambda odd: gw.count_pairs({odd: [0, 1]}, weights=[0.5, 2.0]),
        {"version": [1]},
        {"tables.npy": [at(0, odd) for odd in (np.nan, np.inf, -0.5, 1e9)]},
    ),
}  # fmt: skip
every_format = pytest.mark.parametrize("own", FORMATS.values(), ids=FORMATS)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "own.gw"


def refused(own, path, match=None):
    with pytest.raises(ModelFileError, match=match) as caught:
        own.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, own in FORMATS.items() for case in own.headers]
)
def test_inconsistent_headers_are_refused(path, name, case):
    own = FORMATS[name]
    own.make().save(path)

    def change(header):
        own.headers[case](header)

    rewrite(path, change)
    refused(own, path)


@every_format
def test_fields_of_headers_that_cannot_be_are_refused(own, path):
    own.make().save(path)
    header = json.loads(members_of(path)["graftwork.json"])
    del header["library"]  # only for people
    for name in {*header, *own.fields}:
        wrong = [
            odd for odd in NONSENSE + own.fields.get(name, []) if odd not in MAY_BE.get(name, [])
        ]
        for odd in wrong:
            rewrite(path, lambda _, new={name: odd}: header | new, resign=False)
            refused(own, path)
        if name in header and name != "label_counts":
            rewrite(path, lambda _, gone=name: {k: header[k] for k in header if k != gone})
            refused(own, path)


@every_format
def test_inconsistent_arrays_are_refused(own, path):
    own.make().save(path)
    before = members_of(path)
    for place, changes in own.arrays.items():
        for change in changes:
            found = {}
            for member, new in zip(
                *((place, change) if isinstance(place, tuple) else ([place], [change])), strict=True
            ):
                found[member] = npy(new(array_of(before[member])) if callable(new) else new)
                assert found[member] != before[member]
            rewrite(path, lambda header: None, arrays=before | found, resign=False)
            refused(own, path, "checksum")
            rewrite(path, lambda header: None, arrays=before | found)
            refused(own, path, "damaged")
            rewrite(path, lambda header: None, arrays=before)


@every_format
@pytest.mark.parametrize("case", ANY_ARRAY)
def test_arrays_of_another_kind_are_refused(path, own, case):
    own.make().save(path)
    before = members_of(path)
    for member in list(before)[1:]:
        changed = ANY_ARRAY[case](before[member])
        assert changed != before[member]
        rewrite(path, lambda header: None, arrays=before | {member: changed})
        refused(own, path, "damaged")


@every_format
def test_truncations_and_flipped_bytes(own, path, tmp_path, monkeypatch):
    """A change that is not refused does not matter: it is a date or a flag of the zip."""
    monkeypatch.setattr(os, "fsync", lambda file: None)
    own.make().save(path)
    data = path.read_bytes()
    for size in range(0, len(data), 29):
        path.write_bytes(data[:size])
        refused(own, path)
    harmless, step = 0, 2 if len(data) > 1500 else 1
    for place in range(0, len(data), step):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x5A]) + data[place + 1 :])
        try:
            found = own.load(path)
        except ModelFileError:
            continue
        harmless += step
        found.save(tmp_path / "again.gw")
        assert (tmp_path / "again.gw").read_bytes() == data
    assert harmless < 0.25 * len(data)


@every_format
def test_newer_versions_say_what_to_install(own, path):
    own.make().save(path)
    newer = own.newest + 1
    rewrite(path, lambda header: header.update(version=newer, library="9.0"))
    refused(own, path, rf"format version {newer}.*reads up to {own.newest}.*graftwork 9.0")


@every_format
def test_members_that_expand_are_refused(own, path):
    own.make().save(path)
    for text in ("", "x" * 1_000_000):
        rewrite(path, lambda h, text=text: h.update(info={"a": text}), zipfile.ZIP_DEFLATED)
        refused(own, path, "compressed")
    members = members_of(path)
    members["graftwork.json"] = b'{"format":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    refused(own, path)


@every_format
def test_what_is_no_such_file_is_refused(own, path, tmp_path):
    refused(own, path, "there is no file")
    refused(own, tmp_path, "cannot read")
    for data in (b"", b"hello", b"a,b\n1,2\n", pickle.dumps({"a": 1})):
        path.write_bytes(data)
        refused(own, path, "not a graftwork (model|counts) file")
    path.write_bytes(b"PK\x03\x04")
    refused(own, path, "not a graftwork")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    refused(own, path, r"members are 'readme.txt'")


READERS = {
    "network": (load_network, "network", "holds a network.* wanted"),
    "chain": (load_chain, "chain", "holds a chain of labels.* wanted"),
    "counts": (gw.PairTables.load, "counts", "holds counts of pairs.* wanted"),
}


@pytest.mark.parametrize("held", READERS)
@pytest.mark.parametrize("wanted", READERS)
def test_formats_are_told_apart(held, wanted, path):
    model = FORMATS[held].make()
    model.save(path, info={"what": held})
    if held == wanted:
        assert type(READERS[held][0](path)) is type(model)
    else:
        with pytest.raises(ModelFileError, match=READERS[held][2]):
            READERS[wanted][0](path)
    if held == "counts":
        with pytest.raises(ModelFileError, match=r"holds counts of pairs.*gw\.PairTables\.load"):
            gw.load(path)
    else:
        assert type(gw.load(path)) is type(load(path)) is type(model)
        assert read_info(path) == {"what": held}


@every_format
def test_the_same_is_saved_as_the_same_bytes(own, path, tmp_path):
    own.make().save(path, info={"b": [1, None], "a": 0.1})
    own.load(path).save(str(tmp_path / "again.gw"), info={"b": [1, None], "a": 0.1})
    assert (tmp_path / "again.gw").read_bytes() == path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}


class Colour(enum.Enum):
    RED = 1


class Text(str):
    __slots__ = ()


@every_format
@pytest.mark.parametrize("odd", [Colour.RED, Text("sub"), frozenset([1]), 1j, (1, Colour.RED)])
def test_names_that_cannot_be_kept_are_refused_and_nothing_is_written(own, path, odd):
    with pytest.raises(DataError, match=r"cannot write .* of type .*rename|the variable name"):
        own.odd(odd).save(path)
    assert list(path.parent.iterdir()) == []


@every_format
@pytest.mark.parametrize("odd", [object(), float("nan"), float("inf"), {1}, Colour.RED, b"x"])
def test_info_that_is_not_json_is_refused(own, path, odd):
    with pytest.raises(DataError, match=r"info of the .* cannot be written"):
        own.make().save(path, info={"a": [odd]})
    assert list(path.parent.iterdir()) == []


@every_format
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_old_file_survives_a_failure(own, path, step, monkeypatch):
    own.make().save(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="disk full"):
        own.make().save(path, info={"another": 1})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_short_file_of_counts_asks_for_little_memory(path):
    gw.count_pairs({"a": [0]}).save(path)

    def many(header):
        header["variables"][0]["states"] = [["int", k] for k in range(60_000)]

    rewrite(path, many, arrays={"margins.npy": npy(np.ones(60_000, dtype=np.int64))})
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="60,000 states"):
        gw.PairTables.load(path)
    assert tracemalloc.get_traced_memory()[1] < 100 * 2**20
    tracemalloc.stop()


# ---- stored rows: a folder that cannot be used is written again --------------------------------


def cut_to(size):
    return lambda file: file.write_bytes(file.read_bytes()[:size])


def manifest(change):
    def rewrite_manifest(file):
        file.write_text(json.dumps(change(json.loads(file.read_text()))))

    return rewrite_manifest


PARTS = {
    "longer": lambda file: file.write_bytes(file.read_bytes() + b"x"),
    "shorter": cut_to(-1),
    "empty": cut_to(0),
    "gone": lambda file: file.unlink(),
}
MANIFESTS = {
    "gone": lambda file: file.unlink(),
    "half": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "empty": cut_to(0),
    "no text": lambda file: file.write_bytes(b"\xff\xfe"),
    "a list": lambda file: file.write_text("[]"),
    "another format": manifest(lambda m: m | {"format": 1}),
    "another source": manifest(lambda m: m | {"fingerprint": "0"}),
    "fewer parts": manifest(lambda m: m | {"rows": m["rows"][:-1]}),
    "rows a number": manifest(lambda m: m | {"rows": 3}),
    "no sizes": manifest(lambda m: m | {"sizes": None}),
}


@pytest.mark.parametrize(
    ("file", "change"),
    [("part-000001.bin", change) for change in PARTS]
    + [("manifest.json", change) for change in MANIFESTS],
)
def test_stored_rows_that_were_changed_are_read_again(file, change, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(["x", "y"], 300), "b": rng.integers(0, 9, 300)})
    frame.to_parquet(tmp_path / "rows.parquet")
    reads = []

    def store():
        scan = gw.scan(tmp_path / "rows.parquet", workdir=tmp_path / "kept", part_rows=100)
        return scan.store(progress=lambda *rows: reads.append(rows))

    with store() as stored:
        place = stored.paths
    reads.clear()
    with store() as stored:
        assert not reads
    (PARTS if file.startswith("part") else MANIFESTS)[change](place / file)
    with store() as stored:
        assert reads
        assert_same(stored, gw.read_table(tmp_path / "rows.parquet"))
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [place.name]
