"""What users know about edges beforehand, as factors of the penalties of pairs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.compact import Sample
from graftwork.errors import DataWarning
from graftwork.estimators.named_pairs import find_pairs, pairs_where
from graftwork.estimators.pair_weights import read_weights
from graftwork.estimators.parts import ParameterError
from graftwork.grafting import ChowLiu, GivenEdges, PairDomain, PairFactors, Recipe
from graftwork.inference.layout import Ints
from graftwork.models.graphs import is_graph


def make_domain(net: Any, table: Table, sample: Sample, recipe: Recipe) -> PairDomain:
    """Return the pairs that may become edges, with what is known about them.

    Parameters
    ----------
    net : MarkovNetwork
        Its ``required``, ``forbidden``, ``candidates`` and ``penalty_weights``.
    """
    if _unknowing(net):
        return PairDomain(sample)
    names = table.names
    barred = _barred(net, names)
    required = _find(net, "required", names)
    _check_possible(required, barred, names)
    factors = barred if net.candidates is None else barred.times(_candidates(net, names))
    required = _varying(required, names, sample)
    _check_room(net, recipe, required, names)
    factors = factors.requiring(required)
    return PairDomain(sample, None if factors.trivial else factors)


def describe_knowledge(net: Any, domain: PairDomain) -> dict[str, int] | None:
    """Return in numbers what was known about edges; None for nothing.

    Of pairs of columns that vary: how many are required, how many may not be edges, and for how
    many of the others the penalty is not the usual one.
    """
    if _unknowing(net):
        return None
    everything = PairDomain(domain.sample).space(domain.variables, False).size
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


def _unknowing(net: Any) -> bool:
    given = (net.required, net.forbidden, net.candidates, net.penalty_weights)
    return all(one is None for one in given)


def _find(net: Any, parameter: str, names: tuple[Any, ...]) -> Ints:
    """Return the pairs that a parameter means: a list, a graph, or where a function says True."""
    given = getattr(net, parameter)
    if given is None:
        return np.zeros((0, 2), dtype=np.int64)
    if callable(given) and not is_graph(given):
        return pairs_where(parameter, given, names)
    return find_pairs(parameter, given, names)


def _candidates(net: Any, names: tuple[Any, ...]) -> PairFactors:
    return PairFactors.of(len(names), _find(net, "candidates", names), 1.0, default=np.inf)


def _barred(net: Any, names: tuple[Any, ...]) -> PairFactors:
    """Return the penalties' factors, infinite for what is forbidden."""
    forbidden = PairFactors.of(len(names), _find(net, "forbidden", names), np.inf)
    if net.penalty_weights is None:
        return forbidden
    return read_weights(net.penalty_weights, names).times(forbidden)


def _check_possible(required: Ints, barred: PairFactors, names: tuple[Any, ...]) -> None:
    """Refuse pairs that are required and forbidden."""
    for i, j in required[np.isinf(barred.at(required))].tolist():
        raise ParameterError(
            f"the edge between {names[i]!r} and {names[j]!r} is both required and forbidden (a "
            "penalty weight of infinity forbids, too); take it out of one of them."
        )


def _varying(required: Ints, names: tuple[Any, ...], sample: Sample) -> Ints:
    """Return the required pairs of columns that vary; say which others there are."""
    vary = (sample.cards[required] > 1).all(axis=1)
    if not vary.all():
        i, j = required[~vary][0].tolist()
        constant = names[i] if sample.cards[i] < 2 else names[j]
        warnings.warn(
            f"{int((~vary).sum())} of the required edges cannot be learned and are left out: a "
            f"column that never changes, such as {constant!r}, has no edges.",
            DataWarning,
            stacklevel=4,
        )
    return required[vary]


def _check_room(net: Any, recipe: Recipe, required: Ints, names: tuple[Any, ...]) -> None:
    """Refuse more required edges than there may be, and cycles where a tree is wanted."""
    import networkx as nx

    graph = nx.Graph(required.tolist())
    count = graph.number_of_edges()
    if net.max_edges is not None and count > net.max_edges:
        raise ParameterError(
            f"max_edges={net.max_edges} leaves no room for the {count} required edges; raise it, "
            "or require fewer."
        )
    tree = isinstance(recipe.selector, GivenEdges) and isinstance(recipe.start, ChowLiu)
    if tree and count and not nx.is_forest(graph):
        cycle = ", ".join(repr(names[i]) for i, _ in nx.find_cycle(graph))
        raise ParameterError(
            f"method {recipe.name!r} gives a tree, but the required edges form a cycle ({cycle}); "
            "require one edge less, or use another method."
        )
