"""A learned network in plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from graftwork.data import Table
from graftwork.data.bins import cuts_of, is_label
from graftwork.errors import ParameterError
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.edges import shown_weights
from graftwork.estimators.learned_from import LearnedFrom
from graftwork.estimators.predictability import Predictability
from graftwork.grafting.certificate import Certificate
from graftwork.models import PairwiseMRF
from graftwork.parameters import number
from graftwork.report.bootstrap import bootstrap_text
from graftwork.report.choice_text import choice_text, evidence_sections, interval_notes
from graftwork.report.communities import community_text
from graftwork.report.describe import (
    certificate_text,
    endless_text,
    exchange_text,
    missing_text,
    tying_text,
)
from graftwork.report.edges import (
    Association,
    EdgeRecord,
    Tested,
    Unseen,
    edge_table,
    tests_of,
    weight_tells,
)
from graftwork.report.margins import margins_text
from graftwork.report.predictability import both_text
from graftwork.report.scores import HeldOut
from graftwork.report.shapes import is_curved, shape_text
from graftwork.selection import LambdaChoice
from graftwork.text import count, names, probability, section, verb, wrap

Meanings = Mapping[Any, Mapping[Any, str]]


def summary(
    net: MarkovNetwork,
    train: Table | None = None,
    *,
    held_out: HeldOut | None = None,
    no_held_out: str = "No rows were held out.",
    meanings: Meanings | None = None,
    top: int = 10,
    remarks: Sequence[str] | None = None,
    communities: Mapping[Any, int | None] | None = None,
    source: str = "",
) -> str:
    """Return what was learned, as plain text for people."""
    data = net.data_ if train is None else LearnedFrom.of(train)
    told = summary_sections(
        net, data, held_out=held_out, no_held_out=no_held_out, remarks=remarks,
        communities=communities, source=source,
    )  # fmt: skip
    parts = [section(title, text) for title, text in told]
    strongest = describe_network(
        net.model_, meanings=meanings, top=top, unseen=data.unseen(), tests=tests_of(net),
    )  # fmt: skip
    if strongest:
        parts.append(strongest)
    parts.append(section("Certificate", certified_text(net)))
    return "\n\n".join(parts) + "\n"


def summary_sections(
    net: MarkovNetwork,
    data: LearnedFrom,
    *,
    held_out: HeldOut | None = None,
    no_held_out: str = "",
    remarks: Sequence[str] | None = None,
    communities: Mapping[Any, int | None] | None = None,
    source: str = "",
) -> list[tuple[str, str]]:
    """Return headings and texts of a summary, but for the edges and the certificate."""
    model, evidence = net.model_, net.evidence_
    told = (_data_text(data, model), source, missing_text(net.missing_))
    sections = [
        ("Data", " ".join(text for text in told if text)),
        ("Remarks", " ".join(data.remarks if remarks is None else remarks)),
        ("Network", network_text(model, net.certificate_.converged) + _feature_text(net)),
        ("Weights", margins_text(model.observed)),
        ("Exchange", "" if net.exchange_ is None else exchange_text(net.exchange_)),
        (_choice_title(net), _choice_text(net)),
        ("Shape", shape_text(model, net.info())),
    ]
    if evidence is not None:
        tests = net.choice_.tests
        most = None if tests is None else tests.max_edges
        notes = notes_on_intervals(net)
        sections += evidence_sections(evidence, net.names_, data.effective_rows, notes, most)
    sections += [
        ("Tying", "" if net.spec().tied is None else _tying_text(net, data)),
        ("Bootstrap", bootstrap_text(net.bootstrap_) if hasattr(net, "bootstrap_") else ""),
        ("Prediction", held_out.words() if held_out else no_held_out),
        ("Predictability", _predictability_text(net, held_out)),
        ("Communities", "" if communities is None else community_text(model, communities)),
    ]
    return [(title, text) for title, text in sections if text]


def notes_on_intervals(net: MarkovNetwork) -> list[str]:
    """Return where weights are too large, and where their intervals do not cover them."""
    model, evidence = net.model_, net.evidence_
    if evidence is None:
        return []
    tables = [
        (len(model.states[net.names_[i]]) - 1) * (len(model.states[net.names_[j]]) - 1)
        for i, j in evidence.curved
    ]
    excess = shown_weights(model, net.names_, evidence).excess
    return interval_notes(net.data_.total_weight, excess, max(tables, default=0))


def certified_text(net: MarkovNetwork) -> str:
    """Return how close to optimal a fitted network is, and which network that is about."""
    text = network_certified(net.info()) + certificate_text(net.certificate_)
    return f"{text} But {endless_text(net.fit_.endless)}" if net.fit_.endless else text


def _predictability_text(net: MarkovNetwork, held_out: HeldOut | None) -> str:
    inside: Predictability | None = getattr(net, "predictability_", None)
    return both_text(inside, None if held_out is None else held_out.predictability)


def describe_network(
    model: PairwiseMRF,
    *,
    meanings: Meanings | None = None,
    top: int = 10,
    unseen: Unseen | None = None,
    tests: Tested | None = None,
) -> str:
    """Return the strongest edges in words, below a heading; an empty text if there is no edge."""
    shown = edge_table(
        model, unseen=unseen, tests=tests, top=int(number("top", top, 0, whole=True))
    )
    if not shown:
        return ""
    title = "Strongest edges" if model.n_edges > len(shown) else "Edges, strongest first"
    if model.n_edges == 1:
        title = "The only edge"
    lines = (
        describe_edge(record, meanings, ties=not weight_tells(model, record, meanings))
        for record in shown
    )
    return "\n".join([title, *(wrap(line, hang=4) for line in lines)])


def describe_edge(
    record: EdgeRecord, meanings: Meanings | None = None, *, ties: bool = True
) -> str:
    """Return one edge in words, on one line."""
    clauses = [
        _clause(record, tie, verb, meanings)
        for tie, verb in ((record.together, "goes with"), (record.apart, "avoids"))
        if tie is not None
    ]
    head = f"{record.first} - {record.second}  strength {record.strength:.2f}"
    if record.weight and not np.isnan(record.weight):
        head += f", weight {record.weight:+.2f}"
        if not np.isnan(record.weight_low):
            head += f" ({record.weight_low:.2f} to {record.weight_high:.2f})"
    if is_curved(record.linear_share):
        head += ", not linear"
    if not np.isnan(record.p_value):
        head += f", p = {probability(record.p_value)}"
    return f"{head}: {'; '.join(clauses)}" if clauses and ties else head


def _clause(record: EdgeRecord, tie: Association, verb: str, meanings: Meanings | None) -> str:
    first = state_word(record.first, tie.first_state, meanings)
    second = state_word(record.second, tie.second_state, meanings)
    return f"{_holds(record.first, first)} {verb} {_holds(record.second, second)}"


def _holds(name: Any, word: str) -> str:
    """Return that a variable is in a state, in words.

    Examples
    --------
    >>> _holds("odor", "foul"), _holds("age", "> 60"), _holds("age", "(20, 60]")
    ('odor = foul', 'age > 60', 'age in (20, 60]')
    """
    if not is_label(word):
        return f"{name} = {word}"
    return f"{name} in {word}" if word.startswith("(") else f"{name} {word}"


def state_word(name: Any, state: Any, meanings: Meanings | None) -> str:
    """Return the word for a state where there is one, else the state as text.

    Examples
    --------
    >>> state_word("odor", "f", {"odor": {"f": "foul"}}), state_word("visits", 3, None)
    ('foul', '3')
    """
    words = {} if meanings is None else meanings
    if not isinstance(words, Mapping) or not isinstance(words.get(name, {}), Mapping):
        raise ParameterError(
            "meanings must be a dict of variables with a dict of words for states, such as "
            f"{{{name!r}: {{{state!r}: 'a word'}}}}, got {meanings!r}."
        )
    return str(words.get(name, {}).get(state, state))


def network_text(model: PairwiseMRF, looked: bool = True) -> str:
    """Return size, density and loose ends of a network in a sentence or three.

    Without having ``looked`` for edges, having none does not mean independence; nor does it where
    only three variables or more together depend on each other.
    """
    n, m = model.n_variables, model.n_edges
    if m == 0:
        text = f"0 edges among {count(n, 'variable')}"
        if not looked or n < 2:
            return f"{text}."
        return f"{text}: the variables look independent of each other.{_in_pairs(n)}"
    possible = n * (n - 1) // 2
    text = f"{count(m, 'edge')} among {count(n, 'variable')}, {m / possible:.1%} of all pairs."
    joined = {name for edge in model.edges for name in edge}
    loose = [name for name in model.names if name not in joined]
    if loose:
        text += f" Not connected to any other: {names(loose)}.{_in_pairs(n)}"
    else:
        text += " Every variable is connected to another."
    degrees = dict.fromkeys(model.names, 0)
    for a, b in model.edges:
        degrees[a] += 1
        degrees[b] += 1
    separate = _separate(model)
    if separate > 1:
        text += f" The connected variables form {separate:,} separate groups."
    most = max(degrees.values())
    best = [name for name in model.names if degrees[name] == most]
    if most > max(1, min(degrees.values())):
        text += f" Best connected: {names(best)} ({most} edges{' each' if best[1:] else ''})."
    return text


def _in_pairs(n: int) -> str:
    """Return what it does not mean that variables have no edges."""
    if n < 3:
        return ""
    return (
        " That holds if variables depend in pairs: what only three or more show together, as in "
        "an exclusive or, is not looked for."
    )


def _separate(model: PairwiseMRF) -> int:
    """Return into how many connected groups the variables with edges fall."""
    edges, n = model.potentials.layout.edges, len(model.names)
    links = coo_array((np.ones(len(edges)), tuple(edges.T)), shape=(n, n))
    _, label = connected_components(links, directed=False)
    return len(np.unique(label[edges]))


def _feature_text(net: MarkovNetwork) -> str:
    """Return how many single features a network learned feature by feature has."""
    if net.certificate_.unit != "feature" or net.refitted_ or not net.certificate_.n_edges:
        return ""
    features = count(net.trace_[-1].blocks, "feature")
    return f" The edges carry {features}, single entries of their tables."


def _data_text(data: LearnedFrom, model: PairwiseMRF) -> str:
    text = f"{count(data.n_rows, 'row')} of {count(data.n_variables, 'variable')}"
    if data.weighted:
        text += f", total weight {data.total_weight:,.6g}"
    if data.design_effect != 1.0:
        text += (
            f" (sampling weights: they say as much as {data.effective_rows:,.1f} rows of equal "
            f"weight, design effect {data.design_effect:.2f})"
        )
    cards = model.potentials.layout.cards  # missing is no state where available cells are used
    low, high = int(cards.min()), int(cards.max())
    text += f", {low} to {high} states each." if low < high else f", {count(low, 'state')} each."
    ordered = [name for name in model.names if name in model.scores and len(model.states[name]) > 2]
    if ordered:
        text += f" {_ordered_words(ordered, data.n_variables)}"
    text += _binned_words(model)
    constant = [
        name
        for name, counts in zip(data.names, data.counts, strict=True)
        if np.count_nonzero(counts) < 2
    ]
    if constant:
        change = verb(len(constant), "changes", "change")
        text += f" {count(len(constant), 'variable')} never {change}: {names(constant)}."
    return text


def _binned_words(model: PairwiseMRF) -> str:
    """Return which variables are numbers in bins, and in how many; an empty text if none is."""
    found: dict[int, list[Any]] = {}
    for name, states in model.states.items():
        cuts = cuts_of(states)
        if cuts is not None:
            found.setdefault(len(cuts) + 1, []).append(name)
    parts = [f"{names(listed)} in {n} bins" for n, listed in sorted(found.items())]
    return f" Numbers are grouped by quantiles: {'; '.join(parts)}." if parts else ""


def _ordered_words(ordered: Sequence[Any], n_variables: int) -> str:
    """Return which variables are taken as ordered, in a sentence."""
    if len(ordered) == n_variables:
        return "All variables are taken as ordered."
    are = verb(len(ordered), "is", "are")
    return f"{count(len(ordered), 'variable')} {are} taken as ordered: {names(ordered)}."


def _choice_title(net: MarkovNetwork) -> str:
    """Return what the section about the choice of edges is called."""
    if net.evidence_ is not None:
        return "How the edges were chosen"
    return "Lambda" if net.lam_ else "Penalty"


def _choice_text(net: MarkovNetwork) -> str:
    text = choice_text(net.choice_)
    return f"{text} The model's weights are those of the refit." if net.refitted_ else text


def _tying_text(net: MarkovNetwork, data: LearnedFrom) -> str:
    if net.tying_ is None:
        return "Interrupted before the weights were tied: they are as learned."
    text = tying_text(net.tying_)
    if net.tying_.rounds and data.unseen():
        text += " Each variable with states that no row has keeps one more value for them."
    return text


def network_certified(info: Mapping[str, Any]) -> str:
    """Return which network a certificate is about, as the beginning of its text; mostly nothing.

    Examples
    --------
    >>> network_certified({"refitted": True, "tests": 3})
    'Of the penalised network whose edges are the short list: '
    """
    if info.get("tests") is not None:
        return "Of the penalised network whose edges are the short list: "
    if info.get("refitted"):
        return "Of the penalised network at the chosen lambda, from which the refit started: "
    if info.get("weights") == "calibrated":
        return "Of the network before its unaries were calibrated: "
    tied = (info.get("tying") or {}).get("rounds", 0) > 0
    return "Of the network before its weights were tied: " if tied else ""


def saved_choice_text(info: Mapping[str, Any]) -> str | None:
    """Return how a model file says its lambda, or its edges, were chosen.

    None where it says nothing, or only that lambda was given.
    """
    try:
        choice = LambdaChoice.from_dict(info["choice"])
        return None if choice.how in ("given", "none", "sized") else choice_text(choice)
    except (AttributeError, KeyError, TypeError, ValueError):  # a file may hold anything
        return None


def saved_certificate_text(info: Mapping[str, Any]) -> str | None:
    """Return the certificate of a model file as text; None if it has none, or another's."""
    try:
        certificate = Certificate.from_dict(info["certificate"])
        return network_certified(info) + certificate_text(certificate)
    except (AttributeError, KeyError, TypeError, ValueError):  # a file may hold anything
        return None
