"""How a network is learned once everything has been read: at one lambda, or in search of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.columns import level_of_caller
from graftwork.data.encoded import EncodedRows
from graftwork.data.encoded_parts import prepare_rows
from graftwork.data.placed import AnyTable, PlacedTable
from graftwork.errors import ApproximationWarning, ParameterError, TooLargeError
from graftwork.estimators.assemble import to_model
from graftwork.estimators.devices import on_device
from graftwork.estimators.missing import frequencies_of
from graftwork.estimators.parts import make_ridge
from graftwork.estimators.resampling import Units
from graftwork.estimators.sizes import check_pairs, check_tables
from graftwork.estimators.spec import FitSpec
from graftwork.estimators.starts import carry_over
from graftwork.grafting import Budget, NetworkFamily, Outcome, PairFactors, Problem, Recipe, graft
from graftwork.inference import LoopyBP, TreeReweighted
from graftwork.inference.layout import Floats, Potentials
from graftwork.models import PairwiseMRF
from graftwork.models.gaps import log_conditionals_of
from graftwork.objectives import PseudoLikelihood
from graftwork.penalties import Penalty
from graftwork.selection import (
    LambdaChoice,
    PathPoint,
    StructureResult,
    choose_lambda,
    learn_structure,
    normal_prior,
)
from graftwork.selection.criteria import Criterion
from graftwork.selection.criteria.adaptive import Adaptive
from graftwork.selection.folds import Fold, Folder
from graftwork.significance import DrawnFrom, Evidence
from graftwork.significance.lost import NOTHING_LOST, Lost

# Penalties up to this may let weights grow without end.
FAINT = 1e-4
# Bytes for each cell of rows in parts some of which are looked at first.
BYTES = 8


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """A learned network, and how it came about."""

    outcome: Outcome  # the penalised fit, with certificate and trace
    potentials: Potentials  # the network to keep: that of the outcome, or its edges refitted
    choice: LambdaChoice  # the lambda, and how it came about
    path: list[PathPoint]  # as it was walked; see `final_path`
    evidence: Evidence | None = None
    refitted: bool = False
    # of a resample: the edges of the whole sample's network, refitted
    given: Potentials | None = None

    def final_path(self) -> list[PathPoint]:
        """Return the path with the outcome itself where lambda was chosen.

        On the way fits are loose, and may be of parts of the rows: their edges differ in number.
        """
        fit = self.outcome.certificate
        return [
            replace(point, n_edges=fit.n_edges, loss=fit.loss, objective=fit.objective)
            if point.chosen
            else point
            for point in self.path
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Learning:
    """What is learned from, and how."""

    spec: FitSpec
    recipe: Recipe  # the method, with its start
    table: AnyTable
    sample: EncodedRows
    family: NetworkFamily
    budget: Budget
    rng: np.random.Generator
    drawn_from: DrawnFrom | None = None  # the sample that the rows were drawn from with replacement
    # the network of almost the same rows, from which the search begins
    near: PairwiseMRF | None = None
    rounds: int | None = None  # how often all pairs are tested; default until all tests agree
    lost: Lost = NOTHING_LOST  # what missing cells take from the tests

    @property
    def options(self) -> dict[str, Any]:
        """What the loop and the searches for lambda take."""
        return {
            "recipe": self.recipe,
            "budget": self.budget,
            "tolerance": self.spec.tol,
            "rng": self.rng,
            "observer": self.spec.observer,
        }

    def run(self) -> Learned:
        """Return the learned network."""
        if not self.spec.chooses:
            return self._at_one_lambda()
        if self.spec.criterion is None:
            return self._tested()
        return self._chosen(self.spec.criterion)

    def _at_one_lambda(self) -> Learned:
        """Learn with the lambda given, or with a mild prior where the edges' number is known."""
        spec, choice = self.spec, given_lambda(self.spec)
        penalty = spec.penalty_at(choice.lam)
        if spec.lam is None and spec.penalty != "none":
            penalty = make_ridge(penalty, normal_prior(self.sample), spec.unary)
        self._warn_of_faint(penalty)
        problem = Problem(spec.objective_of(self.sample), penalty, self.family)
        outcome = graft(problem, **self.options)
        return Learned(outcome, outcome.potentials, choice, [])

    def _warn_of_faint(self, penalty: Penalty) -> None:
        """Say before the start that it may take long."""
        spec, faint = self.spec, max(penalty.lam, penalty.l2) <= FAINT
        approximate = isinstance(spec.engine, LoopyBP | TreeReweighted)
        if spec.loss == "likelihood" and approximate and faint and self.budget.max_seconds is None:
            warnings.warn(
                f"with so weak a penalty (lam={penalty.lam:g}) the best weights may be very large, "
                "and approximate inference finds them slowly: even a small table may take minutes. "
                "Set max_seconds, use a larger lam, or inference='exact'.",
                ApproximationWarning,
                stacklevel=level_of_caller(),
            )

    def _tested(self) -> Learned:
        """Learn the edges that tests keep."""
        spec, objective = self.spec, self.spec.objective_of(self.sample)
        pseudo = objective
        if spec.loss != "pseudolikelihood":
            pseudo = PseudoLikelihood(self.sample, spec.n_jobs)
        near = self.near if self.budget == Budget() else None
        found = learn_structure(
            lambda lam: Problem(objective, spec.penalty_at(lam), self.family),
            pseudo,
            fdr=spec.fdr,
            drawn_from=self.drawn_from,
            start=None if near is None else carry_over(near, self.table, self.sample),
            rounds=self.rounds,
            lost=self.lost,
            some_rows=self._some_rows if self.sample.complete else None,
            **self.options,
        )
        given = None if found.given is None else found.given.point.potentials
        evidence, choice = self._checked(found)
        return Learned(
            found.outcome,
            found.refitted.point.potentials,
            choice,
            list(found.path),
            evidence,
            refitted=True,
            given=given,
        )

    def _some_rows(self, share: float) -> Fold | None:
        """Return about a share of the rows, always the same; None if they would not fit."""
        problem_of = self._problem_of(self.family.prior)
        if isinstance(self.table, PlacedTable):
            cells = share * self.table.n_rows * self.table.n_variables
            if BYTES * cells > 0.5 * self.table.memory:
                return None
            parts = PartsFolder(self.table, self.sample, self._prepared, problem_of)
            return parts.share(share)
        folder = TableFolder(self.table, self.sample, self._prepared, problem_of, self.spec.n_jobs)
        chosen = np.random.default_rng(0).random(self.table.n_rows) < share
        return folder.fold(folder.weights * chosen)

    def _checked(self, found: StructureResult) -> tuple[Evidence | None, LambdaChoice]:
        """Return the tests and the choice of a result, which names the rivals of its edges."""
        evidence, choice, tests = found.evidence, found.choice, found.choice.tests
        if evidence is None or tests is None:
            return evidence, choice
        if self.budget.max_edges is None:
            names = self.table.names
            tests = replace(tests, rivals=tuple((names[i], names[j]) for i, j in evidence.rivals))
            choice = replace(choice, tests=tests)
        return evidence, choice

    def _chosen(self, criterion: Criterion) -> Learned:
        """Learn with the lambda that a criterion finds best along a path."""
        prior = self.family.prior
        if isinstance(criterion, Adaptive):
            weighed = criterion.weigh(self._problem_of(prior)(self.sample), self.options)
            if isinstance(weighed, Outcome):
                choice = LambdaChoice("adaptive", weighed.certificate.lam, weighed.certificate.stop)
                return Learned(weighed, weighed.potentials, choice, [])
            prior = weighed if prior is None else prior.times(weighed)
        problem_of = self._problem_of(prior)
        folder = self._folder(problem_of)
        chosen = choose_lambda(
            problem_of(self.sample),
            criterion,
            folder,
            fdr=self.spec.fdr if self._testable else None,
            **self.options,
        )
        evidence, choice = None, chosen.choice
        if chosen.tested is not None:
            evidence, choice = self._checked(replace(chosen.tested, choice=choice))
        path, refitted = list(chosen.path), chosen.refitted is not None
        return Learned(chosen.outcome, chosen.potentials, choice, path, evidence, refitted)

    @property
    def _testable(self) -> bool:
        """Whether all pairs can be tested; networks to draw cells with need not be."""
        if self.rounds is not None:
            return False
        try:
            check_pairs(self.table.n_variables, tests=True)
            check_tables(self.table.names, self.sample.cards, True, self.spec.table_memory)
        except TooLargeError:
            return False
        return True

    def _folder(self, problem_of: Callable[[EncodedRows], Callable[[float], Problem]]) -> Folder:
        """Return what makes folds of the rows."""
        if isinstance(self.table, PlacedTable):
            return PartsFolder(self.table, self.sample, self._prepared, problem_of)
        units = Units.of(self.table)  # folds of repeated rows are those of rows with counts
        counted = units.with_copies(units.copies)
        return TableFolder(counted, self.sample, self._prepared, problem_of, self.spec.n_jobs)

    def _problem_of(
        self, prior: PairFactors | None
    ) -> Callable[[EncodedRows], Callable[[float], Problem]]:
        """Return what makes the problem of a sample, as a function of lambda."""

        def problem_of(sample: EncodedRows) -> Callable[[float], Problem]:
            objective, family = self.spec.objective_of(sample), _family_of(sample, prior)
            return lambda lam: Problem(objective, self.spec.penalty_at(lam), family)

        return problem_of

    def _prepared(self, rows: Table) -> EncodedRows:
        """Return some of the rows, prepared as all of them are."""
        table: AnyTable = rows
        if isinstance(self.table, PlacedTable):
            table = on_device(rows, self.spec.device, self.spec.n_jobs, self.table.engine)
        return prepare_rows(
            table,
            keep_all_states=bool(self.spec.unary),
            missing=not self.sample.complete,
            n_jobs=self.spec.n_jobs,
        )


