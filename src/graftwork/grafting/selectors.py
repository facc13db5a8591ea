"""How blocks are chosen: what a selector sees and answers; those that look at every block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from graftwork.errors import TooLargeError
from graftwork.grafting.certificate import Stop
from graftwork.grafting.chow_liu import table_information
from graftwork.grafting.family import ModelFamily
from graftwork.grafting.networks import NetworkFamily, distinct_pairs
from graftwork.grafting.screen import Screen, Stars, Sweep
from graftwork.grafting.spaces import PairSpace, Space, TableSpace
from graftwork.inference.layout import Floats, Ints
from graftwork.parameters import whole_number
from graftwork.penalties.protocol import Penalty

# A solver keeps some twenty vectors of this length.
MOST_ENTRIES = 2**25


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The network at one point, as far as a selector may look."""

    # scores of an array of keys at this point; the batch is scored at once
    score: Callable[[Ints], Floats]
    lam: float  # A block whose score exceeds lam violates the optimality conditions
    # the same plus the accuracy the point was solved to: only a larger score counts as violation
    threshold: float
    active: Ints  # (m,): keys of the active blocks
    degrees: Ints  # (n,): number of active edges of each variable
    most: int  # most blocks that may be activated now
    halted: Callable[[], bool]  # true when a budget ran out: stop looking
    point: Any  # the loss at this point, for scorers that look deeper than the gradient
    penalty: Penalty  # what weighs on blocks
    family: ModelFamily  # what blocks are, for scorers that look at more than numbers
    # what is known of all scores from earlier points, where that says something
    screen: Screen | None = None
    sweep: Callable[[], Sweep | None] = lambda: None  # the scores of all pairs at once
    # what violates among the pairs that have one of the first so many of some variables, scored at
    # once
    stars: Callable[[Ints, int], Stars | None] | None = None
    # whether all pairs at many variables cost hardly more than those at a few
    in_tiles: bool = False
    # whether all pairs are scored anew sooner than bounds of their scores are kept
    anew: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What a selector found."""

    keys: Ints  # (k,): blocks to activate; none when nothing violates (or the search was cut short)
    worst: float  # largest score seen at this point
    tested: int  # how many different inactive blocks were scored at this point
    complete: bool  # whether that was every inactive block
    # why a search that is not complete will not go on: one of ``certificate.STOPS``
    stop: Stop | None = None


class Selection(Protocol):
    """A selector at work: it may remember what it saw."""

    def choose(self, view: View) -> Choice:
        """Return the blocks to activate at this point."""
        ...

    def release(self, keys: Ints) -> None:
        """Take note that these blocks are inactive again."""
        ...


class Memoryless:
    """A selection that looks at every block again, so that it need not know which ones left."""

    def release(self, keys: Ints) -> None:
        """Do nothing."""


class Selector(Protocol):
    """Configuration of a way to choose blocks."""

    def begin(self, space: Space, active: Ints, rng: np.random.Generator) -> Selection:
        """Return a fresh selection over a space in which some blocks are already active."""
        ...


class Scorer(Protocol):
    """Ranks violators; the highest is activated first."""

    def rank(self, space: Space, view: View, keys: Ints, scores: Floats) -> Floats:
        """Return a number for each of these violators, given their scores."""
        ...


@dataclass(frozen=True, slots=True)
class Violation:
    """By how much a block violates: the gradient, as in grafting."""

    def rank(self, space: Space, view: View, keys: Ints, scores: Floats) -> Floats:
        """Return the scores."""
        return scores


@dataclass(frozen=True, slots=True)
class Gain:
    """By how much the objective would fall if the block alone were optimised.

    For a single cell under the likelihood that is a closed form (a few Newton steps with l2); for
    a table a small problem is solved. Under the pseudo-likelihood both are lower bounds of the
    gain, exact where the conditionals are the same in every row (at the empty network).

    References
    ----------
    Della Pietra, Della Pietra and Lafferty (1997), Inducing features of random fields; Lee,
    Ganapathi and Koller (2006), with the L1 term.
    """

    def rank(self, space: Space, view: View, keys: Ints, scores: Floats) -> Floats:
        """Return the gains."""
        return view.family.gains(space, view.point, view.penalty, keys)


@dataclass(frozen=True, slots=True)
class MutualInformation:
    """The mutual information of the block's two variables in the data: the similarity baseline.

    It is the same at every point. Cells of one table are told apart by their violation.

    References
    ----------
    Lee, Ganapathi and Koller (2006), the baseline "simple".
    """

    needs_pairs = True

    def rank(self, space: Any, view: View, keys: Ints, scores: Floats) -> Floats:
        """Return the mutual information, in nats."""
        if not isinstance(view.family, NetworkFamily):
            raise ValueError("mutual information is of pairs of variables: features have none")
        sample = view.family.sample
        pairs, which = distinct_pairs(space.pairs(keys), len(sample.cards))
        counts, starts = sample.counts.tables(pairs)
        return table_information(sample, pairs, counts, starts)[which]


class Survey(NamedTuple):
    """What a look at every inactive block found."""

    keys: Ints  # (k,): blocks that score above the view's threshold, ascending
    scores: Floats  # (k,)
    # the largest score; of blocks that cannot violate, none may be among those compared
    worst: float
    tested: int  # how many inactive blocks were looked at, or cannot violate
    complete: bool  # whether that was every one


def survey(space: Space, view: View) -> Survey:
    """Return the violators among all inactive blocks."""
    screen, n_inactive = view.screen, space.size - len(view.active)
    if view.anew and view.stars is not None and isinstance(space, PairSpace):
        return _look_anew(space, view, view.stars, n_inactive)
    if screen is None:
        return _look(view, _score(space, view, _inactive(space, view)), 0)
    doubtful = screen.doubtful(view.point, view.lam)
    if doubtful is not None:
        keys = doubtful[~np.isin(doubtful, view.active)]
        return _look(view, _score(space, view, keys), n_inactive - len(keys))
    sweep = view.sweep()
    if sweep is not None:
        sweep.scores[view.active] = np.inf
        screen.renew(view.point, sweep.scores)
        away = ~np.isin(sweep.above, view.active)
        order = np.argsort(sweep.above[away])
        keys, scores = sweep.above[away][order], sweep.largest[away][order]
        violating = scores > view.threshold
        worst = float(scores.max(initial=0.0))
        return Survey(keys[violating], scores[violating], worst, n_inactive, complete=True)
    known = np.full(space.size, np.inf)
    found = _look(view, _score(space, view, _inactive(space, view)), 0, known)
    if found.complete:
        screen.renew(view.point, known)
    return found


def _look_anew(
    space: PairSpace, view: View, stars: Callable[[Ints, int], Stars | None], n_inactive: int
) -> Survey:
    """Return the violators among all pairs, scored together."""
    found = stars(space.variables, len(space.variables))
    if found is None:
        return Survey(np.zeros(0, dtype=np.int64), np.zeros(0), 0.0, 0, complete=False)
    order = np.argsort(found.keys)
    keys, scores = found.keys[order], found.scores[order]
    violating, worst = scores > view.threshold, float(scores.max(initial=0.0))
    return Survey(keys[violating], scores[violating], worst, n_inactive, complete=True)


def _inactive(space: Space, view: View) -> Ints:
    inactive = np.ones(space.size, dtype=bool)
    inactive[view.active] = False
    return np.flatnonzero(inactive)


def _score(space: Space, view: View, keys: Ints) -> Iterator[tuple[Ints, Floats] | None]:
    """Yield blocks with their scores, batch by batch; None when the view is halted."""
    for start in range(0, len(keys), space.batch):
        if view.halted():
            yield None
            return
        some = keys[start : start + space.batch]
        yield some, view.score(some)


def _look(
    view: View,
    batches: Iterator[tuple[Ints, Floats] | None],
    tested: int,
    known: Floats | None = None,
) -> Survey:
    """Return the violators among blocks that are scored; all scores go into ``known``."""
    keys, found, worst = [np.zeros(0, dtype=np.int64)], [np.zeros(0)], 0.0
    complete = True
    for batch in batches:
        if batch is None:
            complete = False
            break
        some, scores = batch
        if known is not None:
            known[some] = scores
        violating = scores > view.threshold
        keys.append(some[violating])
        found.append(scores[violating])
        worst, tested = max(worst, scores.max(initial=0.0)), tested + len(some)
    return Survey(np.concatenate(keys), np.concatenate(found), worst, tested, complete)


@dataclass(frozen=True, slots=True)
class Exhaustive:
    """Score all inactive blocks at every point and activate the best violators.

    References
    ----------
    Perkins, Lacker and Theiler (2003), Grafting. Chaabene and Huang, Best-choice edge grafting,
    Algorithm 1.
    """

    count: int | None = 1
    scorer: Scorer = field(default_factory=Violation)

    def __post_init__(self) -> None:
        if self.count is not None:
            whole_number("count", self.count, 1)

    def begin(self, space: Space, active: Ints, rng: np.random.Generator) -> _ExhaustiveSearch:
        """Return a fresh selection; it remembers nothing between points."""
        return _ExhaustiveSearch(self, space)


class _ExhaustiveSearch(Memoryless):
    def __init__(self, settings: Exhaustive, space: Space) -> None:
        self._settings, self._space = settings, space

    def choose(self, view: View) -> Choice:
        """Return the best violators of all."""
        seen, settings = survey(self._space, view), self._settings
        count = self._space.size if settings.count is None else settings.count
        best, ranks, scores = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
        for start in range(0, len(seen.keys), self._space.batch):
            part = slice(start, start + self._space.batch)
            keys, found = seen.keys[part], seen.scores[part]
            best, scores = np.concatenate([best, keys]), np.concatenate([scores, found])
            ranks = np.concatenate([ranks, settings.scorer.rank(self._space, view, keys, found)])
            order = np.lexsort((-scores, -ranks))[: min(count, view.most)]
            best, ranks, scores = best[order], ranks[order], scores[order]
        return Choice(best, seen.worst, seen.tested, seen.complete)


@dataclass(frozen=True, slots=True)
class Everything:
    """Activate every block at the first point; later all violators.

    Where a budget leaves no room for everything, only violators are activated.
    """

    def begin(self, space: Space, active: Ints, rng: np.random.Generator) -> _EverythingSearch:
        """Return a fresh selection."""
        return _EverythingSearch(space, Exhaustive(None).begin(space, active, rng))


class _EverythingSearch(Memoryless):
    def __init__(self, space: Space, later: Selection) -> None:
        self._space, self._later, self._first = space, later, True

    def choose(self, view: View) -> Choice:
        """Return everything, the first time."""
        first, self._first = self._first, False
        if not first or self._space.size - len(view.active) > view.most:
            return self._later.choose(view)
        entries = view.family.count_entries(self._space)
        if entries > MOST_ENTRIES:
            raise TooLargeError(
                f"full optimisation holds all {entries:,} weights at once, which is too many; use "
                'method="best-choice" (networks) or "grafting-light" (chains), which start with '
                "none, and a penalty that leaves most of them out, or max_edges."
            )
        keys = np.setdiff1d(np.arange(self._space.size), view.active, assume_unique=True)
        return Choice(keys, view.lam, 0, complete=not len(keys))


@dataclass(frozen=True, slots=True)
class GivenEdges:
    """Activate nothing: the weights of the edges there are get fitted, and no pair is looked at."""

    needs_pairs = True

    def begin(self, space: Space, active: Ints, rng: np.random.Generator) -> _NoSearch:
        """Return a selection that never adds."""
        return _NoSearch(space)


class _NoSearch(Memoryless):
    def __init__(self, space: Space) -> None:
        self._space = space

    def choose(self, view: View) -> Choice:
        """Return nothing, and that nothing was looked at."""
        complete = len(view.active) == self._space.size
        worst = 0.0 if complete else float("nan")
        return Choice(np.zeros(0, dtype=np.int64), worst, 0, complete, stop="given")


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """Activate the best violators of every variable at once; the quickest way to the optimum.

    A violator is taken if it is among the best of one of its two variables: a hub gets an edge from
    each of many others in the same round, while no variable brings in more than a few of its own.
    """

    per_variable: int = 2
    needs_pairs = True

    def __post_init__(self) -> None:
        whole_number("per_variable", self.per_variable, 1)

    def begin(self, space: Any, active: Ints, rng: np.random.Generator) -> _WorkingSetSearch:
        """Return a fresh selection."""
        return _WorkingSetSearch(self, space)


class _WorkingSetSearch(Memoryless):
    def __init__(self, settings: WorkingSet, space: TableSpace) -> None:
        self._settings = settings
        self._space = space

    def choose(self, view: View) -> Choice:
        """Return violators from a full pass."""
        seen = survey(self._space, view)
        if not seen.complete:  # cut short
            return Choice(np.zeros(0, dtype=np.int64), seen.worst, seen.tested, complete=False)
        picked = self._pick(view, seen.keys, seen.scores)
        return Choice(picked, seen.worst, seen.tested, complete=True)

    def _pick(self, view: View, keys: Ints, scores: Floats) -> Ints:
        """Return violators in falling order of score, a few for each variable."""
        order = np.argsort(-scores, kind="stable")
        used: dict[int, int] = {}
        taken: list[int] = []
        for place, pair in zip(
            order.tolist(), self._space.pairs(keys[order]).tolist(), strict=True
        ):
            wanted = any(used.get(v, 0) < self._settings.per_variable for v in pair)
            if wanted and len(taken) < view.most:
                taken.append(place)
                for v in pair:
                    used[v] = used.get(v, 0) + 1
        return keys[taken]
