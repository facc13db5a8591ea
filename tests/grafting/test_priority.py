"""Priority selection on made-up scores: what the network found so far does to the queue."""

import itertools

import numpy as np
import pytest

from graftwork.errors import ParameterError, TooLargeError
from graftwork.grafting import CellSpace, PairSpace, PriorityQueue, View

NONE = np.zeros(0, dtype=np.int64)
# Two stars, 0 with 1, 2, 3 and 4 with 5, 6, 7, and three variables without edges.
N = 11
STARS = [(0, 1), (0, 2), (0, 3), (4, 5), (4, 6), (4, 7)]
THREE_STARS = [*STARS, (8, 9), (8, 10), (1, 8), (2, 8), (3, 8), (5, 8)]
BETWEEN = {(a, b) for a in (1, 2, 3) for b in (5, 6, 7)}
JOINING = (0, 4)


class Queue:
    """A selection over made-up scores that notes what was asked, in order."""

    def __init__(self, settings, edges=STARS, scores=None, variables=None, seed=0):
        self.variables = np.arange(N) if variables is None else np.asarray(variables)
        self.space = PairSpace(self.variables)
        self.edges = [self.named(pair) for pair in edges]
        self.scores = {self.named(pair): score for pair, score in (scores or {}).items()}
        self.selection = settings.begin(self.space, self.active, np.random.default_rng(seed))
        self.asked = []

    def named(self, pair):
        """A pair of ranks as a pair of variables."""
        return tuple(int(v) for v in self.variables[list(pair)])

    def ranks(self, keys):
        return [
            tuple(int(r) for r in np.searchsorted(self.variables, pair))
            for pair in self.space.pairs(keys)
        ]

    @property
    def active(self):
        return self.space.keys(np.array(self.edges)) if self.edges else NONE

    def choose(self, most=10**9, activate=True):
        """One round; returns the choice and the pairs asked for in it."""
        self.asked = []

        def score(keys):
            self.asked += self.ranks(keys)
            pairs = map(tuple, self.space.pairs(keys).tolist())
            return np.array([self.scores.get(pair, 0.0) for pair in pairs])

        degrees = np.bincount(np.ravel(self.edges).astype(int), minlength=self.variables.max() + 1)
        choice = self.selection.choose(
            View(score, 1.0, 1.0, self.active, degrees, most, lambda: False, None, None, None)
        )
        if activate:
            self.edges += [tuple(pair) for pair in self.space.pairs(choice.keys).tolist()]
        return choice, self.asked


def idle_pairs():
    return {(i, j) for i in range(N) for j in range(i + 1, N)} - set(STARS)


EAGER = PriorityQueue(central=2, density=0.0, order="turns", join=True)


@pytest.mark.parametrize("seed", range(3))
def test_an_irrelevant_joining_pair_moves_the_pairs_between_behind_all_others(seed):
    choice, asked = Queue(EAGER, seed=seed).choose()
    assert asked[0] == JOINING
    assert set(asked[-9:]) == BETWEEN
    assert set(asked[1:]) == idle_pairs()
    assert len(asked) == 1 + len(idle_pairs())
    assert choice.complete
    assert choice.tested == len(idle_pairs())


def test_those_moved_keep_their_order_and_so_do_the_others():
    _, asked = Queue(EAGER).choose()
    _, plain = Queue(PriorityQueue(central=99)).choose()
    assert asked[1:] == [p for p in plain if p not in BETWEEN] + [p for p in plain if p in BETWEEN]


def test_a_relevant_joining_pair_is_chosen_at_once_and_moves_nothing():
    queue = Queue(EAGER, scores={JOINING: 2.0})
    choice, asked = queue.choose()
    assert asked == [JOINING]
    assert queue.ranks(choice.keys) == [JOINING]
    assert choice.worst == 2.0
    assert not choice.complete
    last, asked = queue.choose()
    assert asked == [
        pair for pair in Queue(PriorityQueue(central=99)).choose()[1] if pair != JOINING
    ]
    assert last.complete
    assert last.tested == len(idle_pairs()) - 1


def test_pairs_moved_back_are_still_found():
    queue = Queue(EAGER, scores={(2, 6): 3.0})
    choice, asked = queue.choose()
    assert queue.ranks(choice.keys) == [(2, 6)]
    assert (2, 6) in asked[-9:]
    assert choice.worst == 3.0


@pytest.mark.parametrize(
    ("settings", "looks"),
    [
        (PriorityQueue(2, 5 / N**2), True),  # six edges: more than that many
        (PriorityQueue(2, 6 / N**2), False),  # not more
        (PriorityQueue(3, 0.0), False),  # three neighbours are not more than three
        (PriorityQueue(2, 0.0), True),
    ],
)
def test_the_thresholds_of_density_and_of_neighbours_are_respected(settings, looks):
    _, asked = Queue(settings).choose()
    _, plain = Queue(PriorityQueue(central=99)).choose()
    assert (asked != plain) == looks
    assert (set(asked[-9:]) == BETWEEN) == looks


