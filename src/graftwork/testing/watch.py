"""Which absent pairs to look at again once all were looked at.

The slope of a pair's table changes only as the conditionals of its two variables do. Exact refits
keep the means of conditionals, so by Cauchy and Schwarz the root of the pair's statistic shifts by
at most e_i + e_j, where e_i is the root mean square change of variable i's conditional over the
root of its mean variance, times the root of the number of rows. After few pairs came or went most
variables hardly moved, and so did the statistics of all pairs among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graftwork.grafting.spaces import PairSpace
from graftwork.inference.layout import Floats, Ints
from graftwork.objectives.pseudo import PseudoPoint
from graftwork.testing.edge_tests import Cut
from graftwork.testing.pair_screen import View, promising_near
from graftwork.testing.rows import FittedRows
from graftwork.testing.variances import MomentTables

# A variable moved if roots of statistics may have shifted by more than this: little beside what the
# quick look allows for.
MOVED = 0.1
# Where more than this share of the variables moved, all pairs are looked at.
MOST_MOVED = 0.25


class Watch:
    """Where the conditionals were when the pairs of each variable were last looked at.

    Parameters
    ----------
    space : PairSpace
        The pairs that may be edges.
    """

    def __init__(self, space: PairSpace) -> None:
        self._space = space
        self._seen: Any = None

    def renew(self, point: PseudoPoint) -> None:
        """Remember that all pairs were looked at here."""
        self._seen = None
        if self._space.index_map is None and point.objective.sample.complete:
            seen = point.snapshot()
            self._seen = seen if seen.left is None else None

    def risen(self, rows: FittedRows, point: PseudoPoint, cut: Cut, others: int) -> Ints | None:
        """Return the absent pairs of variables that moved that may be edges now.

        Their variables count as looked at.

        Parameters
        ----------
        rows : FittedRows
            The sample under the network.
        point : Point
            The loss evaluated there.
        others : int
            How many absent pairs beside them may be edges.

        Returns
        -------
        (k, 2) int64 or None
            None if all pairs had better be looked at.
        """
        if self._seen is None:
            return None
        view = View.of(MomentTables(rows.straight))
        moved = np.flatnonzero(shifts(view, point.drift(self._seen)[:, 0]) > MOVED)
        moved = moved[np.isin(moved, self._space.variables)]
        if len(moved) > MOST_MOVED * len(self._space.variables):
            return None
        self._seen = self._seen.renewed(point.snapshot(), moved)
        return promising_near(view, point, self._space, moved, cut, others)


def shifts(view: View, apart: Floats) -> Floats:
    """Return by how much each variable may have shifted the roots of its pairs' statistics.

    Parameters
    ----------
    apart : (n,) float64
        Root mean square changes of the conditionals.
    """
    total = float(view.rows.sample.total_weight)
    found: Floats = total * apart / np.sqrt(np.maximum(view.spreads, 1e-300))
    found[apart == 0.0] = 0.0
    return found
