"""Where the estimator's words become parts: the one place for each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast, get_args

from graftwork.errors import ParameterError
from graftwork.grafting import Recipe
from graftwork.inference import ENGINES, Engine, make_engine
from graftwork.inference.messages import Rule
from graftwork.parameters import known
from graftwork.penalties import PENALTIES, Penalty
from graftwork.recipes import RECIPES

RULES: tuple[Rule, ...] = get_args(Rule)
# "auto" has best-choice's options; see `FitSpec.recipe_for`.
AUTO = "best-choice"


def method_factory(name: str) -> Callable[..., Recipe]:
    """Return what makes the recipe of a known name.

    Examples
    --------
    >>> method_factory("auto")().name
    'best-choice'
    """
    return RECIPES[AUTO if name == "auto" else name]


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
    factory = method_factory(known("method", method, ["auto", *RECIPES]))
    accepted = inspect.signature(factory).parameters
    for name in options:
        known(f"method_options of {method!r}: option", name, accepted)
    try:
        return factory(**options)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"method {method!r}: {str(error).rstrip('.')}.") from None


def make_penalty(name: str, lam: float, l2: float, unary: bool | float) -> Penalty:
    """Return the penalty of this name.

    Examples
    --------
    >>> make_penalty("l1", 0.1, 0.0, True)
    L1(lam=0.1, l2=0.0, unary_lam=0.1, unary_l2=0.0)
    >>> make_penalty("l2", 0.1, 0.0, 0.5)
    L1(lam=0.0, l2=0.1, unary_lam=0.0, unary_l2=0.5)
    """
    own = lam if unary is True else float(unary)
    factory: Callable[..., Penalty] = PENALTIES[known("penalty", name, PENALTIES)]
    return factory(lam, l2, own, l2 if own else 0.0)


def make_ridge(penalty: Penalty, prior: float, unary: bool | float) -> Penalty:
    """Return a penalty without sparsity on tables as one with this ridge on them, too.

    Unaries that were to be penalised with the same strength get the same ridge.

    Examples
    --------
    >>> found = make_ridge(make_penalty("group-l1", 0.0, 0.1, True), 0.4, True)
    >>> found.l2, found.unary_l2
    (0.5, 0.5)
    """
    before = penalty.l2 if unary is True else penalty.unary_l2
    own = before + prior if unary else 0.0
    return replace(penalty, l2=penalty.l2 + prior, unary_l2=own)  # type: ignore[type-var]


def read_engine(inference: Any) -> Engine:
    """Return the inference of a name, NAME or NAME:rule=RULE, or the engine given.

    Examples
    --------
    >>> read_engine("bp:rule=product").rule
    'product'
    """
    if not isinstance(inference, str):
        if not isinstance(inference, Engine):
            raise ParameterError(f"inference={inference!r} is neither a known name nor an engine.")
        return inference
    name, mark, option = (part.strip() for part in inference.partition(":"))
    known("inference", name, ENGINES)
    if not mark:
        return make_engine(name)
    key, _, rule = (part.strip() for part in option.partition("="))
    known(f"inference {name!r}: option", key, ["rule"])
    known("rule", rule, RULES)
    return make_engine(name, cast(Rule, rule))
