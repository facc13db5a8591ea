"""Unaries that give variables the margins they should have, while all tables stay as they are.

The loss is log Z - <unaries, margins>: convex, and its gradient is the network's margins less
those wanted. Newton's steps need the covariances of all states, which draws tell well enough; the
margins themselves come from a junction tree, or from a population of draws where that is too
large. Steps of all unaries at once by their own variances alone diverge where variables go
together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from graftwork.inference.elimination import eliminate
from graftwork.inference.junction import JunctionTree
from graftwork.inference.layout import Floats, Layout, Potentials
from graftwork.inference.population import Population
from graftwork.kernels.population import covary

#: Junction trees with up to this many cells take all the steps they need; larger ones a few, from
#: where a population has come to, as long as these cells are enough for.
QUICK_CELLS, ALL_CELLS = 2**21, 2**27
#: Margins are exact enough at this distance; after this many steps they have to do.
CLOSE, MOST_STEPS = 1e-7, 60
#: Draws of a junction tree that tell covariances, and codes of all variables together.
DRAWS, MOST_CODES = 2**12, 2**22
#: Of the variances this is added to covariances, and the number of states by that of draws.
RIDGE = 0.01
#: Steps of conjugate gradients, and of a unary.
INNER, LONGEST = 30, 2.0
#: The share of a step that is not worth taking.
SHORTEST = 1e-3
#: Probabilities count as at least this, and at most 1 less this, in log odds.
LEAST = 1e-9
#: The share of the loss that rounding errors may be.
NOISE = 1e-10
#: Covariances are looked at again where a margin has changed by more than this, in logs.
STALE = 0.2
#: Predictions of a step of a population.
PREDICTIONS = 2
#: Corrections after a population has arrived.
CORRECTIONS, SETTLING = 10, 50
#: Share of the draws that have to be left in effect by a correction.
NEARLY_ALL = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """A network with the margins wanted, and how close they are."""

    potentials: Potentials
    margins: Floats  # (n_unary,): those of the network
    exact: bool  # whether a junction tree found them; else they are estimates
    noise: float  # the largest standard error of an estimate


def calibrate(
    potentials: Potentials,
    wanted: Floats,
    halted: Callable[[], bool] = lambda: False,
    n_jobs: int | None = 1,
) -> Calibrated | None:
    """Return the network with unaries such that its margins are those wanted.

    Shapes: wanted (n_unary,) float64.
    """
    layout = potentials.layout
    if is_quick(layout):
        return _exactly(potentials, wanted, MOST_STEPS, halted)
    roughly = _by_population(potentials, wanted, halted, n_jobs)
    cost, most = eliminate(layout).cost, JunctionTree().limit_cells
    if roughly is None or cost.total_cells > most:
        return roughly
    return _exactly(roughly.potentials, wanted, ALL_CELLS // cost.total_cells, halted)


def is_quick(layout: Layout) -> bool:
    """Return whether a junction tree takes a moment, so that as many as needed are affordable."""
    return eliminate(layout).cost.total_cells <= QUICK_CELLS


def _exactly(
    potentials: Potentials, wanted: Floats, steps: int, halted: Callable[[], bool]
) -> Calibrated:
    """Return the network after steps that each lower the loss."""
    engine, layout = JunctionTree(), potentials.layout
    n, rng = layout.n_unary, np.random.default_rng(0)
    count = int(np.clip(MOST_CODES // max(1, layout.n_variables), 64, DRAWS))

    def look(at: Potentials) -> tuple[Floats, float]:
        beliefs = engine.infer(at)
        return beliefs.values[:n], beliefs.log_partition - float(at.weights[:n] @ wanted)

    margins, loss = look(potentials)
    curvature, length, drawn_at = None, 1.0, margins
    for _ in range(steps):
        worst = float(np.abs(wanted - margins).max())
        if worst <= CLOSE or length < SHORTEST or halted():
            break
        if curvature is None or length < 1.0 or np.abs(np.log(margins / drawn_at)).max() > STALE:
            codes = engine.sample(potentials, count, rng)
            curvature, length, drawn_at = Covariances(layout, codes), 1.0, margins
        move = _bounded(curvature.step(margins, wanted))
        while length >= SHORTEST:
            there = moved(potentials, length * move)
            found, lower = look(there)
            if lower <= loss + NOISE * abs(loss):
                potentials, margins, loss = there, found, lower
                break
            length *= 0.5
    return Calibrated(potentials, margins, True, 0.0)


def _by_population(
    potentials: Potentials, wanted: Floats, halted: Callable[[], bool], n_jobs: int | None
) -> Calibrated | None:
    """Return the network that a population finds, whose margins stay as wanted on its way.

    At the start all variables are independent with the margins wanted. Where these are kept, hardly
    a draw gains or loses weight, and no region of joint states is lost.
    """
    layout = potentials.layout
    n, unary = layout.n_unary, np.log(wanted)
    population = Population(layout, unary, np.random.default_rng(0), n_jobs)
    loose = _loose(potentials)
    owners = np.flatnonzero(np.add.reduceat(loose, layout.unary_offsets[:-1]))

    def steer(draws: Population, change: Floats, before: Potentials) -> Floats:
        covariances = Covariances(layout, draws.codes)
        move = np.zeros(n)
        if len(owners):
            found = draws.mean(draws.margins(before, owners))[0]
            move[loose] = _bounded(np.log(wanted[loose] / found[loose]))
        for _ in range(PREDICTIONS):
            margins = draws.frequencies(change + draws.along(move))
            margins[loose] = wanted[loose]
            move += _bounded(covariances.step(margins, wanted))
        return move

    start = Potentials(layout, np.concatenate([unary, potentials.weights[n:]]))
    here = population.grow(start, steer, halted)
    if here is None:
        return None
    for _ in range(CORRECTIONS):
        if halted():
            break
        margins, _ = population.mean(population.margins(here))
        move = _bounded(Covariances(layout, population.codes).step(margins, wanted))
        while population.left(population.along(move)) < NEARLY_ALL:
            move *= 0.5
        here = moved(here, move)
        population.follow(population.along(move), here, SETTLING)
    margins, errors = population.mean(population.margins(here))
    return Calibrated(here, margins, False, float(errors.max()))


def _loose(potentials: Potentials) -> NDArray[np.bool_]:
    """Return which states go with nothing: their entries in all tables are zero."""
    layout, weights = potentials.layout, potentials.weights
    tied = np.zeros(layout.n_unary, dtype=bool)
    for e, (i, j) in enumerate(layout.edges.tolist()):
        bound = layout.table(weights, e) != 0.0
        tied[layout.unary_offsets[i] : layout.unary_offsets[i + 1]] |= bound.any(axis=1)
        tied[layout.unary_offsets[j] : layout.unary_offsets[j + 1]] |= bound.any(axis=0)
    return ~tied


class Covariances:
    """Covariances of all states, as draws tell them.

    Shapes: codes (n, draws) integers.
    """

    def __init__(self, layout: Layout, codes: NDArray[np.integer[Any]]) -> None:
        self._codes, self._starts = np.ascontiguousarray(codes), layout.unary_offsets[:-1]
        self._n, self._count = layout.n_unary, codes.shape[1]
        counts = zip(self._codes, layout.cards.tolist(), strict=True)
        seen = np.concatenate([np.bincount(own, minlength=states) for own, states in counts])
        self._variances = seen / self._count * (1.0 - seen / self._count)

    def step(self, margins: Floats, wanted: Floats) -> Floats:
        """Return Newton's step from these margins to those wanted."""
        margins, wanted = (np.clip(each, LEAST, 1.0 - LEAST) for each in (margins, wanted))
        # A state by itself would need the difference of the log odds: this is its slope.
        apart = logit(wanted) - logit(margins)
        near = np.abs(apart) < 1e-6
        own = np.where(
            near, margins * (1.0 - margins), (wanted - margins) / np.where(near, 1, apart)
        )
        rest = np.maximum(0.0, own - self._variances) + (RIDGE + self._n / self._count) * own

        def times(vector: Floats) -> Floats:
            out = np.empty(self._n)
            covary(self._codes, self._starts, vector, out)
            return np.asarray(out + rest * vector)

        return _conjugate_gradients(times, wanted - margins, own)


def _conjugate_gradients(times: Callable[[Floats], Floats], target: Floats, own: Floats) -> Floats:
    """Return about the vector that ``times`` turns into the target; ``own`` is its diagonal."""
    found, rest = np.zeros_like(target), target.copy()
    scaled = rest / own
    direction, size = scaled, float(rest @ scaled)
    enough = 1e-6 * size
    for _ in range(INNER):
        if size <= enough or size == 0.0:
            break
        image = times(direction)
        length = size / float(direction @ image)
        found, rest = found + length * direction, rest - length * image
        scaled = rest / own
        last, size = size, float(rest @ scaled)
        direction = scaled + (size / last) * direction
    return found


def _bounded(move: Floats) -> Floats:
    return np.clip(move, -LONGEST, LONGEST)


def moved(potentials: Potentials, move: Floats) -> Potentials:
    """Return the potentials with unaries moved."""
    weights = potentials.weights.copy()
    weights[: len(move)] += move
    return Potentials(potentials.layout, weights)
