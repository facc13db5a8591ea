"""THE loop: score, choose, improve, prune, until a stop rule applies.

It never knows which published algorithm it is running: that is a choice of parts, a ``Recipe``. Nor
does it know what a block is: that is for the ``ModelFamily`` and its ``Space`` to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.grafting.certificate import HURRIED, Certificate, Stop
from graftwork.grafting.exchange import ACCURACY, Tally
from graftwork.grafting.problem import Problem
from graftwork.grafting.recipe import Budget, Recipe
from graftwork.grafting.selectors import Choice
from graftwork.grafting.state import NOTHING_SEEN, RunState
from graftwork.grafting.trace import Observer, Round, RunLog, Silence, violation_of
from graftwork.inference.layout import Ints
from graftwork.kernels.threads import one_blas_thread
from graftwork.solvers import Solution

# Rounds in a row that change nothing before a run ends, though something still seems to violate.
MOST_FUTILE = 10
# A relative decrease of the objective below this is rounding.
ROUNDING = 64 * float(np.finfo(np.float64).eps)
# A run whose last pruning brings new violators grows again, at most this many times.
MOST_REGROWTHS = 5
# A run that ends on a budget looks again at all pairs, or at no more than this whose tables are
# counted.
MOST_LAST_LOOKS = 50_000
_EMPTY = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a run of the loop gives."""

    solution: Solution
    certificate: Certificate
    trace: tuple[Round, ...]
    exchange: Tally | None = None

    @property
    def potentials(self) -> Any:
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
    start: Any = None,
    budget: Budget | None = None,
    tolerance: float = 1e-6,
    rng: np.random.Generator | None = None,
    observer: Observer | None = None,
) -> Outcome:
    """Return the network grown from ``start`` until nothing violates.

    The default is the recipe's own start, or else no edges.

    An interrupt (Ctrl-C) ends the run with the last finished round.
    """
    observer, rng = observer or Silence(), rng or np.random.default_rng(0)
    log = RunLog(budget or Budget(), observer, problem.objective)
    state = RunState(problem, recipe, log, rng)
    state.begin(start or state.first_network())
    run = _Run(state, tolerance, budget.max_edges if budget else None)
    # Products of such short vectors gain nothing from more threads, which would only wait busily.
    with one_blas_thread():
        try:
            run.grow()
        except KeyboardInterrupt:
            run.interrupt()
        return run.outcome()


