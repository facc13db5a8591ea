"""What a run has used so far, and what it has told: counters, clock, budget, trace."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from graftwork.grafting.certificate import Stop
from graftwork.grafting.problem import Budget, Problem
from graftwork.grafting.space import Space
from graftwork.grafting.support import Network
from graftwork.grafting.trace import Observer, Round


class Ledger:
    """The books of one run."""

    def __init__(self, budget: Budget, observer: Observer) -> None:
        self.budget, self.observer = budget, observer
        self.trace: list[Round] = []
        self.started = time.monotonic()
        self.blocks_scored = self.scored_since_round = self.steps_since_round = 0
        self._on_step = getattr(observer, "on_step", None)
        self.scores_exact = True

    def count_scores(self, count: int, exact: bool, total: int) -> None:
        """Note that so many blocks of all were scored."""
        self.scores_exact &= exact
        self.blocks_scored += count
        self.scored_since_round += count
        self.observer.on_search(self.scored_since_round, total)

    def pause(self, looked_at: int, total: int) -> bool:
        """Tell how many of all pairs a start has looked at; return whether the time is up."""
        self.observer.on_search(min(looked_at, total), total)
        return self.late()

    def limit_edges(self, count: int | None) -> None:
        """Take so many edges for the budget, if it does not say."""
        if self.budget.max_edges is None:
            self.budget = replace(self.budget, max_edges=count)

    def late(self) -> bool:
        """Return whether the time is up."""
        limit = self.budget.max_seconds
        return limit is not None and time.monotonic() - self.started >= limit

    def step(self) -> bool:
        """Note that the solver goes on; return whether the time is up."""
        self.steps_since_round += 1
        if self._on_step is not None:
            self._on_step(self.steps_since_round)
        return self.late()

    def spent(self, n_edges: int) -> Stop | None:
        """Return which budget has run out, if any."""
        budget = self.budget
        used: dict[Stop, tuple[int, int | None]] = {
            "edges": (n_edges, budget.max_edges),
            "rounds": (len(self.trace) - 1, budget.max_rounds),
            "tests": (self.blocks_scored, budget.max_tests),
        }
        over = (name for name, (have, limit) in used.items() if limit is not None and have >= limit)
        return next(over, "seconds" if self.late() else None)

    def record(
        self,
        problem: Problem,
        space: Space,
        network: Network,
        *,
        activated: int,
        pruned: int,
        worst: float,
        accuracy: float,
    ) -> None:
        """Write down a round, and tell the observer."""
        solution, lam = network.solution, problem.penalty.lam
        record = Round(
            index=len(self.trace),
            edges=network.layout.n_edges,
            blocks=len(network.active(space)),
            activated=activated,
            pruned=pruned,
            objective=solution.objective,
            loss=solution.point.value,
            violation=violation_of(worst, lam),
            stationarity=solution.residual,
            accuracy=accuracy,
            trusted=solution.point.trusted,
            evaluations=problem.objective.evaluations,
            blocks_scored=self.blocks_scored,
            tables_counted=problem.domain.tables_counted,
            seconds=time.monotonic() - self.started,
            lam=lam,
        )
        self.scored_since_round = self.steps_since_round = 0
        self.trace.append(record)
        self.observer.on_round(record)
        self.observer.on_network(solution.point.potentials)


def violation_of(worst: float, lam: float) -> float:
    """Return by how much a score exceeds lambda; NaN where nobody looked.

    It is always the same NaN, so that records of equal runs are equal.

    Examples
    --------
    >>> violation_of(0.5, 0.3), violation_of(0.1, 0.3), violation_of(float("nan"), 0.3) is math.nan
    (0.2, 0.0, True)
    """
    return math.nan if math.isnan(worst) else max(0.0, worst - lam)
