"""Random scale-free networks, as the best-choice paper draws them."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np

from graftwork.datasets.checks import amount, generator, state_counts, whole
from graftwork.datasets.drawing import Drawn, draw
from graftwork.datasets.normal import normal_network
from graftwork.models import PairwiseMRF


def scale_free_network(
    n_variables: int = 200,
    n_states: int | Sequence[int] = 5,
    *,
    attach: int = 2,
    unary_sd: float = 0.5,
    edge_sd: float = 1.0,
    centred: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> PairwiseMRF:
    """Return a network on a preferential-attachment graph with normal log-potentials.

    With the defaults it has ``2 n - 4`` edges. The paper draws potentials around 100; a constant
    cancels, so the mean is 0 here.

    Parameters
    ----------
    n_variables : int
        Variables, named x0, x1, ...; the first ones tend to be hubs.
    n_states : int or sequence of int
        States of every variable, or of each.
    attach : int
        Edges each new variable brings (at least 1, fewer than the variables).
    unary_sd, edge_sd : float
        Standard deviations of the log-potentials. The authors' code adds two draws for each edge:
        ``edge_sd=2**0.5``.
    centred : bool
        Take row and column means out of every table. Tables of free normal numbers also push their
        variables to some states, all of them together at a hub, which may hardly vary then: its
        edges cannot be learned from any realistic number of rows. Centred tables only connect.
    random_state : int, Generator or None
        The same seed gives the same network.

    Examples
    --------
    >>> scale_free_network(20, 3, random_state=0)
    PairwiseMRF: 20 variables, 36 edges

    References
    ----------
    Chaabene and Huang, Best-choice edge grafting, appendix.
    """
    n_variables = whole("n_variables", n_variables, 2)
    cards = state_counts(n_states, n_variables)
    attach = whole("attach", attach, 1, n_variables - 1)
    unary_sd, edge_sd = amount("unary_sd", unary_sd), amount("edge_sd", edge_sd)
    rng = generator(random_state)
    graph = nx.barabasi_albert_graph(n_variables, attach, seed=int(rng.integers(2**31)))
    return normal_network(cards, graph.edges, unary_sd, edge_sd, rng, centred=centred)


def make_scale_free(
    n_variables: int = 200,
    n_states: int | Sequence[int] = 5,
    *,
    attach: int = 2,
    unary_sd: float = 0.5,
    edge_sd: float = 1.0,
    n_rows: int = 19_000,
    n_test: int = 1_000,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> Drawn:
    """Return a scale-free network and rows drawn from it, in the sizes of the paper.

    Parameters
    ----------
    n_variables, n_states, attach, unary_sd, edge_sd
        As in `scale_free_network`, which gives the same network for the same seed.
    n_rows, n_test, n_jobs
        As in `draw`.
    random_state : int, Generator or None
        The same seed gives the same network and rows, whatever `n_jobs`.

    Returns
    -------
    Drawn
        The true ``model``, ``data`` to learn from, ``test`` rows, and the check of ``mixing``.

    Examples
    --------
    >>> made = make_scale_free(12, 3, n_rows=100, n_test=20, random_state=0)
    >>> made.data, made.mixing.ok
    (Table: 100 rows x 12 variables, 3 states each, True)
    >>> made.model == scale_free_network(12, 3, random_state=0)
    True
    """
    rng = generator(random_state)
    model = scale_free_network(
        n_variables,
        n_states,
        attach=attach,
        unary_sd=unary_sd,
        edge_sd=edge_sd,
        random_state=rng,
    )
    return draw(model, n_rows, n_test=n_test, random_state=rng, n_jobs=n_jobs)
