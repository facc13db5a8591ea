"""Bootstraps, comparisons of groups, rows in parts and the explorer's pages, of small tables."""

from __future__ import annotations

import html.parser
import json
from pathlib import Path
from typing import Any

import numpy as np

import graftwork as gw
from fuzz.cases import Case, Target, require
from fuzz.files import random_network
from fuzz.fits import _NAMES, _columns

_ODD_STATES = ("</script><script>", "<!--", "\u2028", "&lt;", "'\"", "\x00", "\ud83d", "{{x}}")


class _Elements(html.parser.HTMLParser):
    """The elements of a page, and the text of its data."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.data = self._inside = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        self._inside = dict(attrs).get("id") or ""

    def handle_data(self, data: str) -> None:
        if self._inside == "data":
            self.data += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


#: All elements that a page has, in their order: a name that were markup would add one.
_ELEMENTS = ["html", "head", *["meta"] * 5, "title", "link", "style", "body", "noscript", "main",
             "script", "script"]  # fmt: skip


def check_page(path: Path) -> Any:
    """Require that a page has our elements alone and that its data are JSON; return those."""
    found = _Elements()
    found.feed(path.read_text(encoding="utf-8"))
    require(found.seen == _ELEMENTS, f"the page has other elements: {found.seen}")

    def refuse(constant: str) -> Any:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(found.data, parse_constant=refuse)


def _frame(case: Case) -> Any:
    import pandas as pd

    return pd.DataFrame(case["columns"])


def _repeated(rng: np.random.Generator, gaps: bool) -> dict[str, list[Any]]:
    """Return a table's rows so often that groups are large enough, a few of them changed."""
    columns, times = _columns(rng, gaps), int(rng.integers(3, 12))
    found = {}
    for name, cells in columns.items():
        some = [*cells] * times
        for at in rng.integers(len(some), size=len(some) // 10).tolist():
            some[at] = some[int(rng.integers(len(some)))]
        found[name] = some
    return found


def make_groups(rng: np.random.Generator) -> Case:
    columns = _repeated(rng, bool(rng.random() < 0.2))
    rows = len(next(iter(columns.values())))
    labels = (*_NAMES, 1, 2)[: int(rng.integers(1, 4))]
    columns["group"] = [labels[k] for k in rng.integers(len(labels), size=rows).tolist()]
    given: dict[str, Any] = {"n_permutations": int(rng.choice([0, 0, 3]))}
    if rng.random() < 0.4:
        given["fdr"] = float(rng.choice([0.0, 1e-6, 0.5, 1.0]))
    if rng.random() < 0.2:
        given["missing"] = str(rng.choice(["state", "drop-rows", "available-case"]))
    by = "group" if rng.random() < 0.95 else "nothing"
    return {"columns": columns, "given": given, "by": by}


def check_groups(case: Case, folder: Path) -> None:
    """Require that tests are probabilities and that edges, summary, files and page agree."""
    found = gw.compare_groups(_frame(case), case["by"], max_seconds=5.0, **case["given"])
    edges = found.edges()
    for edge in edges:
        for key in ("p_value", "q_value", "p_permutation"):
            value = edge.get(key, 0.5)
            require(0 <= value <= 1, f"{key} is {value}")
        require(edge["q_value"] >= edge["p_value"] * (1 - 1e-9), "q is less than p")
        fdr = case["given"].get("fdr", 0.05)
        require(edge["differs"] == (edge["q_value"] <= fdr), f"q {edge['q_value']} at rate {fdr}")
    require(0 <= found.invariance <= 1, f"network invariance has p {found.invariance}")
    require(0 <= found.strength.p_value <= 1, f"strength has p {found.strength.p_value}")
    require(len(found.groups) == len(set(case["columns"]["group"])), "groups are lost")
    require(len(found.to_frame()) == len(edges), "the table has other pairs than the comparison")
    found.summary()
    check_page(found.explore(folder / "page.html"))
    found.save(folder / "out", plot=False)


def make_bootstrap(rng: np.random.Generator) -> Case:
    given: dict[str, Any] = {}
    if rng.random() < 0.6:
        given["lam"] = float(rng.choice([0.001, 0.03, 0.3, 10.0]))
    case = {"columns": _columns(rng, bool(rng.random() < 0.2)), "given": given}
    shares = [True, False, [0.5], [0.0], [0.999], []][int(rng.integers(6))]
    return {**case, "n": int(rng.choice([0, 1, 2, 5])), "dropped": shares}


def check_bootstrap(case: Case, folder: Path) -> None:
    """Require shares between 0 and 1, intervals in order, and the same with two processes."""
    net = gw.MarkovNetwork(**case["given"], random_state=0, n_jobs=1, max_seconds=5.0)
    found = net.bootstrap(_frame(case), case["n"], case_dropping=case["dropped"], random_state=1)
    require(found.n_done == case["n"], f"{found.n_done} of {case['n']} resamples")
    shares = found.frequencies
    require(np.isnan(shares).all() or ((shares >= 0) & (shares <= 1)).all(), f"shares {shares}")
    for edge in found.edges():
        low, mean, high = edge["low"], edge["mean"], edge["high"]
        if not np.isnan([low, mean, high]).any():
            require(low <= high, f"an interval from {low} to {high}")
    found.summary()
    check_page(found.explore(folder / "page.html"))
    found.save(folder / "out", plot=False)
    again = net.bootstrap(_frame(case), case["n"], case_dropping=case["dropped"], random_state=1)
    require(np.array_equal(again.draws, found.draws, equal_nan=True), "a seed gives other draws")


def make_page(rng: np.random.Generator) -> Case:
    texts = (*_ODD_STATES, *_NAMES)
    odd = [texts[k] for k in rng.integers(len(texts), size=12).tolist()]
    return {"seed": int(rng.integers(2**31)), "texts": odd, "title": odd[0]}


def check_page_of_network(case: Case, folder: Path) -> None:
    """Require that odd names, states and titles are text in a page, whatever they are."""
    plain, odd = random_network(case["seed"]), case["texts"]
    names = {name: f"{odd[k % 12]} {k}" for k, name in enumerate(plain.names)}
    states = {
        names[name]: [f"{odd[(k + 5) % 12]} {s}" for s in range(len(own))]
        for k, (name, own) in enumerate(plain.states.items())
    }
    potentials = plain.potentials
    model = gw.PairwiseMRF.from_flat(tuple(states), list(states.values()), potentials)
    data = check_page(model.explore(folder / "page.html", title=case["title"]))
    require(data["names"] == list(states), f"other names: {data['names']}")
    require(data["states"] == list(states.values()), "other states")
    require(data["title"] == case["title"], "another title")


def make_parts(rng: np.random.Generator) -> Case:
    columns = _columns(rng, bool(rng.random() < 0.3))
    given = {"lam": float(rng.choice([0.01, 0.1, 1.0])), "missing": "state"}
    loss = str(rng.choice(["pseudolikelihood", "likelihood"]))
    form = str(rng.choice(["parquet", "csv", "dicts", "feather"]))
    part = int(rng.choice([1, 2, 7, 1000]))
    return {"columns": columns, "given": {**given, "loss": loss}, "form": form, "part_rows": part}


def _source(case: Case, folder: Path) -> Any:
    """Return the rows as files, or as dicts of a few rows each."""
    frame = _frame(case)
    half = len(frame) // 2
    pieces = [frame.iloc[:half], frame.iloc[half:]]
    if case["form"] == "dicts":
        return lambda: ({name: list(part[name]) for name in part} for part in pieces)
    parts = folder / "parts"
    parts.mkdir()
    write = {"parquet": "to_parquet", "csv": "to_csv", "feather": "to_feather"}[case["form"]]
    for k, part in enumerate(pieces):
        keywords = {} if case["form"] == "feather" else {"index": False}
        getattr(part.reset_index(drop=True), write)(parts / f"{k}.{case['form']}", **keywords)
    return parts


def check_parts(case: Case, folder: Path) -> None:
    """Require that rows in parts give the network that they give in memory."""
    given = {**case["given"], "random_state": 0, "n_jobs": 1}
    rows = gw.scan(_source(case, folder), workdir=folder, part_rows=case["part_rows"])
    apart = gw.MarkovNetwork(**given).fit(rows).model_
    whole = gw.MarkovNetwork(**given).fit(_frame(case)).model_
    require(set(map(frozenset, apart.edges)) == set(map(frozenset, whole.edges)), "other edges")
    for name, found in apart.marginals().items():
        other = dict(zip(map(str, whole.states[name]), whole.marginals()[name], strict=True))
        own = [other[str(state)] for state in apart.states[name]]
        require(np.allclose(found, own, atol=1e-4), f"other marginals of {name!r}: {found}, {own}")


TARGETS = {
    "groups": Target(make_groups, check_groups, 0.5),
    "bootstrap": Target(make_bootstrap, check_bootstrap, 0.5),
    "page": Target(make_page, check_page_of_network, 2.0),
    "parts": Target(make_parts, check_parts, 1.0),
}
