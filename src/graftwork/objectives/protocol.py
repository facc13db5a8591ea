"""What a loss offers, and what one evaluation of it knows."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from graftwork.data.compact import Sample
from graftwork.inference.layout import Floats, Ints, Layout, Potentials


class Point(Protocol):
    """A loss evaluated at one set of potentials."""

    @property
    def potentials(self) -> Potentials:
        """Where the loss was evaluated."""
        ...

    @property
    def value(self) -> float:
        """The loss."""
        ...

    @property
    def gradient(self) -> Floats:
        """Its gradient, a flat vector of the layout."""
        ...

    @property
    def curvature(self) -> Floats:
        """An estimate of the curvature along each entry, for tables whose unaries follow them."""
        ...

    @property
    def exact(self) -> bool:
        """Whether value and gradient are exact (not from approximate inference)."""
        ...

    @property
    def trusted(self) -> bool:
        """Whether the inference behind it converged."""
        ...

    def pair_gradients(self, pairs: Ints) -> tuple[Floats, Ints, bool]:
        """Return the gradient tables of inactive pairs, where each starts, and if they are exact.

        The gradient at zero of the table that would be added for each pair.
        """
        ...

    def edge_spreads(self) -> Floats:
        """Return w' H w of each edge, H being its own block of the loss's Hessian."""
        ...


class Objective(Protocol):
    """A smooth loss over a sample."""

    sample: Sample
    evaluations: int

    def at(self, potentials: Potentials, warm: Point | None = None) -> Point:
        """Return the loss evaluated there, starting from what ``warm`` knows."""
        ...


def independent_potentials(sample: Sample) -> Potentials:
    """Return the network without edges that has the sample's marginals.

    Kept states that never occur (only when all states are kept) get half a count.
    """
    margins = np.maximum(np.asarray(sample.counts.margins, dtype=np.float64), 0.5)
    layout = Layout.of(sample.cards)
    starts = layout.unary_offsets[:-1]
    totals = np.add.reduceat(margins, starts)
    return Potentials(layout, np.log(margins / np.repeat(totals, sample.cards)))
