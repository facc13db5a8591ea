"""What ChainCRF's parameters must be, and the parts they stand for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from numbers import Integral
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from graftwork.errors import ParameterError
from graftwork.estimators.lines import Lines, watcher
from graftwork.estimators.parts import make_penalty, make_recipe
from graftwork.estimators.spec import DENSE
from graftwork.grafting import (
    Budget,
    Problem,
    Recipe,
)
from graftwork.grafting.chains import ChainFamily
from graftwork.objectives.chains.likelihood import ChainLikelihood
from graftwork.parameters import FINEST, check_jobs, known, number, whole_number
from graftwork.penalties import PENALTIES
from graftwork.recipes import RECIPES
from graftwork.recipes.full import full

if TYPE_CHECKING:
    from graftwork.estimators.chain_crf import ChainCRF

Given = ParamSpec("Given")

#: What CRFsuite and sklearn-crfsuite call parameters, and what is meant here.
ELSEWHERE = {
    "algorithm": "method says how features are chosen; there is no choice of optimiser",
    "all_possible_states": 'use candidates="all", which is for states and transitions',
    "all_possible_transitions": 'use candidates="all", which is for states and transitions',
    "c1": "use lam=c1 / len(X): the penalty is on the mean loss of a sequence",
    "c2": 'use l2=c2 / len(X) with penalty="elastic-net", or lam=c2 / len(X) with penalty="l2"',
    "max_iterations": "use max_evaluations, max_iter (rounds) or max_seconds",
    "min_freq": "use min_count, the least number of positions of an attribute",
}
#: The methods that make sense for features of chains.
METHODS = RECIPES.having("chains")
CANDIDATES = ("observed", "all")
#: By default a round activates this share of the candidates, but no fewer than this number.
SELECT_SHARE, LEAST_SELECTED = 0.02, 50
#: The default accuracy: one occurrence of a feature in ten thousand sequences, at most lambda.
TOL = 1e-4


def translated(init: Callable[Given, None]) -> Callable[Given, None]:
    """Return an ``__init__`` that says what CRFsuite's names of parameters are called here."""

    @wraps(init)
    def checked(*args: Given.args, **named: Given.kwargs) -> None:
        for name in named:
            if name in ELSEWHERE:
                raise ParameterError(f"there is no parameter {name}; {ELSEWHERE[name]}.")
        init(*args, **named)

    return checked


def check_parameters(crf: ChainCRF) -> None:
    """Refuse a parameter that means nothing, before any data are read."""
    if not isinstance(crf.method, Recipe):
        known("method", crf.method, METHODS)
    known("penalty", crf.penalty, PENALTIES)
    known("candidates", crf.candidates, CANDIDATES)
    if crf.lam is not None:
        number("lam", crf.lam, 0.0, above=crf.penalty not in ("none", "l2"))
    number("l2", crf.l2, 0.0)
    whole = isinstance(crf.order, Integral) and not isinstance(crf.order, bool)
    if not whole or crf.order not in (1, 2):
        raise ParameterError(f"order must be 1 or 2, got {crf.order!r}.")
    whole_number("min_count", crf.min_count, 1)
    for name in ("select", "max_features"):
        if getattr(crf, name) is not None:
            whole_number(name, getattr(crf, name), 1 if name == "select" else 0)
    for name, whole in (("max_seconds", False), ("max_iter", True), ("max_evaluations", True)):
        if getattr(crf, name) is not None:
            number(name, getattr(crf, name), 0, whole=whole)
    if crf.tol is not None:
        number("tol", crf.tol, FINEST, above=True)
    check_jobs(crf.n_jobs)
    chain_recipe(crf, 1)


def chain_recipe(crf: ChainCRF, n_candidates: int) -> Recipe:
    """Return the recipe asked for; ``select`` is its number of features a round.

    Under a penalty that leaves no feature out it is that of all features at once, unless their
    number or that of rounds is limited.
    """
    options = {} if crf.method_options is None else crf.method_options
    if not isinstance(options, Mapping):
        raise ParameterError(
            f"method_options must be a dict of the method's options, got {options!r}."
        )
    limits = (crf.select, crf.max_features, crf.max_iter)
    if crf.penalty in DENSE and isinstance(crf.method, str) and limits == (None, None, None):
        return full()  # which leaves no feature out
    if isinstance(crf.method, Recipe):
        if crf.select is not None:
            raise ParameterError("select goes with a method's name; this one is a Recipe.")
        if crf.method.needs_pairs:
            raise ParameterError(
                f"the recipe {crf.method.name!r} is for the edges of networks; for the features of "
                f"chains use one of {', '.join(METHODS)}, or a recipe with their parts."
            )
        return make_recipe(crf.method, options)
    counted = "count" in inspect.signature(RECIPES[crf.method]).parameters
    if not counted and crf.select is not None:
        raise ParameterError(
            f"method={crf.method!r} takes everything at once; leave out select={crf.select!r}."
        )
    if crf.select is not None and "count" in options:
        raise ParameterError(
            f"select={crf.select!r} and the method's option count are the same; give one."
        )
    own = dict(options)
    if counted and "count" not in own:
        share = max(LEAST_SELECTED, round(SELECT_SHARE * n_candidates))
        own["count"] = share if crf.select is None else int(crf.select)
    return make_recipe(crf.method, own)


def chain_problem(crf: ChainCRF, objective: ChainLikelihood, lam: float) -> Problem:
    """Return the problem: single features, or rows of them with a group penalty."""
    penalty = make_penalty(crf.penalty, lam, float(crf.l2), False)
    return Problem(objective, penalty, ChainFamily(objective.features, penalty.separable))


def chain_options(crf: ChainCRF, lam: float) -> dict[str, Any]:
    """Return the loop's options."""
    limits = (crf.max_features, crf.max_iter, crf.max_evaluations)
    most, rounds, evaluations = (None if given is None else int(given) for given in limits)
    return {
        "budget": Budget(most, rounds, None, crf.max_seconds, evaluations),
        "tolerance": min(TOL, lam or TOL) if crf.tol is None else float(crf.tol),
        "rng": np.random.default_rng(0),
        "observer": watcher(crf.verbose, Lines("row" if crf.penalty == "group-l1" else "feature")),
    }
