"""What every learner keeps to, whatever it learns: one contract over many configurations."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import graftwork as gw

from doors.grafting import Silence

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*rows were left out:graftwork.errors.DataWarning"),
    pytest.mark.filterwarnings("ignore:Column:graftwork.errors.DataWarning"),  # of 300 states
]


class Rows:
    """Networks: an item is a row."""

    names: Any = ("größe", "wet", ("q", 1), "色", "left")

    @staticmethod
    def items(n: int = 160, seed: int = 5, gaps: bool = False) -> list[Any]:
        rng = np.random.default_rng(seed)
        size = rng.integers(3, size=n)
        wet = (size == 2) ^ (rng.random(n) < 0.2)
        answer = np.clip(size + rng.integers(0, 2, n), 0, 3)
        colour = np.where(rng.random(n) < 0.7, wet, rng.random(n) < 0.5).astype(int)
        left = rng.integers(2, size=n)
        words = (["groß", "klein", "über"], [False, True], [1, 2, 3, 4], ["緑", "赤"], [0, 1])
        items = [
            tuple(listed[k] for listed, k in zip(words, row, strict=True))
            for row in np.stack([size, wet, answer, colour, left], axis=1).tolist()
        ]
        gone = rng.random((n, 5)) < 0.06 * gaps
        return [
            tuple(None if lacks else cell for lacks, cell in zip(own, row, strict=True))
            for own, row in zip(gone, items, strict=True)
        ]

    def table(self, items: list[Any], names: Any = None) -> dict[Any, list[Any]]:
        columns = zip(*items, strict=True)
        return dict(zip(names or self.names[: len(items[0])], map(list, columns), strict=True))

    def fit(self, learner: Any, items: list[Any], weights: Any = None) -> Any:
        return clone(learner).fit(self.table(items), sample_weight=weights)

    def logs(self, fitted: Any, items: list[Any]) -> Any:
        return fitted.score_samples(self.table(items))


class Sequences:
    """Chains: an item is a sequence and its labels."""

    @staticmethod
    def items(n: int = 30, seed: int = 0, gaps: bool = False) -> list[Any]:
        """Words that mostly tell a label, which mostly stays the same."""
        rng, items = np.random.default_rng(seed), []
        for _ in range(n):
            labels = [int(rng.integers(3))]
            while rng.random() < 0.7:
                labels.append(labels[-1] if rng.random() < 0.6 else int(rng.integers(3)))
            words = [(k + int(rng.integers(6)) * (rng.random() < 0.3)) % 6 for k in labels]
            sequence = [{"é": 1.0, f"w{w}": 1.0, ("x", 1): 0.5 * (1 + w % 3)} for w in words]
            items.append((sequence, [("B", k) for k in labels]))
        return items

    def fit(self, learner: Any, items: list[Any], weights: Any = None) -> Any:
        return clone(learner).fit(*zip(*items, strict=True), sample_weight=weights)

    def logs(self, fitted: Any, items: list[Any]) -> Any:
        return fitted.score_samples(*zip(*items, strict=True))


@dataclass(frozen=True)
class Case:
    learner: Any
    world: Any = field(default_factory=Rows)
    drawn: bool = False  # missing cells are drawn: other rows, other draws
    gaps: bool = False

    def items(self, **more: Any) -> list[Any]:
        return self.world.items(gaps=self.gaps, **more)

    def fit(self, items: list[Any], weights: Any = None, **parameters: Any) -> Any:
        return self.world.fit(clone(self.learner).set_params(**parameters), items, weights)


def network(method: str = "auto", **options: Any) -> Any:
    return gw.MarkovNetwork(method, **{"random_state": 0, "n_jobs": 1, "tol": 1e-8} | options)


def chain(**options: Any) -> Any:
    # With some l2 the optimum is unique.
    return gw.ChainCRF(**{"lam": 0.05, "l2": 0.01, "n_jobs": 1, "tol": 1e-8} | options)


KNOWN = {"required": [("left", "wet")], "forbidden": [("größe", "色")]}
CASES = {
    "a lambda": Case(network(lam=0.03)),
    "tests": Case(network()),
    "prediction": Case(network(goal="prediction")),
    "cells": Case(network("grafting-light", penalty="l1", lam=0.02)),
    "likelihood": Case(network(lam=0.03, loss="likelihood")),
    "a tree": Case(network("chow-liu")),
    "from a tree": Case(network(lam=0.03, method_options={"start": "chow-liu"})),
    "exchanges": Case(network("forced-pruning", max_edges=3)),
    "tied": Case(network(lam=0.03, tie=3)),
    "squares": Case(network(lam=0.02, penalty="l2", penalty_options={"unary": 0.01})),
    "no penalty": Case(network(penalty="none", knowledge={"candidates": [("wet", "色")]})),
    "ordered": Case(network(ordinal=[("q", 1)], lam=0.03)),
    "knowledge": Case(network(lam=0.03, knowledge=KNOWN)),
    "state": Case(network(lam=0.03, missing="state"), gaps=True),
    "drop-rows": Case(network(missing="drop-rows"), gaps=True),
    "available-case": Case(network(lam=0.03, missing="available-case"), drawn=True, gaps=True),
    "impute": Case(network(missing="impute"), drawn=True, gaps=True),
    "chain": Case(chain(), Sequences()),
    "chain of rows": Case(chain(order=2, penalty="group-l1"), Sequences()),
    "chain of squares": Case(chain(penalty="l2", candidates="all"), Sequences()),
}
EXACT = [name for name, case in CASES.items() if not case.drawn]
NETWORKS = [name for name, case in CASES.items() if isinstance(case.world, Rows)]


@cache
def plain(name: str) -> tuple[Case, list[Any], Any]:
    """Return a case, its items and what is learned from them: do not change it."""
    case = CASES[name]
    items = case.items()
    return case, items, case.fit(items)


def bits(case: Case, fitted: Any, items: list[Any]) -> Any:
    return fitted.objective_, case.world.logs(fitted, items).tobytes()


def alike(case: Case, one: Any, other: Any, items: list[Any]) -> None:
    """Two learners must give the same numbers for these items."""
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-7)
    logs = [case.world.logs(each, items) for each in (one, other)]
    np.testing.assert_allclose(*logs, atol=1e-4)
    if isinstance(case.world, Rows):
        edges = [{frozenset(edge) for edge in each.model_.edges} for each in (one, other)]
        assert edges[0] == edges[1]
        told = [p_values(each) for each in (one, other)]
        assert told[0] == pytest.approx(told[1], rel=1e-3, nan_ok=True)


def p_values(net: Any) -> dict[Any, float]:
    edges = net.edges_.to_dict("records")
    return {frozenset((e["first"], e["second"])): e.get("p_value", np.nan) for e in edges}


@pytest.mark.parametrize("name", EXACT)
def test_whole_weights_are_repetitions_and_weight_zero_is_absence(name):
    case = CASES[name]
    items = case.items()
    weights = np.random.default_rng(1).integers(0, 4, len(items))
    weighted = case.fit(items, weights)
    repeated = [item for item, n in zip(items, weights, strict=True) for _ in range(n)]
    alike(case, weighted, case.fit(repeated), repeated)
    padded = case.fit(items + items[:9], np.append(weights, np.zeros(9)))
    alike(case, weighted, padded, repeated)


@pytest.mark.parametrize("name", EXACT)
def test_the_order_of_items_is_nothing(name):
    case, items, fitted = plain(name)
    order = np.random.default_rng(2).permutation(len(items))
    alike(case, fitted, case.fit([items[k] for k in order]), items)


@pytest.mark.parametrize("name", [name for name in EXACT if name in NETWORKS])
def test_the_order_of_columns_and_states_is_nothing(name):
    case, items, one = plain(name)
    rows, order = Rows(), [3, 0, 4, 2, 1]
    names = [rows.names[k] for k in order]
    renamed = {"groß": "z", "klein": "y", "über": "x", "緑": "b", "赤": "a"}
    turned = [tuple(renamed.get(row[k], row[k]) for k in order) for row in items]
    other = clone(case.learner).fit(rows.table(turned, names))
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-7)
    np.testing.assert_allclose(
        one.score_samples(rows.table(items)), other.score_samples(rows.table(turned, names)),
        atol=1e-4,
    )  # fmt: skip
    assert p_values(one) == pytest.approx(p_values(other), rel=1e-3, nan_ok=True)
    # The columns of rows to score are found by their names.
    columns = rows.table(items)
    shuffled = {"more": [0] * len(items)} | {name: columns[name] for name in names}
    np.testing.assert_array_equal(one.score_samples(shuffled), one.score_samples(columns))


@pytest.mark.parametrize("name", CASES)
def test_copies_refits_threads_and_files_give_the_same_bits(name, tmp_path):
    case, items, fitted = plain(name)
    parameters = case.learner.get_params()
    with pytest.raises(NotFittedError, match="instance is not fitted yet"):
        case.world.logs(clone(case.learner), items)
    expected = bits(case, fitted, items)
    for again in (
        pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), clone(fitted),
        clone(fitted).set_params(n_jobs=2),
    ):  # fmt: skip
        if not hasattr(again, "model_"):
            assert repr(again.get_params() | {"n_jobs": 1}) == repr(parameters)
            again = case.world.fit(again, items)
        assert bits(case, again, items) == expected
        assert repr(again.certificate_) == repr(fitted.certificate_)
    assert repr(case.learner.get_params()) == repr(parameters)
    fitted.save(tmp_path / "m.gw")
    again = gw.load(tmp_path / "m.gw")
    if isinstance(case.world, Rows):
        assert again == fitted.model_
        score = again.log_pseudo_likelihood(case.world.table(items))
        np.testing.assert_array_equal(score, fitted.score_samples(case.world.table(items)))
    else:
        assert again.records() == fitted.model_.records()
        assert again.predict([x for x, _ in items]) == fitted.predict([x for x, _ in items])


@pytest.mark.parametrize("name", CASES)
def test_names_and_values_stay_what_they_are(name):
    case, items, fitted = plain(name)
    if not isinstance(case.world, Rows):
        assert fitted.classes_ == tuple(("B", k) for k in range(3))
        known = {name for x, _ in items for item in x for name in item}
        assert set(fitted.model_.attributes) <= known
        assert {type(value) for value in fitted.predict([items[0][0]])[0]} == {tuple}
        return
    assert fitted.names_ == fitted.model_.names == Rows.names
    for own, column in zip(Rows.names, zip(*items, strict=True), strict=True):
        states = [s for s in fitted.model_.states[own] if s != "(missing)"]
        assert states == sorted(set(column) - {None})
        assert {type(state) for state in states} == {type(column[0] or states[0])}
    assert set(fitted.graph_.nodes) == set(Rows.names)
    (drawn,) = fitted.sample(1, random_state=0)
    assert len(drawn) == 5


class Stop(Silence):
    def __init__(self, error, at):
        self.error, self.at = error, at

    def on_round(self, record):
        if record.index >= self.at:
            raise self.error


@pytest.mark.parametrize("name", CASES)
def test_an_interrupt_leaves_a_whole_model_and_an_error_leaves_none(name, tmp_path):
    case, at = CASES[name], int(name != "a tree")  # which has one round
    items = case.items()
    learner = clone(case.learner).set_params(verbose=Stop(KeyboardInterrupt, at))
    data = case.world.table(items) if isinstance(case.world, Rows) else None
    given = (data,) if data else tuple(zip(*items, strict=True))
    with pytest.raises(KeyboardInterrupt):
        learner.fit(*given)
    assert learner.fit_.interrupted if data else learner.certificate_.stop == "interrupted"
    logs = case.world.logs(learner, items)
    assert np.isfinite(logs[~np.isnan(logs)]).all()
    learner.save(tmp_path / "m.gw")
    assert gw.load(tmp_path / "m.gw") is not None
    failing = clone(case.learner).set_params(verbose=Stop(RuntimeError, at))
    with pytest.raises(RuntimeError):
        failing.fit(*given)
    assert not hasattr(failing, "model_")


ODD_ROWS = {
    "one row": [("a", "b", 1)],
    "one column": [("a",), ("b",), ("a",), ("c",)],
    "all constant": [("a", "x")] * 5,
    "a constant column": [("a", "x", i % 2) for i in range(20)] + [("b", "x", 0)] * 9,
    "300 states": [(i, -i, i % 3) for i in range(300)],
    "huge integers": [(10**30 + i % 3, i % 2, -(2**63) * (i % 2)) for i in range(40)],
    "copies": [(i % 3, i % 3, i % 3) for i in range(40)],
    "independent": [(a, b, c) for a in range(2) for b in range(3) for c in range(2)],
}
#: The edges of a tree.
TREES = dict(zip(ODD_ROWS, [0, 0, 0, 1, 2, 2, 2, 0], strict=True))


@pytest.mark.parametrize("odd", ODD_ROWS)
@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "no penalty"])
def test_odd_tables(name, odd):
    items = ODD_ROWS[odd]
    own = {"knowledge": None, "ordinal": None}
    net = gw.MarkovNetwork(**CASES[name].learner.get_params() | own | {"tol": 1e-6})
    table = Rows().table(items, tuple(f"v{k}" for k in range(len(items[0]))))
    net.fit(table)
    varying = sum(len(set(column)) > 1 for column in table.values())
    assert net.model_.n_edges <= varying * (varying - 1) // 2
    assert np.isfinite(net.score(table))
    stop = net.certificate_.stop
    assert net.certificate_.converged or stop == {"a tree": "given", "exchanges": "searched"}[name]
    assert net.graph_.number_of_nodes() == len(table)
    assert net.summary().startswith(f"Data\n  {len(items)} row")
    if name == "a tree":
        assert net.model_.n_edges == TREES[odd]
    if name == "tied":
        assert len(set(net.model_.potentials.weights.tolist()) - {0.0}) <= 3


ODD_SEQUENCES = {
    "one label": ([[["a"], ["b"]], [["a"]]], [["O", "O"], ["O"]]),
    "one sequence": ([[["a"], ["b"]]], [["O", "P"]]),
    "one position": ([[["a"]]], [["O"]]),
    "one position each": ([[["a"]], [["b"]]], [["O"], ["P"]]),
    "no attributes": ([[[], []], [[]]], [["O", "P"], ["P"]]),
    "some without attributes": ([[["a"], [], ["b"]], [[]]], [["O", "P", "P"], ["O"]]),
    "constant": ([[{"a": 3.5}, {"a": 3.5}]] * 3, [["O", "P"]] * 3),
    "all zero": ([[{"a": 0.0}, {"a": 0}]] * 3, [["O", "P"]] * 3),
    "tiny": ([[{"a": 1e-300}, {"a": -1e-300}]] * 3, [["O", "P"]] * 3),
    "large": ([[{"a": 20, "b": 1}, {"a": -20}]] * 3, [["O", "P"]] * 3),
    "long": ([[["a"], ["b"]] * 3000], [["O", "P"] * 3000]),
}


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("odd", ODD_SEQUENCES)
def test_odd_sequences(odd, order):
    given, labels = ODD_SEQUENCES[odd]
    crf = gw.ChainCRF(lam=0.01, order=order).fit(given, labels)
    assert crf.certificate_.converged
    assert [len(s) for s in crf.predict(given)] == [len(s) for s in labels]
    logs = crf.score_samples(given, labels)
    assert np.isfinite(logs).all()
    assert (logs <= 1e-9).all()
    for part in crf.model_.marginals(given):
        np.testing.assert_allclose(part.sum(axis=1), 1.0, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_every_learner_has_a_summary(name):
    case, items, fitted = plain(name)
    rows = isinstance(case.world, Rows)
    weighted = case.fit(items, np.random.default_rng(0).integers(1, 4, len(items)))
    parts = ["\nNetwork\n", "\nPrediction\n"] if rows else ["\nModel\n", "\nPenalty\n"]
    for each in (fitted, weighted):
        text = each.summary()
        assert text.startswith("Data\n")
        for part in ("\nCertificate\n", *parts):
            assert part in text
        assert ("total weight" in text) == (rows and each is weighted)
        assert max(map(len, text.splitlines())) <= 88
        assert len(each.summary(top=0)) < len(text)
        if rows:
            assert gw.describe(each.missing_) in " ".join(text.split())
