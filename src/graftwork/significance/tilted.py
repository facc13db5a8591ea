"""Pairs about which the rows say little: near copies, rare states, nearly empty cells.

If variables i and j are no edge, their states in a row are independent given all others, with
conditionals p_i and p_j. With residuals r = z - p, what speaks for an edge is a sum over the rows,

    u = sum w,    w = 2 r_i r_j' + (r_i m_j' + m_i r_j', less what nuisances explain of it),

where m_j = p_j. Nuisances are the parameters of both conditionals, each fitted on its own without
the other variable; what they explain is projected off, so errors of their estimates count to second
order alone. Where x_i hardly varies given others, few rows tell about u, and a chi-square is a poor
guide to its law: one coincidence may look like thirty. But the law of each row is known, and so is
the cumulant function of u,

    K(t) = sum over rows of log sum_ab p_i(a) p_j(b) exp(t' w(a, b)).

The statistic is 2 max_t (t' u - K(t)): twice the log likelihood ratio of the rows tilted towards
what is seen against the fitted conditionals. By Chernoff's bound a single sum exceeds its value
with a chance below exp(-value / 2), however rare the cells are, and the chi-square describes the
tails to a relative error that falls with the number of rows, where that of u' V^-1 u grows with u.
Its mean exceeds the degrees of freedom a little, which is taken off: it matters to large tables.

References
----------
Robinson, Ronchetti and Young (2003), Saddlepoint approximations and tests based on multivariate
M-estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graftwork.data.scores import LINEAR_PRECISION
from graftwork.inference.layout import Floats, Ints
from graftwork.objectives.contrasts import Contrasts, basis_of, with_scores
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.objectives.neighbourhoods import padded
from graftwork.significance.pooling import pool

# Pairs about which fewer rows than this tell, in the harmonic mean over cells, are not left to the
# chi-square; about so many different rows say how many there are.
ENOUGH, MOST_ROWS = 10.0, 8192
# Pairs whose test takes more multiplications a step take too long: their chi-square stays. Of
# neighbours with more states the groups that tests tell apart count.
MOST_WORK, MOST_STATES = 2e7, 48
# So few rows are no test of many states: the frequent ones, and all others together.
FEW_GROUPS = 5
# No handful of rows makes a Wald test of an edge this sure, as the logarithm of its p-value, unless
# its table has more parameters than this.
SURE, LARGE = -50.0, (FEW_GROUPS - 1) ** 2
# Numbers that are kept while a maximum is looked for; more are made again in each step.
KEPT = 2**23
# Newton's steps: how many, how long, and what gain ends them. A conditional need not be exact: what
# its slopes still are is projected off like errors of its estimates.
MOST_STEPS, LONGEST, SHORTEST, LEAST_GAIN = 60, 30.0, 1e-6, 1e-7
ENOUGH_GAIN = 1e-3

Pair = tuple[int, int]


def scarce(rows: FittedRows, pairs: Ints, *, rests: bool = False) -> Ints:
    """Return the places of pairs about which so few rows tell that `tilted` is to test them."""
    few = np.flatnonzero(telling_rows(rows, pairs, rests=rests) < ENOUGH)
    works = [_work(rows, pairs[k], rests) for k in few.tolist()]
    found: Ints = few[np.array(works) <= MOST_WORK]
    return found


def _work(rows: FittedRows, pair: Ints, rests: bool) -> float:
    """Return about how many multiplications a step takes, of the largest fit or of the maximum.

    A sum over the configurations of all neighbours, of which there are no more than rows.
    """
    contrasts, edges, cards = rows.contrasts, rows.potentials.layout.edges, rows.sample.cards
    i, j = pair.tolist()
    states = [_States.of(rows, k) for k in (i, j)]
    near = [_neighbours(edges, i, j), _neighbours(edges, j, i)]
    both = np.array(sorted({*near[0], *near[1]}), dtype=np.int64)
    most = min(rows.sample.total_weight, float(cards[both].astype(np.float64).prod()))
    cells = float(np.prod([len(own.basis) for own in states]))
    works = [most * cells * len(_tested(rows, pair, states, rests)) ** 2]
    for k, own, others in zip((i, j), states, near, strict=True):
        free = size = float(own.basis.shape[1])
        for u, whole in zip(others, _bent(contrasts, k, others), strict=True):
            columns = contrasts.sizes[u] if cards[u] > MOST_STATES else cards[u] - 1
            score = contrasts.linear[u] if contrasts.ordered[u] else columns
            free += size * columns if whole else own.linear * score
        works.append(free**2 * (most + free))
    return max(works)


def _bent(contrasts: Contrasts, own: int, others: list[int]) -> tuple[bool, ...]:
    """Return to which of its neighbours a variable has a whole table."""
    curved = contrasts.curved
    return tuple(curved is None or (min(own, u), max(own, u)) in curved for u in others)


def telling_rows(rows: FittedRows, pairs: Ints, *, rests: bool = False) -> Floats:
    """Return how many rows tell about each pair.

    The product of two residuals, summed over the rows, has a variance v and a sum f of fourth
    moments; v^2 / f rows would vary as much, and be as far from a normal law, if each counted the
    same. Of a table that is the harmonic mean over its cells.
    """
    if not len(pairs):
        return np.zeros(0)
    some = rows.some(MOST_ROWS, np.unique(pairs))
    sides = rows.contrasts.sides(pairs)
    straight = np.zeros(len(pairs), dtype=bool)
    if not rests:
        straight |= np.any(sides < rows.contrasts.sizes[pairs], axis=1)
    found, moments = np.empty(len(pairs)), _Moments(some)
    weights = some.sample.weights
    for k, (i, j) in enumerate(pairs.tolist()):
        rows.check()
        first, second = (moments.of(v, bool(straight[k])) for v in (i, j))
        if weights is not None:
            first = first[0] * weights, first[1] * weights
        found[k] = _telling(first, second)
    return found / some.share


def _telling(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> float:
    """Return how many rows tell, given second and fourth moments of both variables."""
    each = (first[1] @ second[1].T) / np.maximum((first[0] @ second[0].T) ** 2, 1e-300)
    return 1.0 / max(float(each.mean()), 1e-300)


class _Moments:
    """Second and fourth moments of variables' residuals in rows, shape (directions, rows) each."""

    def __init__(self, rows: FittedRows) -> None:
        self._rows = rows
        self._known: dict[tuple[int, bool], tuple[Floats, Floats]] = {}

    def of(self, i: int, straight: bool) -> tuple[Floats, Floats]:
        """Return those of the indicators of groups of states, or those of scores."""
        if (i, straight) not in self._known:
            self._known[i, straight] = self._find(i, straight)
        return self._known[i, straight]

    def _find(self, i: int, straight: bool) -> tuple[Floats, Floats]:
        rows, sample = self._rows, self._rows.sample
        contrasts, states = rows.contrasts, int(sample.cards[i])
        values, ids = rows.conditionals.of_rows(i, 0, sample.n_rows)
        p = values.reshape(-1, padded(states))[:, :states]
        if straight and contrasts.ordered[i]:
            scores = contrasts.bases[i][:, : contrasts.linear[i]]
            apart = scores - (p @ scores)[:, None]
            second, fourth = (np.einsum("ms,msk->km", p, apart**k) for k in (2, 4))
        else:
            q = (p @ contrasts.members[i]).T
            second = q * (1.0 - q)
            fourth = second * (1.0 - 3.0 * second)
        if ids.size:
            second, fourth = second[:, ids], fourth[:, ids]
        missing = sample.codes[i] >= states
        if missing.any():
            second, fourth = second.copy(), fourth.copy()
            second[:, missing] = fourth[:, missing] = 0.0
        return second, fourth


