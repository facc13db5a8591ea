"""The edges of a network: as records, strongest first, as a CSV file, and against the true ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from graftwork.errors import DataError
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.base import Estimator, check_is_fitted
from graftwork.estimators.edges import edge_records
from graftwork.inference.layout import Layout
from graftwork.models import PairwiseMRF
from graftwork.models.couplings import COLUMNS as COUPLING_COLUMNS
from graftwork.models.couplings import coupling_records
from graftwork.models.graphs import EDGE_NUMBERS, KEPT, saved_numbers, sizes_of
from graftwork.models.inputs import find, number
from graftwork.report.shapes import is_curved
from graftwork.report.trace import write_rows
from graftwork.text import count, verb

Floats = NDArray[np.float64]
Unseen = Mapping[Any, Sequence[Any]]

#: Two states whose order everybody knows.
_NO_YES = {("no", "yes"), ("n", "y"), ("false", "true")}

#: Edges as the positions of their two variables, the smaller first.
Edges = frozenset[tuple[int, int]]

#: Entries this close to the largest, relative to it, count as equally large.
_TIE = 1e-9

COLUMNS = (
    "first",
    "second",
    *EDGE_NUMBERS,
    "together_first",
    "together_second",
    "together_weight",
    "apart_first",
    "apart_second",
    "apart_weight",
)


class EdgeTest(NamedTuple):
    """The test of an edge, and the interval of its weight; files of earlier versions have less."""

    p_value: float
    q_value: float
    statistic: float = float("nan")
    df: float = float("nan")
    weight_se: float = float("nan")
    weight_low: float = float("nan")
    weight_high: float = float("nan")


Tested = Mapping[tuple[Any, Any], EdgeTest]


@dataclass(frozen=True, slots=True)
class Association:
    """Two states that an edge pulls together (weight above 0) or keeps apart (below 0)."""

    first_state: Any
    second_state: Any
    weight: float


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """One edge: its ends, its strength, and the states it ties most."""

    first: Any  # first, second: names of the two variables
    second: Any
    strength: float  # how closely it ties its variables, from 0 to 1 (see `PairwiseMRF.strength`)
    together: Association | None  # together, apart: largest and smallest entry of that table
    apart: Association | None
    p_value: float = float("nan")  # p_value, q_value: of the edge's test
    q_value: float = float("nan")
    # signed, of two binary or ordered variables (see `PairwiseMRF.weight`)
    weight: float = float("nan")
    correlation: float = float("nan")  # signed, of the same pairs (see `PairwiseMRF.correlation`)
    # statistic, df: of its test: a chi-square and its degrees of freedom
    statistic: float = float("nan")
    df: float = float("nan")
    linear_share: float = float("nan")  # how much of it lies along the scores of ordered variables
    # weight_se, weight_low, weight_high: standard error and 95 % interval of the weight
    weight_se: float = float("nan")
    weight_low: float = float("nan")
    weight_high: float = float("nan")
    frequency: float = float("nan")  # the share of resamples that have it


def tests_of(net: MarkovNetwork) -> Tested:
    """Return the tests of a fitted network's edges, by their ends; {} if it has none."""
    evidence = net.evidence_
    records = [] if evidence is None else edge_records(net.model_, net.names_, evidence)
    return {(r["first"], r["second"]): EdgeTest(*(r[name] for name in KEPT)) for r in records}


def edges_of(net: MarkovNetwork, top: int | None = None) -> list[EdgeRecord]:
    """Return a record for each edge of a fitted network, or the ``top`` largest, in order."""
    tests = tests_of(net)
    records = edge_table(net.model_, unseen=net.data_.unseen(), tests=tests, top=top)
    boot = getattr(net, "bootstrap_", None)
    if boot is None:
        return records
    return [replace(each, frequency=boot.frequency(each.first, each.second)) for each in records]


