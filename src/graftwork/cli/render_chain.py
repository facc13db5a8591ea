"""A chain model as text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from graftwork.cli.render import Fact, history_lines, method_words, understood
from graftwork.text import WIDTH, names, wrap

if TYPE_CHECKING:
    from graftwork.models import ChainModel

_LABELS_SHOWN = 200


def chain_text(model: ChainModel, info: dict[str, Any], top: int) -> str:
    """Return the size of a chain, how it came about, its labels, template and strongest weights."""
    from graftwork.report.chain_summary import chain_words, describe_chain

    words = f"A chain of order {model.order}. {chain_words(model)}"
    lines = [textwrap.fill(words, WIDTH, break_on_hyphens=False), "", *_history(info)]
    lines += ["Labels", wrap(names(model.labels, _LABELS_SHOWN))]
    template = info.get("template")
    if isinstance(template, str):
        lines += ["", "Template", textwrap.indent(template, "  ")]
    weights = describe_chain(model, top=top)
    return "\n".join([*lines, "", weights] if weights else lines)


def _history(info: dict[str, Any]) -> list[str]:
    """Return what the file says about how the chain was learned, in lines."""
    from graftwork.report.summary import saved_certificate_text

    facts: dict[str, Fact] = {
        "learned from": _source,
        "chunk types": lambda info: ", ".join(map(str, info.get("types") or ())) or None,
        "method": method_words,
        "penalty": _penalty,
        "candidates": _candidates,
        "tested": _tested,
        "certificate": saved_certificate_text,
    }
    return history_lines(understood(facts, info))


def _source(info: dict[str, Any]) -> str | None:
    if "data" not in info:
        return None
    return f"{info['data']}, {info.get('sentences')} sentences with {info.get('tokens')} tokens"


def _penalty(info: dict[str, Any]) -> str | None:
    from graftwork.report.chain_summary import penalty_words

    lam, l2, sentences = info.get("lam"), info.get("l2"), info.get("sentences")
    if not isinstance(lam, int | float) or not isinstance(l2, int | float):
        return None
    n = sentences if isinstance(sentences, int) else None
    return penalty_words(str(info.get("penalty")), float(lam), float(l2), n)


def _candidates(info: dict[str, Any]) -> str | None:
    if "n_candidates" not in info:
        return None
    rare = info.get("min_count", 1)
    text = f"{info['n_candidates']:,} ({info.get('candidates')})"
    return text if rare == 1 else f"{text}, of attributes at {rare} tokens at least"


def _tested(info: dict[str, Any]) -> str | None:
    tested = info.get("tested")
    if not isinstance(tested, dict):
        return None
    text = f"{tested['accuracy']:.2%} of the tokens of {tested['file']} are right"
    if "f1" in tested:
        text += f", chunk F1 {tested['f1']:.2%}"
    return text.replace("%", " %")