def given_lambda(spec: FitSpec) -> LambdaChoice:
    """Return the lambda that is not searched for, and how it came about."""
    if spec.penalty == "none":
        return LambdaChoice("none", 0.0)
    if spec.lam is None:
        return LambdaChoice("sized", 0.0)
    return LambdaChoice("given", spec.lam)


def _family_of(sample: EncodedRows, prior: PairFactors | None) -> NetworkFamily:
    """Return the pairs of a sample; edges of columns that are constant in it are not required."""
    if prior is None:
        return NetworkFamily(sample)
    possible = (sample.cards[prior.required] > 1).all(axis=1)
    return NetworkFamily(sample, replace(prior, required=prior.required[possible]))


@dataclass(frozen=True, slots=True, eq=False)
class TableFolder:
    """Makes folds of a table."""

    table: Table
    sample: EncodedRows  # the whole table, prepared
    prepared: Callable[[Table], EncodedRows]  # A table, prepared for learning
    # the problem of a sample, as a function of lambda
    problem_of: Callable[[EncodedRows], Callable[[float], Problem]]
    n_jobs: int | None = None  # threads that score rows

    @property
    def weights(self) -> Floats:
        """Weight of each row, shape (rows,)."""
        weights = self.table.weights
        return np.ones(self.table.n_rows) if weights is None else weights

    def fold(self, learned: Floats, judged: Floats | None = None) -> Fold:
        """Return the fold of rows with these weights; without rows to judge by it has no losses."""
        rows = np.flatnonzero(learned)
        part = self.table.take_rows(rows).with_weights(learned[rows])
        sample = self.prepared(part)

        def lift(potentials: Potentials) -> Potentials:
            return carry_over(to_model(part, sample, potentials), self.table, self.sample)

        problem_at = self.problem_of(sample)
        if judged is None:
            return Fold(problem_at, lift, lambda _: np.zeros(0), np.zeros(0))
        places = np.flatnonzero(judged)
        others = self.table.with_weights(None).take_rows(places)
        weights = judged[places]

        def losses(potentials: Potentials) -> Floats:
            large = to_model(part, sample, potentials).potentials
            return -log_conditionals_of(large, others.codes, frequencies_of(sample), self.n_jobs)

        return Fold(problem_at, lift, losses, weights)


