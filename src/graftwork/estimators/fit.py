"""fit: a specification and rows in, a learned network and how it came about out."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from graftwork.contingency import PairTables
from graftwork.data import Table
from graftwork.data.columns import level_of_caller
from graftwork.data.encoded import EncodedRows
from graftwork.data.encoded_parts import prepare_rows
from graftwork.data.oddities import warn_of_columns
from graftwork.data.parts import TilingEngine
from graftwork.data.placed import AnyTable, PlacedTable
from graftwork.data.placing import comes_in_parts
from graftwork.errors import ConvergenceWarning, ParameterError
from graftwork.estimators.assemble import to_model
from graftwork.estimators.calibrating import observed_in, with_rows
from graftwork.estimators.devices import on_device
from graftwork.estimators.from_counts import read_counts
from graftwork.estimators.imputing import completed, draw_missing
from graftwork.estimators.learned_from import LearnedFrom
from graftwork.estimators.learning import Learned, Learning
from graftwork.estimators.missing import MissingCells, frequencies_of, read_rows
from graftwork.estimators.near_copies import copies_remark
from graftwork.estimators.rows_in_parts import in_parts
from graftwork.estimators.sizes import check_pairs, check_tables
from graftwork.estimators.spec import FitSpec
from graftwork.estimators.starts import make_start
from graftwork.grafting import Budget, NetworkFamily
from graftwork.grafting.certificate import Certificate
from graftwork.grafting.exchange import Tally
from graftwork.grafting.trace import PassOn, Round, check_of
from graftwork.grafting.tying import Tying, tie
from graftwork.inference.layout import Potentials
from graftwork.models import PairwiseMRF
from graftwork.models.gaps import Gaps
from graftwork.models.observed import Fitted
from graftwork.selection import LambdaChoice, PathPoint
from graftwork.significance import DrawnFrom, Evidence
from graftwork.significance.lost import NOTHING_LOST, Lost

# Runs that end for these reasons have solved their weights, unless the solver gave up.
SOLVED = ("edges", "given", "searched")


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A learned network, and how it came about."""

    model: PairwiseMRF
    method: str  # the name of the method used
    choice: LambdaChoice  # the lambda, and how it came about
    certificate: Certificate  # of the penalised network
    objective: float  # loss plus penalty of the penalised network
    trace: tuple[Round, ...]
    path: tuple[PathPoint, ...]
    evidence: Evidence | None
    refitted: bool  # whether the weights were refitted without the penalty
    exchange: Tally | None
    tying: Tying | None
    knowledge: dict[str, int] | None  # numbers of pairs that something was known about
    missing: MissingCells
    data: LearnedFrom
    interrupted: bool = False  # whether Ctrl-C ended it: this is the best so far
    # of a resample: the edges of the whole sample's network, fitted to these rows
    given: PairwiseMRF | None = None
    # edges whose tables are not penalised although some of their cells never occur: their weights
    # have no finite optimum, and end where the solver stops
    endless: tuple[tuple[Any, Any], ...] = ()

    @property
    def unbounded(self) -> bool:
        """Whether penalised weights have no finite optimum."""
        # where nothing is penalised, the certificate says it
        return bool(self.endless) and self.certificate.lam > 0.0

    @property
    def unsolved(self) -> bool:
        """Whether weights were not solved to the accuracy asked for."""
        end = self.certificate
        return end.stop == "stalled" or (end.stationarity > end.tolerance and end.stop in SOLVED)

    def warn(self) -> None:
        """Warn if weights were not solved to the accuracy asked for, or have no finite optimum."""
        if self.unbounded:
            from graftwork.report.describe import endless_text

            warnings.warn(
                endless_text(self.endless), ConvergenceWarning, stacklevel=level_of_caller()
            )
        if self.unsolved:
            from graftwork.report.describe import certificate_text

            warnings.warn(
                f"The network is usable but was not solved to tol={self.certificate.tolerance:g}: "
                f"{certificate_text(self.certificate)}",
                ConvergenceWarning,
                stacklevel=level_of_caller(),
            )


