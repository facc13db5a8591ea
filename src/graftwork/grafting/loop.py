"""THE loop: score, choose, improve, prune, until a stop rule speaks.

It never knows which published algorithm it is running: that is a choice of parts, a ``Recipe``. Nor
does it know what a block is: that is the ``Space``'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from graftwork.grafting.admission import count_barred
from graftwork.grafting.bench import ACCURACY, Bench
from graftwork.grafting.certificate import Certificate, Stop
from graftwork.grafting.exchange import Tally
from graftwork.grafting.growth import NOTHING_SEEN, Growth
from graftwork.grafting.ledger import Ledger, violation_of
from graftwork.grafting.problem import Budget, Problem, Recipe
from graftwork.grafting.selection import Choice
from graftwork.grafting.space import PairSpace
from graftwork.grafting.trace import Observer, Round, Silence
from graftwork.inference.layout import Ints
from graftwork.solvers import Solution

# The steps of an annealing schedule are solved to this share of their lambda.
ANNEALING_ACCURACY = 0.1
# So many rounds in a row that change nothing end a run, though something still seems to violate.
MOST_FUTILE = 10
# An objective that is lower by less, for each unit of it, is not lower.
ROUNDING = 64 * float(np.finfo(np.float64).eps)
# A run whose last clearing up brings new violators grows again, so many times at most.
MOST_ENDINGS = 5
# A run that ends on a budget looks again at (at most) so many pairs whose tables are counted.
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
    schedule: Sequence[float] = (),
    arrivals: Iterable[Sequence[int]] | None = None,
    budget: Budget | None = None,
    tolerance: float = 1e-6,
    rng: np.random.Generator | None = None,
    observer: Observer | None = None,
) -> Outcome:
    """Return the network grown from ``start`` until nothing more is wanted.

    The default is the recipe's own start, or else no edges.

    An interrupt (Ctrl-C) ends the run with the last finished round.

    Parameters
    ----------
    schedule : sequence of float
        Values of lambda to go through first, from large to small, each from the network of the one
        before and solved loosely (annealing).
    arrivals : iterable of sequences of int
        Variables as they become available: the first group before the first round, another one
        before every later round. Default: all from the start. The run goes on, with the weights and
        the solver's memory it has, until nothing more is wanted and no group is left.
    """
    ledger = Ledger(budget or Budget(), Silence() if observer is None else observer)
    growth = Growth(problem, recipe, ledger, rng or np.random.default_rng(0))
    growth.begin(start or growth.first_network(), arrivals)
    run = _Run(growth, tolerance, budget.max_edges if budget else None)
    # Products of such short vectors gain nothing from more threads, which would only wait busily.
    with threadpool_limits(limits=1, user_api="blas"):
        try:
            run.grow(schedule)
        except KeyboardInterrupt:
            run.interrupt()
        return run.outcome()


class _Run:
    """One run of the loop: when to go on, and how it ends."""

    def __init__(self, growth: Growth, tolerance: float, wanted: int | None) -> None:
        self.growth, self.tolerance = growth, tolerance
        self.stop: Stop | None = None
        self.tally = Tally(wanted=wanted) if growth.recipe.exchange else None

    def grow(self, schedule: Sequence[float]) -> None:
        """Go through the lambdas of a schedule, then solve at the problem's own."""
        growth = self.growth
        final = growth.problem
        for lam in schedule:
            growth.change(final.at(lam))
            self._grow(ANNEALING_ACCURACY * lam)
            if self.stop not in (None, "stalled"):
                break
            self.stop = None  # a stall on the way is not the end
        growth.change(final)
        if self.stop is None:
            self._finish()
        if self.stop == "edges" and growth.recipe.exchange is None:
            self._fill_up()
        elif self.stop == "edges":
            self._exchange()
        if self.stop not in (None, "stalled", "pruned"):
            self._stop_early()
        self._close()

    def interrupt(self) -> None:
        """Leave the network as the last finished step left it."""
        growth = self.growth
        self.stop = "interrupted"
        growth.choice = NOTHING_SEEN
        growth.prune(final=True)

    def outcome(self) -> Outcome:
        """Return the network, its certificate and the trace."""
        growth = self.growth
        point, lam = growth.solution.point, growth.problem.penalty.lam
        violation = violation_of(growth.choice.worst, lam)
        n_inactive = growth.space.size - len(growth.network.active(growth.space))
        converged = (  # whatever budget was touched on the way: everything was tested and holds
            growth.choice.complete
            and self.stop not in ("interrupted", "stalled", "pruned")
            and point.trusted
            and violation <= self.tolerance
            and growth.solution.residual <= self.tolerance
        )
        certificate = Certificate(
            max_violation=violation,
            stationarity=growth.solution.residual,
            tolerance=self.tolerance,
            objective=growth.solution.objective,
            loss=point.value,
            lam=lam,
            n_edges=growth.network.layout.n_edges,
            n_inactive=n_inactive,
            n_tested=min(growth.choice.tested, n_inactive),
            exact=point.exact and growth.ledger.scores_exact,
            converged=converged,
            stop="optimal" if converged else self.stop or ("edges" if growth.full() else "stalled"),
            trusted=point.trusted,
            n_untrusted=sum(not record.trusted for record in growth.ledger.trace),
            method=growth.problem.objective.describe(),
            unit=growth.space.unit,
            n_absent=len(growth.problem.variables) - len(growth.space.variables),
            noun=growth.problem.domain.noun,
            n_barred=count_barred(growth.problem, growth.space.variables),
        )
        self._close_tally(certificate)
        return Outcome(growth.solution, certificate, tuple(growth.ledger.trace), self.tally)

    def _grow(self, target: float) -> None:
        """Run rounds until nothing violates at the target accuracy, or a stop rule speaks."""
        growth = self.growth
        growth.accuracy = growth.recipe.schedule.begin(growth.problem.penalty.lam, target)
        if growth.network.layout.n_edges:  # what is solved already is not solved loosely first
            growth.accuracy = max(target, min(growth.accuracy, growth.solution.residual))
        chosen, tries, growth.futile = _EMPTY, 0, _EMPTY
        while True:
            growth.activate(chosen)
            before = growth.solution.objective
            accuracy, steps = growth.accuracy, None
            if len(chosen) and not tries:
                accuracy, steps = growth.recipe.schedule.plan(accuracy, growth.solution.residual)
            growth.improve(accuracy, steps)
            growth.record(len(chosen), len(growth.prune()))
            self.stop = growth.spent()
            if self.stop is not None:
                return
            tries = self._note_futile(chosen, tries, before)
            arrived = growth.arrive()
            growth.choice = growth.choose()
            chosen = growth.choice.keys
            if len(chosen) and tries < MOST_FUTILE:
                continue
            if not len(chosen) and not growth.choice.complete:  # the search itself was cut short
                self.stop = growth.spent() or growth.choice.stop or "stalled"
                return
            unsolved = growth.solution.residual > growth.accuracy and not growth.solution.stalled
            if arrived or unsolved:  # solved in a hurry so far, or by a few steps
                continue
            if growth.accuracy <= target:
                self.stop = "stalled" if len(chosen) else None
                return
            growth.accuracy = max(target, growth.accuracy / 10.0)

    def _fill_up(self) -> None:
        """Grow again where tables of the full network went to zero when it was solved."""
        growth = self.growth
        for _ in range(MOST_ENDINGS):
            growth.accuracy = self.tolerance
            growth.improve(self.tolerance, None)
            _, gone = self._clear_up()
            if not gone or growth.full() or growth.ledger.spent(0) is not None:
                return
            growth.record(0, gone)
            self._finish()
            if self.stop != "edges":
                return

    def _exchange(self) -> None:
        """Exchange edges of the full network, if the recipe does; keep the best one seen."""
        growth, tally = self.growth, self.tally
        space, exchange = growth.space, growth.recipe.exchange
        if exchange is None or tally is None or not isinstance(space, PairSpace):
            return
        edges = growth.network.layout.n_edges
        bench = Bench(growth.problem, space, growth.recipe.solver, growth.ledger, edges)
        search = exchange.begin(bench, growth.network, growth.rng, tally)
        growth.accuracy, growth.choice, self.stop = ACCURACY, NOTHING_SEEN, "searched"
        while (spent := growth.ledger.spent(0)) is None:
            step = search.step()
            if step is None:
                break
            growth.network = search.best
            growth.record(step.came, step.gone, step.network)
        if search.current is not search.best:
            growth.record(0, 0)
        if spent is not None:
            self.stop = spent
            tally.end(spent)
        elif not growth.full():  # a table went to zero on the way: there is room again
            self._grow(self.tolerance)
            ended: str | None = self.stop
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
        growth = self.growth
        violated = len(chosen) > 0 and growth.choice.worst > growth.problem.penalty.lam
        improved = before - growth.solution.objective > ROUNDING * max(1.0, abs(before))
        if violated and not improved:
            growth.futile = np.union1d(growth.futile, chosen)
            return tries + 1
        if improved:
            growth.futile = _EMPTY
        return 0

    def _finish(self) -> None:
        """Grow to the tolerance, and drop what the pruner wants gone at the end."""
        growth = self.growth
        for _ in range(MOST_ENDINGS):
            self._grow(self.tolerance)
            if self.stop not in (None, "stalled"):
                return
            small, gone = self._clear_up()
            growth.evaluate()
            if not gone:
                return
            growth.record(0, gone)
            growth.choice = growth.choose()
            if not len(growth.choice.keys):
                return
            if small:
                self.stop = "pruned"
                return

    def _clear_up(self) -> tuple[bool, int]:
        """Drop what the pruner wants gone at the end; solve what is left, as often as it takes.

        Return whether any weight was not zero, and how many blocks went.
        """
        growth = self.growth
        small, count = False, 0
        while True:
            before = growth.network
            gone = growth.prune(final=True)
            if not len(gone):
                return small, count
            small |= bool(before.largest(growth.space, gone).any())
            count += len(gone)
            growth.evaluate()
            growth.improve(self.tolerance, None)

    def _stop_early(self) -> None:
        """Solve what is active to the tolerance, and look again at pairs that cost little.

        When the time is up there is none for either.
        """
        growth = self.growth
        growth.accuracy = self.tolerance
        unsolved = growth.solution.residual > self.tolerance
        if unsolved:
            growth.improve(self.tolerance, None)
        _, gone = self._clear_up()
        growth.evaluate()
        if unsolved or gone:
            growth.record(0, gone)
        growth.choice = NOTHING_SEEN
        active = growth.network.active(growth.space)
        if len(active) == growth.space.size:
            growth.choice = Choice(_EMPTY, 0.0, 0, complete=True)
        elif growth.problem.domain.scored or self.stop in ("edges", "rounds", "searched"):
            known = growth.problem.domain.known(growth.space, MOST_LAST_LOOKS)
            keys = np.setdiff1d(known, active)
            if len(keys):
                worst = float(growth.score(keys).max())
                everything = len(keys) == growth.space.size - len(active)
                growth.choice = Choice(_EMPTY, worst, len(keys), complete=everything)

    def _close(self) -> None:
        """Record what the last look cost, if there was one since the last round."""
        growth = self.growth
        if growth.ledger.scored_since_round:
            growth.record(0, 0)
