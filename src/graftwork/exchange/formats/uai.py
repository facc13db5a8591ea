"""UAI files, and toulbar2's variant with logarithms: factors, the last variable fastest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from graftwork.data.atomic import write_lines
from graftwork.exchange.factors import Factor, factors_of
from graftwork.exchange.format import Content, Format, Written
from graftwork.exchange.names import named_network, write_names
from graftwork.exchange.tokens import Tokens, log, positional
from graftwork.inference.layout import Floats
from graftwork.models import PairwiseMRF
from graftwork.registry import register
from graftwork.text import count

#: Log-potentials beyond this would be infinite, or lose digits, as factors.
LARGEST = 700.0


@register("uai", suffixes=(".uai",), reads="network", writes="network")
def uai() -> Format:
    """Return UAI (MARKOV): factors; names and states in a file beside it."""
    return Format(partial(_read, logs=False), partial(_write, logs=False))


@register("lg", suffixes=(".lg",), reads="network", writes="network")
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
    factors = [_read_factor(tokens, scope, cards, logs) for scope in scopes]
    tokens.end()
    return named_network(path, cards, factors)


def _read_scope(tokens: Tokens, n: int) -> tuple[int, ...]:
    size = tokens.whole("the number of variables of a factor", 0, n)
    scope = tuple(tokens.whole("a variable of a factor", 0, n - 1) for _ in range(size))
    if len(set(scope)) != size:
        raise tokens.fail("a factor has a variable twice")
    return scope


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


def _lines(model: PairwiseMRF, factors: list[Factor], logs: bool) -> Iterator[str]:
    """Yield a file's lines. Variables with a factor of their own come first, then edges."""
    cards = model.potentials.layout.cards.tolist()
    yield f"MARKOV\n{len(cards)}\n{' '.join(map(str, cards))}\n{len(factors)}\n"
    for factor in factors:
        yield f"{len(factor.scope)} {' '.join(map(str, factor.scope))}\n"
    for factor in factors:
        table = factor.table if logs else np.exp(factor.table)
        yield f"\n{table.size}\n"
        for row in np.atleast_2d(table).tolist():
            # repr writes "-inf" and exponents, which readers of logarithms know.
            yield " " + " ".join(map(repr if logs else positional, row)) + "\n"


def within_range(factors: list[Factor]) -> tuple[list[Factor], list[str]]:
    """Return log-factors whose exponentials are numbers, and what was lost by that, in phrases.

    A factor is divided by its largest entry where that is far from 1; entries that are then too
    small become impossible.

    Examples
    --------
    >>> found, lost = within_range([Factor((0,), np.array([1000.0, 0.0]))])
    >>> found[0].table.tolist(), len(lost)
    ([0.0, -inf], 2)
    """
    out, shift, vanished = [], 0.0, 0
    for factor in factors:
        table: Floats = factor.table
        finite = table[np.isfinite(table)]
        if finite.size and np.abs(finite).max() > LARGEST:
            shift += float(finite.max())
            table = table - finite.max()
            gone = np.isfinite(table) & (table < -LARGEST)
            vanished += int(gone.sum())
            table = np.where(gone, -np.inf, table)
        out.append(Factor(factor.scope, table))
    lost = [f"a constant: log Z is {shift:.17g} less"] if shift else []
    if vanished:
        lost.append(f"{count(vanished, 'cell')} below e^-700, which are 0 now")
    return out, lost
