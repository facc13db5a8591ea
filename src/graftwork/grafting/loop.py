"""THE loop: score, choose, improve, prune, until a stop rule speaks.

It never knows which published algorithm it is running: that is a choice of parts, a ``Recipe``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from graftwork.grafting.certificate import Certificate
from graftwork.grafting.selection import Choice, Selector, View
from graftwork.grafting.space import PairSpace
from graftwork.grafting.trace import Observer, Round, Silence
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.objectives.protocol import Objective, independent_potentials
from graftwork.penalties.blocks import Blocks, pair_scales
from graftwork.penalties.protocol import Penalty
from graftwork.solvers.memory import Memory
from graftwork.solvers.proximal import ProximalQuasiNewton, Solution, Solver, measure

# Early rounds are solved to this share of lam; it shrinks tenfold when nothing violates, down to
# the tolerance.
FIRST_ACCURACY = 0.1
# A round need not be solved further than this share of the violation that started it.
ROUND_ACCURACY = 0.2
# A run that ends on a budget looks again at (at most) so many pairs whose tables are counted.
MOST_LAST_LOOKS = 50_000
_EMPTY = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A published algorithm as a choice of parts."""

    name: str
    selector: Selector
    solver: Solver = field(default_factory=ProximalQuasiNewton)


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop before nothing more is wanted; None is no limit."""

    max_edges: int | None = None
    max_rounds: int | None = None
    max_tests: int | None = None
    max_seconds: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What is minimised: a loss plus a penalty, over edges between some variables."""

    objective: Objective
    penalty: Penalty
    penalise_unary: bool = False

    @property
    def space(self) -> PairSpace:
        """All pairs of variables that vary: a constant column has no edges."""
        return PairSpace(np.flatnonzero(self.objective.sample.cards > 1))

    def blocks(self, layout: Layout) -> Blocks:
        """Return the blocks of a layout, with their penalty scales."""
        return Blocks.of(layout, self.objective.sample.declared, self.penalise_unary)

    def solution(
        self, potentials: Potentials, memory: Memory | None = None, near: Solution | None = None
    ) -> Solution:
        """Return these potentials, evaluated."""
        point = self.objective.at(potentials, near.point if near else None)
        return measure(point, self.penalty, self.blocks(potentials.layout), 0, memory)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a run of the loop gives."""

    solution: Solution
    certificate: Certificate
    trace: tuple[Round, ...]

    @property
    def potentials(self) -> Potentials:
        """The network at the end."""
        return self.solution.point.potentials

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the run; the network is the best so far."""
        return self.certificate.stop == "interrupted"


def graft(
    problem: Problem,
    recipe: Recipe,
    *,
    start: Potentials | None = None,
    budget: Budget | None = None,
    tolerance: float = 1e-6,
    rng: np.random.Generator | None = None,
    observer: Observer | None = None,
) -> Outcome:
    """Return the network grown from ``start`` (default: no edges) until nothing more is wanted.

    An interrupt (Ctrl-C) ends the run with the last finished round.
    """
    run = _Run(
        problem,
        recipe,
        budget or Budget(),
        tolerance,
        rng or np.random.default_rng(0),
        observer or Silence(),
    )
    run.begin(start or independent_potentials(problem.objective.sample))
    try:
        run.grow()
    except KeyboardInterrupt:
        run.interrupt()
    return run.outcome()