def test_each_joining_pair_is_looked_at_once():
    queue = Queue(EAGER, scores={(8, 9): 2.0, (8, 10): 2.0})
    choice, first = queue.choose()
    assert first[0] == JOINING
    earlier = set(first[1 : 1 + choice.tested])
    for _ in range(2):
        choice, asked = queue.choose()
        assert asked.count(JOINING) <= 1  # in its turn only
        assert asked[0] != JOINING
        if len(choice.keys):
            earlier |= set(asked[: choice.tested])
    waiting = [pair for pair in asked if pair not in earlier]
    assert asked[: len(waiting)] == waiting
    assert set(waiting[-9:]) == BETWEEN  # still behind


def test_the_joining_pair_with_most_pairs_between_comes_first_one_each_round():
    """Inactive pairs between the neighbours: 17 for (4, 8), 12 for (0, 8) and 9 for (0, 4)."""
    queue = Queue(EAGER, THREE_STARS)
    looks = [queue.choose(most=0, activate=False)[1][0] for _ in range(3)]
    assert looks == [(4, 8), (0, 8), (0, 4)]
    assert queue.choose(most=0, activate=False)[1] == []


def test_pairs_moved_twice_come_behind_those_moved_once():
    """1, 2 and 3 are neighbours of both 0 and 8: their pairs with 6 and 7 lie between twice."""
    queue = Queue(EAGER, THREE_STARS)
    for _ in range(3):
        queue.choose(most=0, activate=False)
    _, asked = queue.choose()
    near = {0: {1, 2, 3}, 4: {5, 6, 7}, 8: {1, 2, 3, 5, 9, 10}}
    times = {
        pair: sum(
            (pair[0] in near[i] and pair[1] in near[j])
            or (pair[1] in near[i] and pair[0] in near[j])
            for i, j in ((0, 4), (0, 8), (4, 8))
        )
        for pair in asked
    }
    order = [times[pair] for pair in asked]
    assert order == sorted(order)
    assert set(order) == {0, 1, 2, 3}
    assert (times[5, 9], times[1, 6], times[1, 5]) == (1, 2, 3)


def test_what_was_tested_waits_for_its_next_turn():
    """The queue goes on behind the violator it found: nothing is tested twice in a turn."""
    plain = PriorityQueue(central=99, order="turns")
    _, order = Queue(plain, []).choose()
    hits = [order[7], order[20], order[33]]
    queue = Queue(plain, [], dict.fromkeys(hits, 2.0))
    for number, hit in enumerate(hits):
        choice, asked = queue.choose()
        assert queue.ranks(choice.keys) == [hit]
        begin = 0 if number == 0 else order.index(hits[number - 1]) + 1
        assert asked[: order.index(hit) + 1 - begin] == order[begin : order.index(hit) + 1]
    last, asked = queue.choose()
    assert len(last.keys) == 0
    assert last.complete
    rotated = order[34:] + order[:33]
    assert asked == [pair for pair in rotated if pair not in hits]
    assert last.tested == N * (N - 1) // 2 - 3


def as_published(edges, order, scores_of, central, density, n):
    """Algorithm 2 and section 2.1 as the paper has them: yield the tests of a round and its edge.

    The queue is a list of pairs, sorted by how often the priority was reduced; equal ones keep
    their order. Prunes nothing, as Algorithm 2 does within the loop.
    """
    edges, queue = list(edges), [[0, pair] for pair in order]
    for number in range(10**6):
        scores, tests = scores_of(number), []
        if len(edges) / n**2 > density:
            near = {v: {a + b - v for a, b in edges if v in (a, b)} for v in range(n)}
            hubs = [v for v in range(n) if len(near[v]) > central]
            best, joining = None, None
            for i, k in itertools.combinations(hubs, 2):
                if (i, k) in edges:
                    continue
                between = {tuple(sorted(p)) for p in itertools.product(near[i], near[k])}
                between = {p for p in between if p[0] != p[1]} - set(edges)
                if best is None or len(between) > len(best):
                    best, joining = between, (i, k)
            if best is not None:
                tests.append(joining)
                if not scores[joining] > 1.0:
                    for entry in queue:
                        entry[0] += entry[1] in best
                    queue.sort(key=lambda entry: entry[0])
        found = None
        for entry in queue:
            tests.append(entry[1])
            if scores[entry[1]] > 1.0:
                found = entry
                break
        yield tests, None if found is None else found[1]
        if found is None:
            return
        queue.remove(found)
        edges.append(found[1])


