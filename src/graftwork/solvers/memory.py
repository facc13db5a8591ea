"""What a quasi-Newton solver remembers: pairs (step, change of gradient)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from graftwork.inference.layout import Floats

# Pairs of very many weights take at most these bytes, but there are a few of them.
MOST_BYTES, FEWEST = 100_000_000, 3
# A pair whose curvature is smaller than this, relative to the step, tells nothing reliable.
SMALLEST_CURVATURE = 1e-10


def pairs_kept(most: int, size: int) -> int:
    """Return how many pairs are kept: fewer than ``most`` where a vector takes very many bytes.

    Examples
    --------
    >>> pairs_kept(10, 1000), pairs_kept(10, 2**23), pairs_kept(10, 2**30)
    (10, 5, 3)
    """
    return min(most, max(FEWEST, MOST_BYTES // (2 * size)))


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """Limited memory of curvature, newest last. A value: every change gives a new one."""

    pairs: tuple[tuple[Floats, Floats], ...] = ()

    def remember(self, step: Floats, change: Floats, most: int) -> Memory:
        """Return the memory with one more pair, if it has positive curvature.

        It has at most ``most`` pairs, fewer of very many weights.
        """
        if step @ change <= SMALLEST_CURVATURE * (step @ step):
            return self
        return Memory((*self.pairs, (step, change))[-pairs_kept(most, step.nbytes) :])

    def move(self, sources: Sequence[int] | np.ndarray, size: int, targets: np.ndarray) -> Memory:
        """Return the memory for another layout: entry ``sources[k]`` becomes ``targets[k]``.

        Entries that are new start without history; entries that left are forgotten.
        """
        kept = Memory()
        for pair in self.pairs:
            step, change = (np.zeros(size), np.zeros(size))
            step[targets], change[targets] = pair[0][sources], pair[1][sources]
            kept = kept.remember(step, change, len(self.pairs))
        return kept

    def direction(self, slope: Floats, metric: Floats, extra: Floats) -> Floats:
        """Return minus the inverse Hessian times a slope: the quasi-Newton step.

        Shapes: slope (size,) float64; metric (size,) float64; extra (size,) float64.

        References
        ----------
        Nocedal (1980), Updating quasi-Newton matrices with limited storage: the two-loop recursion.
        """
        result, shares = slope.copy(), []
        for step, change in reversed(self.pairs):
            bent = change + extra * step
            share = (step @ result) / (step @ bent)
            result -= share * bent
            shares.append(share)
        diagonal = metric + extra
        if self.pairs:
            step, change = self.pairs[-1]
            bent = change + extra * step
            diagonal = diagonal * float((bent @ (bent / diagonal)) / (step @ bent))
        result /= diagonal
        for (step, change), share in zip(self.pairs, reversed(shares), strict=True):
            bent = change + extra * step
            result += (share - (bent @ result) / (step @ bent)) * step
        return -result

    def hessian(self, metric: Floats) -> Hessian:
        """Return the approximate Hessian that agrees with the pairs.

        ``metric`` is the diagonal it is assumed to have beyond what the pairs tell; it is scaled to
        agree with the newest of them. Compact form of limited-memory BFGS.

        References
        ----------
        Byrd, Nocedal and Schnabel (1994), Representations of quasi-Newton matrices, theorem 2.3.
        """
        if not self.pairs:
            return Hessian(metric, np.zeros((0, len(metric))), np.zeros((0, 0)))
        count = len(self.pairs)
        factors = np.empty((2 * count, len(metric)))
        steps, changes = np.empty((count, len(metric))), factors[count:]
        for k, (step, change) in enumerate(self.pairs):
            steps[k], changes[k] = step, change
        newest = changes[-1]
        diagonal = metric * float((newest @ (newest / metric)) / (steps[-1] @ newest))
        np.multiply(diagonal, steps, out=factors[:count])
        products = steps @ factors.T  # with the diagonal between, and with the changes
        middle = np.zeros((2 * count, 2 * count))
        middle[:count, :count] = products[:, :count]
        lower = products[:, count:] * _below(count)
        middle[:count, count:] = lower
        middle[count:, :count] = lower.T
        middle[count:, count:].flat[:: count + 1] = -products[:, count:].diagonal()
        return Hessian(diagonal, factors, _inverse(middle))


@lru_cache(maxsize=64)
def _below(count: int) -> Floats:
    """Return 1 below the diagonal of a square matrix, 0 elsewhere."""
    return np.tri(count, k=-1)


def _inverse(matrix: Floats) -> Floats:
    """Return the inverse of a symmetric matrix, or of what is not singular in it."""
    try:
        found = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrix, hermitian=True))
    return np.asarray(0.5 * (found + found.T))


@dataclass(frozen=True, slots=True, eq=False)
class Hessian:
    """A diagonal minus a low-rank part: cheap to multiply with."""

    diagonal: Floats
    factors: Floats
    middle: Floats

    def multiply(self, vector: Floats) -> Floats:
        """Return the Hessian times a vector."""
        result: Floats = self.diagonal * vector
        if len(self.factors):
            result -= (self.middle @ (self.factors @ vector)) @ self.factors
        return result