def saved_edges(
    model: PairwiseMRF, info: Mapping[str, Any], unseen: Unseen | None = None
) -> list[EdgeRecord]:
    """Return a record for each edge of a network, with what its file keeps of the learning."""
    return edge_table(model, unseen=unseen, tests=saved_tests(model, info))


def saved_tests(model: PairwiseMRF, info: Mapping[str, Any]) -> Tested:
    """Return the tests of a network's edges that its file keeps; {} if it keeps none.

    Examples
    --------
    >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, pairwise={("a", "b"): [[1, 0], [0, 1]]})
    >>> saved_tests(model, {"edge_tests": [[0.001, 0.002, 10.8, 1.0]]})
    {('a', 'b'): EdgeTest(p_value=0.001, q_value=0.002, statistic=10.8, df=1.0, weight_se=nan,
    weight_low=nan, weight_high=nan)}
    """
    found = saved_numbers(info.get("edge_tests"), model.n_edges, len(KEPT))
    tests = zip(model.edges, found.tolist(), strict=True)
    return {} if np.isnan(found[:, :2]).any() else {edge: EdgeTest(*test) for edge, test in tests}


def edge_table(
    model: PairwiseMRF,
    *,
    unseen: Unseen | None = None,
    tests: Tested | None = None,
    top: int | None = None,
) -> list[EdgeRecord]:
    """Return a record for each edge, the strongest first.

    A table is double-centred before it is read, so that what it says about single variables does
    not count. Of entries equally large the last is named: 1 with 1 rather than 0 with 0.
    """
    skip = unseen or {}
    untested, sizes = EdgeTest(float("nan"), float("nan")), sizes_of(model)
    order = np.argsort(-np.array(sizes["strength"]), kind="stable")
    order = order if top is None else order[: max(top, 0)]
    listed, edges, states, found = [], model.edges, model.states, tests or {}
    seen = {
        name: np.array([state not in skip.get(name, ()) for state in own], dtype=bool)
        for name, own in states.items()
    }
    layout, numbers = model.potentials.layout, model.potentials.weights
    for k in order.tolist():
        a, b = edges[k]
        centred, allowed = double_centred(layout.table(numbers, k)), np.outer(seen[a], seen[b])
        record = EdgeRecord(
            first=a,
            second=b,
            together=_largest(centred, allowed, +1.0, states[a], states[b]),
            apart=_largest(centred, allowed, -1.0, states[a], states[b]),
            **{name: column[k] for name, column in sizes.items()},
            **found.get((a, b), untested)._asdict(),
        )
        listed.append(record)
    return listed


def double_centred(table: Floats) -> Floats:
    """Return a table with the means of rows and columns taken out.

    Cells of -inf stay; for the means they count as 10 below the smallest finite cell.
    """
    impossible = np.isneginf(table)
    floor = np.min(table, where=~impossible, initial=0.0) - 10.0
    finite = np.where(impossible, floor, table)
    rows, columns = finite.mean(axis=1, keepdims=True), finite.mean(axis=0, keepdims=True)
    return np.where(impossible, -np.inf, finite - rows - columns + finite.mean())


def _largest(
    centred: Floats, allowed: NDArray[np.bool_], sign: float, first: Any, second: Any
) -> Association | None:
    """Return the last of the largest entries of one sign, or None if there is none."""
    signed = np.where(allowed, sign * centred, -np.inf)
    best = float(signed.max())
    if not best > 0:
        return None
    near = signed >= best * (1 - _TIE) if np.isfinite(best) else signed == best
    row, column = (int(k) for k in np.argwhere(near)[-1])
    return Association(first[row], second[column], float(centred[row, column]))


