"""A start that needs a fit first: edges without weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graftwork.grafting import Budget, Problem
from graftwork.grafting.starts import strongest, with_pairs
from graftwork.inference.layout import Ints, Potentials
from graftwork.objectives.protocol import independent_potentials
from graftwork.tuning.refit import refit

# A start need not be exact: the run solves it further anyway.
ACCURACY = 5e-4


@dataclass(frozen=True, slots=True, eq=False)
class Refitted:
    """Edges, with weights from a loose fit without the sparsity penalty.

    Weights that are not zero matter to methods of single features: they keep no tables of zeros.
    With an edge budget smaller than that, the strongest edges stay.

    Attributes
    ----------
    edges : (k, 2) int64
        Pairs of variables that vary, ``i < j`` in each row.
    """

    edges: Ints

    def begin(
        self,
        problem: Problem,
        budget: Budget,
        rng: np.random.Generator,
        halted: Callable[[], bool],
    ) -> Potentials:
        """Return the network of these edges."""
        empty = with_pairs(independent_potentials(problem.objective.sample), self.edges)
        fitted = refit(problem, empty, ACCURACY, halted=halted).point.potentials
        return strongest(fitted, budget.max_edges)
