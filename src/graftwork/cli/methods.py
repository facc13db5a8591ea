"""A method and its own options as text, NAME:OPTION=VALUE."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Sequence
from types import NoneType
from typing import Any

from graftwork.cli.matching import near
from graftwork.cli.name_options import parse_value, split_options
from graftwork.cli.options import CHAIN_METHODS, METHODS

#: Options of methods that mean nothing for chains, which have no edges.
_NOT_OF_CHAINS = ("features",)
#: What an option takes, by what its parameter is said to be: types, and words for them.
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "bool": ((bool,), "true or false"),
    "int": ((int,), "a whole number"),
    "float": ((float, int), "a number"),
    "int | None": ((int, NoneType), "a whole number, or none"),
    "float | None": ((float, int, NoneType), "a number, or none"),
    "str": ((str,), "a word"),
    "str | None": ((str, NoneType), "a word, or none"),
}


def parse_method(text: str) -> dict[str, Any]:
    """Return MarkovNetwork's arguments that a text NAME:OPTION=VALUE:OPTION=VALUE stands for."""
    return _parsed(text, ("auto", *METHODS))


def parse_chain_method(text: str) -> dict[str, Any]:
    """Return the same arguments of ChainCRF, which has some of the methods."""
    return _parsed(text, CHAIN_METHODS, _NOT_OF_CHAINS, " for chains")


def _parsed(
    text: str, methods: Sequence[str], unused: Collection[str] = (), what: str = ""
) -> dict[str, Any]:
    from graftwork.errors import ParameterError
    from graftwork.estimators.parts import make_recipe, method_factory

    name, options = split_options(text)
    if name not in methods:
        listed = list(methods)
        raise ParameterError(f"there is no method {name!r}{what}{near(name, listed, 'methods')}")
    parameters = inspect.signature(method_factory(name)).parameters
    own = {key: each for key, each in parameters.items() if key not in unused}
    chosen: dict[str, Any] = {}
    for key, written in options.items():
        known = key.replace("-", "_")
        if known not in own:
            listed = [each.replace("_", "-") for each in own]
            end = near(key, listed, "options") if listed else "; it has none."
            raise ParameterError(f"{name} has no option {key!r}{end}")
        chosen[known] = _checked(name, key, parse_value(written), own[known])
    make_recipe(name, chosen)  # refuses numbers that mean nothing
    return {"method": name, **({"method_options": chosen} if chosen else {})}


def _checked(method: str, option: str, value: Any, parameter: inspect.Parameter) -> Any:
    """Return the value of a method's own option if it is of the right kind."""
    from graftwork.errors import ParameterError

    kind, default = parameter.annotation, parameter.default
    if kind not in _KINDS:
        kind = "int | None" if default is None else type(default).__name__
    taken, words = _KINDS.get(kind, _KINDS["str"])
    if type(value) not in taken:
        raise ParameterError(f"{option} of {method} is {value!r}; it takes {words}.")
    return value
