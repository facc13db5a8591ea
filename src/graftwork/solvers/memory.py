"""What a quasi-Newton solver remembers: pairs (step, change of gradient)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Floats
from graftwork.penalties.blocks import Bools

# A pair whose curvature is smaller than this, relative to the step, tells nothing reliable.
SMALLEST_CURVATURE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """Limited memory of curvature, newest last. A value: every change gives a new one."""

    pairs: tuple[tuple[Floats, Floats], ...] = ()

    def remember(self, step: Floats, change: Floats, most: int) -> Memory:
        """Return the memory with one more pair, if it has positive curvature."""
        if step @ change <= SMALLEST_CURVATURE * (step @ step):
            return self
        return Memory((*self.pairs, (step, change))[-most:])

    def restrict(self, entries: Bools) -> Memory:
        """Return the memory seen by these entries alone: the others' steps become zero."""
        kept: Memory = Memory()
        for step, change in self.pairs:
            kept = kept.remember(step * entries, change * entries, len(self.pairs))
        return kept

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

    def direction(self, gradient: Floats, metric: Floats) -> Floats:
        """Return minus the approximate inverse Hessian times the gradient.

        Two-loop recursion; ``metric`` is the diagonal the Hessian is assumed to have beyond what
        the pairs tell (scaled to agree with the newest of them).
        """
        q = gradient.copy()
        factors = []
        for step, change in reversed(self.pairs):
            factor = (step @ q) / (step @ change)
            factors.append(factor)
            q -= factor * change
        if self.pairs:
            step, change = self.pairs[-1]
            q *= (step @ change) / (change @ (change / metric))
        q /= metric
        for (step, change), factor in zip(self.pairs, reversed(factors), strict=True):
            q += step * (factor - (change @ q) / (step @ change))
        return -q
