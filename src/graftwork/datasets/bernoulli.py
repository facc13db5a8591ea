"""Bernoulli random networks, as Lee, Ganapathi and Koller draw them."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np

from graftwork.datasets.checks import amount, generator, state_counts, whole
from graftwork.datasets.drawing import Drawn, draw
from graftwork.datasets.normal import normal_network
from graftwork.models import PairwiseMRF


def bernoulli_network(
    n_variables: int = 32,
    n_states: int | Sequence[int] = 2,
    *,
    mean_degree: float = 4.0,
    unary_sd: float = 0.5,
    edge_sd: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> PairwiseMRF:
    """Return a network in which every pair is an edge with the same probability.

    The paper has 16 to 64 binary variables with 3 to 6 neighbours each on average, and does not
    say how potentials are drawn: here they are normal around 0. With the defaults a binary edge's
    log odds ratio has standard deviation 2, strong enough to see in a few hundred rows.

    Parameters
    ----------
    n_variables : int
        Variables, named x0, x1, ...
    n_states : int or sequence of int
        States of every variable, or of each.
    mean_degree : float
        Expected number of neighbours, at most one less than the variables.
    unary_sd, edge_sd : float
        Standard deviations of the log-potentials.
    random_state : int, Generator or None
        The same seed gives the same network.

    Examples
    --------
    >>> bernoulli_network(16, mean_degree=3, random_state=0)
    PairwiseMRF: 16 variables, 19 edges

    References
    ----------
    Lee, Ganapathi and Koller, Efficient structure learning of Markov networks using
    L1-regularization, section on synthetic data.
    """
    n_variables = whole("n_variables", n_variables, 1)
    cards = state_counts(n_states, n_variables)
    mean_degree = amount("mean_degree", mean_degree, n_variables - 1)
    unary_sd, edge_sd = amount("unary_sd", unary_sd), amount("edge_sd", edge_sd)
    rng = generator(random_state)
    share = mean_degree / max(n_variables - 1, 1)
    graph = nx.fast_gnp_random_graph(n_variables, share, seed=int(rng.integers(2**31)))
    return normal_network(cards, graph.edges, unary_sd, edge_sd, rng)


def make_bernoulli(
    n_variables: int = 32,
    n_states: int | Sequence[int] = 2,
    *,
    mean_degree: float = 4.0,
    unary_sd: float = 0.5,
    edge_sd: float = 1.0,
    n_rows: int = 1_000,
    n_test: int = 1_000,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> Drawn:
    """Return a Bernoulli random network and rows drawn from it.

    Parameters
    ----------
    n_variables, n_states, mean_degree, unary_sd, edge_sd
        As in `bernoulli_network`, which gives the same network for the same seed.
    n_rows, n_test, n_jobs
        As in `draw`; the paper learns from 50 to 1,000 rows.
    random_state : int, Generator or None
        The same seed gives the same network and rows, whatever `n_jobs`.

    Returns
    -------
    Drawn
        The true ``model``, ``data`` to learn from, ``test`` rows, and the check of ``mixing``.

    Examples
    --------
    >>> made = make_bernoulli(16, mean_degree=3, n_rows=50, random_state=0)
    >>> made.data, made.mixing.method
    (Table: 50 rows x 16 variables, 2 states each, 'exact')
    """
    rng = generator(random_state)
    model = bernoulli_network(
        n_variables,
        n_states,
        mean_degree=mean_degree,
        unary_sd=unary_sd,
        edge_sd=edge_sd,
        random_state=rng,
    )
    return draw(model, n_rows, n_test=n_test, random_state=rng, n_jobs=n_jobs)
