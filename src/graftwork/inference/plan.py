"""An elimination order compiled to the index arrays the exact kernels run on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from graftwork.inference.elimination import Cost, Elimination, eliminate
from graftwork.inference.layout import Ints, Layout
from graftwork.inference.ragged import offsets


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """One table per variable in elimination order (see `graftwork.kernels.junction`).

    Attributes
    ----------
    cost : Cost
    variable : (n,) int64
        Which variable each step eliminates.
    position : (n,) int64
        The step of each variable.
    steps, maps, rows, row_ptr : int64
        What the kernels read; `rows` places each edge's table in the step that owns it.
    sep_ptr : (n + 1,) int64
    sep_variables, sep_strides : int64
        The separator of each step, by elimination, and each variable's stride in its cells.

    Examples
    --------
    >>> plan = compile_plan(Layout.of([2, 3], [(0, 1)]))
    >>> plan.variable, plan.cost.total_cells
    (array([0, 1]), 9)
    """

    cost: Cost
    variable: Ints
    position: Ints
    steps: Ints
    maps: Ints
    rows: Ints
    row_ptr: Ints
    sep_ptr: Ints
    sep_variables: Ints
    sep_strides: Ints

    @property
    def n_cells(self) -> int:
        """Cells of all tables together."""
        return int((self.steps[:, 1] * self.steps[:, 2]).sum())

    @property
    def widest(self) -> int:
        """Cells of the largest separator."""
        return int(self.steps[:, 2].max(initial=1))

    def place(self, pairs: Ints, starts: Ints, cards: Ints) -> tuple[Ints, Ints, Ints]:
        """Return where steps read or write the tables of pairs that share a clique.

        Parameters
        ----------
        pairs : (k, 2) int64
        starts : (k,) int64
            Where each row-major ``s_i x s_j`` table starts.
        cards : (n,) int64

        Returns
        -------
        rows : (number found, 5) int64, by step
        row_ptr : (n + 1,) int64
        found : (k,) bool
            Which pairs share a clique.
        """
        step_i, step_j = self.position[pairs[:, 0]], self.position[pairs[:, 1]]
        first_owns = step_i < step_j
        owner = np.where(first_owns, step_i, step_j)
        own = np.where(first_owns, pairs[:, 0], pairs[:, 1])
        other = np.where(first_owns, pairs[:, 1], pairs[:, 0])
        slot, found = self._slot(owner, other)
        own_stride = np.where(first_owns, cards[pairs[:, 1]], 1)
        other_stride = np.where(first_owns, 1, cards[own])
        stride = self.sep_strides[slot] if len(self.sep_strides) else slot
        rows = np.stack([starts, own_stride, other_stride, stride, cards[other]], axis=1)
        by_step = np.flatnonzero(found)[np.argsort(owner[found], kind="stable")]
        counts = np.bincount(owner[found], minlength=len(self.variable))
        return rows[by_step], offsets(counts), found

    def _slot(self, steps: Ints, variables: Ints) -> tuple[Ints, Ints]:
        """Return where each variable stands in the separator of its step, and whether it does."""
        n = len(self.variable)
        owners = np.repeat(np.arange(n), np.diff(self.sep_ptr))
        # Separators lie by step and, within, by position: one sorted key finds them all.
        keys = owners * n + self.position[self.sep_variables]
        wanted = steps * n + self.position[variables]
        slot = np.searchsorted(keys, wanted)
        slot[slot == len(keys)] = 0
        found = keys[slot] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)
        return slot, found


def compile_plan(layout: Layout) -> Plan:
    """Return the plan of a layout; the last few are remembered.

    Examples
    --------
    >>> compile_plan(Layout.of([2, 2, 2])).steps[:, 4]
    array([-1, -1, -1])
    """
    return _compile(layout.cards.tobytes(), layout.edges.tobytes())


@lru_cache(maxsize=8)
def _compile(cards_bytes: bytes, edges_bytes: bytes) -> Plan:
    cards = np.frombuffer(cards_bytes, dtype=np.int64)
    edges = np.frombuffer(edges_bytes, dtype=np.int64).reshape(-1, 2)
    layout = Layout.of(cards, edges)
    elimination = eliminate(layout)
    variables, separators, position = _sorted_separators(elimination)
    steps, maps, strides = _steps(layout, variables, separators, position)
    plan = Plan(
        cost=elimination.cost,
        variable=np.array(variables, dtype=np.int64),
        position=np.array(position, dtype=np.int64),
        steps=steps,
        maps=maps,
        rows=np.zeros((0, 5), dtype=np.int64),
        row_ptr=np.zeros(len(cards) + 1, dtype=np.int64),
        sep_ptr=offsets(np.array([len(s) for s in separators], dtype=np.int64)),
        sep_variables=np.array([v for s in separators for v in s], dtype=np.int64),
        sep_strides=np.array(strides, dtype=np.int64),
    )
    rows, row_ptr, _ = plan.place(edges, layout.edge_offsets[:-1], cards)
    return Plan(
        plan.cost, plan.variable, plan.position, steps, maps, rows, row_ptr,
        plan.sep_ptr, plan.sep_variables, plan.sep_strides,
    )  # fmt: skip


def _sorted_separators(
    elimination: Elimination,
) -> tuple[list[int], list[list[int]], list[int]]:
    """Return the full order, each separator by elimination, and the position of each variable."""
    tail = elimination.tail
    variables = elimination.order + tail
    position = [0] * len(variables)
    for k, v in enumerate(variables):
        position[v] = k
    separators = [sorted(s, key=position.__getitem__) for s in elimination.separators]
    separators += [tail[k + 1 :] for k in range(len(tail))]
    return variables, separators, position


def _steps(
    layout: Layout, variables: list[int], separators: list[list[int]], position: list[int]
) -> tuple[Ints, Ints, list[int]]:
    """Return the step rows, the maps from parents' cells, and the separators' strides."""
    cards, unary = layout.cards.tolist(), layout.unary_offsets.tolist()
    maps: list[int] = []
    rows: list[tuple[int, ...]] = []
    all_strides: list[int] = []
    cell = sep_cell = 0
    for v, separator in zip(variables, separators, strict=True):
        strides = _strides([cards[u] for u in separator])
        all_strides += strides
        cells = math.prod(cards[u] for u in separator)
        parent, outer, inner = -1, [0], [0]
        if separator:
            parent = position[separator[0]]
            axis = dict(zip(separator, strides, strict=True))
            clique = [separator[0], *separators[parent]]
            outer, inner = _split_map([(cards[u], axis.get(u, 0)) for u in clique])
        at = len(maps)
        maps += outer
        maps += inner
        split = (len(outer), len(inner), at, at + len(outer))
        rows.append((unary[v], cards[v], cells, cell, parent, *split, sep_cell))
        cell, sep_cell = cell + cards[v] * cells, sep_cell + cells
    steps = np.array(rows, dtype=np.int64).reshape(-1, 10)
    return steps, np.array(maps, dtype=np.int64), all_strides


def _strides(cards: list[int]) -> list[int]:
    """Return the row-major strides of these axes."""
    out, stride = [], 1
    for s in reversed(cards):
        out.append(stride)
        stride *= s
    return out[::-1]


def _split_map(axes: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Return two lists whose outer sum maps the cells of a table to those of a separator.

    `axes` gives size and separator stride (0: not in it) of each axis. Two lists of about the
    square root of the cells replace one list of all of them.
    """
    cells = math.prod(size for size, _ in axes)
    cut, inner_cells = len(axes), 1
    while cut and (inner_cells * axes[cut - 1][0]) ** 2 <= cells:
        cut -= 1
        inner_cells *= axes[cut][0]
    return _cells_of(axes[:cut]), _cells_of(axes[cut:])


def _cells_of(axes: list[tuple[int, int]]) -> list[int]:
    cells = [0]
    for size, stride in axes:
        cells = [c + x * stride for c in cells for x in range(size)]
    return cells
