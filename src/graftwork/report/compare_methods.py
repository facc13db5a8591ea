"""Which methods a comparison runs: names, recipes or settings become labelled entries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graftwork.estimators import MarkovNetwork
from graftwork.estimators.parts import ParameterError, known
from graftwork.grafting import Recipe
from graftwork.recipes import RECIPES

#: Compared when nothing is asked for, up to so many variables: what ends soon. Some solve to
#: convergence for each feature, and some score every pair in every round.
USUAL_METHODS: dict[float, tuple[str, ...]] = {
    10: tuple(RECIPES),
    64: ("best-choice", "edge-grafting", "first-hit", "grafting-light"),
    math.inf: ("best-choice", "first-hit"),
}

#: What `compare` decides itself, with what to use instead.
_RESERVED = {
    "lam": "lam is one number for all methods: pass it to compare as lam=...",
    "observer": "pass observer=... to compare; it is told of every method.",
    "states": "the data are read once: pass states=... to compare.",
    "verbose": "pass observer=... to compare to watch it.",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a comparison: a label, and what of `MarkovNetwork` it sets."""

    label: str
    settings: Mapping[str, Any]


def make_entries(methods: Any) -> tuple[Entry, ...]:
    """Return the entries that a choice of methods stands for, with labels all different.

    Parameters
    ----------
    methods : str, Recipe, dict, Entry, or an iterable or mapping of these
        A name ("all" for every one), a recipe, or keyword arguments of `MarkovNetwork`; a mapping
        gives the labels, and so does an entry.

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
        pairs = [(str(label), _settings(spec)) for label, spec in methods.items()]
    elif isinstance(methods, Iterable):
        pairs = [_labelled(each) for spec in methods for each in _spread(spec)]
    else:
        raise ParameterError(f"methods={methods!r} is no list of methods; name some of {_names()}.")
    if not pairs:
        raise ParameterError(f"methods is empty; name some of {_names()}.")
    labels = _distinct([label for label, _ in pairs])
    return tuple(Entry(label, each) for label, (_, each) in zip(labels, pairs, strict=True))


def usual_entries(n_variables: int) -> tuple[Entry, ...]:
    """Return what is compared when nothing is asked for: `USUAL_METHODS` for so many variables.

    Examples
    --------
    >>> [entry.label for entry in usual_entries(1000)]
    ['best-choice', 'first-hit']
    """
    return make_entries(next(m for most, m in USUAL_METHODS.items() if n_variables <= most))


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse options that `MarkovNetwork` does not have or that a comparison decides itself."""
    if "method" in options:
        raise ParameterError("compare takes several methods: pass methods=[...].")
    for name in options:
        known("option", name, _parameters())


def _spread(spec: Any) -> Iterable[Any]:
    return RECIPES if isinstance(spec, str) and spec == "all" else [spec]


def _labelled(spec: Any) -> tuple[str, dict[str, Any]]:
    """Return a method's label, by default its name, and its settings."""
    if isinstance(spec, Entry):
        return spec.label, _settings(spec.settings)
    settings = _settings(spec)
    method = settings["method"]
    return method.name if isinstance(method, Recipe) else method, settings


def _settings(spec: Any) -> dict[str, Any]:
    """Return the keyword arguments of `MarkovNetwork` that one method stands for."""
    if isinstance(spec, str):
        return {"method": known("method", spec, RECIPES)}
    if isinstance(spec, Recipe):
        return {"method": spec}
    if not isinstance(spec, Mapping):
        raise ParameterError(
            f"{spec!r} is no method; use a name, a Recipe, or a dict of MarkovNetwork's arguments."
        )
    for name in spec:
        if name in _RESERVED:
            raise ParameterError(f"a method may not set {name}: {_RESERVED[name]}")
        known("option", name, _parameters())
    settings = {"method": MarkovNetwork().method, **spec}
    if not isinstance(settings["method"], Recipe):
        known("method", settings["method"], RECIPES)
    return settings


def _names() -> str:
    return ", ".join(RECIPES)


def _parameters() -> list[str]:
    return list(MarkovNetwork().get_params(deep=False))


def _distinct(labels: list[str]) -> list[str]:
    """Return the labels, with a number behind those that were there before."""
    out: list[str] = []
    for label in labels:
        new, number = label, 1
        while new in out:
            number += 1
            new = f"{label} ({number})"
        out.append(new)
    return out
