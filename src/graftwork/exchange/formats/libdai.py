"""libDAI's factor graphs (.fg): blocks of lines, the first variable fastest, zeros left out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from graftwork.data.atomic import write_lines
from graftwork.exchange.factors import Factor, factors_of, log, within_range
from graftwork.exchange.format import Content, Format, Written
from graftwork.exchange.names import named_network, write_names
from graftwork.exchange.tokens import Tokens
from graftwork.models import PairwiseMRF


def libdai() -> Format:
    """Return libDAI's factor graphs: factors; names and states in a file beside it."""
    return Format(_read, _write)


def _read(path: Path) -> PairwiseMRF:
    tokens = Tokens(path, "a libDAI factor graph")
    count = tokens.whole("the number of factors", 1)
    cards: dict[int, int] = {}
    factors = [_read_factor(tokens, cards) for _ in range(count)]
    tokens.end()
    # Labels may have gaps; variables are numbered in their order.
    places = {label: place for place, label in enumerate(sorted(cards))}
    if not places:
        raise tokens.fail("none of its factors has a variable")
    numbered = [Factor(tuple(places[i] for i in each.scope), each.table) for each in factors]
    return named_network(path, [cards[label] for label in sorted(cards)], numbered)


def _read_factor(tokens: Tokens, cards: dict[int, int]) -> Factor:
    n = tokens.whole("the number of variables of a factor", 0, tokens.left)
    labels = [tokens.whole("a variable of a factor") for _ in range(n)]
    if len(set(labels)) != n:
        raise tokens.fail("a factor has a variable twice")
    for label in labels:
        card = tokens.whole(f"the number of states of variable {label}", 1)
        if cards.setdefault(label, card) != card:
            raise tokens.fail(f"variable {label} has {card} states here, {cards[label]} before")
    shape = tuple(cards[label] for label in labels)
    size, table = math.prod(shape), {}
    if size > 1e8:
        raise tokens.fail(f"a factor has {size} joint states, more than can be read")
    for _ in range(tokens.whole("the number of entries that are not 0", 0, size)):
        place = tokens.whole("the place of an entry", 0, size - 1)
        value = float(tokens.numbers(1, "an entry of a factor")[0])
        if not 0 <= value < math.inf or place in table:
            problem = f"an entry is {value}, not finite and at least 0"
            raise tokens.fail("an entry is there twice" if place in table else problem)
        table[place] = value
    flat = np.zeros(size)
    flat[list(table)] = list(table.values())
    return Factor(tuple(labels), log(flat).reshape(shape, order="F"))


def _write(path: Path, content: Content) -> Written:
    factors, lost = within_range(list(factors_of(content.network)))
    write_lines(path, _lines(content.network, factors))
    return Written((write_names(path, content.network),), (*content.learning(), *lost))


def _lines(model: PairwiseMRF, factors: list[Factor]) -> Iterator[str]:
    cards = model.potentials.layout.cards
    yield f"{len(factors)}\n"
    for factor in factors:
        values = np.exp(factor.table).ravel(order="F")
        yield f"\n{len(factor.scope)}\n{' '.join(map(str, factor.scope))}\n"
        yield f"{' '.join(str(cards[i]) for i in factor.scope)}\n{np.count_nonzero(values)}\n"
        for place in np.flatnonzero(values).tolist():
            yield f"{place} {float(values[place])!r}\n"
