"""What the estimator's parameters must be, and the loop's options that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from graftwork.estimators.course import check_annealing
from graftwork.estimators.criteria import make_criterion
from graftwork.estimators.lines import Lines, watcher
from graftwork.estimators.parts import (
    PENALTIES,
    ParameterError,
    check_jobs,
    known,
    make_recipe,
    number,
    whole_number,
)
from graftwork.estimators.starts import check_start
from graftwork.grafting import Budget, Recipe
from graftwork.recipes import best_choice, working_set

# Up to so many variables method="auto" looks at all pairs in every round: about a million.
MOST_VARIABLES = 1500


def loop_options(net: Any) -> dict[str, Any]:
    """Return the loop's options, or refuse a parameter that means nothing.

    Parameters
    ----------
    net : MarkovNetwork
    """
    known("penalty", net.penalty, PENALTIES)
    number("l2", net.l2, 0.0)
    if not isinstance(net.penalize_unary, bool | np.bool_):
        number("penalize_unary", net.penalize_unary, 0.0)
    budget = _budget(net)
    check_jobs(net.n_jobs)
    if net.tie is not None:
        whole_number("tie", net.tie, 1)
    recipe = make_recipe(net.method, _method_options(net))
    _check_lambda(net, recipe)
    make_criterion(net)  # refused now if it means nothing
    _check_course(net, recipe)
    return {
        "recipe": recipe,
        "budget": budget,
        "tolerance": number("tol", net.tol, 0.0, above=True),
        "rng": np.random.default_rng(_seed(net.random_state)),
        "observer": watcher(net, Lines()),
    }


def quickest(net: Any, recipe: Recipe, n_variables: int) -> Recipe:
    """Return what method="auto" stands for; the recipe of any other method as it is.

    Where every way ends at the same network (a convex loss, nothing that stops it early), the
    quickest: working set, which looks at all pairs. Else best-choice, whose network is a good one
    at any time and which needs no pass over all pairs.
    """
    limits = (net.max_edges, net.max_tests, net.max_seconds, net.max_iter, net.arrivals)
    free = all(limit is None for limit in limits) and net.loss == "pseudolikelihood"
    small = n_variables <= MOST_VARIABLES and net.penalty not in ("l2", "none")
    plain = recipe.selector == best_choice().selector
    auto = isinstance(net.method, str) and net.method == "auto"
    if not (auto and free and small and plain):
        return recipe
    return replace(working_set(), start=recipe.start)


def _check_lambda(net: Any, recipe: Recipe) -> None:
    """Refuse a lambda that means nothing, or "auto" where there is nothing to choose from."""
    if not isinstance(net.lam, str):
        number("lam", net.lam, 0.0, above=net.penalty not in ("none", "l2"))
        return
    known("lam", net.lam, ["auto"])
    if recipe.sized:
        return
    if net.penalty == "l2" or net.arrivals is not None:
        what = 'penalty="l2"' if net.penalty == "l2" else "arrivals"
        raise ParameterError(f"lam must be a number with {what}, got {net.lam!r}.")
    if net.start is not None and net.penalty != "none":
        raise ParameterError(
            f"lam must be a number with start, got {net.lam!r}: it walks a path of lambdas that "
            "begins without edges. Give lam, or leave start out."
        )


def _check_course(net: Any, recipe: Recipe) -> None:
    """Refuse a start, annealing or arrivals that do not go with each other or with the method."""
    if net.start is not None:
        check_start(net.start)
    if net.anneal is not None and net.penalty in ("l2", "none"):
        raise ParameterError(
            f"anneal walks lambda of a sparse penalty down; penalty={net.penalty!r} has none."
        )
    check_annealing(net.anneal, net.lam)
    if recipe.sized and net.anneal is not None:
        raise ParameterError(
            f"anneal grows a network from a large lambda down; method {recipe.name!r} starts with "
            "all its edges. Leave anneal out."
        )
    if net.arrivals is not None and (recipe.sized or isinstance(net.start, str)):
        what = f"method {recipe.name!r}" if recipe.sized else f"start={net.start!r}"
        raise ParameterError(
            f"{what} looks at all variables at once, so none can arrive later; leave arrivals out."
        )


def _budget(net: Any) -> Budget:
    limits = {
        "max_edges": (net.max_edges, 0, True),
        "max_tests": (net.max_tests, 1, True),
        "max_seconds": (net.max_seconds, 0, False),
        "max_iter": (net.max_iter, 0, True),
    }
    for name, (value, low, whole) in limits.items():
        if value is not None:
            number(name, value, low, whole=whole)
    edges, rounds, tests = (
        None if given is None else int(given)
        for given in (net.max_edges, net.max_iter, net.max_tests)
    )
    return Budget(edges, rounds, tests, net.max_seconds)


def _method_options(net: Any) -> dict[str, Any]:
    """Return the method's options; best-choice has parameters of its own here, too."""
    for name, value in (("reservoir", net.reservoir), ("tests", net.tests)):
        if value is not None:
            number(name, value, 1, whole=True)
    settings = {
        "alpha": number("alpha", net.alpha, 0.0),
        "reservoir": net.reservoir,
        "tests": net.tests,
        "structure": bool(net.structure),
    }
    options = {} if net.method_options is None else net.method_options
    if not isinstance(options, Mapping):
        raise ParameterError(
            f"method_options must be a dict of the method's options, got {options!r}."
        )
    own = dict(options)
    return {**settings, **own} if net.method in ("auto", "best-choice") else own


def _seed(random_state: Any) -> Any:
    """Return what numpy's generators take: scikit-learn's RandomState becomes a seed."""
    if random_state is None:  # two plain fits are the same
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    try:
        np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            f"random_state={random_state!r} is no seed; use a whole number from 0 on, or None."
        ) from None
    return random_state
