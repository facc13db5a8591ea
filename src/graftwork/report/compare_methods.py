"""Which methods a comparison runs: names, recipes or settings become labelled entries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graftwork.errors import ParameterError
from graftwork.estimators import MarkovNetwork
from graftwork.grafting import Recipe
from graftwork.parameters import known
from graftwork.recipes import RECIPES

#: Compared when nothing is asked for, up to so many variables: what ends soon. Some solve to
#: convergence for each feature, and some score every pair in every round.
USUAL_METHODS: dict[float, tuple[str, ...]] = {
    10: tuple(RECIPES),
    64: ("best-choice", "edge-grafting", "first-hit", "grafting-light"),
    math.inf: ("best-choice", "first-hit"),
}


@dataclass(frozen=True, slots=True)
class Learner:
    """What a comparison compares: an estimator, the methods it knows, and what they may not set.

    Attributes
    ----------
    caller : str
        The function that compares, as messages name it.
    estimator : class
        A scikit-learn estimator with the parameter ``method``.
    methods : tuple of str
        Names of methods; "all" stands for them.
    default : str
        The method where none is named.
    once : dict of str to str
        Parameters that are the same for all methods, with what to do instead of setting one.
    """

    caller: str
    estimator: Any
    methods: tuple[str, ...]
    default: str
    once: Mapping[str, str]

    @property
    def parameters(self) -> list[str]:
        """Names of the estimator's parameters."""
        return list(self.estimator().get_params(deep=False))

    def reason(self, parameter: str) -> str | None:
        """Return why a method may not set a parameter, None if it may."""
        reasons = {
            "lam": f"lam is one number for all methods: pass it to {self.caller} as lam=...",
            "observer": f"pass observer=... to {self.caller}; it is told of every method.",
            "verbose": f"pass observer=... to {self.caller} to watch it.",
            **self.once,
        }
        return reasons.get(parameter)


NETWORKS = Learner(
    "compare",
    MarkovNetwork,
    tuple(RECIPES),
    "best-choice",
    {"states": "the data are read once: pass states=... to compare."},
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a comparison: a label, and what of the estimator it sets."""

    label: str
    settings: Mapping[str, Any]


def make_entries(methods: Any, learner: Learner = NETWORKS) -> tuple[Entry, ...]:
    """Return the entries that a choice of methods stands for, with labels all different.

    Parameters
    ----------
    methods : str, Recipe, dict, Entry, or an iterable or mapping of these
        A name ("all" for every one), a recipe, or keyword arguments of the estimator; a mapping
        gives the labels, and so does an entry.
    learner : Learner
        Whose methods they are.

    Raises
    ------
    ParameterError
        If a name or a keyword is not known, or no method is named.

    Examples
    --------
    >>> [entry.label for entry in make_entries(["first-hit", "best-choice", "first-hit"])]
    ['first-hit', 'best-choice', 'first-hit (2)']
    >>> make_entries({"greedy": {"method": "best-choice", "alpha": 1.0}})[0].settings["alpha"]
    1.0
    """
    if isinstance(methods, str | Recipe | Entry):
        methods = [methods]
    if isinstance(methods, Mapping):
        pairs = [(str(label), _settings(spec, learner)) for label, spec in methods.items()]
    elif isinstance(methods, Iterable):
        pairs = [_labelled(each, learner) for spec in methods for each in _spread(spec, learner)]
    else:
        names = ", ".join(learner.methods)
        raise ParameterError(f"methods={methods!r} is no list of methods; name some of {names}.")
    if not pairs:
        raise ParameterError(f"methods is empty; name some of {', '.join(learner.methods)}.")
    labels = distinct([label for label, _ in pairs])
    return tuple(Entry(label, each) for label, (_, each) in zip(labels, pairs, strict=True))


def usual_entries(n_variables: int) -> tuple[Entry, ...]:
    """Return what is compared when nothing is asked for: `USUAL_METHODS` for so many variables.

    Examples
    --------
    >>> [entry.label for entry in usual_entries(1000)]
    ['best-choice', 'first-hit']
    """
    return make_entries(next(m for most, m in USUAL_METHODS.items() if n_variables <= most))


def check_options(options: Mapping[str, Any], learner: Learner = NETWORKS) -> None:
    """Refuse options that the estimator does not have or that a comparison decides itself."""
    if "method" in options:
        raise ParameterError(f"{learner.caller} takes several methods: pass methods=[...].")
    for name in options:
        known("option", name, learner.parameters)


def _spread(spec: Any, learner: Learner) -> Iterable[Any]:
    return learner.methods if isinstance(spec, str) and spec == "all" else [spec]


def _labelled(spec: Any, learner: Learner) -> tuple[str, dict[str, Any]]:
    """Return a method's label, by default its name, and its settings."""
    if isinstance(spec, Entry):
        return spec.label, _settings(spec.settings, learner)
    settings = _settings(spec, learner)
    return method_name(settings["method"]), settings


def method_name(method: Any) -> str:
    """Return the name of a method given by name or as a recipe.

    Examples
    --------
    >>> method_name(RECIPES["full"]())
    'full'
    """
    return method.name if isinstance(method, Recipe) else str(method)


def _settings(spec: Any, learner: Learner) -> dict[str, Any]:
    """Return the keyword arguments of the estimator that one method stands for."""
    if isinstance(spec, str):
        return {"method": known("method", spec, learner.methods)}
    if isinstance(spec, Recipe):
        return {"method": spec}
    if not isinstance(spec, Mapping):
        name = learner.estimator.__name__
        raise ParameterError(
            f"{spec!r} is no method; use a name, a Recipe, or a dict of {name}'s arguments."
        )
    for name in spec:
        if (reason := learner.reason(name)) is not None:
            raise ParameterError(f"a method may not set {name}: {reason}")
        known("option", name, learner.parameters)
    settings = {"method": learner.default, **spec}
    if not isinstance(settings["method"], Recipe):
        known("method", settings["method"], learner.methods)
    return settings


def distinct(labels: Iterable[str]) -> list[str]:
    """Return the labels, with a number behind those that were there before.

    Examples
    --------
    >>> distinct(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    out: list[str] = []
    for label in labels:
        new, number = label, 1
        while new in out:
            number += 1
            new = f"{label} ({number})"
        out.append(new)
    return out
