"""Where the estimator's words become parts: the one place for each."""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any, get_args

import numpy as np

from graftwork.data.compact import Sample
from graftwork.errors import GraftworkError
from graftwork.grafting import Recipe
from graftwork.inference import Automatic, Engine, JunctionTree, LoopyBP, TreeReweighted
from graftwork.inference.rules import Rule
from graftwork.objectives import Likelihood, Objective, pseudo_likelihood
from graftwork.penalties import L1, GroupL1, Penalty
from graftwork.recipes import RECIPES, best_choice

LOSSES = ("pseudolikelihood", "likelihood")
# Engines by name, given the rule for inactive pairs.
ENGINES: dict[str, Callable[[Rule], Engine]] = {
    "auto": lambda rule: Automatic(loopy=LoopyBP(rule=rule)),
    "exact": lambda rule: JunctionTree(),
    "bp": lambda rule: LoopyBP(rule=rule),
    "trw": lambda rule: TreeReweighted(rule=rule),
}
RULES: tuple[Rule, ...] = get_args(Rule)
PENALTIES = ("group-l1", "l1", "elastic-net", "l2", "none")
# Methods by name. "auto" has best-choice's options; see `checks.quickest`.
METHODS: dict[str, Callable[..., Recipe]] = {"auto": best_choice, **RECIPES}


class ParameterError(GraftworkError, ValueError):
    """A parameter has a value that means nothing."""


def known(parameter: str, value: Any, choices: Collection[str]) -> str:
    """Return the value if it is one of the choices, or refuse with the closest one.

    Examples
    --------
    >>> known("loss", "likelihood", LOSSES)
    'likelihood'
    """
    if isinstance(value, str) and value in choices:
        return value
    close = difflib.get_close_matches(str(value), choices, 1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    listed = ", ".join(repr(choice) for choice in choices)
    raise ParameterError(f"{parameter}={value!r} is not known{hint} The choices are {listed}.")


def number(
    parameter: str, value: Any, low: float, *, above: bool = False, whole: bool = False
) -> float:
    """Return the value if it is a finite number from ``low`` on (or above it), or refuse.

    Examples
    --------
    >>> number("l2", 0.5, 0.0)
    0.5
    """
    kind = "a whole number" if whole else "a number"
    bound = f"greater than {low:g}" if above else f"at least {low:g}"
    refusal = f"{parameter} must be {kind} {bound}, got {value!r}."
    if isinstance(value, bool | str) or value is None:
        raise ParameterError(refusal)
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise ParameterError(refusal) from None
    outside = result <= low if above else result < low
    if not math.isfinite(result) or outside or (whole and result != int(result)):
        raise ParameterError(refusal)
    return result


def whole_number(parameter: str, value: Any, least: int) -> int:
    """Return the value if it is an integer from ``least`` on, or refuse; 3.0 is none.

    Examples
    --------
    >>> whole_number("tie", 10, 1)
    10
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or value < least:
        raise ParameterError(
            f"{parameter} must be a whole number of at least {least}, got {value!r}."
        )
    return int(value)


def check_jobs(value: Any) -> None:
    """Refuse a number of threads that means nothing, and return None.

    Examples
    --------
    >>> check_jobs(None), check_jobs(-1)
    (None, None)
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if value is not None and (not whole or value == 0):
        raise ParameterError(f"n_jobs must be a whole number other than 0, got {value!r}.")


def make_recipe(method: Any, options: Mapping[str, Any]) -> Recipe:
    """Return the recipe of this name with these options, which it must know.

    Examples
    --------
    >>> make_recipe("grafting-light", {"count": 10}).name
    'grafting-light'
    """
    if isinstance(method, Recipe):
        if options:
            raise ParameterError("method_options go with a method's name; this one is a Recipe.")
        return method
    factory = METHODS[known("method", method, METHODS)]
    accepted = inspect.signature(factory).parameters
    for name in options:
        known(f"method_options of {method!r}: option", name, accepted)
    try:
        return factory(**options)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"method {method!r}: {str(error).rstrip('.')}.") from None


def make_penalty(name: str, lam: float, l2: float, unary: bool | float) -> Penalty:
    """Return the penalty of this name.

    Parameters
    ----------
    lam, l2 : float
        The strengths; of "l2" lam is the strength of the squared norm.
    unary : bool or float
        Whether unaries are penalised too, with the same strength or with one of their own.

    Examples
    --------
    >>> make_penalty("l1", 0.1, 0.0, True)
    L1(lam=0.1, l2=0.0, unary_lam=0.1, unary_l2=0.0)
    >>> make_penalty("l2", 0.1, 0.0, 0.5)
    L1(lam=0.0, l2=0.1, unary_lam=0.0, unary_l2=0.5)
    """
    known("penalty", name, PENALTIES)
    own = lam if unary is True else float(unary)
    if name == "none":
        return L1(0.0, 0.0, 0.0 if unary is True else own)
    if name == "l2":
        return L1(0.0, lam + l2, 0.0, own + l2 if own else 0.0)
    kind = GroupL1 if name == "group-l1" else L1
    return kind(lam, l2, own, l2 if own else 0.0)


def make_ridge(penalty: Penalty, prior: float, unary: bool | float) -> Penalty:
    """Return a penalty without sparsity on tables as one with this ridge on them, too.

    Unaries that were to be penalised with the same strength get the same ridge.

    Examples
    --------
    >>> make_ridge(make_penalty("group-l1", 0.0, 0.1, True), 0.4, True)
    GroupL1(lam=0.0, l2=0.5, unary_lam=0.0, unary_l2=0.5)
    """
    before = penalty.l2 if unary is True else penalty.unary_l2
    own = before + prior if unary else 0.0
    return replace(penalty, l2=penalty.l2 + prior, unary_l2=own)  # type: ignore[type-var]


def make_objective(
    loss: str, inference: Any, pair_rule: Rule, n_jobs: int | None
) -> Callable[[Sample], Objective]:
    """Return what makes the loss of a sample."""
    known("loss", loss, LOSSES)
    known("pair_rule", pair_rule, RULES)
    if isinstance(inference, str):
        known("inference", inference, ENGINES)
    if loss == "pseudolikelihood":
        return lambda sample: pseudo_likelihood(sample, n_jobs)
    engine = ENGINES[inference](pair_rule) if isinstance(inference, str) else inference
    if not isinstance(engine, Engine):
        raise ParameterError(f"inference={inference!r} is neither a known name nor an engine.")
    return lambda sample: Likelihood(sample, engine)
