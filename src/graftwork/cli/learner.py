"""What learn, path and bootstrap have in common: the estimator's arguments, from options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graftwork.cli.criteria import choice_of
from graftwork.cli.knowledge import given_knowledge, read_knowledge
from graftwork.cli.methods import ONE_NETWORK, parse_method
from graftwork.cli.options import settings_of
from graftwork.cli.starts import check_start, read_start

#: What a command without these options asks for.
_ABSENT = {"lam": "auto", "anneal": None, "tie": None}


def learner_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the estimator's arguments that a command's options stand for, files not read yet.

    Wrong names are refused here, before a long file is read.
    """
    check_start(given.get("start"))
    optional = ("alpha", "structure", "start")
    return {
        **settings_of({**_ABSENT, **given}),
        **{name: given[name] for name in optional if given.get(name) is not None},
        "missing": str(given["missing"]),
        **choice_of(given),
        **given_knowledge(given),
        **parse_method(
            given["method"], ONE_NETWORK, exchange=given.get("exchange"), delete=given.get("delete")
        ),
    }


def with_files(settings: Mapping[str, Any], names: Sequence[Any]) -> dict[str, Any]:
    """Return the arguments with the start and the pairs that their files name.

    Examples
    --------
    >>> with_files({"lam": 0.1, "forbidden": ["b~a"]}, ["a", "b"])
    {'lam': 0.1, 'forbidden': [('b', 'a')], 'start': None}
    """
    start = read_start(settings.get("start"), names)
    return {**settings, **read_knowledge(settings, names), "start": start}
