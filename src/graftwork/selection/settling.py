"""The end of the search: tests of edges and those of absent pairs come to agree.

Refits are exact now. Pairs come and go by their tests once each; a pair whose tests disagree is
then fitted both ways, and two tests in three decide (see ``testing/verdicts.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from graftwork.inference.layout import Ints
from graftwork.selection.tested_network import TestedNetwork, among
from graftwork.selection.tested_refit import OtherWay, switched
from graftwork.solvers import Solution
from graftwork.testing.evidence import Evidence
from graftwork.testing.verdicts import Verdicts

Pair = tuple[int, int]


def settle(network: TestedNetwork, note: Callable[[], None]) -> Evidence:
    """Change a network until tests of edges and of absent pairs agree, and return the tests.

    Parameters
    ----------
    network : TestedNetwork
        It is changed in place.
    note : function
        Called before each round of tests.
    """
    return _Settling(network).run(note)


class _Settling:
    """What is known of the pairs that were in doubt."""

    def __init__(self, network: TestedNetwork) -> None:
        self._network, self._verdicts = network, Verdicts()
        self._other_way = OtherWay(network.refits, network.fitted)
        # Edges that left by their tests.
        self._left: set[tuple[int, ...]] = set()
        # Pairs that came in because two tests in three said so; and those that failed afterwards,
        # with the logarithm of the q-value.
        self._decided: set[Pair] = set()
        self._rivals: dict[Pair, float] = {}

    def run(self, note: Callable[[], None]) -> Evidence:
        """Test and change until nothing changes; return the tests."""
        network, tester, looks = self._network, self._network.tester, self._network.looks
        exact = True
        while True:
            note()
            if exact:
                network.finish()
            prepared = network.prepare()
            among, lists = looks.among(network.fitted, risen=exact), exact and not looks.many
            tests = tester.test_all(network.fitted, prepared, exact=lists, among=among)
            if exact:
                looks.keep(tests, network.fitted, among)
            network.sure = network.fitted
            then = self._change(tests, exact)
            if then is None and not (lists and prepared.exact):
                # all that is striking is listed once, at the end
                prepared = network.prepare(anew=True)
                once = not tester.lists_late
                tests = tester.test_all(network.fitted, prepared, exact=once)
                looks.keep(tests, network.fitted, None)
                then = self._change(tests, exact)
                if then is None and not once:
                    tests = tester.with_striking(tests, prepared, network.fitted)
                    then = self._change(tests, exact)
            if then is None:
                break
            exact = then or network.refits.resampled  # every refit of a resample is a last one
        evidence = self._verdicts.applied(tester.measured(tests, prepared), network.layout)
        passing = _as_tuples(self._doubted(evidence)[1])
        rivals = {pair: q for pair, q in self._rivals.items() if pair in passing}
        return replace(evidence, rivals=rivals)

    def _change(self, tests: Evidence, exact: bool) -> bool | None:
        """Change pairs as tests say; return whether the refit is to be exact, None if all agree."""
        if self._move(self._verdicts.applied(tests, self._network.layout)):
            return False
        return True if not exact or self._decide(tests) else None

    def _move(self, evidence: Evidence) -> bool:
        """Drop edges, or else take in absent pairs, that did not move before.

        Of those that share a variable only the clearest move. Returns whether there were any.
        """
        failing, entering = self._doubted(evidence)
        leaving = apart(_without(failing, self._left))
        if len(leaving):
            self._left.update(map(tuple, leaving.tolist()))
            self._network.drop(evidence, np.flatnonzero(among(evidence.edges.pairs, leaving)))
            return True
        entering = apart(_without(entering, self._network.entered))
        if len(entering):
            self._network.enter(entering)
        return len(entering) > 0

    def _decide(self, tests: Evidence) -> bool:
        """Change the pairs of which two tests in three say so; return whether there are any.

        Each edge that fails its test, and each absent pair that passes, is fitted both ways. Of
        pairs that share a variable only one changes, and one that came in so and fails does not
        come in again: it and others stand in for each other (a q-value depends on the tests of
        all pairs, so an absent pair may pass and, once it is an edge, fail by the same p-value).
        """
        network, verdicts = self._network, self._verdicts
        here, layout = network.fitted, network.layout
        if self._other_way.here is not here:
            self._other_way = OtherWay(network.refits, here)
        fits: dict[Pair, Solution] = {}
        while True:
            evidence = verdicts.applied(tests, layout)
            failing, entering = self._doubted(evidence)
            entering = _without(entering, self._rivals.keys())
            doubted = apart(np.concatenate([failing, entering]))
            pairs = _as_tuples(doubted)
            new = next((pair for pair in pairs if verdicts.get(pair, layout) is None), None)
            if new is None:
                break
            network.tester.check_time()
            fits[new] = there = self._other_way.fit(np.array([new]))
            verdicts.add(new, network.tester.middle_test(here, there, np.array([new])), layout)
        self._remember(evidence, pairs, _as_tuples(entering))
        if len(pairs) == 1 and pairs[0] in fits:
            network.fitted = fits[pairs[0]]
        elif pairs:
            network.change(switched(here.point.potentials, doubted))
        return len(pairs) > 0

    def _remember(self, evidence: Evidence, changing: list[Pair], entering: list[Pair]) -> None:
        """Keep which pairs come in by two tests in three, and which of those now fail."""
        for place, pair in enumerate(_as_tuples(evidence.edges.pairs)):
            if pair in self._decided and pair in changing:
                self._rivals[pair] = float(evidence.edge_log_q[place])
        self._decided.update(set(changing) & set(entering))

    def _doubted(self, evidence: Evidence) -> tuple[Ints, Ints]:
        """Return the edges that fail their tests and the absent pairs that pass, clearest first."""
        kept, entering = self._network.tester.choose(evidence)
        failing = np.flatnonzero(~kept)
        order = np.argsort(-evidence.edges.log_p[failing], kind="stable")
        return evidence.edges.pairs[failing[order]], entering


def apart(pairs: Ints) -> Ints:
    """Return those of some pairs that share no variable with one before them.

    Examples
    --------
    >>> apart(np.array([[0, 1], [1, 2], [2, 3], [3, 4]])).tolist()
    [[0, 1], [2, 3]]
    """
    used: set[int] = set()
    chosen = []
    for k, pair in enumerate(pairs.tolist()):
        if used.isdisjoint(pair):
            used.update(pair)
            chosen.append(k)
    return pairs[chosen]


def _as_tuples(pairs: Ints) -> list[Pair]:
    """Return pairs as tuples."""
    return [(i, j) for i, j in pairs.tolist()]


def _without(pairs: Ints, gone: Collection[tuple[int, ...]]) -> Ints:
    """Return those of some pairs that are not among others."""
    return pairs[[tuple(pair) not in gone for pair in pairs.tolist()]]
