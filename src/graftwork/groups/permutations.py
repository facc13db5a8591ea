"""Group labels dealt out anew: what the tests of difference give where groups are equal.

The pairs stay as they are; each group of a permutation has as many rows as before, and the edges
are fitted to it again, beginning at the weights of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data import Table
from graftwork.estimators.pool import run_pool
from graftwork.estimators.resampling import Units, seeds_for
from graftwork.estimators.spec import FitSpec
from graftwork.finished import Finished
from graftwork.grafting.trace import Observer, Silence
from graftwork.groups.differences import rises_of
from graftwork.groups.estimates import Estimates, fit_edges, norms_of, shared_between
from graftwork.groups.shared_states import Curved
from graftwork.inference.layout import Floats, Ints
from graftwork.models import PairwiseMRF
from graftwork.significance.edge_tests import Findings
from graftwork.significance.tails import log_tail

#: Fits of permutations are solved to this.
ACCURACY = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Permutations:
    """What permutations of the group labels say."""

    n_done: int
    n_asked: int
    # (pairs,): the share of permutations in which the pair differs as much (the observed one
    # included)
    p_values: Floats
    # (pairs,): the share in which some edge of the network of all rows differs as much
    familywise: Floats
    # p-value of the largest difference of all those edges, and of the pairs that groups' own
    # networks have beside them (see `_invariance`)
    invariance: float
    strength: float  # p-value of the difference of global strengths


@dataclass(frozen=True, slots=True, eq=False)
class Permutation:
    """What is kept of one permutation."""

    # rises, sizes: (pairs,): the statistics of the pairs and their numbers of parameters; 0 and 1
    # for a pair that cannot be compared in this permutation
    rises: Floats
    sizes: Floats
    spread: float  # that of the global strengths


@dataclass(frozen=True, slots=True, eq=False)
class Permuting:
    """What permutations are fitted with; ``learn`` does one of them, by number."""

    spec: FitSpec
    units: Units  # the rows of all groups
    sizes: tuple[int, ...]  # how many of them each group has
    pairs: Ints  # (k, 2): the pairs that are tested
    edges: Ints  # (l, 2): all edges that are fitted
    near: PairwiseMRF  # those fitted to all rows
    curved: Curved  # of pairs of ordered variables, only these have whole tables
    seeds: list[np.random.SeedSequence]

    def learn(self, number: int, observer: Observer) -> Permutation:
        """Return the statistics of one permutation."""
        rng = np.random.default_rng(self.seeds[number])
        spec = replace(self.spec, n_jobs=1, observer=observer)
        fits = []
        for copies in self.units.deal(self.sizes, rng):
            observer.on_stage("permutation", number, len(self.seeds))
            rows = self.units.with_copies(copies)
            fit = fit_edges(spec, rows, self.edges, self.near, rng, ACCURACY, self.curved)
            fits.append(fit)
        shared = shared_between(fits)
        there = np.flatnonzero(shared.varying[self.pairs].all(axis=1))
        pairs = self.pairs[there]
        groups = [Estimates.of(each, pairs, shared, robust=False) for each in fits]
        rises, sizes = np.zeros(len(self.pairs)), np.ones(len(self.pairs))
        rises[there] = rises_of(groups, len(pairs))
        sizes[there] = [len(values) for values in groups[0].values]
        return Permutation(rises, sizes, spread_of_strengths(groups))


def spread_of_strengths(groups: list[Estimates]) -> float:
    """Return the largest difference between groups of the sum of the norms of all pairs' tables.

    What noise adds to norms stays in them: permutations have as much of it.
    """
    sums = [float(norms_of(each.values).sum()) for each in groups]
    return max(sums) - min(sums)


def permute(
    permuting: Permuting,
    tests: Findings,
    sizes: Floats,
    known: NDArray[np.bool_],
    n_pairs: int,
    strength: float,
    jobs: int,
    observer: Observer,
    folder: str | PathLike[str] | None = None,
) -> tuple[Permutations, bool]:
    """Return what permutations say of tests, and whether it was interrupted.

    Shapes: sizes (pairs,) float64; known (pairs,) bool.
    """
    asked = len(permuting.seeds)
    watched = replace(permuting, spec=replace(permuting.spec, observer=Silence()))
    settings = replace(watched.spec, seed=None, n_jobs=None, observer=None)  # type: ignore[arg-type]
    finished = Finished.within(
        folder, Permutation, settings, permuting.units, permuting.sizes, permuting.pairs,
        permuting.edges, permuting.curved, permuting.seeds,
    )  # fmt: skip
    done, interrupted = run_pool(watched, range(asked), jobs, observer, "permutations", finished)
    kept = [done[k] for k in sorted(done)]
    scales = np.divide(tests.rises, tests.statistics, out=np.ones(len(sizes)),
                       where=tests.statistics > 0)  # fmt: skip
    drawn = np.array(
        [
            log_tail(one.rises / scales, tests.degrees * one.sizes / np.maximum(sizes, 1.0))
            for one in kept
        ]
    ).reshape(len(kept), len(sizes))
    familywise = np.full(len(sizes), np.nan)
    if known.any():
        least = drawn[:, known].min(axis=1)
        familywise[known] = _shares(least[:, None], tests.log_p[known])
    found = Permutations(
        n_done=len(kept),
        n_asked=asked,
        p_values=_shares(drawn, tests.log_p),
        familywise=familywise,
        invariance=_invariance(familywise, tests.log_p, known, n_pairs) if kept else float("nan"),
        strength=float(_shares(-np.array([[one.spread] for one in kept]), np.array([-strength]))[0])
        if kept
        else float("nan"),
    )
    return found, interrupted


def _invariance(familywise: Floats, log_p: Floats, known: NDArray[np.bool_], n_pairs: int) -> float:
    """Return the p-value of equal networks: of the edges of all rows by permutations, and others.

    A pair whose signs cancel in the network of all rows is an edge in groups alone. It was chosen
    for being different, which permutations of the labels do not repeat: it counts by theory, as one
    of all pairs there were to choose from. Each kind has half of the level.

    Shapes: familywise (pairs,) float64.

    Examples
    --------
    >>> known, log_p = np.array([True, False]), np.log([0.2, 1e-6])
    >>> round(_invariance(np.array([0.3, np.nan]), log_p, known, 101), 6)
    0.0002
    """
    others = n_pairs - int(np.count_nonzero(known))
    found = [float(familywise[known].min())] if known.any() else []
    if others:
        least = float(np.exp(log_p[~known].min())) if (~known).any() else 1.0
        found.append(min(1.0, others * least))
    return min([1.0, *(len(found) * each for each in found)])


def _shares(drawn: Floats, observed: Floats) -> Floats:
    """Return the share of draws that are as small as what was observed, which counts as one too.

    Examples
    --------
    >>> _shares(np.array([[-1.0], [-3.0], [0.0]]), np.array([-2.0]))
    array([0.5])
    """
    if not len(drawn):
        return np.full(len(observed), np.nan)
    smaller = (drawn <= observed + 1e-9).sum(axis=0)
    shares: Floats = (1.0 + smaller) / (1.0 + len(drawn))
    return shares


def make_permuting(
    spec: FitSpec,
    rows: Table,
    sizes: tuple[int, ...],
    pairs: Ints,
    edges: Ints,
    near: PairwiseMRF,
    curved: Curved,
    count: int,
    seed: Any,
) -> Permuting:
    """Return what a number of permutations are fitted with."""
    units = Units.of(rows)
    if units.weights is None:
        weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
        ends = np.cumsum(sizes)
        sizes = tuple(
            round(float(weights[end - size : end].sum()))
            for size, end in zip(sizes, ends.tolist(), strict=True)
        )
    return Permuting(spec, units, sizes, pairs, edges, near, curved, seeds_for(seed, count)[0])