@pytest.mark.parametrize(("central", "density"), [(1, 0.0), (2, 0.02), (2, 0.06), (3, 0.0), (4, 2)])
@pytest.mark.parametrize("seed", range(6))
def test_algorithm_2_step_by_step(seed, central, density, monkeypatch):
    """The same tests in the same order, and the same edges, as a transcription of the paper."""
    monkeypatch.setattr("graftwork.grafting.priority.LARGEST_BATCH", 1)  # nothing past a violator
    pairs = list(itertools.combinations(range(N), 2))

    def scores_of(number):
        """Pairs of the variables 0 and 4 violate often, others now and then; less and less."""
        rng = np.random.default_rng([seed, number])
        high = [1.6 if {0, 4} & set(pair) else 1.05 for pair in pairs]
        return dict(zip(pairs, rng.random(len(pairs)) * high * 0.97**number, strict=True))

    start = STARS[: 2 * (seed % 4)]
    _, order = Queue(PriorityQueue(density=2), start, seed=seed).choose()
    queue = Queue(PriorityQueue(central, density), start, seed=seed)
    published = list(as_published(start, order, scores_of, central, density, N))
    assert len(published) > 3
    for number, (tests, found) in enumerate(published):
        queue.scores = scores_of(number)
        choice, asked = queue.choose()
        assert asked == tests
        assert queue.ranks(choice.keys) == ([] if found is None else [found])
    assert choice.complete


def test_the_replayed_rounds_do_reduce_priorities():
    """With the thresholds of the replay pairs are moved back and found later, not just anywhere."""
    plain, moved = (
        Queue(PriorityQueue(2, density), THREE_STARS, {(2, 6): 3.0}).choose()[0].tested
        for density in (2.0, 0.0)
    )
    assert moved > plain


def test_as_published_a_relevant_joining_pair_waits_for_its_place():
    queue = Queue(PriorityQueue(2, 0.0), scores={JOINING: 2.0})
    _, plain = Queue(PriorityQueue(density=2)).choose()
    choice, asked = queue.choose()
    assert asked[0] == JOINING
    assert asked[1 : 1 + choice.tested] == plain[: plain.index(JOINING) + 1]
    assert queue.ranks(choice.keys) == [JOINING]


def test_as_published_every_round_looks_from_the_top():
    _, order = Queue(PriorityQueue(), []).choose()
    hits = dict.fromkeys([order[7], order[20]], 2.0)
    queue = Queue(PriorityQueue(), [], hits)
    for hit in hits:
        choice, asked = queue.choose()
        assert asked[0] == order[0]
        assert queue.ranks(choice.keys) == [hit]


def test_only_the_first_violator_is_chosen_and_few_are_scored_past_it():
    _, order = Queue(PriorityQueue(), []).choose()
    for place in (0, 5, 30):
        scores = {pair: 2.0 + k for k, pair in enumerate(order[place:])}
        queue = Queue(PriorityQueue(), [], scores)
        choice, asked = queue.choose()
        assert queue.ranks(choice.keys) == [order[place]]
        assert len(asked) <= 2 * place + 1


def test_released_pairs_come_again_before_those_moved_back():
    queue = Queue(EAGER)
    queue.choose()
    queue.edges.remove((0, 1))
    queue.selection.release(queue.space.keys(np.array([(0, 1)])))
    choice, asked = queue.choose()
    assert asked.count((0, 1)) == 1
    assert asked.index((0, 1)) < min(asked.index(pair) for pair in BETWEEN)
    assert choice.complete
    assert choice.tested == len(idle_pairs()) + 1
    queue.scores[0, 1] = 2.0
    choice, _ = queue.choose()
    assert queue.ranks(choice.keys) == [(0, 1)]


def test_a_subset_of_the_variables_is_reordered_by_its_own_network():
    """As when variables arrive: numbers of variables are not places in the space."""
    variables = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31]
    _, asked = Queue(EAGER, variables=variables).choose()
    assert asked == Queue(EAGER).choose()[1]


def test_a_full_budget_leaves_the_certificate_open():
    choice, _ = Queue(EAGER, scores={JOINING: 2.0}).choose(most=0)
    assert len(choice.keys) == 0
    assert not choice.complete


def test_an_order_that_is_none_is_refused():
    with pytest.raises(ParameterError, match="'top' or 'turns'"):
        PriorityQueue(order="cyclic")


def test_cells_and_spaces_too_large_to_list_are_refused():
    with pytest.raises(ValueError, match="priority grafting activates whole tables"):
        PriorityQueue().begin(CellSpace(np.arange(3), np.full(3, 2)), NONE, None)
    with pytest.raises(TooLargeError, match="priority grafting"):
        PriorityQueue().begin(PairSpace(np.arange(100_000)), NONE, None)
