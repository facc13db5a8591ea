"""How central each variable of a network is, and its community, as records by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graftwork.data.values import plain
from graftwork.errors import DataError, ParameterError
from graftwork.inference.layout import Floats, Ints
from graftwork.models import PairwiseMRF
from graftwork.models.communities import find_communities
from graftwork.models.graphs import (
    BRIDGES,
    MEASURES,
    bridge_centralities,
    centralities,
    influence,
)
from graftwork.models.inputs import find
from graftwork.models.inputs import number as numbered
from graftwork.parameters import number
from graftwork.text import names as named

Record = dict[str, Any]

COLUMNS = ("variable", "strength", "expected_influence", "degree", "closeness", "betweenness")
BRIDGE_COLUMNS = (
    "group", "bridge_strength", "bridge_expected_influence", "bridge_closeness",
    "bridge_betweenness",
)  # fmt: skip
#: Closeness and betweenness take long where variables with edges times edges are more than this.
MOST_PATHS = 1_000_000


def centrality_records(
    model: PairwiseMRF, groups: Mapping[Any, Any] | None = None, *, paths: bool = True
) -> list[Record]:
    """Return a record for each variable, with its centralities."""
    n, edges, strengths = edge_arrays(model)
    correlations = model.correlations
    table: dict[str, Any] = {"variable": model.names}
    measured = centralities(n, edges, strengths, correlations, paths=paths)
    table |= dict(zip(MEASURES, measured, strict=True))
    columns: tuple[str, ...] = COLUMNS
    if groups is not None:
        table["group"] = _groups_of(model.names, groups)
        own = [("alone", i) if g is None else g for i, g in enumerate(table["group"])]
        bridges = bridge_centralities(n, edges, strengths, own)
        table |= dict(zip(BRIDGES, bridges, strict=True))
        across = np.array([own[i] != own[j] for i, j in edges.tolist()], dtype=np.bool_)
        table["bridge_expected_influence"] = influence(n, edges[across], correlations[across])
        columns += BRIDGE_COLUMNS
    return [{name: _value(table[name][i]) for name in columns} for i in range(n)]


def _value(value: Any) -> Any:
    return float(value) if isinstance(value, np.floating) else value


def edge_arrays(model: PairwiseMRF) -> tuple[int, Ints, Floats]:
    """Return the number of variables, the edges as numbers, and their strengths.

    Examples
    --------
    >>> edge_arrays(PairwiseMRF({"a": [0, 1]}))[1].shape
    (0, 2)
    """
    return model.n_variables, model.potentials.layout.edges, model.strengths


def quick_paths(model: PairwiseMRF) -> bool:
    """Return whether closeness and betweenness take little time."""
    edges = model.potentials.layout.edges
    return len(np.unique(edges)) * len(edges) <= MOST_PATHS


def _groups_of(names: tuple[Any, ...], groups: Any) -> list[Any]:
    """Return the group of each variable, in their order; every one must have one."""
    if not isinstance(groups, Mapping):
        raise ParameterError(
            f"groups must be a dict {{variable: group}}, got {type(groups).__name__}."
        )
    index, found = numbered(names), {}
    for name, group in groups.items():
        found[find(name, names, index)] = plain(group)
    absent = [name for i, name in enumerate(names) if i not in found]
    if absent:
        raise DataError(f"groups must say the group of every variable; not so of {named(absent)}.")
    return [found[i] for i in range(len(names))]


def communities_of(
    model: PairwiseMRF, *, resolution: float = 1.0, seed: int = 0
) -> dict[Any, int | None]:
    """Return the community of each variable: 1 for the largest; None for variables without edges.

    See `find_communities`.
    """
    resolution = number("resolution", resolution, 0.0, above=True)
    found = find_communities(*edge_arrays(model), resolution=resolution, seed=seed)
    return {
        name: None if part < 0 else part + 1
        for name, part in zip(model.names, found.tolist(), strict=True)
    }
