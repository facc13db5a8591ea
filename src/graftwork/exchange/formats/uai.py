"""UAI files, and toulbar2's variant with logarithms: factors, the last variable fastest."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from graftwork.data.atomic import write_lines
from graftwork.exchange.factors import Factor, factors_of, log, network_of, within_range
from graftwork.exchange.format import Content, Format, Written
from graftwork.exchange.names import named_network, write_names
from graftwork.exchange.tokens import Tokens, positional
from graftwork.models import PairwiseMRF
from graftwork.text import count

Scope = tuple[int, ...]


def uai() -> Format:
    """Return UAI (MARKOV): factors; names and states in a file beside it."""
    return Format(partial(_read, logs=False), partial(_write, logs=False))


def uai_basic() -> Format:
    """Return UAI for readers that know less (pgmpy, pyAgrum): no variables of one state."""
    return Format(partial(_read, logs=False), _write_basic)


def lg() -> Format:
    """Return toulbar2's .LG: UAI with logarithms of factors; names and states beside it."""
    return Format(partial(_read, logs=True), partial(_write, logs=True))


def _read(path: Path, logs: bool) -> PairwiseMRF:
    tokens = Tokens(path, "an LG file" if logs else "a UAI file")
    kind = tokens.word("the word MARKOV or BAYES")
    if kind not in ("MARKOV", "BAYES"):
        raise tokens.fail(f"it begins with {kind[:40]!r}, not with MARKOV or BAYES")
    n = tokens.whole("the number of variables", 1)
    cards = [tokens.whole(f"the number of states of variable {i}", 1) for i in range(n)]
    scopes = [_read_scope(tokens, n) for _ in range(tokens.whole("the number of factors"))]
    scopes = _as_pyagrum_means(scopes, tokens.comments)
    factors = [_read_factor(tokens, scope, cards, logs) for scope in scopes]
    tokens.end()
    return named_network(path, cards, factors)


def _read_scope(tokens: Tokens, n: int) -> tuple[int, ...]:
    size = tokens.whole("the number of variables of a factor", 0, n)
    scope = tuple(tokens.whole("a variable of a factor", 0, n - 1) for _ in range(size))
    if len(set(scope)) != size:
        raise tokens.fail("a factor has a variable twice")
    return scope


def _as_pyagrum_means(scopes: list[Scope], comments: list[str]) -> list[Scope]:
    """Return the scopes of a file, in the order of its comments if pyAgrum wrote it.

    It writes the variables of a factor in any order, and only a comment beside the table has the
    one that counts, the fastest variable first.
    """
    if "nbr Factors" not in comments:
        return scopes
    found = [re.findall(r"\d+", text) for text in comments if re.fullmatch(r"\{[\d, ]+\}", text)]
    orders = [tuple(int(number) for number in reversed(numbers)) for numbers in found]
    if [sorted(order) for order in orders] != [sorted(scope) for scope in scopes]:
        return scopes
    return orders


def _read_factor(tokens: Tokens, scope: tuple[int, ...], cards: list[int], logs: bool) -> Factor:
    shape = tuple(cards[i] for i in scope)
    size = tokens.whole("the number of entries of a factor")
    if size != math.prod(shape):
        raise tokens.fail(f"a factor of {math.prod(shape)} joint states has {size} entries")
    values = tokens.numbers(size, "an entry of a factor")
    wrong = values == np.inf if logs else (values < 0) | np.isinf(values)
    if wrong.any():
        what = "a logarithm, finite or -inf" if logs else "finite and at least 0"
        odd = int(np.flatnonzero(wrong)[0])
        raise tokens.fail(f"an entry of a factor is {values[odd]}, not {what}", back=size - odd)
    return Factor(scope, (values if logs else log(values)).reshape(shape))


def _write(path: Path, content: Content, logs: bool) -> Written:
    factors = list(factors_of(content.network))
    lost = content.learning()
    if not logs:
        factors, losses = within_range(factors)
        lost += losses
    write_lines(path, _lines(content.network, factors, logs))
    return Written((write_names(path, content.network),), tuple(lost))


def _write_basic(path: Path, content: Content) -> Written:
    """Write a file without variables of one state, every variable with an edge.

    pyAgrum refuses variables of one state; pgmpy refuses factors with one entry and variables that
    only have a factor of their own. Z and all marginals stay as they are.
    """
    model = without_constants(content.network)
    factors, lost = within_range(list(factors_of(model)))
    links, joined = _links(model)
    dropped = content.network.n_variables - model.n_variables
    if dropped:
        lost.append(f"{count(dropped, 'variable')} with one state")
    if joined:
        lost.append(f"that {count(joined, 'variable')} had no edge: each has one that says nothing")
    write_lines(path, _lines(model, factors + links, logs=False))
    return Written((write_names(path, model),), (*content.learning(), *lost))


def without_constants(model: PairwiseMRF) -> PairwiseMRF:
    """Return a network without its variables of one state, its partition function kept.

    A network that has no others stays as it is.
    """
    states = {name: listed for name, listed in model.states.items() if len(listed) > 1}
    if len(states) in (0, model.n_variables):
        return model
    places = {
        i: k for k, i in enumerate(np.flatnonzero(model.potentials.layout.cards > 1).tolist())
    }
    factors = []
    for factor in factors_of(model):
        scope = tuple(places[i] for i in factor.scope if i in places)
        shape = [size for size in factor.table.shape if size > 1]
        factors.append(Factor(scope, factor.table.reshape(shape)))
    scores = {name: list(own) for name, own in model.scores.items() if name in states}
    return network_of(list(states), list(states.values()), factors, scores)


def _links(model: PairwiseMRF) -> tuple[list[Factor], int]:
    """Return factors of ones that give an edge to variables without one, and how many these are."""
    layout = model.potentials.layout
    cards = layout.cards
    apart = sorted({*range(len(cards))} - {*layout.edges.ravel().tolist()})
    if len(cards) == 1:
        return [], 0
    pairs = sorted({(max(i - 1, 0), max(i, 1)) for i in apart})
    return [Factor(pair, np.zeros(cards[list(pair)])) for pair in pairs], len(apart)


def _lines(model: PairwiseMRF, factors: list[Factor], logs: bool) -> Iterator[str]:
    """Yield a file's lines: factors of variables, then of edges.

    The later variable of an edge comes first: pyAgrum takes the earlier one to vary fastest,
    whatever the order in the file, and so this is the one order in which all readers agree.
    """
    cards = model.potentials.layout.cards.tolist()
    factors = [Factor(f.scope[::-1], f.table.T) if _rising(f.scope) else f for f in factors]
    yield f"MARKOV\n{len(cards)}\n{' '.join(map(str, cards))}\n{len(factors)}\n"
    for factor in factors:
        yield f"{len(factor.scope)} {' '.join(map(str, factor.scope))}\n"
    for factor in factors:
        table = factor.table if logs else np.exp(factor.table)
        yield f"\n{table.size}\n"
        for row in np.atleast_2d(table).tolist():
            # repr writes "-inf" and exponents, which readers of logarithms know.
            yield " " + " ".join(map(repr if logs else positional, row)) + "\n"


def _rising(scope: tuple[int, ...]) -> bool:
    return scope[0] < scope[-1]