@dataclass(frozen=True, slots=True, eq=False)
class Crossed:
    """Different rows of some variables' codes, with the weight of each; adds up over parts."""

    codes: Ints  # (k, m)
    weights: Floats  # (m,)

    @staticmethod
    def of(codes: Ints, weights: Floats) -> Crossed:
        """Return rows with equal ones merged, in the order of their codes."""
        places, inverse = _different(codes)
        sums = np.bincount(inverse, weights, len(places)).astype(np.float64)
        return Crossed(codes[:, places], sums)

    def __add__(self, other: Crossed) -> Crossed:
        codes = np.concatenate([self.codes, other.codes], axis=1)
        return Crossed.of(codes, np.concatenate([self.weights, other.weights]))


def _different(codes: Ints) -> tuple[Ints, Ints]:
    """Return the places of different columns, in their order, and which of them each column is."""
    if not len(codes):
        count = codes.shape[1]
        return np.zeros(min(1, count), dtype=np.int64), np.zeros(count, dtype=np.int64)
    radix = (codes.max(axis=1, initial=0) + 1).tolist()
    whole, size = codes[0].astype(np.int64), radix[0]
    for line, base in zip(codes[1:], radix[1:], strict=True):
        if size * base >= 2**62:  # numbers so far are made small again
            _, whole = np.unique(whole, return_inverse=True)
            size = int(whole.max(initial=0)) + 1
        whole, size = whole * base + line, size * base
    _, places, inverse = np.unique(whole, return_index=True, return_inverse=True)
    return places, inverse.ravel()


