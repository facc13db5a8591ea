"""What tables of ordered variables have beside their linear part: is it there?

Edges are fitted with their whole tables and the rest of each is tested, its linear part following;
of absent pairs the slope along the rest is tested. A pair whose rest is there is *curved*.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.significance.edge_tests import EdgeTests
from graftwork.significance.profiles import EdgeProfile


def rests_of_edges(rows: FittedRows) -> EdgeTests:
    """Return the tests of the rests of all edges that have one."""
    layout, contrasts = rows.potentials.layout, rows.contrasts
    linear, sides = contrasts.linear[layout.edges], contrasts.sides(layout.edges)
    chosen = np.flatnonzero((sides > linear).any(axis=1))
    whole = EdgeTests.of(rows)
    profiles, rises = dict(whole.profiles), np.zeros(len(chosen))
    for k, e in enumerate(chosen.tolist()):
        rest = _rest(sides[e], linear[e])
        weights = _weights(rows, e, sides[e])[rest]
        profiles[e] = _without_linear(whole.profiles[e], rest)
        rises[k] = weights @ profiles[e].precision @ weights
    return replace(whole, edges=chosen, profiles=profiles, rises=rises)


def _rest(sides: Ints, linear: Ints) -> Ints:
    """Return which of a table's parameters are not of its linear part."""
    own = np.ones(sides, dtype=bool)
    own[: linear[0], : linear[1]] = False
    return np.flatnonzero(own.ravel())


def _weights(rows: FittedRows, e: int, sides: Ints) -> Floats:
    """Return the parameters of an edge's table."""
    layout, bases = rows.potentials.layout, rows.contrasts.bases
    i, j = layout.edges[e].tolist()
    table = layout.table(rows.potentials.weights, e)
    found: Floats = bases[i][:, : sides[0]].T @ table @ bases[j][:, : sides[1]]
    return found.ravel()


def _without_linear(profile: EdgeProfile, rest: Ints) -> EdgeProfile:
    """Return the profile of some parameters of an edge, its others following them."""
    whole = profile.precision
    line = np.setdiff1d(np.arange(len(whole)), rest)
    follow = np.linalg.solve(whole[np.ix_(line, line)], whole[np.ix_(line, rest)])
    precision = whole[np.ix_(rest, rest)] - whole[np.ix_(rest, line)] @ follow
    first, second = (share[:, rest] - share[:, line] @ follow for share in profile.shares)
    return EdgeProfile(0.5 * (precision + precision.T), (first, second))
