"""Which absent pairs to test: all, or those whose tests may have changed since all were tested."""

from __future__ import annotations

import numpy as np

from graftwork.inference.layout import Ints
from graftwork.selection.pair_tester import PairTester
from graftwork.solvers import Solution
from graftwork.testing import pair_screen
from graftwork.testing.evidence import Evidence
from graftwork.testing.watch import Watch

# Absent pairs whose p-values are at most those of discoveries to this power are tested again and
# again, and all only once those agree.
CLOSE = 0.6


class Looks:
    """What was seen of the absent pairs so far.

    Parameters
    ----------
    tester : PairTester

    Attributes
    ----------
    many : bool
        Whether pairs are so many that looking at all of them takes long.
    """

    def __init__(self, tester: PairTester) -> None:
        problem = tester.problem
        self._tester, self._watch = tester, Watch(problem.space)
        self._close: Ints | None = None
        self.many = pair_screen.many(problem.space.size, problem.objective.sample.n_given)

    def among(self, fitted: Solution, *, risen: bool = True) -> Ints | None:
        """Return the pairs to test, edges among them; None for all.

        Parameters
        ----------
        risen : bool
            Look for pairs that came close since all were looked at.
        """
        close = self._close
        if close is None or not risen:
            return close
        rows, cut = self._tester.rows(fitted), self._tester.cut
        found = self._watch.risen(rows, fitted.point, cut, len(close))
        return None if found is None else np.unique(np.concatenate([close, found]), axis=0)

    def keep(self, tests: Evidence, fitted: Solution, among: Ints | None) -> None:
        """Remember what tests found among some pairs, or all."""
        if not self.many:
            return
        if among is None:
            self._close = _close(tests)
            self._watch.renew(fitted.point)
        else:
            both = [_close(tests)] if self._close is None else [self._close, _close(tests)]
            self._close = np.unique(np.concatenate(both), axis=0)


def _close(tests: Evidence) -> Ints:
    """Return the edges, and the absent pairs that are not far from being some."""
    discoveries = len(tests.edges.pairs) + 1
    limit = CLOSE * np.log(tests.level * min(1.0, discoveries / tests.family))
    return np.concatenate([tests.edges.pairs, tests.others.pairs[tests.others.log_p <= limit]])
