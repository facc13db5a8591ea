"""Files of models, of other programs, of columns and of tables, changed at random."""

from __future__ import annotations

import base64
import contextlib
import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import graftwork as gw
from fuzz.cases import MOST_SAID, OBEYED, Case, Target, require
from graftwork.cli import main
from graftwork.data import Template, read_table
from graftwork.errors import GraftworkError
from graftwork.exchange import load, read_evidence, read_info
from graftwork.models import ChainModel, PairwiseMRF

from doors.data import conll_lines, read_conll
from support.made_networks import random_network
from support.tampering import members_of, rewrite

GOLDEN = Path(__file__).parents[1] / "exchange" / "golden"
#: What an attacker, or an accident, puts in place of a value.
ODD = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, "", "a", "\x1b[2J",
    "\u202e", "$\\frac{1}{", "<b>", "=1+1", "x" * 9000, [], [[]], [0, 1], {}, {"a": []},
    ["str", "a"], ["int", "zz"], ["float", "nan"], ["tuple", [["str", "b"]]], ["date", "x"],
)  # fmt: skip


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _bytes(case: Case) -> bytes:
    return base64.b64decode(case["file"])


def mutate_bytes(rng: np.random.Generator, data: bytes) -> bytes:
    """Return bytes with a few of them changed, left out, repeated or swapped."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        if not out:
            break
        at, n = int(rng.integers(len(out))), int(rng.integers(1, 9))
        kind = int(rng.integers(5))
        if kind == 0:
            out[at] = int(rng.integers(256))
        elif kind == 1:
            del out[at : at + n]
        elif kind == 2:
            out[at:at] = out[at : at + n]
        elif kind == 3:
            out[at : at + n] = rng.bytes(n)
        else:
            del out[at:]
    return bytes(out)


def mutate_words(rng: np.random.Generator, text: str) -> str:
    """Return a text with a few of its words changed."""
    odd = ("", "0", "-1", "nan", "inf", "1e999", "99999999999", "x", "2.5", "\x00", "'", '"', "%x[")
    words = text.split(" ")
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(words)))
        words[at] = str(rng.choice(odd)) if rng.random() < 0.7 else words[at] * 2
    return " ".join(words)


def mutate_json(rng: np.random.Generator, value: Any) -> Any:
    """Return a value with one of its parts replaced, left out or doubled."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = list(value)[int(rng.integers(len(value)))]
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: mutate_json(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.85:
        at = int(rng.integers(len(value)))
        if rng.random() < 0.1:
            return [*value[:at], *value[at + int(rng.integers(2)) :], value[at]]
        return [*value[:at], mutate_json(rng, value[at]), *value[at + 1 :]]
    return ODD[int(rng.integers(len(ODD)))]


def _info(rng: np.random.Generator, n_edges: int) -> dict[str, Any]:
    tests = [[float(p), float(p), 3.0, 1.0] for p in rng.random(n_edges) / 100]
    return {
        "data": "t.csv", "embedded": False, "rows": 50, "method": "best-choice", "loss": "x",
        "settings": {"method_options": {"keep": 3}}, "penalty": "group-l1", "lam": 0.1,
        "fdr": 0.01, "tests": 6, "edge_tests": tests,
        "missing": {"policy": "state", "cells": 3, "rows": 2}, "choice": {"how": "tested"},
        "tying": {"rounds": 1, "weights": 3, "values": 2, "loss_before": 1.0, "loss_after": 2.0},
        "held_out": {"rows": 5, "learned_from": 45, "nlpl": 1.0, "independent_nlpl": 1.5},
        "certificate": {"converged": True}, "unseen_states": {"variable 0": ["s0"]},
        "exchange": {"rule": "greedy"}, "shapes_tested": 3, "types": ["NP"],
        "sentences": 3, "tokens": 9, "l2": 0.1, "n_candidates": 7, "min_count": 2,
        "tested": {"accuracy": 0.5, "file": "x"}, "template": "%x[0,0]", "columns": 2,
        "start": "empty", "missing_values": ["?"],
    }  # fmt: skip


def good_model(rng: np.random.Generator, path: Path) -> None:
    """Write a model file that nobody has touched."""
    if rng.random() < 0.3:
        load(GOLDEN / "tagger.crfsuite").save(path, info=_info(rng, 0))
        return
    network = random_network(int(rng.integers(2**31)))
    if rng.random() < 0.2:
        flat = np.round(network.potentials.weights)
        potentials = type(network.potentials)(network.potentials.layout, flat)
        network = PairwiseMRF.from_flat(network.names, list(network.states.values()), potentials)
    network.save(path, info=_info(rng, network.n_edges))


def make_model(rng: np.random.Generator) -> Case:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.gw")
        good_model(rng, path)
        kind = rng.random()
        if kind < 0.2:
            return {"file": _text(mutate_bytes(rng, path.read_bytes()))}
        if kind < 0.45:
            name = list(members_of(path))[1]
            data = members_of(path)[name]
            start = mutate_bytes(rng, data[:128]) + data[128:]
            rewrite(path, lambda header: None, arrays={name: start})
        elif kind < 0.75:
            rewrite(path, lambda header: header | {"info": mutate_json(rng, header["info"])})
        else:
            rewrite(path, lambda header: mutate_json(rng, header))
        return {"file": _text(path.read_bytes())}


def _ran(argv: list[str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(argv)
    return code, out.getvalue(), err.getvalue()


def check_model(case: Case, folder: Path) -> None:
    path = folder / "m.gw"
    path.write_bytes(_bytes(case))
    code, out, err = _ran(["show", str(path), "--edges", str(folder / "e.csv")])
    require("unexpected" not in err, err)
    require(not OBEYED.search(out + err), "a terminal would obey what is shown")
    require(len(err) < MOST_SAID, f"an error of {len(err)} characters")
    model, info = load(path), read_info(path)
    require(code == 0 or isinstance(model, ChainModel), f"it can be loaded, but not shown: {err}")
    model.save(folder / "again.gw", info=info)
    again = load(folder / "again.gw")
    if isinstance(model, PairwiseMRF):
        require(again == model, "save and load give another network")
        check_answers(model)
    model.explore(folder / "page.html")


def check_answers(model: PairwiseMRF) -> None:
    """Require that probabilities are, where they can be computed."""
    if model.n_variables == 0 or sum(map(len, model.states.values())) > 200:
        return
    require(np.isfinite(model.log_partition()), "log Z is not finite")
    for name, found in model.marginals().items():
        require(np.isfinite(found).all() and (found >= 0).all(), f"marginals of {name!r}: {found}")
        require(abs(found.sum() - 1) < 1e-9, f"marginals of {name!r} sum to {found.sum()}")


def make_uai(rng: np.random.Generator) -> Case:
    suffix = str(rng.choice([".uai", ".LG", ".fg"]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"m{suffix}")
        gw.exchange.export(random_network(int(rng.integers(2**31))), path)
        data = path.read_bytes()
    if rng.random() < 0.2:
        data = mutate_bytes(rng, data)
    elif rng.random() < 0.8:
        data = mutate_words(rng, data.decode()).encode()
    return {"file": _text(data), "suffix": suffix}


def check_uai(case: Case, folder: Path) -> None:
    path = folder / f"m{case['suffix']}"
    path.write_bytes(_bytes(case))
    model = gw.exchange.load_network(path)
    try:
        check_answers(model)
        before = model.log_partition()
    except GraftworkError:
        return
    if gw.exchange.export(model, folder / "again.uai").lost != ():
        return  # it says that something is lost, such as a factor no table can hold
    after = gw.exchange.load_network(folder / "again.uai").log_partition()
    require(abs(after - before) <= 1e-8 * max(1.0, abs(before)), f"log Z {before}, then {after}")


def make_evidence(rng: np.random.Generator) -> Case:
    seed = int(rng.integers(2**31))
    sizes = [len(own) for own in random_network(seed).states.values()]
    seen = np.flatnonzero(rng.random(len(sizes)) < 0.5)
    told = [f"{i} {rng.integers(sizes[i])}" for i in seen]
    text = " ".join([str(len(told)), *told])
    return {"seed": seed, "text": mutate_words(rng, text) if rng.random() < 0.4 else text}


def check_evidence(case: Case, folder: Path) -> None:
    model, path = random_network(case["seed"]), folder / "e.evid"
    path.write_text(case["text"], encoding="utf-8")
    for evidence in read_evidence(path, model):
        found = model.marginals(evidence)
        for name, state in evidence.items():
            place = model.states[name].index(state)
            require(abs(found[name][place] - 1) < 1e-12, "what is observed is not sure")
        for name in model.names:
            require(abs(found[name].sum() - 1) < 1e-9, "marginals do not sum to one")
        best = model.map(evidence)
        require(all(best[name] == state for name, state in evidence.items()), "map disagrees")


def make_crfsuite(rng: np.random.Generator) -> Case:
    return {"file": _text(mutate_bytes(rng, (GOLDEN / "tagger.crfsuite").read_bytes()))}


def check_crfsuite(case: Case, folder: Path) -> None:
    path = folder / "m.crfsuite"
    path.write_bytes(_bytes(case))
    model = gw.exchange.load_chain(path)
    known = [list(model.attributes[:3]), []]
    for part in model.marginals([known]):
        require(np.isfinite(part).all(), "marginals are not finite")
        require(np.allclose(part.sum(axis=1), 1, atol=1e-9), "marginals do not sum to one")
    model.save(folder / "again.gw")
    require(load(folder / "again.gw").predict([known]) == model.predict([known]), "save changes it")


_WORDS = (
    "a",
    "b",
    "the",
    "",
    "\u00e9",
    "\x1b[2J",
    "|",
    "_B-1",
    "\\",
    "#",
    "%x[0,0]",
    "=1",
    "\u202e",
)


def make_columns(rng: np.random.Generator) -> Case:
    width = int(rng.integers(1, 4))
    lines = [
        "" if rng.random() < 0.2 else " ".join(map(str, rng.choice(_WORDS, width)))
        for _ in range(int(rng.integers(0, 12)))
    ]
    row, column = rng.integers(-3, 4), rng.integers(0, 3)
    template = f"U0:%x[{row},{column}]\nU1:%x[-1,0]/%x[0,0]\nB"
    if rng.random() < 0.6:
        template = mutate_bytes(rng, template.encode()).decode("utf-8", "replace")
    return {"text": "\n".join(lines), "template": template}


def check_columns(case: Case, folder: Path) -> None:
    path = folder / "t.txt"
    path.write_bytes(case["text"].encode())
    try:
        template = Template.parse(case["template"])
    except GraftworkError:
        template = Template.named("words")
    require(Template.parse(template.text()) == template, "a template's text is another template")
    sentences = read_conll(path)
    path.write_text("".join(conll_lines(sentences)), encoding="utf-8")
    require(read_conll(path) == sentences, "columns written are read as others")
    found = template.attributes(sentences)
    require([len(s) for s in found] == [len(s) for s in sentences], "tokens are lost")


_CELLS = ("a", "b", "0", "1", "-1", "1.5", "", "NA", "?", "x,y", '"', "=1+1", "\x1b[2J", "\u202e",
          " a ", "true", "1e400", "nan", "9" * 30, "\u00e9")  # fmt: skip


def make_table(rng: np.random.Generator) -> Case:
    width, rows = int(rng.integers(1, 5)), int(rng.integers(0, 9))
    cells = rng.choice(rng.choice(_CELLS, 4), (rows, width)).tolist()
    mark = str(rng.choice([",", ";", "\t", "|"]))
    quoted = [[f'"{c}"' if mark in c or c == "x,y" else c for c in row] for row in cells]
    lines = [mark.join(f"n{k}" for k in range(width)), *map(mark.join, quoted)]
    data = str(rng.choice(["\n", "\r\n"])).join(lines).encode()
    return {"file": _text(mutate_bytes(rng, data) if rng.random() < 0.5 else data)}


def check_table(case: Case, folder: Path) -> None:
    path = folder / "t.csv"
    path.write_bytes(_bytes(case))
    table = read_table(path, missing="state")
    require(table.n_rows >= 0 and len(table.names) == table.n_variables, "no table")
    require(len(set(table.names)) == len(table.names), "two columns have one name")
    for own, codes in zip(table.states, table.codes, strict=True):
        require(len(set(own)) == len(own), "a state occurs twice")
        require(not len(codes) or codes.max() < len(own), "a code without a state")


TARGETS = {
    "model": Target(make_model, check_model, 3.0),
    "uai": Target(make_uai, check_uai, 3.0),
    "evidence": Target(make_evidence, check_evidence, 3.0),
    "crfsuite": Target(make_crfsuite, check_crfsuite, 2.0),
    "columns": Target(make_columns, check_columns, 3.0),
    "table": Target(make_table, check_table, 3.0),
}
