"""Small random tables, as frames or Parquet folders, through random parameters."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

import graftwork as gw
from fuzz.cases import Case, Target, require
from fuzz.files import check_answers
from graftwork.exchange import load

from doors.report import edges_of

_NAMES = ("a", "b\x1b[2J", "$\\frac{1}{", "<b>", "=1+1", "two\nlines", "\u202ex", "l" * 2000)
_METHODS = ("auto", "best-choice", "edge-grafting", "working-set", "grafting-light", "chow-liu")
#: A fit of such a table must not need them.
_SECONDS = 5.0


def _columns(rng: np.random.Generator, gaps: bool) -> dict[str, list[Any]]:
    rows, width = int(rng.integers(2, 40)), int(rng.integers(1, 6))
    names = [str(name) for name in rng.permutation(_NAMES)[:width]]
    hidden = rng.integers(0, 6, rows)
    columns: dict[str, list[Any]] = {}
    for name in names:
        states = int(rng.integers(1, 4))
        noise = rng.random(rows) < rng.choice([0.0, 0.3, 1.0])
        codes = np.where(noise, rng.integers(0, states, rows), hidden % states)
        texts = [f"s{code}\x07" if rng.random() < 0.05 else f"s{code}" for code in codes.tolist()]
        lost = rng.random(rows) < (0.1 if gaps else 0.0)
        columns[name] = [None if gone else text for gone, text in zip(lost, texts, strict=True)]
    return columns


def make_fit(rng: np.random.Generator) -> Case:
    gaps = bool(rng.random() < 0.2)
    columns = _columns(rng, gaps)
    given: dict[str, Any] = {"method": str(rng.choice(_METHODS))}
    if gaps:
        given["missing"] = str(rng.choice(["state", "drop-rows", "available-case", "error"]))
    if rng.random() < 0.5:
        given["lam"] = float(rng.choice([0.0, 0.001, 0.03, 0.3, 10.0]))
    if rng.random() < 0.3:
        given["fdr"] = float(rng.choice([0.001, 0.2, 1.5, 0.0]))
    if rng.random() < 0.2:
        given["max_edges"] = int(rng.choice([-1, 0, 1, 3]))
    if rng.random() < 0.2:
        given["penalty"] = str(rng.choice(["l1", "group-l1", "l2", "none"]))
    names = list(columns)
    if rng.random() < 0.3 and len(names) > 2:
        given["knowledge"] = {"forbidden": [names[:2]], "required": [names[1:3]]}
    return {"columns": columns, "given": given, "n_jobs": int(rng.integers(1, 3))}


def _fitted(case: Case, n_jobs: int, data: Any) -> gw.MarkovNetwork:
    given = dict(case["given"])
    if "knowledge" in given:
        told = {key: [tuple(pair) for pair in pairs] for key, pairs in given["knowledge"].items()}
        given["knowledge"] = told
    net = gw.MarkovNetwork(**given, random_state=0, n_jobs=n_jobs, max_seconds=_SECONDS)
    return net.fit(data)


def check_fit(case: Case, folder: Path) -> None:
    import pandas as pd

    began = time.monotonic()
    net = _fitted(case, 1, pd.DataFrame(case["columns"]))
    model, given = net.model_, case["given"]
    took = time.monotonic() - began
    require(np.isfinite(model.potentials.weights).all(), "a weight is not finite")
    check_answers(model)
    edges = {frozenset(edge) for edge in model.edges}
    for pair in given.get("knowledge", {}).get("forbidden", ()):
        require(frozenset(pair) not in edges, f"the forbidden {pair} is an edge")
    for edge in edges:
        require(all(len(model.states[name]) > 1 for name in edge), "an edge of a constant")
    if "max_edges" in given:
        require(len(edges) <= max(given["max_edges"], 0), "more edges than allowed")
    net.save(folder / "m.gw")
    require(load(folder / "m.gw") == model, "save and load give another network")
    if case["n_jobs"] == 2:
        began = time.monotonic()
        again = _fitted(case, 2, pd.DataFrame(case["columns"]))
        took = max(took, time.monotonic() - began)
        # Where cells are drawn, each of three networks has a third of the time.
        drawn = given.get("missing") in ("available-case", "impute")
        late = took > 0.9 * _SECONDS / (3 if drawn else 1)
        if late or "seconds" in (net.certificate_.stop, again.certificate_.stop):
            return  # where a fit is when its time is over depends on the machine
        other = again.model_
        require(other.edges == model.edges, "two threads give other edges")
        close = np.allclose(other.potentials.weights, model.potentials.weights, atol=1e-6)
        require(close, "two threads give other weights")
    check_numbers(net, given, folder)


def check_numbers(net: gw.MarkovNetwork, given: dict[str, Any], folder: Path) -> None:
    """Require that q-values respect the rate, and that texts, table and page agree."""
    told, fdr = edges_of(net), given.get("fdr", 0.01)
    tested = "lam" not in given and all(edge.q_value == edge.q_value for edge in told)
    required = {frozenset(pair) for pair in given.get("knowledge", {}).get("required", ())}
    for edge in told:
        if tested and frozenset((edge.first, edge.second)) not in required:
            require(edge.q_value <= fdr * (1 + 1e-9), f"q {edge.q_value} at a rate of {fdr}")
        require(edge.strength >= 0, "a strength below zero")
    n = net.model_.n_edges
    require(len(told) == n, "the table has other edges than the network")
    text = net.summary()
    found = re.search(r"([\d,]+) edges? among", text)
    require(found is not None and int(found[1].replace(",", "")) == n, "the summary counts others")
    page = net.explore(folder / "page.html").read_text(encoding="utf-8")
    require("<b>" not in page.split("<script", 1)[0], "a name is markup")


def make_folder(rng: np.random.Generator) -> Case:
    return {"columns": _columns(rng, bool(rng.random() < 0.3)), "files": int(rng.integers(1, 4))}


def check_folder(case: Case, folder: Path) -> None:
    """Require that a table in Parquet files, read in parts, is the table in memory."""
    import pandas as pd

    frame = pd.DataFrame(case["columns"])
    parts = folder / "parts"
    parts.mkdir()
    for k, rows in enumerate(np.array_split(np.arange(len(frame)), case["files"])):
        frame.iloc[rows].to_parquet(parts / f"{k}.parquet", index=False)
    whole = gw.as_table(frame, missing="state")
    with gw.scan(parts, workdir=folder).store(missing="state") as stored:
        require(stored.n_rows == whole.n_rows, "rows are lost")
        require(tuple(map(str, stored.names)) == tuple(map(str, whole.names)), "other names")
        for name, own in zip(stored.names, stored.states, strict=True):
            other = whole.states[whole.names.index(name)]
            require(json.dumps(sorted(map(str, own))) == json.dumps(sorted(map(str, other))),
                    f"other states of {name!r}")  # fmt: skip


TARGETS = {"fit": Target(make_fit, check_fit, 2.0), "folder": Target(make_folder, check_folder)}
