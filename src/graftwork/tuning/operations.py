"""The work of the tests of goal="structure", counted as operations of matrix products.

What tests do (adding lines up, looking numbers up, calls) is counted as so many operations of a
product as would take about as long. ``benchmarks/estimates.py`` compares with real fits.
"""

from __future__ import annotations

import numpy as np

from graftwork.data.compact import Sample
from graftwork.inference.layout import Floats, Ints
from graftwork.tuning.contrasts import pool
from graftwork.tuning.newton import MOST_PARAMETERS, MOST_STATES
from graftwork.tuning.rows import BLOCK_SIZE, LEAST_ROWS
from graftwork.tuning.variances import TILE

# A pair, and each of its rows; an edge, and each of its parameters in each row.
PAIR, PAIR_ROW = 1.6e6, 40.0
EDGE, EDGE_ROW = 4e7, 250.0
# How often all absent pairs are tested, and all edges; Newton steps take as long as so many tests
# of the edges, where Hessians can be had.
PAIR_ROUNDS = 3
EDGE_ROUNDS = 4
NEWTON = 2
# This share of the short list is still there in most rounds.
TESTED = 0.75
# Arrays of a block of rows: conditionals, indicators, residuals.
BLOCK_ARRAYS = 3


def sizes_in_tests(sample: Sample) -> Ints:
    """Return how many differences of states tests tell apart, shape (n_variables,).

    Examples
    --------
    >>> from graftwork.data import Table
    >>> from graftwork.data.compact import prepare
    >>> sizes_in_tests(prepare(Table(("a", "b"), ((0, 1, 2), (0,)), [[0, 1, 2] * 20, [0] * 60])))
    array([2, 0])
    """
    counts = np.split(np.asarray(sample.counts.margins, dtype=np.float64), np.cumsum(sample.cards))
    return np.array([int(pool(part).max()) for part in counts[:-1]], dtype=np.int64)


def of_pair_tests(sizes: Ints, rows: int) -> float:
    """Return the operations to test all absent pairs once.

    Examples
    --------
    >>> of_pair_tests(np.array([1, 1, 0]), 100)
    1604000.0
    """
    count = int((sizes > 0).sum())
    return count * (count - 1) / 2 * (PAIR + PAIR_ROW * rows)


def of_edge_tests(sizes: Ints, edges: Ints, rows: int) -> float:
    """Return the operations to test all edges once.

    Examples
    --------
    >>> of_edge_tests(np.array([1, 2]), np.array([[0, 1]]), 100)
    40050000.0
    """
    free = sizes[edges].prod(axis=1)
    return float((EDGE + EDGE_ROW * rows * free).sum())


def newton_sizes(sample: Sample, edges: Ints) -> Ints | None:
    """Return the differences of states that Newton steps know; None where there are too many.

    Examples
    --------
    >>> from graftwork.data import Table
    >>> from graftwork.data.compact import prepare
    >>> sample = prepare(Table(("a", "b"), ((0, 1),) * 2, [[0, 1, 0], [0, 1, 1]]))
    >>> newton_sizes(sample, np.array([[0, 1]]))
    array([1, 1])
    """
    sizes = np.maximum(sample.cards - 1, 0)
    most = float((sizes * star_widths(sizes, edges)).max(initial=0))
    return sizes if sample.cards.max() <= MOST_STATES and most <= MOST_PARAMETERS else None


def star_widths(sizes: Ints, edges: Ints) -> Floats:
    """Return what each conditional depends on: 1 and its neighbours' differences.

    Examples
    --------
    >>> star_widths(np.array([1, 2, 3]), np.array([[0, 1], [1, 2]]))
    array([3., 5., 3.])
    """
    widths = np.ones(len(sizes))
    if len(edges):
        np.add.at(widths, edges[:, 0], sizes[edges[:, 1]])
        np.add.at(widths, edges[:, 1], sizes[edges[:, 0]])
    return widths


def of_structure(sample: Sample, sizes: Ints, part: Sample, edges: Ints, times: float) -> float:
    """Return the operations of all tests and Newton steps of goal="structure".

    Parameters
    ----------
    sizes : (n_variables,) int64
        Of the sample's tests.
    part : Sample
        The rows and variables among which edges were guessed.
    edges : (m, 2) int64
        Those edges, the surest first.
    times : float
        How many times more there are among all variables.
    """
    rows, edges = sample.n_rows, edges[: round(TESTED * len(edges))]
    rounds = EDGE_ROUNDS + (NEWTON if newton_sizes(part, edges) is not None else 0)
    tested = times * of_edge_tests(sizes_in_tests(part), edges, rows)
    return PAIR_ROUNDS * of_pair_tests(sizes, rows) + rounds * tested


def bytes_of_tests(sizes: Ints, cards: Ints, rows: int) -> int:
    """Return what testing all pairs holds at once: lines of variables, and a block of rows.

    The lines (spreads and moments, at most one for each row) are there twice while they are joined.

    Examples
    --------
    >>> bytes_of_tests(np.array([1, 1]), np.array([2, 2]), 100)
    16000
    """
    lines = min(rows * int((sizes * (sizes + 1)).sum()), 2 * TILE)
    width = max(1, int(cards.sum()))
    block = min(rows, max(LEAST_ROWS, BLOCK_SIZE // width))
    return 8 * (2 * lines + BLOCK_ARRAYS * block * width)
