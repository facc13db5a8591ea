"""PlacedTable: a table whose rows are in parts, wherever an engine has them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encode import are_whole
from graftwork.data.engines.here import Here
from graftwork.data.missing import MISSING_STATE, missing_cells
from graftwork.data.parts import Add, Engine, Handle, join
from graftwork.data.scores import Ordered
from graftwork.data.table import Table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PlacedTable:
    """A table whose rows are in parts.

    It has what a `Table` says of all its rows, and no rows: these are looked at part by part.
    """

    # names, states, ordered, notes: as in `Table`; "(missing)" is the last state of a variable
    # that has it
    names: tuple[Hashable, ...]
    states: tuple[tuple[Hashable, ...], ...]
    ordered: Ordered | None
    notes: tuple[str, ...]
    state_counts: tuple[Floats, ...]  # weight of the rows in each state
    row_counts: tuple[Ints, ...]  # how many rows these are
    part_rows: tuple[int, ...]  # rows of each part
    total_weight: float
    weighted: bool
    memory: int  # bytes that may be used where a part is
    engine: Engine
    handles: list[Handle]  # of a `Table` each, with all names and states
    owner: Any = field(default=None, repr=False)  # what must not go while parts are looked at
    # where each state was met first, as in `StoredTable`; empty where nobody knows
    first_seen: tuple[tuple[str, ...], ...] = field(default=(), repr=False)

    @staticmethod
    def of(table: Any, engine: Engine | None = None, n_jobs: int | None = None) -> PlacedTable:
        """Return a stored table (see `graftwork.scan`) whose parts an engine reads."""
        engine = Here(n_jobs) if engine is None else engine
        makers = [partial(_read, table, k) for k in range(table.n_parts)]
        return PlacedTable(
            table.names, table.states, table.ordered, table.notes, table.state_counts,
            table.row_counts, table.part_rows, table.total_weight, table.weighted, table.memory,
            engine, engine.place(makers), table, table.first_seen,
        )  # fmt: skip

    @staticmethod
    def cut(
        table: Table, rows: int, engine: Engine | None = None, memory: int = 2 * 10**9
    ) -> PlacedTable:
        """Return a table that is in memory, in parts of some rows each; one part is the table."""
        engine = Here(1) if engine is None else engine
        pieces = [table]
        if rows < table.n_rows:
            cuts = range(0, table.n_rows, rows)
            pieces = [table.take_rows(np.arange(k, min(k + rows, table.n_rows))) for k in cuts]
        placed = PlacedTable(
            table.names, table.states, table.ordered, table.notes, (), (), (), 0.0,
            table.weights is not None, memory, engine,
            engine.place([partial(_same, piece) for piece in pieces]),
        )  # fmt: skip
        return placed.counted()

    @property
    def effective_rows(self) -> float:
        """The total weight: rows in parts have no sampling weights, or nothing asks."""
        return self.total_weight

    @property
    def has_sampling_weights(self) -> bool:
        """Whether rows have weights that are not all whole, and so no counts."""
        return self.weighted and bool(self.over_tables(_not_whole))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.part_rows)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def cards(self) -> Ints:
        """Number of states of each variable."""
        return np.array([len(listed) for listed in self.states], dtype=np.int64)

    def __len__(self) -> int:
        return self.n_rows

    def observed(self) -> list[Floats]:
        """Return the weight of the rows in each state, as `Table.observed` does."""
        return list(self.state_counts)

    def with_order(self, ordered: Ordered | None) -> PlacedTable:
        """Return the same rows with other variables ordered."""
        return replace(self, ordered=ordered)

    def over_tables(self, function: Callable[..., Any], *more: Any, add: Add | None = None) -> Any:
        """Return the sum of a function of a `Table` over the parts."""
        return self.engine.total(self.handles, function, *more, add=add)

    def changed(
        self,
        function: Callable[[Table], Table],
        states: Iterable[tuple[Hashable, ...]] | None = None,
    ) -> PlacedTable:
        """Return the table whose parts are what a function makes of these."""
        handles = self.engine.map(self.handles, function)
        own = self.states if states is None else tuple(states)
        return replace(self, handles=handles, states=own, first_seen=()).counted()

    def count_missing(self) -> tuple[int, int]:
        """Return how many cells are missing, and in how many rows."""
        gaps = [MISSING_STATE in listed for listed in self.states]
        counts = zip(self.row_counts, gaps, strict=True)
        cells = sum(int(rows[-1]) for rows, gap in counts if gap)
        return cells, int(self.over_tables(_incomplete)) if cells else 0

    def sample_rows(self, share: float, seed: int) -> Table:
        """Return about a share of the rows in memory: those that the seed takes of a Table."""
        starts = np.cumsum([0, *self.part_rows])[:-1].tolist()
        chosen = self.engine.map(
            self.handles, _sampled, share, seed, own=[(start,) for start in starts]
        )
        found = self.engine.total(chosen, _listed, add=join)
        codes = np.concatenate([codes for codes, _ in found], axis=1)
        weights = np.concatenate([own for _, own in found]) if self.weighted else None
        return Table(self.names, self.states, codes, weights, self.ordered)

    def without_sample(self, share: float, seed: int) -> PlacedTable:
        """Return the rows that `sample_rows` does not take.

        Examples
        --------
        >>> table = Table(("a",), ((0, 1, 2, 3),), [[0, 1, 2, 3]])
        >>> PlacedTable.cut(table, 2).without_sample(0.5, 0).n_rows
        1
        """
        starts = np.cumsum([0, *self.part_rows])[:-1].tolist()
        own = [(start,) for start in starts]
        handles = self.engine.map(self.handles, _not_sampled, share, seed, own=own)
        return replace(self, handles=handles).counted()

    def counted(self) -> PlacedTable:
        """Return the table with its rows counted anew."""
        rows = self.over_tables(_rows, add=join)
        counts, weights = self.over_tables(_counts)
        return replace(
            self, part_rows=tuple(rows), row_counts=tuple(counts), state_counts=tuple(weights),
            total_weight=float(weights[0].sum()),
        )  # fmt: skip


#: Rows in memory, or in parts wherever they are.
AnyTable = Table | PlacedTable


def _read(stored: Any, number: int) -> Table:
    table: Table = stored.part(number)
    return table


def _same(table: Table) -> Table:
    return table


def _rows(table: Table) -> list[int]:
    return [table.n_rows]


def _not_whole(table: Table) -> int:
    return 0 if table.weights is None else int(not are_whole(table.weights))


def _counts(table: Table) -> tuple[list[Ints], list[Floats]]:
    """Return how many rows are in each state, and their weight."""
    pairs = list(zip(table.codes, table.cards.tolist(), strict=True))
    rows = [np.bincount(codes, minlength=s) for codes, s in pairs]
    if table.weights is None:
        return rows, [own.astype(np.float64) for own in rows]
    weights = [np.bincount(codes, table.weights, s) for codes, s in pairs]
    return rows, [own.astype(np.float64, copy=False) for own in weights]


def _incomplete(table: Table) -> int:
    return int(missing_cells(table).any(axis=0).sum())


def _sampled(table: Table, start: int, share: float, seed: int) -> Any:
    """Return the codes and weights of some rows, of which ``start`` are before these."""
    chosen = _chosen(table, start, share, seed)
    codes = np.compress(chosen, table.codes, axis=1)
    return codes, None if table.weights is None else table.weights[chosen]


def _not_sampled(table: Table, start: int, share: float, seed: int) -> Table:
    """Return the rows that `_sampled` does not take, perhaps none."""
    rest = ~_chosen(table, start, share, seed)
    codes = np.compress(rest, table.codes, axis=1)
    weights = None if table.weights is None else table.weights[rest]
    return Table.trusted(table.names, table.states, codes, weights, table.ordered)


def _chosen(table: Table, start: int, share: float, seed: int) -> NDArray[np.bool_]:
    """Return which rows are drawn, of which ``start`` are before these."""
    generator = np.random.PCG64(seed)
    generator.advance(start)
    return np.random.Generator(generator).random(table.n_rows) < share


def _listed(found: Any) -> list[Any]:
    return [found]
