"""Sampling by a population: joint states that are led from independence to a network.

Chains that start anywhere stay for long where they are if couplings are strong, and do not tell how
much each region weighs. A population starts from independent variables, where draws are exact, and
the tables grow step by step; at each step draws gain or lose weight, are resampled by it, and move
by Gibbs sampling. The weights tell log Z, too. Islands that never exchange draws tell the Monte
Carlo error.

References
----------
R. M. Neal (2001). Annealed importance sampling. K. Hukushima and Y. Iba (2003). Population
annealing and its application to a spin glass. P. Del Moral, A. Doucet and A. Jasra (2006).
Sequential Monte Carlo samplers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.sampling import gibbs_sample, log_weights
from graftwork.inference.wiring import conditionals
from graftwork.kernels.population import mean_conditionals

#: Islands; draws of all of them, at most; and codes of all variables together.
ISLANDS = 16
MOST_DRAWS, MOST_CODES = 2**14, 2**25
#: The tables grow by at most the first share in a step, by less where fewer than `ENOUGH` of the
#: draws would be left in effect, and never by less than the second.
LONGEST, SHORTEST, ENOUGH = 0.05, 0.004, 0.6
#: Sweeps of Gibbs sampling after each step.
SWEEPS = 20

#: What says how the unaries move in a step: given the population, the log weights that its draws
#: gain in the step, and the network before it.
Steer = Callable[["Population", Floats, Potentials], Floats]


class Population:
    """Draws of a network, in islands of one size.

    Shapes: unary (n_unary,) float64; codes (n, draws) uint16; log_islands (ISLANDS,) float64.
    """

    def __init__(
        self, layout: Layout, unary: Floats, rng: np.random.Generator, n_jobs: int | None = 1
    ) -> None:
        self.layout, self._rng, self._n_jobs = layout, rng, n_jobs
        count = Population.draws_of(layout)
        alone = Potentials(Layout.of(layout.cards), np.array(unary))
        # One sweep of a network without edges draws every variable from its own probabilities.
        self.codes: NDArray[np.uint16] = gibbs_sample(alone, count, rng, 0, 1, count)
        self.log_islands = np.zeros(ISLANDS)

    @staticmethod
    def draws_of(layout: Layout) -> int:
        """Return how many draws a population of such a network has."""
        most = MOST_CODES // max(1, layout.n_variables)
        return int(np.clip(most, ISLANDS**2, MOST_DRAWS)) // ISLANDS * ISLANDS

    @property
    def size(self) -> int:
        """Number of draws."""
        return int(self.codes.shape[1])

    @property
    def shares(self) -> Floats:
        """The share of the whole that each island stands for."""
        relative = np.exp(self.log_islands - self.log_islands.max())
        return np.asarray(relative / relative.sum())

    def grow(
        self,
        potentials: Potentials,
        steer: Steer | None = None,
        halted: Callable[[], bool] = lambda: False,
    ) -> Potentials | None:
        """Lead the population to a network; return it, with the unaries that ``steer`` made.

        None where ``halted`` said stop on the way.
        """
        layout, unary = self.layout, potentials.weights[: self.layout.n_unary].copy()
        tables = potentials.weights[layout.n_unary :]
        only = Potentials(layout, np.concatenate([np.zeros(layout.n_unary), tables]))
        grown, here = 0.0, Potentials(layout, np.concatenate([unary, np.zeros(len(tables))]))
        while grown < 1.0 and layout.n_edges:
            if halted():
                return None
            change, grown = self._step(log_weights(only, self.codes), grown)
            if steer is not None:
                move = steer(self, change, here)
                unary, change = unary + move, change + self.along(move)
            here = Potentials(layout, np.concatenate([unary, grown * tables]))
            self.follow(change, here)
        return here

    def _step(self, rise: Floats, grown: float) -> tuple[Floats, float]:
        """Return the log weights that draws gain in a step, and how far the tables are then."""
        step = min(LONGEST, 1.0 - grown)
        while step > SHORTEST and self.left(step * rise) < ENOUGH:
            step = max(SHORTEST, 0.7 * step)
        end = 1.0 if 1.0 - grown - step < 1e-9 else grown + step
        return step * rise, end

    def follow(self, change: Floats, potentials: Potentials, sweeps: int = SWEEPS) -> None:
        """Let draws gain these log weights, resample each island by them, and let draws move."""
        each = self.size // ISLANDS
        top = change.max()
        if top == -np.inf:
            raise ZeroDivisionError("no draw of the population is possible")
        relative = np.exp(change - top).reshape(ISLANDS, each)
        total = relative.sum(axis=1)
        chosen = np.zeros((ISLANDS, each), dtype=np.int64)
        for k in range(ISLANDS):
            # Where nothing is possible the island goes on as a copy that counts nothing.
            own = k if total[k] > 0.0 else int(np.argmax(total))
            spots = (np.arange(each) + self._rng.random()) * (total[own] / each)
            places = np.searchsorted(np.cumsum(relative[own]), spots, side="right")
            chosen[k] = own * each + np.minimum(places, each - 1)
        with np.errstate(divide="ignore"):
            self.log_islands = self.log_islands + top + np.log(total / each)
        self.codes = np.ascontiguousarray(self.codes[:, chosen.ravel()])
        if sweeps:
            self.move(potentials, sweeps)

    def move(self, potentials: Potentials, sweeps: int = SWEEPS) -> None:
        """Let all draws move by sweeps of Gibbs sampling."""
        start = self.codes.T.astype(np.int64)
        self.codes = gibbs_sample(
            potentials, self.size, self._rng, sweeps - 1, 1, self.size, self._n_jobs, start=start
        )

    @staticmethod
    def left(change: Floats) -> float:
        """Return the share of draws that are left in effect where they gain these log weights."""
        top = change.max()
        if top == -np.inf:
            return 0.0
        relative = np.exp(change - top)
        return float(relative.sum() ** 2 / (relative @ relative) / len(relative))

    def frequencies(self, change: Floats) -> Floats:
        """Return how often states occur among draws that gain these log weights, (n_unary,)."""
        logs = change + np.repeat(self.log_islands, self.size // ISLANDS)
        relative = np.exp(logs - logs.max())
        relative /= relative.sum()
        counts = zip(self.codes, self.layout.cards.tolist(), strict=True)
        return np.concatenate([np.bincount(own, relative, states) for own, states in counts])

    def along(self, move: Floats) -> Floats:
        """Return the log weights that draws gain where unaries move."""
        out = np.zeros(self.size)
        for i in np.flatnonzero(np.add.reduceat(np.abs(move), self.layout.unary_offsets[:-1])):
            out += self.layout.unary(move, int(i))[self.codes[i]]
        return out

    def margins(self, potentials: Potentials, variables: Ints | None = None) -> Floats:
        """Return the margins that each island finds, (ISLANDS, n_unary): means of conditionals."""
        layout = self.layout
        given = conditionals(layout, np.array(potentials.weights))
        out = np.zeros((ISLANDS, layout.n_unary))
        looked = np.arange(layout.n_variables) if variables is None else variables
        mean_conditionals(
            self.codes, ISLANDS, looked, given.indptr, given.neighbours, given.starts,
            given.unary_offsets, given.unary_logs, given.logs, out,
        )  # fmt: skip
        return out

    def mean(self, by_island: Floats) -> tuple[Floats, Floats]:
        """Return the mean over the islands, and its standard error."""
        shares = self.shares
        mean = shares @ by_island
        spread = (shares**2) @ (by_island - mean) ** 2
        return mean, np.sqrt(spread * ISLANDS / (ISLANDS - 1))
