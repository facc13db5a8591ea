"""What makes one violator better than another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from graftwork.data.compact import Sample
from graftwork.grafting.cells import CellSpace
from graftwork.grafting.chow_liu import table_information
from graftwork.grafting.selection import View
from graftwork.grafting.space import Space
from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.gains import cell_gains, table_gains
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.protocol import Point
from graftwork.penalties.protocol import Penalty


class Scorer(Protocol):
    """Ranks violators; the highest is activated first."""

    def rank(self, space: Space, view: View, keys: Ints, scores: Floats) -> Floats:
        """Return a number for each of these violators, given their scores."""
        ...


@dataclass(frozen=True, slots=True)
class Violation:
    """By how much a block violates: the gradient, as in grafting."""

    def rank(self, space: Space, view: View, keys: Ints, scores: Floats) -> Floats:
        """Return the scores."""
        return scores


@dataclass(frozen=True, slots=True)
class Gain:
    """By how much the objective would fall if the block alone were optimised.

    For a single cell under the likelihood that is a closed form (a few Newton steps with l2); for
    a table a small problem is solved. Under the pseudo-likelihood both are lower bounds of the
    gain, exact where the conditionals are the same in every row (at the empty network).

    References
    ----------
    Della Pietra, Della Pietra and Lafferty (1997), Inducing features of random fields; Lee,
    Ganapathi and Koller (2006), with the L1 term.
    """

    def rank(self, space: Space, view: View, keys: Ints, scores: Floats) -> Floats:
        """Return the gains."""
        return block_gains(space, view.point, view.penalty, view.sample, keys)


@dataclass(frozen=True, slots=True)
class MutualInformation:
    """The mutual information of the block's two variables in the data: the similarity baseline.

    It is the same at every point. Cells of one table are told apart by their violation.

    References
    ----------
    Lee, Ganapathi and Koller (2006), the baseline "simple".
    """

    def rank(self, space: Space, view: View, keys: Ints, scores: Floats) -> Floats:
        """Return the mutual information, in nats."""
        pairs, which = _distinct(space.pairs(keys), len(view.sample.cards))
        counts, starts = view.sample.counts.tables(pairs)
        return table_information(view.sample, pairs, counts, starts)[which]


def block_gains(space: Space, point: Point, penalty: Penalty, sample: Sample, keys: Ints) -> Floats:
    """Return by how much the objective would fall if each block alone were optimised."""
    cards = sample.cards
    pairs, which = _distinct(space.pairs(keys), len(cards))
    expected = point.pair_expectations(pairs)
    first, second = cards[pairs[:, 0]], cards[pairs[:, 1]]
    given, offsets = np.asarray(expected.given), expected.offsets
    if isinstance(space, CellSpace):
        of_cells: Floats = cell_gains(
            which, space.cells(keys), second, offsets, expected.model, given, expected.data,
            penalty.lam, penalty.l2,
        )  # fmt: skip
        return of_cells
    solve = np.argsort(which)  # tables in the order of `pairs`
    tolls = penalty.lam * space.scales(sample.declared, keys)[solve]

    def run(part: slice) -> Floats:
        some: Floats = table_gains(
            first[part], second[part], offsets[part], expected.model, given, expected.data,
            tolls[part], penalty.l2, penalty.separable, penalty.lam,
        )  # fmt: skip
        return some

    threads = sample.counts.n_threads
    chunks = cut_evenly((first * second).astype(np.float64), threads)
    gains = np.empty(len(keys))
    gains[solve] = np.concatenate([np.zeros(0), *run_chunks(run, chunks, threads)])
    return gains


def _distinct(pairs: Ints, n: int) -> tuple[Ints, Ints]:
    """Return the distinct pairs in order, and which of them each one is."""
    numbers, which = np.unique(pairs[:, 0] * n + pairs[:, 1], return_inverse=True)
    return np.stack(np.divmod(numbers, n), axis=1), which
