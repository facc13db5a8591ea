"""Digits and SNPs: real rows in parts, and what penalties and trees are worth on them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from experiments.engine import Context
from experiments.l1_markov.inference import Line, stalls_are_counted
from experiments.l1_markov.made import made_digits, made_genotypes
from experiments.l1_markov.penalties import (
    PAPER,
    Held,
    by_paper,
    chow_liu,
    compare_penalties,
    held,
    l2_by_propagation,
    paper_grid,
)
from graftwork.data import Table
from graftwork.datasets import Parts, load_hapmap, load_mnist
from graftwork.estimators import MarkovNetwork
from graftwork.parameters import gather

#: How L1 is learned with neighbouring pixels alone, and the network whose edges are measured.
NEIGHBOURS: dict[str, Any] = {"method": "full", "penalty": "l1"}
LENGTHS: dict[str, Any] = {"method": "working-set", "penalty": "l1"}
#: People and SNPs of the made panel.
MADE_PANEL = (120, 400)
# Genotypes of a child and a parent share an allele at every SNP but for errors of the assay. At
# most so many SNPs of 603 may say otherwise: that gives families of three, some of them joined.
_OPPOSITE = 2


def digit_parts(context: Context, digit: int, side: int, rows: int, n_test: int) -> Parts:
    """Return coarse images of one digit to learn from, to validate on, and to test on."""
    if context.size == "tiny":
        images = made_digits(digit, 2 * rows + n_test, side)
        train, test = images[: 2 * rows], images[2 * rows :]
    else:
        found = load_mnist(context.folder, digits=digit, n_train=2 * rows, size=side)
        train, test = found.train, found.test[: min(n_test, found.test.n_rows)]
    return Parts(train[:rows], test, train[rows:])


def compare_on(context: Context, parts: Parts, grid: Any) -> list[Line]:
    """Return what L1, L2, no penalty and a tree are worth on real rows."""
    options: dict[str, Any] = {"observer": context.observer, "n_jobs": context.n_jobs}
    with stalls_are_counted():
        found = compare_penalties(parts, grid=grid, **options)
        tree = chow_liu(parts, **options)
        found["chow-liu"] = held(tree.model_, 0.0, parts.test)
    return [line_of(name, one) for name, one in found.items()]


def compare_on_pixels(context: Context, parts: Parts, lam: float, loopy_grid: Any) -> list[Line]:
    """Return what L1 is worth with neighbouring pixels alone, and L1 and L2 by belief propagation.

    The first at the lambda chosen for all pairs, the others as the paper learns them.
    """
    options: dict[str, Any] = {"observer": context.observer, "n_jobs": context.n_jobs}
    with stalls_are_counted():
        near = MarkovNetwork(
            lam=lam,
            n_jobs=context.n_jobs,
            verbose=context.observer,
            **NEIGHBOURS,
            **gather({"candidates": neighbours}),
        ).fit(parts.train)
        found = {
            "l1, neighbours only": held(near.model_, lam, parts.test),
            PAPER: by_paper(parts, grid=paper_grid(parts.train.n_rows), **options),
            "l2, bp": l2_by_propagation(parts, loopy_grid, **options),
        }
    return [line_of(name, one) for name, one in found.items()]


def line_of(name: str, one: Held) -> Line:
    """Return what a network is worth as a line of plain values."""
    return {"penalty": name, **one._asdict(), "hamming": list(one.hamming)}


def neighbours(first: str, second: str) -> bool:
    """Return whether two pixels touch, be it by a corner.

    Examples
    --------
    >>> neighbours("r1c1", "r2c2"), neighbours("r1c1", "r1c3")
    (True, False)
    """
    return distance(first, second) == 1


def distance(first: str, second: str) -> int:
    """Return how many moves of a chess king two pixels are apart.

    Examples
    --------
    >>> distance("r0c0", "r2c5")
    5
    """
    (r, c), (s, d) = (map(int, name[1:].split("c")) for name in (first, second))
    return max(abs(r - s), abs(c - d))


def edge_lengths(context: Context, parts: Parts, side: int, lam: float) -> dict[str, int]:
    """Return how many edges of L1's network join pixels so many moves apart."""
    settings = {**LENGTHS, "lam": lam, "n_jobs": context.n_jobs, "verbose": context.observer}
    net = MarkovNetwork(**settings).fit(parts.train)
    lengths = [distance(str(a), str(b)) for a, b in net.model_.edges]
    return {str(length): lengths.count(length) for length in range(1, side)}


# ---- SNPs ----------------------------------------------------------------------------------------


def families(genotypes: Table) -> NDArray[np.int64]:
    """Return a number for each person, the same for those who may be parent and child."""
    codes = genotypes.codes.T.astype(np.int64)
    graph = nx.empty_graph(len(codes))
    for i, j in combinations(range(len(codes)), 2):
        # Missing is 3, which is two away from 1 alone: those cells do not count.
        apart = (np.abs(codes[i] - codes[j]) == 2) & (codes[i] != 3) & (codes[j] != 3)
        if apart.sum() <= _OPPOSITE:
            graph.add_edge(i, j)
    out = np.empty(len(codes), dtype=np.int64)
    for number, family in enumerate(nx.connected_components(graph)):
        out[list(family)] = number
    return out


def _genotypes(context: Context, which: str, *, binary: bool) -> Table:
    """Return the genotypes of a panel, or who carries the rarer allele; made ones in tiny size."""
    if context.size == "tiny":
        return made_genotypes(which, *MADE_PANEL, binary=binary)
    return load_hapmap(context.folder, which, binary=binary).table


def snp_parts(
    context: Context, which: str, window: int, width: int, shares: tuple[float, float]
) -> Parts:
    """Return a window of neighbouring SNPs of complete rows, in parts no family is in two of.

    Parameters
    ----------
    which : {"chr22", "chr10"}
    window, width : int
        Which window of so many SNPs.
    shares : two floats
        Of the families, to learn from and to validate on.
    """
    carriers = _genotypes(context, which, binary=True)
    kin = np.arange(carriers.n_rows)
    if which == "chr22":  # the people of the other panel were resampled: there are no families
        kin = families(_genotypes(context, which, binary=False))
    begin = window * width
    codes = carriers.codes[begin : begin + width]
    complete = (codes < 2).all(axis=0)
    table = Table(carriers.names[begin : begin + width], ((0, 1),) * width, codes[:, complete])
    kin = kin[complete]
    rng = np.random.default_rng([context.seed, window])
    order = rng.permutation(np.unique(kin))
    cuts = np.cumsum([round(share * order.size) for share in shares])
    train, valid, test = (np.isin(kin, part) for part in np.split(order, cuts))
    return Parts(table[np.flatnonzero(train)], table[np.flatnonzero(test)],
                 table[np.flatnonzero(valid)])  # fmt: skip
