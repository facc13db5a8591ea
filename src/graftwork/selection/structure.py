"""goal="structure": screen down to the noise level, refit, test every pair, keep what is sure.

The l1 penalty shrinks what it keeps and lets in what only shares in it, so no single lambda finds
the edges. Grafting down to the noise level makes a short list; its edges are fitted again without
the penalty, and each is tested, as is each absent pair; a false discovery rate over all pairs says
which to keep. What changes is refitted and tested again, until the tests agree:

1. `StructureSearch.screen`: the short list, a penalised fit at the noise level;
2. `StructureSearch.begin`: refitted, without edges that fail, with absent pairs that pass;
3. `StructureSearch.settle`: pairs come and go once each; where tests of a pair disagree with it and
   without it, the median of three decides (see ``significance/verdicts.py``);
4. `StructureSearch.bend`: tables of ordered variables become whole where tests say so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from graftwork.grafting import Budget, NetworkFamily, Observer, Outcome, Problem, Recipe
from graftwork.grafting.networks import only
from graftwork.grafting.screen import in_tiles
from graftwork.grafting.starts import with_pairs
from graftwork.grafting.trace import check_of
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.kernels.threads import one_blas_thread
from graftwork.objectives.contrasts import Contrasts
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.objectives.protocol import Objective
from graftwork.selection.absent import AbsentPairs
from graftwork.selection.folds import Fold
from graftwork.selection.levels import Levels, find_levels
from graftwork.selection.path import (
    EdgeSelection,
    How,
    LambdaChoice,
    LambdaPath,
    PathEndedError,
    PathPoint,
    path_values,
)
from graftwork.selection.refits import (
    FINAL_ACCURACY,
    LAST_DIGITS,
    REFIT_ACCURACY,
    Curved,
    OtherWay,
    Refits,
    bent,
    switched,
)
from graftwork.significance.edge_tests import Cut, EdgeTests, Findings
from graftwork.significance.evidence import Evidence, log_q_values
from graftwork.significance.lost import NOTHING_LOST, Lost
from graftwork.significance.pair_screen import STRIKING
from graftwork.significance.pair_tests import examine_absent, examine_pairs
from graftwork.significance.pooling import frequent_states
from graftwork.significance.resampled import NOISE, DrawnFrom
from graftwork.significance.rests import rests_of_edges
from graftwork.significance.verdicts import Verdicts, middle_test
from graftwork.solvers import Solution

# The short list of a resample is solved to this share of lambda.
LIST_ACCURACY = 0.01
# With this many rows the path is walked with a share of them, which is not too large or too few.
MANY_ROWS = 200_000
LEAST_ROWS, MOST_SHARE = 50_000, 0.5
# Stages after the last lambda that progress counts: the short list, and those of the tests.
STAGES_AFTER = 4
# Rounds in which pairs enter together, before refits are exact.
MOST_ROUNDS = 2
# How often tables of ordered variables may become whole; afterwards they only become linear.
MOST_SHAPES = 3
# Satterthwaite scales need not be exact: they are estimated from about this many rows.
ROWS, FINAL_ROWS = 2048, 8192
# Absent pairs that are listed though they are there by chance: of very many pairs, those with
# smaller p-values.
LISTED_BY_CHANCE = 2**13
# Edges may leave together if that costs at most this much more than each alone promised.
SLACK = 1.25
# Pairs of ordered variables whose shapes are tested together.
BATCH = 2**14

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class StructureResult:
    """A network whose edges were tested."""

    # the penalised fit at the noise level (the short list), with its certificate and the trace of
    # everything
    outcome: Outcome
    refitted: Solution  # the edges kept, fitted without the penalty
    evidence: Evidence | None  # the tests; None if the run was cut short before
    path: tuple[PathPoint, ...]
    levels: Levels
    choice: LambdaChoice  # how the edges were chosen
    # the edges of the network of the sample that the rows were drawn from, fitted likewise
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
    """
    walk = LambdaPath(problem_at, budget=budget, rng=rng, observer=observer)
    walk.observer.on_stage("looking for the range of lambda", 0, 4)
    levels = find_levels(problem_at(1.0), walk.late)
    if drawn_from is not None:
        levels = replace(levels, noise=NOISE * levels.noise)
        tolerance = max(tolerance, LIST_ACCURACY * levels.noise)
    search = StructureSearch(walk, pseudo, fdr, tolerance, drawn_from, start, lost)
    with one_blas_thread():
        try:
            search.screen(path_values(levels), recipe, some_rows)
            search.test(rounds)
        except PathEndedError:
            pass
        except KeyboardInterrupt:
            walk.interrupted = True
    return search.result(levels)


