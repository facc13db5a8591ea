"""What users may start from, as a part of the loop: a tree, edges, a model, a fitted network."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encoded import EncodedRows
from graftwork.data.placed import AnyTable
from graftwork.data.values import key
from graftwork.errors import ParameterError
from graftwork.estimators.named_pairs import find_pairs
from graftwork.grafting import ChowLiu, Given, Start
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.models import PairwiseMRF
from graftwork.models.graphs import is_graph
from graftwork.models.inputs import number
from graftwork.objectives.protocol import independent_potentials
from graftwork.parameters import known
from graftwork.selection import Refitted

STARTS: dict[str, Start] = {"chow-liu": ChowLiu()}
# Entries of a model's tables (and unaries) are lifted to so many nats below the largest: a start
# must be finite, and from further out the way back is long.
DEEPEST = 20.0
_KINDS = (
    'use "chow-liu", a networkx.Graph, a list of pairs of column names, a PairwiseMRF or a fitted '
    "MarkovNetwork."
)


def make_start(start: Any, table: AnyTable, sample: EncodedRows) -> Start:
    """Return the start that a user means, in the variables and states of the data."""
    check_start(start)
    if isinstance(start, str):
        return STARTS[start]
    model = getattr(start, "model_", start)
    if isinstance(model, PairwiseMRF):
        return Given(carry_over(model, table, sample))
    pairs = list(start.edges()) if is_graph(start) else list(start)
    return Refitted(edges_among(pairs, table, sample))


def check_start(start: Any) -> None:
    """Refuse what cannot be a start of any kind, before any data are read.

    Examples
    --------
    >>> check_start([("rain", "wet")])
    """
    network = isinstance(getattr(start, "model_", start), PairwiseMRF) or is_graph(start)
    if isinstance(start, str):
        known("start", start, STARTS)
    elif hasattr(start, "fit") and not hasattr(start, "model_"):
        raise ParameterError(f"start={start!r} is not fitted yet; fit it first, or leave it out.")
    elif not network and (
        isinstance(start, Mapping) or not isinstance(start, Collection | np.ndarray)
    ):
        raise ParameterError(f"start is a {type(start).__name__}; {_KINDS}")


def words_of_start(start: Any) -> str | None:
    """Return what a run started from, in a few words; None for the method's own start.

    Examples
    --------
    >>> words_of_start([("a", "b")]), words_of_start("chow-liu")
    ('1 given edge', 'chow-liu')
    """
    if start is None or isinstance(start, str):
        return start
    model = getattr(start, "model_", start)
    if isinstance(model, PairwiseMRF):
        count, kind = model.n_edges, "edge of a model"
    else:
        count = start.number_of_edges() if is_graph(start) else len(start)
        kind = "given edge"
    return f"{count} {kind if count == 1 else kind.replace('edge', 'edges')}"


def edges_among(pairs: Collection[Any], table: AnyTable, sample: EncodedRows) -> Ints:
    """Return pairs of names as edges of the sample, each once, shape (k, 2), ``i < j``.

    An edge at a column that never changes says nothing and is left out.
    """
    found = find_pairs("start", pairs, table.names)
    vary = (sample.cards[found] > 1).all(axis=1)
    edges = dict.fromkeys(map(tuple, found[vary].tolist()))
    return np.array(list(edges), dtype=np.int64).reshape(-1, 2)


def carry_over(model: PairwiseMRF, table: AnyTable, sample: EncodedRows) -> Potentials:
    """Return a model's weights for the states of the sample, all of them finite.

    States are found by their value, in whatever order. A state that the model does not know gets
    the data's frequency relative to those it knows, and no dependence; a variable that it does not
    know the data's frequencies. Variables the data lack are left out, and so are edges at columns
    that never change.
    """
    potentials, layout = model.potentials, model.potentials.layout
    places = _places(model, table, sample)
    start = independent_potentials(sample)
    owner: dict[int, int] = {}
    for i, (v, states) in enumerate(places):
        if v >= 0:
            owner[v] = i
            _set_unary(
                start.layout.unary(start.weights, i), layout.unary(potentials.weights, v), states
            )
    edges, tables = [], []
    for e, (v, w) in enumerate(layout.edges.tolist()):
        i, j = owner.get(v, -1), owner.get(w, -1)
        if min(i, j) < 0 or min(sample.cards[i], sample.cards[j]) < 2:
            continue
        values = _table(layout.table(potentials.weights, e), places[i][1], places[j][1])
        edges.append((min(i, j), max(i, j)))
        tables.append((values if i < j else values.T).ravel())
    large = Layout.of(sample.cards, np.array(edges, dtype=np.int64).reshape(-1, 2))
    return Potentials(large, np.concatenate([start.weights, *tables]))


def _places(model: PairwiseMRF, table: AnyTable, sample: EncodedRows) -> list[tuple[int, Ints]]:
    """Return for each column the model's variable, and its code of each kept state; -1 for none."""
    index, listed = number(model.names), list(model.states.values())
    places = []
    for i, name in enumerate(table.names):
        v = index.get(key(name), -1)
        codes = number(listed[v]) if v >= 0 else {}
        kept = (codes.get(key(table.states[i][a]), -1) for a in sample.kept[i].tolist())
        found = np.fromiter(kept, np.int64)
        places.append((v if (found >= 0).any() else -1, found))
    if all(v < 0 for v, _ in places):
        raise ParameterError(
            "start is a model that shares no variable and state with the data; its variables are "
            f"{', '.join(map(repr, model.names[:5]))}{', ...' if len(model.names) > 5 else ''}."
        )
    return places


def _set_unary(own: Floats, unary: Floats, states: Ints) -> None:
    """Put a model's unary where it knows the state, and the others in proportion, in place."""
    there = states >= 0
    values = _lifted(unary[states[there]])
    own += np.logaddexp.reduce(values) - np.logaddexp.reduce(own[there])
    own[there] = values


def _table(values: Floats, first: Ints, second: Ints) -> Floats:
    """Return a model's table for the states of the data: zeros where it does not know them."""
    out = np.zeros((len(first), len(second)))
    rows, columns = np.flatnonzero(first >= 0), np.flatnonzero(second >= 0)
    out[np.ix_(rows, columns)] = _lifted(values[np.ix_(first[rows], second[columns])])
    return out


def _lifted(values: Floats) -> NDArray[np.float64]:
    """Return log-potentials without any that lies too deep below the largest."""
    top = values.max(initial=-np.inf)
    return np.maximum(values, top - DEEPEST) if np.isfinite(top) else np.zeros_like(values)
