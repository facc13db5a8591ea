"""THE loop: score, choose, improve, prune, until a stop rule speaks.

It never knows which published algorithm it is running: that is a choice of parts, a ``Recipe``. Nor
does it know what a block is: that is the ``Space``'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graftwork.grafting.bench import ACCURACY, Bench
from graftwork.grafting.certificate import Certificate
from graftwork.grafting.exchange import Tally
from graftwork.grafting.ledger import Ledger
from graftwork.grafting.problem import Budget, Problem, Recipe
from graftwork.grafting.selection import Choice, View
from graftwork.grafting.space import PairSpace
from graftwork.grafting.support import Network
from graftwork.grafting.trace import Observer, Round, Silence
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.objectives.protocol import independent_potentials
from graftwork.objectives.reshaped import evaluated
from graftwork.solvers import Solution
from graftwork.solvers.coordinates import searchable

# The steps of an annealing schedule are solved to this share of their lambda.
ANNEALING_ACCURACY = 0.1
# So many rounds in a row that change nothing end a run, though something still seems to violate.
MOST_FUTILE = 10
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
    run = _Run(
        problem,
        recipe,
        budget or Budget(),
        tolerance,
        rng or np.random.default_rng(0),
        observer or Silence(),
    )
    run.begin(start or run.first_network(), arrivals)
    try:
        run.grow(schedule)
    except KeyboardInterrupt:
        run.interrupt()
    return run.outcome()


class _Run:
    """One run of the loop: the network so far, the selection's memory, the trace."""

    def __init__(
        self,
        problem: Problem,
        recipe: Recipe,
        budget: Budget,
        tolerance: float,
        rng: np.random.Generator,
        observer: Observer,
    ) -> None:
        self.problem, self.recipe = problem, recipe
        self.tolerance, self.rng = tolerance, rng
        self.ledger = Ledger(budget, observer)
        self.futile, self.worst_barred = _EMPTY, 0.0
        self.stop: str | None = None
        self.arrivals: Iterator[Sequence[int]] = iter(())
        self.choice = Choice(_EMPTY, 0.0, 0, complete=False)
        self.tally: Tally | None = None

    def first_network(self) -> Potentials:
        """Return what the recipe starts from: a network without edges, unless it says more."""
        problem, ledger = self.problem, self.ledger
        sample, total = problem.objective.sample, problem.space.size
        if self.recipe.start is None:
            return independent_potentials(sample)

        def halted() -> bool:
            return ledger.pause(sample.counts.n_computed, total)

        return self.recipe.start.begin(problem, ledger.budget, self.rng, halted)

    def begin(self, start: Potentials, arrivals: Iterable[Sequence[int]] | None) -> None:
        """Evaluate the start, and open the space of the variables that are there."""
        variables = self.problem.variables
        if arrivals is not None:
            self.arrivals = iter(arrivals)
            first = np.asarray(next(self.arrivals, ()), dtype=np.int64)
            variables = np.union1d(first, start.layout.edges)
        start = searchable(self.problem.penalty, start)
        self.ledger.limit_edges(start.layout.n_edges if self.recipe.exchange else None)
        self.space = self.problem.space_for(self.recipe, variables)
        free = self.space.free(start.layout, start.weights)
        network = Network(self.problem.solution(start, free=free), free)
        self.network = network.shrink(self.problem, self.space, _EMPTY)  # tables of zeros go
        self._open()

    @property
    def solution(self) -> Solution:
        """The network's weights, evaluated."""
        return self.network.solution

    def grow(self, schedule: Sequence[float]) -> None:
        """Go through the lambdas of a schedule, then solve at the problem's own."""
        final = self.problem
        for lam in schedule:
            self._change(final.at(lam))
            self._grow(ANNEALING_ACCURACY * lam)
            if self.stop not in (None, "stalled"):
                break
            self.stop = None  # a stall on the way is not the end
        self._change(final)
        if self.stop is None:
            self._finish()
        if self.stop == "edges":
            self._exchange()
        if self.stop not in (None, "stalled", "pruned"):
            self._stop_early()
        self._close()

    def interrupt(self) -> None:
        """Leave the network as the last finished step left it."""
        self.stop = "interrupted"
        self.choice = Choice(_EMPTY, float("nan"), 0, complete=False)
        self._prune(final=True)

    def outcome(self) -> Outcome:
        """Return the network, its certificate and the trace."""
        point, lam = self.solution.point, self.problem.penalty.lam
        violation = float(np.maximum(0.0, self.choice.worst - lam))  # stays NaN where unknown
        n_inactive = self.space.size - len(self.network.active(self.space))
        converged = (  # whatever budget was touched on the way: everything was tested and holds
            self.choice.complete
            and self.stop not in ("interrupted", "stalled", "pruned")
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
            n_edges=self.network.layout.n_edges,
            n_inactive=n_inactive,
            n_tested=min(self.choice.tested, n_inactive),
            exact=point.exact and self.ledger.scores_exact,
            converged=converged,
            stop="optimal" if converged else self.stop or ("edges" if self._full() else "stalled"),
            trusted=point.trusted,
            n_untrusted=sum(not record.trusted for record in self.ledger.trace),
            method=self.problem.objective.describe(),
            unit=self.space.unit,
            n_absent=len(self.problem.variables) - len(self.space.variables),
        )
        return Outcome(self.solution, certificate, tuple(self.ledger.trace), self.tally)

    def _grow(self, target: float) -> None:
        """Run rounds until nothing violates at the target accuracy, or a stop rule speaks."""
        self.accuracy = self.recipe.schedule.begin(self.problem.penalty.lam, target)
        if self.network.layout.n_edges:  # what is solved already is not solved loosely first
            self.accuracy = max(target, min(self.accuracy, self.solution.residual))
        chosen, tries, self.futile = _EMPTY, 0, _EMPTY
        while True:
            self._activate(chosen)
            before = self.solution.objective
            accuracy, steps = self.accuracy, None
            if len(chosen) and not tries:
                accuracy, steps = self.recipe.schedule.plan(accuracy, self.solution.residual)
            self._improve(accuracy, steps)
            self._record(len(chosen), len(self._prune()))
            self.stop = self._spent()
            if self.stop is not None:
                return
            tries = self._note_futile(chosen, tries, before)
            arrived = self._arrive()
            self.choice = self._choose()
            chosen = self.choice.keys
            if len(chosen) and tries < MOST_FUTILE:
                continue
            if not len(chosen) and not self.choice.complete:  # the search itself was cut short
                self.stop = self._spent() or self.choice.stop or "stalled"
                return
            unsolved = self.solution.residual > self.accuracy and not self.solution.stalled
            if arrived or unsolved:  # solved in a hurry so far, or by a few steps
                continue
            if self.accuracy <= target:
                self.stop = "stalled" if len(chosen) else None
                return
            self.accuracy = max(target, self.accuracy / 10.0)

    def _exchange(self) -> None:
        """Exchange edges of the full network, if the recipe does; keep the best one seen."""
        limit = self.ledger.budget.max_edges
        if self.recipe.exchange is None or not isinstance(self.space, PairSpace) or limit is None:
            return
        bench = Bench(self.problem, self.space, self.recipe.solver, self.ledger, limit)
        search = self.recipe.exchange.begin(bench, self.network, self.rng)
        self.tally, self.accuracy = search.tally, ACCURACY
        while (spent := self.ledger.spent(0)) is None:
            step = search.step()
            if step is None:
                return
            self.network = search.best
            self._record(step.came, step.gone, step.network)
        self.stop = spent

    def _note_futile(self, chosen: Ints, tries: int, before: float) -> int:
        """Return how many rounds in a row changed nothing; their blocks are not chosen again.

        What violates by less than rounding, or by a rule that the loss does not share (inactive
        pairs under belief propagation), would come back for ever.
        """
        violated = len(chosen) > 0 and self.choice.worst > self.problem.penalty.lam
        if violated and not self.solution.objective < before:
            self.futile = np.union1d(self.futile, chosen)
            return tries + 1
        if self.solution.objective < before:
            self.futile = _EMPTY
        return 0

    def _finish(self) -> None:
        """Grow to the tolerance, and drop what the pruner wants gone at the end."""
        for _ in range(MOST_ENDINGS):
            self._grow(self.tolerance)
            if self.stop not in (None, "stalled"):
                return
            small, gone = self._clear_up()
            self._evaluate()
            if not gone:
                return
            self._record(0, gone)
            self.choice = self._choose()
            if not len(self.choice.keys):
                return
            if small:
                self.stop = "pruned"
                return

    def _clear_up(self) -> tuple[bool, int]:
        """Drop what the pruner wants gone at the end; solve what is left, as often as it takes.

        Return whether any weight was not zero, and how many blocks went.
        """
        small, count = False, 0
        while True:
            before = self.network
            gone = self._prune(final=True)
            if not len(gone):
                return small, count
            small |= bool(before.largest(self.space, gone).any())
            count += len(gone)
            self._evaluate()
            self._improve(self.tolerance, None)

    def _evaluate(self) -> None:
        """Make sure that the final numbers are those of an evaluation at this very layout."""
        point = self.solution.point
        if point is not evaluated(point):
            memory, free = self.solution.memory, self.network.free
            solution = self.problem.solution(point.potentials, memory, self.solution, free)
            self.network = Network(solution, free)

    def _open(self) -> None:
        """Begin to select from the space as it is now."""
        active = self.network.active(self.space)
        self.futile = _EMPTY
        self.selection = self.recipe.selector.begin(self.space, active, self.rng)

    def _arrive(self) -> bool:
        """Take in the next group of variables, if there is one."""
        group = next(self.arrivals, None)
        if group is None:
            return False
        variables = np.union1d(self.space.variables, np.asarray(group, dtype=np.int64))
        self.space = self.problem.space_for(self.recipe, variables)
        self._open()
        return True

    def _change(self, problem: Problem) -> None:
        """Go on with another penalty."""
        if problem is not self.problem:
            self.problem, self.network = problem, self.network.under(problem)

    def _activate(self, keys: Ints) -> None:
        """Add blocks of zeros."""
        if len(keys):
            self.network = self.network.grow(self.problem, self.space, keys)

    def _improve(self, accuracy: float, steps: int | None) -> None:
        fresh = replace(self.solution, evaluations=0, stalled=False)
        solution = self.recipe.solver.improve(
            self.problem.objective,
            self.problem.penalty,
            self.problem.blocks(self.network.layout, self.network.free),
            fresh,
            accuracy,
            steps,
            self.ledger.late,
        )
        self.network = replace(self.network, solution=solution)

    def _prune(self, final: bool = False) -> Ints:
        """Drop the blocks the pruner wants gone; return their keys."""
        active = self.network.active(self.space)
        largest = self.network.largest(self.space, active)
        gone: Ints = active[self.recipe.pruner.leaving(largest, final)]
        if len(gone):
            self.network = self.network.shrink(self.problem, self.space, gone)
            self.selection.release(gone)
        return gone

    def _choose(self) -> Choice:
        layout, lam = self.network.layout, self.problem.penalty.lam
        limit = self.ledger.budget.max_edges
        room = self.space.size  # also of a full network: it takes cells of its own edges
        if limit is not None and not self._full():
            room = limit - layout.n_edges
        self.worst_barred = 0.0
        view = View(
            score=self._score_choosable,
            lam=lam,
            threshold=lam + self.accuracy,
            active=self.network.active(self.space),
            degrees=np.bincount(layout.edges.ravel(), minlength=layout.n_variables),
            most=room,
            halted=lambda: self._spent() is not None,
            point=self.solution.point,
            penalty=self.problem.penalty,
            sample=self.problem.objective.sample,
        )
        choice = self.selection.choose(view)
        return replace(choice, worst=max(choice.worst, self.worst_barred))

    def _score_choosable(self, keys: Ints) -> Floats:
        """Return the scores; blocks that must not be chosen do not seem to violate.

        Those are blocks whose activation changed nothing and, once there are as many edges as may
        be, cells of other tables.
        """
        scores, barred = self._score(keys), np.isin(keys, self.futile)
        if self._full():
            barred |= find_edges(self.network.layout, self.space.pairs(keys)) < 0
        if barred.any():
            self.worst_barred = max(self.worst_barred, float(scores[barred].max()))
            scores = np.where(barred, np.minimum(scores, self.problem.penalty.lam), scores)
        return scores

    def _score(self, keys: Ints) -> Floats:
        if not len(keys):
            return np.zeros(0)
        gradients, offsets, exact = self.space.gradients(self.solution.point, keys)
        scale = self.space.scales(self.problem.objective.sample.declared, keys)
        self.ledger.count_scores(len(keys), exact, self.space.size)
        return self.problem.penalty.scores(gradients, offsets, scale)

    def _stop_early(self) -> None:
        """Solve what is active to the tolerance, and look again at pairs that cost little.

        When the time is up there is none for either.
        """
        self.accuracy = self.tolerance
        unsolved = self.solution.residual > self.tolerance
        if unsolved:
            self._improve(self.tolerance, None)
        _, gone = self._clear_up()
        self._evaluate()
        if unsolved or gone:
            self._record(0, gone)
        self.choice = Choice(_EMPTY, float("nan"), 0, complete=False)
        active = self.network.active(self.space)
        if len(active) == self.space.size:
            self.choice = Choice(_EMPTY, 0.0, 0, complete=True)
        elif self.stop in ("edges", "rounds") and isinstance(self.space, PairSpace):
            known = self.problem.objective.sample.counts.known_pairs(MOST_LAST_LOOKS)
            known = known[np.isin(known, self.space.variables).all(axis=1)]
            keys = np.setdiff1d(self.space.keys(known), active)
            if len(keys):
                worst = float(self._score(keys).max())
                everything = len(keys) == self.space.size - len(active)
                self.choice = Choice(_EMPTY, worst, len(keys), complete=everything)

    def _close(self) -> None:
        """Record what the last look cost, if there was one since the last round."""
        if self.ledger.scored_since_round:
            self._record(0, 0)

    def _spent(self) -> str | None:
        """Return which budget has run out, if any.

        Edges are a reason to stop where blocks are whole tables; cells of those there may follow.
        """
        tables = isinstance(self.space, PairSpace)
        return self.ledger.spent(self.network.layout.n_edges if tables else 0)

    def _full(self) -> bool:
        """Return whether there are as many edges as may be."""
        limit = self.ledger.budget.max_edges
        return limit is not None and self.network.layout.n_edges >= limit

    def _record(self, activated: int, pruned: int, network: Network | None = None) -> None:
        self.ledger.record(
            self.problem,
            self.space,
            network or self.network,
            activated=activated,
            pruned=pruned,
            worst=self.choice.worst,
            accuracy=self.accuracy,
        )