def _cross(rows: FittedRows, columns: Ints) -> Crossed:
    """Return the rows that are here in which the first two of some variables are observed."""
    sample = rows.sample
    codes = sample.codes[columns].astype(np.int64)
    weights = np.ones(codes.shape[1]) if sample.weights is None else sample.weights
    if not sample.complete:
        seen = (codes[:2] < sample.cards[columns[:2], None]).all(axis=0)
        codes, weights = codes[:, seen], weights[seen]
    return Crossed.of(codes, weights)


def tilted(rows: FittedRows, pair: Pair, *, rests: bool = False) -> tuple[float, int]:
    """Return the statistic of a pair without its edge, and its degrees of freedom.

    It depends on the other edges of both variables alone: what was found is kept with the rows, and
    holds for all networks of the sample that have these.
    """
    edges = rows.potentials.layout.edges
    near = [_neighbours(edges, *both) for both in (pair, pair[::-1])]
    bent = [_bent(rows.contrasts, k, others) for k, others in zip(pair, near, strict=True)]
    states = [_States.of(rows, k) for k in pair]
    tested = _tested(rows, np.array(pair), states, rests)
    key = (pair, *map(tuple, near), *bent, tested.tobytes())
    if key not in rows.tilted:
        rows.tilted[key] = _test(rows, pair, states, near, bent, tested)
    found: float = rows.tilted[key]
    return found, len(tested)


def directions(rows: FittedRows, pair: Ints, rests: bool = False) -> Ints:
    """Return which products of differences of both variables a test is about."""
    contrasts = rows.contrasts
    part = contrasts.linear[pair] if rests else contrasts.sides(pair[None])[0]
    return _products(contrasts.sizes[pair], part, rests)


def _tested(rows: FittedRows, pair: Ints, states: list[_States], rests: bool) -> Ints:
    """Return which products of differences of some states a test is about."""
    sizes = np.array([own.basis.shape[1] for own in states])
    part = np.array([own.linear for own in states])
    if not rests:
        part = np.minimum(rows.contrasts.sides(pair[None])[0], sizes)
    return _products(sizes, part, rests)


def _products(sizes: Ints, part: Ints, others: bool) -> Ints:
    """Return which products are of the first differences of both variables, or which are not."""
    own = np.zeros(tuple(sizes.tolist()), dtype=bool)
    own[: part[0], : part[1]] = True
    return np.flatnonzero(own.ravel() != others)


def _neighbours(edges: Ints, own: int, other: int) -> list[int]:
    """Return the neighbours of a variable but for one, ascending."""
    first, second = edges[edges[:, 0] == own, 1], edges[edges[:, 1] == own, 0]
    near = np.concatenate([second, first])
    found: list[int] = np.sort(near[near != other]).tolist()
    return found


def _test(
    rows: FittedRows,
    pair: Pair,
    states: list[_States],
    near: list[list[int]],
    bent: list[tuple[bool, ...]],
    tested: Ints,
) -> float:
    """Return the statistic of a pair."""
    both = sorted({*near[0], *near[1]})
    columns = np.array([*pair, *both], dtype=np.int64)
    crossed = rows.over_rows(_cross, columns, variables=columns)
    if not len(crossed.weights):
        return 0.0
    places, config = _different(crossed.codes[2:])
    groups = [own.group[line] for own, line in zip(states, crossed.codes[:2], strict=True)]
    counts = np.zeros((len(places), *(len(own.basis) for own in states)))
    np.add.at(counts, (config, *groups), crossed.weights)
    sides: list[_Side] = []
    for k in (0, 1):
        own = crossed.codes[2 + np.searchsorted(both, near[k]).astype(np.int64)][:, places]
        at, which = _different(own)
        key = pair[k], tuple(near[k]), bent[k]
        side: _Side | None = rows.tilted.get(key)
        if side is None:
            design = _Design.of(rows, pair[k], states[k], near[k], bent[k], own[:, at])
            seen = np.zeros((len(at), counts.shape[1 + k]))
            np.add.at(seen, which, counts.sum(axis=2 - k))
            side = _Side.of(seen, states[k], design)
            if rows.sample.complete:  # else the rows in which both are observed depend on the pair
                rows.tilted[key] = side
        sides.append(side.at(which))
    return _Pair(sides[0], sides[1], counts, tested).statistic()


