"""How a network is learned once everything has been read: at one lambda, or in search of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.compact import Sample, prepare
from graftwork.estimators.course import annealing_schedule, arriving_variables
from graftwork.estimators.criteria import make_criterion
from graftwork.estimators.folds import TableFolder
from graftwork.estimators.parts import make_objective, make_penalty, make_ridge
from graftwork.estimators.resampling import Units
from graftwork.grafting import Budget, Outcome, PairDomain, PairFactors, Problem, graft
from graftwork.inference.layout import Potentials
from graftwork.penalties import Penalty
from graftwork.tuning import (
    DrawnFrom,
    Evidence,
    LambdaChoice,
    PathPoint,
    StructureResult,
    choose_lambda,
    learn_structure,
    normal_prior,
)
from graftwork.tuning.adaptive import Adaptive
from graftwork.tuning.criteria import Criterion

# The share of rows that are dropped to see how far the edges depend on single ones. That is tried
# where more than a few of the edges, by their number, came or went in the end.
DROPPED = 0.01
FEW = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """A learned network, and how it came about.

    Attributes
    ----------
    outcome : Outcome
        The penalised fit, with certificate and trace.
    potentials : Potentials
        The network to keep: that of the outcome, or its edges refitted.
    choice : LambdaChoice
        The lambda, and how it came about.
    path : list of PathPoint
        As it was walked; see `final_path`.
    evidence : Evidence or None
    refitted : bool
    given : Potentials or None
        Of a resample: the edges of the whole sample's network, refitted.
    """

    outcome: Outcome
    potentials: Potentials
    choice: LambdaChoice
    path: list[PathPoint]
    evidence: Evidence | None = None
    refitted: bool = False
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
    """What is learned from, and how.

    Attributes
    ----------
    net : MarkovNetwork
        Its parameters.
    table : Table
    sample : Sample
    domain : PairDomain
    options : dict
        Of the loop: recipe, budget, tolerance, rng, observer.
    drawn_from : DrawnFrom, optional
        The sample that the rows were drawn from with replacement.
    check : bool
        Whether to learn again without one row in a hundred where edges stand in for each other.
    """

    net: Any
    table: Table
    sample: Sample
    domain: PairDomain
    options: dict[str, Any]
    drawn_from: DrawnFrom | None = None
    check: bool = False

    def run(self) -> Learned:
        """Return the learned network."""
        net = self.net
        search = isinstance(net.lam, str) and net.penalty != "none"
        if not search or self.options["recipe"].sized:
            return self._at_one_lambda(search)
        criterion = make_criterion(net)
        if criterion is None:
            return self._tested()
        return self._chosen(criterion)

    def _at_one_lambda(self, sized: bool) -> Learned:
        """Learn with the lambda given, or with a mild prior where the edges' number is known."""
        choice = given_lambda(self.net)
        penalty = penalty_at(self.net, choice.lam)
        if sized:
            penalty = make_ridge(penalty, normal_prior(self.sample), unary_of(self.net))
        problem = Problem(self._objective_of(self.sample), penalty, self.domain)
        outcome = graft(
            problem,
            **self.options,
            schedule=annealing_schedule(self.net.anneal, problem),
            arrivals=arriving_variables(self.net.arrivals, self.table.names),
        )
        return Learned(outcome, outcome.potentials, choice, [])

    def _tested(self) -> Learned:
        """Learn the edges that tests keep."""
        net, objective = self.net, self._objective_of(self.sample)
        pseudo = objective
        if net.loss != "pseudolikelihood":
            pseudo = make_objective("pseudolikelihood", "auto", net.pair_rule, net.n_jobs)(
                self.sample
            )
        found = learn_structure(
            lambda lam: Problem(objective, penalty_at(net, lam), self.domain),
            pseudo,
            fdr=float(net.fdr),
            drawn_from=self.drawn_from,
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

    def _checked(self, found: StructureResult) -> tuple[Evidence | None, LambdaChoice]:
        """Return the tests and the choice of a result, with how far it depends on single rows.

        Where hardly a pair came or went in the end nothing moves, and it is not tried.
        """
        evidence, limits, choice = found.evidence, self.options["budget"], found.choice
        if evidence is None or choice.tests is None:
            return evidence, choice
        if limits.max_edges is None:
            names = self.table.names
            rivals = tuple((names[i], names[j]) for i, j in evidence.rivals)
            choice = replace(choice, tests=replace(choice.tests, rivals=rivals))
        if not self.check or not self.sample.complete or limits != Budget():
            return evidence, choice
        edges = found.refitted.point.potentials.layout.edges
        if found.unsettled <= max(1.0, FEW * len(edges)):
            return evidence, choice
        self.options["observer"].on_stage("learning again without 1 % of the rows", 0, 1)
        thinned = Units.of(self.table).subset(np.random.default_rng(0), DROPPED)
        sample = self._prepared(thinned)
        net, domain = self.net, _domain_of(sample, self.domain.prior)
        pseudo = make_objective("pseudolikelihood", "auto", net.pair_rule, net.n_jobs)(sample)
        other = learn_structure(
            lambda lam: Problem(pseudo, penalty_at(net, lam), domain),
            pseudo,
            fdr=float(net.fdr),
            **self.options,
        )
        if other.evidence is None:  # Ctrl-C: the network is there, only this is not known
            return evidence, choice
        pairs = [edges, other.refitted.point.potentials.layout.edges]
        moved = len(
            set.symmetric_difference(*({tuple(p) for p in some.tolist()} for some in pairs))
        )
        assert choice.tests is not None
        choice = replace(choice, tests=replace(choice.tests, n_moved=moved))
        return replace(evidence, n_moved=moved), choice

    def _chosen(self, criterion: Criterion) -> Learned:
        """Learn with the lambda that a criterion finds best along a path."""
        prior = self.domain.prior
        if isinstance(criterion, Adaptive):
            weighed = criterion.weigh(self._problem_of(prior)(self.sample), self.options)
            if isinstance(weighed, Outcome):
                choice = LambdaChoice("adaptive", weighed.certificate.lam, weighed.certificate.stop)
                return Learned(weighed, weighed.potentials, choice, [])
            prior = weighed if prior is None else prior.times(weighed)
        problem_of = self._problem_of(prior)
        units = Units.of(self.table)  # folds of repeated rows are those of rows with counts
        counted = units.table.with_weights(units.copies if units.weights is None else units.weights)
        folder = TableFolder(counted, self.sample, self._prepared, problem_of, self.net.n_jobs)
        chosen = choose_lambda(problem_of(self.sample), criterion, folder, **self.options)
        path, refitted = list(chosen.path), chosen.refitted is not None
        return Learned(chosen.outcome, chosen.potentials, chosen.choice, path, refitted=refitted)

    def _problem_of(
        self, prior: PairFactors | None
    ) -> Callable[[Sample], Callable[[float], Problem]]:
        """Return what makes the problem of a sample, as a function of lambda."""

        def problem_of(sample: Sample) -> Callable[[float], Problem]:
            objective, domain = self._objective_of(sample), _domain_of(sample, prior)
            return lambda lam: Problem(objective, penalty_at(self.net, lam), domain)

        return problem_of

    def _prepared(self, rows: Table) -> Sample:
        """Return some of the rows, prepared as all of them are."""
        return prepare(
            rows,
            keep_all_states=bool(self.net.penalize_unary),
            missing=not self.sample.complete,
            n_jobs=self.net.n_jobs,
        )

    def _objective_of(self, sample: Sample) -> Any:
        net = self.net
        return make_objective(net.loss, net.inference, net.pair_rule, net.n_jobs)(sample)


def given_lambda(net: Any) -> LambdaChoice:
    """Return the lambda that is not searched for, and how it came about."""
    if net.penalty == "none":
        return LambdaChoice("none", 0.0)
    if isinstance(net.lam, str):
        return LambdaChoice("sized", 0.0)
    return LambdaChoice("given", float(net.lam))


def penalty_at(net: Any, lam: float) -> Penalty:
    """Return the penalty of an estimator with this lambda."""
    return make_penalty(net.penalty, lam, float(net.l2), unary_of(net))


def unary_of(net: Any) -> bool | float:
    """Return whether unaries are penalised, or by how much."""
    given = net.penalize_unary
    return bool(given) if isinstance(given, bool | np.bool_) else float(given)


def _domain_of(sample: Sample, prior: PairFactors | None) -> PairDomain:
    """Return the pairs of a sample; edges of columns that are constant in it are not required."""
    if prior is None:
        return PairDomain(sample)
    possible = (sample.cards[prior.required] > 1).all(axis=1)
    return PairDomain(sample, replace(prior, required=prior.required[possible]))
