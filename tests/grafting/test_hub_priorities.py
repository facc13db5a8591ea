"""Algorithm 2 of the best-choice paper, in plain Python, beside the stream of pairs."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from graftwork.grafting import PairSpace, Reservoir, View

from doors.grafting import PairStream, hubs_of

THRESHOLDS = [None, 0.0, 0.1, 0.25, 0.4, 1.0]


class Priorities:
    """The paper's priority queue with an entry for every pair, and its container of frozen pairs.

    In two things it does as we do, not as the paper: frozen pairs move with their hubs, too, and a
    refill leaves those frozen that were tested in this round.
    """

    def __init__(self, n, active):
        self.n = n
        self.queue = {pair: 0 for pair in combinations(range(n), 2) if pair not in active}
        self.frozen, self.tested = {}, {}
        self.were_hubs = set()

    def reorganize(self, degrees, rule, threshold):
        """Algorithm 2; by the rule "once" only with those that were never hubs before."""
        central = [Fraction(int(degree), self.n - 1) for degree in degrees]
        bound = sum(central) / self.n if threshold is None else Fraction(str(threshold))
        hubs = {i for i in range(self.n) if central[i] > bound}
        for h in hubs - self.were_hubs if rule == "once" else hubs:
            for other in range(self.n):
                pair = (min(h, other), max(h, other))
                for entries in (self.queue, self.frozen, self.tested):
                    if pair in entries:
                        entries[pair] -= 1
        self.were_hubs |= hubs

    def begin_round(self):
        self.frozen |= self.tested
        self.tested = {}

    def get(self, pair):
        """Take out a pair that must have the highest priority, the lowest number."""
        if not self.queue:
            self.queue, self.frozen = self.frozen, {}
        assert self.queue[pair] <= min(self.queue.values()) + 1e-9
        return self.queue.pop(pair)

    def left(self):
        return len(self.queue) + len(self.frozen)


def look_at(score, active, degrees):
    """A view of made-up scores, of which those above 1 violate; nothing behind them."""
    return View(score, 1.0, 1.0, active, degrees, 10**9, lambda: False, None, None, None)


def as_tuples(space, keys):
    return [tuple(pair) for pair in space.pairs(keys).tolist()]


def new_hubs(stream, hubs, rule):
    return hubs if rule == "always" else hubs[stream.hub_counts[hubs] == 0]


@pytest.mark.parametrize("rule", ["once", "always"])
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_every_pair_drawn_has_the_least_priority(rule, threshold):
    """Random degrees, random pairs set aside with random offsets; every pair comes in its turn."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 14))
        space = PairSpace(np.arange(n))
        active = rng.choice(space.size, space.size // 5, replace=False)
        stream = PairStream(space, active, rng)
        paper = Priorities(n, set(as_tuples(space, active)))
        for _ in range(30):
            paper.begin_round()
            stream.new_point()
            degrees = rng.poisson(0.3 * n * rng.random(n)).clip(0, n - 1)
            paper.reorganize(degrees, rule, threshold)
            hubs = hubs_of(space.variables, degrees, threshold)
            stream.prefer_hubs(new_hubs(stream, hubs, rule))
            count, left = int(rng.integers(1, 2 * n)), paper.left()
            ahead = stream.peek(int(rng.integers(1, 2 * n)))
            drawn = stream.draw(count)
            assert ahead[:count].tolist() == drawn[: len(ahead)].tolist()
            assert len(ahead) or not len(drawn)
            assert len(drawn) == min(count, left)
            for pair in as_tuples(space, drawn):
                paper.get(pair)
            offsets = rng.integers(-64, 64, len(drawn)) / 64
            tested = bool(rng.random() < 0.7)
            stream.freeze(drawn, offsets, tested=tested)
            there = paper.tested if tested else paper.frozen
            there |= dict(zip(as_tuples(space, drawn), offsets.tolist(), strict=True))


class Rounds:
    """Algorithm 3 on the pairs that a search tests, round by round: the edges it must activate.

    Ties of priorities are broken at random, so the pairs tested are taken from the search; each
    must be one that the paper's queue could have given. While the reservoir is empty a round goes
    on, by t_max pairs at a time; of those that a call scores ahead, it uses no more.
    """

    def __init__(self, n, size, tests, alpha, rule, threshold):
        self.priorities = Priorities(n, set())
        self.size, self.tests, self.alpha = size, tests, alpha
        self.rule, self.threshold = rule, threshold
        self.reservoir = {}
        self.unfilled = True

    def activate(self, degrees, scores, calls):
        """Return the edges of one round, given all scores and the pairs of each call."""
        queue = self.priorities
        queue.begin_round()
        kept, self.reservoir = self.reservoir, {}
        for pair in kept:
            self.admit(pair, scores[pair])
        if degrees.any():
            queue.reorganize(degrees, self.rule, self.threshold)
        drawn = 0
        while self.unfilled and calls and len(self.reservoir) < self.size:
            drawn += len(calls[0])
            self.test(calls.pop(0), scores)
        assert drawn <= 10 * queue.n
        if not self.unfilled and (left := queue.left()):
            assert len(calls[0]) == min(self.tests, left)
            self.test(calls.pop(0), scores)
        self.unfilled = False
        while not self.reservoir and calls:
            ahead = calls.pop(0)
            while ahead and not self.reservoir:
                self.test(ahead[: self.tests], scores)
                ahead = ahead[self.tests :]
        assert not calls
        return self.stand_out()

    def test(self, pairs, scores):
        for pair in pairs:
            self.priorities.get(pair)
            self.admit(pair, scores[pair])

    def admit(self, pair, score):
        self.reservoir[pair] = score
        if score <= 1.0 or len(self.reservoir) > self.size:
            least = pair if score <= 1.0 else min(self.reservoir, key=self.reservoir.get)
            self.priorities.tested[least] = 1.0 - self.reservoir.pop(least)

    def stand_out(self):
        if not self.reservoir:
            return []
        scores = list(self.reservoir.values())
        tau = (1 - self.alpha) * sum(scores) / len(scores) + self.alpha * max(scores)
        chosen = []
        for pair in sorted(self.reservoir, key=self.reservoir.get, reverse=True):
            alone = not {v for other in chosen for v in other} & set(pair)
            if self.reservoir[pair] >= tau - 1e-12 and alone:
                chosen.append(pair)
        for pair in chosen:
            del self.reservoir[pair]
        return chosen


@pytest.mark.parametrize("rule", ["once", "always"])
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_the_search_is_the_papers(rule, threshold):
    """The same tests in an order that Algorithm 2 allows, and the same edges, until none is left.

    Scores change from round to round; there are fewer violators in each, so that reservoirs are
    full at first, and empty later.
    """
    ahead = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, size, tests = int(rng.integers(5, 16)), int(rng.integers(1, 9)), int(rng.integers(1, 9))
        alpha = float(rng.choice([0.0, 0.5, 1.0]))
        settings = Reservoir(size, tests, alpha, hubs_from=1, hubs=rule, hub_threshold=threshold)
        space = PairSpace(np.arange(n))
        selection = settings.begin(space, np.zeros(0, np.int64), rng)
        paper = Rounds(n, size, tests, alpha, rule, threshold)
        active = np.zeros(0, dtype=np.int64)
        for k in range(200):
            scores = rng.uniform(0.0, 1.0 + 3.0 / (k + 1), space.size)
            scores[rng.random(space.size) < 0.05 * k] *= 0.3
            calls = []

            def score(keys, scores=scores, calls=calls, space=space):
                calls.append(as_tuples(space, keys))
                return scores[keys]

            degrees = np.bincount(space.pairs(active).ravel(), minlength=n)
            choice = selection.choose(look_at(score, active, degrees))
            by_pair = dict(zip(as_tuples(space, np.arange(space.size)), scores, strict=True))
            ahead += len(calls) > 2
            expected = paper.activate(degrees, by_pair, calls[1:])
            assert as_tuples(space, choice.keys) == expected
            if not expected:
                assert choice.complete
                assert not paper.priorities.left()
                break
            active = np.concatenate([active, choice.keys])
        else:
            raise AssertionError("the search did not end")
    assert ahead > 10


def test_a_hub_is_above_the_threshold_not_at_it():
    degrees = np.full(101, 0)
    degrees[[3, 5, 8]] = 29, 30, 28
    assert hubs_of(np.arange(101), degrees, 0.29).tolist() == [5]
    assert hubs_of(np.arange(101), degrees, 0.28).tolist() == [5, 3]
    assert hubs_of(np.arange(101), degrees, 1.0).tolist() == []
    assert hubs_of(np.arange(101), degrees, None).tolist() == [5, 3, 8]
    assert hubs_of(np.arange(4), np.ones(4, dtype=int), None).tolist() == []
    some = np.arange(0, 101, 5)  # 20 others that may be its neighbours
    assert hubs_of(some, degrees, 0.5).tolist() == [5]


def test_once_and_always_differ_where_a_hub_stays_one():
    """A hub of three rounds beside one of the last round: equal by one rule, not by the other."""
    first = {}
    for rule in ("once", "always"):
        space = PairSpace(np.arange(200))
        stream = PairStream(space, np.zeros(0, dtype=np.int64), np.random.default_rng(0))
        for hubs in ([7], [7], [9, 7]):
            stream.prefer_hubs(new_hubs(stream, np.array(hubs), rule))
        first[rule] = as_tuples(space, stream.draw(250))
        assert stream.hub_counts[[7, 9]].tolist() == ([1, 1] if rule == "once" else [3, 1])
        assert first[rule][0] == (7, 9)
    assert sum(7 in pair for pair in first["always"][1:199]) == 198
    assert all(9 in pair for pair in first["always"][199:])


def test_memory_of_a_million_variables_grows_with_draws():
    space = PairSpace(np.arange(1_000_000))
    settings = Reservoir(size=20, tests=30, hubs_from=1, hubs="always", hub_threshold=0.0)
    selection = settings.begin(space, np.zeros(0, np.int64), np.random.default_rng(0))
    active = np.zeros(0, np.int64)
    for _ in range(5):
        degrees = np.bincount(space.pairs(active).ravel(), minlength=1_000_000)
        view = look_at(lambda keys: (keys % 7 == 0) * 2.0, active, degrees)
        active = np.concatenate([active, selection.choose(view).keys])
    stream = selection._stream
    assert stream.hub_counts.max() > 1
    assert stream._frozen.size + stream._frozen_here.size < 1_000
    assert len(stream._listed) < 5_000


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hubs": "twice"}, "hubs must be once or always, got 'twice'"),
        ({"hubs": True}, "hubs must be once or always, got True"),
        ({"hub_threshold": 1.5}, "hub_threshold must be a number from 0 to 1, got 1.5"),
        ({"hub_threshold": -0.1}, "hub_threshold must be a number from 0 to 1, got -0.1"),
        ({"hub_threshold": "mean"}, "hub_threshold must be a number from 0 to 1, got 'mean'"),
        ({"hubs": "always", "structure": False}, "hubs and hub_threshold go with structure=True"),
        ({"hub_threshold": 0.1, "structure": False}, "go with structure=True"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Reservoir(**settings)


@pytest.mark.parametrize("settings", [{"hubs": "once"}, {"hub_threshold": 0.0}])
def test_either_option_selects_the_published_search(settings):
    space = PairSpace(np.arange(5))
    nothing, rng = np.zeros(0, np.int64), np.random.default_rng(0)
    published = type(Reservoir(alpha=0.5).begin(space, nothing, rng))
    assert type(Reservoir(**settings).begin(space, nothing, rng)) is published
    assert type(Reservoir().begin(space, nothing, rng)) is not published
