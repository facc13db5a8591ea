"""A method and its options as text, NAME:OPTION=VALUE, for learn and compare."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import TYPE_CHECKING, Any

from graftwork.cli.matching import near
from graftwork.cli.name_options import parse_value, split_options
from graftwork.cli.options import CHAIN_METHODS, METHODS
from graftwork.parameters import gather

if TYPE_CHECKING:
    from graftwork.comparing.methods import Entry

#: What a method may set besides options of its own, for itself alone.
_SHARED = (
    "loss", "inference", "rule", "penalty", "l2", "unary", "start", "tol", "tie",
    "max-edges", "max-tests", "max-seconds", "max-iter",
)  # fmt: skip
_SHARED_BY_CHAINS = (
    "select", "penalty", "l2", "order", "candidates", "min-count", "tol", "max-features",
    "max-seconds", "max-iter",
)  # fmt: skip
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


@dataclass(frozen=True, slots=True)
class Language:
    """What may be written about methods.

    Attributes
    ----------
    methods : tuple of str
        Their names.
    shared : tuple of str
        Options of their estimator.
    unused : tuple of str
        Options of the methods themselves that mean nothing here.
    what : str
        What the methods are for, as refusals say it.
    nested : bool
        Whether shared options are grouped in the estimator's arguments.
    """

    methods: tuple[str, ...]
    shared: tuple[str, ...]
    unused: tuple[str, ...] = ()
    what: str = ""
    nested: bool = False


NETWORKS = Language(("auto", *METHODS), _SHARED, nested=True)
# Whether features or whole edges are chosen is a question of networks.
CHAINS = Language(CHAIN_METHODS, _SHARED_BY_CHAINS, ("features",), " for chains")
#: One chain alone: everything shared has an option of its own on the command line.
ONE_CHAIN = replace(CHAINS, shared=())


def parse_method(text: str, language: Language = NETWORKS) -> dict[str, Any]:
    """Return the estimator's arguments that a text NAME:OPTION=VALUE:OPTION=VALUE stands for.

    Parameters
    ----------
    language : Language
        The methods and options there are.

    Examples
    --------
    >>> parse_method("grafting-light:count=10:max-edges=5")
    {'method': 'grafting-light', 'max_edges': 5, 'method_options': {'count': 10}}
    >>> parse_method("full:inference=bp:rule=product:l2=0.1")
    {'method': 'full', 'inference': 'bp:rule=product', 'penalty_options': {'l2': 0.1}}

    Raises
    ------
    ParameterError
        If there is no such method or option, or the option takes something else.
    """
    from graftwork.errors import ParameterError
    from graftwork.estimators.parts import make_recipe, method_factory

    name, options = split_options(text)
    if name not in language.methods:
        listed = list(language.methods)
        raise ParameterError(
            f"there is no method {name!r}{language.what}{near(name, listed, 'methods')}"
        )
    parameters = inspect.signature(method_factory(name)).parameters
    own = {key: each for key, each in parameters.items() if key not in language.unused}
    settings: dict[str, Any] = {"method": name}
    special: dict[str, Any] = {}
    for key, written in options.items():
        value, known = parse_value(written), key.replace("-", "_")
        if known in own:
            special[known] = _checked(name, key, value, own[known])
        elif known.replace("_", "-") in language.shared:
            settings[known] = written if known == "penalty" else value  # none is a penalty
        else:
            raise ParameterError(_no_option(name, key, [*own, *language.shared]))
    make_recipe(name, special)  # refuses numbers that mean nothing
    if "rule" in settings:
        settings["inference"] = f"{settings.get('inference', 'auto')}:rule={settings.pop('rule')}"
    found = settings | ({"method_options": special} if special else {})
    return gather(found) if language.nested else found


def _no_option(name: str, key: str, known: Sequence[str]) -> str:
    """Return the sentence about an option that a method does not have."""
    listed = [each.replace("_", "-") for each in known]
    end = near(key, listed, "options") if listed else "; it has none."
    return f"{name} has no option {key!r}{end}"


def parse_methods(words: Sequence[str]) -> tuple[Entry, ...]:
    """Return methods from texts NAME,NAME:OPTION=VALUE, which are their labels; all is every one.

    Examples
    --------
    >>> light, first = parse_methods(["grafting-light:count=10,first-hit"])
    >>> light.label, first.settings
    ('grafting-light:count=10', {'method': 'first-hit'})
    """
    from graftwork.comparing.methods import make_entries
    from graftwork.comparing.networks import NETWORKS as LEARNER

    return make_entries(_listed(words, NETWORKS), LEARNER)


def parse_chain_methods(words: Sequence[str], select: Sequence[int] | None) -> tuple[Entry, ...]:
    """Return methods of chains from texts, each with each number of features per round.

    Examples
    --------
    >>> [entry.label for entry in parse_chain_methods(["grafting,full"], [1, 10])]
    ['grafting:select=1', 'grafting:select=10', 'full']
    """
    from graftwork.comparing.chains import CHAINS as LEARNER
    from graftwork.comparing.chains import with_select
    from graftwork.comparing.methods import make_entries

    return with_select(make_entries(_listed(words, CHAINS), LEARNER), select)


def _listed(words: Sequence[str], language: Language) -> list[str | Entry]:
    """Return texts between commas as labelled methods; "all" stays as it is."""
    from graftwork.comparing.methods import Entry

    texts = [text.strip() for word in words for text in word.split(",") if text.strip()]
    return [text if text == "all" else Entry(text, parse_method(text, language)) for text in texts]


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
