"""How lambda is chosen, by name: goals, the criteria that serve them, their options."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from graftwork.errors import ParameterError
from graftwork.parameters import Goal, known, number
from graftwork.selection.criteria import CRITERIA, Criterion

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

    Parameters
    ----------
    goal : {"structure", "prediction"}
    name : str or None
        None is the goal's default.
    options : mapping
        Of the criterion.

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
    factory = CRITERIA[name]
    accepted = inspect.signature(factory).parameters
    for option, value in options.items():
        known(f"criterion_options of {name!r}: option", option, accepted)
        if value is not None or accepted[option].default is not None:
            number(f"criterion {name!r}: {option}", value, 0.0)
    try:
        return factory(**options)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"criterion {name!r}: {str(error).rstrip('.')}.") from None
