"""The pseudo-likelihood by neighbour configurations, against dense matrices over all rows."""

import numpy as np
import pytest

from graftwork.data import Table
from graftwork.inference import Layout, Potentials
from graftwork.objectives import PseudoLikelihood

from doors.data import prepare
from doors.objectives import MOST_ENTRIES, NeighbourhoodCache, Neighbourhoods, pair_sums
from support.problems import all_pairs, dense_pseudo


def made(cards, rows, seed=0, weights=None):
    """Rows of dependent variables with these numbers of states, all of which occur."""
    rng = np.random.default_rng(seed)
    codes = np.zeros((len(cards), rows), dtype=np.uint16)
    for i, card in enumerate(cards):
        fresh = rng.integers(0, card, rows)
        parent = codes[rng.integers(0, i)] % card if i else fresh
        codes[i] = np.where(rng.random(rows) < 0.5, parent, fresh)
        codes[i, :card] = np.arange(card)
    names = tuple(f"v{i}" for i in range(len(cards)))
    states = tuple(tuple(range(card)) for card in cards)
    return Table(names, states, codes, weights)


HUB = [(0, i) for i in range(1, 10)] + [(1, 2), (3, 7)]
# Few configurations (rows are merged), groups of several neighbours, more than one block of lanes.
CASES = {
    "merged": ([2, 3, 2, 2, 4, 2, 2, 3, 2, 2], 3000, 1.0),
    "groups": ([5, 5, 5, 5, 5, 5, 5, 5, 5, 5], 700, 1.0),
    "many states": ([17, 9, 4, 2, 5, 8, 3, 2, 12, 2], 500, 1.0),
    "extreme weights": ([5, 5, 2, 3, 5, 5, 4, 5, 9, 5], 400, 150.0),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.mark.parametrize("weighted", [False, True])
def test_value_and_gradient_equal_dense_matrices(case, weighted):
    cards, rows, size = case
    weights = np.random.default_rng(5).random(rows) if weighted else None
    table = made(cards, rows, weights=weights)
    layout = Layout.of(cards, HUB)
    vector = np.random.default_rng(1).normal(0, 0.5 * size, layout.size)
    point = PseudoLikelihood(prepare(table), n_jobs=2).at(Potentials(layout, vector))
    value, gradient = dense_pseudo(table, vector, np.array(HUB))
    assert np.isclose(point.value, value, rtol=1e-11)
    assert np.allclose(point.gradient, gradient, atol=1e-11)


def test_rows_are_merged_where_few_configurations_occur_and_grouped_where_many_do():
    cards, rows, _ = CASES["merged"]
    sample = prepare(made(cards, rows))
    here = Neighbourhoods.of(Layout.of(cards, HUB), NeighbourhoodCache(sample))
    assert here.spans[1, 2] <= 4  # neighbours with two states each
    assert here.masses_of(1).sum() == pytest.approx(sample.total_weight)
    cards, rows, _ = CASES["groups"]
    here = Neighbourhoods.of(Layout.of(cards, HUB), NeighbourhoodCache(prepare(made(cards, rows))))
    assert here.spans[0, 2] == rows
    assert (here.groups[:, 2] * 8 <= MOST_ENTRIES).all()
    assert here.spans[0, 1] - here.spans[0, 0] == 3  # nine neighbours, three at a time


def test_a_neighbourhood_grows_neighbour_by_neighbour_to_the_same_as_at_once():
    cards, rows, _ = CASES["merged"]
    sample = prepare(made(cards, rows))
    grown, at_once = NeighbourhoodCache(sample), NeighbourhoodCache(sample)
    for count in range(1, 6):
        one = grown.get({0: np.arange(1, 1 + count)})[0]
    other = at_once.get({0: np.arange(1, 6)})[0]
    assert one.count == other.count
    assert np.array_equal(one.ids, other.ids)


@pytest.mark.parametrize(
    "change", ["nothing", "a unary", "a table", "an edge more", "an edge less", "everything"]
)
def test_an_evaluation_near_another_is_the_same_as_afresh(case, change):
    cards, rows, size = case
    objective = PseudoLikelihood(prepare(made(cards, rows)))
    edges, rng = HUB[:8], np.random.default_rng(3)
    layout = Layout.of(cards, edges)
    vector = rng.normal(0, 0.3 * size, layout.size)
    near = objective.at(Potentials(layout, vector))
    vector = vector.copy()
    if change == "a unary":
        vector[layout.unary_offsets[3]] += 0.5
    if change == "a table":
        vector[layout.edge_offsets[2]] -= 0.5
    if change == "an edge more":
        layout = Layout.of(cards, [*edges, (3, 7)])
        vector = np.concatenate([vector, rng.normal(size=layout.size - len(vector))])
    if change == "an edge less":
        smaller = Layout.of(cards, edges[1:])
        vector = np.concatenate([vector[: layout.n_unary], vector[layout.edge_offsets[1] :]])
        layout = smaller
    if change == "everything":
        vector = vector + 0.1
    here = Potentials(layout, vector)
    warm, cold = objective.at(here, near), objective.at(here)
    assert warm.value == cold.value
    assert np.array_equal(warm.gradient, cold.gradient)
    assert np.array_equal(warm.curvature, cold.curvature)
    assert (warm.conditionals.stamps == near.conditionals.stamps).sum() == {
        "nothing": 10, "a unary": 9, "a table": 8, "an edge more": 8, "an edge less": 8,
        "everything": 0,
    }[change]  # fmt: skip
    pairs = np.array([(4, 8), (0, 9), (5, 6)])
    assert np.array_equal(warm.pair_gradients(pairs)[0], cold.pair_gradients(pairs)[0])


def large(weighted=False, n=40):
    rng = np.random.default_rng(7)
    cards = rng.integers(2, 7, n).tolist()
    weights = rng.random(2500) if weighted else None
    objective = PseudoLikelihood(prepare(made(cards, 2500, seed=8, weights=weights)), n_jobs=1)
    edges = [(i, i + 1) for i in range(n - 4)]
    layout = Layout.of(objective.sample.cards, edges)
    return objective, Potentials(layout, rng.normal(0, 0.4, layout.size))


@pytest.mark.parametrize("weighted", [False, True])
def test_products_give_the_sums_of_single_pairs(weighted):
    objective, here = large(weighted)
    point = objective.at(here)
    pairs = all_pairs(40)
    few = [point.pair_gradients(part)[0] for part in np.array_split(pairs, 20)]
    exact = np.concatenate(few)
    assert np.allclose(point.pair_gradients(pairs)[0], exact, atol=1e-13)
    other = PseudoLikelihood(objective.sample, n_jobs=2).at(here)
    assert np.array_equal(other.pair_gradients(pairs)[0], point.pair_gradients(pairs)[0])


@pytest.mark.parametrize("weighted", [False, True])
def test_products_however_they_are_cut(weighted, monkeypatch):
    objective, here = large(weighted)
    point, pairs = objective.at(here), all_pairs(40)
    whole = point.pair_gradients(pairs)[0]
    for name, value in (
        ("PART", 7), ("MOST_CELLS", 100), ("SPAN", 999), ("MOST_COMBINED", 1), ("ROWS", 1),
    ):  # fmt: skip
        monkeypatch.setattr(pair_sums, name, value)
        assert np.allclose(point.pair_gradients(pairs)[0], whole, rtol=0, atol=1e-13)
    tall = pairs[pairs[:, 0] < 20]  # few with many: rectangles
    single = np.concatenate([point.pair_gradients(part)[0] for part in np.array_split(tall, 20)])
    assert len(tall) >= pair_sums.MANY_PAIRS
    assert np.allclose(point.pair_gradients(tall)[0], single, atol=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("step", [1e-3, 0.1, 1.0])
def test_no_gradient_moves_further_than_the_drift_allows(weighted, step):
    objective, here = large(weighted)
    pairs, rng = all_pairs(40), np.random.default_rng(9)
    before = objective.at(here)
    snapshot = before.snapshot()
    moved = here.weights + step * rng.normal(size=len(here.weights))
    after = objective.at(Potentials(here.layout, moved), before)
    drift = after.drift(snapshot)
    bound = drift[pairs[:, 0], 0] * drift[pairs[:, 1], 1]
    bound += drift[pairs[:, 0], 1] * drift[pairs[:, 1], 0]
    (old, starts, _), (new, _, _) = before.pair_gradients(pairs), after.pair_gradients(pairs)
    moved_by = np.sqrt(np.add.reduceat((new - old) ** 2, starts[:-1]))
    assert (moved_by <= bound + 1e-12).all()
    assert moved_by.max() > 0.02 * bound.max()  # and the bound says something


@pytest.mark.parametrize("weighted", [False, True])
def test_little_memory_changes_no_score(weighted):
    objective, here = large(weighted)
    small = PseudoLikelihood(objective.sample, memory=10_000)
    pairs = all_pairs(40)
    plenty, scarce = objective.at(here), small.at(here)
    assert np.array_equal(plenty.pair_gradients(pairs)[0], scarce.pair_gradients(pairs)[0])
    assert np.array_equal(plenty.pair_gradients(pairs[:9])[0], scarce.pair_gradients(pairs[:9])[0])
    moved = Potentials(here.layout, 1.1 * here.weights)
    first, second = (at.objective.at(moved, at).drift(at.snapshot()) for at in (plenty, scarce))
    assert not scarce.snapshot().conditionals
    np.testing.assert_allclose(first, second, rtol=1e-12)


def test_products_have_few_cells_that_are_not_wanted():
    cards, pairs = np.full(42, 2), all_pairs(42)
    assert pair_sums.dense(pairs, cards)
    assert pair_sums.one_square(pairs, cards)
    cards[:2] = 4000  # their own table is the largest by far
    assert pair_sums.dense(pairs[1:], cards)
    assert not pair_sums.one_square(pairs[1:], cards)
    some = np.concatenate([pairs[1:2], pairs[81:]])  # one of each, and all of the small ones
    assert not pair_sums.dense(some, cards)