def fit(
    spec: FitSpec,
    X: Any,
    sample_weight: Any = None,
    *,
    drawn_from: DrawnFrom | None = None,
    near: PairwiseMRF | None = None,
    calibrated: bool = True,
) -> Fit:
    """Return the network of a table.

    After an interrupt it is the best so far, which it says; KeyboardInterrupt is raised only where
    there is none yet.
    """
    if comes_in_parts(X) and not isinstance(X, PlacedTable):
        with in_parts(spec, X, sample_weight) as rows:
            return fit(spec, rows, calibrated=calibrated)
    if isinstance(X, PairTables):
        counted = fit_rows(
            spec,
            *read_counts(spec, X, sample_weight),
            spec.budget,
            spec.rng(),
            calibrated=calibrated,
        )
        if not counted.interrupted:
            counted.warn()
        return counted
    table, found = read_rows(spec, X, sample_weight)
    check_pairs(table.n_variables, spec.tests)
    table = on_device(table, spec.device, spec.n_jobs)
    _refuse_sampling_weights(spec, table)
    data = LearnedFrom.of(table, found, order=spec.ordinal is None and spec.ordered)
    if not isinstance(X, Table | PlacedTable | str | PathLike):  # reading a file has warned
        warn_of_columns(table)
    rng = spec.rng()
    keep, jobs = bool(spec.unary), spec.n_jobs
    draws = spec.missing in ("available-case", "impute")
    sample = prepare_rows(table, keep_all_states=keep, missing=draws, n_jobs=jobs)
    budget, lost = spec.budget, NOTHING_LOST
    if draws:
        begun = time.monotonic()
        found = replace(found, frequencies=frequencies_of(sample))

        def learn(
            own: FitSpec,
            rows: AnyTable,
            part: EncodedRows,
            cells: MissingCells,
            begin: PairwiseMRF | None,
            rounds: int | None,
        ) -> Fit:
            budget, rng = own.budget, own.rng()
            if budget.max_edges is not None:  # settling is what keeps to it
                rounds = None
            return fit_rows(
                own, rows, part, cells, data, budget, rng, drawn_from, near=begin, rounds=rounds
            )

        drawn = draw_missing(spec, table, sample, found, rng, learn, near)
        if drawn.stopped is not None:
            return drawn.stopped
        found = replace(found, drawn=not sample.complete)
        sample, near, lost = drawn.sample, drawn.near, drawn.lost
        found = replace(found, draws=lost.count, lost=lost.median)
        if spec.missing == "impute":
            table = completed(table, sample)
            sample = prepare_rows(table, keep_all_states=keep, n_jobs=jobs)
        budget = budget.after(time.monotonic() - begun)
    learned = fit_rows(
        spec,
        table,
        sample,
        found,
        data,
        budget,
        rng,
        drawn_from,
        near,
        calibrated=calibrated,
        lost=lost,
    )
    if not learned.interrupted:
        learned.warn()
    return learned


def _refuse_sampling_weights(spec: FitSpec, table: AnyTable) -> None:
    """Refuse to test edges or to choose lambda by rows with sampling weights that are in parts."""
    if spec.chooses and isinstance(table, PlacedTable) and table.has_sampling_weights:
        raise ParameterError(
            "weights that are not all whole numbers are sampling weights, for which tests and the "
            "choice of lambda need all rows in memory, and these are read in parts, or on a GPU: "
            "read them as one table with device='cpu', or give a number for lam."
        )


def fit_rows(
    spec: FitSpec,
    table: AnyTable,
    sample: EncodedRows,
    missing: MissingCells,
    data: LearnedFrom,
    budget: Budget,
    rng: np.random.Generator,
    drawn_from: DrawnFrom | None = None,
    near: PairwiseMRF | None = None,
    rounds: int | None = None,
    calibrated: bool = False,
    lost: Lost = NOTHING_LOST,
) -> Fit:
    """Return the network of rows that are prepared; `fit` is for all others."""
    check_tables(table.names, sample.cards, spec.tests, spec.table_memory)
    gaps = Gaps(missing.policy, missing.frequencies or frequencies_of(sample))
    if hasattr(spec.observer, "on_model"):
        spec = replace(spec, observer=_Models(spec.observer, table, sample, gaps))
    tiling = sample.parts is not None and isinstance(sample.parts.engine, TilingEngine)
    recipe = spec.recipe_for(table.n_variables, tiling)
    if spec.start is not None:
        recipe = replace(recipe, start=make_start(spec.start, table, sample))
    family = spec.knowledge.family(table, sample, recipe, budget.max_edges)
    learning = Learning(
        spec, recipe, table, sample, family, budget, rng, drawn_from, near, rounds, lost
    )
    began = time.monotonic()
    learned = learning.run()
    outcome, left = learned.outcome, budget.after(time.monotonic() - began).max_seconds
    potentials, tying, interrupted = _tied(spec, sample, learned, left)
    given = None if learned.given is None else to_model(table, sample, learned.given, gaps)
    model = to_model(table, sample, potentials, gaps)
    if calibrated and not interrupted:
        left = budget.after(time.monotonic() - began).max_seconds
        model, interrupted = _with_rows(spec, sample, model, learned, left)
        remark = copies_remark(sample, potentials.layout.edges, table.names)
        data = replace(data, remarks=(*data.remarks, *filter(None, [remark])))
    return Fit(
        model=model,
        method=recipe.name,
        choice=learned.choice,
        certificate=outcome.certificate,
        objective=outcome.solution.objective,
        trace=tuple(outcome.trace),
        path=tuple(learned.final_path()),
        evidence=learned.evidence,
        refitted=learned.refitted,
        exchange=outcome.exchange,
        tying=tying,
        knowledge=spec.knowledge.counts(family),
        missing=missing,
        data=data,
        interrupted=interrupted,
        given=given,
        endless=() if learned.refitted else _endless(spec, table, sample, family, learned),
    )


