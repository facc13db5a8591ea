"""Networks as products of factors, which is how all other programs hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from graftwork.errors import DataError
from graftwork.inference.layout import Floats, Layout, Potentials
from graftwork.models import PairwiseMRF
from graftwork.text import count

#: Interactions of three or more variables up to this, relative to the table, count as rounding.
ROUNDING = 1e-9
#: Log-potentials beyond this would be infinite, or lose digits, as factors.
LARGEST = 700.0


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A table of log-potentials over some variables."""

    scope: tuple[int, ...]  # numbers of its variables, all different
    # one axis for each of them, in the order of the scope; -inf for what is impossible
    table: Floats


def factors_of(model: PairwiseMRF) -> Iterator[Factor]:
    """Yield the factors of a network: one for each variable, then one for each edge.

    Examples
    --------
    >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [0, 1]]})
    >>> [factor.scope for factor in factors_of(model)]
    [(0,), (1,), (0, 1)]
    """
    layout, weights = model.potentials.layout, model.potentials.weights
    for i in range(layout.n_variables):
        yield Factor((i,), layout.unary(weights, i))
    for e, (i, j) in enumerate(layout.edges.tolist()):
        yield Factor((i, j), layout.table(weights, e))


def network_of(
    names: Sequence[Any],
    states: Sequence[Sequence[Any]],
    factors: Iterable[Factor],
    scores: dict[Any, list[float]] | None = None,
) -> PairwiseMRF:
    """Return the network that is the product of factors; its partition function is theirs.

    Factors of the same variables are multiplied, constants go to the first variable. A factor of
    three variables or more is split into pairs where it is a product of such.
    """
    cards = [len(listed) for listed in states]
    unaries = [np.zeros(card) for card in cards]
    pairs: dict[tuple[int, int], Floats] = {}
    for factor in factors:
        for part in split(factor):
            if not part.scope:
                unaries[0] = unaries[0] + part.table
            elif len(part.scope) == 1:
                unaries[part.scope[0]] = unaries[part.scope[0]] + part.table
            else:
                i, j = part.scope
                table = part.table if i < j else part.table.T
                pair = (min(i, j), max(i, j))
                pairs[pair] = pairs.get(pair, 0.0) + table
    edges = sorted(pairs)
    layout = Layout.of(cards, edges)
    weights = np.concatenate([*unaries, *(pairs[edge].ravel() for edge in edges)])
    return PairwiseMRF.from_flat(names, states, Potentials(layout, weights), scores=scores)


def split(factor: Factor) -> list[Factor]:
    """Return factors of at most two variables whose product a factor is.

    Variables with one state are left out of larger ones. The rest is split into the means, main
    effects and interactions of pairs of an analysis of variance, if these are all there is.
    """
    if len(factor.scope) <= 2:
        return [factor]
    kept = [k for k, size in enumerate(factor.table.shape) if size > 1]
    scope = tuple(factor.scope[k] for k in kept)
    table = factor.table.reshape([factor.table.shape[k] for k in kept])
    if len(scope) <= 2:
        return [Factor(scope, table)]
    if not np.isfinite(table).all():
        raise ValueError(
            f"it has a factor of {len(scope)} variables with impossible states, which pairs cannot "
            "hold; graftwork reads networks whose factors have one or two variables"
        )
    parts = _pairs(scope, table)
    whole = sum(_spread(part, scope, table.shape) for part in parts)
    if np.abs(whole - table).max() > ROUNDING * max(1.0, np.abs(table).max()):
        raise ValueError(
            f"it has a factor of {len(scope)} variables that is not a product of pairs; graftwork "
            "reads networks whose factors have one or two variables (of Bayesian networks those in "
            "which no variable has two or more parents)"
        )
    return parts


def _pairs(scope: tuple[int, ...], table: Floats) -> list[Factor]:
    """Return a table's interactions of pairs; mean and main effects are in the pairs they meet."""
    places = list(combinations(range(len(scope)), 2))
    parts = {pair: _effect(table, pair) for pair in places}
    for k in range(len(scope)):
        pair = (0, 1) if k == 0 else (0, k)
        main = _effect(table, (k,))
        parts[pair] = parts[pair] + (main[:, None] if k == 0 else main[None, :])
    parts[0, 1] = parts[0, 1] + table.mean()
    return [Factor((scope[i], scope[j]), part) for (i, j), part in parts.items()]


def _effect(table: Floats, axes: tuple[int, ...]) -> Floats:
    """Return what some variables add to a table beyond what fewer of them do."""
    others = tuple(k for k in range(table.ndim) if k not in axes)
    effect: Floats = table.mean(axis=others)
    for axis in range(effect.ndim):
        effect = effect - effect.mean(axis=axis, keepdims=True)
    return effect


def _spread(part: Factor, scope: tuple[int, ...], shape: tuple[int, ...]) -> Floats:
    """Return a table of two variables as one of all variables of a scope."""
    i, j = (scope.index(k) for k in part.scope)
    axes = [1] * len(shape)
    axes[i], axes[j] = shape[i], shape[j]
    return np.broadcast_to(part.table.reshape(axes), shape)


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


def the_network(model: Any) -> PairwiseMRF:
    """Return the network that something is, or has learned.

    Examples
    --------
    >>> the_network(PairwiseMRF({"a": [0, 1]}))
    PairwiseMRF: 1 variable, 0 edges
    """
    found = getattr(model, "model_", model)
    if isinstance(found, PairwiseMRF):
        return found
    raise DataError(
        f"a {type(model).__name__} is not a network; pass a PairwiseMRF or a fitted MarkovNetwork."
    )


def checked_factors(network: PairwiseMRF) -> list[Factor]:
    """Return the factors of a network, or refuse it if they are not numbers of others."""
    factors, lost = within_range(list(factors_of(network)))
    if lost:
        raise DataError(
            "the log-potentials are beyond 700, and their exponentials are not numbers; write the "
            "network to a .LG file, which holds logarithms."
        )
    return factors


def from_tables(names: list[Any], states: dict[Any, list[Any]], tables: Any) -> PairwiseMRF:
    """Return the network of tables of probabilities, each with the names of its axes."""
    places = {name: i for i, name in enumerate(names)}
    factors = []
    for own, values in tables:
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise DataError(f"a factor of {own!r} has entries that are not finite and at least 0.")
        factors.append(Factor(tuple(places[name] for name in own), log(values)))
    try:
        return network_of(names, [states[name] for name in names], factors)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"the network cannot be taken over: {error}.") from error


def log(values: Floats) -> Any:
    """Return logarithms, minus infinity for zeros."""
    with np.errstate(divide="ignore"):
        return np.log(values)
