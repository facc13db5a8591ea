"""Random networks with rows drawn from them: scale-free, Bernoulli, and planted chains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from graftwork.data.values import generator
from graftwork.datasets.checks import state_counts
from graftwork.datasets.drawing import Drawn, draw
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.kernels.tables import centre_tables
from graftwork.models import PairwiseMRF
from graftwork.parameters import number, whole_number


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
    import networkx as nx  # when it is needed: it is slow to load

    n_variables = whole_number("n_variables", n_variables, 2)
    cards = state_counts(n_states, n_variables)
    attach = whole_number("attach", attach, 1, n_variables - 1)
    unary_sd, edge_sd = number("unary_sd", unary_sd, 0.0), number("edge_sd", edge_sd, 0.0)
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
    method: Literal["auto", "exact", "gibbs"] = "auto",
    device: str | None = None,
) -> Drawn:
    """Return a scale-free network and rows drawn from it, in the sizes of the paper.

    Parameters
    ----------
    n_variables, n_states, attach, unary_sd, edge_sd
        As in `scale_free_network`, which gives the same network for the same seed.
    n_rows, n_test, n_jobs, method, device
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
    return draw(
        model,
        n_rows,
        n_test=n_test,
        method=method,
        random_state=rng,
        n_jobs=n_jobs,
        device=device,
    )


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
    import networkx as nx  # when it is needed: it is slow to load

    n_variables = whole_number("n_variables", n_variables, 1)
    cards = state_counts(n_states, n_variables)
    mean_degree = number("mean_degree", mean_degree, 0.0, most=n_variables - 1)
    unary_sd, edge_sd = number("unary_sd", unary_sd, 0.0), number("edge_sd", edge_sd, 0.0)
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
    method: Literal["auto", "exact", "gibbs"] = "auto",
    device: str | None = None,
) -> Drawn:
    """Return a Bernoulli random network and rows drawn from it.

    Parameters
    ----------
    n_variables, n_states, mean_degree, unary_sd, edge_sd
        As in `bernoulli_network`, which gives the same network for the same seed.
    n_rows, n_test, n_jobs, method, device
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
    return draw(
        model,
        n_rows,
        n_test=n_test,
        method=method,
        random_state=rng,
        n_jobs=n_jobs,
        device=device,
    )


def planted_chain(
    n_chain: int = 20,
    n_noise: int = 180,
    n_states: int | Sequence[int] = 2,
    *,
    coupling: float = 1.0,
    unary_sd: float = 0.5,
    shuffle: bool = True,
    random_state: int | np.random.Generator | None = None,
) -> PairwiseMRF:
    """Return a network with few true edges among many pairs: one chain, the rest independent.

    Every chain edge is equally strong: its table is random, double-centred, and scaled. Distant
    variables of the chain depend on each other too, but only through those between them.

    Parameters
    ----------
    n_chain, n_noise : int
        Variables in the chain (at least 2), and independent ones.
    n_states : int or sequence of int
        States of every variable, or of each, in the order of the columns.
    coupling : float
        Root mean square of the entries of an edge's table. With binary variables 1 makes
        neighbours agree (or disagree) 7 times as often as not.
    unary_sd : float
        Standard deviation of the unary log-potentials, in the chain and outside.
    shuffle : bool
        Whether chain variables lie at random places among the columns; otherwise they come first,
        in the order of the chain.
    random_state : int, Generator or None
        The same seed gives the same network.

    Returns
    -------
    PairwiseMRF
        Variables x0, x1, ... named by column: names do not tell who is in the chain, the
        ``n_chain - 1`` edges do.

    Examples
    --------
    >>> model = planted_chain(4, 96, random_state=0)
    >>> model, sorted({round(float(abs(w)), 6) for w in model.weights})
    (PairwiseMRF: 100 variables, 3 edges, [4.0])
    >>> planted_chain(3, 2, shuffle=False, random_state=0).edges
    [('x0', 'x1'), ('x1', 'x2')]
    """
    n_chain, n_noise = whole_number("n_chain", n_chain, 2), whole_number("n_noise", n_noise, 0)
    n_variables = n_chain + n_noise
    cards = state_counts(n_states, n_variables)
    coupling, unary_sd = number("coupling", coupling, 0.0), number("unary_sd", unary_sd, 0.0)
    rng = generator(random_state)
    places = np.arange(n_variables)
    if shuffle:
        places = rng.permutation(n_variables)
    ends = np.sort(np.stack([places[: n_chain - 1], places[1:n_chain]], axis=1), axis=1)
    layout = Layout.of(cards, sorted(map(tuple, ends.tolist())))
    weights = layout.zeros()
    weights[: layout.n_unary] = rng.normal(0.0, unary_sd, layout.n_unary)
    for e in range(layout.n_edges):
        table = layout.table(weights, e)
        table[:] = coupling * _coupling_table(table.shape, rng)
    return named_network(layout, weights)


def _coupling_table(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Return a random table without row or column means, its mean square entry 1."""
    table = rng.normal(size=shape)
    table -= table.mean(axis=0)
    table -= table.mean(axis=1, keepdims=True)
    scale: float = np.sqrt((table**2).mean())
    return table / scale


def make_planted_chain(
    n_chain: int = 20,
    n_noise: int = 180,
    n_states: int | Sequence[int] = 2,
    *,
    coupling: float = 1.0,
    unary_sd: float = 0.5,
    shuffle: bool = True,
    n_rows: int = 2_000,
    n_test: int = 1_000,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    method: Literal["auto", "exact", "gibbs"] = "auto",
    device: str | None = None,
) -> Drawn:
    """Return a chain hidden among independent variables, and rows drawn from it.

    A chain is a tree, so the rows are exact independent draws.

    Parameters
    ----------
    n_chain, n_noise, n_states, coupling, unary_sd, shuffle
        As in `planted_chain`, which gives the same network for the same seed.
    n_rows, n_test, n_jobs, method, device
        As in `draw`.
    random_state : int, Generator or None
        The same seed gives the same network and rows, whatever `n_jobs`.

    Returns
    -------
    Drawn
        The true ``model``, ``data`` to learn from, ``test`` rows, and the check of ``mixing``.

    Examples
    --------
    >>> made = make_planted_chain(5, 45, n_rows=200, random_state=0)
    >>> made.data, made.test, made.mixing.method
    (Table: 200 rows x 50 variables, 2 states each,
     Table: 1000 rows x 50 variables, 2 states each, 'exact')
    """
    rng = generator(random_state)
    model = planted_chain(
        n_chain,
        n_noise,
        n_states,
        coupling=coupling,
        unary_sd=unary_sd,
        shuffle=shuffle,
        random_state=rng,
    )
    return draw(
        model,
        n_rows,
        n_test=n_test,
        method=method,
        random_state=rng,
        n_jobs=n_jobs,
        device=device,
    )


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

    With `centred`, row and column means are taken out of every table. Edges may come in any order.

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
