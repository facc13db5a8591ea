"""What a network says about rows: the state of a variable in each, and cells nobody observed."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from graftwork.data import Table, align
from graftwork.data.bins import cuts_of
from graftwork.data.columns import Unseen, level_of_caller
from graftwork.data.encode import palette
from graftwork.data.missing import MISSING_STATE
from graftwork.data.refill import Filled, as_columns, as_labels, refilled
from graftwork.data.values import generator
from graftwork.errors import ApproximationWarning, DataError, ParameterError
from graftwork.inference.filling import fill_rows, state_probabilities
from graftwork.inference.layout import Floats, Potentials
from graftwork.models.gaps import with_missing
from graftwork.models.inputs import find, number
from graftwork.parameters import known

if TYPE_CHECKING:
    from graftwork.models.pairwise import PairwiseMRF


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """What a network says about one variable in rows."""

    name: Hashable
    states: tuple[Hashable, ...]  # its states, without that of missing cells
    probabilities: Floats  # (rows, states)
    # (rows,) integers: the codes of the states that the rows have; -1 where they have none
    given: NDArray[np.integer[Any]]

    @property
    def codes(self) -> NDArray[np.integer[Any]]:
        """The most probable state of each row; the first of equally probable ones."""
        return np.asarray(np.argmax(self.probabilities, axis=1))


def read_rows(
    model: PairwiseMRF, X: Any, unseen: str, absent: Hashable | None = None, owner: str = "model"
) -> Table:
    """Return rows with the variables of a network; missing is the last state where it is none."""
    known("unseen", unseen, ("error", "ignore"))
    how: Unseen = "ignore" if unseen == "ignore" else "offer"
    states = with_missing(list(model.states.values()))
    return align(X, model.names, states, unseen=how, absent=absent, owner=owner)


def predict_rows(model: PairwiseMRF, rows: Table, target: Hashable) -> Predicted:
    """Return what a network says about one variable in rows that `read_rows` has read.

    Examples
    --------
    >>> from graftwork.models import PairwiseMRF
    >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [0, 1]]})
    >>> rows = read_rows(model, {"a": [0, 1]}, "error", absent="b")
    >>> predict_rows(model, rows, "b").codes
    array([0, 1])
    """
    place = find(target, model.names, number(model.names))
    name = model.names[place]
    listed = model.states[name]
    kept = [k for k, state in enumerate(listed) if state != MISSING_STATE]
    if not kept:
        raise DataError(f"{name!r} was always missing, so there is nothing to predict.")
    potentials = _observed(model, {place})
    found = state_probabilities(potentials, rows.codes, place)
    values = found.values[:, kept]
    _check_possible(np.isnan(values).any(axis=1))
    _warn_approximate(found.approximate, "loopy belief propagation summed over them")
    codes = rows.codes[place].astype(np.int64)
    lookup = np.full(len(rows.states[place]), -1)
    lookup[kept] = np.arange(len(kept))
    return Predicted(name, tuple(listed[k] for k in kept), values, lookup[codes])


def fill_table(model: PairwiseMRF, rows: Table, rng: np.random.Generator | None) -> Table:
    """Return rows that `read_rows` has read with every missing cell filled.

    Where missing is a state of the network, it is no state to fill with.

    Examples
    --------
    >>> from graftwork.models import PairwiseMRF
    >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [0, 1]]})
    >>> fill_table(model, read_rows(model, [[None, 1]], "error"), None).to_dict()
    {'a': [1], 'b': [1]}
    """
    codes = rows.codes.astype(np.int64)
    states = list(model.states.values())
    marked = {j for j, listed in enumerate(states) if MISSING_STATE in listed}
    for j in marked:
        if len(states[j]) == 1 and (codes[j] == 0).any():
            name = model.names[j]
            raise DataError(f"{name!r} was always missing, so there is nothing to fill it with.")
        codes[j][codes[j] == states[j].index(MISSING_STATE)] = len(states[j])
    found = fill_rows(_observed(model, marked), codes, rng)
    _check_possible(np.asarray((found.values < 0).any(axis=0)))
    how = "states were drawn by Gibbs sampling" if rng else "states were improved one at a time"
    _warn_approximate(found.approximate, how)
    return Table(model.names, tuple(states), found.values, rows.weights)


def _observed(model: PairwiseMRF, places: set[int]) -> Potentials:
    """Return the potentials with some variables never in the state of missing cells."""
    layout, weights = model.potentials.layout, model.potentials.weights
    listed = list(model.states.values())
    marked = [j for j in places if MISSING_STATE in listed[j]]
    if not marked:
        return model.potentials
    out = np.array(weights)
    for j in marked:
        layout.unary(out, j)[listed[j].index(MISSING_STATE)] = -np.inf
    return Potentials(layout, out)


def predict(model: PairwiseMRF, X: Any, target: Hashable, unseen: str, owner: str) -> Any:
    """Return the most probable state of a variable in each row, in a container like X."""
    found = predict_rows(model, read_rows(model, X, unseen, target, owner), target)
    return as_labels(X, found.name, found.states, found.codes)


def predict_proba(model: PairwiseMRF, X: Any, target: Hashable, unseen: str, owner: str) -> Any:
    """Return the probabilities of a variable's states in each row, in a container like X."""
    found = predict_rows(model, read_rows(model, X, unseen, target, owner), target)
    return as_columns(X, found.states, found.probabilities)


