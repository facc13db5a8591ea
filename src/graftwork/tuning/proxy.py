"""What a network will look like, before it is learned: a tree, and what violates beside it.

The Chow-Liu tree has weights in closed form. Pairs that depend more than it explains are about
those that a penalised fit will add: counting them takes one scoring instead of a fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from graftwork.data.compact import Sample
from graftwork.data.counts import PairCounts
from graftwork.grafting.chow_liu import INDEPENDENT, pair_information, tree_potentials
from graftwork.grafting.space import PairSpace
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.objectives.protocol import Point, independent_potentials
from graftwork.objectives.pseudo import PseudoLikelihood
from graftwork.penalties import Penalty
from graftwork.penalties.blocks import Bools, pair_scales

# A look at part of the data is to take about a second: so many pairs, cells of their tables, words
# of bitsets read, and pairs times rows scored at the tree.
MOST_PAIRS = 2**18
MOST_CELLS = 2**22
MOST_WORDS = 2e8
MOST_SCORED = 1e8
LEAST_ROWS = 500
# Some violators at the tree explain each other: about this share becomes edges.
KEPT = 0.75
# All pairs of a sample of this many variables are permuted for the noise level.
NOISE_VARIABLES = 150


@dataclass(frozen=True, slots=True, eq=False)
class Proxy:
    """A guess of the network, on part of the data where all of it would take long.

    Attributes
    ----------
    part : Sample
        The rows and variables looked at.
    tree : Potentials
        The Chow-Liu tree of the part, with its weights.
    edges : (m, 2) int64
        Edges of the guessed network among the part's variables: the tree, then the rest.
    n_edges : int
        How many edges are expected among all variables.
    lam : float
        The penalty that was asked for, or where noise begins.
    variables, rows : float
        How many times more of them the data have than the part.
    """

    part: Sample
    tree: Potentials
    edges: Ints
    n_edges: int
    lam: float
    variables: float
    rows: float


def guess_network(
    sample: Sample,
    penalty: Penalty,
    lam: float | None,
    most: int | None = None,
    *,
    share: float = 1.0,
    rng: np.random.Generator,
) -> Proxy:
    """Return a guess of the network that a penalty gives.

    Parameters
    ----------
    penalty : Penalty
        What pairs are scored by.
    lam : float, optional
        Its strength, where the loss is the pseudo-likelihood (whose gradients are twice those of
        the likelihood); default the noise level.
    most : int, optional
        Most edges.
    share : float
        Without ``lam``: of the noise level.

    Examples
    --------
    >>> from graftwork.data import Table
    >>> from graftwork.data.compact import prepare
    >>> from graftwork.penalties import GroupL1
    >>> codes = [[0, 0, 1, 1] * 9, [0, 0, 1, 1] * 9, [0, 1, 0, 1] * 9]
    >>> sample = prepare(Table(("a", "b", "c"), ((0, 1),) * 3, codes))
    >>> rng = np.random.default_rng(0)
    >>> guess_network(sample, GroupL1(0.01), 0.01, rng=rng).edges.tolist()
    [[0, 1]]
    """
    part = take_part(sample, rng)
    n_all, n = int((sample.cards > 1).sum()), int((part.cards > 1).sum())
    ratio, rows = n_all / max(1, n), sample.total_weight / part.total_weight
    space = PairSpace(np.flatnonzero(part.cards > 1))
    pairs = space.pairs(np.arange(space.size))
    information = pair_information(part, pairs) if len(pairs) else np.zeros(0)
    noise = _noise(part, penalty, rng)
    level = share * noise / np.sqrt(rows) if lam is None else lam
    inside = _spanning(len(part.cards), pairs, information)
    tree = tree_potentials(part, pairs[inside])
    # With fewer rows chance reaches higher: what it explains there does not count.
    look = _Look(part, penalty, level, level**2 + noise**2 * (1.0 - 1.0 / rows))
    edges, expected = look.beside(tree, pairs, information, inside, rng)
    # Of edges between single variables a part has its share squared; chains are joined up again.
    expected = min(round(expected * ratio**1.5), n_all * (n_all - 1) // 2)
    if most is not None:
        expected, edges = min(expected, most), edges[: max(0, round(most / ratio))]
    n_rows = sample.n_rows / max(1, part.n_rows)
    return Proxy(part, tree, edges, expected, float(level), ratio, n_rows)


def take_part(sample: Sample, rng: np.random.Generator) -> Sample:
    """Return the sample, or some of its variables and rows where all would take long.

    Examples
    --------
    >>> from graftwork.data import Table
    >>> from graftwork.data.compact import prepare
    >>> sample = prepare(Table(("a", "b"), ((0, 1),) * 2, [[0, 1, 0], [0, 1, 1]]))
    >>> take_part(sample, np.random.default_rng(0)) is sample
    True
    """
    vary = np.flatnonzero(sample.cards > 1)
    chosen = rng.permutation(vary)
    cells = sample.cards[chosen].cumsum() ** 2 / 2
    fits = (np.arange(len(chosen)) ** 2 / 2 <= MOST_PAIRS) & (cells <= MOST_CELLS)
    chosen = np.sort(chosen[: max(2, int(fits.sum()))])
    cells_left = float(sample.cards[chosen].sum() ** 2) / 2
    words = cells_left / 64 if sample.weights is None else len(chosen) ** 2 / 2
    most = int(max(LEAST_ROWS, MOST_WORDS / max(1.0, words)))
    if len(chosen) == len(vary) and sample.n_rows <= most:
        return sample
    rows = np.arange(sample.n_rows)
    if sample.n_rows > most:
        rows = np.sort(rng.choice(sample.n_rows, most, replace=False))
    return cut(sample, chosen, rows)


def cut(sample: Sample, variables: Ints, rows: Ints) -> Sample:
    """Return some variables and (merged) rows of a sample, with their own counts.

    Examples
    --------
    >>> from graftwork.data import Table
    >>> from graftwork.data.compact import prepare
    >>> sample = prepare(Table(("a", "b"), ((0, 1),) * 2, [[0, 1, 0], [0, 1, 1]]))
    >>> cut(sample, np.array([1]), np.array([0, 2])).codes
    array([[0, 1]], dtype=uint8)
    """
    codes = np.ascontiguousarray(sample.codes[np.ix_(variables, rows)])
    weights = None if sample.weights is None else sample.weights[rows]
    cards = sample.cards[variables]
    counts = PairCounts(codes, cards, weights, sample.counts.n_threads)
    total = float(codes.shape[1] if weights is None else weights.sum())
    kept = tuple(sample.kept[i] for i in variables)
    return Sample(codes, weights, cards, sample.declared[variables], kept, total, counts)


def _spanning(n: int, pairs: Ints, information: Floats) -> Ints:
    """Return which pairs are the edges of the tree of most information."""
    some = np.flatnonzero(information > INDEPENDENT)
    if not len(some):
        return some
    i, j = pairs[some].T
    length = 1.0 + information[some].max() - information[some]
    tree = minimum_spanning_tree(coo_array((length, (i, j)), shape=(n, n)).tocsr()).tocoo()
    wanted = np.sort(tree.row.astype(np.int64) * n + tree.col)
    inside: Ints = some[np.isin(i * n + j, wanted)]
    return inside[np.argsort(-information[inside], kind="stable")]


def _noise(part: Sample, penalty: Penalty, rng: np.random.Generator) -> float:
    """Return about the largest score of any pair of shuffled columns."""
    vary = np.flatnonzero(part.cards > 1)
    if len(vary) < 2:
        return 1.0
    chosen = np.sort(rng.permutation(vary)[:NOISE_VARIABLES])
    some = cut(part, chosen, np.arange(part.n_rows))
    codes = rng.permuted(some.codes, axis=1)
    if some.weights is not None:  # shuffled as the rows were before they were merged
        places = rng.choice(part.n_rows, part.n_rows, p=some.weights / some.weights.sum())
        codes = rng.permuted(some.codes[:, places], axis=1)
    counts = PairCounts(codes, some.cards, None, part.counts.n_threads)
    total = float(codes.shape[1])
    shuffled = Sample(codes, None, some.cards, some.declared, some.kept, total, counts)
    space = PairSpace(np.arange(len(chosen)))
    point = PseudoLikelihood(shuffled).at(independent_potentials(shuffled))
    scores = _scores(point, penalty, shuffled, space.pairs(np.arange(space.size)))
    shrink = total / part.total_weight
    n = len(vary)
    more = np.log(max(2, n * (n - 1) / 2)) / np.log(max(2, space.size))
    return float(scores.max() * np.sqrt(shrink * more))


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """Which pairs violate at a level: those whose squared score is over a bar."""

    part: Sample
    penalty: Penalty
    level: float
    bar: float

    def beside(
        self,
        tree: Potentials,
        pairs: Ints,
        information: Floats,
        inside: Ints,
        rng: np.random.Generator,
    ) -> tuple[Ints, float]:
        """Return the edges of the guess, the tree's first, and how many are expected.

        The most informative pairs are all scored at the tree, of the rest a sample.
        """
        part = self.part
        kept = pairs[inside]
        strong, alone = self._violating(independent_potentials(part), kept)
        kept, tree = kept[strong], _shrunk(tree, alone, self.level)
        rest = np.delete(np.arange(len(pairs)), inside)
        rest = rest[np.argsort(-information[rest], kind="stable")]
        most = int(max(200, MOST_SCORED / (part.n_rows * part.cards.mean())))
        best, others = rest[: most // 2], rest[most // 2 :]
        drawn = rng.permutation(others)[: most - len(best)]
        looked = np.concatenate([best, drawn])
        violating, score = self._violating(tree, pairs[looked])
        weight = np.ones(len(looked))
        weight[len(best) :] = len(others) / max(1, len(drawn))
        order = np.argsort(-score, kind="stable")
        added = pairs[looked[order[violating[order]]]]
        return np.concatenate([kept, added]), len(kept) + KEPT * float(weight[violating].sum())

    def _violating(self, potentials: Potentials, pairs: Ints) -> tuple[Bools, Floats]:
        """Return which pairs violate at these potentials, and their scores."""
        if not len(pairs):
            return np.zeros(0, dtype=bool), np.zeros(0)
        point = PseudoLikelihood(self.part, self.part.counts.n_threads).at(potentials)
        scores = _scores(point, self.penalty, self.part, pairs)
        return scores**2 > self.bar, scores


def _shrunk(tree: Potentials, scores: Floats, level: float) -> Potentials:
    """Return the tree with its tables shrunk, about as a penalty would."""
    shares = np.maximum(0.0, 1.0 - level / np.maximum(scores, 1e-300))
    weights, layout = tree.weights.copy(), tree.layout
    weights[layout.n_unary :] *= np.repeat(shares, layout.edge_sizes)
    return Potentials(layout, weights)


def _scores(point: Point, penalty: Penalty, sample: Sample, pairs: Ints) -> Floats:
    gradients, offsets, _ = point.pair_gradients(pairs)
    return penalty.scores(gradients, offsets, pair_scales(sample.declared, pairs))