class _Models(PassOn):
    """Shows the network of a round as a model to an observer that asks for it."""

    def __init__(self, inner: Any, table: AnyTable, sample: EncodedRows, gaps: Gaps) -> None:
        super().__init__(inner)
        self._show, self._parts = inner.on_model, (table, sample, gaps)

    def on_network(self, potentials: Potentials) -> None:
        """Pass it on, and show it unless it is of some of the rows, which may lack states."""
        super().on_network(potentials)
        table, sample, gaps = self._parts
        if np.array_equal(potentials.layout.cards, sample.cards):
            self._show(lambda: to_model(table, sample, potentials, gaps))


def _endless(
    spec: FitSpec, table: AnyTable, sample: EncodedRows, family: NetworkFamily, learned: Learned
) -> tuple[tuple[Any, Any], ...]:
    """Return the edges without a finite optimum: not penalised, with a cell that never occurs."""
    penalty, edges = spec.penalty_at(learned.choice.lam), learned.outcome.potentials.layout.edges
    straight = sample.scores is not None and sample.scores.straight
    free = edges[family.factors(edges) * penalty.lam == 0.0]
    if penalty.l2 > 0.0 or straight or not len(free):
        return ()
    counts, starts = sample.counts.tables(free)
    never = np.minimum.reduceat(counts, starts[: len(free)]) <= 0.0
    return tuple((table.names[i], table.names[j]) for i, j in free[never].tolist())


def _with_rows(
    spec: FitSpec,
    sample: EncodedRows,
    model: PairwiseMRF,
    learned: Learned,
    seconds: float | None,
) -> tuple[PairwiseMRF, bool]:
    """Return the network with the counts of its rows, and whether this was interrupted.

    Where lambda was given the unaries are not calibrated, since the certificate is about them, nor
    where weights are tied, since they share their values.
    """
    end, check = (
        math.inf if seconds is None else time.monotonic() + seconds,
        check_of(spec.observer),
    )

    def halted() -> bool:
        check()
        return time.monotonic() > end

    fitted: Fitted = "pseudolikelihood"
    if spec.loss != "pseudolikelihood":
        fitted = "likelihood"
    elif (learned.refitted or spec.chooses) and spec.tied is None:
        fitted = "calibrated"
    try:
        counts = observed_in(sample, model.potentials.layout)
        return with_rows(
            model, counts, fitted, halted=halted,
            observer=spec.observer, n_jobs=spec.n_jobs,
        ), False  # fmt: skip
    except KeyboardInterrupt:
        return model, True


def _tied(
    spec: FitSpec, sample: EncodedRows, learned: Learned, seconds: float | None
) -> tuple[Potentials, Tying | None, bool]:
    """Return the weights to keep, tied if asked for, and whether learning or this was interrupted.

    An interrupt leaves the learned weights as they are; where the time is up, the best values so
    far count.
    """
    end = math.inf if seconds is None else time.monotonic() + seconds
    if spec.tied is None or learned.outcome.interrupted:
        return learned.potentials, None, learned.outcome.interrupted
    objective = spec.objective_of(sample)
    try:
        tying = tie(
            objective, learned.potentials, spec.tied, tolerance=spec.tol, observer=spec.observer,
            halted=lambda: time.monotonic() > end,
        )  # fmt: skip
    except KeyboardInterrupt:
        return learned.potentials, None, True
    return tying.potentials, tying, False
