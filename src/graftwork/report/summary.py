"""A learned network in plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.estimators.learned_from import LearnedFrom
from graftwork.models import PairwiseMRF
from graftwork.report.edges import Association, EdgeRecord, Tested, Unseen, edge_table, tests_of
from graftwork.report.evidence_words import evidence_sections, small
from graftwork.report.held_out import HeldOut

Meanings = Mapping[Any, Mapping[Any, str]]

_WIDTH = 88
_NAMES_SHOWN = 12


def summary(
    net: Any,
    train: Table | None = None,
    *,
    held_out: HeldOut | None = None,
    no_held_out: str = "No rows were held out.",
    meanings: Meanings | None = None,
    top: int = 10,
    remarks: Sequence[str] | None = None,
) -> str:
    """Return what was learned, as plain text for people.

    Parameters
    ----------
    net : MarkovNetwork
        A fitted one.
    train : Table, optional
        The rows it was fitted to; default what it keeps of them.
    held_out : HeldOut, optional
        How such a network does on rows it has not seen.
    no_held_out : str
        What to say instead where that is not given.
    meanings : mapping of variable to mapping of state to word, optional
        Words for states.
    top : int
        How many of the strongest edges to name.
    remarks : sequence of str, optional
        Sentences about columns that should be looked at; default those of the rows.

    Returns
    -------
    str
        Paragraphs under headings, at most 88 characters wide, with a line end.
    """
    model: PairwiseMRF = net.model_
    data: LearnedFrom = net.data_ if train is None else LearnedFrom.of(train)
    told = data.remarks if remarks is None else remarks
    exchange, bootstrap = getattr(net, "exchange_", None), getattr(net, "bootstrap_", None)
    sections = [
        ("Data", _data_words(data, model) + _missing_words(net)),
        *([("Remarks", " ".join(told))] if told else []),
        ("Network", network_words(model, net.certificate_.converged) + _feature_words(net)),
        *([] if exchange is None else [("Exchange", exchange.words())]),
        (_choice_title(net), _lambda_words(net)),
        *evidence_sections(net, data.total_weight),
        *([("Tying", _tying_words(net, data))] if getattr(net, "tie", None) else []),
        *([] if bootstrap is None else [("Bootstrap", bootstrap.words())]),
        ("Prediction", held_out.words() if held_out else no_held_out),
    ]
    parts = [section(title, text) for title, text in sections]
    strongest = describe_network(
        model, meanings=meanings, top=top, unseen=data.unseen(), tests=tests_of(net)
    )
    if strongest:
        parts.append(strongest)
    parts.append(section("Certificate", certificate_words(net)))
    return "\n\n".join(parts) + "\n"


def describe_network(
    model: PairwiseMRF,
    *,
    meanings: Meanings | None = None,
    top: int = 10,
    unseen: Unseen | None = None,
    tests: Tested | None = None,
) -> str:
    """Return the strongest edges in words, below a heading; an empty text if there is no edge.

    Parameters
    ----------
    model : PairwiseMRF
        The network.
    meanings : mapping of variable to mapping of state to word, optional
        Words for states.
    top : int
        How many edges to name.
    unseen, tests : optional
        As in `edge_table`.

    Returns
    -------
    str
        One paragraph an edge.

    Examples
    --------
    >>> pair = {("a", "b"): [[1, 0], [0, 1]]}
    >>> print(describe_network(PairwiseMRF({"a": [0, 1], "b": [0, 1]}, pairwise=pair)))
    The only edge
      a - b  strength 1.00: a = 1 goes with b = 1; a = 1 avoids b = 0
    """
    records = edge_table(model, unseen=unseen, tests=tests)
    if not records or top < 1:
        return ""
    shown = records[:top]
    title = "Strongest edges" if len(records) > len(shown) else "Edges, strongest first"
    if len(records) == 1:
        title = "The only edge"
    return "\n".join([title, *(wrap(describe_edge(r, meanings), hang=4) for r in shown)])


def describe_edge(record: EdgeRecord, meanings: Meanings | None = None) -> str:
    """Return one edge in words, on one line.

    Parameters
    ----------
    record : EdgeRecord
        One of `edge_table`'s.
    meanings : mapping of variable to mapping of state to word, optional
        Words for states.

    Returns
    -------
    str
        Names, strength, the states that go together and those that avoid each other.

    Examples
    --------
    >>> record = EdgeRecord("a", "b", 2.0, Association(1, "y", 1.0), None)
    >>> describe_edge(record, {"b": {"y": "yellow"}})
    'a - b  strength 2.00: a = 1 goes with b = yellow'
    """
    clauses = [
        _clause(record, tie, verb, meanings)
        for tie, verb in ((record.together, "goes with"), (record.apart, "avoids"))
        if tie is not None
    ]
    head = f"{record.first} - {record.second}  strength {record.strength:.2f}"
    if not np.isnan(record.p_value):
        head += f", p = {small(record.p_value)}"
    return f"{head}: {'; '.join(clauses)}" if clauses else head


def _clause(record: EdgeRecord, tie: Association, verb: str, meanings: Meanings | None) -> str:
    first = state_word(record.first, tie.first_state, meanings)
    second = state_word(record.second, tie.second_state, meanings)
    return f"{record.first} = {first} {verb} {record.second} = {second}"


def state_word(name: Any, state: Any, meanings: Meanings | None) -> str:
    """Return the word for a state where there is one, else the state as text.

    Examples
    --------
    >>> state_word("odor", "f", {"odor": {"f": "foul"}}), state_word("visits", 3, None)
    ('foul', '3')
    """
    return str((meanings or {}).get(name, {}).get(state, state))


def network_words(model: PairwiseMRF, looked: bool = True) -> str:
    """Return size, density and loose ends of a network in a sentence or three.

    Without having ``looked`` for edges, having none does not mean independence.

    Examples
    --------
    >>> network_words(PairwiseMRF({"a": [0, 1], "b": [0, 1]}))
    '0 edges among 2 variables: the variables look independent of each other.'
    """
    n, m = model.n_variables, model.n_edges
    if m == 0:
        meaning = ": the variables look independent of each other" if looked and n > 1 else ""
        return f"0 edges among {count(n, 'variable')}{meaning}."
    possible = n * (n - 1) // 2
    text = f"{count(m, 'edge')} among {count(n, 'variable')}, {m / possible:.1%} of all pairs."
    joined = {name for edge in model.edges for name in edge}
    loose = [name for name in model.names if name not in joined]
    if loose:
        some = "Not connected to any other" if len(loose) > 1 else "One is not connected to others"
        text += f" {some}: {names(loose)}."
    else:
        text += " Every variable is connected to another."
    degrees = dict.fromkeys(model.names, 0)
    for a, b in model.edges:
        degrees[a] += 1
        degrees[b] += 1
    best = max(degrees, key=lambda name: degrees[name])
    if degrees[best] > 1:
        text += f" Best connected: {best} ({degrees[best]} edges)."
    return text


def _feature_words(net: Any) -> str:
    """Return how many single features a network learned feature by feature has."""
    if net.certificate_.unit != "feature" or net.refitted_ or not net.certificate_.n_edges:
        return ""
    features = count(net.trace_[-1].blocks, "feature")
    return f" The edges carry {features}, single entries of their tables."


def _missing_words(net: Any) -> str:
    """Return what was done about missing cells, after a space, or nothing."""
    missing = getattr(net, "missing_", None)
    words = "" if missing is None else missing.words()
    return f" {words}" if words else ""


def _data_words(data: LearnedFrom, model: PairwiseMRF) -> str:
    text = f"{count(data.n_rows, 'row')} of {count(data.n_variables, 'variable')}"
    if data.weighted:
        text += f", total weight {data.total_weight:,.6g}"
    cards = model.potentials.layout.cards  # missing is no state where available cells are used
    low, high = int(cards.min()), int(cards.max())
    text += f", {low} to {high} states each." if low < high else f", {count(low, 'state')} each."
    constant = [
        name
        for name, counts in zip(data.names, data.counts, strict=True)
        if np.count_nonzero(counts) < 2
    ]
    if constant:
        text += f" {count(len(constant), 'variable')} never change: {names(constant)}."
        text = text.replace("1 variable never change:", "1 variable never changes:")
    return text


def _choice_title(net: Any) -> str:
    """Return what the section about the choice of edges is called."""
    if getattr(net, "evidence_", None) is not None:
        return "How the edges were chosen"
    return "Lambda" if net.lam_ else "Penalty"


def _lambda_words(net: Any) -> str:
    if net.penalty == "none":
        return "There is no penalty."
    text = net.lam_words_ or f"lambda is {net.lam_:.4g}."
    text = text[0].upper() + text[1:]
    if net.refitted_:
        text += " The model's weights are those of the refit."
    return str(text)


def _tying_words(net: Any, data: LearnedFrom) -> str:
    if net.tying_ is None:
        return "Interrupted before the weights were tied: they are as learned."
    text: str = net.tying_.words()
    if net.tying_.rounds and data.unseen():
        text += " Each variable with states that no row has keeps one more value, for these."
    return text


def count(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is one.

    Examples
    --------
    >>> count(1, "row"), count(5644, "row")
    ('1 row', '5,644 rows')
    """
    return f"{n:,} {noun}{'s'[: n != 1]}"


