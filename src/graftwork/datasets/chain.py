"""A chain of strongly coupled variables, hidden among independent ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graftwork.datasets.checks import amount, generator, state_counts, whole
from graftwork.datasets.drawing import Drawn, draw
from graftwork.datasets.normal import named_network
from graftwork.inference.layout import Floats, Layout
from graftwork.models import PairwiseMRF


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
        Root mean square of the entries of an edge's table, so that its strength is ``coupling``
        times the root of the number of entries. With binary variables 1 makes neighbours agree
        (or disagree) 7 times as often as not.
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
    >>> model, sorted({round(model.strength(a, b), 6) for a, b in model.edges})
    (PairwiseMRF: 100 variables, 3 edges, [2.0])
    >>> planted_chain(3, 2, shuffle=False, random_state=0).edges
    [('x0', 'x1'), ('x1', 'x2')]
    """
    n_chain, n_noise = whole("n_chain", n_chain, 2), whole("n_noise", n_noise, 0)
    n_variables = n_chain + n_noise
    cards = state_counts(n_states, n_variables)
    coupling, unary_sd = amount("coupling", coupling), amount("unary_sd", unary_sd)
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
) -> Drawn:
    """Return a chain hidden among independent variables, and rows drawn from it.

    A chain is a tree, so the rows are exact independent draws.

    Parameters
    ----------
    n_chain, n_noise, n_states, coupling, unary_sd, shuffle
        As in `planted_chain`, which gives the same network for the same seed.
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
    return draw(model, n_rows, n_test=n_test, random_state=rng, n_jobs=n_jobs)