@dataclass(frozen=True, slots=True, eq=False)
class PartsFolder:
    """Makes folds of rows that are in parts: of some of them, in memory."""

    table: PlacedTable  # table, sample, prepared, problem_of: as of `TableFolder`
    sample: EncodedRows
    prepared: Callable[[Table], EncodedRows]
    problem_of: Callable[[EncodedRows], Callable[[float], Problem]]

    @property
    def weights(self) -> Floats:
        """Refused: a criterion that deals rows out needs all of them in memory."""
        raise ParameterError(
            "this way to choose lambda deals rows out, so it needs all of them in memory, and "
            "these are read in parts, or on a GPU: use goal='structure', criterion='ebic' or a "
            "lambda, or device='cpu', or "
            "learn from some of the rows, gw.scan(...).store().sample_rows(0.1, seed=0)."
        )

    def fold(self, learned: Floats, judged: Floats | None = None) -> Fold:
        """Refused, as `weights` are."""
        return self.fold(self.weights, judged)

    def share(self, share: float) -> Fold:
        """Return about a share of the rows to learn from, always the same."""
        part = self.table.sample_rows(share, 0)
        sample = self.prepared(part)

        def lift(potentials: Potentials) -> Potentials:
            return carry_over(to_model(part, sample, potentials), self.table, self.sample)

        return Fold(self.problem_of(sample), lift, lambda _: np.zeros(0), np.zeros(0))
