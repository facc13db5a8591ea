from __future__ import annotations

import math

import numpy as np
import pytest

from graftwork.errors import TooLargeError
from graftwork.inference import JunctionTree, Layout, LoopyBP, Potentials, estimate

from doors.inference import MIN_FILL, MIN_WEIGHT, greedy, observe, restore
from support.brute import GRAPHS, complete, enumerate_states, grid, random_potentials, random_tree


@pytest.mark.parametrize("name", GRAPHS)
def test_maximise_finds_the_largest_energy(name, rng):
    potentials = random_potentials(rng, *GRAPHS[name], 2.0)
    codes, best = JunctionTree().maximise(potentials)
    energy = enumerate_states(potentials).energy
    assert energy[tuple(codes)] == pytest.approx(energy.max(), abs=1e-10)
    assert best == pytest.approx(energy.max(), abs=1e-10)


def test_maximise_breaks_ties_the_same_way_every_time():
    layout = Layout.of([3, 3, 3], [(0, 1), (1, 2)])
    codes, best = JunctionTree().maximise(Potentials(layout, layout.zeros()))
    assert codes.tolist() == [0, 0, 0]
    assert best == 0.0


@pytest.mark.parametrize("name", GRAPHS)
def test_samples_match_the_joint_distribution(name, rng):
    potentials = random_potentials(rng, *GRAPHS[name])
    codes = JunctionTree().sample(potentials, 20_000, rng)
    assert codes.dtype == np.uint16
    truth = enumerate_states(potentials)
    for i in range(potentials.layout.n_variables):
        p = truth.marginal(i)
        seen = np.bincount(codes[i], minlength=len(p)) / 20_000
        assert (np.abs(seen - p) < 5 * np.sqrt(p * (1 - p) / 20_000) + 1e-12).all()
    for i, j in potentials.layout.edges:
        p = truth.marginal(i, j)
        seen = np.zeros_like(p)
        np.add.at(seen, (codes[i], codes[j]), 1 / 20_000)
        assert (np.abs(seen - p) < 5 * np.sqrt(p * (1 - p) / 20_000) + 1e-12).all()


def test_samples_never_have_an_impossible_state(rng):
    layout = Layout.of([4, 4], [(0, 1)])
    weights = rng.normal(size=layout.size)
    layout.table(weights, 0)[[0, 1, 3, 3], [1, 3, 0, 3]] = -np.inf
    codes = JunctionTree().sample(Potentials(layout, weights), 5_000, rng)
    assert np.isfinite(layout.table(weights, 0)[codes[0], codes[1]]).all()


def test_same_generator_same_samples():
    potentials = random_potentials(np.random.default_rng(0), *GRAPHS["grid"])
    first, second = (
        JunctionTree().sample(potentials, 50, np.random.default_rng(3)) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", GRAPHS)
def test_conditioning_equals_slicing_the_joint(name, rng):
    cards, edges = GRAPHS[name]
    potentials = random_potentials(rng, cards, edges)
    truth = enumerate_states(potentials)
    for share in (0.3, 1.0):
        codes = np.where(rng.random(len(cards)) < share, rng.integers(0, cards), -1)
        reduced = observe(potentials, codes)
        beliefs = JunctionTree().infer(reduced.potentials)
        seen = tuple(slice(None) if c < 0 else slice(c, c + 1) for c in codes)
        mass = truth.joint[seen].sum()
        log_mass = reduced.constant + beliefs.log_partition
        assert log_mass == pytest.approx(truth.log_partition + math.log(mass), abs=1e-10)
        values = restore(reduced, potentials.layout, beliefs.values)
        for i, c in enumerate(codes):
            axes = tuple(k for k in range(len(cards)) if k != i)
            expected = truth.joint[seen].sum(axis=axes) / mass
            held = potentials.layout.unary(values, i)
            np.testing.assert_allclose(held if c < 0 else held[[c]], expected, atol=1e-10)


def test_estimate_of_known_widths():
    assert estimate([2] * 5, []).width == 0
    assert estimate([2] * 6, random_tree(np.random.default_rng(0), 6)).width == 1
    assert estimate([3] * 6, [(k, k + 1) for k in range(5)] + [(0, 5)]).width == 2
    assert estimate([2] * 7, complete(7)).width == 6
    assert estimate([2] * 7, complete(7)).largest_clique_cells == 2**7
    assert estimate([2] * 25, grid(5, 5)).width == 5
    cost = JunctionTree().estimate([2, 3], [(0, 1)])
    assert (cost.total_cells, cost.bytes) == (9, 72)


def test_both_greedy_rules_are_valid_orders(rng):
    cards, edges = tuple(GRAPHS["binary 16"][0]), tuple(GRAPHS["binary 16"][1])
    for rule in (MIN_WEIGHT, MIN_FILL):
        found = greedy(cards, edges, rule, math.inf)
        assert found is not None
        assert sorted(found.order + found.tail) == list(range(16))
        gone: set[int] = set()
        for v, separator in zip(found.order, found.separators, strict=True):
            assert not separator & gone
            gone.add(v)
        assert greedy(cards, edges, rule, found.cost.total_cells) is None


def test_too_large_is_refused_with_the_estimate_before_anything_is_allocated():
    layout = Layout.of([2] * 60, complete(60))
    potentials = Potentials(layout, layout.zeros())
    with pytest.raises(TooLargeError, match=r"treewidth 59.*over the limit.*inference=\"bp\""):
        JunctionTree().infer(potentials)
    with pytest.raises(TooLargeError, match="GiB"):
        JunctionTree().maximise(potentials)
    small = random_potentials(np.random.default_rng(0), *GRAPHS["grid"])
    with pytest.raises(TooLargeError, match="limit of 10 cells"):
        JunctionTree(limit_cells=10).infer(small)
    assert not JunctionTree().fits(layout)
    assert JunctionTree().fits(small.layout)


def test_a_hopeless_graph_is_estimated():
    rng = np.random.default_rng(0)
    pairs = np.sort(rng.integers(0, 3000, size=(15_000, 2)), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
    assert estimate([4] * 3000, pairs).total_cells > 2**100


def test_large_trees_and_stars_have_as_many_cells_as_edges():
    rng = np.random.default_rng(0)
    for edges in (random_tree(rng, 10_000), [(k, 9_999) for k in range(9_999)]):
        potentials = random_potentials(rng, [3] * 10_000, edges)
        assert estimate([3] * 10_000, edges).total_cells <= 9 * len(edges) + 3
        exact = JunctionTree().infer(potentials)
        beliefs = LoopyBP().infer(potentials)
        assert beliefs.log_partition == pytest.approx(exact.log_partition, rel=1e-10)
        np.testing.assert_allclose(beliefs.values, exact.values, atol=1e-9)
        pairs = rng.integers([0, 5_000], [5_000, 10_000], size=(40, 2))
        one, _ = JunctionTree().pair_marginals(potentials, exact, pairs)
        other, _ = LoopyBP().pair_marginals(potentials, beliefs, pairs)
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_pair_marginals_answer_in_the_order_asked(rng):
    potentials = random_potentials(rng, *GRAPHS["wheel"])
    beliefs = JunctionTree().infer(potentials)
    pairs = np.array([(4, 1), (1, 4), (0, 2), (0, 2), (5, 0)])
    flat, _ = JunctionTree().pair_marginals(potentials, beliefs, pairs)
    truth = enumerate_states(potentials)
    expected = np.concatenate([truth.marginal(i, j).ravel() for i, j in pairs])
    np.testing.assert_allclose(flat, expected, atol=1e-12)
