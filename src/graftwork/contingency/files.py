"""Files of counts: archives as those of models (see `graftwork.models.archive`).

The header has ``variables`` (each with ``name`` and ``states`` as `graftwork.models.encoding`
writes them), ``rows`` (how many were counted), ``weight`` (their total weight, a float as text) and
perhaps ``order`` (``degree``, and ``scores``: of each ordered variable its number and a list of
states with their scores). The vectors are

``margins``
    How often each state occurs, of all variables one after the other.
``tables``
    For each variable the counts of its states with all states of all later variables, row-major.

Both are int64 in version 1 and float64, sums of weights, in version 2.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.contingency.pair_tables import PairTables, check_size
from graftwork.data.counting import Numbers
from graftwork.data.scores import Ordered
from graftwork.models.archive import COUNTS, HEADER, open_file, refusing, write
from graftwork.models.encoding import decode, encode, writable

Path = str | PathLike[str]


def save_counts(path: Path, counts: PairTables, info: Mapping[str, Any] | None = None) -> None:
    """Write a file of counts in one step; `PairTables.save` is for users."""
    variables = []
    for name, states in zip(counts.names, counts.states, strict=True):
        with writable("the variable name"):
            coded = encode(name)
        with writable(f"a state of {name!r}:"):
            variables.append({"name": coded, "states": [encode(state) for state in states]})
    fields: dict[str, Any] = {
        "variables": variables,
        "rows": counts.n_rows,
        "weight": counts.total_weight.hex(),
    }
    if counts.ordered is not None:
        fields["order"] = _encode_order(counts.ordered, counts.names)
    ends = np.cumsum(counts.cards)
    strips = [
        counts.matrix[stop - size : stop, stop:].ravel()
        for stop, size in zip(ends.tolist(), counts.cards.tolist(), strict=True)
    ]
    vectors = (np.diagonal(counts.matrix), np.concatenate(strips))
    write(path, COUNTS, 2 if counts.weighted else 1, fields, vectors, info)


def load_counts(path: Path) -> PairTables:
    """Return the counts of a file, after checking all of it; `PairTables.load` is for users."""
    opened = open_file(path, (COUNTS,))
    with refusing(path, COUNTS):
        header, (margins, tables) = opened.header, opened.vectors()
        names = tuple(decode(item["name"]) for item in header["variables"])
        states = tuple(tuple(map(decode, item["states"])) for item in header["variables"])
        if not names:
            raise ValueError("it has no variables")
        cards = np.array([len(listed) for listed in states], dtype=np.int64)
        total = int(cards.sum())
        cells = int((total**2 - (cards**2).sum()) // 2)
        # before anything is made: a short file must not ask for much memory
        if len(margins) != total or len(tables) != cells:
            raise ValueError("its arrays do not fit its variables and states")
        check_size(names, states)
        return PairTables(
            names,
            states,
            _square(cards, margins, tables),
            header["rows"],
            float.fromhex(header["weight"]),
            _decode_order(header.get("order"), names),
        )


def is_counts_file(path: Path) -> bool:
    """Return whether a file begins as graftwork's own archives do; whatever else is in it.

    Examples
    --------
    >>> is_counts_file("no such file")
    False
    """
    if not os.path.isfile(path):  # what is read from a pipe is gone
        return False
    try:
        with open(path, "rb") as file:
            start = file.read(30 + len(HEADER))
    except OSError:
        return False
    return start.startswith(b"PK") and start.endswith(HEADER.encode())


def _square(cards: NDArray[np.int64], margins: Numbers, tables: Numbers) -> Numbers:
    """Return the matrix of all counts."""
    matrix: Numbers = np.zeros((len(margins),) * 2, dtype=margins.dtype)
    np.fill_diagonal(matrix, margins)
    at = 0
    for stop, size in zip(np.cumsum(cards).tolist(), cards.tolist(), strict=True):
        width = len(margins) - stop
        strip = tables[at : at + size * width].reshape(size, width)
        matrix[stop - size : stop, stop:] = strip
        matrix[stop:, stop - size : stop] = strip.T
        at += size * width
    return matrix


def _encode_order(ordered: Ordered, names: tuple[Any, ...]) -> dict[str, Any]:
    return {
        "degree": ordered.degree,
        "scores": [
            [place, [[encode(state), score] for state, score in ordered.scores[name].items()]]
            for place, name in enumerate(names)
            if name in ordered.scores
        ],
    }


def _decode_order(found: Any, names: tuple[Any, ...]) -> Ordered | None:
    """Return which variables are ordered."""
    if found is None:
        return None
    scores: dict[Any, dict[Any, float]] = {}
    for place, own in found["scores"]:
        if type(place) is not int or not 0 <= place < len(names):
            raise ValueError("it says that a variable is ordered which it does not have")
        scores[names[place]] = {decode(state): float(score) for state, score in own}
        if not np.isfinite(list(scores[names[place]].values())).all():
            raise ValueError("the scores of an ordered variable are not finite")
    if type(found["degree"]) is not int or not 1 <= found["degree"] <= 100:
        raise ValueError("the degree of its order is not a small whole number")
    return Ordered(scores, found["degree"])
