"""Networks whose log-potentials are normal numbers around 0, on any graph."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.kernels.tables import centre_tables
from graftwork.models import PairwiseMRF


def normal_network(
    cards: Ints,
    edges: Iterable[tuple[int, int]],
    unary_sd: float,
    edge_sd: float,
    rng: np.random.Generator,
    *,
    centred: bool = False,
) -> PairwiseMRF:
    """Return a network of variables x0, x1, ... with states 0, 1, ... and normal log-potentials.

    Parameters
    ----------
    cards : (n,) int64
        Number of states of each variable.
    edges : pairs of variable numbers
        In any order.
    unary_sd, edge_sd : float
        Standard deviations of unaries and of table entries.
    rng : numpy.random.Generator
    centred : bool
        Take row and column means out of every table.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> normal_network(np.array([2, 3]), [(1, 0)], 0.5, 1.0, rng).table("x0", "x1").shape
    (2, 3)
    """
    layout = Layout.of(cards, sorted((min(edge), max(edge)) for edge in edges))
    # Drawn at full length first: a seed keeps giving the network it always gave.
    weights = rng.normal(0.0, unary_sd, layout.size)
    weights[layout.n_unary :] = rng.normal(0.0, edge_sd, layout.size - layout.n_unary)
    if centred:
        centre_tables(weights, layout.cards, layout.edges, layout.edge_offsets)
    return named_network(layout, weights)


def named_network(layout: Layout, weights: Floats) -> PairwiseMRF:
    """Return the network of these potentials, with variables x0, x1, ... and states 0, 1, ...

    Examples
    --------
    >>> layout = Layout.of([2, 2])
    >>> named_network(layout, layout.zeros()).names
    ('x0', 'x1')
    """
    names = [f"x{i}" for i in range(layout.n_variables)]
    states = [range(int(s)) for s in layout.cards]
    return PairwiseMRF.from_flat(names, states, Potentials(layout, weights))
