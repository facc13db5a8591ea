"""The conditionals of variables at a point, by the configurations of their neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.data.encoded import EncodedRows
from graftwork.data.parts import Parts, RowPart
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.kernels import neighbourhoods as kernel
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.configurations import Ids
from graftwork.objectives.neighbourhoods import (
    FEW,
    MANY,
    NeighbourhoodCache,
    Neighbourhoods,
    lanes_for,
    padded,
)

#: Every row is a configuration of its own.
NO_IDS: Ids = np.zeros(0, dtype=np.int32)


class KnownConditionals:
    """Conditionals by variable, each good until the variable's weights change (another stamp)."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Conditionals:
    """What is known of the conditionals at one point; the rest is computed when asked for."""

    neighbourhoods: Neighbourhoods  # of the potentials' layout
    potentials: Potentials
    stamps: Ints  # (n,): when each variable's weights last changed
    known: KnownConditionals  # those of other points that still hold, and of this one
    memory: int  # bytes that the conditionals of all variables may take
    n_threads: int

    @property
    def sample(self) -> EncodedRows:
        """The rows."""
        return self.neighbourhoods.sample

    def over_rows(
        self,
        operation: Callable[..., Any],
        *arguments: Any,
        variables: Ints | None = None,
        parts: Parts | None = None,
    ) -> Any:
        """Return what an operation finds in the rows, wherever they are, added up.

        Shapes: variables (k,) int64.
        """
        parts = self.sample.parts if parts is None else parts
        if parts is None:
            return operation(self, *arguments)
        return parts.total(_in_part, operation, self.potentials, variables, *arguments)

    def of(self, node: int) -> tuple[Floats, int, Ids]:
        """Return conditionals by configuration, the number of states, each row's configuration."""
        states = int(self.potentials.layout.cards[node])
        if not self.neighbourhoods.degrees[node]:  # one configuration, which all rows have
            return self._alone(node), states, np.zeros(self.sample.n_rows, dtype=np.int32)
        ids = self.neighbourhoods.known[int(node)].ids
        found = self.known.get(int(node), int(self.stamps[node]))
        values = self.compute(int(node)) if found is None else found
        return values, states, NO_IDS if ids is None else ids

    def matrix(self, node: int) -> Floats:
        """Return conditionals by configuration, shape (configurations, states)."""
        values, states, _ = self.of(node)
        found = values.reshape(-1, padded(states))[:, :states]
        count = self.neighbourhoods.of_variable(node).count
        return np.broadcast_to(found, (count, states)) if len(found) < count else found

    def of_rows(self, node: int, first: int, last: int) -> tuple[Floats, Ids]:
        """Return conditionals that some rows need, and which of them each row has.

        Of a variable that is looked at row by row they are those of the rows.
        """
        here = self.neighbourhoods.known.get(node)
        if here is None or here.ids is not None:
            values, _, ids = self.of(node)
            return values, ids[first:last]
        width = padded(int(self.potentials.layout.cards[node]))
        found = self.known.get(node, int(self.stamps[node]))
        if found is None:
            return self.compute(node, first, last - first), NO_IDS
        return found[first * width : last * width], NO_IDS

    def in_rows(self, node: int, first: int, last: int) -> Floats:
        """Return conditionals in some rows of a variable that is looked at row by row."""
        states = int(self.potentials.layout.cards[node])
        found = self.known.get(node, int(self.stamps[node]))
        width = padded(states)
        if found is None:
            found = self.compute(node, first, last - first)
        else:
            found = found[first * width : last * width]
        return found.reshape(-1, width)[:, :states]

    def remember(self, nodes: Ints) -> None:
        """Compute the conditionals of variables that are not known, on several threads."""
        nodes = nodes[self.neighbourhoods.degrees[nodes] > 0]
        missing = [n for n in nodes.tolist() if self.known.get(n, int(self.stamps[n])) is None]

        def run(part: slice) -> None:
            for node in missing[part]:
                self.known.put(node, int(self.stamps[node]), self.compute(node))

        costs = self.neighbourhoods.costs[missing]
        run_chunks(run, cut_evenly(costs, self.n_threads), self.n_threads)

    def compute(self, node: int, first: int = 0, count: int | None = None) -> Floats:
        """Return a variable's conditionals in its configurations, or in some of them."""
        count = int(self.neighbourhoods.spans[node, 2]) if count is None else count
        states = int(self.potentials.layout.cards[node])
        out = np.empty(count * padded(states))
        kernel.fill_conditionals(lanes_for(states), node, *self.arguments(), first, out)
        return out

    def fit(self, nodes: Ints) -> bool:
        """Return whether the conditionals of some variables fit in memory together."""
        lanes = [padded(card) for card in self.potentials.layout.cards[nodes].tolist()]
        size = 8 * int(self.neighbourhoods.spans[nodes, 2] @ np.array(lanes, dtype=np.int64))
        return size <= self.memory

    def arguments(self) -> tuple[object, ...]:
        """Return what all kernels take: the network and its neighbourhoods."""
        layout, here = self.potentials.layout, self.neighbourhoods
        weights, n_unary = self.potentials.weights, layout.n_unary
        return (
            layout.cards, weights[:n_unary], layout.unary_offsets, weights[n_unary:],
            here.cache.frequencies, here.halves, here.groups, here.spans, here.codes.values,
        )  # fmt: skip

    def run_by_lanes(self, run: Callable[[tuple[int, ...], Ints], None], nodes: Ints) -> None:
        """Call ``run`` with variables of few states and of many, on several threads."""
        few = self.potentials.layout.cards[nodes] <= len(FEW)
        parts = [
            (lanes, some[part])
            for lanes, some in ((FEW, nodes[few]), (MANY, nodes[~few]))
            for part in cut_evenly(self.neighbourhoods.costs[some], self.n_threads)
        ]
        run_chunks(lambda part: run(*part), parts, self.n_threads)

    def _alone(self, node: int) -> Floats:
        """Return the conditional of a variable without neighbours, in whole lanes."""
        unary = self.potentials.layout.unary(self.potentials.weights, node)
        raised = np.exp(unary - unary.max())
        out = np.zeros(padded(len(unary)))
        out[: len(unary)] = raised / raised.sum()
        return out


def conditionals_in(part: RowPart, potentials: Potentials, variables: Ints | None) -> Conditionals:
    """Return the conditionals of (some) variables in part of the rows."""
    cache = part.memo.get("neighbourhoods")
    if cache is None:
        cache = part.memo["neighbourhoods"] = NeighbourhoodCache(part.sample)
    here = Neighbourhoods.of(potentials.layout, cache, variables)
    stamps = np.zeros(potentials.layout.n_variables, dtype=np.int64)
    known = KnownConditionals(part.memory)
    return Conditionals(here, potentials, stamps, known, part.memory, part.n_threads)


def _in_part(
    part: RowPart,
    operation: Callable[..., Any],
    potentials: Potentials,
    variables: Ints | None,
    *arguments: Any,
) -> Any:
    return operation(conditionals_in(part, potentials, variables), *arguments)
