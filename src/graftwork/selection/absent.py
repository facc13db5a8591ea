"""Which absent pairs to test: all, or those whose tests may have changed since all were tested.

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
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.objectives.pseudo import PseudoPoint
from graftwork.significance import pair_screen
from graftwork.significance.edge_tests import Cut
from graftwork.significance.evidence import Evidence
from graftwork.significance.pair_screen import View, promising_near
from graftwork.significance.variances import MomentTables

# Absent pairs whose p-values are at most those of discoveries to this power are tested again and
# again, and all only once those agree.
CLOSE = 0.6
# A variable moved if roots of statistics may have shifted by more than this: little compared with
# what the quick look allows for.
MOVED = 0.1
# Where more than this share of the variables moved, all pairs are looked at.
MOST_MOVED = 0.25


class AbsentPairs:
    """The absent pairs that came close, and where conditionals were when all pairs were tested.

    ``many`` says whether pairs are so many that testing all of them takes long; where they are not,
    all are tested each time. ``close`` is (k, 2), edges among them, and None before all were seen.
    """

    def __init__(self, space: PairSpace, n_rows: int) -> None:
        self.many = pair_screen.many(space.size, n_rows)
        self.close: Ints | None = None
        self._space = space
        self._seen: Any = None

    def again(self, rows: FittedRows, point: PseudoPoint, cut: Cut) -> Ints | None:
        """Return the pairs to test, those that came close since among them; None for all."""
        if self.close is None:
            return None
        found = self.risen(rows, point, cut, len(self.close))
        return None if found is None else np.unique(np.concatenate([self.close, found]), axis=0)

    def keep(self, tests: Evidence, point: PseudoPoint, among: Ints | None) -> None:
        """Remember what tests found among some pairs, or all."""
        if not self.many:
            return
        if among is None:
            self.close = _close(tests)
            self.renew(point)
        else:
            both = [_close(tests)] if self.close is None else [self.close, _close(tests)]
            self.close = np.unique(np.concatenate(both), axis=0)

    def renew(self, point: PseudoPoint) -> None:
        """Remember that all pairs were looked at point."""
        self._seen = None
        if self._space.index_map is None and point.objective.sample.complete:
            seen = point.snapshot()
            self._seen = seen if seen.left is None else None

    def risen(self, rows: FittedRows, point: PseudoPoint, cut: Cut, others: int) -> Ints | None:
        """Return the absent pairs of variables that moved that may be edges now, shape (k, 2).

        None if all pairs had better be looked at. ``others`` is how many absent pairs may be edges
        anyway. The variables that moved count as looked at afterwards.
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

    ``apart``, (n,): root mean square changes of the conditionals.
    """
    total = float(view.rows.sample.total_weight)
    found: Floats = total * apart / np.sqrt(np.maximum(view.spreads, 1e-300))
    found[apart == 0.0] = 0.0
    return found


def _close(tests: Evidence) -> Ints:
    """Return the edges, and the absent pairs that are not far from being some."""
    discoveries = len(tests.edges.pairs) + 1
    limit = CLOSE * np.log(tests.level * min(1.0, discoveries / tests.family))
    return np.concatenate([tests.edges.pairs, tests.others.pairs[tests.others.log_p <= limit]])