def names(items: list[Any]) -> str:
    """Return names with commas, the first dozen and how many more.

    Examples
    --------
    >>> names(["a", "b"])
    'a, b'
    """
    text = ", ".join(str(item) for item in items[:_NAMES_SHOWN])
    more = len(items) - _NAMES_SHOWN
    return text + (f" and {more:,} more" if more > 0 else "")


def certificate_words(net: Any) -> str:
    """Return the certificate in words, and which network it is about after a refit or tying."""
    words: str = net.certificate_.words()
    if getattr(net, "evidence_", None) is not None:
        return f"Of the penalised network whose edges are the short list: {words}"
    if net.refitted_:
        return (
            f"Of the penalised network at the chosen lambda, from which the refit started: {words}"
        )
    tying = getattr(net, "tying_", None)
    tied = tying is not None and tying.rounds > 0
    return f"Of the network before its weights were tied: {words}" if tied else words


def section(title: str, text: str) -> str:
    """Return a paragraph below its heading.

    Examples
    --------
    >>> print(section("Data", "3 rows."))
    Data
      3 rows.
    """
    return f"{title}\n{wrap(text)}"


def wrap(text: str, hang: int = 2) -> str:
    """Return a text in lines of at most 88 characters, the first indented by 2, others by hang.

    Examples
    --------
    >>> wrap("a = b")
    '  a = b'
    """
    # "name = state" stays on one line: no-break spaces, until the lines are made.
    wrapped = textwrap.fill(
        text.replace(" = ", "\u00a0=\u00a0"),
        _WIDTH,
        initial_indent="  ",
        subsequent_indent=" " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapped.replace("\u00a0", " ")
