"""The conditionals of variables at a point, by the configurations of their neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graftwork.data.compact import Sample
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.kernels import stars as kernel
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.conditionals import KnownConditionals
from graftwork.objectives.stars import Stars, lanes_for, padded

#: Every row is a configuration of its own.
NO_IDS = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class StarConditionals:
    """What is known of the conditionals at one point; the rest is computed when asked for.

    Attributes
    ----------
    sample : Sample
    row_weights : (rows,) float64
        Empty for rows that count once.
    margins : (states of all variables,) float64
        How often each state occurs.
    potentials : Potentials
    stars : Stars
        The configurations of each variable's neighbours.
    states : (states of all variables,) float64
        Sums over rows of each state's probability.
    stamps : (n,) int64
        When each variable's weights last changed.
    known : KnownConditionals
        Those of other points that still hold, and of this one.
    memory : int
        Bytes that the conditionals of all variables may take.
    n_threads : int
    """

    sample: Sample
    row_weights: Floats
    margins: Floats
    potentials: Potentials
    stars: Stars
    states: Floats
    stamps: Ints
    known: KnownConditionals
    memory: int
    n_threads: int

    def of(self, node: int) -> tuple[Floats, int, NDArray[np.int32]]:
        """Return conditionals by configuration, the number of states, each row's configuration."""
        layout, states = self.potentials.layout, int(self.potentials.layout.cards[node])
        if not self.stars.degrees[node]:  # one configuration, which all rows have
            own = np.zeros(padded(states))
            own[:states] = layout.unary(self.states, node) / self.sample.total_weight
            return own, states, np.zeros(self.sample.n_rows, dtype=np.int32)
        ids = self.stars.ids[int(node)]
        found = self.known.get(int(node), int(self.stamps[node]))
        values = self.configurations(int(node)) if found is None else found
        return values, states, NO_IDS if ids is None else ids

    def remember(self, nodes: Ints) -> None:
        """Compute the conditionals of variables that are not known, on several threads."""
        nodes = nodes[self.stars.degrees[nodes] > 0]
        missing = [n for n in nodes.tolist() if self.known.get(n, int(self.stamps[n])) is None]

        def run(part: slice) -> None:
            for node in missing[part]:
                self.known.put(node, int(self.stamps[node]), self.configurations(node))

        run_chunks(run, cut_evenly(self.stars.costs[missing], self.n_threads), self.n_threads)

    def configurations(self, node: int, first: int = 0, count: int | None = None) -> Floats:
        """Return a variable's conditionals in its configurations, or in some of them."""
        layout, stars, weights = self.potentials.layout, self.stars, self.potentials.weights
        unary, tables = weights[: layout.n_unary], weights[layout.n_unary :]
        count = int(stars.stars[node, 2]) if count is None else count
        out = np.empty(count * padded(int(layout.cards[node])))
        kernel.fill_configurations(
            lanes_for(layout.cards[node]), node, layout.cards, unary, layout.unary_offsets, tables,
            stars.halves, stars.groups, stars.stars, stars.codes.values, first, out,
        )  # fmt: skip
        return out

    def fit(self, nodes: Ints) -> bool:
        """Return whether the conditionals of some variables fit in memory together."""
        lanes = [padded(card) for card in self.potentials.layout.cards[nodes].tolist()]
        size = 8 * int(self.stars.stars[nodes, 2] @ np.array(lanes, dtype=np.int64))
        return size <= self.memory
