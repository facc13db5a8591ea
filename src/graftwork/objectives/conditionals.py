"""Conditional probabilities of some variables in every row, kept while they fit in memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graftwork.inference.layout import Floats, Ints, Layout

Fill = Callable[[Ints, Ints, Floats], None]


class Conditionals:
    """The conditionals of one point, filled when they are asked for.

    Parameters
    ----------
    layout : Layout
        The network's.
    connected : (k,) int64
        The variables that have neighbours: conditionals of others are the same in every row.
    rows : int
        How many rows there are.
    memory : int
        Bytes that all conditionals may take; with more, pairs come in groups that need fewer.
    """

    def __init__(self, layout: Layout, connected: Ints, rows: int, memory: int) -> None:
        self._layout, self._connected, self._rows = layout, connected, rows
        self._memory = memory
        self._slots: Ints | None = None
        self._values: Floats | None = None

    def groups(self, pairs: Ints, fill: Fill) -> list[tuple[Ints | slice, Ints, Floats]]:
        """Return pairs grouped so that the conditionals of each group fit in memory.

        Usually there is one group, and its conditionals are kept for the next batch. Each group has
        which pairs they are, where the conditionals of every variable start (-1 for none), and the
        conditionals.

        Parameters
        ----------
        pairs : (k, 2) int64
            Which pairs of variables are asked for.
        fill : function
            Called with nodes, where each starts, and the array to fill, shape (states, rows): all
            states of a node but the last, times the row's weight. (It is not kept: points refer to
            their conditionals, and a circle would keep both alive.)
        """
        layout, connected = self._layout, self._connected
        wanted = np.intersect1d(np.unique(pairs), connected)
        size = np.cumsum(layout.cards[connected] - 1) * self._rows * 8
        if not len(size) or size[-1] <= self._memory:
            slots, values = self._extend(wanted, fill)
            return [(slice(None), slots, values)]
        block = np.zeros(layout.n_variables, dtype=np.int64)
        block[connected] = size // max(1, self._memory // 2)
        groups: list[tuple[Ints | slice, Ints, Floats]] = []
        block_of_pair = np.sort(block[pairs], axis=1)
        for blocks in np.unique(block_of_pair, axis=0):
            members = np.flatnonzero((block_of_pair == blocks).all(axis=1))
            nodes = np.intersect1d(np.unique(pairs[members]), connected)
            groups.append((members, *self._compute(nodes, fill)))
        return groups

    def _extend(self, nodes: Ints, fill: Fill) -> tuple[Ints, Floats]:
        """Return the kept conditionals, with those of these nodes among them."""
        if self._slots is None or self._values is None:
            self._slots = np.full(self._layout.n_variables, -1)
            self._values = np.zeros((0, self._rows))
        missing = nodes[self._slots[nodes] < 0]
        if len(missing):
            # A batch that wants many nodes will be followed by others: fill all at once.
            many = len(missing) > len(self._connected) // 8
            nodes = self._connected if many else np.union1d(
                np.flatnonzero(self._slots >= 0), missing
            )  # fmt: skip
            self._slots, self._values = self._compute(nodes, fill)
        return self._slots, self._values

    def _compute(self, nodes: Ints, fill: Fill) -> tuple[Ints, Floats]:
        sizes = self._layout.cards[nodes] - 1
        slots = np.full(self._layout.n_variables, -1)
        slots[nodes] = np.cumsum(sizes) - sizes
        values = np.empty((int(sizes.sum()), self._rows))
        fill(nodes, slots[nodes], values)
        return slots, values


class KnownConditionals:
    """Conditionals by variable, each good until the variable's weights change (another stamp).

    Parameters
    ----------
    memory : int
        Bytes they may take; beyond, the oldest are forgotten.
    """

    def __init__(self, memory: int) -> None:
        self._memory, self._size = memory, 0
        self._kept: dict[int, tuple[int, Floats]] = {}

    def get(self, node: int, stamp: int) -> Floats | None:
        """Return what is known of a variable with this stamp, if anything."""
        kept = self._kept.get(node)
        return kept[1] if kept is not None and kept[0] == stamp else None

    def put(self, node: int, stamp: int, values: Floats) -> None:
        """Keep a variable's conditionals, in place of older ones."""
        old = self._kept.pop(node, None)
        self._size += values.nbytes - (0 if old is None else old[1].nbytes)
        self._kept[node] = stamp, values
        while self._size > self._memory and len(self._kept) > 1:
            _, oldest = self._kept.pop(next(iter(self._kept)))
            self._size -= oldest.nbytes
