"""Names and states in a file beside one that holds numbers only (``x.uai.names.json``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from graftwork.data.atomic import write_lines
from graftwork.errors import ModelFileError
from graftwork.exchange.factors import Factor, network_of
from graftwork.exchange.tokens import read_text
from graftwork.models import PairwiseMRF
from graftwork.models.encoding import decode, encode, writable

_FORMAT = "graftwork-names"
#: A few bytes can declare any number of states, which take memory.
MOST_STATES = 10_000_000


def names_file(path: Path) -> Path:
    """Return where the names of a file are.

    Examples
    --------
    >>> names_file(Path("net.uai")).name
    'net.uai.names.json'
    """
    return path.with_name(f"{path.name}.names.json")


def write_names(path: Path, model: PairwiseMRF) -> str:
    """Write the names and states of a network beside a file; return the name of the new file."""
    variables = []
    for name, states in model.states.items():
        with writable("the variable name"):
            coded = encode(name)
        with writable(f"a state of {name!r}:"):
            variables.append({"name": coded, "states": [encode(state) for state in states]})
        if name in model.scores:
            own = model.scores[name]
            variables[-1]["scores"] = [None if np.isnan(score) else score for score in own]
    content = {"format": _FORMAT, "version": 1, "variables": variables}
    write_lines(names_file(path), [json.dumps(content, indent=1), "\n"])
    return names_file(path).name


def named_network(path: Path, cards: list[int], factors: list[Factor]) -> PairwiseMRF:
    """Return the product of a file's factors, with the names beside it where there are any.

    Otherwise variables are x0, x1, ... and states 0, 1, ...
    """
    if sum(cards) > MOST_STATES:
        raise ModelFileError(
            f"{str(path)!r} declares {sum(cards):,} states; at most {MOST_STATES:,} are read."
        )
    names: list[Any] = [f"x{i}" for i in range(len(cards))]
    states: list[Any] = [tuple(range(card)) for card in cards]
    scores: dict[Any, list[float]] = {}
    beside = names_file(path)
    try:
        if beside.exists():
            names, states, scores = _read_names(beside, cards)
        return network_of(names, states, factors, scores)
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"{str(path)!r} cannot be read: {str(error).rstrip('.')}.") from error


def _read_names(path: Path, cards: list[int]) -> tuple[list[Any], list[Any], dict[Any, Any]]:
    """Return names, states and scores, after checking that they fit the numbers of states."""
    text = read_text(path, "a file of names")
    try:
        content = json.loads(text)
        if content["format"] != _FORMAT or content["version"] != 1:
            raise ValueError(f"its format is not {_FORMAT}, version 1")
        listed = content["variables"]
        names = [decode(item["name"]) for item in listed]
        states = [tuple(decode(state) for state in item["states"]) for item in listed]
        scores = {
            name: [float("nan") if score is None else float(score) for score in item["scores"]]
            for name, item in zip(names, listed, strict=True)
            if "scores" in item
        }
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ModelFileError(
            f"{str(path)!r} is not a file of names ({str(error).rstrip('.')}); remove it to "
            "read the "
            "network without names."
        ) from error
    fits = [len(own) for own in states] == cards
    fits = fits and all(len(own) == len(states[names.index(n)]) for n, own in scores.items())
    if not fits or len(set(names)) != len(names):
        raise ModelFileError(
            f"the names in {str(path)!r} are of another network: variables or numbers of states "
            "differ; remove it to read the network without names."
        )
    return names, states, scores
