"""Which pairs of ordered variables have more than a linear table in some network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.scores import Scores
from graftwork.estimators import MarkovNetwork
from graftwork.groups.shared_states import Curved
from graftwork.inference.layout import Floats

#: A table is curved where this share of its norm is not along the scores.
LEAST_REST = 1e-6


def curved_in(networks: Iterable[tuple[MarkovNetwork, Table]], names: Sequence[Any]) -> Curved:
    """Return the pairs that are curved in one of some networks, as places among names.

    Where networks were tested the tests say so, otherwise the tables.
    """
    place = {name: i for i, name in enumerate(names)}
    found: set[tuple[int, int]] = set()
    for net, rows in networks:
        evidence = net.evidence_
        if rows.ordered is None or not rows.ordered.scores:
            continue
        if evidence is not None and evidence.rests is not None:
            pairs = [(net.names_[i], net.names_[j]) for i, j in evidence.curved]
        else:
            pairs = _curved_tables(net, rows)
        ends = (sorted((place[a], place[b])) for a, b in pairs if a in place and b in place)
        found |= {(i, j) for i, j in ends}
    return frozenset(found)


def _curved_tables(net: MarkovNetwork, rows: Table) -> list[tuple[Any, Any]]:
    """Return the edges whose tables have a rest, among the states that occur."""
    order = rows.ordered
    if order is None:
        return []
    model, bases, seen = net.model_, {}, {}
    for name, states, counts in zip(rows.names, rows.states, rows.observed(), strict=True):
        known = {state: k for k, state in enumerate(model.states[name])}
        some = [state for state, n in zip(states, counts, strict=True) if n > 0 and state in known]
        seen[name] = [known[state] for state in some]
        scores = order.of(name, some)
        own = None if scores is None else np.array(scores)
        bases[name] = Scores.of([own], np.array([len(some)]), order.degree).bases[0]
    return [
        (a, b)
        for a, b in model.edges
        if _has_rest(model.table(a, b)[np.ix_(seen[a], seen[b])], bases[a], bases[b])
    ]


def _has_rest(table: Floats, first: Floats, second: Floats) -> bool:
    """Return whether a table is more than linear along the scores of its variables.

    Examples
    --------
    >>> line = np.array([[-1.0], [0.0], [1.0]]) / np.sqrt(2)
    >>> _has_rest(line @ line.T, line, line), _has_rest(np.eye(3), line, line)
    (False, True)
    """
    rows = table - table.mean(axis=0)
    whole = rows - rows.mean(axis=1, keepdims=True)
    straight = whole
    if first.shape[1]:
        straight = first @ (first.T @ straight)
    if second.shape[1]:
        straight = (straight @ second) @ second.T
    rest = float(np.linalg.norm(whole - straight))
    return rest > LEAST_REST * max(float(np.linalg.norm(whole)), 1e-12)
