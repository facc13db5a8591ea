"""FitSpec: everything a fit is told, typed and checked once, made from the parameters of users."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graftwork.data.bins import Bins, check_bins
from graftwork.data.encoded import EncodedRows
from graftwork.errors import ParameterError
from graftwork.estimators.knowledge import PriorKnowledge
from graftwork.estimators.lines import Lines, watcher
from graftwork.estimators.parts import make_penalty, make_recipe, read_engine
from graftwork.estimators.starts import check_start
from graftwork.grafting import Budget, Recipe
from graftwork.grafting.trace import Observer
from graftwork.inference import Engine
from graftwork.objectives import Likelihood, Objective, PseudoLikelihood
from graftwork.parameters import (
    Goal,
    Loss,
    MissingPolicy,
    Shape,
    check_jobs,
    checked,
    known,
    number,
    options_of,
)
from graftwork.penalties import PENALTIES, Penalty
from graftwork.recipes.best_choice import best_choice
from graftwork.recipes.full import full
from graftwork.recipes.working_set import working_set
from graftwork.selection.criteria import CRITERIA, Criterion

# Up to this many variables method="auto" looks at all pairs in every round; beyond, best-choice is
# quicker (benchmarks/growth.py). With prior knowledge or missing cells pairs must be listed: there
# it is quicker later.
MOST_VARIABLES, MOST_LISTED = 500, 2500
# The same where a device multiplies all pairs at once; the scores of more are not kept.
MOST_ON_DEVICE = 11_585
# Penalties at whose optimum every pair is an edge.
DENSE = ("l2", "none")
# What parameters are where nobody gives them, as they are used.
DEFAULT_VALUES = {
    name: value
    for within in ("", "method_options", "penalty_options")
    for name, value in checked({}, within).items()
}


@dataclass(frozen=True, slots=True, eq=False)
class FitSpec:
    """What to learn and how."""

    recipe: Recipe  # the method
    automatic: bool
    loss: Loss
    engine: Engine
    penalty: str  # penalty, l2, unary: the penalty's name and options
    l2: float
    unary: bool | float
    lam: float | None  # none if it is to be chosen, for ``goal``
    goal: Goal
    fdr: float
    criterion: Criterion | None  # what chooses lambda
    knowledge: PriorKnowledge
    start: Any  # of the run, as users give it
    budget: Budget
    table_memory: int  # bytes that tables of one variable may take (see `check_tables`)
    tol: float
    tie: int | None
    states: Mapping[Any, Sequence[Any]] | None
    bins: Bins | None
    # ordinal, degree, shape: which columns are ordered, and what tables of theirs may be, as users
    # give it
    ordinal: Any
    degree: int
    shape: Shape
    missing: MissingPolicy
    seed: Any  # what numpy's generators take, or scikit-learn's RandomState
    n_jobs: int | None
    device: str  # "cpu", "cuda" or "auto"
    observer: Observer

    @staticmethod
    def of(parameters: Mapping[str, Any]) -> FitSpec:
        """Return what parameters of MarkovNetwork stand for, or refuse what means nothing."""
        given = checked(parameters)
        run, own = _split(given["method_options"])
        run = checked(run, "method_options")
        penalty = checked(given["penalty_options"], "penalty_options")
        check_jobs(given["n_jobs"])
        spec = FitSpec(
            recipe=make_recipe(given["method"], own),
            automatic=isinstance(given["method"], str) and given["method"] == "auto",
            loss=given["loss"],
            engine=read_engine(given["inference"]),
            penalty=known("penalty", given["penalty"], PENALTIES),
            l2=penalty["l2"],
            unary=_unary(penalty["unary"]),
            lam=_lambda(given["lam"], given["penalty"]),
            goal=given["goal"],
            fdr=given["fdr"],
            criterion=make_criterion(given["goal"], given["criterion"], given["criterion_options"]),
            knowledge=PriorKnowledge.read(given["knowledge"]),
            start=run["start"],
            budget=Budget(
                given["max_edges"],
                run["max_iter"],
                run["max_tests"],
                given["max_seconds"],
                run["max_evaluations"],
            ),
            table_memory=given["table_memory"],
            tol=given["tol"],
            tie=given["tie"],
            states=given["states"],
            bins=check_bins(given["bins"]),
            ordinal=_as_list(given["ordinal"]),
            degree=given["degree"],
            shape=given["shape"],
            missing=given["missing"],
            seed=_seed(given["random_state"]),
            n_jobs=given["n_jobs"],
            device=given["device"],
            observer=watcher(given["verbose"], Lines()),
        )
        spec._check()
        spec._refuse_idle({**given, **run, **penalty})
        return spec

    @property
    def chooses(self) -> bool:
        """Whether a lambda is to be chosen: not where there is no sparsity to choose it for."""
        return self.lam is None and self.penalty != "none" and not self.recipe.sized

    @property
    def tied(self) -> int | None:
        """How many values the weights take in the end."""
        exchange = self.recipe.exchange
        return self.tie if exchange is None or exchange.tied is None else exchange.tied

    @property
    def ordered(self) -> bool:
        """Whether the order of states can count: where parts of tables are penalised as groups."""
        return self.penalty == "group-l1"

    @property
    def straight(self) -> bool:
        """Whether tables of ordered variables have their linear parts alone."""
        return self.shape == "linear"

    @property
    def tests(self) -> bool:
        """Whether edges are tested."""
        return self.chooses and self.criterion is None

    def rng(self) -> np.random.Generator:
        """Return the generator a fit begins with; one of scikit-learn's gives it a seed."""
        seed = self.seed
        if isinstance(seed, np.random.RandomState):
            seed = int(seed.randint(2**31))
        return np.random.default_rng(seed)

    def with_seconds(self, seconds: float | None) -> FitSpec:
        """Return the same with another limit on time."""
        return replace(self, budget=replace(self.budget, max_seconds=seconds))

    def recipe_for(self, n_variables: int, on_device: bool = False) -> Recipe:
        """Return the method for this many variables: what method="auto" stands for.

        Under a penalty that leaves no pair out, full: all pairs at once. Where every way ends at
        the same network (a convex loss, no limit but one on time), the quickest: working set of up
        to 500 variables (11,585 where a device scores all pairs at once), best-choice of more.
        Otherwise, and wherever edges, rounds or tests are limited, best-choice, whose network is a
        good one at any time and which needs no pass over all pairs.
        """
        if not self.automatic or self.recipe.selector != best_choice().selector:
            return self.recipe
        budget = self.budget
        limited = (budget.max_edges, budget.max_rounds, budget.max_tests) != (None, None, None)
        if self.penalty in DENSE and not limited:
            return replace(full(), start=self.recipe.start)
        unlimited = replace(budget, max_seconds=None) == Budget()
        free = unlimited and self.loss == "pseudolikelihood"
        listed = not self.knowledge.empty or self.missing in ("available-case", "impute")
        most = MOST_LISTED if listed else MOST_ON_DEVICE if on_device else MOST_VARIABLES
        if not free or n_variables > most or self.penalty in DENSE:
            return self.recipe
        return replace(working_set(), start=self.recipe.start)

    def penalty_at(self, lam: float) -> Penalty:
        """Return the penalty with this lambda."""
        return make_penalty(self.penalty, lam, self.l2, self.unary)

    def objective_of(self, sample: EncodedRows) -> Objective:
        """Return the loss of a sample."""
        if self.loss == "likelihood":
            return Likelihood(sample, self.engine)
        return PseudoLikelihood(sample, self.n_jobs)

    def _check(self) -> None:
        """Refuse parameters that do not go with each other."""
        if self.lam is None and not self.recipe.sized:
            self._check_choice()
        if self.start is not None:
            check_start(self.start)
        if self.tie is not None and self.tied != self.tie:
            raise ParameterError(
                f"tie={self.tie} ties weights after the search, and the method's option "
                f"tied={self.tied} in each of its rounds and after it; give one of them."
            )
        if self.ordinal and not self.ordered:
            raise ParameterError(
                f"ordinal goes with penalty='group-l1', got penalty={self.penalty!r}, which does "
                "not know parts of tables. Leave it out, or use group-l1."
            )
        if self.missing == "available-case" and self.loss != "pseudolikelihood":
            raise ParameterError(
                f"missing='available-case' goes with loss='pseudolikelihood', got "
                f"loss={self.loss!r}: pair counts of different rows need not fit one network. Use "
                "the pseudo-likelihood, or missing='impute', missing='state' or "
                "missing='drop-rows'."
            )

    def _refuse_idle(self, given: Mapping[str, Any]) -> None:
        """Refuse parameters that would change nothing beside the others."""
        for names, why in self._idle():
            for name in names:
                if not _same(given[name], DEFAULT_VALUES[name]):
                    raise ParameterError(
                        f"{name}={given[name]!r} has no effect {why}. Leave it out."
                    )

    def _idle(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield names of parameters that the others leave without effect, and why."""
        choosing = ("fdr", "goal", "criterion", "criterion_options")
        if self.recipe.sized:
            yield choosing, f"with the method {self.recipe.name!r}, which knows its number of edges"
        elif self.penalty == "none":
            yield choosing, "with penalty='none': there is no lambda to choose"
        elif self.lam is not None:
            yield choosing, "where lam is a number: it is for lam='auto'"
        if self.criterion is not None:
            yield (
                ("fdr",),
                "where edges are not tested: it is for goal='structure' with the criterion 'tests'",
            )
        if self.penalty == "none":
            yield ("l2", "unary"), "with penalty='none'"
        if self.recipe.sized and self.lam is None:
            yield ("shape",), f"with the method {self.recipe.name!r}, which fits whole tables"
        elif not self.ordered:
            yield ("shape",), f"with penalty={self.penalty!r}: it is for penalty='group-l1'"
        elif self.ordinal is False:
            yield ("shape",), "with ordinal=False: no variable is ordered"
        if self.loss == "pseudolikelihood":
            yield ("inference",), "on the pseudo-likelihood: it is for loss='likelihood'"

    def _check_choice(self) -> None:
        """Refuse lam="auto" where there is nothing to choose from."""
        if self.penalty == "l2":
            raise ParameterError("lam must be a number with penalty=\"l2\", got 'auto'.")
        if self.budget.max_evaluations is not None:
            raise ParameterError(
                "lam must be a number with max_evaluations, got 'auto': the limit is for the fit "
                "at one lambda. Give lam, or limit max_seconds."
            )
        if self.start is not None and self.penalty != "none":
            raise ParameterError(
                "lam must be a number with start, got 'auto': it follows a path of lambdas that "
                "begins without edges. Give lam, or leave start out."
            )


def _split(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of any run, and those of the method itself."""
    shared = {each.name for each in options_of("method_options")}
    run = {name: value for name, value in options.items() if name in shared}
    return run, {name: value for name, value in options.items() if name not in shared}


def _same(value: Any, default: Any) -> bool:
    """Return whether a value is a default; arrays, engines and the like never are."""
    plain = isinstance(value, bool | int | float | str | dict | np.generic)
    return value is default or (plain and bool(value == default))


def _unary(value: Any) -> bool | float:
    """Return whether unaries are penalised, or how strongly."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    return number("unary", value, 0.0)


def _as_list(ordinal: Any) -> Any:
    """Return an array of names as a list; whether there are any is asked of both."""
    return ordinal.tolist() if isinstance(ordinal, np.ndarray) else ordinal


def _lambda(value: Any, penalty: Any) -> float | None:
    """Return the lambda given; None for "auto"."""
    if isinstance(value, str):
        if value != "auto":
            raise ParameterError(f'lam must be "auto" or a number, such as 0.01; got {value!r}.')
        return None
    return number("lam", value, 0.0, above=penalty not in DENSE)


def _seed(random_state: Any) -> Any:
    """Return what a generator is made from, or refuse what is not a seed."""
    if random_state is None:  # two plain fits are the same
        return 0
    if isinstance(random_state, np.random.RandomState):
        return random_state
    try:
        np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            f"random_state={random_state!r} is not a seed; use a whole number of at least 0, "
            "or None."
        ) from None
    return random_state


TESTS = "tests"
# What chooses lambda for a goal unless something else is asked for. Networks that predict best have
# far too many edges to say which are real; stable or tested ones too few to predict best.
DEFAULTS = {"structure": TESTS, "prediction": "k-fold"}
# What serves a goal, its default first.
GOALS: dict[str, tuple[str, ...]] = {
    goal: tuple(dict.fromkeys([default, *CRITERIA.having("goals", goal)]))
    for goal, default in DEFAULTS.items()
}


def make_criterion(goal: Goal, name: Any, options: Mapping[str, Any]) -> Criterion | None:
    """Return what chooses lambda; None for the tests of edges. What means nothing is refused.

    Examples
    --------
    >>> make_criterion("structure", "ebic", {"gamma": 0.5})
    Ebic(gamma=0.5)
    """
    if name is None:
        name = GOALS[goal][0]
    else:
        known("criterion", name, [TESTS, *CRITERIA])
        if name not in GOALS[goal]:
            [other] = set(GOALS) - {goal}
            raise ParameterError(
                f"criterion={name!r} does not serve goal={goal!r}; use goal={other!r}, or one of "
                f"{', '.join(map(repr, GOALS[goal]))}."
            )
    if name == TESTS:
        if options:
            raise ParameterError("the criterion 'tests' has no options; fdr is a parameter itself.")
        return None
    return _made(name, dict(options))


def _made(name: str, options: dict[str, Any]) -> Criterion:
    """Return the criterion of this name with these options, which it must know."""
    factory: Callable[..., Criterion] = CRITERIA[name]
    accepted = inspect.signature(factory).parameters
    for option, value in options.items():
        known(f"criterion_options of {name!r}: option", option, accepted)
        if value is not None or accepted[option].default is not None:
            number(f"criterion {name!r}: {option}", value, 0.0)
    try:
        return factory(**options)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"criterion {name!r}: {str(error).rstrip('.')}.") from None