class StructureSearch:
    """The search, and what there is of the network when it is cut short.

    ``fitted`` is the network, refitted after every change; ``sure`` the last of which all edges
    were tested, without those that failed.
    """

    def __init__(
        self,
        walk: LambdaPath,
        pseudo: Objective,
        fdr: float,
        tolerance: float,
        drawn_from: DrawnFrom | None,
        near: Potentials | None,
        lost: Lost,
    ) -> None:
        self._walk, self._fdr, self._tolerance = walk, fdr, tolerance
        self._drawn_from, self._lost, self._check = drawn_from, lost, check_of(walk.observer)
        own, curved = walk.problem_at(1.0), None
        if pseudo.sample.scores is not None:  # all pairs are straight until tests say otherwise
            curved = frozenset() if drawn_from is None else drawn_from.curved
        problem = bent(Problem(pseudo, own.penalty, own.family), curved)
        self._contrasts: Contrasts = frequent_states(pseudo.sample, curved)
        self._refits = Refits(problem, near, drawn_from is not None, walk.late)
        # Pairs of ordered variables have a second test, of more than a linear part, and with it a
        # second way to become an edge, within the same false discovery rate.
        self._family = problem.space.size + _count_rests(problem)
        self._tilted: dict[object, Any] = {}  # statistics that hold for many networks
        self._short_list: Outcome | None = None
        self._begun = False
        self.fitted: Solution
        self.sure: Solution | None
        self._found: tuple[Solution, Evidence] | None = None
        self._given: Solution | None = None

    # 1. The short list

    def screen(
        self,
        lams: list[float],
        recipe: Recipe,
        some_rows: Callable[[float], Fold | None] | None = None,
    ) -> None:
        """Walk down the path, and make the certified fit at its end.

        Where the network of almost the same rows is known, the fit begins there, without a path.
        """
        walk, start, lam = self._walk, self._refits.near, lams[-1]
        steps = len(lams) + STAGES_AFTER
        if start is None:
            if some_rows is not None:
                self._walk_some_rows(lams, some_rows)
            done = len(walk.fits)
            for step, lam in enumerate(lams[done:], done):
                walk.observer.on_stage(f"lambda {lam:.4g}", step + 1, steps)
                start = walk.step(lam).potentials
                if walk.full:
                    break
        assert start is not None
        walk.observer.on_stage(f"short list at lambda {lam:.4g}", steps - 3, steps)
        self._short_list = walk.settle(recipe, lam, start, self._tolerance)
        walk.check(self._short_list)

    def _walk_some_rows(
        self, lams: Sequence[float], some_rows: Callable[[float], Fold | None]
    ) -> None:
        """Walk down to the last lambda but one with fewer rows, where there are many.

        The noise level of a share of the rows is that of all, divided by the root of the share: as
        many rows are enough at a larger lambda. With an edge budget all rows count from the first
        edge on.
        """
        walk = self._walk
        most, last = walk.problem_at(1.0).objective.sample.n_given, len(lams) - 1
        if most < MANY_ROWS or last < 1 or walk.budget.max_edges is not None:
            return
        share = max((lams[-1] / lams[-2]) ** 2, LEAST_ROWS / most)
        fold = some_rows(share) if share <= MOST_SHARE else None
        if fold is not None:

            def announce(lam: float) -> None:
                steps = len(lams) + STAGES_AFTER
                walk.observer.on_stage(f"lambda {lam:.4g}", lams.index(lam) + 1, steps)

            walk.begin(fold, lams[:-1], announce)

    # 2. Refit, test, drop, take in

    def test(self, rounds: int | None = None) -> None:
        """Test, change, refit, until nothing changes; then measure what is kept exactly."""
        assert self._short_list is not None
        walk = self._walk
        self._note("refitting the short list", 2)
        self.begin(self._short_list.potentials, rounds)
        if rounds is not None:
            return
        tests, rests = self.settle(), None
        scores = self._sample.scores
        if scores is not None and not scores.straight and self._drawn_from is None:
            tests, rests = self.bend(tests)
        tests = self._limited(tests, walk.budget.max_edges)
        tests = replace(tests, rests=rests, curved=self._bent_edges(tests))
        self._found = self.fitted, tests
        lam, potentials = self._short_list.certificate.lam, self.fitted.point.potentials
        if walk.problem_at(lam).objective is not self._problem.objective:
            own = walk.refit(lam, potentials, self._refits.enough, curved=self._curved)
            self._found = own, tests
        if self._drawn_from is not None:
            self._given = self._refit_edges(lam, self._drawn_from.edges, self._found[0])

    def begin(self, start: Potentials, rounds: int | None = None) -> None:
        """Refit a network; drop the edges that fail, and take in the pairs that pass."""
        self._walk.check_time()
        fitted = self._refits.fit(start)
        self._walk.check_time()  # a refit that was cut short is no better than the short list
        self._begun, self.fitted, self.sure = True, fitted, None
        self._absent = AbsentPairs(self._problem.space, self._sample.n_given)
        self._prepared: EdgeTests | None = None
        self._verdicts = Verdicts()
        self._other_way = OtherWay(self._refits, fitted)
        # Pairs that came in by their tests, and edges that left by theirs.
        self._entered: set[tuple[int, ...]] = set()
        self._left: set[tuple[int, ...]] = set()
        # Pairs that came in because two tests in three said so; and those that failed afterwards,
        # with the logarithm of the q-value.
        self._decided: set[Pair] = set()
        self._rivals: dict[Pair, float] = {}
        edges = self._prune()  # most noise goes before absent pairs are tested
        for turn in range(MOST_ROUNDS if rounds is None else rounds):
            self._note(f"testing all pairs, round {turn + 1}", 1)
            entering = self._choose(self._test_absent(edges))[1]
            if not len(entering):
                break
            self.enter(entering)
            edges = self._prune()  # what came in is an edge now, and tested as one

    def _prune(self) -> Evidence:
        """Drop the edges that fail their test, and return the tests."""
        found = self._prepare().findings(ROWS, self._cut)
        tests = self._evidence(self._read(found), Findings.none(0))
        self._drop(tests, np.flatnonzero(~self._choose(tests)[0]))
        self.sure = self.fitted
        return tests

    def _drop(self, tests: Evidence, leaving: Ints) -> None:
        """Refit without the edges at these places, (k,), or without the least sure of them.

        Edges are tested one by one. Where several can stand in for each other (copies of a column),
        none of them looks necessary, but they must not leave together: if that costs more than
        their tests promised, half as many leave.
        """
        before, edges = self.fitted, tests.edges
        rows = self._sample.total_weight
        leaving = leaving[np.argsort(-edges.log_p[leaving], kind="stable")]
        while len(leaving):
            kept = np.ones(len(edges.pairs), dtype=bool)
            kept[leaving] = False
            after = self._refits.fit(only(before.point.potentials, kept), before)
            cost = 2.0 * rows * (after.objective - before.objective)
            promised = SLACK * edges.rises[leaving].sum() + _price(tests, edges.degrees[leaving])
            if len(leaving) == 1 or cost <= promised:
                self.fitted = after
                return
            leaving = leaving[: len(leaving) // 2]

    def enter(self, pairs: Ints) -> None:
        """Take in absent pairs."""
        self._entered.update(map(tuple, pairs.tolist()))
        self._change(with_pairs(self.fitted.point.potentials, pairs))

    def _change(self, potentials: Potentials) -> None:
        """Go on with another network."""
        self.fitted = self._refits.fit(potentials, self.fitted)

    def _limited(self, tests: Evidence, most: int | None) -> Evidence:
        """Keep at most ``most`` edges, the required and the surest; return the tests of those."""
        if most is None or self._layout.n_edges <= most:
            return tests
        required = self._requires(tests.edges.pairs)
        surest = np.argsort(np.where(required, -np.inf, tests.edges.log_p), kind="stable")
        kept = _among(self._layout.edges, tests.edges.pairs[surest[:most]])
        self._change(only(self.fitted.point.potentials, kept))
        self.fitted = self._refits.sharpen(self.fitted, LAST_DIGITS, FINAL_ACCURACY)
        prepared = self._prepare(anew=True)
        return self._measured(self._test_all(prepared, exact=True), prepared)

    # Tests of the network as it is

    def _prepare(self, *, anew: bool = False) -> EdgeTests:
        """Return what tests of the edges have in common (see `EdgeTests.of`).

        Of many variables some of it may be of a network that hardly differs, and of many rows some
        may stand for all, unless it is made anew.
        """
        known, potentials = self._prepared, self.fitted.point.potentials
        if anew and known is not None and known.exact and known.rows.potentials is potentials:
            return known
        self._walk.check_time()
        before = None if anew else known
        found = EdgeTests.of(self._rows(self.fitted), before=before, roughly=not anew)
        if not found.renewed and self._absent.many:
            self._prepared = found
        return found

    def _test_absent(self, known: Evidence) -> Evidence:
        """Return the tests of absent pairs, with known ones of the edges that are still there."""
        among = self._worth_testing()
        self._walk.check_time()
        others = self._tests_of_absent(self._rows(self.fitted), False, among)
        there = find_edges(self._layout, known.edges.pairs) >= 0
        tests = self._evidence(known.edges.some(there), others)
        self._absent.keep(tests, self.fitted.point, among)
        return tests

    def _test_all(
        self, prepared: EdgeTests, *, exact: bool = False, among: Ints | None = None
    ) -> Evidence:
        """Return the tests of edges and of absent pairs, all or ``among`` some, (k, 2).

        ``exact``: all striking absent pairs are tested exactly, not only where that may change a
        decision.
        """
        others = self._tests_of_absent(prepared.rows, exact, among)
        return self._evidence(self._read(prepared.findings(FINAL_ROWS, self._cut)), others)

    def _tests_of_absent(self, rows: FittedRows, exact: bool, among: Ints | None) -> Findings:
        point, cut = self.fitted.point, None if exact else self._cut
        if among is None:
            found = examine_absent(rows, point, self._problem, cut, self._striking)
        else:
            absent = among[find_edges(point.potentials.layout, among) < 0]
            found = examine_pairs(rows, point, absent, striking=self._striking)
        return self._read(found)

    def _worth_testing(self, *, risen: bool = True) -> Ints | None:
        """Return the pairs to test, with those that came close since; None for all."""
        if self._absent.close is None or not risen:
            return self._absent.close
        return self._absent.again(self._rows(self.fitted), self.fitted.point, self._cut)

    def _measured(self, tests: Evidence, prepared: EdgeTests) -> Evidence:
        """Return the tests with those of all edges exact, and standard errors.

        Of a resample only the edges themselves are kept, so its tests stay as they are.
        """
        if self._drawn_from is not None:
            return tests
        edges, errors = prepared.measured(FINAL_ROWS)
        errors = self._lost.errors(edges.pairs, errors)
        return replace(tests, edges=self._read(edges), errors=errors)

    def _middle_test(self, here: Solution, there: Solution, pair: Ints) -> Findings:
        """Return the middle one of three tests of a pair that is an edge of one of two refits."""
        fits = [here, there]
        if find_edges(here.point.potentials.layout, pair)[0] >= 0:
            fits = fits[::-1]
        return self._read(middle_test(fits, [*map(self._rows, fits)], pair, FINAL_ROWS))

    def _choose(self, tests: Evidence) -> tuple[NDArray[np.bool_], Ints]:
        """Return which edges to keep, and which other pairs are edges too, the surest first."""
        return tests.choose(self._requires(tests.edges.pairs))

    def _requires(self, pairs: Ints) -> NDArray[np.bool_]:
        """Return which pairs are edges whatever their tests say."""
        return cast(NetworkFamily, self._problem.family).requires(pairs)

    def _rows(self, fitted: Solution) -> FittedRows:
        """Return the sample under a refitted network."""
        return FittedRows.of(fitted.point, self._contrasts, self._tilted, self._check)

    def _read(self, findings: Findings) -> Findings:
        """Return tests as they are read: without what is missing, and as those of fresh rows."""
        findings = self._lost.read(findings)
        return findings if self._drawn_from is None else self._drawn_from.fresh(findings)

    def _evidence(self, edges: Findings, others: Findings) -> Evidence:
        size = self._problem.space.size
        return Evidence(edges, others, size, self._fdr, self._family, striking=self._striking)

    @property
    def _cut(self) -> Cut:
        """The false discovery rate that edges need."""
        return Cut(self._fdr, self._family, self._read)

    @property
    def _striking(self) -> float:
        """The largest p-value of interest: .05, or the rate asked for; less of very many pairs."""
        size = max(1, self._problem.space.size)
        return min(max(STRIKING, self._fdr), LISTED_BY_CHANCE / size)

    # 3. Until tests of edges and of absent pairs agree

    def settle(self) -> Evidence:
        """Change the network until its tests agree, with exact refits; return the tests."""
        absent, exact = self._absent, True
        # An engine that has products of all pairs looks at them in less time than it tests a list:
        # there striking pairs are listed once decisions agree.
        late = in_tiles(self._problem.objective)
        while True:
            self._note("final tests", 0)
            if exact:
                self.fitted = self._refits.finish(self.fitted)
            prepared = self._prepare()
            among, lists = self._worth_testing(risen=exact), exact and not absent.many
            tests = self._test_all(prepared, exact=lists, among=among)
            if exact:
                absent.keep(tests, self.fitted.point, among)
            self.sure = self.fitted
            then = self._agree(tests, exact)
            if then is None and not (lists and prepared.exact):
                # all that is striking is listed once, at the end
                prepared = self._prepare(anew=True)
                tests = self._test_all(prepared, exact=not late)
                absent.keep(tests, self.fitted.point, None)
                then = self._agree(tests, exact)
                if then is None and late:
                    others = self._tests_of_absent(prepared.rows, True, None)
                    tests = replace(tests, others=others)
                    then = self._agree(tests, exact)
            if then is None:
                break
            exact = then or self._refits.resampled  # every refit of a resample is a last one
        evidence = self._verdicts.applied(self._measured(tests, prepared), self._layout)
        passing = _as_tuples(self._doubted(evidence)[1])
        rivals = {pair: q for pair, q in self._rivals.items() if pair in passing}
        return replace(evidence, rivals=rivals)

    def _agree(self, tests: Evidence, exact: bool) -> bool | None:
        """Change pairs as tests say; return whether the refit is to be exact, None if all agree."""
        if self._move(self._verdicts.applied(tests, self._layout)):
            return False
        return True if not exact or self._decide(tests) else None

    def _move(self, evidence: Evidence) -> bool:
        """Drop edges, or else take in absent pairs, that did not move before.

        Of those that share a variable only the clearest move. Returns whether there were any.
        """
        failing, entering = self._doubted(evidence)
        leaving = apart(_without(failing, self._left))
        if len(leaving):
            self._left.update(map(tuple, leaving.tolist()))
            self._drop(evidence, np.flatnonzero(_among(evidence.edges.pairs, leaving)))
            return True
        entering = apart(_without(entering, self._entered))
        if len(entering):
            self.enter(entering)
        return len(entering) > 0

    def _decide(self, tests: Evidence) -> bool:
        """Change the pairs of which two tests in three say so; return whether there are any.

        Each edge that fails its test, and each absent pair that passes, is fitted both ways. Of
        pairs that share a variable only one changes, and one that came in so and fails does not
        come in again: it and others stand in for each other (a q-value depends on the tests of
        all pairs, so an absent pair may pass and, once it is an edge, fail by the same p-value).
        """
        here, layout, verdicts = self.fitted, self._layout, self._verdicts
        if self._other_way.here is not here:
            self._other_way = OtherWay(self._refits, here)
        fits: dict[Pair, Solution] = {}
        while True:
            evidence = verdicts.applied(tests, layout)
            failing, entering = self._doubted(evidence)
            entering = _without(entering, self._rivals.keys())
            doubted = apart(np.concatenate([failing, entering]))
            pairs = _as_tuples(doubted)
            new = next((pair for pair in pairs if verdicts.get(pair, layout) is None), None)
            if new is None:
                break
            self._walk.check_time()
            fits[new] = there = self._other_way.fit(np.array([new]))
            verdicts.add(new, self._middle_test(here, there, np.array([new])), layout)
        for place, pair in enumerate(_as_tuples(evidence.edges.pairs)):
            if pair in self._decided and pair in pairs:
                self._rivals[pair] = float(evidence.edge_log_q[place])
        self._decided.update(set(pairs) & set(_as_tuples(entering)))
        if len(pairs) == 1 and pairs[0] in fits:
            self.fitted = fits[pairs[0]]
        elif pairs:
            self._change(switched(here.point.potentials, doubted))
        return len(pairs) > 0

    def _doubted(self, evidence: Evidence) -> tuple[Ints, Ints]:
        """Return the edges that fail their tests and the absent pairs that pass, clearest first."""
        kept, entering = self._choose(evidence)
        failing = np.flatnonzero(~kept)
        order = np.argsort(-evidence.edges.log_p[failing], kind="stable")
        return evidence.edges.pairs[failing[order]], entering

    # 4. Shapes of relations between ordered variables

    def bend(self, tests: Evidence) -> tuple[Evidence, Findings]:
        """Test what tables of ordered variables have that is not linear; return all tests.

        Where it is there they are taken whole, where it is not there (any more) they are linear,
        and the search goes on. A pair becomes linear once and stays so: the search ends.
        """
        straight: Curved = frozenset()
        for turn in count():
            self._note("testing the shape of relations", 0)
            rests, before = self._test_rests(), self._curved or frozenset()
            curved = curved_pairs(rests, self._family, self._fdr) - straight
            if turn >= MOST_SHAPES:
                curved &= before
            if curved == before:
                break
            straight |= before - curved
            self._refits = replace(self._refits, problem=bent(self._problem, curved))
            self._contrasts = self._contrasts.bending(curved)
            start = self.fitted.point.potentials
            pairs = np.array(sorted(curved - before), dtype=np.int64).reshape(-1, 2)
            absent = pairs[find_edges(start.layout, pairs) < 0]
            self.begin(with_pairs(start, absent))
            tests = self.settle()
        return tests, rests

    def _test_rests(self) -> Findings:
        """Return a test of what each pair of ordered variables has that is not linear.

        Edges are fitted with whole tables for that: a pair may look bent only because an edge near
        it is bent and its table is linear.
        """
        fitted, layout, scores = self.fitted, self._layout, self._sample.scores
        ordered, found = scores.split(layout.edges), [Findings.none(0)]
        if ordered.any():
            refits = replace(self._refits, problem=bent(self._problem, None))
            fitted = refits.finish(refits.fit(fitted.point.potentials, fitted))
            edges = rests_of_edges(FittedRows.of(fitted.point, self._contrasts.bending(None)))
            found.append(edges.findings(FINAL_ROWS))
        rows = FittedRows.of(fitted.point, self._contrasts.bending(frozenset()))
        for pairs in _ordered_absent(self._problem, layout.edges[ordered]):
            found.append(examine_pairs(rows, fitted.point, pairs, rests=True))
        return self._lost.read(Findings.joined(found))

    def _bent_edges(self, tests: Evidence) -> Curved:
        """Return the edges of ordered variables that have whole tables."""
        edges = frozenset((i, j) for i, j in tests.edges.pairs.tolist())
        return edges & (self._curved or frozenset())

    # The result

    def result(self, levels: Levels) -> StructureResult:
        """Return the best so far; where there is nothing yet, the interrupt goes on."""
        walk, found = self._walk, self._found
        if self._short_list is None and not walk.fits:
            raise KeyboardInterrupt
        outcome = walk.conclude(self._short_list or walk.fits[-1], self._tolerance)
        lam, path = outcome.certificate.lam, _path(walk, outcome)
        if found is None:
            refitted = self.sure or self.fitted if self._begun else outcome.solution
            how: How = "testing" if self._begun else "tests"
            choice = LambdaChoice(how, lam, outcome.certificate.stop)
            return StructureResult(outcome, refitted, None, path, levels, choice)
        refitted, evidence = found
        choice = LambdaChoice("tests", lam, tests=self._selection(outcome, levels))
        return StructureResult(outcome, refitted, evidence, path, levels, choice, self._given)

    def _selection(self, outcome: Outcome, levels: Levels) -> EdgeSelection:
        """Return how tests chose the edges, in numbers."""
        assert self._found is not None
        refitted, evidence = self._found
        n_required = len(cast(NetworkFamily, self._problem.family).required)
        most, n_edges = self._walk.budget.max_edges, len(evidence.edges.pairs)
        residual = refitted.residual
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
        if self._walk.problem_at(lam).objective is self._problem.objective:
            return self._refits.fit(start, found)
        start = self._refits.known(start)
        return self._walk.refit(lam, start, REFIT_ACCURACY, found, curved=self._curved)

    @property
    def _problem(self) -> Problem:
        """The pseudo-likelihood, with the pairs that may be edges."""
        return self._refits.problem

    @property
    def _sample(self) -> Any:
        return self._problem.objective.sample

    @property
    def _layout(self) -> Layout:
        layout: Layout = self.fitted.point.potentials.layout
        return layout

    @property
    def _curved(self) -> Curved | None:
        return self._contrasts.curved

    def _note(self, text: str, left: int) -> None:
        steps = len(self._walk.fits) + STAGES_AFTER
        self._walk.observer.on_stage(text, steps - 1 - left, steps)


def curved_pairs(rests: Findings, n_tests: int, fdr: float) -> Curved:
    """Return the pairs whose rest is there at the false discovery rate of all tests."""
    log_q = log_q_values(rests.log_p, n_tests)
    return frozenset((i, j) for i, j in rests.pairs[log_q <= np.log(fdr)].tolist())


def _count_rests(problem: Problem) -> int:
    """Return how many pairs that may be edges have a linear part and a rest."""
    scores = problem.objective.sample.scores
    if scores is None or scores.straight:
        return 0
    return sum(map(len, _ordered_absent(problem, np.zeros((0, 2), dtype=np.int64))))


def _ordered_absent(problem: Problem, edges: Ints) -> list[Ints]:
    """Return the pairs of ordered variables that may be edges and are none, in batches."""
    space, scores = problem.space, problem.objective.sample.scores
    taken, batches = np.sort(space.keys(edges)), []
    for start in range(0, space.size, BATCH):
        keys = np.setdiff1d(np.arange(start, min(start + BATCH, space.size)), taken)
        pairs = space.pairs(keys)
        batches.append(pairs[scores.split(pairs)])
    return [pairs for pairs in batches if len(pairs)]


def apart(pairs: Ints) -> Ints:
    """Return those of some pairs that share no variable with one before them."""
    used: set[int] = set()
    chosen = []
    for k, pair in enumerate(pairs.tolist()):
        if used.isdisjoint(pair):
            used.update(pair)
            chosen.append(k)
    return pairs[chosen]


def _among(pairs: Ints, some: Ints) -> NDArray[np.bool_]:
    """Return which pairs are among some."""
    listed = set(_as_tuples(some))
    return np.array([pair in listed for pair in _as_tuples(pairs)], dtype=bool)


def _as_tuples(pairs: Ints) -> list[Pair]:
    """Return pairs as tuples."""
    return [(i, j) for i, j in pairs.tolist()]


def _without(pairs: Ints, gone: Collection[tuple[int, ...]]) -> Ints:
    """Return those of some pairs that are not among others."""
    return pairs[[pair not in gone for pair in _as_tuples(pairs)]]


def _price(tests: Evidence, degrees: Floats) -> float:
    """Return the statistic that the largest of some tables would need to be the only edge."""
    return float(chdtri(degrees.max(), tests.level / max(1, tests.family)))


def _path(walk: LambdaPath, chosen: Outcome) -> tuple[PathPoint, ...]:
    """Return the lambdas of a path, with the one that was chosen."""
    lam = chosen.certificate.lam
    return tuple(
        PathPoint(fit.lam, fit.n_edges, fit.loss, fit.objective, chosen=fit.lam == lam)
        for fit in (each.certificate for each in walk.fits)
    )