def impute(
    model: PairwiseMRF, X: Any, draw: bool, random_state: Any, unseen: str, owner: str
) -> Any:
    """Return a copy of X with its missing cells filled, in a container like X."""
    if not isinstance(draw, bool | np.bool_):
        raise ParameterError(f"draw must be True or False, got {draw!r}.")
    rng = generator(random_state) if draw else None
    rows = read_rows(model, X, unseen, owner=owner)
    full = fill_table(model, rows, rng)
    if isinstance(X, Table | str | PathLike) or _is_other_frame(X):
        return full
    return refilled(X, filled_columns(rows, full))


def _is_other_frame(X: Any) -> bool:
    """Return whether it is a frame of another library than pandas or polars."""
    frame = nw.dependencies.is_into_dataframe(X)
    known = nw.dependencies.is_pandas_dataframe(X) or nw.dependencies.is_polars_dataframe(X)
    return bool(frame and not known)


def filled_columns(rows: Table, full: Table) -> list[Filled]:
    """Return the columns that lacked cells, and what they are filled with.

    Examples
    --------
    >>> rows = Table(("a",), ((0, 1, "(missing)"),), [[0, 2]])
    >>> [column.rows for column in filled_columns(rows, Table(("a",), ((0, 1),), [[0, 1]]))]
    [array([1])]
    """
    found = []
    for j, (name, listed) in enumerate(zip(rows.names, rows.states, strict=True)):
        gone = np.flatnonzero(rows.codes[j] == listed.index(MISSING_STATE))
        if len(gone):
            kept = tuple(state for state in listed if state != MISSING_STATE)
            shift = rows.states[j].index(MISSING_STATE)
            codes = full.codes[j] - (full.codes[j] > shift)
            whole = cuts_of(kept) is not None
            found.append(Filled(j, name, gone, palette(kept)[codes], whole))
    return found


def _check_possible(bad: NDArray[np.bool_]) -> None:
    """Refuse rows that the network thinks impossible."""
    if bad.any():
        raise DataError(
            f"row {int(np.argmax(bad))}: what it has is impossible under this network, whose "
            "potentials are -inf there."
        )


def _warn_approximate(rows: NDArray[np.bool_], how: str) -> None:
    count = int(np.count_nonzero(rows))
    if count:
        warnings.warn(
            f"{count:,} of {len(rows):,} rows lack too many cells for exact inference: {how}. "
            "Their answers are approximate.",
            ApproximationWarning,
            stacklevel=level_of_caller(),
        )
