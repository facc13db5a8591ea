"""PairTables: how often states, and pairs of states, occur. Rows are not in it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graftwork.contingency.uniting import united
from graftwork.data import Table
from graftwork.data.counting import Numbers
from graftwork.data.encode import named_states
from graftwork.data.scores import Ordered
from graftwork.data.values import key, listing, plain, suggestion
from graftwork.errors import DataError, TooLargeError
from graftwork.records import as_frame

if TYPE_CHECKING:
    import pandas as pd

    from graftwork.selection.levels import Levels

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: States of all variables together: the square matrix of their counts has 8 GiB then.
MOST_STATES = 2**15
#: States of one variable: no file of counts asks for much more memory than it has bytes.
MOST_OF_ONE = 2**12
#: Counts are exact up to here in every type they meet.
MOST_ROWS = 2**53
# Sums of weights may differ by this share of the total weight.
ROUNDING = 1e-9
SMALL_COLUMNS = ("first", "second", "cells", "smallest")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairTables:
    """How often every state and every pair of states occurs in some rows.

    `graftwork.count_pairs` makes them. They add up: the counts of two parts of the rows, added
    with ``+``, are the counts of all rows, whichever states and order of variables each part has.
    `MarkovNetwork` learns from them with ``loss="likelihood"``.

    Parameters
    ----------
    names : tuple of hashable
        Names of the variables.
    states : tuple of tuple of hashable
        States of each variable; some may never occur.
    matrix : (states, states) int64 or float64
        How often two states occur together, of all states of all variables one after the other
        (Burt's table); how often each occurs is on the diagonal. Whole numbers without weights.
        Read-only.
    n_rows : int
        How many rows were counted.
    total_weight : float
        Their weight; as many as rows without weights.
    ordered : Ordered, optional
        Which variables are ordered, and the scores of their states. None means none.

    Examples
    --------
    >>> import graftwork as gw
    >>> counts = gw.count_pairs([["sun", "dry"], ["rain", "wet"], ["rain", "dry"]])
    >>> counts
    PairTables: 3 rows x 2 variables, 4 states in all
    >>> counts.table("x0", "x1")
    array([[1, 1],
           [1, 0]])
    >>> (counts + counts).n_rows
    6
    """

    names: tuple[Hashable, ...]
    states: tuple[tuple[Hashable, ...], ...]
    matrix: Numbers
    n_rows: int
    total_weight: float
    ordered: Ordered | None = None

    #: Why this is no table, for whoever is given one in place of rows.
    without_rows: ClassVar[str] = (
        "counts of pairs hold no rows, and rows are needed here; give the table that was counted."
    )

    def __post_init__(self) -> None:
        names, states = named_states(self.names, self.states)
        try:
            matrix = np.ascontiguousarray(self.matrix).view()
        except ValueError as error:
            raise DataError("the counts must be one matrix of numbers.") from error
        _check_states(names, states)
        _check_matrix(names, states, matrix, self.n_rows, self.total_weight)
        matrix.flags.writeable = False
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "total_weight", float(self.total_weight))

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that the matrix is read-only again.
        return PairTables, (
            self.names, self.states, self.matrix, self.n_rows, self.total_weight, self.ordered,
        )  # fmt: skip

    def __repr__(self) -> str:
        rows, width, total = self.n_rows, self.n_variables, len(self.matrix)
        text = (
            f"PairTables: {rows} row{'s'[: rows != 1]} x {width} variable{'s'[: width != 1]}, "
            f"{total} state{'s'[: total != 1]} in all"
        )
        return f"{text}, total weight {self.total_weight:g}" if self.weighted else text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairTables):
            return NotImplemented
        return (
            _typed(self.names) == _typed(other.names)
            and [*map(_typed, self.states)] == [*map(_typed, other.states)]
            and self.ordered == other.ordered
            and (self.n_rows, self.total_weight) == (other.n_rows, other.total_weight)
            and self.matrix.dtype == other.matrix.dtype
            and np.array_equal(self.matrix, other.matrix)
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> PairTables:
        if not isinstance(other, PairTables):
            return NotImplemented
        mine, theirs = ((each.names, each.states, each.ordered) for each in (self, other))
        states, ordered, places = united(mine, theirs)
        matrix: NDArray[Any]
        if places is None:
            matrix = np.add(self.matrix, other.matrix)
        else:
            size = sum(map(len, states))
            check_size(self.names, states)
            kind = np.promote_types(self.matrix.dtype, other.matrix.dtype)
            matrix = np.zeros((size, size), dtype=kind)
            for each, own in zip((self, other), places, strict=True):
                matrix[np.ix_(own, own)] += each.matrix
        return PairTables(
            self.names,
            states,
            matrix,
            self.n_rows + other.n_rows,
            self.total_weight + other.total_weight,
            ordered,
        )

    def __radd__(self, other: Any) -> PairTables:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # for sum()

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows that were counted, and variables."""
        return self.n_rows, self.n_variables

    @property
    def weighted(self) -> bool:
        """Whether rows had weights, so that counts are sums of weights."""
        return bool(self.matrix.dtype == np.float64)

    @property
    def cards(self) -> Ints:
        """Number of states of each variable, shape (n_variables,)."""
        return np.array([len(listed) for listed in self.states], dtype=np.int64)

    @property
    def state_counts(self) -> tuple[Floats, ...]:
        """For each variable how often each of its states occurs, (n_states,) float64."""
        margins = np.diagonal(self.matrix).astype(np.float64)
        return tuple(np.split(margins, np.cumsum(self.cards)[:-1]))

    def index(self, name: Hashable) -> int:
        """Return the position of a variable.

        Refused is a name that is not there; names that come close are listed.

        Examples
        --------
        >>> import graftwork as gw
        >>> gw.count_pairs({"a": [0, 1], "b": [0, 0]}).index("b")
        1
        """
        try:
            return self.names.index(name)
        except ValueError:
            hint = suggestion(name, self.names) or f"; the variables are {listing(self.names)}."
            raise DataError(f"the counts have no variable {name!r}{hint}") from None

    def margin(self, name: Hashable) -> Numbers:
        """Return how often each state of a variable occurs, shape (n_states,).

        Examples
        --------
        >>> import graftwork as gw
        >>> gw.count_pairs({"a": [0, 1, 1], "b": [0, 0, 1]}).margin("a")
        array([1, 2])
        """
        own = self._place(name)
        return np.diagonal(self.matrix[own, own]).copy()

    def table(self, first: Hashable, second: Hashable) -> Numbers:
        """Return how often the states of two variables occur together: of the first the rows.

        Examples
        --------
        >>> import graftwork as gw
        >>> gw.count_pairs({"a": [0, 1, 1], "b": [0, 0, 1]}).table("b", "a")
        array([[1, 1],
               [0, 1]])
        """
        found: Numbers = self.matrix[self._place(first), self._place(second)].copy()
        return found

    def take_columns(self, names: Iterable[Hashable]) -> PairTables:
        """Return the counts of some of the variables, in the order given.

        Examples
        --------
        >>> import graftwork as gw
        >>> gw.count_pairs({"a": [0, 1], "b": [0, 0], "c": [1, 1]}).take_columns(["c", "a"]).names
        ('c', 'a')
        """
        wanted = list(names)
        if not wanted:
            raise DataError("no variables were selected; counts need at least one.")
        places = [self.index(name) for name in wanted]
        cells = np.concatenate([np.r_[self._place(name)] for name in wanted])
        return replace(
            self,
            names=tuple(self.names[i] for i in places),
            states=tuple(self.states[i] for i in places),
            matrix=self.matrix[np.ix_(cells, cells)],
            ordered=_order_of(self.ordered, {self.names[i] for i in places}),
        )

    def merge_states(
        self, name: Hashable, groups: Mapping[Hashable, Iterable[Hashable]]
    ) -> PairTables:
        """Return the counts with some states of a variable taken as one.

        An order of that variable is not kept.

        Parameters
        ----------
        name : hashable
            The variable.
        groups : mapping of new state to old states
            The new state stands where the first of the old ones did; other states stay.

        Examples
        --------
        >>> import graftwork as gw
        >>> counts = gw.count_pairs({"age": ["20-59", "60-79", "80-99", "60-79"]})
        >>> merged = counts.merge_states("age", {"60 and more": ["60-79", "80-99"]})
        >>> merged.states, merged.margin("age")
        ((('20-59', '60 and more'),), array([1, 3]))
        """
        place = self.index(name)
        old = {key(state): code for code, state in enumerate(self.states[place])}
        new: dict[int, Hashable] = {}
        for into, some in groups.items():
            if isinstance(some, str | bytes) or not isinstance(some, Iterable):
                raise DataError(f"{name!r}: {into!r} needs a list of states, not {some!r}.")
            for state in map(plain, some):
                code = old.get(key(state))
                if code is None or code in new:
                    told = "is in two groups" if code in new else "is none of its states"
                    raise DataError(
                        f"{name!r}: {state!r} {told}; these are {listing(self.states[place])}."
                    )
                new[code] = plain(into)
        listed = [new.get(code, state) for code, state in enumerate(self.states[place])]
        kept = list({key(state): state for state in listed}.values())
        if any(listed.count(state) > 1 and code not in new for code, state in enumerate(listed)):
            raise DataError(f"{name!r}: a new state is the name of another one that stays.")
        codes = {key(state): code for code, state in enumerate(kept)}
        start = int(self.cards[:place].sum())
        stop, shift = start + len(listed), len(listed) - len(kept)
        cells = np.arange(len(self.matrix))
        cells[start:stop] = start + np.array([codes[key(state)] for state in listed])
        cells[stop:] -= shift
        size = len(cells) - shift
        half: Numbers = np.zeros((size, len(cells)), dtype=self.matrix.dtype)
        np.add.at(half, cells, self.matrix)
        matrix: Numbers = np.zeros((size, size), dtype=self.matrix.dtype)
        np.add.at(matrix.T, cells, half.T)
        states = (*self.states[:place], tuple(kept), *self.states[place + 1 :])
        rest = _order_of(self.ordered, {*self.names} - {self.names[place]})
        return replace(self, states=states, matrix=matrix, ordered=rest)

    def small_cells(self, below: float = 5) -> pd.DataFrame | list[dict[str, Any]]:
        """Return where few rows are counted: states, and pairs of states, that few rows have.

        Parameters
        ----------
        below : float
            Counts above 0 and below this one are few.

        Returns
        -------
        table
            One row for each variable and each pair that has such counts, those with the most
            first: ``first``, ``second`` (None for a variable by itself), ``cells``, how many there
            are, and ``smallest``. A DataFrame where pandas is installed. `merge_states` and
            `take_columns` make them fewer.

        Examples
        --------
        >>> import graftwork as gw
        >>> rows = [["sun", "dry"], ["rain", "wet"], ["rain", "dry"]] * 4
        >>> gw.count_pairs([*rows, ["snow", "wet"]]).small_cells()[["first", "second", "cells"]]
          first second  cells
        0    x0   None    2.0
        1    x0     x1    4.0
        """
        records = self.few_cells(below)
        numbers = ("cells", "smallest")
        return as_frame(records, SMALL_COLUMNS, numbers)

    def screen(self, fdr: float | None = None) -> pd.DataFrame | list[dict[str, Any]]:
        """Return which pairs of variables depend on each other, as far as two alone can tell.

        The G test of independence of every pair. Pairs of an indirect relation depend, too: which
        are direct, a network says. Weights count as numbers of rows.

        Parameters
        ----------
        fdr : float, optional
            Only pairs whose q-value is at most this.

        Returns
        -------
        table
            One row for each pair, the surest first: ``first``, ``second``, ``information`` (mutual
            information in nats), ``statistic`` (G, twice the total weight times the information),
            ``df`` (of states that occur), ``p_value``, ``q_value`` (Benjamini and Hochberg, of all
            pairs of variables that vary). A DataFrame where pandas is installed.

        Examples
        --------
        >>> import graftwork as gw
        >>> rows = [["sun", "dry", 0], ["rain", "wet", 0], ["sun", "dry", 1], ["rain", "wet", 1]]
        >>> found = gw.count_pairs(rows * 10).screen()
        >>> found["statistic"].round(2).tolist(), found["df"].tolist()
        ([55.45, 0.0, 0.0], [1.0, 1.0, 1.0])
        """
        from graftwork.contingency.screening import screen

        return screen(self, fdr)

    def lambda_levels(self, penalty: str = "group-l1") -> Levels:
        """Return the largest lambda of use, and the one that chance alone would reach.

        Both are for ``MarkovNetwork(loss="likelihood", lam=...)``.

        Parameters
        ----------
        penalty : {"group-l1", "l1"}

        Returns
        -------
        Levels
            ``largest``: from there on no network has an edge. ``noise``: what the largest score of
            any pair would be, on average, if all variables were independent.

        Examples
        --------
        >>> import graftwork as gw
        >>> levels = gw.count_pairs([["sun", "dry"], ["rain", "wet"]] * 50).lambda_levels()
        >>> round(levels.largest, 3), round(levels.noise, 3)
        (0.25, 0.015)
        """
        from graftwork.contingency.screening import lambda_levels

        return lambda_levels(self, penalty)

    def save(
        self,
        path: str | PathLike[str],
        *,
        min_count: float | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the counts to one file, completely or not at all.

        Parameters
        ----------
        path : path-like
            Such as "ward.gwc".
        min_count : float, optional
            Nothing is written if a state, or a pair of states, occurs but is counted less often.
        info : mapping, optional
            What to keep with them: text, finite numbers, lists and dicts.

        Raises
        ------
        DataError
            If there are smaller counts than `min_count`, or a name or state cannot be written.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import graftwork as gw
        >>> path = pathlib.Path(tempfile.mkdtemp(), "ward.gwc")
        >>> counts = gw.count_pairs([["sun", "dry"], ["rain", "wet"]] * 50)
        >>> counts.save(path, min_count=5)
        >>> gw.PairTables.load(path) == counts
        True
        """
        from graftwork.contingency.files import save_counts

        if min_count is not None:
            self._refuse_few(min_count)
        save_counts(path, self, info)

    @staticmethod
    def load(path: str | PathLike[str]) -> PairTables:
        """Return the counts in a file, the same as those saved.

        Raises
        ------
        ModelFileError
            If the file is missing, foreign, damaged, inconsistent, or of a newer format.
        """
        from graftwork.contingency.files import load_counts

        return load_counts(path)

    def with_order(self, ordered: Ordered | None) -> PairTables:
        """Return the same counts with other variables ordered."""
        return replace(self, ordered=ordered)

    def outline(self) -> Table:
        """Return a table of the names and states alone; its only row means nothing."""
        codes = np.zeros((self.n_variables, 1), dtype=np.uint8)
        return Table(self.names, self.states, codes, None, self.ordered)

    def _place(self, name: Hashable) -> slice:
        """Return where the states of a variable are."""
        i, ends = self.index(name), np.cumsum(self.cards)
        return slice(int(ends[i] - len(self.states[i])), int(ends[i]))

    def few_cells(self, below: float) -> list[dict[str, Any]]:
        """Return the records of `small_cells`."""
        starts = np.cumsum(self.cards) - self.cards
        alone: list[dict[str, Any]] = []
        pairs: list[dict[str, Any]] = []
        for i, start in enumerate(starts.tolist()):
            strip = self.matrix[start : start + len(self.states[i])]
            few = (strip > 0) & (strip < below)
            if not few.any():
                continue
            cells = np.add.reduceat(few.sum(axis=0), starts)
            least = np.minimum.reduceat(np.where(few, strip, np.inf).min(axis=0), starts)
            for j in np.flatnonzero(cells[i:]) + i:
                own = {"first": self.names[i], "second": None if i == j else self.names[j]}
                found = {**own, "cells": int(cells[j]), "smallest": float(least[j])}
                (alone if i == j else pairs).append(found)
        return [*sorted(alone, key=_most), *sorted(pairs, key=_most)]

    def _refuse_few(self, min_count: float) -> None:
        """Raise if something occurs, but is counted less often."""
        found = self.few_cells(min_count)
        if not found:
            return
        cells = sum(each["cells"] for each in found)
        least = min(found, key=lambda each: float(each["smallest"]))
        where = repr(least["first"])
        if least["second"] is not None:
            where += f" with {least['second']!r}"
        raise DataError(
            f"{cells:,} count{'s'[: cells != 1]} of states or pairs of states "
            f"{'is' if cells == 1 else 'are'} below min_count={min_count:g} (the smallest, "
            f"{least['smallest']:g}, is of {where}), so nothing was written; merge rare states, "
            "leave variables out, or allow smaller counts."
        )


def _most(record: Mapping[str, Any]) -> float:
    return -float(record["cells"])


def _typed(values: Iterable[Any]) -> list[tuple[type, Any]]:
    """Return values with their types: True is not 1."""
    return [(type(value), value) for value in values]


def _order_of(ordered: Ordered | None, names: set[Hashable]) -> Ordered | None:
    """Return the order of some variables only."""
    if ordered is None:
        return None
    scores = {name: own for name, own in ordered.scores.items() if name in names}
    return replace(ordered, scores=scores)


def check_size(names: tuple[Hashable, ...], states: tuple[tuple[Hashable, ...], ...]) -> None:
    """Refuse more states than pairs are counted of; return None."""
    total = sum(map(len, states))
    most = max(range(len(names)), key=lambda i: len(states[i]))
    if len(states[most]) > MOST_OF_ONE:
        raise TooLargeError(
            f"column {names[most]!r} has {len(states[most]):,} states, and pairs are counted for "
            f"at most {MOST_OF_ONE:,}; leave it out if it is an identifier, or group its states."
        )
    if total > MOST_STATES:
        raise TooLargeError(
            f"the columns have {total:,} states in all, and pairs are counted for at most "
            f"{MOST_STATES:,}: their counts would take {8 * total**2 / 2**30:.0f} GiB; leave out "
            f"identifiers, or group states (column {names[most]!r} has {len(states[most]):,})."
        )


def _check_states(names: tuple[Hashable, ...], states: tuple[tuple[Hashable, ...], ...]) -> None:
    """Refuse names or states that are none."""
    if not names or len(set(names)) != len(names) or len(states) != len(names):
        raise DataError("counts need at least one variable, distinct names, and states for each.")
    for name, listed in zip(names, states, strict=True):
        if not listed or len({*map(key, listed)}) != len(listed):
            raise DataError(f"the states of {name!r} are empty or not distinct.")
    check_size(names, states)


def _check_matrix(
    names: tuple[Hashable, ...],
    states: tuple[tuple[Hashable, ...], ...],
    matrix: Numbers,
    n_rows: int,
    total: float,
) -> None:
    """Refuse numbers that are no counts of the same rows."""
    cards = np.array([len(listed) for listed in states], dtype=np.int64)
    size = int(cards.sum())
    if matrix.shape != (size, size) or matrix.dtype not in (np.int64, np.float64):
        raise DataError(f"the counts must be a matrix of {size} x {size} numbers.")
    numbers = type(n_rows) is int and isinstance(total, int | float | np.number)
    if not numbers or not 0 < n_rows <= MOST_ROWS or not 0 < total < np.inf:
        raise DataError("the number of rows or their total weight is not valid.")
    starts, margins = np.cumsum(cards) - cards, np.diagonal(matrix)
    slack = 0.0
    if matrix.dtype == np.float64:
        slack = ROUNDING * total
    elif total != n_rows:
        raise DataError("the counts are integers, but the total weight is not the number of rows.")
    for i, start in enumerate(starts.tolist()):
        own = slice(start, start + int(cards[i]))
        strip, name = matrix[own], names[i]
        low, high = float(strip.min()), float(strip.max())
        if not (low >= 0 and high <= total + slack):
            raise DataError(f"the counts of {name!r} are not all between 0 and the total weight.")
        if not np.array_equal(strip, matrix[:, own].T):
            raise DataError(f"the counts of {name!r} are not symmetric.")
        if np.count_nonzero(strip[:, own]) > np.count_nonzero(margins[own]):
            raise DataError(f"the counts put a row in two states of {name!r} at once.")
        sums = np.add.reduceat(strip, starts, axis=1)
        if (abs(sums - margins[own][:, None]) > slack).any() or (
            abs(float(margins[own].sum()) - total) > slack
        ):
            raise DataError(f"the counts of {name!r} do not add up to those of its states.")