class _Run:
    """One run of the loop: the current solution, the selection's memory, the trace."""

    def __init__(
        self,
        problem: Problem,
        recipe: Recipe,
        budget: Budget,
        tolerance: float,
        rng: np.random.Generator,
        observer: Observer,
    ) -> None:
        self.problem, self.recipe, self.budget = problem, recipe, budget
        self.tolerance, self.rng, self.observer = tolerance, rng, observer
        self.space = problem.space
        self.trace: list[Round] = []
        self.started = time.monotonic()
        self.blocks_scored = self.blocks_since_round = 0
        self.scores_exact = True
        self.accuracy = max(tolerance, FIRST_ACCURACY * problem.penalty.lam)
        self.stop = "interrupted"
        self.choice = Choice(_EMPTY, 0.0, 0, complete=self.space.size == 0)

    def begin(self, start: Potentials) -> None:
        """Evaluate the start."""
        self.solution = self.problem.solution(start)
        if start.layout.n_edges:  # a start that is solved already is not solved loosely first
            self.accuracy = max(self.tolerance, min(self.accuracy, self.solution.residual))
        self.active = self.space.keys(start.layout.edges)
        self.selection = self.recipe.selector.begin(self.space, self.active, self.rng)

    def grow(self) -> None:
        """Run rounds until a stop rule speaks, then say which in ``stop``."""
        chosen, hurry = _EMPTY, 0.0
        while True:
            before = self.solution.objective
            self._activate(chosen)
            self._improve(max(self.accuracy, hurry))
            self._record(len(chosen), len(self._prune()))
            if self._spent():
                return self._stop_early()
            stuck = len(chosen) > 0 and not self.solution.objective < before
            self.choice = self._choose()
            chosen = self.choice.keys
            if len(chosen) and not stuck:
                hurry = ROUND_ACCURACY * (self.choice.worst - self.problem.penalty.lam)
                continue
            if not len(chosen) and not self.choice.complete:  # the search itself was cut short
                return self._stop_early()
            if hurry > self.accuracy:  # the last round was solved in a hurry: take the time now
                hurry = 0.0
            elif self.accuracy <= self.tolerance:
                self.stop = "stalled" if stuck else "optimal"
                return None
            else:
                self.accuracy = max(self.tolerance, self.accuracy / 10.0)

    def interrupt(self) -> None:
        """Leave the network as the last finished step left it."""
        self.stop = "interrupted"
        self.active = self.space.keys(self.solution.point.potentials.layout.edges)
        self.choice = Choice(_EMPTY, float("nan"), 0, complete=False)
        self._prune()

    def outcome(self) -> Outcome:
        """Return the network, its certificate and the trace."""
        point, lam = self.solution.point, self.problem.penalty.lam
        n_edges = point.potentials.layout.n_edges
        violation = float(np.maximum(0.0, self.choice.worst - lam))  # stays NaN where unknown
        n_inactive = self.space.size - n_edges
        converged = (
            self.choice.complete
            and self.stop == "optimal"
            and point.trusted
            and violation <= self.tolerance
            and self.solution.residual <= self.tolerance
        )
        certificate = Certificate(
            max_violation=violation,
            stationarity=self.solution.residual,
            tolerance=self.tolerance,
            objective=self.solution.objective,
            loss=point.value,
            lam=lam,
            n_edges=n_edges,
            n_inactive=n_inactive,
            n_tested=min(self.choice.tested, n_inactive),
            exact=point.exact and self.scores_exact,
            converged=converged,
            stop="stalled" if self.stop == "optimal" and not converged else self.stop,
        )
        return Outcome(self.solution, certificate, tuple(self.trace))

    def _activate(self, keys: Ints) -> None:
        """Add tables of zeros for these pairs."""
        if not len(keys):
            return
        old = self.solution.point.potentials
        pairs = np.concatenate([old.layout.edges, self.space.pairs(keys)])
        layout = Layout.of(old.layout.cards, pairs)
        weights = np.concatenate([old.weights, np.zeros(layout.size - old.layout.size)])
        same = np.arange(old.layout.size)
        memory = self.solution.memory.move(same, layout.size, same)
        self.solution = self.problem.solution(Potentials(layout, weights), memory, self.solution)
        self.active = np.concatenate([self.active, keys])

    def _improve(self, accuracy: float) -> None:
        layout = self.solution.point.potentials.layout
        fresh = replace(self.solution, evaluations=0, stalled=False)
        self.solution = self.recipe.solver.improve(
            self.problem.objective,
            self.problem.penalty,
            self.problem.blocks(layout),
            fresh,
            accuracy,
        )

    def _prune(self) -> Ints:
        """Drop the edges whose table is zero; return their keys."""
        potentials = self.solution.point.potentials
        layout = potentials.layout
        largest = self.problem.blocks(layout).largest(potentials.weights)
        gone = largest[layout.n_variables :] == 0
        if not gone.any():
            return _EMPTY
        entries = np.concatenate(
            [np.ones(layout.n_unary, dtype=bool), np.repeat(~gone, layout.edge_sizes)]
        )
        smaller = Layout.of(layout.cards, layout.edges[~gone])
        kept = np.flatnonzero(entries)
        memory = self.solution.memory.move(kept, smaller.size, np.arange(smaller.size))
        self.solution = self.problem.solution(
            Potentials(smaller, potentials.weights[kept]), memory, self.solution
        )
        keys: Ints = self.active[gone]
        self.active = self.active[~gone]
        self.selection.release(keys)
        return keys

    def _choose(self) -> Choice:
        layout = self.solution.point.potentials.layout
        lam = self.problem.penalty.lam
        room = self.space.size
        if self.budget.max_edges is not None:
            room = max(0, self.budget.max_edges - layout.n_edges)
        view = View(
            score=self._score,
            lam=lam,
            threshold=lam + self.accuracy,
            active=self.active,
            degrees=np.bincount(layout.edges.ravel(), minlength=layout.n_variables),
            most=room,
            halted=lambda: self._spent() is not None,
        )
        return self.selection.choose(view)

    def _score(self, keys: Ints) -> Floats:
        if not len(keys):
            return np.zeros(0)
        pairs = self.space.pairs(keys)
        gradients, offsets, exact = self.solution.point.pair_gradients(pairs)
        scale = pair_scales(self.problem.objective.sample.declared, pairs)
        self.scores_exact &= exact
        self.blocks_scored += len(keys)
        self.blocks_since_round += len(keys)
        self.observer.on_search(self.blocks_since_round, self.space.size)
        return self.problem.penalty.scores(gradients, offsets, scale)

    def _stop_early(self) -> None:
        """Solve what is active to the tolerance, and look again at pairs that cost little."""
        self.stop = self._spent() or "stalled"
        if self.solution.residual > self.tolerance:
            self.accuracy = self.tolerance
            self._improve(self.tolerance)
            self._record(0, len(self._prune()))
        self.choice = Choice(_EMPTY, float("nan"), 0, complete=False)
        if len(self.active) == self.space.size:
            self.choice = Choice(_EMPTY, 0.0, 0, complete=True)
        elif self.stop in ("edges", "rounds"):
            known = self.problem.objective.sample.counts.known_pairs(MOST_LAST_LOOKS)
            keys = np.setdiff1d(self.space.keys(known), self.active)
            if len(keys):
                worst = float(self._score(keys).max())
                everything = len(keys) == self.space.size - len(self.active)
                self.choice = Choice(_EMPTY, worst, len(keys), complete=everything)

    def _spent(self) -> str | None:
        """Return which budget has run out, if any."""
        budget = self.budget
        n_edges = self.solution.point.potentials.layout.n_edges
        spent = {
            "edges": (n_edges, budget.max_edges),
            "rounds": (len(self.trace) - 1, budget.max_rounds),
            "tests": (self.blocks_scored, budget.max_tests),
            "seconds": (time.monotonic() - self.started, budget.max_seconds),
        }
        over = (
            name for name, (used, limit) in spent.items() if limit is not None and used >= limit
        )
        return next(over, None)

    def _record(self, activated: int, pruned: int) -> None:
        solution = self.solution
        record = Round(
            index=len(self.trace),
            edges=solution.point.potentials.layout.n_edges,
            activated=activated,
            pruned=pruned,
            objective=solution.objective,
            loss=solution.point.value,
            violation=float(max(0.0, self.choice.worst - self.problem.penalty.lam)),
            stationarity=solution.residual,
            accuracy=self.accuracy,
            trusted=solution.point.trusted,
            evaluations=self.problem.objective.evaluations,
            blocks_scored=self.blocks_scored,
            tables_counted=self.problem.objective.sample.counts.n_computed,
            seconds=time.monotonic() - self.started,
            lam=self.problem.penalty.lam,
        )
        self.blocks_since_round = 0
        self.trace.append(record)
        self.observer.on_round(record)
        self.observer.on_network(solution.point.potentials)
