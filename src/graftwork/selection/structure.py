"""goal="structure": screen down to the noise level, refit, test every pair, keep what is sure.

The l1 penalty shrinks what it keeps and lets in what only shares in it, so no single lambda finds
the edges. Grafting down to the noise level makes a short list; its edges are fitted again without
the penalty, and each is tested, as is each absent pair; a false discovery rate over all pairs says
which to keep. What changes is refitted and tested again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import cast

import numpy as np

from graftwork.grafting import Budget, NetworkFamily, Observer, Outcome, Problem, Recipe
from graftwork.grafting.networks import only
from graftwork.grafting.starts import with_pairs
from graftwork.inference.layout import Ints, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.kernels.threads import one_blas_thread
from graftwork.objectives.protocol import Objective
from graftwork.selection.folds import Fold
from graftwork.selection.levels import Levels, find_levels
from graftwork.selection.pair_tester import PairTester
from graftwork.selection.path import (
    EdgeSelection,
    How,
    LambdaChoice,
    LambdaPath,
    PathEndedError,
    PathPoint,
    path_values,
)
from graftwork.selection.refit import Curved, bent
from graftwork.selection.screening import STAGES_AFTER, begin_with_some_rows, make_short_list
from graftwork.selection.settling import settle
from graftwork.selection.shapes import count_rests, curved_pairs, examine_rests
from graftwork.selection.tested_network import TestedNetwork
from graftwork.selection.tested_refit import REFIT_ACCURACY, Refits
from graftwork.solvers import Solution
from graftwork.testing.contrasts import frequent_states
from graftwork.testing.edge_tests import Findings
from graftwork.testing.evidence import Evidence
from graftwork.testing.lost import NOTHING_LOST, Lost
from graftwork.testing.resampled import NOISE, DrawnFrom

# The short list of a resample is solved to this share of lambda.
RESAMPLE_ACCURACY = 0.01
# Rounds in which pairs enter together, before refits are exact.
MOST_ROUNDS = 2
# How often tables of ordered variables may become whole; afterwards they only become linear.
MOST_SHAPES = 3


@dataclass(frozen=True, slots=True, eq=False)
class StructureResult:
    """A network whose edges were tested.

    Attributes
    ----------
    outcome : Outcome
        The penalised fit at the noise level (the short list), with its certificate and the trace
        of everything.
    refitted : Solution
        The edges kept, fitted without the penalty.
    evidence : Evidence or None
        The tests; None if the run was cut short before.
    path : tuple of PathPoint
    levels : Levels
    choice : LambdaChoice
        How the edges were chosen.
    given : Solution or None
        The edges of the network of the sample that the rows were drawn from, fitted likewise.
    """

    outcome: Outcome
    refitted: Solution
    evidence: Evidence | None
    path: tuple[PathPoint, ...]
    levels: Levels
    choice: LambdaChoice
    given: Solution | None = None


def learn_structure(
    problem_at: Callable[[float], Problem],
    pseudo: Objective,
    recipe: Recipe,
    *,
    fdr: float = 0.01,
    budget: Budget | None = None,
    tolerance: float = 1e-6,
    rng: np.random.Generator,
    observer: Observer | None = None,
    drawn_from: DrawnFrom | None = None,
    start: Potentials | None = None,
    rounds: int | None = None,
    some_rows: Callable[[float], Fold | None] | None = None,
    lost: Lost = NOTHING_LOST,
) -> StructureResult:
    """Return the network of the edges that tests keep at a false discovery rate.

    An interrupt (Ctrl-C) ends it with the best so far, said in the outcome.

    Parameters
    ----------
    problem_at : function
        The problem with a given lambda.
    pseudo : Objective
        The pseudo-likelihood of the same sample (the problem's own loss, if it is that): what the
        tests are about.
    drawn_from : DrawnFrom, optional
        The sample that the rows were drawn from with replacement: tests are then read as those of
        fresh rows, and the edges of that sample's network are fitted too.
    start : Potentials, optional
        The network of almost the same rows: the short list is solved from there, without a path,
        and so are refits, as far as they have its edges. They are the same wherever their solvers
        begin.
    rounds : int, optional
        How often to test all pairs; default until tests of edges and of absent pairs agree. Cut
        short so, the result has no evidence.
    some_rows : function, optional
        About a share of the rows, for the path where there are many.
    lost : Lost
        What missing cells take from the tests.
    """
    walk = LambdaPath(problem_at, budget=budget, rng=rng, observer=observer)
    walk.observer.on_stage("looking for the range of lambda", 0, 4)
    levels = find_levels(problem_at(1.0), walk.late)
    if drawn_from is not None:
        levels = replace(levels, noise=NOISE * levels.noise)
        tolerance = max(tolerance, RESAMPLE_ACCURACY * levels.noise)
    own = problem_at(1.0)
    curved = None
    if pseudo.sample.scores is not None:  # all pairs are straight until tests say otherwise
        curved = frozenset() if drawn_from is None else drawn_from.curved
    problem = bent(Problem(pseudo, own.penalty, own.family), curved)
    contrasts = frequent_states(pseudo.sample, curved)
    refits = Refits(problem, start, drawn_from is not None, walk.late)
    rests = count_rests(problem)
    tester = PairTester(problem, fdr, rests, contrasts, drawn_from, lost, walk.check_time)
    search = _Search(walk, refits, tester, tolerance)
    with one_blas_thread():
        try:
            lams = path_values(levels)
            if start is None and some_rows is not None:
                begin_with_some_rows(walk, lams, some_rows)
            search.screen(lams, recipe)
            search.test(rounds)
        except PathEndedError:
            pass
        except KeyboardInterrupt:
            walk.interrupted = True
    return search.result(levels)


class _Search:
    """The short list, then the tests; what there is when it is interrupted."""

    def __init__(
        self, walk: LambdaPath, refits: Refits, tester: PairTester, tolerance: float
    ) -> None:
        self._walk, self._refits, self._tester, self._tolerance = walk, refits, tester, tolerance
        self._short_list: Outcome | None = None
        self._network: TestedNetwork | None = None
        self._found: _Found | None = None
        self._given: Solution | None = None

    def screen(self, lams: list[float], recipe: Recipe) -> None:
        """Make the short list."""
        walk, near = self._walk, self._refits.near
        self._short_list = make_short_list(walk, lams, recipe, self._tolerance, near)
        walk.check(self._short_list)

    def test(self, rounds: int | None = None) -> None:
        """Test, change, refit, until nothing changes; then measure what is kept exactly."""
        assert self._short_list is not None
        walk = self._walk
        self._note("refitting the short list", 2)
        network = self._pruned(self._short_list.potentials, rounds)
        if rounds is not None:
            return
        settled = settle(network, lambda: self._note("final tests", 0))
        rests = None
        scores, resample = self._tester.problem.objective.sample.scores, self._tester.drawn_from
        if scores is not None and not scores.straight and resample is None:
            network, settled, rests = self._with_curves(network, settled)
        tests = network.limit(settled, walk.budget.max_edges)
        tests = replace(tests, rests=rests, curved=self._bent_edges(tests))
        self._found = _Found(network.fitted, tests)
        lam, potentials = self._short_list.certificate.lam, network.fitted.point.potentials
        if walk.problem_at(lam).objective is not self._refits.problem.objective:
            own = walk.refit(lam, potentials, self._refits.enough, curved=self._curved)
            self._found = replace(self._found, refitted=own)
        if self._tester.drawn_from is not None:
            edges = self._tester.drawn_from.edges
            self._given = self._refit_edges(lam, edges, self._found.refitted)

    def _pruned(self, start: Potentials, rounds: int | None) -> TestedNetwork:
        """Return a network refitted, without the edges that fail, with the pairs that pass."""
        tester = self._tester
        self._walk.check_time()
        network = TestedNetwork(self._refits, tester, start)
        self._walk.check_time()  # a refit that was cut short is no better than the short list
        self._network = network
        edges = network.prune()  # most noise goes before absent pairs are tested
        for turn in range(MOST_ROUNDS if rounds is None else rounds):
            self._note(f"testing all pairs, round {turn + 1}", 1)
            entering = tester.choose(network.test_absent(edges))[1]
            if not len(entering):
                break
            network.enter(entering)
            edges = network.prune()  # what came in is an edge now, and tested as one
        return network

    def _with_curves(
        self, network: TestedNetwork, settled: Evidence
    ) -> tuple[TestedNetwork, Evidence, Findings]:
        """Test what tables of ordered variables have beside their linear parts.

        Where it is there they are taken whole, where it is not there (any more) they are linear,
        and the search goes on. A pair becomes linear once and stays so: the search ends.
        """
        straight: Curved = frozenset()
        for turn in count():
            self._note("testing the shape of relations", 0)
            rests, before = examine_rests(network), self._tester.contrasts.curved or frozenset()
            curved = curved_pairs(rests, self._tester) - straight
            if turn >= MOST_SHAPES:
                curved &= before
            if curved == before:
                break
            straight |= before - curved
            self._refits = replace(self._refits, problem=bent(self._refits.problem, curved))
            contrasts = self._tester.contrasts.bending(curved)
            self._tester = replace(self._tester, problem=self._refits.problem, contrasts=contrasts)
            start = network.fitted.point.potentials
            pairs = np.array(sorted(curved - before), dtype=np.int64).reshape(-1, 2)
            absent = pairs[find_edges(start.layout, pairs) < 0]
            network = self._pruned(with_pairs(start, absent), None)
            settled = settle(network, lambda: self._note("final tests", 0))
        return network, settled, rests

    def _bent_edges(self, tests: Evidence) -> Curved:
        """Return the edges of ordered variables that have whole tables."""
        edges = frozenset((i, j) for i, j in tests.edges.pairs.tolist())
        return edges & (self._curved or frozenset())

    @property
    def _curved(self) -> Curved | None:
        return self._tester.contrasts.curved

    def result(self, levels: Levels) -> StructureResult:
        """Return the best so far; where there is nothing yet, the interrupt goes on."""
        walk, network, found = self._walk, self._network, self._found
        if self._short_list is None and not walk.fits:
            raise KeyboardInterrupt
        outcome = walk.conclude(self._short_list or walk.fits[-1], self._tolerance)
        lam, path = outcome.certificate.lam, _path(walk, outcome)
        if found is None:
            refitted = outcome.solution if network is None else network.sure or network.fitted
            how: How = "tests" if network is None else "testing"
            choice = LambdaChoice(how, lam, outcome.certificate.stop)
            return StructureResult(outcome, refitted, None, path, levels, choice)
        choice = LambdaChoice("tests", lam, tests=self._selection(outcome, found, levels))
        return StructureResult(
            outcome,
            found.refitted,
            found.evidence,
            path,
            levels,
            choice,
            self._given,
        )

    def _selection(self, outcome: Outcome, found: _Found, levels: Levels) -> EdgeSelection:
        """Return how tests chose the edges, in numbers."""
        evidence, residual = found.evidence, found.refitted.residual
        n_required = len(cast(NetworkFamily, self._tester.problem.family).required)
        most, n_edges = self._walk.budget.max_edges, len(evidence.edges.pairs)
        return EdgeSelection(
            n_listed=outcome.certificate.n_edges,
            n_tests=evidence.n_tests,
            n_kept=n_edges - n_required,
            n_required=n_required,
            fdr=evidence.level,
            largest=levels.largest,
            noise=levels.noise,
            sampled=levels.sampled,
            n_contested=evidence.n_contested,
            max_edges=most if n_edges == most else None,
            residual=residual if residual > self._refits.enough else None,
        )

    def _refit_edges(self, lam: float, edges: Ints, found: Solution) -> Solution:
        """Return the refit of other edges than those found."""
        potentials = found.point.potentials
        alone = only(potentials, np.zeros(potentials.layout.n_edges, dtype=bool))
        start = with_pairs(alone, edges)
        if self._walk.problem_at(lam).objective is self._refits.problem.objective:
            return self._refits.fit(start, found)
        start = self._refits.known(start)
        return self._walk.refit(lam, start, REFIT_ACCURACY, found, curved=self._curved)

    def _note(self, text: str, left: int) -> None:
        steps = len(self._walk.fits) + STAGES_AFTER
        self._walk.observer.on_stage(text, steps - 1 - left, steps)


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What a search that came to its end found (see ``StructureResult``)."""

    refitted: Solution
    evidence: Evidence


def _path(walk: LambdaPath, chosen: Outcome) -> tuple[PathPoint, ...]:
    """Return the lambdas of a path, with the one that was chosen."""
    fits = [fit.certificate for fit in walk.fits]
    lam = chosen.certificate.lam
    return tuple(
        PathPoint(fit.lam, fit.n_edges, fit.loss, fit.objective, chosen=fit.lam == lam)
        for fit in fits
    )
