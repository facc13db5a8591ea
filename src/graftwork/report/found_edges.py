"""The edges that were found, against those that are true."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx

from graftwork.errors import DataError
from graftwork.estimators.base import Estimator, check_is_fitted
from graftwork.inference.layout import Layout
from graftwork.models import PairwiseMRF
from graftwork.models.inputs import find, number

#: Edges as the positions of their two variables, the smaller first.
Edges = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class EdgeScores:
    """How the edges found agree with the true ones.

    Attributes
    ----------
    n_edges, n_true : int
        Edges found, and true edges.
    n_hits : int
        Edges that are both.

    Examples
    --------
    >>> EdgeScores(n_edges=4, n_true=5, n_hits=3).to_dict()
    {'n_edges': 4, 'n_true': 5, 'precision': 0.75, 'recall': 0.6, 'f1': 0.666..., 'hamming': 3}
    """

    n_edges: int
    n_true: int
    n_hits: int

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
            f"Of {self.n_edges:,} edges found {self.n_hits:,} are true, of {self.n_true:,} true "
            f"edges {self.n_hits:,} were found: precision {self.precision:.4f}, "
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


def compare_edges(network: Any, truth: Any) -> EdgeScores:
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
    """Return how the edges of a layout agree with the true ones.

    Examples
    --------
    >>> score_edges(Layout.of([2, 2, 2], [(0, 1), (1, 2)]), frozenset({(0, 1)}))
    EdgeScores(n_edges=2, n_true=1, n_hits=1)
    """
    hits = sum((i, j) in true for i, j in layout.edges.tolist())
    return EdgeScores(layout.n_edges, len(true), hits)


def the_model(network: Any) -> PairwiseMRF:
    """Return the PairwiseMRF that something is, or that it learned.

    Raises
    ------
    NotFittedError
        Of scikit-learn, if it has not learned anything yet.
    DataError
        If it is something else.

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
        f"a {type(network).__name__} is no network; pass a PairwiseMRF or a fitted MarkovNetwork."
    )


def true_edges(truth: Any, names: Sequence[Any]) -> Edges:
    """Return the edges of anything `compare_edges` takes as a truth, by variable numbers.

    Examples
    --------
    >>> sorted(true_edges([("c", "a"), ("a", "b"), ("b", "a")], ["a", "b", "c"]))
    [(0, 1), (0, 2)]
    """
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
