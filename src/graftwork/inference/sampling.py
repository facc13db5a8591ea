"""Gibbs sampling, where exact sampling is too large: draws are dependent, and only nearly right."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.wiring import conditionals
from graftwork.kernels.gibbs import LANES, run_chains, sum_conditionals
from graftwork.kernels.threads import count_threads, run_chunks

Codes = NDArray[np.uint16]

#: Chains where the caller does not say: two groups of lanes, few enough that burn-in stays cheap.
CHAINS = 16

#: Rows scored at a time, so that their codes stay in cache.
ROW_BLOCK = 2048


def gibbs_sample(
    potentials: Potentials,
    n: int,
    rng: np.random.Generator,
    burn_in: int = 1000,
    thin: int = 10,
    n_chains: int | None = None,
    n_jobs: int | None = 1,
    fixed: Ints | None = None,
    start: Ints | None = None,
) -> Codes:
    """Return ``n`` draws as codes, shape (n_variables, n), from independent Gibbs chains.

    Chains go eight at a time, so `n_jobs` helps up to an eighth of the number of chains.

    Parameters
    ----------
    potentials : Potentials
    n : int
        Draws in all; each chain gives a consecutive block of them.
    rng : numpy.random.Generator
        Starts and seeds come from it; the draws do not depend on `n_jobs`.
    burn_in, thin : int
        Sweeps thrown away at the start of a chain, and sweeps from one draw to the next.
    n_chains : int, optional
        Independent chains, 16 by default (or ``n`` if that is less).
    n_jobs : int, optional
        Threads; None or -1 for every core.
    fixed : (n_variables,) int64, optional
        State of each variable that must not move, -1 for the others.
    start : (chains, n_variables) int64, optional
        Where each chain starts; otherwise every variable in a random state.

    Examples
    --------
    >>> from graftwork.inference import Layout
    >>> layout = Layout.of([2, 2], [(0, 1)])
    >>> strong = Potentials(layout, np.array([0, 0, 0, 0, 9.0, 0, 0, 9.0]))
    >>> draws = gibbs_sample(strong, 100, np.random.default_rng(0))
    >>> draws.shape, bool((draws[0] == draws[1]).mean() > 0.9)
    ((2, 100), True)
    """
    if thin < 1 or burn_in < 0:
        raise ValueError("thin must be at least 1 and burn_in at least 0")
    layout = potentials.layout
    chains = max(1, min(n, CHAINS if n_chains is None else n_chains))
    at_rest = np.full(layout.n_variables, -1, dtype=np.int64) if fixed is None else fixed
    free = np.flatnonzero(at_rest < 0)
    if start is None:
        start = rng.integers(0, layout.cards, size=(chains, layout.n_variables))
    start = np.where(at_rest < 0, start, at_rest)
    seeds = rng.integers(0, 2**64, size=chains, dtype=np.uint64)
    bounds = np.linspace(0, n, chains + 1).astype(np.int64)
    out = np.zeros((layout.n_variables, n), dtype=np.uint16)
    if not len(free):
        out[:] = at_rest[:, None]
        return out
    given = conditionals(layout, np.array(potentials.weights)).arrays()

    def run(first: int) -> None:
        group = np.arange(first, min(first + LANES, chains))
        # Lanes beyond the last chain repeat it, and are thrown away.
        lanes = np.minimum(first + np.arange(LANES), chains - 1)
        x = np.ascontiguousarray(start[lanes].T, dtype=np.uint16)
        draws = int(np.diff(bounds)[group].max())
        part = np.empty((LANES, layout.n_variables, draws), dtype=np.uint16)
        run_chains(x, free, seeds[lanes], burn_in, thin, *given, part)
        for lane, chain in enumerate(group):
            low, high = bounds[chain], bounds[chain + 1]
            out[:, low:high] = part[lane, :, : high - low]

    run_chunks(run, range(0, chains, LANES), count_threads(n_jobs))
    return out


def log_weights(potentials: Potentials, codes: NDArray[np.unsignedinteger[Any]]) -> Floats:
    """Return the sum of log-potentials of each column of ``codes`` (n_variables, rows).

    Examples
    --------
    >>> from graftwork.inference import Layout
    >>> potentials = Potentials(Layout.of([2, 2], [(0, 1)]), np.arange(8.0))
    >>> log_weights(potentials, np.array([[0, 1], [1, 1]], dtype=np.uint8))
    array([ 8., 11.])
    """
    layout, weights = potentials.layout, potentials.weights
    total = np.zeros(codes.shape[1])
    for i in range(layout.n_variables):
        total += layout.unary(weights, i)[codes[i]]
    for e, (i, j) in enumerate(layout.edges):
        total += layout.table(weights, e)[codes[i], codes[j]]
    return total


def log_conditionals(
    potentials: Potentials, codes: NDArray[np.unsignedinteger[Any]], n_jobs: int | None = 1
) -> Floats:
    """Return sum_i log p(x_i | the others) of each column of ``codes`` (n_variables, rows).

    Examples
    --------
    >>> from graftwork.inference import Layout
    >>> flat = Potentials(Layout.of([2, 2], [(0, 1)]), np.zeros(8))
    >>> log_conditionals(flat, np.zeros((2, 1), dtype=np.uint8)).round(4)
    array([-1.3863])
    """
    given = conditionals(potentials.layout, np.array(potentials.weights)).arrays()
    rows = codes.shape[1]
    out = np.zeros(rows)

    def run(first: int) -> None:
        part = codes[:, first : first + ROW_BLOCK]
        x = np.zeros((len(part), -(-part.shape[1] // LANES) * LANES), dtype=np.uint16)
        x[:, : part.shape[1]] = part
        value = np.zeros(x.shape[1])
        sum_conditionals(x, *given, value)
        out[first : first + ROW_BLOCK] = value[: part.shape[1]]

    run_chunks(run, range(0, rows, ROW_BLOCK), count_threads(n_jobs))
    return out
