"""What the page shows of a network: variables, places, edges with their numbers, potentials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx
import numpy as np

from graftwork.estimators.centrality import communities_of, edge_arrays
from graftwork.inference.layout import Floats, Ints
from graftwork.models import PairwiseMRF
from graftwork.models.observed import Observed
from graftwork.report.edges import EdgeTest, Tested
from graftwork.report.explorer.packing import Record, column, packed, text_of, texts
from graftwork.report.layout import positions

VERSION = 1
Meanings = Mapping[Any, Mapping[Any, str]]
#: Closely connected variables that the page may colour by.
COMMUNITY = "Community"


def view_of(
    title: str,
    names: Sequence[Any],
    states: Sequence[Sequence[str]],
    places: Floats,
    models: Sequence[Record],
    *,
    groupings: Sequence[Record] = (),
    columns: Sequence[Record] = (),
    words: Sequence[str] = (),
) -> Record:
    """Return everything the page shows of one or more networks of the same variables.

    Shapes: places (variables, 2).
    """
    return {
        "format": "graftwork-explorer",
        "version": VERSION,
        "kind": "network",
        "title": title,
        "names": texts(names),
        "states": [list(each) for each in states],
        "x": packed(places[:, 0], "f4"),
        "y": packed(-places[:, 1], "f4"),  # downwards, as on a screen
        "models": list(models),
        "groupings": list(groupings),
        "columns": list(columns),
        "words": list(words),
    }


def model_view(
    label: str,
    pairs: Ints,
    columns: Sequence[Record],
    model: PairwiseMRF | None = None,
    names: Sequence[Any] = (),
) -> Record:
    """Return what the page shows of one network: pairs with their numbers, and its potentials.

    Shapes: pairs (pairs, 2).
    """
    view: Record = {"label": label, "pairs": packed(pairs, "i4"), "columns": list(columns)}
    if model is not None:
        ordered = model if not names or tuple(names) == model.names else reordered(model, names)
        view["edges"] = packed(ordered.potentials.layout.edges, "i4")
        view["weights"] = packed(ordered.potentials.weights)
        if ordered is model and model.observed is not None:
            view["rows"] = rows_view(model.observed)
    return view


def rows_view(rows: Observed) -> Record:
    """Return what the page shows of a network's rows: counts, and how far answers are from them.

    Examples
    --------
    >>> none = np.zeros((0, 2), dtype=np.int64)
    >>> rows_view(Observed(np.array([3.0, 1.0]), none, np.zeros(0), "calibrated", 0.001))["error"]
    0.001
    """
    return {
        "margins": packed(rows.margins, "f4"),
        "pairs": packed(rows.pairs, "i4"),
        "tables": packed(rows.tables, "f4"),
        "error": rows.margin_error,
    }


def reordered(model: PairwiseMRF, names: Sequence[Any]) -> PairwiseMRF:
    """Return a network with its variables in another order.

    Examples
    --------
    >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [2, 0]]})
    >>> reordered(model, ["b", "a"]).table("a", "b").tolist()
    [[1.0, 0.0], [2.0, 0.0]]
    """
    return PairwiseMRF(
        {name: model.states[name] for name in names},
        {name: model.unary(name) for name in names},
        {pair: model.table(*pair) for pair in model.edges},
    )


def network_model(
    model: PairwiseMRF,
    tests: Tested | None = None,
    more: Sequence[Record] = (),
    label: str = "Network",
) -> Record:
    """Return what the page shows of a network whose edges are drawn."""
    _, edges, strengths = edge_arrays(model)
    columns = edge_columns(strengths, model.weights, _tests(model, tests or {}), model.correlations)
    return model_view(label, edges, [*columns, *more], model)


def _tests(model: PairwiseMRF, tests: Tested) -> Floats | None:
    """Return p- and q-values in the order of the edges, shape (edges, 2); None without any."""
    if not tests:
        return None
    unknown = EdgeTest(float("nan"), float("nan"))
    found = [tests.get((a, b), tests.get((b, a), unknown)) for a, b in model.edges]
    return np.array([(test.p_value, test.q_value) for test in found], dtype=np.float64)


def edge_columns(
    strengths: Sequence[float] | Floats,
    weights: Sequence[float] | Floats,
    tests: Floats | None = None,
    correlations: Sequence[float] | Floats = (),
) -> list[Record]:
    """Return the columns of edges: strength, and weight, p, q and correlation if known."""
    out = [
        column(
            "strength", "Strength", strengths,
            "How closely the edge alone ties its two variables, from 0 to 1.",
        )
    ]  # fmt: skip
    if np.isfinite(np.asarray(weights, dtype=np.float64)).any():
        out.append(
            column(
                "weight", "Weight", weights,
                "Signed: by how much the log odds of one step of a variable rise with one step of "
                "the other. Only pairs of binary or ordered variables have one.",
            )
        )  # fmt: skip
    if tests is not None:
        out.append(column("p_value", "p", tests[:, 0], "Of the test that there is no edge."))
        out.append(
            column("q_value", "q", tests[:, 1], "The p-value, corrected for all pairs tested.")
        )
    if np.isfinite(np.asarray(correlations, dtype=np.float64)).any():
        out.append(
            column(
                "correlation", "Correlation", correlations,
                "Signed: the correlation that the edge alone gives its two variables. Only pairs "
                "of binary or ordered variables have one.",
            )
        )  # fmt: skip
    return out


def places_of(n: int, edges: Ints, strengths: Floats) -> Floats:
    """Return where the variables go, shape (n, 2)."""
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    for (i, j), strength in zip(edges.tolist(), strengths.tolist(), strict=True):
        graph.add_edge(i, j, strength=strength)
    found = positions(graph)
    return np.array([found[i] for i in range(n)], dtype=np.float64).reshape(n, 2)


def grouping(label: str, groups: Sequence[Any]) -> Record:
    """Return groups of the variables that the page may colour by; None is in no group."""
    numbered = all(isinstance(group, int | None) for group in groups)
    given = [group for group in groups if group is not None]
    known = list(dict.fromkeys(map(text_of, sorted(given) if numbered else given)))
    place = {text: k for k, text in enumerate(known)}
    of = [-1 if group is None else place[text_of(group)] for group in groups]
    return {"label": label, "names": known, "of": of}


def groupings_of(model: PairwiseMRF, groups: Mapping[Any, Any] | None) -> list[Record]:
    """Return the groups that the user gave, if any, and the communities."""
    found = [grouping(COMMUNITY, list(communities_of(model).values()))]
    if groups:
        found.insert(0, grouping("Group", [groups.get(name) for name in model.names]))
    return found


def state_texts(model: PairwiseMRF, meanings: Meanings | None = None) -> list[list[str]]:
    """Return the states of each variable as texts, with their meanings behind them if known."""
    out = []
    for name, states in model.states.items():
        words = (meanings or {}).get(name, {})
        shown = zip(texts(states), states, strict=True)
        out.append([f"{text} ({words[s]})" if s in words else text for text, s in shown])
    return out
