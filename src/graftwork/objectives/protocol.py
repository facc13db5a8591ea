"""What a loss offers, and what one evaluation of it knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from graftwork.data.encoded import EncodedRows
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.kernels.tables import tables_apart

#: Products of indicators that are summed for a Hessian, and the weights that it may have.
MOST_PRODUCTS, MOST_WEIGHTS = 2**20, 400


@dataclass(frozen=True, slots=True, eq=False)
class Expectations:
    """What a loss compares at inactive pairs: how often each cell occurs, and should occur.

    The likelihood compares one joint distribution with the data; the pseudo-likelihood two
    conditionals. Changing a table by W changes the loss by
    ``sum_k sum_slices mass log(sum_cells model_k e^W / mass) - k <W, data>`` (for the likelihood;
    for the pseudo-likelihood that is an upper bound, by Jensen's inequality, exact where the
    conditionals are the same in every row).
    """

    # (k, cells): the model's frequencies of each cell, once for each distribution compared
    model: Floats
    # what each distribution is conditional on: 0 nothing, 1 the pair's first variable, 2 its
    # second
    given: tuple[int, ...]
    data: Floats  # (cells,): frequencies in the data
    offsets: Ints  # (pairs + 1,): where each pair's cells start

    @property
    def gradients(self) -> Floats:
        """Gradient of the loss with respect to each cell."""
        difference: Floats = self.model.sum(axis=0) - len(self.given) * self.data
        return difference


class Evaluated(Protocol):
    """A loss evaluated at one set of weights: what a solver needs.

    It may also have ``hessian()``, which returns None where that would take long.
    """

    @property
    def potentials(self) -> Any:
        """Where the loss was evaluated: a value with a ``layout`` and its ``weights``."""
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


class Point(Evaluated, Protocol):
    """A loss of networks evaluated at one set of potentials."""

    @property
    def potentials(self) -> Potentials:
        """Where the loss was evaluated."""
        ...

    def pair_gradients(self, pairs: Ints) -> tuple[Floats, Ints, bool]:
        """Return the gradient tables of inactive pairs, where each starts, and if they are exact.

        The gradient at zero of the table that would be added for each pair.
        """
        ...

    def pair_expectations(self, pairs: Ints) -> Expectations:
        """Return what the loss compares at these pairs."""
        ...

    def removal_costs(self) -> Floats:
        """Return by how much the loss would rise if each edge left alone.

        What its table adds to its variables on average over the data goes into their unaries, no
        other weight moves: an upper bound of the rise once all weights are fitted again.
        """
        ...

    def pair_gains(self, pairs: Ints) -> Floats:
        """Return g' H^-1 g of inactive pairs, H approximated by the spreads of the two variables.

        About twice what the loss would fall if the pair's table were optimised alone.
        """
        ...


class Loss(Protocol):
    """A smooth function of weights."""

    evaluations: int

    def at(self, potentials: Any, warm: Any = None) -> Evaluated:
        """Return the loss evaluated there, starting from what ``warm`` knows."""
        ...


class Objective(Loss, Protocol):
    """A smooth loss of networks over a sample."""

    sample: EncodedRows

    def describe(self) -> str:
        """Return in plain words how it is computed, for certificates."""
        ...

    def at(self, potentials: Potentials, warm: Point | None = None) -> Point:
        """Return the loss evaluated there, starting from what ``warm`` knows."""
        ...


def states_of_entries(layout: Layout, pairs: Ints) -> tuple[Ints, Ints]:
    """Return which states each entry of the pairs' tables is about, as unary positions.

    Examples
    --------
    >>> states_of_entries(Layout.of([2, 2]), np.array([[0, 1]]))
    (array([0, 0, 1, 1]), array([2, 3, 2, 3]))
    """
    s_i, s_j = layout.cards[pairs[:, 0]], layout.cards[pairs[:, 1]]
    sizes = s_i * s_j
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    starts = layout.unary_offsets[pairs]
    width = np.repeat(s_j, sizes)
    first = np.repeat(starts[:, 0], sizes) + within // width
    return first, np.repeat(starts[:, 1], sizes) + within % width


def averages_apart(layout: Layout, tables: Floats, frequencies: Floats) -> Floats:
    """Return edge tables without what they add to the first, and to the second variable's unary.

    That is sum_b f_j(b) W(a, b) for the first, sum_a f_i(a) W(a, b) for the second: one line each.

    Examples
    --------
    >>> layout = Layout.of([2, 2], [(0, 1)])
    >>> averages_apart(layout, np.array([4.0, 0, 0, 0]), np.array([0.25, 0.75, 0.5, 0.5]))
    array([[ 2., -2.,  0.,  0.],
           [ 3.,  0., -1.,  0.]])
    """
    apart: Floats = tables_apart(
        tables, layout.cards, layout.edges, layout.unary_offsets, frequencies
    )
    return apart


def quadratic_gains(
    gradients: Floats, offsets: Ints, cards: Ints, pairs: Ints, curvature: Floats
) -> Floats:
    """Return g' H^-1 g of each table for a diagonal H, counted for its degrees of freedom.

    ``curvature`` holds the diagonal. A table has (s_i - 1)(s_j - 1) degrees of freedom in s_i s_j
    entries; the sum over entries is scaled down to what the free ones would give.
    """
    if not len(pairs):
        return np.zeros(0)
    sizes = cards[pairs[:, 0]] * cards[pairs[:, 1]]
    free = (cards[pairs[:, 0]] - 1) * (cards[pairs[:, 1]] - 1)
    sums = np.add.reduceat(gradients**2 / np.maximum(curvature, 1e-12), offsets[:-1])
    gains: Floats = sums * free / sizes
    return gains


def independent_potentials(sample: EncodedRows) -> Potentials:
    """Return the network without edges that has the sample's marginals.

    Kept states that never occur (only when all states are kept) get half a count.
    """
    margins = np.asarray(sample.counts.margins, dtype=np.float64)
    margins = np.where(margins > 0, margins, 0.5)
    layout = Layout.of(sample.cards)
    starts = layout.unary_offsets[:-1]
    totals = np.add.reduceat(margins, starts)
    return Potentials(layout, np.log(margins / np.repeat(totals, sample.cards)))
