"""One contract for every selector, on made-up scores."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from graftwork.grafting import Exhaustive, PairSpace, PriorityQueue, Reservoir, View, WorkingSet

from doors.grafting import Stars


@dataclass(frozen=True)
class ByStars:
    """A reservoir that can have all pairs at a variable scored at once."""

    settings: Reservoir

    def begin(self, space, active, rng):
        return StarsSelection(space, self.settings.begin(space, active, rng))


class StarsSelection:
    def __init__(self, space, inner):
        self.space, self.inner, self.release = space, inner, inner.release

    def choose(self, view):
        def stars(variables, leading):
            if view.halted():
                return None
            keys = np.concatenate(self.space.keys_of_stars(variables, leading))
            keys = keys[~np.isin(keys, view.active)]
            return Stars(keys, view.score(keys), len(keys))

        return self.inner.choose(replace(view, stars=stars))


SELECTORS = {
    "exhaustive": Exhaustive(),
    "exhaustive-5": Exhaustive(5),
    "working-set": WorkingSet(),
    "best-choice": Reservoir(),
    "best-choice-stars": ByStars(Reservoir()),
    "best-choice-stars-flat": ByStars(Reservoir(structure=False)),
    "best-choice-0": Reservoir(alpha=0.0),
    "best-choice-1-flat": Reservoir(alpha=1.0, structure=False),
    "first-hit": Reservoir(1, 1, 1.0, False, fill=False),
    "tiny": Reservoir(2, 3),
    "priority": PriorityQueue(),
    "priority-eager": PriorityQueue(1, 0.0),
    "violators": Exhaustive(None),
}


def look_at(score, lam, active, degrees, most=10**9, halted=lambda: False):
    """A view of made-up scores; nothing behind them."""
    return View(score, lam, lam, active, degrees, most, halted, None, None, None)


def play(selector, scores, lam=1.0, most=10**9, seed=0, halt_after=None):
    """Activate what is chosen until nothing is; scores do not change. Returns all that happened."""
    n = int((1 + np.sqrt(1 + 8 * len(scores))) / 2)
    space = PairSpace(np.arange(n))
    selection = selector.begin(space, np.zeros(0, dtype=np.int64), np.random.default_rng(seed))
    active, rounds, asked = np.zeros(0, dtype=np.int64), [], []

    def score(keys):
        asked.extend(keys.tolist())
        return scores[keys]

    while True:
        pairs = space.pairs(active)
        view = look_at(
            score, lam, active, np.bincount(pairs.ravel(), minlength=n), most - len(active),
            lambda: halt_after is not None and len(asked) >= halt_after,
        )  # fmt: skip
        choice = selection.choose(view)
        rounds.append(choice)
        if not len(choice.keys) or len(active) + len(choice.keys) == most:
            active = np.concatenate([active, choice.keys])
            return active, rounds, asked
        active = np.concatenate([active, choice.keys])


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("seed", range(4))
def test_activates_exactly_the_violators_and_then_certifies(name, seed):
    scores = np.random.default_rng(seed).exponential(0.5, 19 * 10)
    active, rounds, _ = play(SELECTORS[name], scores, seed=seed)
    assert sorted(active.tolist()) == np.flatnonzero(scores > 1.0).tolist()
    assert len(set(active.tolist())) == len(active)
    last = rounds[-1]
    assert last.complete
    assert last.tested == len(scores) - len(active)
    assert last.worst == scores[scores <= 1.0].max()


@pytest.mark.parametrize("name", SELECTORS)
def test_the_same_seed_gives_the_same_choices(name):
    scores = np.random.default_rng(1).exponential(0.5, 190)
    first, _, asked = play(SELECTORS[name], scores, seed=3)
    again, _, asked_again = play(SELECTORS[name], scores, seed=3)
    assert first.tolist() == again.tolist()
    assert asked == asked_again


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_tiny_spaces(name, n):
    size = n * (n - 1) // 2
    active, rounds, _ = play_of_size(SELECTORS[name], n, np.full(size, 2.0))
    assert len(active) == size
    assert rounds[-1].complete


def play_of_size(selector, n, scores):
    space = PairSpace(np.arange(n))
    selection = selector.begin(space, np.zeros(0, dtype=np.int64), np.random.default_rng(0))
    active, rounds = np.zeros(0, dtype=np.int64), []
    while True:
        degrees = np.bincount(space.pairs(active).ravel(), minlength=n)
        view = look_at(lambda k: scores[k], 1.0, active, degrees)
        rounds.append(selection.choose(view))
        if not len(rounds[-1].keys):
            return active, rounds, None
        active = np.concatenate([active, rounds[-1].keys])


@pytest.mark.parametrize("name", SELECTORS)
def test_no_more_than_asked_for(name):
    scores = np.full(190, 2.0)
    n_active, _, _ = play(SELECTORS[name], scores, most=7)
    assert len(n_active) == 7


@pytest.mark.parametrize("name", SELECTORS)
def test_a_halted_search_says_so(name):
    scores = np.zeros(400 * 399 // 2)
    _, rounds, asked = play(SELECTORS[name], scores, halt_after=1)
    assert 0 < len(asked) < len(scores)
    assert not rounds[-1].complete


@pytest.mark.parametrize("name", SELECTORS)
def test_released_pairs_are_found_again(name):
    space = PairSpace(np.arange(5))
    scores = np.zeros(10)
    scores[4] = 2.0
    selection = SELECTORS[name].begin(space, np.array([], dtype=np.int64), np.random.default_rng(0))

    def look(active):
        degrees = np.bincount(space.pairs(active).ravel(), minlength=5)
        view = look_at(lambda k: scores[k], 1.0, active, degrees)
        return selection.choose(view)

    assert look(np.array([], dtype=np.int64)).keys.tolist() == [4]
    selection.release(np.array([4]))
    assert look(np.array([], dtype=np.int64)).keys.tolist() == [4]
    final = look(np.array([4]))
    assert len(final.keys) == 0
    assert final.complete


def test_exhaustive_takes_the_worst():
    scores = np.random.default_rng(2).exponential(0.5, 190)
    active, rounds, _ = play(Exhaustive(), scores)
    assert [r.keys.tolist() for r in rounds[:3]] == [[k] for k in np.argsort(-scores)[:3]]
    assert np.all(np.diff(scores[active]) <= 0)


def test_first_hit_takes_the_first_it_meets():
    scores = np.random.default_rng(3).exponential(0.5, 190)
    space = PairSpace(np.arange(20))
    selection = SELECTORS["first-hit"].begin(space, np.zeros(0, np.int64), np.random.default_rng(5))
    order = SELECTORS["first-hit"].begin(space, np.zeros(0, np.int64), np.random.default_rng(5))
    stream = order._stream.draw(190)
    none = np.zeros(0, np.int64)
    view = look_at(lambda k: scores[k], 1.0, none, np.zeros(20, np.int64), 99)
    chosen = selection.choose(view).keys
    assert chosen.tolist() == [next(k for k in stream if scores[k] > 1.0)]


def test_one_round_activates_no_two_edges_at_a_variable_and_respects_tau():
    scores = np.random.default_rng(4).uniform(1.1, 3.0, 190)
    for alpha in (0.0, 0.5, 1.0):
        _, rounds, _ = play(Reservoir(alpha=alpha, size=50, tests=50, structure=False), scores)
        first = rounds[0].keys
        nodes = PairSpace(np.arange(20)).pairs(first).ravel()
        assert len(set(nodes.tolist())) == len(nodes)
        if alpha == 1.0:
            assert len(first) == 1
        else:
            assert len(first) > 1


def test_by_default_hubs_get_many_edges_a_round_and_most_pairs_wait_at_first():
    space = PairSpace(np.arange(80))
    scores = np.full(space.size, 0.1)
    scores[space.keys_at(7, np.arange(79))] = np.linspace(2.0, 3.0, 79)
    _, rounds, asked = play(ByStars(Reservoir()), scores)
    assert len(rounds[0].keys)
    assert rounds[0].tested < 0.25 * space.size
    assert max(len(each.keys) for each in rounds) > 20
    assert len(rounds) < 16
    assert set(asked) == set(range(space.size))
    _, published, _ = play(ByStars(Reservoir(alpha=0.5)), scores)
    assert len(published) == 80  # one edge of the hub a round, and a look at the end


def test_a_limit_on_edges_keeps_to_those_that_stand_out():
    """Also when all pairs were drawn: what is taken early is what there will be."""
    scores = np.random.default_rng(5).uniform(1.1, 3.0, 190)
    _, free, _ = play(ByStars(Reservoir()), scores)
    _, limited, _ = play(ByStars(Reservoir()), scores, most=150)
    assert max(len(each.keys) for each in limited) < max(len(each.keys) for each in free)


def test_the_reservoir_keeps_the_best_it_saw():
    """With size 3 and everything drawn in the first fill, the best three are found first."""
    scores = np.random.default_rng(6).uniform(1.5, 3.0, 190)
    settings = Reservoir(size=3, tests=190, alpha=1.0, structure=False, fill=False)
    active, _, _ = play(settings, scores)
    assert active[:3].tolist() == np.argsort(-scores)[:3].tolist()


def test_hubs_are_looked_at_first():
    """A star: with the heuristic, its edges are found with far fewer tests."""
    n = 200
    space = PairSpace(np.arange(n))
    scores = np.full(space.size, 0.1)
    scores[space.keys_at(7, np.arange(n - 1))] = 2.0

    def tests_until(structure):
        settings = Reservoir(tests=3, structure=structure, fill=False)
        _, _, asked = play(settings, scores, most=150)
        return len(set(asked))

    assert tests_until(True) < 0.5 * tests_until(False)


def test_memory_grows_with_draws_not_with_pairs():
    """A hundred thousand variables: a few rounds hold a few thousand pairs."""
    space = PairSpace(np.arange(100_000))
    settings = Reservoir(size=50, tests=20, hubs_from=1)
    selection = settings.begin(space, np.zeros(0, np.int64), np.random.default_rng(0))
    active = np.zeros(0, np.int64)
    for _ in range(5):
        degrees = np.bincount(space.pairs(active).ravel(), minlength=100_000)
        view = look_at(lambda keys: (keys % 7 == 0) * 2.0, 1.0, active, degrees)
        active = np.concatenate([active, selection.choose(view).keys])
    stream = selection._stream
    assert stream._frozen.size + stream._frozen_here.size < 20_000
    assert len(stream._listed) < 20_000


@pytest.mark.parametrize("bad", [{"alpha": 1.5}, {"alpha": -0.1}, {"size": 0}, {"tests": 0}])
def test_bad_settings_are_refused(bad):
    with pytest.raises(ValueError, match=r"alpha|at least 1"):
        Reservoir(**bad)
