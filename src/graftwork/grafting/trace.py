"""What a run tells while it goes on, and what it has used: records, counters, clock, budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from graftwork.grafting.certificate import Stop
from graftwork.grafting.problem import Network, Problem
from graftwork.grafting.recipe import Budget
from graftwork.grafting.spaces import Space
from graftwork.inference.layout import Potentials


@dataclass(frozen=True, slots=True)
class Round:
    """One round of the loop."""

    index: int  # number of the round, from 0 (the network as it started)
    edges: int  # edges, blocks: edges and active blocks (edges, or single features) after the round
    blocks: int
    activated: int  # activated, pruned: how many blocks came and went in it
    pruned: int
    objective: float  # objective, loss: at the end of the round; the penalty is the difference
    loss: float
    # largest violation seen when the round's edges were chosen (NaN where none was scored: in
    # round 0, and where edges were exchanged)
    violation: float
    stationarity: float  # residual over the active blocks at the end of the round
    accuracy: float  # what the round was solved to
    # whether the inference behind the round's last gradient converged (belief propagation may not;
    # it is damped first)
    trusted: bool
    # evaluations, blocks_scored, tables_counted: totals so far: loss evaluations, scores of
    # inactive pairs, pair tables computed
    evaluations: int
    blocks_scored: int
    tables_counted: int
    seconds: float  # since the run began
    lam: float  # the penalty's strength in this round

    def watched(self) -> str:
        """Return what there is to watch: the worst violation, or how many edges came and went."""
        if math.isnan(self.violation):
            return f"{self.activated:,} in, {self.pruned:,} out"
        return f"worst violation {self.violation:.2g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the record as a plain dictionary."""
        return asdict(self)


class Observer(Protocol):
    """Somebody who watches a run: a progress bar, a log, a test.

    It may also have ``on_step(steps)``, which is called with the number of solver steps since the
    last round, ``on_model(make)``, which a fit to a table calls after each round with a function
    that returns the network so far as a model, and ``check()``, which is called where nothing else
    is and may raise KeyboardInterrupt, to end the run with what there is.
    """

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Take note that a stage begins, with ``step`` of ``steps`` stages done before it."""
        ...

    def on_round(self, record: Round) -> None:
        """Take note of a finished round."""
        ...

    def on_network(self, potentials: Potentials) -> None:
        """Take note of the network at the end of the round just told."""
        ...

    def on_search(self, tested: int, total: int) -> None:
        """Take note of how many of all blocks were scored since the last round."""
        ...


class Silence:
    """An observer that does nothing."""

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Do nothing."""

    def on_round(self, record: Round) -> None:
        """Do nothing."""

    def on_network(self, potentials: Potentials) -> None:
        """Do nothing."""

    def on_search(self, tested: int, total: int) -> None:
        """Do nothing."""


class PassOn:
    """An observer that tells another one everything; what is made of it listens on the way."""

    def __init__(self, inner: Observer) -> None:
        self._inner = inner

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Pass it on."""
        self._inner.on_stage(text, step, steps)

    def on_round(self, record: Round) -> None:
        """Pass it on."""
        self._inner.on_round(record)

    def on_network(self, potentials: Any) -> None:
        """Pass it on."""
        self._inner.on_network(potentials)

    def on_step(self, steps: int) -> None:
        """Pass it on if the other one has this method."""
        told = getattr(self._inner, "on_step", None)
        if told is not None:
            told(steps)

    def on_search(self, tested: int, total: int) -> None:
        """Pass it on."""
        self._inner.on_search(tested, total)

    def check(self) -> None:
        """Let the other one end the run."""
        check_of(self._inner)()


def check_of(observer: Observer) -> Callable[[], None]:
    """Return the function by which an observer may end a run where there is nothing to tell."""
    return getattr(observer, "check", _nothing)


def _nothing() -> None:
    """Do nothing."""


class RunLog:
    """What one run has used and told."""

    def __init__(self, budget: Budget, observer: Observer, objective: Any = None) -> None:
        self.budget, self.observer, self._objective = budget, observer, objective
        self._evaluated_before = 0 if objective is None else objective.evaluations
        self.trace: list[Round] = []
        self.started = time.monotonic()
        self.blocks_scored = self.scored_since_round = self.steps_since_round = 0
        self._on_step = getattr(observer, "on_step", None)
        self.scores_exact = True

    def count_scores(self, count: int, exact: bool, total: int) -> None:
        """Note that ``count`` of all blocks were scored."""
        self.scores_exact &= exact
        self.blocks_scored += count
        self.scored_since_round += count
        self.observer.on_search(self.scored_since_round, total)

    def pause(self, looked_at: int, total: int) -> bool:
        """Tell how many of all pairs a start has looked at; return whether the time is up."""
        self.observer.on_search(min(looked_at, total), total)
        return self.late()

    def limit_edges(self, count: int | None) -> None:
        """Take this number of edges for the budget, if it has none."""
        if self.budget.max_edges is None:
            self.budget = replace(self.budget, max_edges=count)

    def late(self) -> bool:
        """Return whether a budget that solvers watch, of time or of evaluations, is used up."""
        return self.hurry() is not None

    def hurry(self) -> Stop | None:
        """Return which of the budgets that solvers watch is used up, if any."""
        seconds, evaluations = self.budget.max_seconds, self.budget.max_evaluations
        if seconds is not None and time.monotonic() - self.started >= seconds:
            return "seconds"
        if evaluations is None or self._objective is None:
            return None
        used = self._objective.evaluations - self._evaluated_before
        return "evaluations" if used >= evaluations else None

    def step(self) -> bool:
        """Note that the solver goes on; return whether it has to stop."""
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
        return next(over, self.hurry())

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
            tables_counted=problem.family.tables_counted,
            seconds=time.monotonic() - self.started,
            lam=lam,
        )
        self.scored_since_round = self.steps_since_round = 0
        self.trace.append(record)
        self.observer.on_round(record)
        self.observer.on_network(solution.point.potentials)


def violation_of(worst: float, lam: float) -> float:
    """Return by how much a score exceeds lambda; NaN where none was scored.

    It is always the same NaN, so that records of equal runs are equal.

    Examples
    --------
    >>> violation_of(0.5, 0.3), violation_of(0.1, 0.3), violation_of(float("nan"), 0.3) is math.nan
    (0.2, 0.0, True)
    """
    return math.nan if math.isnan(worst) else max(0.0, worst - lam)
