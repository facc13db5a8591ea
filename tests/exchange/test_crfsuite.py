"""CRFsuite's models predict here what they predict there; damaged ones are refused."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graftwork as gw
from graftwork.errors import ModelFileError

GOLDEN = Path(__file__).parent / "golden"
MODEL = (GOLDEN / "tagger.crfsuite").read_bytes()


def test_a_model_made_elsewhere_predicts_as_there():
    expected = json.loads((GOLDEN / "crfsuite.json").read_text())
    model = gw.load(GOLDEN / "tagger.crfsuite")
    assert list(model.labels) == expected["labels"]
    assert model.predict(expected["X"]) == expected["predicted"]
    for mine, theirs in zip(model.marginals(expected["X"]), expected["marginals"], strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)
    records = model.records()
    moves = {(r["previous"], r["label"]): r["weight"] for r in records if r["attribute"] is None}
    votes = {(r["attribute"], r["label"]): r["weight"] for r in records if r["attribute"]}
    # What CRFsuite dumps has six digits.
    assert moves == pytest.approx({(a, b): w for a, b, w in expected["transitions"]}, abs=1e-6)
    assert votes == pytest.approx({(a, b): w for a, b, w in expected["states"]}, abs=1e-6)


def sentences(rng, n, n_attributes):
    def item():
        found = rng.integers(0, n_attributes, rng.integers(0, 4))
        return {f"a{k}": float(rng.normal()) if k % 2 else f"v{rng.integers(3)}" for k in found}

    return [[item() for _ in range(rng.integers(1, 8))] for _ in range(n)]


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow"])
@pytest.mark.parametrize("seed", range(4))
def test_models_of_every_algorithm(seed, algorithm, tmp_path):
    rng = np.random.default_rng(seed)
    n_labels, n_attributes = int(rng.integers(1, 7)), int(rng.integers(1, 30))
    trainer = pycrfsuite.Trainer(algorithm, verbose=False)
    for items in sentences(rng, 30, n_attributes):
        trainer.append(items, [f"L{rng.integers(n_labels)}" for _ in items])
    if algorithm == "lbfgs":
        trainer.set_params({"c1": 0.2 * seed, "feature.possible_transitions": bool(seed % 2)})
    trainer.set("max_iterations", 20)
    path = tmp_path / "model"  # found by its first bytes
    trainer.train(str(path))
    tagger, model = pycrfsuite.Tagger(), gw.load(path)
    tagger.open(str(path))
    assert list(model.labels) == tagger.labels()
    new = [*sentences(rng, 40, n_attributes + 3), [{}], [{"never seen": 1.0}]]
    assert model.predict(new) == [tagger.tag(items) for items in new]
    for items, found in zip(new, model.marginals(new), strict=True):
        tagger.set(items)
        theirs = [[tagger.marginal(label, t) for label in model.labels] for t in range(len(items))]
        np.testing.assert_allclose(found, theirs, atol=1e-9)


def test_it_is_a_model_like_others(tmp_path):
    model = gw.load(GOLDEN / "tagger.crfsuite")
    model.save(tmp_path / "tagger.gw")
    X = json.loads((GOLDEN / "crfsuite.json").read_text())["X"]
    assert gw.load(tmp_path / "tagger.gw").predict(X) == model.predict(X)
    assert model.explain(X[0]).predicted == tuple(model.predict(X)[0])


def refuse(path, data, match="not a CRFsuite model, or damaged"):
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=match) as error:
        gw.load(path, "crfsuite")
    assert "\n" not in str(error.value)


def changed(offset, value, kind="<I"):
    data = bytearray(MODEL)
    struct.pack_into(kind, data, offset, value)
    return bytes(data)


HEADER = dict(zip(("features", "labels", "attributes", "label refs", "attribute refs"),
                  struct.unpack_from("<5I", MODEL, 28), strict=True))  # fmt: skip

CHANGED = {
    "magic": (changed(0, b"xCRF", "4s"), "its header is not that"),
    "kind": (changed(8, b"SEMI", "4s"), "its header is not that"),
    "version": (changed(12, 200), "version is 200, and only 100"),
    "size": (changed(4, 5), "its header says 5 bytes"),
    "too many labels": (changed(20, 2**31), "labels, and at most 10000 are read"),
    "more labels": (changed(20, 9), "the list of labels|label|goes beyond"),
    "more attributes": (changed(24, 2**31), "list of attributes goes beyond its end"),
    "features elsewhere": (changed(28, 2**32 - 1), "chunk FEAT lies beyond its end"),
    "labels elsewhere": (changed(32, len(MODEL) - 9), "the labels lie beyond its end"),
    "no features": (changed(28, 60), "there is no chunk FEAT"),
    "features without end": (changed(HEADER["features"] + 8, 2**31), "do not fit into their chunk"),
    "chunk without end": (changed(HEADER["features"] + 4, 2**31), "FEAT goes beyond its end"),
    "byte order": (changed(HEADER["labels"] + 12, 0x71534462), "in this byte order"),
    "kind of feature": (changed(HEADER["features"] + 12, 7), "neither of an attribute nor"),
    "source": (changed(HEADER["features"] + 16, 11), "and the features disagree"),
    "label": (changed(HEADER["features"] + 20, 99), "a label that is not there"),
    "weight": (changed(HEADER["features"] + 24, float("nan"), "<d"), "weights .* finite"),
    "refs": (changed(HEADER["attribute refs"] + 8, 1), "has 1 sources of"),
    "ref": (changed(HEADER["attribute refs"] + 12, 2**31), "lies outside its chunk"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_damaged_models_are_refused(what, tmp_path):
    data, match = CHANGED[what]
    refuse(tmp_path / "model.crfsuite", data, match)


def test_every_truncation_is_refused(tmp_path):
    for length in [*range(200), *range(200, len(MODEL), 37)]:
        refuse(tmp_path / "model.crfsuite", MODEL[:length])
        if length >= 8:  # even if the header says that this is all
            cut = bytearray(MODEL[:length])
            struct.pack_into("<I", cut, 4, length)
            refuse(tmp_path / "model.crfsuite", bytes(cut))


@given(
    st.lists(st.tuples(st.integers(0, len(MODEL) - 1), st.integers(0, 255)), min_size=1, max_size=4)
)
def test_tampered_models_are_read_or_refused(changes):
    from doors.exchange import parse

    data = bytearray(MODEL)
    for place, value in changes:
        data[place] = value
    try:
        model = parse(bytes(data))
    except ValueError:
        return
    model.predict([[{"w": "w1", "bias": 1.0}]])
