"""Joint states found by search: a possible one, and the most probable one.

Message passing does not see every contradiction: three binary variables that must all differ from
each other have messages like any others. The exact answer needs one joint state, or none.

References
----------
A. K. Mackworth (1977). Consistency in networks of relations. D. Sabin and E. C. Freuder (1994).
Contradicting conventional wisdom in constraint satisfaction.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from graftwork.errors import TooLargeError
from graftwork.inference.layout import Ints, Layout, Potentials
from graftwork.inference.sampling import gibbs_sample, log_weights
from graftwork.inference.wiring import wire

Bools = NDArray[np.bool_]
#: States that are tried before the search gives up.
MOST_TRIES = 5_000
STARTS = 256
MOST_CLIMBS = 100


def possible_state(potentials: Potentials, most_tries: int = MOST_TRIES) -> Ints | None:
    """Return the codes of a joint state with a weight above zero, None where there is none."""
    layout = potentials.layout
    barred = np.flatnonzero(np.isneginf(potentials.weights))
    if not len(barred):
        return np.zeros(layout.n_variables, dtype=np.int64)
    in_tables = barred[barred >= layout.n_unary]
    hard = np.unique(np.searchsorted(layout.edge_offsets, in_tables, side="right") - 1)
    search = _Search(potentials, hard, most_tries)
    found = search.agrees() and all(map(search.settle, _components(layout, hard)))
    return search.codes() if found else None


def _components(layout: Layout, hard: Ints) -> list[Ints]:
    """Return the variables these edges connect, in groups: choices in one leave the others be."""
    component = wire(Layout.of(layout.cards, layout.edges[hard])).component
    touched = np.unique(layout.edges[hard])
    order = touched[np.argsort(component[touched], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(component[order])) + 1) if len(order) else []


class _Search:
    """Backtracking over the states that are left, each choice made arc-consistent."""

    def __init__(self, potentials: Potentials, hard: Ints, most_tries: int) -> None:
        layout, weights = potentials.layout, potentials.weights
        variables = range(layout.n_variables)
        self._left = [layout.unary(weights, i) > -np.inf for i in variables]
        self._near: list[list[tuple[int, Bools]]] = [[] for _ in variables]
        for e in hard.tolist():
            (i, j), table = layout.edges[e].tolist(), layout.table(weights, e) > -np.inf
            self._near[j].append((i, table))
            self._near[i].append((j, table.T))
        self._sizes = np.array([left.sum() for left in self._left], dtype=np.int64)
        self._changed: list[tuple[int, Bools]] = []
        self._tries = self._most = most_tries

    def codes(self) -> Ints:
        """Return the first state left of each variable."""
        return np.array([left.argmax() for left in self._left], dtype=np.int64)

    def agrees(self) -> bool:
        """Drop states that fit no state of some neighbour; False if a variable has none left."""
        return bool(self._sizes.all()) and self._spread(range(len(self._left)))

    def settle(self, variables: Ints) -> bool:
        """Leave one state of each of these variables that fits the others; False if none does."""
        # For each choice made: the variable, states still to be tried, and what to undo.
        choices: list[tuple[int, list[int], int]] = []
        while True:
            sizes = self._sizes[variables]
            if sizes.max() == 1:
                return True
            i = int(variables[np.where(sizes > 1, sizes, sizes.max() + 1).argmin()])
            states = np.flatnonzero(self._left[i])[::-1].tolist()
            choices.append((i, states, len(self._changed)))
            while not self._advance(choices[-1]):
                choices.pop()
                if not choices:
                    return False

    def _advance(self, choice: tuple[int, list[int], int]) -> bool:
        """Try the next states of a choice until one can stand; False if none of them can."""
        i, states, mark = choice
        while True:
            self._undo(mark)
            if not states:
                return False
            self._tries -= 1
            if self._tries < 0:
                raise TooLargeError(
                    "whether the -inf potentials leave any joint state possible was not found out "
                    f"in {self._most:,} tries; use large negative numbers in place of -inf."
                )
            one = np.zeros_like(self._left[i])
            one[states.pop()] = True
            self._narrow(i, one)
            if self._spread([i]):
                return True

    def _spread(self, changed: Iterable[int]) -> bool:
        """Drop states that have lost their partners at these variables, and so on."""
        queue = list(changed)
        while queue:
            j = queue.pop()
            for i, table in self._near[j]:
                kept = self._left[i] & table[:, self._left[j]].any(axis=1)
                if kept.sum() < self._sizes[i]:
                    self._narrow(i, kept)
                    if not self._sizes[i]:
                        return False
                    queue.append(i)
        return True

    def _narrow(self, i: int, kept: Bools) -> None:
        self._changed.append((i, self._left[i]))
        self._left[i], self._sizes[i] = kept, kept.sum()

    def _undo(self, mark: int) -> None:
        while len(self._changed) > mark:
            i, before = self._changed.pop()
            self._left[i], self._sizes[i] = before, before.sum()


def search_mode(potentials: Potentials, rng: np.random.Generator) -> tuple[Ints, float]:
    """Return the best joint state found, and its log weight; -inf where none is possible.

    Gibbs draws are climbed, one variable at a time, to where no single change improves them; a
    local optimum of the best basin seen, not necessarily the mode. Where they are all impossible,
    a possible state is looked for and climbed.
    """
    codes = gibbs_sample(potentials, STARTS, rng, burn_in=200, thin=5).astype(np.int64)
    best, weight = _climb(potentials, codes)
    if weight == -np.inf:
        possible = possible_state(potentials)
        if possible is not None:
            return _climb(potentials, possible[:, None])
    return best, weight


def _climb(potentials: Potentials, codes: Ints) -> tuple[Ints, float]:
    """Return the best of the columns of ``codes`` after each was improved, and its log weight."""
    layout, weights = potentials.layout, potentials.weights
    incident: list[list[int]] = [[] for _ in range(layout.n_variables)]
    for e, (i, j) in enumerate(layout.edges.tolist()):
        incident[i].append(e)
        incident[j].append(e)
    for _ in range(MOST_CLIMBS):
        before = codes.copy()
        for i in range(layout.n_variables):
            logits = np.repeat(layout.unary(weights, i)[:, None], codes.shape[1], axis=1)
            for e in incident[i]:
                first, second = layout.edges[e]
                table = layout.table(weights, e)
                logits += table[:, codes[second]] if first == i else table.T[:, codes[first]]
            codes[i] = logits.argmax(axis=0)
        if np.array_equal(before, codes):
            break
    totals = log_weights(potentials, codes.astype(np.uint16))
    best = int(np.argmax(totals))
    return codes[:, best], float(totals[best])
