"""Parameter tying: the network nearest to a learned one whose weights take few values.

The weights are written with the fewest numbers that are not zero; zeros stay. Nearest is meant in
the Bregman divergence of the loss, ``loss(w) - loss(w*) - <slope at w*, w - w*>``: where w* was an
optimum without a penalty that is the loss itself, and where a penalty shrank w* the shrinkage is
kept. The divergence has its minimum at w*, so weights stay finite even where the data separate.

Which weights share a value is found by turns, as in the method of multipliers: the weights minimise
the divergence plus a pull to their values, and are put into groups again by exact k-means; what the
pull does not achieve is remembered. (Without that memory the first groups hardly ever changed.) Of
all groupings seen the best is fitted to convergence.

References
----------
Chou, Sahoo, Sarkhel, Ruozzi and Gogate (2018), Automatic parameter tying: a new approach for
regularized parameter learning in Markov networks. Carreira-Perpinan and Idelbayev (2017), Model
compression as constrained optimization, with application to neural nets. Part II: quantization.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.grafting.trace import Observer, Silence
from graftwork.inference.gauge import sparsest
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.kernels.kmeans import cut_into_clusters
from graftwork.objectives.protocol import Objective
from graftwork.objectives.tied import Shifted, Tied
from graftwork.parameters import whole_number
from graftwork.penalties import L1, Blocks
from graftwork.solvers import ProximalQuasiNewton, Solution, measure
from graftwork.solvers.solution import never

# The pull begins at this share of the loss's curvature and grows by this factor each round.
FIRST_PULL = 0.03
GROWTH = 1.1
ROUNDS = 40
# Solver steps of the pulled weights in a round, and of the values that judge its grouping.
STEPS = 3
JUDGING_STEPS = 2
# Weights that hardly matter still have to go somewhere: a share of the largest curvature.
LEAST_CURVATURE = 1e-4


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tying:
    """A network whose weights share few values."""

    potentials: Potentials  # the tied network
    values: Floats  # (k,): the values its weights take, without zero, in order
    # how many weights it takes to write the network down: those that are not zero where it is
    # written with the fewest
    n_weights: int
    # loss_before, loss_after: the loss of the network it was made of, and its own, on the rows
    # learned from
    loss_before: float
    loss_after: float
    rounds: int  # groupings tried; 0 if nothing needed tying

    def __repr__(self) -> str:
        return (
            f"Tying(n_values={len(self.values)}, n_weights={self.n_weights}, bits={self.bits}, "
            f"loss_before={self.loss_before:.6g}, loss_after={self.loss_after:.6g}, "
            f"rounds={self.rounds})"
        )

    @property
    def bits(self) -> int:
        """How many bits tell which value a weight has, zero among them where it occurs."""
        return max(1, (self._different - 1).bit_length())

    @property
    def n_bytes(self) -> tuple[int, int]:
        """Bytes of all numbers of the network as float64, and as values and indices."""
        size = self.potentials.layout.size
        return 8 * size, 8 * self._different + -(-size * self.bits // 8)

    @property
    def _different(self) -> int:
        return len(self.values) + int((self.potentials.weights == 0).any())

    def to_dict(self) -> dict[str, float | int]:
        """Return the numbers of it, for files."""
        return {
            "values": len(self.values),
            "weights": self.n_weights,
            "bits": self.bits,
            "loss_before": self.loss_before,
            "loss_after": self.loss_after,
            "rounds": self.rounds,
        }


def tie(
    objective: Objective,
    potentials: Potentials,
    count: int,
    *,
    tolerance: float = 1e-6,
    observer: Observer | None = None,
    halted: Callable[[], bool] = never,
) -> Tying:
    """Return the network nearest to a learned one whose weights take at most ``count`` values.

    Deterministic, and the same for any number of threads. A network with no more values than that
    comes back as it is, or written with fewer weights if it takes that to have so few values.
    """
    whole_number("count", count, 1)
    learned = objective.at(potentials)
    start = sparsest(potentials, _most_frequent(objective))
    if count >= len(_values_of(start.weights)):
        few = count >= len(_values_of(potentials.weights))
        end, n_weights = potentials if few else start, int(np.count_nonzero(start.weights))
        return Tying(end, _values_of(end.weights), n_weights, learned.value, learned.value, 0)
    nearest = _Nearest.to(objective, start)
    own, watch = start.weights[nearest.held], observer or Silence()
    labels, values, rounds = _search(nearest, own, count, watch, halted)
    tied = nearest.tied(labels)
    end = tied.expand(_solve(tied, values, tolerance, None, halted).point.potentials.weights)
    values, n_weights = _values_of(end.weights), int(np.count_nonzero(end.weights))
    return Tying(end, values, n_weights, learned.value, objective.at(end).value, rounds)


@dataclass(frozen=True, slots=True, eq=False)
class _Nearest:
    """The divergence from one network, over those of its weights that are not zero."""

    divergence: Shifted
    layout: Layout
    held: Ints
    curvature: Floats

    @staticmethod
    def to(objective: Objective, start: Potentials) -> _Nearest:
        point = objective.at(start)
        held = np.flatnonzero(start.weights)
        curvature = np.maximum(point.curvature[held], LEAST_CURVATURE * point.curvature[held].max())
        # Half-way, on a log scale, between weights that matter alike and the curvature along each
        # weight alone, which knows nothing of what the others could make up for. On the standard
        # splits neither end nor the middle was better than the others.
        curvature = np.sqrt(curvature * curvature.mean())
        return _Nearest(Shifted(objective, point.gradient), start.layout, held, curvature)

    def tied(self, labels: Ints) -> Tied:
        """Return the divergence of a network whose weights are grouped like this."""
        return Tied(self.divergence, self.layout, _spread(self, labels, -1))

    def pulled(self, centres: Floats, pull: float) -> Tied:
        """Return the divergence plus a pull of each weight to its centre."""
        divergence = self.divergence
        pulled = Shifted(
            divergence.objective,
            divergence.slope,
            _spread(self, centres, 0.0),
            _spread(self, pull * self.curvature, 0.0),
        )
        return Tied(pulled, self.layout, _spread(self, np.arange(len(self.held)), -1))


def _search(
    nearest: _Nearest, learned: Floats, count: int, observer: Observer, halted: Callable[[], bool]
) -> tuple[Ints, Floats, int]:
    """Return the best grouping seen, values near its best ones, and after how many rounds."""
    weights, missed, pull = learned, np.zeros_like(learned), FIRST_PULL
    labels, centres = cluster(weights, nearest.curvature, count)
    best = _solve(nearest.tied(labels), centres, 0.0, JUDGING_STEPS, halted)
    found = labels, best.point.potentials.weights
    for step in range(ROUNDS):
        if halted():
            return *found, step
        observer.on_stage(f"tying weights to at most {count} values", step, ROUNDS)
        near = _solve(nearest.pulled(centres[labels] - missed, pull), weights, 0.0, STEPS, halted)
        weights = near.point.potentials.weights
        labels, centres = cluster(weights + missed, nearest.curvature, count)
        missed = (missed + weights - centres[labels]) / GROWTH  # in units of the next pull
        pull *= GROWTH
        trial = _solve(nearest.tied(labels), centres, 0.0, JUDGING_STEPS, halted)
        if trial.objective < best.objective:
            best, found = trial, (labels, trial.point.potentials.weights)
    return *found, ROUNDS


def _solve(
    tied: Tied, values: Floats, tolerance: float, steps: int | None, halted: Callable[[], bool]
) -> Solution:
    """Return the values that minimise a tied loss, or what some steps make of them."""
    free = L1(0.0)
    blocks = Blocks.of(tied.small, tied.small.cards)
    start = measure(tied.at(Potentials(tied.small, values)), free, blocks)
    return ProximalQuasiNewton().improve(tied, free, blocks, start, tolerance, steps, halted)


def _spread(nearest: _Nearest, some: Any, rest: float) -> Any:
    """Return what belongs to the held weights as a vector of the layout, with the rest alike."""
    out = np.full(nearest.layout.size, rest, dtype=some.dtype)
    out[nearest.held] = some
    return out


def _values_of(weights: Floats) -> Floats:
    """Return the different numbers that are not zero, in order."""
    return np.unique(weights[weights != 0])


def _most_frequent(objective: Objective) -> Ints:
    """Return the most frequent state of each variable, the first of several."""
    sample = objective.sample
    cut = np.split(sample.frequencies, np.cumsum(sample.cards)[:-1])
    return np.array([int(np.argmax(part)) for part in cut])


# The exact way needs a table of numbers times groups; larger ones are not built.
MOST_CELLS = 2**24
LLOYD_ROUNDS = 100


def cluster(values: Floats, weights: Floats, count: int) -> tuple[Ints, Floats]:
    """Return the group of each number, and the weighted mean of each group.

    The groups minimise the weighted squares of the distances to their means: exactly, or where
    numbers times groups exceed ``MOST_CELLS`` nearly (Lloyd's iteration).

    Shapes: values, weights (m,) float64.
    """
    order = np.argsort(values, kind="stable")
    x, w = np.ascontiguousarray(values[order]), np.ascontiguousarray(weights[order])
    cut = cut_into_clusters if count * len(x) <= MOST_CELLS else _cut_nearly
    labels = np.empty(len(x), dtype=np.int64)
    labels[order] = np.repeat(np.arange(count), np.diff(cut(x, w, count)))
    mass = np.bincount(labels, weights, minlength=count)
    return labels, np.bincount(labels, weights * values, minlength=count) / mass


def _cut_nearly(values: Floats, weights: Floats, count: int) -> Ints:
    """Return where groups of sorted numbers start, by Lloyd's iteration; none is empty.

    It starts from groups as wide as suits the density, to the power of one third (Panter and Dite,
    1951): gaps count by their power of two thirds.
    """
    gaps = (0.5 * (weights[1:] + weights[:-1])) ** (1 / 3) * np.diff(values) ** (2 / 3)
    along = np.concatenate([[0.0], np.cumsum(gaps)])
    starts = _apart(np.searchsorted(along, along[-1] * np.arange(1, count) / count), len(values))
    for _ in range(LLOYD_ROUNDS):
        mass = np.add.reduceat(weights, starts[:-1])
        centres = np.add.reduceat(weights * values, starts[:-1]) / mass
        after = _apart(np.searchsorted(values, 0.5 * (centres[1:] + centres[:-1])), len(values))
        if np.array_equal(after, starts):
            break
        starts = after
    return starts


def _apart(inner: Ints, size: int) -> Ints:
    """Return where groups start and end, moved as little as leaves none empty."""
    steps = np.arange(1, len(inner) + 1)
    inner = np.maximum.accumulate(inner - steps) + steps
    inner = np.clip(inner, steps, size - steps[::-1])
    return np.concatenate([[0], inner, [size]])
