"""Table: rows of categorical data as small codes, with the states they stand for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graftwork.data import export
from graftwork.data.encode import (
    are_whole,
    checked_codes,
    checked_weights,
    named_states,
    palette,
    squares_of,
)
from graftwork.data.scores import Ordered
from graftwork.data.values import listing, suggestion
from graftwork.errors import DataError

_CHUNK_ROWS = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of categorical data: names, states, one code per cell, perhaps row weights.

    `graftwork.data.as_table` makes one from a frame, an array or a list, and
    `graftwork.data.read_table` from a file. A table never changes; every method returns a new one.

    Parameters
    ----------
    names : tuple of hashable
        Names of the variables.
    states : tuple of tuple of hashable
        For each variable its states as Python values; some may never occur.
    codes : array of uint8 or uint16, shape (n_variables, n_rows)
        ``states[j][codes[j, i]]`` is the cell in row i of variable j. uint8 if every variable has
        at most 256 states. C-contiguous and read-only.
    weights : array of float64, shape (n_rows,), optional
        Weight of each row: finite, at least 0, not all 0. None means 1 for every row. Whole numbers
        are counts of equal rows; if any is not whole, all are sampling weights, whose unit does
        not matter.
    ordered : Ordered, optional
        Which variables are ordered, and the scores of their states. None means none.
    notes : tuple of str
        What reading it has to tell, in sentences: which of a file's sheets it is.
    squares : array of float64, shape (n_rows,), optional
        The sums of the squared sampling weights of what each row stands for. Default: the squares
        of weights that are not all whole; None for counts.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table(("a", "b"), ((0, 1), ("no", "yes")), np.array([[0, 1, 1], [1, 1, 0]]))
    >>> table
    Table: 3 rows x 2 variables, 2 states each
    >>> table["b"].tolist(), table[0]
    (['yes', 'yes', 'no'], (0, 'yes'))
    """

    names: tuple[Hashable, ...]
    states: tuple[tuple[Hashable, ...], ...]
    codes: NDArray[np.unsignedinteger[Any]]
    weights: NDArray[np.float64] | None = None
    ordered: Ordered | None = None
    notes: tuple[str, ...] = ()
    squares: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        names, states = named_states(self.names, self.states)
        if len(set(names)) != len(names):
            raise DataError("column names occur more than once; rename them first.")
        codes = checked_codes(self.codes, names, states)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "codes", codes)
        if self.weights is not None:
            weights = checked_weights(self.weights, codes.shape[1])
            object.__setattr__(self, "weights", weights)
            if self.squares is None and not are_whole(weights):
                object.__setattr__(self, "squares", squares_of(weights))

    @classmethod
    def trusted(
        cls,
        names: tuple[Hashable, ...],
        states: tuple[tuple[Hashable, ...], ...],
        codes: NDArray[np.unsignedinteger[Any]],
        weights: NDArray[np.float64] | None = None,
        ordered: Ordered | None = None,
        notes: tuple[str, ...] = (),
        squares: NDArray[np.float64] | None = None,
    ) -> Table:
        """Return a table of parts that are known to be right: nothing is looked at or copied.

        Examples
        --------
        >>> Table.trusted(("a",), ((0, 1),), np.array([[0, 1]], dtype=np.uint8)).n_rows
        2
        """
        table = object.__new__(cls)
        codes.flags.writeable = False
        if weights is not None:
            weights.flags.writeable = False
        values = names, states, codes, weights, ordered, notes, squares
        for name, value in zip(cls.__slots__, values, strict=True):
            object.__setattr__(table, name, value)
        return table

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that the arrays are read-only again.
        parts = self.names, self.states, self.codes, self.weights, self.ordered, self.notes
        return Table, (*parts, self.squares)

    def __repr__(self) -> str:
        cards = self.cards
        low, high = int(cards.min()), int(cards.max())
        each = f"{low} to {high} states" if low < high else f"{low} state{'s'[: low != 1]} each"
        rows, width = self.n_rows, self.n_variables
        text = f"Table: {rows} row{'s'[: rows != 1]} x {width} variable{'s'[: width != 1]}, {each}"
        return text if self.weights is None else f"{text}, total weight {self.total_weight:g}"

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_rows(self) -> int:
        """Number of rows, whatever their weights."""
        return int(self.codes.shape[1])

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.weights is not None

    @property
    def row_counts(self) -> tuple[NDArray[np.int64], ...]:
        """How many rows are in each state, for each variable."""
        pairs = zip(self.codes, self.states, strict=True)
        return tuple(np.bincount(codes, minlength=len(listed)) for codes, listed in pairs)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and variables, as of an array with one row per observation."""
        return self.n_rows, self.n_variables

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The names, as frames call them."""
        return self.names

    @property
    def cards(self) -> NDArray[np.int64]:
        """Number of states of each variable, shape (n_variables,)."""
        return np.array([len(listed) for listed in self.states], dtype=np.int64)

    @property
    def total_weight(self) -> float:
        """Sum of the row weights; the number of rows if there are none."""
        return float(self.n_rows if self.weights is None else self.weights.sum())

    @property
    def effective_rows(self) -> float:
        """Number of rows of equal weight that say as much (Kish), (sum w)^2 / sum w^2.

        Whole weights count repeated rows: then it is the total weight.

        Examples
        --------
        >>> Table(("a",), ((0, 1),), [[0, 1]], [0.5, 1.5]).effective_rows
        1.6
        >>> Table(("a",), ((0, 1),), [[0, 1]], [5, 15]).effective_rows
        20.0
        """
        total = self.total_weight
        return total if self.squares is None else total**2 / float(self.squares.sum())

    def __len__(self) -> int:
        return self.n_rows

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        palettes = [palette(listed) for listed in self.states]
        for start in range(0, self.n_rows, _CHUNK_ROWS):
            part = self.codes[:, start : start + _CHUNK_ROWS]
            columns = (p[row].tolist() for p, row in zip(palettes, part, strict=True))
            yield from zip(*columns, strict=True)

    def __getitem__(self, item: Any) -> Any:
        # table[rows, ...] is how scikit-learn's splitters take rows.
        if isinstance(item, tuple) and len(item) == 2 and item[1] is Ellipsis:
            return self.take_rows(item[0])
        if isinstance(item, slice):
            return self.take_rows(np.arange(self.n_rows)[item])
        if isinstance(item, np.ndarray | list):
            return self.take_rows(item)
        if isinstance(item, int | np.integer) and item not in self.names:
            return self.row(int(item))
        return self.column(item)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a Table cannot become an array without a copy.")
        palettes = [palette(listed) for listed in self.states]
        kinds = {p.dtype for p in palettes}
        kind = kinds.pop() if len(kinds) == 1 else np.dtype(object)
        out = np.empty(self.shape, dtype=kind)
        for j, colours in enumerate(palettes):
            out[:, j] = colours.astype(kind)[self.codes[j]]
        return out if dtype is None else out.astype(dtype, copy=False)

    def index(self, name: Hashable) -> int:
        """Return the position of a variable.

        Refused is a name that is not there; names that come close are listed.

        Examples
        --------
        >>> Table(("a", "b"), ((0,), (0,)), [[0], [0]]).index("b")
        1
        """
        try:
            return self.names.index(name)
        except ValueError:
            hint = suggestion(name, self.names) or f"; the columns are {listing(self.names)}."
            raise DataError(f"the table has no column {name!r}{hint}") from None

    def column(self, name: Hashable) -> NDArray[Any]:
        """Return one variable's cells.

        int64, float64 or bool if all its states are of that type, otherwise objects.

        Examples
        --------
        >>> Table(("a",), (("no", "yes"),), [[1, 0]]).column("a").tolist()
        ['yes', 'no']
        """
        j = self.index(name)
        cells: NDArray[Any] = palette(self.states[j])[self.codes[j]]
        return cells

    def row(self, i: int) -> tuple[Any, ...]:
        """Return one row.

        Rows count from 0, negative numbers from the end.

        Examples
        --------
        >>> Table(("a", "b"), ((0, 1), ("x", "y")), [[0, 1], [1, 1]]).row(-1)
        (1, 'y')
        """
        if not -self.n_rows <= i < self.n_rows:
            raise IndexError(f"row {i} of a table of {self.n_rows} rows.")
        cells = self.codes[:, i].tolist()
        return tuple(listed[code] for listed, code in zip(self.states, cells, strict=True))

    def observed(self) -> list[NDArray[np.float64]]:
        """Return how often each state occurs.

        For each variable the weight of the rows in each of its states, shape (n_states,).

        Examples
        --------
        >>> [c.tolist() for c in Table(("a",), (("x", "y", "z"),), [[0, 2, 2]]).observed()]
        [[1.0, 0.0, 2.0]]
        """
        rows = zip(self.codes, self.states, strict=True)
        return [
            np.bincount(row, weights=self.weights, minlength=len(listed)).astype(np.float64)
            for row, listed in rows
        ]

    def take_rows(self, rows: ArrayLike) -> Table:
        """Return a table of some of the rows; the states stay.

        `rows` are row numbers, in the order wanted and repeated if wanted, or a mask of bools;
        weights go with their rows. One row at least must be taken.

        Examples
        --------
        >>> Table(("a",), ((0, 1),), [[0, 1, 1]]).take_rows([2, 2])["a"].tolist()
        [1, 1]
        """
        picked = np.atleast_1d(np.asarray(rows))
        if picked.dtype.kind == "b":
            if picked.shape != (self.n_rows,):
                raise DataError(f"a row mask needs {self.n_rows} entries, not {picked.size}.")
            picked = np.flatnonzero(picked)
        if picked.size == 0:
            raise DataError("no rows were taken; a table needs at least one.")
        if picked.dtype.kind not in "iu" or picked.ndim != 1:
            raise DataError("rows must be a list of row numbers or a mask of bools.")
        if picked.min() < -self.n_rows or picked.max() >= self.n_rows:
            raise DataError(f"row numbers must lie between 0 and {self.n_rows - 1}.")
        weights = None if self.weights is None else self.weights[picked]
        squares = None if self.squares is None else self.squares[picked]
        codes = np.take(self.codes, picked, axis=1)
        return Table(self.names, self.states, codes, weights, self.ordered, self.notes, squares)

    def take_columns(self, names: Iterable[Hashable]) -> Table:
        """Return a table of some of the variables, in the order given.

        The rows and their weights are the same; an unknown name is refused.

        Examples
        --------
        >>> Table(("a", "b"), ((0, 1), (0,)), [[0, 1], [0, 0]]).take_columns(["b"]).names
        ('b',)
        """
        places = [self.index(name) for name in names]
        kept = tuple(self.names[j] for j in places)
        states = tuple(self.states[j] for j in places)
        codes = self.codes[places]
        rest = self.weights, self.ordered, self.notes, self.squares
        return Table(kept, states, codes, *rest)

    def with_weights(
        self, weights: ArrayLike | None, squares: NDArray[np.float64] | None = None
    ) -> Table:
        """Return the same rows with other weights.

        Weights are finite, at least 0 and not all 0; None takes them away. In place of sampling
        weights come others, whole or not.

        Examples
        --------
        >>> Table(("a",), ((0, 1),), [[0, 1]]).with_weights([2, 0.5]).total_weight
        2.5
        """
        given = None if weights is None else checked_weights(weights, self.n_rows)
        if given is not None and squares is None and self.squares is not None:
            squares = squares_of(given)
        rest = self.ordered, self.notes, squares
        return Table(self.names, self.states, self.codes, given, *rest)

    def with_order(self, ordered: Ordered | None) -> Table:
        """Return the same rows with other variables ordered.

        Examples
        --------
        >>> from graftwork.data.scores import Ordered
        >>> table = Table(("a",), (("low", "high"),), [[0, 1]])
        >>> table.with_order(Ordered.by_rank({"a": ("low", "high")})).ordered.scores
        {'a': {'low': 0.0, 'high': 1.0}}
        """
        parts = self.names, self.states, self.codes, self.weights
        return Table(*parts, ordered, self.notes, self.squares)

    def split(self, fraction: float, rng: np.random.Generator | int) -> tuple[Table, Table]:
        """Return two tables that share the rows out at random; both keep all states.

        Parameters
        ----------
        fraction : float
            Share of the rows in the first table, between 0 and 1.
        rng : numpy.random.Generator or int
            Source of randomness, or a seed for one.

        Returns
        -------
        first, second : Table
            At least one row each, in the order they had.

        Examples
        --------
        >>> table = Table(("a",), ((0, 1),), [[0, 1, 1, 0]])
        >>> first, second = table.split(0.75, np.random.default_rng(0))
        >>> first.n_rows, second.n_rows
        (3, 1)
        """
        if not 0 < fraction < 1:
            raise DataError(f"fraction is {fraction}, but it must lie between 0 and 1.")
        if self.n_rows < 2:
            raise DataError("a table of one row cannot be split.")
        count = min(max(round(fraction * self.n_rows), 1), self.n_rows - 1)
        order = np.random.default_rng(rng).permutation(self.n_rows)
        return self.take_rows(np.sort(order[:count])), self.take_rows(np.sort(order[count:]))

    def to_dict(self) -> dict[Hashable, list[Any]]:
        """Return the columns as lists.

        Examples
        --------
        >>> Table(("a",), (("x", "y"),), [[1, 0]]).to_dict()
        {'a': ['y', 'x']}
        """
        parts = zip(self.names, self.states, self.codes, strict=True)
        return {name: palette(listed)[row].tolist() for name, listed, row in parts}

    to_pandas = export.to_pandas
    to_polars = export.to_polars
    write_csv = export.write_csv
