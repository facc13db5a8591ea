"""Random scale-free networks, as the best-choice paper draws them."""

from __future__ import annotations

import networkx as nx
import numpy as np

from graftwork.inference.layout import Layout, Potentials
from graftwork.models import PairwiseMRF


def scale_free_network(
    n_variables: int = 200,
    n_states: int = 5,
    *,
    attach: int = 2,
    unary_sd: float = 0.5,
    edge_sd: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> PairwiseMRF:
    """Return a network on a preferential-attachment graph with normal log-potentials.

    With the defaults it has ``2 n - 4`` edges. The paper draws potentials around 100; a constant
    cancels, so the mean is 0 here.

    Parameters
    ----------
    attach : int
        Edges each new variable brings (at least 1, fewer than the variables).
    unary_sd, edge_sd : float
        Standard deviations of the log-potentials.

    Examples
    --------
    >>> scale_free_network(20, 3, random_state=0)
    PairwiseMRF: 20 variables, 36 edges

    References
    ----------
    Chaabene and Huang, Best-choice edge grafting, appendix.
    """
    rng = np.random.default_rng(random_state)
    graph = nx.barabasi_albert_graph(n_variables, attach, seed=int(rng.integers(2**31)))
    edges = sorted((min(edge), max(edge)) for edge in graph.edges)
    layout = Layout.of(np.full(n_variables, n_states), edges)
    weights = rng.normal(0.0, unary_sd, layout.size)
    weights[layout.n_unary :] = rng.normal(0.0, edge_sd, layout.size - layout.n_unary)
    names = [f"x{i}" for i in range(n_variables)]
    states = [range(n_states)] * n_variables
    return PairwiseMRF.from_flat(names, states, Potentials(layout, weights))
