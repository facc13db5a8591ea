"""Answers of a network, and what its rows were like: how often states and pairs occurred."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.inference.ragged import offsets

#: Tables of all pairs are kept up to this many cells, else those of the edges, else none.
MOST_CELLS = 2**16
#: How the weights came about: the tables by the pseudo-likelihood and the unaries calibrated to the
#: rows' margins, all by the likelihood, or all by the pseudo-likelihood.
Fitted = Literal["calibrated", "likelihood", "pseudolikelihood"]


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Probabilities of all variables, and how they were found."""

    marginals: dict[Any, Floats]
    exact: bool  # whether the arithmetic is exact, given the network
    converged: bool  # whether messages settled
    noise: float  # the largest standard error of a probability; 0 where nothing was drawn

    @property
    def how(self) -> str:
        """In a word or a few: exact, sampled, or approximate."""
        if self.exact:
            return "exact"
        if self.noise:
            return "sampled"
        return "approximate" if self.converged else "approximate, not converged"


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Counts of the rows that a network was learned from, and how far it is from them."""

    margins: Floats  # (n_unary,): weight of the rows in each state, flat over the variables
    pairs: Ints  # (k, 2): pairs of variables whose tables are kept, ``i < j``
    # (sum of s_i * s_j,): weight of the rows in each pair of states, pair after pair, row-major
    tables: Floats
    fitted: Fitted = "pseudolikelihood"  # how the weights came about
    # the largest difference between a probability of a single state and its frequency in the rows
    margin_error: float | None = None
    # the standard error of the probabilities where they were sampled; 0 where they are exact
    noise: float = 0.0

    def frequencies(self, layout: Layout, codes: Ints) -> list[Floats | None]:
        """Return how often the states of each variable occur in rows that agree with evidence.

        None for a variable of which that is not known: with more than one state observed, where
        the pair's table is not kept, or where no row agrees.

        Shapes: codes (n,) int64.
        """
        seen = np.flatnonzero(codes >= 0)
        found: list[Floats | None] = [None] * layout.n_variables
        if len(seen) > 1:
            return found
        for i in range(layout.n_variables):
            found[i] = _shares(layout.unary(self.margins, i))
        if not len(seen):
            return found
        given = int(seen[0])
        known = self._given(layout, given, int(codes[given]))
        point = np.eye(int(layout.cards[given]))[codes[given]]
        return [point if i == given else known.get(i) for i in range(layout.n_variables)]

    def error(self, layout: Layout, margins: Floats) -> float:
        """Return the largest difference between probabilities of single states and frequencies."""
        most = 0.0
        for i in range(layout.n_variables):
            shares = _shares(layout.unary(self.margins, i))
            if shares is not None:
                most = max(most, float(np.abs(layout.unary(margins, i) - shares).max()))
        return most

    def pair(self, layout: Layout, i: int, j: int) -> Floats | None:
        """Return how often the states of two variables occur together; None if it is not known."""
        first, second = min(i, j), max(i, j)
        place = np.flatnonzero((self.pairs == (first, second)).all(axis=1))
        if not len(place):
            return None
        starts = offsets(layout.cards[self.pairs[:, 0]] * layout.cards[self.pairs[:, 1]])
        here = slice(int(starts[place[0]]), int(starts[place[0] + 1]))
        shares = _shares(self.tables[here])
        if shares is None:
            return None
        table = shares.reshape(layout.cards[first], layout.cards[second])
        return table if i == first else np.ascontiguousarray(table.T)

    def _given(self, layout: Layout, given: int, state: int) -> dict[int, Floats]:
        """Return the frequencies of the variables whose tables with a variable are kept."""
        cards = layout.cards
        starts = offsets(cards[self.pairs[:, 0]] * cards[self.pairs[:, 1]])
        out = {}
        for place in np.flatnonzero((self.pairs == given).any(axis=1)).tolist():
            i, j = self.pairs[place].tolist()
            table = self.tables[starts[place] : starts[place + 1]].reshape(cards[i], cards[j])
            shares = _shares(table[state] if i == given else table[:, state])
            if shares is not None:
                out[j if i == given else i] = shares
        return out

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a model file; whole counts are written as such."""
        return {
            "margins": _plain(self.margins),
            "pairs": self.pairs.tolist(),
            "tables": _plain(self.tables),
            "fitted": self.fitted,
            "margin_error": self.margin_error,
            "noise": self.noise,
        }

    @staticmethod
    def read(found: Any, layout: Layout) -> Observed:
        """Return what a model file says, after checks; ValueError if it does not fit."""
        margins = np.array(found["margins"], dtype=np.float64)
        pairs = np.array(found["pairs"], dtype=np.int64).reshape(-1, 2)
        tables = np.array(found["tables"], dtype=np.float64)
        inside = len(pairs) == 0 or bool(pairs.min() >= 0 and pairs.max() < layout.n_variables)
        if not inside or not (pairs[:, 0] < pairs[:, 1]).all():
            raise ValueError("the counts of its rows are of pairs that it does not have")
        cells = int((layout.cards[pairs[:, 0]] * layout.cards[pairs[:, 1]]).sum())
        if margins.shape != (layout.n_unary,) or tables.shape != (cells,):
            raise ValueError("the counts of its rows do not fit its variables")
        if not all(
            bool((each >= 0).all() and np.isfinite(each).all()) for each in (margins, tables)
        ):
            raise ValueError("the counts of its rows are no counts")
        error, noise, fitted = found["margin_error"], float(found["noise"]), found["fitted"]
        error = None if error is None else float(error)
        if fitted not in ("calibrated", "likelihood", "pseudolikelihood"):
            raise ValueError("it does not say how its weights were fitted")
        if not 0.0 <= noise < np.inf or not (error is None or 0.0 <= error <= 1.0):
            raise ValueError("what it says about its margins are no probabilities")
        return Observed(margins, pairs, tables, fitted, error, noise)


def pairs_to_keep(layout: Layout) -> Ints:
    """Return the pairs whose tables are kept: all if they are small, else the edges, else none.

    Examples
    --------
    >>> pairs_to_keep(Layout.of([2, 2, 2], [(0, 2)])).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    cards = layout.cards
    if (int(cards.sum()) ** 2 - int((cards**2).sum())) // 2 <= MOST_CELLS:
        return np.stack(np.triu_indices(layout.n_variables, 1), axis=1).astype(np.int64)
    if int(layout.edge_sizes.sum()) <= MOST_CELLS:
        return layout.edges
    return np.zeros((0, 2), dtype=np.int64)


def wanted_margins(layout: Layout, margins: Floats) -> Floats:
    """Return the probabilities that states should have, given the counts of rows.

    The states of a variable that no row has get half an observation together, so that they are
    unlikely, and not impossible.

    Examples
    --------
    >>> wanted_margins(Layout.of([3]), np.array([30.0, 0.0, 69.5])).round(3)
    array([0.3  , 0.005, 0.695])
    """
    wanted = np.array(margins, dtype=np.float64)
    for i in range(layout.n_variables):
        own = layout.unary(wanted, i)
        never = own == 0.0
        if never.any():
            own[never] = 0.5 / never.sum()
        own /= own.sum()
    return wanted


def _shares(counts: Floats) -> Floats | None:
    total = float(counts.sum())
    return counts / total if total > 0.0 else None


def _plain(counts: Floats) -> list[int] | list[float]:
    """Return counts as whole numbers where they all are, which takes less room."""
    whole = np.rint(counts)
    found: list[int] | list[float] = counts.tolist()
    if (whole == counts).all():
        found = whole.astype(np.int64).tolist()
    return found
