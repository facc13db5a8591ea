"""What users know about edges beforehand, as factors of the penalties of pairs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.columns import level_of_caller
from graftwork.data.encoded import EncodedRows
from graftwork.errors import DataWarning, ParameterError
from graftwork.estimators.named_pairs import find_pairs, pairs_where
from graftwork.estimators.pair_weights import read_weights
from graftwork.grafting import ChowLiu, GivenEdges, NetworkFamily, PairFactors, Recipe
from graftwork.inference.layout import Ints
from graftwork.models.graphs import is_graph
from graftwork.parameters import known

Names = tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PriorKnowledge:
    """What is known about edges before learning.

    Parameters
    ----------
    required, forbidden, candidates : optional
        Pairs of names that always are edges (without a penalty), never are, and the only ones that
        may be: a list of pairs, a networkx.Graph, or a function of two names that returns True for
        them. Required pairs need not be candidates.
    penalty_weights : optional
        What lam is multiplied by for single edges: a dict ``{(a, b): factor}``, a function of two
        names, or a symmetric matrix (a data frame by names, an array by position). 0 is no penalty,
        infinity forbids the edge, and pairs that are not given have 1. l2 is the same for all.

    Examples
    --------
    >>> PriorKnowledge(required=[("smokes", "cough")]).required
    [('smokes', 'cough')]
    """

    required: Any = None
    forbidden: Any = None
    candidates: Any = None
    penalty_weights: Any = None

    @staticmethod
    def read(given: Any) -> PriorKnowledge:
        """Return the knowledge given: as such, as a dict, or None for nothing."""
        if given is None:
            return PriorKnowledge()
        if isinstance(given, PriorKnowledge):
            return given
        if not isinstance(given, Mapping):
            raise ParameterError(
                f"knowledge must be a graftwork.PriorKnowledge, or a dict of what it takes; got "
                f"{given!r}."
            )
        for name in given:
            known("knowledge: option", name, [each.name for each in fields(PriorKnowledge)])
        return PriorKnowledge(**given)

    @property
    def empty(self) -> bool:
        """Whether nothing is known."""
        return all(getattr(self, each.name) is None for each in fields(self))

    def domain(
        self, table: Table, sample: EncodedRows, recipe: Recipe, max_edges: int | None = None
    ) -> NetworkFamily:
        """Return the pairs that may become edges, with what is known about them."""
        if self.empty:
            return NetworkFamily(sample)
        names = table.names
        barred = self._barred(names)
        required = self._find("required", names)
        _check_possible(required, barred, names)
        factors = barred
        if self.candidates is not None:
            allowed = self._find("candidates", names)
            factors = barred.times(PairFactors.of(len(names), allowed, 1.0, default=np.inf))
        required = _varying(required, names, sample)
        _check_room(max_edges, recipe, required, names)
        factors = factors.requiring(required)
        return NetworkFamily(sample, None if factors.trivial else factors)

    def counts(self, domain: NetworkFamily) -> dict[str, int] | None:
        """Return in numbers what was known about edges; None for nothing.

        Of pairs of columns that vary: how many are required, how many may not be edges, and for how
        many of the others the penalty is not the usual one.
        """
        if self.empty:
            return None
        everything = NetworkFamily(domain.sample).space(domain.variables, False).size
        allowed = domain.space(domain.variables, False)
        prior = domain.prior
        weighted = 0
        if prior is not None:
            vary = np.isin(prior.pairs, domain.variables).all(axis=1)
            own = vary & np.isfinite(prior.values) & (prior.values != 1.0)
            weighted = int((own & ~prior.requires(prior.pairs)).sum())
        return {
            "required": len(domain.required),
            "forbidden": everything - allowed.size,
            "weighted": weighted,
        }

    def _find(self, parameter: str, names: Names) -> Ints:
        """Return the pairs meant: those of a list or a graph, or where a function says True."""
        given = getattr(self, parameter)
        if given is None:
            return np.zeros((0, 2), dtype=np.int64)
        if callable(given) and not is_graph(given):
            return pairs_where(parameter, given, names)
        return find_pairs(parameter, given, names)

    def _barred(self, names: Names) -> PairFactors:
        """Return the penalties' factors, infinite for what is forbidden."""
        forbidden = PairFactors.of(len(names), self._find("forbidden", names), np.inf)
        if self.penalty_weights is None:
            return forbidden
        return read_weights(self.penalty_weights, names).times(forbidden)


def _check_possible(required: Ints, barred: PairFactors, names: Names) -> None:
    """Refuse pairs that are required and forbidden."""
    for i, j in required[np.isinf(barred.at(required))].tolist():
        raise ParameterError(
            f"the edge between {names[i]!r} and {names[j]!r} is both required and forbidden (a "
            "penalty weight of infinity forbids, too); take it out of one of them."
        )


def _varying(required: Ints, names: Names, sample: EncodedRows) -> Ints:
    """Return the required pairs of columns that vary; say which others there are."""
    vary = (sample.cards[required] > 1).all(axis=1)
    if not vary.all():
        i, j = required[~vary][0].tolist()
        constant = names[i] if sample.cards[i] < 2 else names[j]
        warnings.warn(
            f"{int((~vary).sum())} of the required edges cannot be learned and are left out: a "
            f"column that never changes, such as {constant!r}, has no edges.",
            DataWarning,
            stacklevel=level_of_caller(),
        )
    return required[vary]


def _check_room(max_edges: int | None, recipe: Recipe, required: Ints, names: Names) -> None:
    """Refuse more required edges than there may be, and cycles where a tree is wanted."""
    import networkx as nx

    graph = nx.Graph(required.tolist())
    count = graph.number_of_edges()
    if max_edges is not None and count > max_edges:
        raise ParameterError(
            f"max_edges={max_edges} leaves no room for the {count} required edges; raise it, "
            "or require fewer."
        )
    tree = isinstance(recipe.selector, GivenEdges) and isinstance(recipe.start, ChowLiu)
    if tree and count and not nx.is_forest(graph):
        cycle = ", ".join(repr(names[i]) for i, _ in nx.find_cycle(graph))
        raise ParameterError(
            f"method {recipe.name!r} gives a tree, but the required edges form a cycle ({cycle}); "
            "require one edge less, or use another method."
        )
