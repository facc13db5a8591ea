"""Pairs whose tests disagree: three tests, of which the middle one counts.

An absent pair is tested by its slope (score test), an edge by its estimate (Wald test). At the
margin, and where states are nearly determined by others, a pair may look like an edge while it is
absent and like none once it is there. Such a pair is fitted both ways, which also gives the
likelihood ratio; the median of the three p-values decides, so two tests always agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.inference.pairs import find_edges
from graftwork.objectives.contrasts import free_sides
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.significance.edge_tests import EdgeTests, Findings
from graftwork.significance.evidence import Evidence
from graftwork.significance.pair_tests import examine_pairs
from graftwork.significance.tails import log_tail
from graftwork.significance.tilted import scarce, tilted
from graftwork.solvers import Solution

# A pair that was looked at so often is not looked at again: it and others stand in for each other.
MOST_LOOKS = 3

Pair = tuple[int, int]
Neighbours = frozenset[Pair]


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What the tests of one pair say."""

    finding: Findings  # the test with the middle p-value
    neighbours: Neighbours  # the other edges of the pair's variables when it was tested
    looks: int  # how often it was

    def holds(self, neighbours: Neighbours) -> bool:
        """Return whether it is still of use, given the other edges of the pair's variables."""
        return self.looks >= MOST_LOOKS or self.neighbours == neighbours


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """The verdicts so far, by pair."""

    known: dict[Pair, Verdict] = field(default_factory=dict)

    def add(self, pair: Pair, finding: Findings, layout: Layout) -> None:
        """Keep what the tests of a pair say, given the edges of the network."""
        before = self.known.get(pair)
        looks = 1 if before is None else before.looks + 1
        self.known[pair] = Verdict(finding, neighbours_of(layout, pair), looks)

    def get(self, pair: Pair, layout: Layout) -> Findings | None:
        """Return the verdict on a pair if there is one that is of use in this network."""
        verdict = self.known.get(pair)
        if verdict is None or not verdict.holds(neighbours_of(layout, pair)):
            return None
        return verdict.finding

    def applied(self, evidence: Evidence, layout: Layout) -> Evidence:
        """Return the evidence with verdicts in place of tests that they contradict.

        Of an edge that looks like none, and of an absent pair that looks like an edge, the verdict
        counts if there is one that holds.
        """
        settled: set[Pair] = set()
        while True:
            found = [
                (part, place, pair, verdict)
                for part, place, pair in doubtful(evidence)
                if pair not in settled and (verdict := self.get(pair, layout)) is not None
            ]
            if not found:
                return evidence
            settled.update(pair for _, _, pair, _ in found)
            for part in ("edges", "others"):
                own = [(place, verdict) for name, place, _, verdict in found if name == part]
                if own:
                    places, tests = zip(*own, strict=True)
                    evidence = evidence.replaced(part, np.array(places), Findings.joined([*tests]))


def doubtful(evidence: Evidence) -> Iterator[tuple[str, int, Pair]]:
    """Yield edges that look like none and absent pairs that look like edges.

    Each with the part of the evidence it is in, and its place there.
    """
    limit = np.log(evidence.level)
    for part, doubted in (
        ("edges", evidence.edge_log_q > limit),
        ("others", evidence.other_log_q <= limit),
    ):
        findings: Findings = getattr(evidence, part)
        for place in np.flatnonzero(doubted).tolist():
            i, j = findings.pairs[place].tolist()
            yield part, place, (i, j)


def neighbours_of(layout: Layout, pair: Pair) -> Neighbours:
    """Return the edges of a pair's two variables, but for the pair itself.

    Examples
    --------
    >>> sorted(neighbours_of(Layout.of([2] * 4, [(0, 1), (1, 2), (2, 3)]), (0, 1)))
    [(1, 2)]
    """
    at = _edges_at(layout)
    return (at.get(pair[0], frozenset()) | at.get(pair[1], frozenset())) - {pair}


@lru_cache(maxsize=4)
def _edges_at(layout: Layout) -> dict[int, Neighbours]:
    """Return the edges of each variable; kept, since many pairs of a network are asked for."""
    found: dict[int, list[Pair]] = {}
    for i, j in layout.edges.tolist():
        found.setdefault(i, []).append((i, j))
        found.setdefault(j, []).append((i, j))
    return {variable: frozenset(edges) for variable, edges in found.items()}


def middle_test(
    fits: Sequence[Solution], rows: Sequence[FittedRows], pair: Ints, most_rows: int
) -> Findings:
    """Return the middle one of the score, the Wald and the likelihood ratio test of a pair.

    Shapes: pair (1, 2) int64.
    """
    without, included = fits
    if any(len(scarce(own, pair)) for own in rows):  # what `tilted` says needs no fit of the edge
        return _without(rows[0], pair)
    score = examine_pairs(rows[0], without.point, pair)
    place = find_edges(included.point.potentials.layout, pair)
    wald = EdgeTests.of(rows[1], chosen=place).findings(most_rows)
    gain = 2.0 * rows[0].sample.total_weight * (without.objective - included.objective)
    ratio = _ratio_test(wald, max(0.0, gain), _pooled_away(rows[0], pair[0]))
    return sorted((score, wald, ratio), key=lambda test: float(test.log_p[0]))[1]


def _without(rows: FittedRows, pair: Ints) -> Findings:
    """Return the test of a pair about which few rows tell."""
    i, j = pair[0].tolist()
    statistic, degrees = np.array([tilted(rows, (i, j))], dtype=np.float64).T
    return Findings(pair, statistic, degrees, log_tail(statistic, degrees), statistic)


def _ratio_test(wald: Findings, gain: float, more: int) -> Findings:
    """Return the likelihood ratio test, scaled like the Wald statistic of the same pair.

    Tests pool rare states, the fits do not: ``more`` parameters make a difference to the gain.
    """
    scale = float(wald.rises[0] / wald.statistics[0]) if wald.statistics[0] > 0.0 else 1.0
    statistics, degrees = np.array([gain / scale]), wald.degrees + more
    log_p: Floats = log_tail(statistics, degrees)
    return Findings(wald.pairs, statistics, degrees, log_p, np.array([gain]))


def _pooled_away(rows: FittedRows, pair: Ints) -> int:
    """Return how many parameters of a pair's table its tests do not tell apart."""
    whole = free_sides(rows.sample, pair, rows.contrasts.curved)
    return int(whole.prod() - rows.contrasts.sides(pair[None]).prod())