def weight_tells(
    model: PairwiseMRF, record: EdgeRecord, meanings: Mapping[Any, Mapping[Any, str]] | None = None
) -> bool:
    """Return whether the weight of an edge says all that its table does, so that no state is named.

    That is so where the table is linear, and the order of both variables' states is known: of
    ordered variables, and of two numbers, or no and yes, without words for them.

    Examples
    --------
    >>> states = {"a": [0, 1], "b": ["no", "yes"], "c": ["f", "m"]}
    >>> agree = [[1, 0], [0, 1]]
    >>> model = PairwiseMRF(states, None, {("a", "b"): agree, ("b", "c"): agree})
    >>> [weight_tells(model, record) for record in edge_table(model)]
    [True, False]
    """
    if not np.isfinite(record.weight) or record.weight == 0.0 or is_curved(record.linear_share):
        return False
    scores, states = model.scores, model.states
    known = meanings if isinstance(meanings, Mapping) else {}
    return all(
        name in scores or (name not in known and _rises(states[name]))
        for name in (record.first, record.second)
    )


def _rises(states: Sequence[Any]) -> bool:
    """Return whether two states speak for themselves: a number and a larger one, or no and yes."""
    if len(states) != 2:
        return False
    low, high = (str(state).strip().casefold() for state in states)
    try:
        return float(low) < float(high)
    except ValueError:
        return (low, high) in _NO_YES


def write_couplings(path: str | PathLike[str], network: PairwiseMRF) -> None:
    """Write the couplings of all pairs as CSV, the largest after the correction first.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "couplings.csv")
    >>> pair = {("a", "b"): [[1, 0], [0, 1]]}
    >>> write_couplings(path, PairwiseMRF({"a": [0, 1], "b": [0, 1]}, pairwise=pair))
    >>> path.read_text()
    'first,second,norm,apc\\na,b,1.0,0.0\\n'
    """
    records = coupling_records(network.names, network.potentials, "apc")
    write_rows(path, COUPLING_COLUMNS, (list(record.values()) for record in records))


def write_edges(
    path: str | PathLike[str],
    network: PairwiseMRF | Sequence[EdgeRecord],
    *,
    unseen: Unseen | None = None,
    tests: Tested | None = None,
) -> None:
    """Write the edges as CSV, strongest first, and return None; the file appears whole or not."""
    records = (
        edge_table(network, unseen=unseen, tests=tests)
        if isinstance(network, PairwiseMRF)
        else network
    )
    known = [record.frequency for record in records if not np.isnan(record.frequency)]
    columns = (*COLUMNS, "frequency") if known else COLUMNS
    write_rows(path, columns, (_cells(record)[: len(columns)] for record in records))


def _cells(record: EdgeRecord) -> list[Any]:
    cells: list[Any] = [record.first, record.second, record.strength]
    numbers = [getattr(record, name) for name in EDGE_NUMBERS[1:]]
    cells += ["" if np.isnan(value) else value for value in numbers]
    for tie in (record.together, record.apart):
        cells += [tie.first_state, tie.second_state, tie.weight] if tie else ["", "", ""]
    return [*cells, record.frequency]


@dataclass(frozen=True, slots=True)
class EdgeScores:
    """How the edges found agree with the true ones."""

    n_edges: int  # n_edges, n_true: edges found, and true edges
    n_true: int
    n_hits: int  # edges that are both

    @property
    def precision(self) -> float:
        """Share of the edges found that are true; without any found, 1 if none is true, else 0."""
        return self.n_hits / self.n_edges if self.n_edges else float(self.n_true == 0)

    @property
    def recall(self) -> float:
        """Share of the true edges that were found; without any true, 1 if none is found, else 0."""
        return self.n_hits / self.n_true if self.n_true else float(self.n_edges == 0)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 1 where no edge is true and none was found."""
        both = self.n_edges + self.n_true
        return 2 * self.n_hits / both if both else 1.0

    @property
    def hamming(self) -> int:
        """Number of pairs on which the two disagree: wrong edges plus missed edges."""
        return self.n_edges + self.n_true - 2 * self.n_hits

    def words(self) -> str:
        """Return the comparison in a plain sentence."""
        return (
            f"Of {count(self.n_edges, 'edge')} found {self.n_hits:,} {verb(self.n_hits)} true, of "
            f"{count(self.n_true, 'true edge')} {self.n_hits:,} {verb(self.n_hits, 'was', 'were')} "
            f"found: precision {self.precision:.4f}, "
            f"recall {self.recall:.4f}, F1 {self.f1:.4f}, Hamming distance {self.hamming:,}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return counts and scores as plain values."""
        return {
            "n_edges": self.n_edges,
            "n_true": self.n_true,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "hamming": self.hamming,
        }


