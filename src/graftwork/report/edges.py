"""The edges of a network as records, strongest first, and as a CSV file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.estimators.edges import edge_records
from graftwork.models import PairwiseMRF
from graftwork.report.trace import write_rows

Floats = NDArray[np.float64]
Unseen = Mapping[Any, Sequence[Any]]
Tested = Mapping[tuple[Any, Any], tuple[float, float]]

#: Entries this close to the largest, relative to it, count as equally large.
_TIE = 1e-9

COLUMNS = (
    "first",
    "second",
    "strength",
    "p_value",
    "q_value",
    "together_first",
    "together_second",
    "together_weight",
    "apart_first",
    "apart_second",
    "apart_weight",
)


@dataclass(frozen=True, slots=True)
class Association:
    """Two states that an edge pulls together (weight above 0) or keeps apart (below 0)."""

    first_state: Any
    second_state: Any
    weight: float


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """One edge: its ends, its strength, and the states it ties most.

    Attributes
    ----------
    first, second : hashable
        Names of the two variables.
    strength : float
        Frobenius norm of the double-centred table.
    together, apart : Association or None
        Largest and smallest entry of that table; None where no entry has that sign.
    p_value, q_value : float
        Of the edge's test; NaN where it was not tested.
    """

    first: Any
    second: Any
    strength: float
    together: Association | None
    apart: Association | None
    p_value: float = float("nan")
    q_value: float = float("nan")


def tests_of(net: Any) -> Tested:
    """Return the p- and q-values of a fitted network's edges, by their ends; {} if it has none.

    Parameters
    ----------
    net : MarkovNetwork
    """
    evidence = getattr(net, "evidence_", None)
    records = [] if evidence is None else edge_records(net.model_, net.names_, evidence)
    return {(r["first"], r["second"]): (r["p_value"], r["q_value"]) for r in records}


def edge_table(
    model: PairwiseMRF, *, unseen: Unseen | None = None, tests: Tested | None = None
) -> list[EdgeRecord]:
    """Return a record for each edge, the strongest first.

    A table is double-centred before it is read, so that what it says about single variables does
    not count. Of entries equally large the last is named: 1 with 1 rather than 0 with 0.

    Parameters
    ----------
    model : PairwiseMRF
        The network.
    unseen : mapping of name to states, optional
        States no row had: the data say nothing about them, so no association names them.
    tests : mapping of ends to (p-value, q-value), optional
        See `tests_of`.

    Returns
    -------
    list of EdgeRecord
        By falling strength; equal ones in the order of the names.

    Examples
    --------
    >>> model = PairwiseMRF(
    ...     {"rain": ["no", "yes"], "grass": ["dry", "wet"]},
    ...     pairwise={("rain", "grass"): [[1.0, 0.0], [0.0, 2.0]]},
    ... )
    >>> edge_table(model)[0].together
    Association(first_state='yes', second_state='wet', weight=0.75)
    """
    skip = unseen or {}
    untested = float("nan"), float("nan")
    records = [
        _record(model, a, b, skip, (tests or {}).get((a, b), untested)) for a, b in model.edges
    ]
    return sorted(records, key=lambda record: -record.strength)


def _record(
    model: PairwiseMRF, a: Any, b: Any, unseen: Unseen, test: tuple[float, float]
) -> EdgeRecord:
    states = model.states
    centred = double_centred(model.table(a, b))
    rows = np.array([state not in unseen.get(a, ()) for state in states[a]], dtype=bool)
    columns = np.array([state not in unseen.get(b, ()) for state in states[b]], dtype=bool)
    allowed = np.outer(rows, columns)
    return EdgeRecord(
        a,
        b,
        model.strength(a, b),
        _largest(centred, allowed, +1.0, states[a], states[b]),
        _largest(centred, allowed, -1.0, states[a], states[b]),
        *test,
    )


def double_centred(table: Floats) -> Floats:
    """Return a table with the means of rows and columns taken out.

    Cells of -inf stay; for the means they count as 10 below the smallest finite cell.

    Examples
    --------
    >>> double_centred(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
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


def write_edges(
    path: str | PathLike[str],
    network: PairwiseMRF | Sequence[EdgeRecord],
    *,
    unseen: Unseen | None = None,
    tests: Tested | None = None,
) -> None:
    """Write the edges as CSV, strongest first, and return None; the file appears whole or not.

    Parameters
    ----------
    path : path-like
        Where to.
    network : PairwiseMRF or sequence of EdgeRecord
        The network, or what `edge_table` made of it.
    unseen, tests : optional
        As in `edge_table`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "edges.csv")
    >>> pair = {("a", "b"): [[1, 0], [0, 1]]}
    >>> write_edges(path, PairwiseMRF({"a": [0, 1], "b": [0, 1]}, pairwise=pair))
    >>> print(path.read_text().splitlines()[1])
    a,b,1.0,,,1,1,0.5,1,0,-0.5
    """
    records = (
        edge_table(network, unseen=unseen, tests=tests)
        if isinstance(network, PairwiseMRF)
        else network
    )
    write_rows(path, COLUMNS, (_cells(record) for record in records))


def _cells(record: EdgeRecord) -> list[Any]:
    cells: list[Any] = [record.first, record.second, record.strength]
    cells += ["" if np.isnan(value) else value for value in (record.p_value, record.q_value)]
    for tie in (record.together, record.apart):
        cells += [tie.first_state, tie.second_state, tie.weight] if tie else ["", "", ""]
    return cells
