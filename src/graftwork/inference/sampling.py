"""Gibbs sampling, where exact sampling is too large: draws are dependent, and only nearly right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.ragged import grids
from graftwork.inference.wiring import Conditionals, conditionals
from graftwork.kernels.gibbs import LANES, MOST_STATES, deal, run_chains, sum_conditionals
from graftwork.kernels.gibbs_lanes import table_length
from graftwork.kernels.population import add_log_weights
from graftwork.kernels.threads import count_threads, run_chunks

Codes = NDArray[np.uint16]

#: Chains where the caller does not say: a few groups of lanes, so that threads have work.
CHAINS = 64

#: Chains one thread runs side by side: their codes of a variable fill a line of cache.
MOST_LANES = 64

#: Codes of draws held back until they are written where they belong.
HELD_CODES = 2**20

#: Rows scored at a time, so that their codes stay in cache.
ROW_BLOCK = 2048


@dataclass(frozen=True, slots=True, eq=False)
class Lookups:
    """What float32 draws need of a network, padded with zeros to one number of states."""

    sizes: tuple[int, ...]  # as long as the number of states: kernels are compiled for it
    # (n,): variables for which these tables are complete: they and their neighbours have few
    # states
    narrow: NDArray[np.bool_]
    unaries: NDArray[np.float32]  # (n, states)
    # (2 m, states, entries): the table of each slot, by the own state, then by the neighbour's
    tables: NDArray[np.float32]


def look_ups(layout: Layout, given: Conditionals) -> Lookups:
    """Return padded float32 tables of the variables that have few states, as their neighbours.

    Examples
    --------
    >>> layout = Layout.of([2, 3, 40, 2], [(0, 1), (2, 3)])
    >>> found = look_ups(layout, conditionals(layout, layout.zeros()))
    >>> found.narrow, found.tables.shape
    (array([ True,  True, False, False]), (4, 3, 8))
    """
    cards = layout.cards
    owner = np.repeat(np.arange(layout.n_variables), np.diff(given.indptr))
    small = cards <= MOST_STATES
    narrow = small.copy()
    narrow[owner[~small[given.neighbours]]] = False
    slots = np.flatnonzero(narrow[owner])
    s_i, s_j = cards[owner[slots]], cards[given.neighbours[slots]]
    # A neighbour may have more states than all narrow variables, and not be one itself.
    states = int(max(cards[narrow].max(initial=2), s_j.max(initial=2)))
    # Beyond 8 states, fewer kernels to compile are worth some padding.
    states = states if states <= 8 else -(-states // 4) * 4
    unaries = np.zeros((layout.n_variables, states), dtype=np.float32)
    kept, one = np.flatnonzero(narrow), np.ones(narrow.sum(), dtype=np.int64)
    unaries.ravel()[grids(kept * states, one, cards[kept], 0, 1)] = given.unary_exps[
        grids(layout.unary_offsets[kept], one, cards[kept], 0, 1)
    ]
    entries = table_length(states)
    tables = np.zeros((len(owner), states, entries), dtype=np.float32)
    tables.ravel()[grids(slots * states * entries, s_j, s_i, 1, entries)] = given.exps[
        grids(given.starts[slots], s_j, s_i, s_i, 1)
    ]
    return Lookups((0,) * states, narrow, unaries, tables)


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

    Chains go sixteen at a time, so `n_jobs` helps up to a sixteenth of the number of chains.

    Shapes: fixed (n_variables,) int64; start (chains, n_variables) int64.
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
    seeds = rng.integers(0, 2**32, size=(4, chains), dtype=np.uint32)
    bounds = np.linspace(0, n, chains + 1).astype(np.int64)
    out = np.zeros((layout.n_variables, n), dtype=np.uint16)
    if not len(free) or not n:
        out[:] = at_rest[:, None]
        return out
    given = conditionals(layout, np.array(potentials.weights))
    fast = look_ups(layout, given)
    n_threads = count_threads(n_jobs)
    width = _lanes(chains, n_threads)

    def run(first: int) -> None:
        last = min(first + width, chains)
        # Lanes beyond the last chain repeat it, and are thrown away.
        lanes = np.minimum(np.arange(first, first + _whole(last - first)), chains - 1)
        x = np.ascontiguousarray(start[lanes].T, dtype=_code_type(layout))
        state = np.ascontiguousarray(seeds[:, lanes])
        firsts, ends = bounds[first:last], bounds[first + 1 : last + 1]
        _run_group(fast, given, free, x, state, burn_in, thin, firsts, ends, out)

    run_chunks(run, range(0, chains, width), n_threads)
    return out


def _run_group(
    fast: Lookups,
    given: Conditionals,
    free: Ints,
    x: NDArray[np.unsignedinteger[Any]],
    state: NDArray[np.uint32],
    burn_in: int,
    thin: int,
    firsts: Ints,
    ends: Ints,
    out: Codes,
) -> None:
    """Run the chains of ``x`` (n, lanes), and write those asked for to their columns of ``out``."""
    left = int((ends - firsts).max())
    parts = min(-(-left * x.size // HELD_CODES), left)
    draws = -(-left // parts)
    held = np.empty((len(x), draws, x.shape[1]), dtype=x.dtype)
    for part in range(parts):
        run_chains(
            fast.sizes, x, free, fast.narrow, state, 0 if part else burn_in, thin,
            fast.unaries, fast.tables, *given.arrays(), held,
        )  # fmt: skip
        deal(held, firsts + part * draws, ends, out)


def _whole(chains: int) -> int:
    """Return the number of lanes that these chains need."""
    return -(-chains // LANES) * LANES


def _lanes(chains: int, n_threads: int) -> int:
    """Return how many chains a thread should run side by side."""
    return min(_whole(-(-chains // n_threads)), MOST_LANES)


def _code_type(layout: Layout) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if layout.cards.max(initial=1) <= 256 else np.uint16


def log_weights(potentials: Potentials, codes: NDArray[np.unsignedinteger[Any]]) -> Floats:
    """Return the sum of log-potentials of each column of ``codes`` (n_variables, rows)."""
    layout, weights = potentials.layout, potentials.weights
    total = np.zeros(codes.shape[1])
    for i in range(layout.n_variables):
        total += layout.unary(weights, i)[codes[i]]
    starts = layout.edge_offsets[:-1]
    add_log_weights(codes, layout.cards, layout.edges, starts, np.asarray(weights), total)
    return total


def log_conditionals(
    potentials: Potentials, codes: NDArray[np.unsignedinteger[Any]], n_jobs: int | None = 1
) -> Floats:
    """Return sum_i log p(x_i | the others) of each column of ``codes`` (n_variables, rows)."""
    given = conditionals(potentials.layout, np.array(potentials.weights)).arrays()
    rows = codes.shape[1]
    out = np.zeros(rows)

    def run(first: int) -> None:
        part = codes[:, first : first + ROW_BLOCK]
        x = np.zeros((len(part), _whole(part.shape[1])), dtype=np.uint16)
        x[:, : part.shape[1]] = part
        value = np.zeros(x.shape[1])
        sum_conditionals(x, *given, value)
        out[first : first + ROW_BLOCK] = value[: part.shape[1]]

    run_chunks(run, range(0, rows, ROW_BLOCK), count_threads(n_jobs))
    return out
