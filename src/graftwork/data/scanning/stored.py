"""StoredTable: a table of any length, packed in a folder, whose parts are tables in memory."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graftwork.data.encode import small
from graftwork.data.scanning.folder import read_part
from graftwork.data.scores import Ordered
from graftwork.data.scratch import Hold
from graftwork.data.table import Table
from graftwork.errors import DataError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StoredTable:
    """The rows of a scanned source, packed in a folder.

    ``scan(...).store()`` makes one. It never changes. `part` gives some of the rows as an ordinary
    `Table` with the names and states of the whole. `close`, the end of a ``with`` block, of the
    last reference or of the process removes the folder, unless it lies in a `workdir`. A pickled
    copy reads the same files, and never removes them.

    Attributes
    ----------
    names, states, ordered, notes
        As in `Table`; of missing cells the state ``"(missing)"`` is the last of its variable.
    n_rows : int
    total_weight : float
        Sum of the row weights; the number of rows if there are none.
    weighted : bool
        Whether rows have weights.
    memory : int
        Bytes that may be used, as `scan` was told.
    state_counts : tuple of (s_i,) float64
        The weight of the rows in each state.
    row_counts : tuple of (s_i,) int64
        How many rows these are.
    part_rows : tuple of int
        Rows of each part.
    first_seen : tuple of tuple of str
        Where each state was met first: file, row group and row; empty for one that never occurs.
    paths : Path
        The folder.

    Examples
    --------
    >>> import graftwork as gw
    >>> with gw.scan([{"a": ["no", "yes"]}, {"a": ["no", "no"]}]).store() as stored:
    ...     stored, stored.state_counts[0].tolist(), stored.part(0)["a"].tolist()
    (StoredTable: 4 rows x 1 variable in 1 part, 2 states each, [3.0, 1.0],
     ['no', 'yes', 'no', 'no'])
    """

    names: tuple[Hashable, ...]
    states: tuple[tuple[Hashable, ...], ...]
    ordered: Ordered | None
    notes: tuple[str, ...]
    n_rows: int
    total_weight: float
    weighted: bool
    memory: int
    state_counts: tuple[Floats, ...]
    row_counts: tuple[Ints, ...]
    part_rows: tuple[int, ...]
    first_seen: tuple[tuple[str, ...], ...]
    paths: Path
    bits: tuple[tuple[int, ...], ...]
    lookups: tuple[NDArray[Any], ...]
    hold: Hold | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the hold: only who wrote the folder removes it.
        return StoredTable, tuple(getattr(self, each.name) for each in fields(self)[:-1])

    def __repr__(self) -> str:
        low, high = int(self.cards.min()), int(self.cards.max())
        each = f"{low} to {high} states" if low < high else f"{low} state{'s'[: low != 1]} each"
        counts = (self.n_rows, "row"), (self.n_variables, "variable"), (self.n_parts, "part")
        rows, width, parts = (f"{n} {word}{'s'[: n != 1]}" for n, word in counts)
        text = f"StoredTable: {rows} x {width} in {parts}, {each}"
        return f"{text}, total weight {self.total_weight:g}" if self.weighted else text

    def __len__(self) -> int:
        return self.n_rows

    def __enter__(self) -> StoredTable:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder, unless it lies in a `workdir`; parts cannot be read any more."""
        if self.hold is not None:
            self.hold.close()

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and variables."""
        return self.n_rows, self.n_variables

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The names, as frames call them."""
        return self.names

    @property
    def cards(self) -> Ints:
        """Number of states of each variable, shape (n_variables,)."""
        return np.array([len(listed) for listed in self.states], dtype=np.int64)

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return len(self.part_rows)

    def part(self, k: int) -> Table:
        """Return the rows of a part, with the names and states of the whole table.

        Examples
        --------
        >>> import graftwork as gw
        >>> stored = gw.scan({"a": [1, 2, 3]}, part_rows=2).store()
        >>> stored.part_rows, stored.part(1)["a"].tolist()
        ((2, 1), [3])
        """
        codes, weights = self._cells(k)
        return Table.trusted(self.names, self.states, codes, weights, self.ordered, self.notes)

    def _cells(self, k: int) -> tuple[NDArray[Any], Floats | None]:
        if not -self.n_parts <= k < self.n_parts:
            raise IndexError(f"part {k} of a table of {self.n_parts} parts.")
        k %= self.n_parts
        part = read_part(self.paths, k, self.part_rows[k], self.bits[k], self.weighted)
        return part.unpacked(self.lookups), part.weights

    def take_rows(self, rows: ArrayLike) -> Table:
        """Return some of the rows as a table in memory; all states stay.

        `rows` are row numbers, in the order wanted and repeated if wanted, or a mask of bools, as
        in `Table.take_rows`.

        Examples
        --------
        >>> import graftwork as gw
        >>> stored = gw.scan({"a": [1, 2, 3]}, part_rows=2).store()
        >>> stored.take_rows([2, 0, 0])["a"].tolist()
        [3, 1, 1]
        """
        picked = np.atleast_1d(np.asarray(rows))
        if picked.dtype.kind == "b":
            if picked.shape != (self.n_rows,):
                raise DataError(f"a row mask needs {self.n_rows} entries, not {picked.size}.")
            picked = np.flatnonzero(picked)
        if picked.size == 0:
            raise DataError("no rows were selected; a table needs at least one.")
        if picked.dtype.kind not in "iu" or picked.ndim != 1:
            raise DataError("rows must be a list of row numbers or a mask of bools.")
        if picked.min() < -self.n_rows or picked.max() >= self.n_rows:
            raise DataError(f"row numbers must lie between 0 and {self.n_rows - 1}.")
        picked = picked.astype(np.int64) % self.n_rows
        order = np.argsort(picked, kind="stable")
        ends = np.cumsum(self.part_rows)
        bounds = np.searchsorted(picked[order], ends)
        wide = int(self.cards.max()) > 1 << 8
        codes = np.empty((self.n_variables, len(picked)), dtype=np.uint16 if wide else np.uint8)
        weights = np.empty(len(picked)) if self.weighted else None
        start = 0
        for k, stop in enumerate(bounds.tolist()):
            if stop > start:
                here = order[start:stop]
                local = picked[here] - (ends[k] - self.part_rows[k])
                cells, own = self._cells(k)
                codes[:, here] = cells[:, local]
                if weights is not None and own is not None:
                    weights[here] = own[local]
            start = stop
        return Table(self.names, self.states, codes, weights, self.ordered, self.notes)

    def sample_rows(self, share: float, seed: int) -> Table:
        """Return about a share of the rows, drawn at random, as a table in memory.

        They are those with ``np.random.default_rng(seed).random(n_rows) < share``.

        Examples
        --------
        >>> import graftwork as gw
        >>> gw.scan({"a": [1, 2, 3, 4]}).store().sample_rows(0.5, 0)["a"].tolist()
        [2, 3, 4]
        """
        if not 0 < share <= 1:
            raise DataError(f"share is {share}, but it must lie between 0 and 1.")
        return self.take_rows(np.random.default_rng(seed).random(self.n_rows) < share)

    def with_order(self, ordered: Ordered | None) -> StoredTable:
        """Return the same rows with other variables ordered.

        Examples
        --------
        >>> import graftwork as gw
        >>> from graftwork.data.scores import Ordered
        >>> stored = gw.scan({"a": ["low", "high"]}).store()
        >>> stored.with_order(Ordered.by_rank({"a": ("low", "high")})).ordered.scores
        {'a': {'low': 0.0, 'high': 1.0}}
        """
        return replace(self, ordered=ordered)


def small_lookups(
    lookups: tuple[NDArray[Any], ...], states: tuple[tuple[Hashable, ...], ...]
) -> tuple[NDArray[Any], ...]:
    """Return final codes of provisional ones in the smallest types, never empty."""
    out = []
    for lookup, listed in zip(lookups, states, strict=True):
        full = lookup if len(lookup) else np.zeros(1, dtype=np.uint8)
        out.append(small(full, len(listed)))
    return tuple(out)