class _Run:
    """One run of the loop: when to go on, and how it ends."""

    def __init__(self, state: RunState, tolerance: float, wanted: int | None) -> None:
        self.state, self.tolerance = state, tolerance
        self.stop: Stop | None = None
        self.tally = Tally(wanted=wanted) if state.recipe.exchange else None

    def grow(self) -> None:
        """Solve the problem."""
        state = self.state
        self._finish()
        if self.stop == "edges" and state.recipe.exchange is None:
            self._fill_up()
        elif self.stop == "edges":
            self._exchange()
        if self.stop not in (None, "stalled", "pruned"):
            self._stop_early()
        self._close()

    def interrupt(self) -> None:
        """Leave the network as the last finished step left it."""
        state = self.state
        self.stop = "interrupted"
        state.choice = NOTHING_SEEN
        state.prune(final=True)

    def outcome(self) -> Outcome:
        """Return the network, its certificate and the trace."""
        state = self.state
        point, lam = state.solution.point, state.problem.penalty.lam
        violation = violation_of(state.choice.worst, lam)
        n_inactive = state.space.size - len(state.network.active(state.space))
        converged = (  # whatever budget was touched on the way: everything was tested and holds
            state.choice.complete
            and self.stop not in ("interrupted", "stalled", "pruned")
            and point.trusted
            and violation <= self.tolerance
            and state.solution.residual <= self.tolerance
        )
        certificate = Certificate(
            max_violation=violation,
            stationarity=state.solution.residual,
            tolerance=self.tolerance,
            objective=state.solution.objective,
            loss=point.value,
            lam=lam,
            n_edges=state.network.layout.n_edges,
            n_inactive=n_inactive,
            n_tested=min(state.choice.tested, n_inactive),
            exact=point.exact and state.log.scores_exact,
            converged=converged,
            stop="optimal" if converged else self.stop or ("edges" if state.full() else "stalled"),
            trusted=point.trusted,
            n_untrusted=sum(not record.trusted for record in state.log.trace),
            method=state.problem.objective.describe(),
            unit=state.space.unit,
            noun=state.problem.family.noun,
            n_barred=state.problem.family.count_barred(state.space.variables),
        )
        self._close_tally(certificate)
        return Outcome(state.solution, certificate, tuple(state.log.trace), self.tally)

    def _grow(self, target: float) -> None:
        """Run rounds until nothing violates at the target accuracy, or a stop rule speaks."""
        state = self.state
        state.accuracy = state.recipe.schedule.begin(state.problem.penalty.lam, target)
        if state.network.layout.n_edges:  # what is solved already is not solved loosely first
            state.accuracy = max(target, min(state.accuracy, state.solution.residual))
        chosen, tries, state.futile = _EMPTY, 0, _EMPTY
        while True:
            before = state.solution.objective
            state.activate(chosen)
            accuracy, steps = max(state.accuracy, target), None
            if len(chosen) and not tries:
                accuracy, steps = state.recipe.schedule.plan(accuracy, state.solution.residual)
            state.improve(accuracy, steps)
            state.record(len(chosen), len(state.prune()))
            self.stop = state.spent()
            if self.stop is not None:
                return
            tries = self._note_futile(chosen, tries, before)
            state.choice = state.choose()
            chosen = state.choice.keys
            if self._holds(target):
                return
            if len(chosen) and tries < MOST_FUTILE:
                continue
            if not len(chosen) and not state.choice.complete:  # the search itself was cut short
                self.stop = state.spent() or state.choice.stop or "stalled"
                return
            limit = max(state.accuracy, target)
            unsolved = state.solution.residual > limit and not state.solution.stalled
            if unsolved:  # solved in a hurry so far, or by a few steps
                continue
            if state.accuracy <= target:
                self.stop = "stalled" if len(chosen) else None
                return
            state.accuracy = max(target, state.accuracy / 10.0)

    def _holds(self, target: float) -> bool:
        """Return whether everything was tested and is within the target.

        A schedule may look closer than the target while the weights are still on their way.
        """
        state = self.state
        violation = violation_of(state.choice.worst, state.problem.penalty.lam)
        return state.choice.complete and violation <= target and state.solution.residual <= target

    def _fill_up(self) -> None:
        """Grow again where tables of the full network went to zero when it was solved."""
        state = self.state
        for _ in range(MOST_REGROWTHS):
            state.accuracy = self.tolerance
            state.improve(self.tolerance, None)
            _, gone = self._clear_up()
            if not gone or state.full() or state.log.spent(0) is not None:
                return
            state.record(0, gone)
            self._finish()
            if self.stop != "edges":
                return

    def _exchange(self) -> None:
        """Exchange edges of the full network, if the recipe does; keep the best one seen."""
        state, tally = self.state, self.tally
        exchange = state.recipe.exchange
        if exchange is None or tally is None:
            return
        parts = state.problem, state.space, state.recipe.solver, state.log
        search = exchange.begin(*parts, state.network, state.rng, tally)
        state.accuracy, state.choice, self.stop = ACCURACY, NOTHING_SEEN, "searched"
        while (spent := state.log.spent(0)) is None:
            step = search.step()
            if step is None:
                break
            state.network = search.best
            state.record(step.came, step.gone, step.network)
        if search.current is not search.best:
            state.record(0, 0)
        if spent is not None:
            self.stop = spent
            tally.end(spent)
        elif not state.full():  # a table went to zero on the way: there is room again
            self._grow(self.tolerance)
            ended: Stop | None = self.stop
            self.stop = "searched" if ended == "edges" else self.stop

    def _close_tally(self, certificate: Certificate) -> None:
        """Note what became of the exchanges, also where there were none."""
        tally = self.tally
        if tally is None:
            return
        tally.edges, tally.best = certificate.n_edges, certificate.objective
        if certificate.stop == "interrupted":
            tally.end("interrupted")
        if tally.wanted is not None and tally.edges < tally.wanted:
            tally.shortfall = "no-improvement"
            if certificate.stop not in ("optimal", "searched"):
                tally.shortfall = certificate.stop
            if not certificate.n_inactive:
                tally.shortfall = "no-pairs"

    def _note_futile(self, chosen: Ints, tries: int, before: float) -> int:
        """Return how many rounds in a row changed nothing; their blocks are not chosen again.

        What violates by less than rounding, or by a rule that the loss does not share (inactive
        pairs under belief propagation), would come back for ever.
        """
        state = self.state
        violated = len(chosen) > 0 and state.choice.worst > state.problem.penalty.lam
        improved = before - state.solution.objective > ROUNDING * max(1.0, abs(before))
        if violated and not improved:
            state.futile = np.union1d(state.futile, chosen)
            return tries + 1
        if improved:
            state.futile = _EMPTY
        return 0

    def _finish(self) -> None:
        """Grow to the tolerance, and drop what the pruner drops at the end."""
        state = self.state
        for _ in range(MOST_REGROWTHS):
            self._grow(self.tolerance)
            if self.stop not in (None, "stalled"):
                return
            small, gone = self._clear_up()
            if not gone:
                return
            state.record(0, gone)
            state.choice = state.choose()
            if not len(state.choice.keys):
                return
            if small:
                self.stop = "pruned"
                return

    def _clear_up(self) -> tuple[bool, int]:
        """Drop what the pruner drops at the end; solve what is left, as often as it takes.

        Return whether any weight was not zero, and how many blocks went.
        """
        state = self.state
        small, count = False, 0
        while True:
            before = state.network
            gone = state.prune(final=True)
            if not len(gone):
                return small, count
            small |= bool(before.largest(state.space, gone).any())
            count += len(gone)
            state.improve(self.tolerance, None)

    def _stop_early(self) -> None:
        """Solve what is active to the tolerance, and look again at pairs that cost little.

        Without time or evaluations left there is neither, nor is the network without its zeros
        evaluated.
        """
        state = self.state
        state.accuracy = self.tolerance
        hurried = self.stop in HURRIED
        unsolved = state.solution.residual > self.tolerance and not hurried
        if unsolved:
            state.improve(self.tolerance, None)
        if hurried:
            gone = len(state.prune(final=True))
        else:
            _, gone = self._clear_up()
        if unsolved or gone:
            state.record(0, gone)
        state.choice = NOTHING_SEEN
        active = state.network.active(state.space)
        if len(active) == state.space.size:
            state.choice = Choice(_EMPTY, 0.0, 0, complete=True)
        elif state.problem.family.scored or self.stop in ("edges", "rounds", "searched"):
            keys = np.setdiff1d(state.cheap_keys(MOST_LAST_LOOKS), active)
            if len(keys):
                worst = float(state.score(keys).max())
                everything = len(keys) == state.space.size - len(active)
                state.choice = Choice(_EMPTY, worst, len(keys), complete=everything)

    def _close(self) -> None:
        """Record what the last look cost, if there was one since the last round."""
        state = self.state
        if state.log.scored_since_round:
            state.record(0, 0)
