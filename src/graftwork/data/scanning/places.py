"""Where rows are: in which file, row group, line or batch, for errors."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """The rows of one batch, in words.

    Examples
    --------
    >>> Place("a.parquet, row group 1", 1000)(7)
    'a.parquet, row group 1, row 1007'
    """

    label: str  # the file and row group, or the batch; empty for rows in memory
    start: int = 0  # the number of its first row, or line
    unit: str = "row"  # "row" or "line"
    # the line of each row, where they do not follow each other
    lines: NDArray[np.int64] | None = None

    def __call__(self, row: int) -> str:
        """Return where a row of the batch is."""
        at = self.start + row if self.lines is None else int(self.lines[row])
        return f"{self.label}, {self.unit} {at}" if self.label else f"{self.unit} {at}"


@dataclass(slots=True)
class Places:
    """The batches read so far, by the numbers of their rows in the whole.

    Examples
    --------
    >>> places = Places()
    >>> places.add(Place("a.csv", 2, "line"), 10)
    >>> places.add(Place("b.csv", 2, "line"), 5)
    >>> places.n_rows, places.label(12), places(12)
    (15, 'b.csv', 'b.csv, line 4')
    """

    starts: list[int] = field(default_factory=list)
    batches: list[Place] = field(default_factory=list)
    n_rows: int = 0

    def add(self, place: Place, rows: int) -> None:
        """Add a batch of some rows."""
        self.starts.append(self.n_rows)
        self.batches.append(place)
        self.n_rows += rows

    def label(self, row: int) -> str:
        """Return the batch a row is in."""
        return self.batches[bisect_right(self.starts, row) - 1].label

    def __call__(self, row: int) -> str:
        """Return where a row is."""
        k = bisect_right(self.starts, row) - 1
        return self.batches[k](row - self.starts[k])
