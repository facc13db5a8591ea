"""Exact inference. Use it whenever its estimate fits in memory; it cannot fail to converge.

Variables are summed out in a greedy order (min-weight or min-fill, whichever is cheaper) on tables
compiled once per graph. The numbers flow through `graftwork.kernels.junction`.

References
----------
S. L. Lauritzen and D. J. Spiegelhalter (1988). Local computations with probabilities on graphical
structures. R. Dechter (1999). Bucket elimination: a unifying framework for reasoning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graftwork.errors import TooLargeError
from graftwork.inference.elimination import Cost, Elimination, eliminate, estimate, refusal
from graftwork.inference.engines import Beliefs
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.pairs import (
    check_pairs,
    choose_sources,
    fill_known,
    group_by_source,
    pair_offsets,
)
from graftwork.inference.ragged import offsets
from graftwork.inference.wiring import wire
from graftwork.kernels.junction import distribute, eliminate_max, eliminate_sum, joint_tables

#: Rows drawn at a time, so that the uniforms of one variable stay in cache.
SAMPLE_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class EliminationPlan:
    """One table per variable in elimination order (see `graftwork.kernels.junction`).

    Examples
    --------
    >>> plan = compile_plan(Layout.of([2, 3], [(0, 1)]))
    >>> plan.variable, plan.cost.total_cells
    (array([0, 1]), 9)
    """

    cost: Cost
    variable: Ints  # (n,): which variable each step eliminates
    position: Ints  # (n,): the step of each variable
    # steps, maps, rows, row_ptr: what the kernels read; `rows` places each edge's table in the
    # step that owns it
    steps: Ints
    maps: Ints
    rows: Ints
    row_ptr: Ints
    sep_ptr: Ints  # (n + 1,)
    # sep_variables, sep_strides: the separator of each step, by elimination, and each variable's
    # stride in its cells
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

        Shapes: pairs (k, 2) int64; starts (k,) int64; cards (n,) int64; rows (number found, 5)
        int64, by step; row_ptr (n + 1,) int64; found (k,) bool.
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


def compile_plan(layout: Layout) -> EliminationPlan:
    """Return the plan of a layout; the last few are remembered.

    Examples
    --------
    >>> compile_plan(Layout.of([2, 2, 2])).steps[:, 4]
    array([-1, -1, -1])
    """
    return _compile(layout.cards.tobytes(), layout.edges.tobytes())


@lru_cache(maxsize=8)
def _compile(cards_bytes: bytes, edges_bytes: bytes) -> EliminationPlan:
    cards = np.frombuffer(cards_bytes, dtype=np.int64)
    edges = np.frombuffer(edges_bytes, dtype=np.int64).reshape(-1, 2)
    layout = Layout.of(cards, edges)
    elimination = eliminate(layout)
    variables, separators, position = _sorted_separators(elimination)
    steps, maps, strides = _steps(layout, variables, separators, position)
    plan = EliminationPlan(
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
    return EliminationPlan(
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


@dataclass(frozen=True, slots=True)
class JunctionTree:
    """Exact beliefs, MAP states and samples, refused when the tables would be too large."""

    limit_cells: int = 2**26

    def estimate(self, cards: object, edges: object) -> Cost:
        """Return what exact inference on this graph needs, before any table is allocated."""
        return estimate(cards, edges)

    def fits(self, layout: Layout) -> bool:
        """Return whether exact inference on this layout stays within the limit."""
        return eliminate(layout).cost.total_cells <= self.limit_cells

    def describe(self) -> str:
        """Return what this engine does, in plain words."""
        return "exact inference (junction tree)"

    def infer(self, potentials: Potentials, warm: Beliefs | None = None) -> Beliefs:
        """Return exact marginals and log Z; `warm` is not needed and not read."""
        layout = potentials.layout
        plan = self._plan(layout)
        table, log_partition = _conditionals(plan, potentials)
        values = layout.zeros()
        if log_partition > -np.inf:
            mass = np.empty(plan.widest)
            distribute(plan.steps, plan.rows, plan.row_ptr, plan.maps, table, mass, values)
        return Beliefs(layout, values, float(log_partition), True, True, 0.0, 1)

    def log_partition(self, potentials: Potentials) -> float:
        """Return log Z alone."""
        return _conditionals(self._plan(potentials.layout), potentials)[1]

    def pair_marginals(
        self, potentials: Potentials, beliefs: Beliefs, pairs: Ints
    ) -> tuple[Floats, bool]:
        """Return the exact joint marginals of any pairs, flat and row-major, and True.

        Edges and separate components are read off the beliefs; pairs that share a clique come
        from one calibration; the others from one downward pass per state of one of the two.
        """
        layout = potentials.layout
        pairs = check_pairs(layout, pairs)
        starts = pair_offsets(layout, pairs)
        out = np.zeros(starts[-1])
        opened = fill_known(beliefs, wire(layout).component, pairs, starts[:-1], out)
        if opened.any() and beliefs.log_partition > -np.inf:
            plan = self._plan(layout)
            table, _ = _conditionals(plan, potentials)
            self._fill_open(plan, layout, table, pairs[opened], starts[:-1][opened], out)
        return out, True

    def maximise(self, potentials: Potentials) -> tuple[Ints, float]:
        """Return the most probable joint state as codes (n,), and its log weight.

        Ties go to the lower state of the variable that is decided first: always the same one. The
        weight is ``-inf`` where no joint state has any mass; the codes mean nothing then.
        """
        layout = potentials.layout
        plan = self._plan(layout)
        choice = np.empty(int(plan.steps[:, 2].sum()), dtype=np.int64)
        best = eliminate_max(
            np.array(potentials.weights), plan.steps, plan.rows, plan.row_ptr, plan.maps,
            np.empty(plan.n_cells), np.empty(plan.widest), choice,
        )  # fmt: skip
        codes = np.zeros(layout.n_variables, dtype=np.int64)
        if best == -np.inf:  # found before all choices were made
            return codes, float(best)
        for k in range(layout.n_variables - 1, -1, -1):
            near = slice(plan.sep_ptr[k], plan.sep_ptr[k + 1])
            cell = plan.sep_strides[near] @ codes[plan.sep_variables[near]]
            codes[plan.variable[k]] = choice[plan.steps[k, 9] + cell]
        return codes, float(best)

    def sample(
        self, potentials: Potentials, n: int, rng: np.random.Generator
    ) -> NDArray[np.uint16]:
        """Return ``n`` independent exact draws as codes, shape (n_variables, n)."""
        layout = potentials.layout
        plan = self._plan(layout)
        table, log_partition = _conditionals(plan, potentials)
        if log_partition == -np.inf:
            raise ValueError("no joint state has any mass: there is nothing to sample")
        codes = np.zeros((layout.n_variables, n), dtype=np.uint16)
        for start in range(0, n, SAMPLE_BLOCK):
            _draw(plan, table, codes[:, start : start + SAMPLE_BLOCK], rng)
        return codes

    def _plan(self, layout: Layout) -> EliminationPlan:
        cost = eliminate(layout).cost
        if cost.total_cells > self.limit_cells:
            raise TooLargeError(refusal(cost, self.limit_cells))
        return compile_plan(layout)

    def _fill_open(
        self,
        plan: EliminationPlan,
        layout: Layout,
        table: Floats,
        pairs: Ints,
        starts: Ints,
        out: Floats,
    ) -> None:
        """Write the tables of connected pairs that are not edges."""
        rows, row_ptr, shared = plan.place(pairs, starts + layout.n_unary, layout.cards)
        if not shared.all():
            far, at = pairs[~shared], starts[~shared]
            first = choose_sources(layout.cards, far)
            source = np.where(first, far[:, 0], far[:, 1])
            target = np.where(first, far[:, 1], far[:, 0])
            places = table_places(layout.cards, far, at, first)
            sources, ptr, order = group_by_source(source, target)
            steps, targets = plan.position[sources], plan.position[target[order]]
            work, mass, lift = np.empty_like(table), np.empty(plan.widest), np.empty(plan.widest)
            joint_tables(
                plan.steps, plan.maps, table, steps, targets, ptr, places[order], out,
                work, mass, lift,
            )  # fmt: skip
        if shared.any():
            wide = np.zeros(layout.n_unary + len(out))
            distribute(plan.steps, rows, row_ptr, plan.maps, table, np.empty(plan.widest), wide)
            out += wide[layout.n_unary :]


def table_places(cards: Ints, pairs: Ints, starts: Ints, first: NDArray[np.bool_]) -> Ints:
    """Return start, source stride and target stride of each pair's table, shape (k, 3).

    Examples
    --------
    >>> pairs, starts = np.array([(0, 1), (0, 1)]), np.array([0, 6])
    >>> table_places(np.array([2, 3]), pairs, starts, np.array([True, False]))
    array([[0, 3, 1],
           [6, 1, 3]])
    """
    s_j = cards[pairs[:, 1]]
    return np.stack([starts, np.where(first, s_j, 1), np.where(first, 1, s_j)], axis=1)


def _conditionals(plan: EliminationPlan, potentials: Potentials) -> tuple[Floats, float]:
    """Return p(variable | separator) of every step, flat, and log Z."""
    table = np.empty(plan.n_cells)
    # A copy, since a read-only array would make numba compile the kernel a second time.
    weights = np.array(potentials.weights)
    log_partition = eliminate_sum(
        weights, plan.steps, plan.rows, plan.row_ptr, plan.maps,
        table, np.empty(plan.widest), np.empty(plan.widest),
    )  # fmt: skip
    return table, float(log_partition)


def _draw(
    plan: EliminationPlan, table: Floats, codes: NDArray[np.uint16], rng: np.random.Generator
) -> None:
    """Fill the columns of ``codes`` from the last eliminated variable to the first."""
    for k in range(len(plan.variable) - 1, -1, -1):
        _, states, sep, cell = plan.steps[k, :4]
        sums = table[cell : cell + states * sep].reshape(states, sep).cumsum(axis=0)
        near = slice(plan.sep_ptr[k], plan.sep_ptr[k + 1])
        where = plan.sep_strides[near] @ codes[plan.sep_variables[near]].astype(np.int64)
        # Scaled by the last sum, u stays strictly below it: a state of no mass is never drawn.
        level = rng.random(codes.shape[1]) * sums[-1, where]
        state = np.zeros(codes.shape[1], dtype=np.uint16)
        for a in range(states - 1):
            state += sums[a, where] <= level
        codes[plan.variable[k]] = state
