"""Ordered variables in words: their order, and which of their edges are not linear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graftwork.data.bins import is_label
from graftwork.models import PairwiseMRF
from graftwork.text import count, names, verb

#: Less of an edge along the scores than this is not rounding.
_LINEAR = 1.0 - 1e-6
_NAMED = 8


def is_curved(linear_share: float) -> bool:
    """Return whether an edge has more than a linear part; not if no variable of it is ordered.

    Examples
    --------
    >>> is_curved(0.8), is_curved(1.0), is_curved(float("nan"))
    (True, False, False)
    """
    return linear_share < _LINEAR


def why_whole(info: Mapping[str, Any]) -> str:
    """Return why no edge of ordered variables was held to a line, if that is so, in a sentence.

    Examples
    --------
    >>> why_whole({"method": "chow-liu", "choice": {"how": "sized"}})
    'With chow-liu and no lambda tables are fitted whole: nothing holds edges to a line, or ...'
    """
    choice, tying = info.get("choice"), info.get("tying")
    if isinstance(tying, dict) and tying.get("rounds"):
        return "Tied weights have few values cell by cell, which leaves no table quite linear."
    if isinstance(choice, dict) and choice.get("how") == "sized":
        return (
            f"With {info.get('method')} and no lambda tables are fitted whole: nothing holds edges "
            "to a line, or tests whether they follow one. Weights are the linear parts."
        )
    return ""


def shape_text(model: PairwiseMRF, info: Mapping[str, Any] | None = None) -> str:
    """Return which edges of ordered variables are not linear, in sentences."""
    told = info or {}
    tested = told.get("shapes_tested")
    n_tested = tested if isinstance(tested, int) else None
    shares = dict(zip(model.edges, model.linear_shares.tolist(), strict=True))
    ordered = [edge for edge, share in shares.items() if not np.isnan(share)]
    curved = [edge for edge in ordered if is_curved(shares[edge])]
    if not ordered and n_tested is None:
        return ""
    among = "" if n_tested is None else count(n_tested, "pair")
    if not curved:
        text = "Every edge of ordered variables lies along their scores."
        if among:
            text += (
                f" Nothing more was found in any of {among} with an ordered variable, tested at "
                "the same false discovery rate."
            )
        return text
    listed = ", ".join(f"{a} - {b}" for a, b in curved[:_NAMED])
    more = f" and {len(curved) - _NAMED:,} more" if len(curved) > _NAMED else ""
    where = f"{among} with an ordered variable" if among else f"{count(len(ordered), 'edge')}"
    what = "" if among else " of ordered variables"
    text = (
        f"Of {where}{what}, {len(curved):,} {verb(len(curved), 'is', 'are')} not linear and "
        f"{verb(len(curved), 'has a whole table', 'have whole tables')}: {listed}{more}."
    )
    why = why_whole(told)
    if why:
        return f"{text} {why}"
    if len(curved) < len(ordered):
        text += " All other edges of ordered variables lie along their scores."
    return text


def states_text(model: PairwiseMRF, name: Any, most: int) -> str:
    """Return a variable's states, with signs between those of an ordered one.

    Scores are told where they are neither the states themselves nor their places.

    Examples
    --------
    >>> states = {"mood": ["high", "low", "mid"], "dose": ["no", "half", "full"], "town": [3, 1]}
    >>> plain = PairwiseMRF(states)
    >>> scores = {"mood": [2, 0, 1], "dose": [0, 1, 4]}
    >>> model = PairwiseMRF.from_flat(
    ...     plain.names, list(plain.states.values()), plain.potentials, scores=scores
    ... )
    >>> [states_text(model, name, 9) for name in model.names]
    ['low < mid < high', 'no (0) < half (1) < full (4)', '3, 1']
    """
    states = model.states[name]
    scores = model.scores.get(name)
    if scores is None or len(states) < 3:
        return names(states, most)
    placed = sorted((score, k) for k, score in enumerate(scores) if not np.isnan(score))
    listed = [states[k] for _, k in placed]
    own = [score for score, _ in placed]
    plain = own == listed or _ranks(own) or all(is_label(str(state)) for state in listed)
    words = [
        str(state) if plain else f"{state} ({score:g})"
        for state, score in zip(listed, own, strict=True)
    ]
    text = " < ".join(words[:most])
    if len(words) > most:
        text += f" and {len(words) - most:,} more"
    others = [state for state, score in zip(states, scores, strict=True) if np.isnan(score)]
    return f"{text}; without a place: {names(others, most)}" if others else text


def _ranks(scores: Sequence[float]) -> bool:
    """Return whether scores are as far from each other as places are."""
    return bool(np.allclose(np.diff(scores), 1.0))