@dataclass(frozen=True, slots=True, eq=False)
class _States:
    """The states of a variable that a test tells apart: the group of each, and a line for each."""

    group: Ints
    basis: Floats
    linear: int

    @staticmethod
    def of(rows: FittedRows, i: int) -> _States:
        contrasts, sample = rows.contrasts, rows.sample
        whole, group = contrasts.bases[i], contrasts.groups[i]
        if contrasts.ordered[i]:  # scores differ within groups
            return _States(np.arange(len(whole)), whole, int(contrasts.linear[i]))
        if group.max(initial=0) >= FEW_GROUPS:
            start, states = int(sample.cards[:i].sum()), int(sample.cards[i])
            margins = np.asarray(sample.counts.margins, dtype=np.float64)[start : start + states]
            counts = np.bincount(group, margins).astype(np.float64)
            group = pool(counts, FEW_GROUPS)[group]
            basis = basis_of(np.arange(int(group.max()) + 1))
            return _States(group, basis, basis.shape[1])
        _, first = np.unique(group, return_index=True)
        return _States(group, whole[first], whole.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class _Design:
    """What a conditional is fitted by: columns of 1 and of neighbours' differences."""

    columns: Floats  # (configurations, q)
    # (q, k): which of a variable's differences each column acts on: of a linear table the scores
    # alone
    free: NDArray[np.bool_]
    precisions: Floats  # (q, k): of the prior of refits

    @staticmethod
    def of(
        rows: FittedRows,
        i: int,
        states: _States,
        near: Sequence[int],
        bent: Sequence[bool],
        codes: Ints,
    ) -> _Design:
        """Return it for a variable, given codes of its neighbours, shape (neighbours, m)."""
        contrasts, sample = rows.contrasts, rows.sample
        size, linear = states.basis.shape[1], states.linear
        columns, free = [np.ones((codes.shape[1], 1))], [np.ones((1, size), dtype=bool)]
        precisions = [np.zeros((1, size))]
        for u, whole, line in zip(near, bent, codes, strict=True):
            basis = _basis(rows, u)
            score = int(basis.shape[1] if not contrasts.ordered[u] else contrasts.linear[u])
            own = np.ones((basis.shape[1], size))
            if contrasts.ordered[[i, u]].any():
                own[:score, :linear] = LINEAR_PRECISION / (len(contrasts.bases[i]) * len(basis))
            acts = np.ones(own.shape, dtype=bool)
            if not whole:
                acts[score:] = False
                acts[:, linear:] = False
            columns.append((sample.indicators(u) @ basis)[line])
            free.append(acts)
            precisions.append(own)
        return _Design(np.hstack(columns), np.vstack(free), np.vstack(precisions))


def _basis(rows: FittedRows, u: int) -> Floats:
    """Return the differences of a variable by which others are fitted.

    Of all its states, as in refits: two variables that depend on a third still do where states of
    it are pooled. Of very many states, of the groups that tests tell apart.
    """
    pooled, states = rows.contrasts.bases[u], int(rows.sample.cards[u])
    if states > MOST_STATES:
        return pooled
    basis = basis_of(np.arange(states))
    if rows.contrasts.ordered[u]:
        return with_scores(pooled[:, : rows.contrasts.linear[u]], basis)
    return basis


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """A variable's conditional without the other variable of its pair."""

    p: Floats  # (configurations, groups)
    apart: Floats  # (configurations, groups, k): differences of each group, less their mean under p
    mean: Floats  # (configurations, k)
    spread: Floats  # (configurations, k, k): covariances of differences under p
    columns: Floats  # (configurations, q)
    free: Ints  # (f,): which of the products of columns and differences are parameters
    inverse: Floats  # (f, f): of their Hessian

    @staticmethod
    def of(counts: Floats, states: _States, design: _Design) -> _Side:
        """Return the conditional fitted to how often groups occur in each configuration."""
        columns, basis = design.columns, states.basis
        free = np.flatnonzero(design.free.ravel())
        precisions = design.precisions.ravel()[free]
        # Unaries of variables with pooled scores do not reach every margin by themselves.
        margin = np.log(np.maximum(counts.sum(axis=0), 1e-9))
        fit = _Fit(counts, columns, basis, margin, free, precisions)
        theta, value = np.zeros(len(free)), np.inf
        p, value = fit.at(theta)
        for _ in range(MOST_STEPS):
            slope, hessian = fit.slopes(p, theta)
            step, share = np.linalg.solve(hessian, slope), 1.0
            while share > SHORTEST:
                q, reached = fit.at(theta + share * step)
                if reached <= value:
                    break
                share *= 0.5
            if not reached <= value:
                break
            gain, theta, p, value = value - reached, theta + share * step, q, reached
            if gain < ENOUGH_GAIN:
                break
        _, hessian = fit.slopes(p, theta)
        mean = p @ basis
        spread = np.einsum("ca,ak,al->ckl", p, basis, basis) - mean[:, :, None] * mean[:, None]
        apart = basis - mean[:, None]
        inverse: Floats = np.asarray(np.linalg.inv(hessian), dtype=np.float64)
        return _Side(p, apart, mean, spread, columns, free, inverse)

    def at(self, config: Ints) -> _Side:
        """Return the conditional in a list of configurations."""
        names = ("p", "apart", "mean", "spread", "columns")
        return replace(self, **{name: getattr(self, name)[config] for name in names})

    def gains(self, other: Floats, weights: Floats) -> Floats:
        """Return how the slope in the pair's table grows with this variable's differences.

        Shape (configurations, k, l, k): of the table's parameters by own differences. The other's
        ``other`` are its means, shape (configurations, l); nuisances follow.
        """
        count, k = self.mean.shape
        size, q = other.shape[1], self.columns.shape[1]
        slopes = (weights[:, None, None] * self.spread)[:, :, None] * other[:, None, :, None]
        crossed = slopes.reshape(count, -1).T @ self.columns  # (k l k', q)
        crossed = crossed.reshape(k * size, k, q).transpose(0, 2, 1).reshape(k * size, -1)
        whole = np.zeros_like(crossed)
        whole[:, self.free] = crossed[:, self.free] @ self.inverse
        whole = whole.reshape(k * size, q, k).transpose(1, 0, 2).reshape(q, -1)
        followed = (self.columns @ whole).reshape(count, k, size, k)
        own: Floats = other[:, None, :, None] * np.eye(k)[None, :, None]
        return own - followed


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """The negative log likelihood of a conditional, with the prior of its parameters."""

    counts: Floats
    columns: Floats
    basis: Floats
    margin: Floats
    free: Ints
    precisions: Floats

    def at(self, theta: Floats) -> tuple[Floats, float]:
        """Return the conditional at some parameters, and the value."""
        q, k = self.columns.shape[1], self.basis.shape[1]
        whole = np.zeros(q * k)
        whole[self.free] = theta
        logits = self.columns @ whole.reshape(q, k) @ self.basis.T + self.margin
        logits -= logits.max(axis=1, keepdims=True)
        p = np.exp(logits)
        sums = p.sum(axis=1, keepdims=True)
        value = -(self.counts * (logits - np.log(sums))).sum()
        return p / sums, float(value + 0.5 * (self.precisions * theta**2).sum())

    def slopes(self, p: Floats, theta: Floats) -> tuple[Floats, Floats]:
        """Return the slope downhill, and the Hessian."""
        totals, mean = self.counts.sum(axis=1), p @ self.basis
        left = self.counts @ self.basis - totals[:, None] * mean
        slope = (self.columns.T @ left).ravel()[self.free] - self.precisions * theta
        spread = np.einsum("ca,ak,al->ckl", p, self.basis, self.basis)
        spread -= mean[:, :, None] * mean[:, None]
        spread *= totals[:, None, None]
        q, k = self.columns.shape[1], self.basis.shape[1]
        blocks = np.empty((q, k, q, k))
        for a in range(k):
            for b in range(a + 1):
                block = self.columns.T @ (spread[:, a, b, None] * self.columns)
                blocks[:, a, :, b] = blocks[:, b, :, a] = block
        hessian = blocks.reshape(q * k, q * k)[np.ix_(self.free, self.free)]
        hessian.flat[:: len(hessian) + 1] += self.precisions + 1e-9 * totals.sum()
        return slope, hessian


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """A pair's rows under both conditionals."""

    first: _Side
    second: _Side
    counts: Floats  # (configurations, g, h): how often groups of both occur together
    tested: Ints  # (df,)

    def statistic(self) -> float:
        """Return twice the largest value of t' u - K(t), less what its mean exceeds df by."""
        weights = self.counts.sum(axis=(1, 2))
        here = self.first.gains(self.second.mean, weights)
        there = self.second.gains(self.first.mean, weights).transpose(0, 2, 1, 3)
        count, df = len(weights), len(self.tested)
        here, there = (
            own.reshape(count, -1, own.shape[3])[:, self.tested] for own in (here, there)
        )
        cells = self.counts.shape[1] * self.counts.shape[2]
        size = max(1, KEPT // (cells * df))
        parts = [slice(a, a + size) for a in range(0, count, size)]
        kept = [self._piece(part, here, there) for part in parts] if len(parts) == 1 else None

        def pieces() -> Iterator[tuple[Floats, Floats, Floats]]:
            yield from kept or (self._piece(part, here, there) for part in parts)

        return max(0.0, _largest(pieces, df) - self._excess(weights))

    def _excess(self, weights: Floats) -> float:
        """Return by how much the mean of the statistic exceeds its degrees of freedom.

        With counts of mean m a likelihood ratio has a mean of 1 + 1 / 6m (Bartlett), less where m
        is below one.
        """
        moments = []
        for side, times in ((self.first, weights), (self.second, 1.0)):
            q = side.p * (1.0 - side.p)
            moments.append(((q.T * times), (q * (1.0 - 3.0 * q)).T * times))
        return len(self.tested) / (6.0 * max(1.0, _telling(*moments)))

    def _piece(self, part: slice, here: Floats, there: Floats) -> tuple[Floats, Floats, Floats]:
        """Return counts, chances (configurations, cells), and w (configurations, cells, df)."""
        first, second = self.first, self.second
        a, b = first.apart[part], second.apart[part]
        count = len(a)
        left, right = np.divmod(self.tested, b.shape[2])
        w = 2.0 * a[:, :, None, left] * b[:, None, :, right]
        w += (a @ here[part].transpose(0, 2, 1))[:, :, None]
        w += (b @ there[part].transpose(0, 2, 1))[:, None]
        p = first.p[part][:, :, None] * second.p[part][:, None]
        flat = count, -1
        return self.counts[part].reshape(flat), p.reshape(flat), w.reshape(count, -1, w.shape[3])


def _largest(pieces: Callable[[], Iterator[tuple[Floats, Floats, Floats]]], df: int) -> float:
    """Return twice the largest value of t' u - K(t), by Newton's steps.

    Any t gives a lower bound: ending early errs on the safe side.
    """
    u, spread = np.zeros(df), np.zeros((df, df))
    for counts, p, w in pieces():
        u += np.einsum("cx,cxd->d", counts, w)
        masses = (counts.sum(axis=1)[:, None] * p)[:, :, None]
        spread += (masses * w).reshape(-1, df).T @ w.reshape(-1, df)
    mean = max(float(spread.trace()) / df, 1e-300)
    spread.flat[:: df + 1] += 1e-10 * mean
    whiten = np.linalg.inv(np.linalg.cholesky(spread)).T  # t = whiten s: s' (whiten' u)
    u = whiten.T @ u

    def at(s: Floats) -> tuple[float, Floats, Floats]:
        value, slope, hessian, t = float(s @ u), u.copy(), np.zeros((df, df)), whiten @ s
        for counts, p, w in pieces():
            masses, powers = counts.sum(axis=1), w @ t
            top = powers.max(axis=1, keepdims=True)
            tilted = p * np.exp(powers - top)
            sums = tilted.sum(axis=1, keepdims=True)
            value -= float(masses @ (top + np.log(sums))[:, 0])
            tilted /= sums
            mean = np.einsum("cx,cxd->cd", tilted, w)
            slope -= whiten.T @ (masses @ mean)
            tilted *= masses[:, None]
            flat = w.reshape(-1, df)
            hessian += (tilted.reshape(-1, 1) * flat).T @ flat
            hessian -= (masses[:, None] * mean).T @ mean
        return value, slope, whiten.T @ hessian @ whiten

    s, (value, slope, hessian) = np.zeros(df), at(np.zeros(df))
    for _ in range(MOST_STEPS):
        hessian.flat[:: df + 1] += 1e-9
        step = np.linalg.solve(hessian, slope)
        share = min(1.0, LONGEST / max(float(np.linalg.norm(step)), 1e-300))
        while share > SHORTEST:
            reached = at(s + share * step)
            if reached[0] >= value:
                break
            share *= 0.5
        if not reached[0] >= value:
            break
        gain, s = reached[0] - value, s + share * step
        value, slope, hessian = reached
        if gain < LEAST_GAIN:
            break
    return 2.0 * value
