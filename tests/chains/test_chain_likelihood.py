"""Forward-backward, Viterbi and gradients against enumeration and finite differences."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from graftwork.data import as_sequences
from graftwork.errors import TooLargeError
from graftwork.grafting import Problem
from graftwork.penalties import L1

from doors.grafting import ChainFamily
from doors.inference import ChainShape, FeatureLayout, FeatureWeights
from doors.kernels import NEVER, fill_states, pass_in_logs
from doors.models import ChainModel
from doors.objectives import (
    LITTLE,
    POWER,
    ChainData,
    ChainLikelihood,
    Occurrences,
    Rows,
    cut_chains,
    feature_gains,
    find_features,
    likelihood,
)
from support.chain_brute import Enumerated, everything, matrix, random_chains

SETTINGS = [(order, n) for order in (1, 2) for n in (1, 2, 3, 5)]


def weights_of(features, seed, scale=1.0):
    layout = FeatureLayout.of(np.arange(features.size + 1), np.arange(features.size))
    numbers = scale * np.random.default_rng(seed).normal(size=features.size)
    return FeatureWeights(layout, numbers)


def model_of(data, features, w):
    """The same weights as a model."""
    shape, n = data.shape, data.shape.n_labels
    pairs, triples = np.zeros(n * n), np.zeros(shape.n_triples)
    votes, rest = w[: features.n_votes], w[features.n_votes :]
    pairs[features.pairs] = rest[: len(features.pairs)]
    triples[features.triples] = rest[len(features.pairs) :]
    return ChainModel(
        tuple(range(n)), data.sequences.names, shape.order, features.attributes.astype(np.int64),
        shape.outputs(features.columns.astype(np.int64)), votes, pairs.reshape(n, n),
        triples.reshape((n,) * 3 if shape.order == 2 else (0, 0, 0)),
    )  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize(("order", "n"), SETTINGS)
def test_value_and_all_gradients_equal_enumeration(order, n, values, weighted):
    data = random_chains(n, n, order, values=values, weights=weighted)
    features, seen = everything(data)
    here = weights_of(features, 1)
    point = ChainLikelihood(data, features, seen, 2).at(here)
    value, slope = Enumerated(data, features).loss(here.weights)
    assert point.value == pytest.approx(value, abs=1e-11)
    np.testing.assert_allclose(point.gradients, slope, atol=1e-11)
    np.testing.assert_allclose(point.gradient, slope, atol=1e-11)


@pytest.mark.parametrize(("order", "n"), SETTINGS)
def test_log_partitions_marginals_and_best_paths_equal_enumeration(order, n):
    data = random_chains(10 + n, n, order, values=True)
    features, _ = everything(data)
    w = weights_of(features, 2).weights
    brute, model = Enumerated(data, features), model_of(data, features, w)
    np.testing.assert_allclose(model.log_partition(data.sequences), brute.log_partitions(w))
    found = np.concatenate(model.marginals(data.sequences))
    np.testing.assert_allclose(found, brute.marginals(w), atol=1e-12)
    for (_, labels), path in zip(brute.best(w), model.predict(data.sequences), strict=True):
        assert list(labels) == path
    truth = [list(every[true]) for every, true in zip(brute.labellings, brute.true, strict=True)]
    chance = [(t @ w)[k] for t, k in zip(brute.tables, brute.true, strict=True)]
    found = model.log_prob(data.sequences, truth)
    np.testing.assert_allclose(found, np.array(chance) - brute.log_partitions(w), atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_empty_chains_count_as_chains_with_nothing_to_lose(order, weighted):
    data = random_chains(8, 3, order, lengths=(0, 3, 0, 0, 2, 0), weights=weighted)
    features, seen = everything(data)
    here = weights_of(features, 1)
    point = ChainLikelihood(data, features, seen, 2).at(here)
    brute = Enumerated(data, features)
    value, slope = brute.loss(here.weights)
    assert point.value == pytest.approx(value, abs=1e-11)
    np.testing.assert_allclose(point.gradients, slope, atol=1e-11)
    model = model_of(data, features, here.weights)
    np.testing.assert_allclose(
        model.log_partition(data.sequences), brute.log_partitions(here.weights), atol=1e-12
    )


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_equal_finite_differences(order):
    data = random_chains(3, 3, order, values=True, weights=True, lengths=(5, 1, 7))
    features, seen = everything(data)
    objective, here = ChainLikelihood(data, features, seen, 1), weights_of(features, 4, 0.5)
    gradients = objective.at(here).gradients
    for f in np.random.default_rng(0).choice(features.size, 20, replace=False):
        values = []
        for sign in (1, -1):
            moved = here.weights.copy()
            moved[f] += sign * 1e-5
            values.append(objective.at(FeatureWeights(here.layout, moved)).value)
        assert gradients[f] == pytest.approx((values[0] - values[1]) / 2e-5, abs=1e-8)


def test_the_metric_follows_what_is_uncertain():
    """Without moves labels are independent: the variances of votes are those of the loss."""
    data = random_chains(3, 3, 1, values=True, weights=True)
    features, seen = everything(data)
    here = weights_of(features, 3)
    here.weights[features.n_votes :] = 0.0
    objective = ChainLikelihood(data, features, seen, 1)
    point = objective.at(here)
    step, exact = 1e-4, []
    for f in range(features.n_votes):
        moved = here.weights.copy()
        moved[f] += step
        after = ChainLikelihood(data, features, seen, 1).at(FeatureWeights(here.layout, moved))
        exact.append((after.gradients[f] - point.gradients[f]) / step)
    occurrences = np.array(exact) * objective.total / seen.squares[: features.n_votes]
    expected = seen.squares[: features.n_votes] * (occurrences + LITTLE) ** POWER / objective.total
    np.testing.assert_allclose(point.curvature[: features.n_votes], expected, rtol=1e-2)
    before = objective.metric()
    assert objective.at(here).curvature is not None
    assert objective.metric() is not before  # twice as many evaluations


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("value", [1.0, 2.5])
def test_attributes_of_value_zero_are_candidates_but_cost_nothing(order, value):
    rng = np.random.default_rng(7)
    there = rng.random((12, 4)) < 0.5
    rows = [{f"a{k}": value * on for k, on in enumerate(row)} for row in there.tolist()]
    sequences = as_sequences([rows[:5], rows[5:]])
    codes = rng.integers(0, 3, size=12).astype(np.int32)
    data = ChainData.of(sequences, codes, ChainShape(3, order))
    features, seen = find_features(data)
    assert np.diff(features.starts).min() > 0
    here = weights_of(features, 2)
    objective = ChainLikelihood(data, features, seen, 1)
    kept = objective.data
    assert len(kept.sequences.indices) == there.sum()
    assert len(kept.sequences.values) == (0 if value == 1 else there.sum())
    point = objective.at(here)
    loss, slope = Enumerated(data, features).loss(here.weights)
    assert point.value == pytest.approx(loss, abs=1e-11)
    np.testing.assert_allclose(point.gradients, slope, atol=1e-11)
    assert kept.without_zeros() is kept


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_of_inactive_features_are_those_after_activation(order):
    data = random_chains(5, 3, order, lengths=(4, 4, 3))
    features, seen = everything(data)
    objective = ChainLikelihood(data, features, seen, 1)
    starts = np.arange(features.size + 1)
    rng = np.random.default_rng(0)
    some = rng.choice(features.size, 9, replace=False)
    point = objective.at(FeatureWeights(FeatureLayout.of(starts, some), rng.normal(size=9)))
    family = ChainFamily(features, True)
    space = family.space(np.zeros(0, int), True)
    rest = np.setdiff1d(np.arange(features.size), some)
    before, _, exact = space.gradients(point, rest)
    layout = family.grown(point.potentials.layout, space, rest)
    weights = np.concatenate([point.potentials.weights, np.zeros(len(rest))])
    after = objective.at(FeatureWeights(layout, weights))
    assert exact
    np.testing.assert_allclose(after.gradient[9:], before, atol=1e-13)
    assert after.value == pytest.approx(point.value)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("scale", [300.0, 3000.0])
def test_scores_that_underflow_are_summed_as_logarithms(order, scale):
    data = random_chains(6, 3, order, values=True, weights=True, lengths=(4, 3, 5))
    features, seen = everything(data)
    here = weights_of(features, 7, scale)
    point = ChainLikelihood(data, features, seen, 1).at(here)
    value, slope = Enumerated(data, features).loss(here.weights)
    assert point.value == pytest.approx(value, rel=1e-11)
    np.testing.assert_allclose(point.gradients, slope, atol=1e-8)


@pytest.mark.parametrize("order", [1, 2])
def test_a_move_that_underflows_at_a_position_that_forces_it(order):
    n = 2
    sequences = as_sequences([[["zero"], ["one"], ["zero"], ["one"]]])
    data = ChainData.of(sequences, np.array([0, 1, 0, 1], np.int32), ChainShape(n, order))
    features, seen = find_features(data, observed=False)
    w = np.zeros(features.size)
    w[: features.n_votes][features.columns == features.attributes] = 4000.0
    w[features.n_votes + np.flatnonzero(features.pairs == 1)] = -1500.0  # 0 -> 1
    layout = FeatureLayout.of(np.arange(features.size + 1), np.arange(features.size))
    point = ChainLikelihood(data, features, seen).at(FeatureWeights(layout, w))
    value, slope = Enumerated(data, features).loss(w)
    assert point.value == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(point.gradients, slope, atol=1e-9)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    ("votes", "move"),
    [((-500.0, -500.0), -2000.0), ((-5000.0, -250.0), -1000.0), ((-90, -80), -70)],
)
def test_what_falls_behind_step_by_step_may_still_win(order, votes, move):
    """No single position underflows, but the labels that win later are hopeless at first."""
    sequences = as_sequences([[["s"], ["s"], ["t"], ["t"], ["t"]], [["s"]] + [["t"]] * 4])
    codes = np.array([0, 0, 1, 1, 1] * 2, np.int32)
    data = ChainData.of(sequences, codes, ChainShape(2, order))
    features, seen = find_features(data, observed=False)
    w = np.zeros(features.size)
    names = {features.label_names(f): f for f in range(features.size)}
    w[names[0, (1,)]], w[names[1, (0,)]] = votes
    w[names[None, (0, 1)]] = w[names[None, (1, 0)]] = move
    brute, model = Enumerated(data, features), model_of(data, features, w)
    np.testing.assert_allclose(model.log_partition(sequences), brute.log_partitions(w))
    np.testing.assert_allclose(
        np.concatenate(model.marginals(sequences)), brute.marginals(w), atol=1e-12
    )
    layout = FeatureLayout.of(np.arange(features.size + 1), np.arange(features.size))
    point = ChainLikelihood(data, features, seen).at(FeatureWeights(layout, w))
    value, slope = brute.loss(w)
    assert point.value == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(point.gradients, slope, atol=1e-9)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_chains_around_the_change_to_logarithms_equal_enumeration(order, seed):
    data = random_chains(seed, 3, order, values=True, lengths=(5, 2, 4, 1, 5))
    features, seen = everything(data)
    here = weights_of(features, seed, 40.0 * (1 + seed))
    point = ChainLikelihood(data, features, seen, 1).at(here)
    value, slope = Enumerated(data, features).loss(here.weights)
    assert point.value == pytest.approx(value, rel=1e-11)
    np.testing.assert_allclose(point.gradients, slope, atol=1e-9)


@pytest.mark.parametrize("order", [1, 2])
def test_chains_of_ten_thousand_steps_neither_overflow_nor_underflow(order):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 10_000).astype(np.int32)
    sequences = as_sequences([[[f"a{c}"] for c in codes.tolist()]])
    data = ChainData.of(sequences, codes, ChainShape(3, order))
    features, seen = find_features(data)
    here = weights_of(features, 1, 5.0)
    point = ChainLikelihood(data, features, seen).at(here)
    rows = Rows.of(features, here.layout.features, here.weights)
    shape = data.shape
    states = np.empty((10_000, shape.reach if order == 1 else shape.reach**2))
    outputs = matrix(data) @ rows.rows
    fill_states(shape.reach, order, 3, 10_000, outputs, rows.pairs, states)
    states = np.where(np.isfinite(states), states, NEVER)
    marginals, sums = np.empty((10_000, shape.n_columns)), np.zeros_like(rows.moves)
    forward, backward = np.zeros_like(states), np.zeros_like(states)
    value = pass_in_logs(
        shape.reach, order, 3, 10_000, 1.0, states, rows.moves, forward, backward, marginals, sums,
        True,
    )  # fmt: skip
    found = value - seen.sums @ here.weights
    assert np.isfinite(point.gradients).all()
    assert point.value == pytest.approx(found, rel=1e-10)
    expected = matrix(data).T @ marginals
    votes = expected[features.attributes, features.columns] - seen.sums[: features.n_votes]
    np.testing.assert_allclose(point.gradients[: features.n_votes], votes, atol=1e-7)
    paths = model_of(data, features, here.weights).predict(sequences)
    assert len(paths[0]) == 10_000


@pytest.mark.parametrize("order", [1, 2])
def test_nothing_depends_on_the_number_of_threads(order):
    data = random_chains(8, 4, order, lengths=(30,) * 900, values=True)
    features, seen = find_features(data)
    assert len(cut_chains(data.sequences.starts)) > 3
    here = weights_of(features, 1)
    points = [ChainLikelihood(data, features, seen, jobs).at(here) for jobs in (1, 2, 3)]
    for point in points[1:]:
        assert point.value == points[0].value
        assert (point.gradients == points[0].gradients).all()


@pytest.mark.parametrize("order", [1, 2])
def test_features_are_those_seen_and_counted_rightly(order):
    data = random_chains(9, 3, order, lengths=(3, 5, 2), values=True, weights=True)
    some, seen = find_features(data)
    every, seen_of_all = find_features(data, observed=False)
    assert every.n_votes == data.n_attributes * data.shape.n_outputs
    assert every.size == every.n_votes + 9 + (27 if order == 2 else 0)
    brute = Enumerated(data, every)
    sums = sum(w * t[k] for w, t, k in zip(brute.weights, brute.tables, brute.true, strict=True))
    np.testing.assert_allclose(seen_of_all.sums, sums)
    lots = {every.label_names(f) for f in range(every.size)}
    assert len(lots) == every.size
    named = {some.label_names(f): seen.sums[f] for f in range(some.size)}
    for f in range(every.size):
        name = every.label_names(f)
        if name in named:
            assert named[name] == pytest.approx(sums[f])
        else:
            assert sums[f] == 0


def test_rare_attributes_can_be_left_out():
    data = random_chains(9, 3, 1, lengths=(3, 5, 2))
    counts = np.diff(Occurrences.of(data.sequences).starts)
    features, _ = find_features(data, min_count=int(counts.max()))
    assert set(features.attributes.tolist()) == set(np.flatnonzero(counts == counts.max()).tolist())
    assert features.starts[-1] == features.n_votes


@pytest.mark.parametrize("order", [1, 2])
def test_rows_are_attributes_and_labels_before(order):
    data = random_chains(9, 3, order, lengths=(3, 5, 2))
    features, _ = find_features(data)
    rows = features.rows
    assert rows[0] == 0
    assert rows[-1] == features.size
    for a, b in pairwise(rows):
        names = [features.label_names(f) for f in range(a, b)]
        assert len({attribute for attribute, _ in names}) == 1
        if names[0][0] is None:
            assert len({labels[:-1] for _, labels in names}) == 1


@pytest.mark.parametrize("weighted", [False, True])
def test_gains_are_exact_where_positions_are_independent(weighted):
    data = random_chains(11, 3, 1, lengths=(1,) * 30, values=True, weights=weighted)
    features, seen = everything(data)
    objective = ChainLikelihood(data, features, seen, 2)
    starts = np.arange(features.size + 1)
    some = np.array([0, 4])
    point = objective.at(FeatureWeights(FeatureLayout.of(starts, some), np.array([0.3, -0.4])))
    lam, l2 = 0.01, 0.02
    rest = np.setdiff1d(np.arange(features.n_votes), some)
    gains = feature_gains(point, lam, l2, rest)
    brute = Enumerated(data, features)
    base = np.zeros(features.size)
    base[some] = 0.3, -0.4

    def loss_with(d, f):
        moved = base.copy()
        moved[f] += d
        return brute.loss(moved)[0] + lam * abs(d) + l2 * d * d - point.value

    for f, gain in zip(rest, gains, strict=True):
        sides = [
            minimize_scalar(loss_with, bounds=ends, args=(f,), options={"xatol": 1e-9})
            for ends in ((-9, 0), (0, 9))
        ]
        assert gain == pytest.approx(max(0.0, *(-side.fun for side in sides)), abs=1e-9)


def test_gains_of_moves_are_finite_and_rank_what_is_wanted():
    data = random_chains(12, 2, 2, lengths=(6,) * 40)
    features, seen = everything(data)
    loss, family = ChainLikelihood(data, features, seen), ChainFamily(features, True)
    problem = Problem(loss, L1(0.001), family)
    point = problem.solution(problem.family.empty()).point
    moves = np.arange(features.n_votes, features.size)
    gains = feature_gains(point, 0.001, 0.0, moves)
    wanted = np.abs(point.gradients[moves]) > 0.001
    assert np.isfinite(gains).all()
    assert ((gains > 0) == wanted).all()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("weights", [False, True])
def test_blocks_add_up_to_the_whole(order, weights, monkeypatch):
    """Every sequence a block of its own, against all in one and against enumeration."""
    data = random_chains(4, 3, order, values=True, weights=weights, lengths=(3, 1, 4, 0, 2))
    features, seen = everything(data)
    here = weights_of(features, 3)
    one = ChainLikelihood(data, features, seen, 1)
    monkeypatch.setattr(likelihood, "HELD", 1)
    monkeypatch.setattr(likelihood, "LEAST", 1)
    many = ChainLikelihood(data, features, seen, 1)
    assert len(one._blocks) == 1
    assert len(many._blocks) >= 4
    loss, slope = Enumerated(data, features).loss(here.weights)
    for objective in (one, many):
        point = objective.at(here)
        assert point.value == pytest.approx(loss, abs=1e-11)
        np.testing.assert_allclose(point.gradients, slope, atol=1e-11)
    np.testing.assert_allclose(many.metric(), one.metric(), rtol=1e-12)
    np.testing.assert_allclose(many.marginals(here), one.marginals(here), atol=1e-13)


def test_only_one_block_of_marginals_is_held(monkeypatch):
    data = random_chains(8, 4, 1, lengths=(50,) * 200)
    monkeypatch.setattr(likelihood, "HELD", 2**14)
    objective = ChainLikelihood(data, *find_features(data), 1)
    assert data.shape.n_columns == 8
    assert len(objective._marginals) == 2000  # of 10,000 positions: 40 whole sequences
    assert [block.positions.stop for block in objective._blocks] == [2000, 4000, 6000, 8000, 10000]


def test_gains_of_too_many_positions_are_refused(monkeypatch):
    data = random_chains(5, 3, 1, lengths=(4, 4, 3))
    features, seen = everything(data)
    monkeypatch.setattr(likelihood, "MOST_MARGINALS", 10)
    point = ChainLikelihood(data, features, seen, 1).at(weights_of(features, 1))
    with pytest.raises(TooLargeError, match="use another method"):
        feature_gains(point, 0.1, 0.0, np.arange(3))
