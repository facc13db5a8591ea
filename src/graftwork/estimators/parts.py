"""Where the estimator's words become parts: the one place for each."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection
from typing import Any

from graftwork.data.compact import Sample
from graftwork.errors import GraftworkError
from graftwork.grafting import Recipe
from graftwork.inference import Automatic, Engine, JunctionTree, LoopyBP
from graftwork.objectives import Likelihood, Objective, PseudoLikelihood
from graftwork.penalties import L1, GroupL1, Penalty
from graftwork.recipes import RECIPES

LOSSES = ("pseudolikelihood", "likelihood")
ENGINES: dict[str, Callable[[], Engine]] = {
    "auto": Automatic,
    "exact": JunctionTree,
    "bp": LoopyBP,
}
PENALTIES: dict[str, Callable[[float, float], Penalty]] = {"group-l1": GroupL1, "l1": L1}


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
    hint = f"did you mean {close[0]!r}? " if close else ""
    listed = ", ".join(repr(choice) for choice in choices)
    raise ParameterError(f"{parameter}={value!r} is not known; {hint}The choices are {listed}.")


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


def make_recipe(method: Any, options: dict[str, Any]) -> Recipe:
    """Return the recipe of this name, with the options it understands.

    Examples
    --------
    >>> make_recipe("first-hit", {"structure": True, "alpha": 0.5}).name
    'first-hit'
    """
    if isinstance(method, Recipe):
        return method
    factory = RECIPES[known("method", method, RECIPES)]
    accepted = factory.__code__.co_varnames[: factory.__code__.co_argcount]
    try:
        return factory(**{name: value for name, value in options.items() if name in accepted})
    except ValueError as error:
        raise ParameterError(str(error)) from None


def make_objective(loss: str, inference: Any, n_jobs: int | None) -> Callable[[Sample], Objective]:
    """Return what makes the loss of a sample."""
    known("loss", loss, LOSSES)
    if isinstance(inference, str):
        known("inference", inference, ENGINES)
    if loss == "pseudolikelihood":
        return lambda sample: PseudoLikelihood(sample, n_jobs)
    engine = ENGINES[inference]() if isinstance(inference, str) else inference
    if not isinstance(engine, Engine):
        raise ParameterError(f"inference={inference!r} is neither a known name nor an engine.")
    return lambda sample: Likelihood(sample, engine)
