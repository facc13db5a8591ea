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

import numpy as np
from numpy.typing import NDArray

from graftwork.errors import TooLargeError
from graftwork.inference.beliefs import Beliefs
from graftwork.inference.elimination import Cost, eliminate, estimate
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.pairs import (
    check_pairs,
    choose_sources,
    fill_known,
    group_by_source,
    pair_offsets,
)
from graftwork.inference.plan import Plan, compile_plan
from graftwork.inference.wiring import wire
from graftwork.kernels.junction import distribute, eliminate_max, eliminate_sum, joint_tables
from graftwork.registry import register

#: Rows drawn at a time, so that the uniforms of one variable stay in cache.
SAMPLE_BLOCK = 1 << 16

#: What to try where exact inference does not fit.
ADVICE = (
    'Use inference="bp" (or "trw", an upper bound on log Z), a network with fewer edges, or '
    "evidence on the best connected variables; or raise JunctionTree(limit_cells=...)."
)


@register("exact")
@dataclass(frozen=True, slots=True)
class JunctionTree:
    """Exact beliefs, MAP states and samples, refused when the tables would be too large.

    Parameters
    ----------
    limit_cells : int
        Most cells all tables may have together; 2**26 is 512 MiB.

    Examples
    --------
    >>> layout = Layout.of([2, 2], [(0, 1)])
    >>> weights = np.array([0.0, 0.0, 0.0, 0.0, np.log(3), 0.0, 0.0, np.log(3)])
    >>> beliefs = JunctionTree().infer(Potentials(layout, weights))
    >>> beliefs.table(0).round(3), round(beliefs.log_partition, 4)
    (array([[0.375, 0.125],
           [0.125, 0.375]]), 2.0794)
    """

    limit_cells: int = 2**26

    def estimate(self, cards: object, edges: object) -> Cost:
        """Return what exact inference on this graph needs, before any table is allocated."""
        return estimate(cards, edges)

    def fits(self, layout: Layout) -> bool:
        """Return whether exact inference on this layout stays within the limit."""
        return eliminate(layout).cost.total_cells <= self.limit_cells

    @property
    def ignores_empty_edges(self) -> bool:
        """Yes."""
        return True

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

    def _plan(self, layout: Layout) -> Plan:
        cost = eliminate(layout).cost
        if cost.total_cells > self.limit_cells:
            raise TooLargeError(refusal(cost, self.limit_cells))
        return compile_plan(layout)

    def _fill_open(
        self, plan: Plan, layout: Layout, table: Floats, pairs: Ints, starts: Ints, out: Floats
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


def refusal(cost: Cost, limit_cells: int, advice: str = ADVICE) -> str:
    """Return the sentence that says why exact inference is refused and what to do instead.

    Examples
    --------
    >>> refusal(Cost(30, 2**31, 2**32), 2**26)  # doctest: +ELLIPSIS
    'Exact inference needs about 4,294,967,296 table cells (32 GiB; treewidth 30, largest clique ...
    """
    return (
        f"Exact inference needs about {_count(cost.total_cells)} table cells "
        f"({_gibibytes(cost.bytes)}; treewidth {cost.width}, largest clique "
        f"{_count(cost.largest_clique_cells)} cells), over the limit of {limit_cells:,} cells "
        f"({_gibibytes(8 * limit_cells)}). {advice}"
    )


def _count(cells: int) -> str:
    return f"{cells:,}" if cells < 10**12 else f"10^{math.log10(cells):.1f}"


def _gibibytes(size: int) -> str:
    return f"{size / 2**30:.3g} GiB" if size < 2**70 else f"10^{math.log10(size / 2**30):.1f} GiB"


def _conditionals(plan: Plan, potentials: Potentials) -> tuple[Floats, float]:
    """Return p(variable | separator) of every step, flat, and log Z."""
    table = np.empty(plan.n_cells)
    # A copy, since a read-only array would make numba compile the kernel a second time.
    weights = np.array(potentials.weights)
    log_partition = eliminate_sum(
        weights, plan.steps, plan.rows, plan.row_ptr, plan.maps,
        table, np.empty(plan.widest), np.empty(plan.widest),
    )  # fmt: skip
    return table, float(log_partition)


def _draw(plan: Plan, table: Floats, codes: NDArray[np.uint16], rng: np.random.Generator) -> None:
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
