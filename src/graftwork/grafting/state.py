"""A run's state: the network so far, and the steps that change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from graftwork.grafting.certificate import Stop
from graftwork.grafting.problem import Network, Problem
from graftwork.grafting.recipe import Recipe
from graftwork.grafting.screen import Screen, Stars, Sweep, in_tiles
from graftwork.grafting.selectors import Choice, View
from graftwork.grafting.spaces import PairSpace
from graftwork.grafting.trace import RunLog
from graftwork.inference.layout import Floats, Ints
from graftwork.solvers import Solution

_EMPTY = np.zeros(0, dtype=np.int64)
# With more blocks than this, those that cannot violate are found first.
MANY = 512
# Of at most so many rows an engine that has products of all pairs scores them anew each time:
# keeping bounds would take longer.
ANEW = 2**18
NOTHING_SEEN = Choice(_EMPTY, float("nan"), 0, complete=False)


class RunState:
    """The network so far, the selection's memory, the run log. Every step changes it in place."""

    def __init__(
        self, problem: Problem, recipe: Recipe, log: RunLog, rng: np.random.Generator
    ) -> None:
        self.problem, self.recipe, self.rng, self.log = problem, recipe, rng, log
        self.accuracy = 0.0
        self.futile, self._worst_barred = _EMPTY, 0.0
        self.choice = NOTHING_SEEN

    def first_network(self) -> Any:
        """Return what the recipe starts from: a network without edges, unless it says more."""
        problem, log = self.problem, self.log
        if self.recipe.start is None:
            return problem.family.empty()
        total = problem.space.size

        def halted() -> bool:
            return log.pause(problem.family.tables_counted, total)

        return self.recipe.start.begin(problem, log.budget, self.rng, halted)

    def begin(self, start: Any) -> None:
        """Evaluate the start, and open the space: what must be there is activated."""
        limit = self.log.budget.max_edges
        start = self.problem.family.admitted(start, self.problem.penalty, limit)
        self.space = self.problem.space_for(self.recipe)
        free = self.space.free(start.layout, start.weights)
        network = Network(self.problem.solution(start, free=free), free)
        self.network = network.shrink(self.problem, self.space, _EMPTY)  # tables of zeros go
        active = self.network.active(self.space)
        self.needed = self.problem.family.needed(self.space)
        self.activate(np.setdiff1d(self.needed, active))
        active = self.network.active(self.space)
        self.selection = self.recipe.selector.begin(self.space, active, self.rng)
        if self.recipe.exchange:
            self.log.limit_edges(max(start.layout.n_edges, self.network.layout.n_edges))

    @property
    def solution(self) -> Solution:
        """The network's weights, evaluated."""
        return self.network.solution

    def activate(self, keys: Ints) -> None:
        """Add blocks of zeros."""
        if len(keys):
            self.network = self.network.grow(self.problem, self.space, keys)

    def improve(self, accuracy: float, steps: int | None) -> None:
        """Make the weights better: to the accuracy, or a number of steps."""
        self.network = self.network.solved(
            self.problem, self.recipe.solver, accuracy, steps, self.log.step
        )

    def prune(self, final: bool = False) -> Ints:
        """Drop the blocks that the pruner names; return their keys."""
        active = self.network.active(self.space)
        largest = self.network.largest(self.space, active)
        leaving = self.recipe.pruner.leaving(largest, final)
        if len(self.needed):
            leaving = leaving & ~np.isin(active, self.needed)
        gone: Ints = active[leaving]
        if len(gone):
            self.network = self.network.shrink(self.problem, self.space, gone)
            self.selection.release(gone)
        return gone

    def choose(self) -> Choice:
        """Return what the selector finds at this network."""
        layout, lam = self.network.layout, self.problem.penalty.lam
        limit = self.log.budget.max_edges
        room = self.space.size  # also of a full network: it takes cells of its own edges
        if limit is not None and not self.full():
            room = limit - layout.n_edges
        self._worst_barred = 0.0
        stars, objective = self._stars(), self.problem.objective
        tiled = stars is not None and in_tiles(objective)
        view = View(
            score=self._score_choosable,
            lam=lam,
            threshold=lam + self.accuracy,
            active=self.network.active(self.space),
            degrees=self.problem.family.degrees(layout),
            most=room,
            halted=lambda: self.spent() is not None,
            point=self.solution.point,
            penalty=self.problem.penalty,
            family=self.problem.family,
            screen=self._screen(),
            sweep=self._sweep,
            stars=stars,
            in_tiles=tiled,
            anew=tiled and objective.sample.n_given <= ANEW,
        )
        choice = self.selection.choose(view)
        return replace(choice, worst=max(choice.worst, self._worst_barred))

    def _screen(self) -> Screen | None:
        """Return what is known of all scores, unless some blocks must not be chosen."""
        problem = self.problem
        if len(self.futile) or self.full():
            return None
        return problem.family.screen(problem.objective, problem.penalty, self.space)

    def _sweep(self) -> Sweep | None:
        """Return the scores of all pairs, those above lambda apart; None where that cannot be."""
        screen, lam = self._screen(), self.problem.penalty.lam
        if screen is None:
            return None
        sweep = screen.sweep(self.solution.point, lam, lambda: self.spent() is not None)
        if sweep is not None:
            n_active = len(self.network.active(self.space))
            self.log.count_scores(self.space.size - n_active, exact=True, total=self.space.size)
        return sweep

    def _stars(self) -> Callable[[Ints, int], Stars | None] | None:
        """Return what finds violators among all pairs at some variables; None where that cannot be.

        A limit on tests is kept to the pair, and under a likelihood each pair has its own cost.
        """
        space, limited = self.space, self.log.budget.max_tests is not None
        together = hasattr(self.problem.objective, "known_conditionals")
        if limited or not together or not isinstance(space, PairSpace):
            return None
        return partial(self._look_at_stars, space)

    def _look_at_stars(self, space: PairSpace, variables: Ints, leading: int) -> Stars | None:
        """Return what violates among pairs that have one of the first so many variables."""
        problem = self.problem
        scorer = problem.family.stars(problem.objective, problem.penalty, space)
        if scorer is None:
            return self._list_stars(space, space.keys_of_stars(variables, leading))
        found = scorer.above(
            self.solution.point, variables, leading, problem.penalty.lam,
            lambda: self.spent() is not None,
        )  # fmt: skip
        if found is None:
            return None
        tested = leading * (2 * len(variables) - leading - 1) // 2
        self.log.count_scores(tested, exact=True, total=space.size)
        keys, scores = space.keys(found[0]), found[1]
        away = ~np.isin(keys, self.network.active(space))
        return Stars(keys[away], self._bar(keys[away], scores[away]), tested)

    def _list_stars(self, space: PairSpace, lists: Iterable[Ints]) -> Stars | None:
        """Return the same of pairs that are listed."""
        active, found, scores, tested = self.network.active(space), [_EMPTY], [np.zeros(0)], 0
        for listed in lists:
            keys = listed[~np.isin(listed, active)]
            for start in range(0, len(keys), space.batch):
                if self.spent() is not None:
                    return None
                some = keys[start : start + space.batch]
                found.append(some)
                scores.append(self._score_choosable(some))
                tested += len(some)
        all_keys, all_scores = np.concatenate(found), np.concatenate(scores)
        above = all_scores > self.problem.penalty.lam
        return Stars(all_keys[above], all_scores[above], tested)

    def _score_choosable(self, keys: Ints) -> Floats:
        """Return the scores; blocks that must not be chosen do not seem to violate."""
        return self._bar(keys, self.score(keys))

    def _bar(self, keys: Ints, scores: Floats) -> Floats:
        """Return scores, those of blocks that must not be chosen such that they do not violate.

        Those are blocks whose activation changed nothing and, once there are as many edges as may
        be, cells of other tables.
        """
        barred = np.isin(keys, self.futile)
        if self.full():
            barred |= self.problem.family.absent(self.network.layout, self.space, keys)
        if barred.any():
            self._worst_barred = max(self._worst_barred, float(scores[barred].max()))
            scores = np.where(barred, np.minimum(scores, self.problem.penalty.lam), scores)
        return scores

    def score(self, keys: Ints) -> Floats:
        """Return the scores of inactive blocks.

        Of blocks that cannot violate it may be an earlier point's score.
        """
        if len(keys) < MANY:
            return self._score_counted(keys)
        screen, lam = self._screen(), self.problem.penalty.lam
        doubtful = None if screen is None else screen.doubtful(self.solution.point, lam)
        if screen is None or doubtful is None:
            return self._score_counted(keys)
        scores, open_question = screen.scores[keys], np.isin(keys, doubtful)
        scores[open_question] = self._score_counted(keys[open_question])
        return scores

    def _score_counted(self, keys: Ints) -> Floats:
        """Return the scores of inactive blocks, all of them looked at."""
        if not len(keys):
            return np.zeros(0)
        gradients, offsets, exact = self.space.gradients(self.solution.point, keys)
        self.log.count_scores(len(keys), exact, self.space.size)
        family, penalty = self.problem.family, self.problem.penalty
        scores = family.scores(self.space, penalty, gradients, offsets, keys)
        factors = family.factors_of(self.space, keys)
        # a block violates above its own lam times factor; as scores all violate above one lam
        return scores if factors is None else scores + penalty.lam * (1.0 - factors)

    def cheap_keys(self, most: int) -> Ints:
        """Return blocks that cost little to score: all of few, or those known from before."""
        if self.space.size <= most and self._stars() is not None:
            return np.arange(self.space.size)
        return self.problem.family.known(self.space, most)

    def spent(self) -> Stop | None:
        """Return which budget has run out, if any.

        Edges are a reason to stop where blocks are whole tables; cells of those there may follow.
        """
        return self.log.spent(self.network.layout.n_edges if self.space.whole else 0)

    def full(self) -> bool:
        """Return whether there are as many edges as may be."""
        limit = self.log.budget.max_edges
        return limit is not None and self.network.layout.n_edges >= limit

    def record(self, activated: int, pruned: int, network: Network | None = None) -> None:
        """Write down a round: of this network, or of another one looked at."""
        self.log.record(
            self.problem,
            self.space,
            network or self.network,
            activated=activated,
            pruned=pruned,
            worst=self.choice.worst,
            accuracy=self.accuracy,
        )