def compare_edges(network: PairwiseMRF | MarkovNetwork, truth: Any) -> EdgeScores:
    """Return how the edges of a network agree with the true ones.

    Parameters
    ----------
    network : PairwiseMRF or fitted MarkovNetwork
        What was found.
    truth : PairwiseMRF, fitted MarkovNetwork, networkx graph, or iterable of pairs of names
        What is true. Neither the order of edges nor of the names in a pair matters, and a pair
        given twice counts once.

    Raises
    ------
    DataError
        If the truth has an edge at a variable the network does not have, or is something else.

    Examples
    --------
    >>> model = PairwiseMRF({n: [0, 1] for n in "abc"}, None, {("a", "b"): [[1, 0], [0, 1]]})
    >>> compare_edges(model, [("b", "a"), ("b", "c")]).f1
    0.666...
    >>> compare_edges(model, []).precision
    0.0
    """
    model = the_model(network)
    return score_edges(model.potentials.layout, true_edges(truth, model.names))


def score_edges(layout: Layout, true: Edges) -> EdgeScores:
    """Return how the edges of a layout agree with the true ones."""
    hits = sum((i, j) in true for i, j in layout.edges.tolist())
    return EdgeScores(layout.n_edges, len(true), hits)


def the_model(network: object) -> PairwiseMRF:
    """Return the PairwiseMRF that something is, or that it learned.

    Examples
    --------
    >>> the_model(PairwiseMRF({"a": [0, 1]}))
    PairwiseMRF: 1 variable, 0 edges
    """
    if isinstance(network, Estimator):
        check_is_fitted(network)
    model = getattr(network, "model_", network)
    if isinstance(model, PairwiseMRF):
        return model
    raise DataError(
        f"a {type(network).__name__} is not a network; pass a PairwiseMRF or a fitted "
        "MarkovNetwork."
    )


def true_edges(truth: Any, names: Sequence[Any]) -> Edges:
    """Return the edges of anything `compare_edges` takes as a truth, by variable numbers."""
    index = number(names)
    out = set()
    for a, b in _pairs(truth):
        try:
            i, j = (find(name, tuple(names), index) for name in (a, b))
        except DataError as error:
            raise DataError(f"the truth has an edge {a!r} - {b!r}, but {error}") from error
        if i == j:
            raise DataError(f"the truth has an edge from {a!r} to itself.")
        out.add((min(i, j), max(i, j)))
    return frozenset(out)


def _pairs(truth: Any) -> list[tuple[Any, Any]]:
    """Return the pairs of names a truth consists of."""
    if isinstance(truth, Estimator | PairwiseMRF) or hasattr(truth, "model_"):
        return the_model(truth).edges
    if isinstance(truth, nx.Graph):
        return [(a, b) for a, b, *_ in truth.edges]
    if isinstance(truth, str | bytes) or not isinstance(truth, Iterable):
        raise DataError(
            f"truth is {truth!r}; pass a PairwiseMRF, a networkx graph, or pairs of names (a, b)."
        )
    out: list[tuple[Any, Any]] = []
    for pair in truth:
        listed = list(pair) if isinstance(pair, Iterable) and not isinstance(pair, str) else [pair]
        if len(listed) != 2:
            raise DataError(f"the truth has {pair!r}, which is not a pair of names (a, b).")
        out.append((listed[0], listed[1]))
    return out
