"""Which methods a comparison runs: names, recipes or settings become labelled entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graftwork.errors import ParameterError
from graftwork.grafting import Recipe
from graftwork.parameters import known


@dataclass(frozen=True, slots=True)
class Learner:
    """What is compared: an estimator, the methods it has, and what they may not set.

    Attributes
    ----------
    caller : str
        The function that compares, as messages name it.
    estimator : class
        A scikit-learn estimator with the parameter ``method``.
    methods : tuple of str
        Names of methods, the default first.
    once : dict of str to str
        Parameters that are the same for all methods, with what to do instead of setting one.
    """

    caller: str
    estimator: Any
    methods: tuple[str, ...]
    once: Mapping[str, str]

    @property
    def parameters(self) -> list[str]:
        """Names of the estimator's parameters."""
        return list(self.estimator().get_params(deep=False))

    def reason(self, parameter: str) -> str | None:
        """Return why a method may not set a parameter, None if it may."""
        reasons = {
            "lam": f"lam is one number for all methods: pass it to {self.caller} as lam=...",
            "verbose": f"pass observer=... to {self.caller}; it is notified of every method.",
            **self.once,
        }
        return reasons.get(parameter)


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a comparison: a label, and what of the estimator it sets."""

    label: str
    settings: Mapping[str, Any]


def make_entries(methods: Any, learner: Learner) -> tuple[Entry, ...]:
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
    >>> from graftwork.comparing.networks import NETWORKS
    >>> [entry.label for entry in make_entries(["first-hit", "auto", "first-hit"], NETWORKS)]
    ['first-hit', 'auto', 'first-hit (2)']
    >>> make_entries({"greedy": {"method": "full", "max_edges": 9}}, NETWORKS)[0].settings
    {'method': 'full', 'max_edges': 9}
    """
    if isinstance(methods, str | Recipe | Entry):
        methods = [methods]
    if isinstance(methods, Mapping):
        pairs = [(str(label), _settings(spec, learner)) for label, spec in methods.items()]
    elif isinstance(methods, Iterable):
        pairs = [_labelled(each, learner) for spec in methods for each in _spread(spec, learner)]
    else:
        names = ", ".join(learner.methods)
        raise ParameterError(f"methods={methods!r} is not a list of methods; name some of {names}.")
    if not pairs:
        raise ParameterError(f"methods is empty; name some of {', '.join(learner.methods)}.")
    labels = distinct(label for label, _ in pairs)
    return tuple(Entry(label, own) for label, (_, own) in zip(labels, pairs, strict=True))


def check_options(options: Mapping[str, Any], learner: Learner) -> None:
    """Refuse options that the estimator does not have or that a comparison decides itself."""
    if "method" in options:
        raise ParameterError(f"{learner.caller} takes several methods: pass methods=[...].")
    for name in options:
        known("option", name, learner.parameters)


def method_name(method: Any) -> str:
    """Return the name of a method given by name or as a recipe."""
    return method.name if isinstance(method, Recipe) else str(method)


def _spread(spec: Any, learner: Learner) -> Iterable[Any]:
    """Return the methods that "all" stands for; "auto" is one of the others."""
    every = isinstance(spec, str) and spec == "all"
    return [name for name in learner.methods if name != "auto"] if every else [spec]


def _labelled(spec: Any, learner: Learner) -> tuple[str, dict[str, Any]]:
    """Return a method's label, by default its name, and its settings."""
    if isinstance(spec, Entry):
        return spec.label, _settings(spec.settings, learner)
    settings = _settings(spec, learner)
    return method_name(settings["method"]), settings


def _settings(spec: Any, learner: Learner) -> dict[str, Any]:
    """Return the keyword arguments of the estimator that one method stands for."""
    if isinstance(spec, str):
        return {"method": known("method", spec, learner.methods)}
    if isinstance(spec, Recipe):
        return {"method": spec}
    if not isinstance(spec, Mapping):
        name = learner.estimator.__name__
        raise ParameterError(
            f"{spec!r} is not a method; use a name, a Recipe, or a dict of {name}'s arguments."
        )
    for name in spec:
        if (reason := learner.reason(name)) is not None:
            raise ParameterError(f"a method may not set {name}: {reason}")
        known("option", name, learner.parameters)
    settings = {"method": learner.methods[0], **spec}
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
