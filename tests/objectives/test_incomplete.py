"""The loss of observed cells: beside the complete one, and what holds for it alone."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from graftwork.data import Table
from graftwork.inference import JunctionTree, Layout, Potentials
from graftwork.objectives import Likelihood, PseudoLikelihood

from doors.data import PairCounts, prepare
from doors.inference import soft_log_conditionals
from doors.objectives import dense
from support.problems import all_pairs, dense_available, random_table, with_holes

EDGES = np.array([(0, 1), (1, 4), (0, 4), (3, 5)])


def random_potentials(sample, seed, edges=EDGES):
    layout = Layout.of(sample.cards, edges)
    return Potentials(layout, np.random.default_rng(seed).normal(0, 0.7, layout.size))


def answers(point, pairs):
    return [
        np.array([point.value]), point.gradient, point.curvature, point.pair_gradients(pairs)[0],
        point.pair_gains(pairs),
        point.removal_costs(), point.mean_log_normalisers, point.pair_expectations(pairs).model,
    ]  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("drawn", [False, True])
def test_codes_of_missing_cells_that_do_not_occur_change_nothing(weighted, drawn):
    weights = np.random.default_rng(0).integers(1, 4, 150).astype(float) if weighted else None
    sample = prepare(random_table(5, n=6, rows=150, most=8, weights=weights))
    more = sample.cards if drawn else 1
    counts = PairCounts(sample.counts.codes, sample.cards, weights, extended=sample.cards + more)
    potentials = random_potentials(sample, 1)
    points = [
        PseudoLikelihood(one, 1).at(potentials) for one in (sample, replace(sample, counts=counts))
    ]
    for one, other in zip(*(answers(point, all_pairs(6)) for point in points), strict=True):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.fixture(params=[None, "weights", "merged"])
def holed(request):
    if request.param == "merged":  # few different rows
        return with_holes(random_table(9, n=6, rows=900, most=2), 1, share=0.1)
    weights = np.random.default_rng(2).integers(0, 4, 150) if request.param else None
    return with_holes(random_table(5, n=6, rows=150, most=5, weights=weights), 1)


def test_weights_equal_repeated_rows(holed):
    if holed.weights is None:
        holed = holed.with_weights(np.random.default_rng(1).integers(0, 3, holed.n_rows))
    times = holed.weights.astype(int)
    repeated = Table(holed.names, holed.states, np.repeat(holed.codes, times, axis=1))
    one, other = (prepare(t, missing=True) for t in (holed, repeated))
    potentials = random_potentials(one, 3)
    points = [PseudoLikelihood(sample, 1).at(potentials) for sample in (one, other)]
    for mine, theirs in zip(*(answers(p, all_pairs(6)) for p in points), strict=True):
        assert np.allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def states_for(table, seed=8):
    """A state for every cell, whether it is missing or not."""
    cards = np.array([len(s) - ("(missing)" in s) for s in table.states])
    return np.random.default_rng(seed).integers(0, cards[:, None], table.codes.shape)


def with_states(table, states, **options):
    """The sample of a table with these states in place of its missing cells."""
    sample = prepare(table, missing=True, merge=False, **options)
    return sample.with_drawn(states if table.weights is None else states[:, table.weights > 0])


def test_drawn_neighbours_give_the_dense_loss(holed):
    states = states_for(holed)
    sample = with_states(holed, states)
    assert sample.extended.tolist() == [
        s * (2 if i % 2 == 0 else 1) for i, s in enumerate(sample.cards)
    ]
    everything = all_pairs(6)
    for edges, seed in ((EDGES, 5), (everything, 6)):
        potentials = random_potentials(sample, seed, edges)
        value, gradient = dense_available(holed, potentials.weights, edges, states)
        point = PseudoLikelihood(sample, 1).at(potentials)
        assert np.isclose(point.value, value, rtol=1e-12)
        assert np.allclose(point.gradient, gradient, atol=1e-12)
    grown = Potentials(potentials.layout, potentials.weights.copy())
    grown.weights[grown.layout.n_unary :] = 0
    small = random_potentials(sample, 7)
    for e, pair in enumerate(EDGES.tolist()):
        place = everything.tolist().index(pair)
        grown.layout.table(grown.weights, place)[:] = small.layout.table(small.weights, e)
    grown.weights[: grown.layout.n_unary] = small.weights[: grown.layout.n_unary]
    inactive = PseudoLikelihood(sample, 1).at(small).pair_gradients(everything)[0]
    _, gradient = dense_available(holed, grown.weights, everything, states)
    assert np.allclose(inactive, gradient[grown.layout.n_unary :], atol=1e-12)


def test_weights_equal_repeated_rows_with_the_same_drawn_cells(holed):
    if holed.weights is None:
        holed = holed.with_weights(np.random.default_rng(1).integers(0, 3, holed.n_rows))
    states, times = states_for(holed), holed.weights.astype(int)
    repeated = Table(holed.names, holed.states, np.repeat(holed.codes, times, axis=1))
    one, other = with_states(holed, states), with_states(repeated, np.repeat(states, times, axis=1))
    potentials = random_potentials(one, 3)
    points = [PseudoLikelihood(sample, 1).at(potentials) for sample in (one, other)]
    for mine, theirs in zip(*(answers(p, all_pairs(6)) for p in points), strict=True):
        assert np.allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def test_drawn_cells_are_no_observations(holed):
    averaged = prepare(holed, missing=True)
    drawn = with_states(holed, states_for(holed))
    assert not drawn.complete
    assert np.allclose(drawn.frequencies, averaged.frequencies)
    assert np.allclose(drawn.observed_weight, averaged.observed_weight)
    pairs = all_pairs(6)
    assert np.allclose(drawn.counts.tables(pairs)[0], averaged.counts.tables(pairs)[0])
    weights = np.ones(drawn.n_rows) if drawn.weights is None else drawn.weights
    for i, s in enumerate(drawn.cards):
        assert np.isclose(weights @ drawn.observed(i), drawn.observed_weight[i])
        soft = drawn.indicators(i)
        assert soft.shape == (drawn.extended[i], s)
        assert np.array_equal(soft[-s:], np.eye(s))
    codes = drawn.counts.codes  # drawn anew, nothing of the old states is left
    again = drawn.with_drawn(np.zeros(codes.shape, dtype=int))
    assert np.array_equal(again.counts.codes, np.minimum(codes, drawn.cards[:, None]))


def test_costs_of_removal_are_exact_with_drawn_neighbours(holed):
    objective = PseudoLikelihood(with_states(holed, states_for(holed)), 1)
    potentials = random_potentials(objective.sample, 9)
    point, layout = objective.at(potentials), potentials.layout
    parts = np.split(objective.sample.frequencies, np.cumsum(layout.cards)[:-1])
    for e, (i, j) in enumerate(layout.edges.tolist()):
        weights = potentials.weights.copy()
        table = layout.table(weights, e)
        layout.unary(weights, i)[:] += table @ parts[j]
        layout.unary(weights, j)[:] += parts[i] @ table
        table[:] = 0
        after = objective.at(Potentials(layout, weights)).value
        assert np.isclose(point.removal_costs()[e], after - point.value, rtol=1e-9)


def test_the_codes_of_drawn_cells_fit_their_type():
    codes = np.tile(np.arange(200), (1, 2))
    codes[0, 200:] = 200
    table = Table(("a",), ((*range(200), "(missing)"),), codes)
    drawn = prepare(table, missing=True, merge=False).with_drawn(np.full((1, 400), 199))
    assert drawn.codes.max() == 399


def test_threads_batches_and_memory_change_nothing(holed):
    sample, pairs = prepare(holed, missing=True), all_pairs(6)
    potentials = random_potentials(sample, 4)
    one, two = (PseudoLikelihood(sample, jobs).at(potentials) for jobs in (1, 2))
    for mine, theirs in zip(answers(one, pairs), answers(two, pairs), strict=True):
        assert np.array_equal(mine, theirs)
    tight = PseudoLikelihood(sample, 1, memory=1).at(potentials)
    whole = one.pair_gradients(pairs)[0]
    assert np.array_equal(tight.pair_gradients(pairs)[0], whole)
    point = PseudoLikelihood(sample, 1).at(potentials)
    each = [point.pair_gradients(pair[None])[0] for pair in pairs]
    assert np.array_equal(np.concatenate(each), whole)


@pytest.mark.parametrize("drawn", [False, True])
def test_what_stays_is_taken_over_from_a_point_nearby(holed, drawn):
    sample = with_states(holed, states_for(holed)) if drawn else prepare(holed, missing=True)
    objective, small = PseudoLikelihood(sample, 1), random_potentials(sample, 4)
    near = objective.at(small)
    grown = Layout.of(sample.cards, np.concatenate([EDGES, [(2, 5)]]))
    vector = np.concatenate([small.weights, np.full(grown.size - small.layout.size, 0.3)])
    vector[grown.edge_offsets[0]] += 0.5
    here = Potentials(grown, vector)
    warm, cold = objective.at(here, near), objective.at(here)
    assert (warm.conditionals.stamps == near.conditionals.stamps).tolist() == [
        i in (3, 4) for i in range(6)
    ]
    for mine, theirs in zip(*(answers(p, all_pairs(6)) for p in (warm, cold)), strict=True):
        assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("drawn", [False, True])
def test_no_gradient_moves_further_than_the_drift_allows(holed, drawn):
    sample = with_states(holed, states_for(holed)) if drawn else prepare(holed, missing=True)
    objective, pairs = PseudoLikelihood(sample, 1), all_pairs(6)
    here = random_potentials(sample, 4)
    before = objective.at(here)
    snapshot = before.snapshot()
    moved = here.weights + 0.1 * np.random.default_rng(9).normal(size=len(here.weights))
    after = objective.at(Potentials(here.layout, moved), before)
    drift = after.drift(snapshot)
    bound = drift[pairs[:, 0], 0] * drift[pairs[:, 1], 1]
    bound += drift[pairs[:, 0], 1] * drift[pairs[:, 1], 0]
    (old, starts, _), (new, _, _) = before.pair_gradients(pairs), after.pair_gradients(pairs)
    moved_by = np.sqrt(np.add.reduceat((new - old) ** 2, starts[:-1]))
    assert (moved_by <= bound + 1e-12).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("drawn", [False, True])
def test_products_give_the_sums_of_single_pairs(weighted, drawn):
    weights = np.random.default_rng(0).random(400) if weighted else None
    table = with_holes(random_table(3, n=36, rows=400, most=4, weights=weights), 1)
    sample = with_states(table, states_for(table)) if drawn else prepare(table, missing=True)
    point, pairs = PseudoLikelihood(sample, 1).at(random_potentials(sample, 2)), all_pairs(36)
    assert dense(pairs, sample.cards)
    few = [point.pair_gradients(part)[0] for part in np.array_split(pairs, 20)]
    assert np.allclose(point.pair_gradients(pairs)[0], np.concatenate(few), atol=1e-13)


def test_merged_rows_are_fewer_and_give_the_dense_loss(holed):
    sample = prepare(holed, missing=True)
    potentials = random_potentials(sample, 5)
    value, gradient = dense_available(holed, potentials.weights, EDGES)
    point = PseudoLikelihood(sample, 1).at(potentials)
    assert np.isclose(point.value, value, rtol=1e-12)
    assert np.allclose(point.gradient, gradient, atol=1e-12)


def test_scores_of_rows_add_up_to_the_loss(holed):
    sample = prepare(holed, missing=True)
    potentials = random_potentials(sample, 7)
    cut = np.cumsum(sample.cards)[:-1]
    rows = soft_log_conditionals(potentials, sample.codes, np.split(sample.frequencies, cut))
    mean = np.average(rows, weights=sample.weights) * (
        sample.n_rows if sample.weights is None else sample.weights.sum()
    )
    value = PseudoLikelihood(sample, 1).at(potentials).value
    assert np.isclose(-mean / sample.total_weight, value, rtol=1e-12)


def test_a_sample_with_holes_says_what_is_observed(holed):
    sample = prepare(holed, missing=True)
    assert not sample.complete
    assert (sample.extended - sample.cards).tolist() == [1, 0, 1, 0, 1, 0]
    weights = np.ones(sample.n_rows) if sample.weights is None else sample.weights
    at = 0
    for i, s in enumerate(sample.cards):
        assert np.isclose(weights @ sample.observed(i), sample.observed_weight[i])
        soft = sample.indicators(i)
        assert soft.shape == (sample.extended[i], s)
        assert np.allclose(soft.sum(axis=1), 1)
        assert np.allclose(soft[-1] if sample.extended[i] > s else sample.frequencies[at : at + s],
                           sample.frequencies[at : at + s])  # fmt: skip
        at += s


def test_large_weights_do_not_overflow(holed):
    sample = prepare(holed, missing=True)
    layout = Layout.of(sample.cards, EDGES)
    weights = np.random.default_rng(0).normal(0, 400, layout.size)
    point = PseudoLikelihood(sample, 1).at(Potentials(layout, weights))
    value, gradient = dense_available(holed, weights, EDGES)
    assert np.isclose(point.value, value, rtol=1e-12)
    assert np.allclose(point.gradient, gradient, atol=1e-12)


def test_many_states():
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, 300, 2000), rng.integers(0, 3, 2000)])
    codes[0, :300], codes[0, 300:400] = np.arange(300), 300
    states = ((*range(300), "(missing)"), (0, 1, 2))
    table = Table(("a", "b"), states, codes)
    sample, edges = prepare(table, missing=True), np.array([(0, 1)])
    potentials = random_potentials(sample, 1, edges)
    value, gradient = dense_available(table, potentials.weights, edges)
    point = PseudoLikelihood(sample, 1).at(potentials)
    assert np.isclose(point.value, value, rtol=1e-12)
    assert np.allclose(point.gradient, gradient, atol=1e-12)


def test_a_point_that_is_let_go_of_leaves_memory_at_once():
    sample = prepare(random_table(5))
    gc.disable()
    try:
        point = PseudoLikelihood(sample, 1).at(random_potentials(sample, 0))
        point.pair_gradients(all_pairs(6))
        ghost = weakref.ref(point)
        del point
        assert ghost() is None
    finally:
        gc.enable()


def test_the_likelihood_refuses_missing_cells(holed):
    with pytest.raises(ValueError, match="complete rows"):
        Likelihood(prepare(holed, missing=True), JunctionTree())
