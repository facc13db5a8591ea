"""Priority selection on made-up scores: what the network found so far does to the queue."""

import numpy as np
import pytest

from graftwork.errors import TooLargeError
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


EAGER = PriorityQueue(central=2, density=0.0)


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
    _, first = queue.choose()
    assert first[0] == JOINING
    for _ in range(2):
        _, asked = queue.choose()
        assert asked.count(JOINING) <= 1  # in its turn only
    assert asked.count(JOINING) == 1
    assert asked[0] != JOINING
    assert set(asked[-9:]) == BETWEEN  # still behind


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
    plain = PriorityQueue(central=99)
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


def test_cells_and_spaces_too_large_to_list_are_refused():
    with pytest.raises(ValueError, match="priority grafting activates whole tables"):
        PriorityQueue().begin(CellSpace(np.arange(3), np.full(3, 2)), NONE, None)
    with pytest.raises(TooLargeError, match="priority grafting"):
        PriorityQueue().begin(PairSpace(np.arange(100_000)), NONE, None)
