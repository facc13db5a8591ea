"""Best-choice selection: a prioritised stream of pairs, and a reservoir of the best violators seen.

Memory grows with the pairs drawn, never with the square of the variables. The stream that is used
by default, of all pairs at a variable at once, is in ``stars.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graftwork.grafting.kept import ALPHA, Kept
from graftwork.grafting.selectors import Choice, Selection, View, survey
from graftwork.grafting.spaces import PairSpace, Space, pairs_only
from graftwork.grafting.stars import StarSearch
from graftwork.grafting.stream import PairStream, hubs_of
from graftwork.inference.layout import Floats, Ints
from graftwork.parameters import number, whole_number

HUB_RULES = ("once", "always")

# With nothing found, batches double up to this size: the point stays the same, so scoring ahead
# changes nothing but the number of calls.
LARGEST_BATCH = 16384
# Where a round's number of tests is given, all pairs are looked at together once this part of them
# was tested in vain.
PATIENCE = 8


@dataclass(frozen=True, slots=True)
class Reservoir:
    """Draw some pairs per round, keep the best violators, activate those that stand out.

    With ``size``, ``tests``, ``alpha``, ``hubs`` or ``hub_threshold`` given it is the published
    algorithm, which draws pairs one by one. With none of them a round draws all pairs at some
    variables wherever these can be scored together, which costs far less (see ``StarSearch``): not
    under a likelihood, nor with a limit on tests.

    References
    ----------
    Chaabene and Huang, Best-choice edge grafting, section III and Algorithms 2 to 4.
    """

    size: int | None = None
    tests: int | None = None
    alpha: float | None = None
    structure: bool = True
    hubs_from: int = 15
    fill: bool = True
    hubs: str | None = None
    hub_threshold: float | None = None
    needs_pairs = True

    def __post_init__(self) -> None:
        for name, share in (("alpha", self.alpha), ("hub_threshold", self.hub_threshold)):
            if share is not None:
                number(name, share, 0.0, most=1.0)
        if not (self.hubs is None or self.hubs in HUB_RULES):
            raise ValueError(f"hubs must be {' or '.join(HUB_RULES)}, got {self.hubs!r}")
        if not self.structure and (self.hubs, self.hub_threshold) != (None, None):
            raise ValueError("hubs and hub_threshold go with structure=True")
        for name, value in (("reservoir", self.size), ("tests", self.tests)):
            if value is not None:
                whole_number(name, value, 1)

    def begin(self, space: Space, active: Ints, rng: np.random.Generator) -> Selection:
        """Return a fresh selection with an empty reservoir."""
        by_pairs = _PairSearch(self, pairs_only(space, "a reservoir"), active, rng)
        published = (self.size, self.tests, self.alpha, self.hubs, self.hub_threshold)
        given = any(value is not None for value in published)
        return by_pairs if given else _AnySearch(self, by_pairs, rng)

    def kept(self, space: PairSpace) -> Kept:
        """Return the empty reservoir."""
        alpha = ALPHA if self.alpha is None else self.alpha
        return Kept(space, self.size or max(len(space.variables), 1), alpha)


class _AnySearch:
    """Draws stars where all pairs at a variable can be scored at once, or else pairs."""

    def __init__(
        self, settings: Reservoir, by_pairs: _PairSearch, rng: np.random.Generator
    ) -> None:
        self._settings, self._space, self._rng = settings, by_pairs.space, rng
        self._search: Selection = by_pairs
        self._begun = False

    def choose(self, view: View) -> Choice:
        """Return the pairs that stand out among the violators seen."""
        if not self._begun and view.stars is not None:
            hubs_from = self._settings.hubs_from if self._settings.structure else None
            self._search = StarSearch(self._space, hubs_from, self._rng)
        self._begun = True
        return self._search.choose(view)

    def release(self, keys: Ints) -> None:
        """Take note that these pairs are inactive again."""
        self._search.release(keys)


class _PairSearch:
    """The search's memory: the stream, the reservoir, and how much was seen at this point."""

    def __init__(
        self, settings: Reservoir, space: PairSpace, active: Ints, rng: np.random.Generator
    ) -> None:
        n = len(space.variables)
        self._settings = settings
        self.space = space
        self._tests = settings.tests or max(1, math.ceil(math.sqrt(n)))
        self._stream = PairStream(space, active, rng)
        self._kept = settings.kept(space)
        self._unfilled = settings.fill
        self._batch = min(LARGEST_BATCH, space.batch)
        self._most, self._fill_limit = min(n, self._batch), 10 * n
        self._patience = 0 if settings.tests is None else space.size // PATIENCE
        self._worst = 0.0

    def choose(self, view: View) -> Choice:
        """Return the pairs that stand out among the violators seen."""
        self._rescore(view)
        if self._settings.structure and len(view.active) >= self._settings.hubs_from:
            self._prefer_hubs(view)
        if self._unfilled:
            self._fill(view)
        else:
            self._draw(view)
        batch, bounded = self._tests, view.screen is not None
        while not len(self._kept.keys) and not view.halted():
            if bounded and self._stream.n_tested >= self._patience:
                bounded = False  # bounds, or one pass, say whether anything violates
                seen = survey(self.space, view)
                if seen.complete and not len(seen.keys):
                    return Choice(seen.keys, seen.worst, seen.tested, complete=True)
            batch = min(2 * batch, self._batch)
            if not self._test_until_found(view, batch):
                break  # nothing left to draw: every inactive pair was seen at this point
        tested = self._stream.n_tested + len(self._kept.keys)
        complete = tested >= self.space.size - len(view.active)
        chosen = self._kept.take(view.most)
        return Choice(chosen, self._worst, tested, complete)

    def release(self, keys: Ints) -> None:
        """Take deactivated pairs back into the stream, behind the others."""
        self._stream.freeze(keys, np.ones(len(keys)), tested=False)

    def _prefer_hubs(self, view: View) -> None:
        """Move the pairs at hubs of the network so far one step to the front of the stream."""
        hubs = hubs_of(self.space.variables, view.degrees, self._settings.hub_threshold)
        if self._settings.hubs != "always":
            hubs = hubs[self._stream.hub_counts[hubs] == 0]
        self._stream.prefer_hubs(hubs)

    def _rescore(self, view: View) -> None:
        """Score the reservoir at the new point; what no longer violates is frozen."""
        self._stream.new_point()
        self._worst = 0.0
        keys = self._kept.leave()
        self._admit(view, keys, view.score(keys))

    def _fill(self, view: View) -> None:
        drawn = 0
        while (
            len(self._kept.keys) < self._kept.size
            and drawn < self._fill_limit
            and not view.halted()
        ):
            count = min(
                max(self._kept.size - len(self._kept.keys), self._tests), self._fill_limit - drawn
            )
            keys, _ = self._test(view, min(count, self._batch))
            if not len(keys):
                break
            drawn += len(keys)
        self._unfilled = False

    def _draw(self, view: View) -> None:
        """Test a round's pairs: as many as asked for or, by default, until enough violate."""
        if self._settings.tests is not None:
            self._test(view, self._tests)
            return
        tested, violators, count = 0, 0, self._tests
        while tested < self._most and violators < self._tests and not view.halted():
            keys, scores = self._test(view, min(count, self._most - tested))
            if not len(keys):
                return
            tested += len(keys)
            violators += int((scores > view.threshold).sum())
            count = tested  # twice as many in all

    def _test(self, view: View, count: int) -> tuple[Ints, Floats]:
        """Draw and score up to ``count`` pairs as one batch; return them with their scores."""
        keys = self._stream.draw(count)
        scores = view.score(keys)
        self._admit(view, keys, scores)
        return keys, scores

    def _test_until_found(self, view: View, batch: int) -> bool:
        """Score a batch ahead, but use it only up to the round in which a violator turns up."""
        keys = self._stream.peek(batch)
        if not len(keys):
            return False
        scores = view.score(keys)
        hits = np.flatnonzero(scores > view.threshold)
        rounds = (int(hits[0]) // self._tests + 1) if len(hits) else len(keys)
        used = min(len(keys), rounds * self._tests)
        self._stream.draw(used)
        self._admit(view, keys[:used], scores[:used])
        return True

    def _admit(self, view: View, keys: Ints, scores: Floats) -> None:
        """Put violators into the reservoir, the best first; everything else is frozen."""
        self._worst = max(self._worst, scores.max(initial=0.0))
        left, scores = self._kept.admit(keys, scores, view.threshold)
        offsets = 1.0 - scores / view.lam if view.lam > 0 else -scores
        self._stream.freeze(left, offsets, tested=True)
