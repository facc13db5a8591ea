"""Predictability: what conditionals say by hand, cell by cell, in and out of sample."""

from __future__ import annotations

import math

import numpy as np
import pytest

import graftwork as gw
from graftwork.errors import DataError, ParameterError

from doors.estimators import predict_each, seeds_for
from doors.selection import deal

MEASURES = ("accuracy", "normalised_accuracy", "explained_deviance")


def mixed(n_rows=300, seed=0):
    """Rows of variables with 2, 3 and 4 states that depend on each other, and one that does not."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n_rows)
    b = np.where(rng.random(n_rows) < 0.7, a, rng.integers(0, 3, n_rows))
    c = np.where(rng.random(n_rows) < 0.8, b, rng.integers(0, 4, n_rows))
    d = (rng.random(n_rows) < 0.3).astype(int)
    words = [["no", "yes"], ["x", "y", "z"], [0, 1, 2, 3], [False, True]]
    return [
        [listed[i] for listed, i in zip(words, row, strict=True)]
        for row in np.stack([a, b, c, d], axis=1).tolist()
    ]


def by_hand(model, rows, learned, weights=None, learned_weights=None, frequencies=None):
    """Return accuracy, normalised accuracy and explained deviance of each variable, cell by cell.

    Conditionals come from the tables by name; None is a missing cell, whose table counts as its
    mean by the frequencies given.
    """
    weights = [1.0] * len(rows) if weights is None else weights
    learned_weights = [1.0] * len(learned) if learned_weights is None else learned_weights
    out = {}
    for i, name in enumerate(model.names):
        states = model.states[name]
        count = dict.fromkeys(states, 0.0)
        for row, weight in zip(learned, learned_weights, strict=True):
            if row[i] is not None:
                count[row[i]] += weight
        mode, total = max(count, key=count.get), sum(count.values())
        right = marginal = loss = marginal_loss = n = 0.0
        for row, weight in zip(rows, weights, strict=True):
            if row[i] is None:
                continue
            scores = []
            for k in range(len(states)):
                score = model.unary(name)[k]
                for j, other in enumerate(model.names):
                    if (name, other) in model.edges or (other, name) in model.edges:
                        table = model.table(name, other)[k]
                        if row[j] is None:
                            score += sum(table * frequencies[j])
                        else:
                            score += table[model.states[other].index(row[j])]
                scores.append(score)
            log_z = math.log(sum(math.exp(score) for score in scores))
            own = states.index(row[i])
            n += weight
            right += weight * (scores.index(max(scores)) == own)
            marginal += weight * (row[i] == mode)
            loss += weight * (log_z - scores[own])
            marginal_loss -= weight * math.log(count[row[i]] / total)
        accuracy, base = right / n, marginal / n
        out[name] = (accuracy, (accuracy - base) / (1 - base), 1 - loss / marginal_loss)
    return out


def columns(table):
    return {row["variable"]: tuple(row[name] for name in MEASURES)
            for row in table.to_dict("records")}  # fmt: skip


def same(found, expected):
    assert list(found) == list(expected)
    for name in expected:
        assert found[name] == pytest.approx(expected[name], abs=1e-10), name


@pytest.fixture(scope="module")
def net():
    return gw.MarkovNetwork(random_state=0).fit(mixed())


def test_in_sample_numbers_are_those_of_the_conditionals_by_hand(net):
    table = net.predictability(mixed())
    same(columns(table), by_hand(net.model_, mixed(), mixed()))
    assert net.predictability_.sample == "in-sample"
    assert table["n"].tolist() == [300.0] * 4
    assert table["explained_deviance"][3] == pytest.approx(0, abs=1e-3)  # nothing tells of it
    losses = table["log_loss"].sum()
    assert losses == pytest.approx(-net.score(mixed()))  # one definition of conditionals


def test_new_rows_are_compared_with_the_marginals_of_those_learned_from(net):
    new = mixed(150, seed=1)
    same(columns(net.predictability(new)), by_hand(net.model_, new, mixed()))
    assert net.predictability_.sample == "given"


def test_held_out_numbers_are_those_of_networks_of_the_other_folds():
    rows, settings = mixed(120), {"lam": 0.02}
    found = gw.MarkovNetwork(**settings).predictability(rows, held_out=3, random_state=5)
    [[seed]] = seeds_for(5, 1)
    folds = deal(np.ones(120), 3, np.random.default_rng(seed))
    states = {f"x{i}": sorted({row[i] for row in rows}) for i in range(4)}
    sums = {name: np.zeros(5) for name in states}
    for fold in folds:
        inside = [row for row, held in zip(rows, fold, strict=True) if held]
        others = [row for row, held in zip(rows, fold, strict=True) if not held]
        model = gw.MarkovNetwork(states=states, **settings).fit(others).model_
        part = columns(
            gw.MarkovNetwork(states=states, **settings).fit(others).predictability(inside)
        )
        same(part, by_hand(model, inside, others))
        each = predict_each(
            model, model.rows_to_score(inside), gw.as_table(others, states=states).observed()
        )
        for i, name in enumerate(states):
            sums[name] += (each.n[i], each.correct[i], each.marginal_correct[i],
                           each.loss[i], each.marginal_loss[i])  # fmt: skip
    same(
        columns(found),
        {
            name: (right / n, (right - base) / (n - base), 1 - loss / worst)
            for name, (n, right, base, loss, worst) in sums.items()
        },
    )


def test_weights_are_repeated_rows():
    rows = mixed(80)
    counts = np.random.default_rng(0).integers(1, 4, 80)
    written = [row for row, k in zip(rows, counts, strict=True) for _ in range(k)]
    net = gw.MarkovNetwork(lam=0.02).fit(rows, sample_weight=counts)
    found = columns(net.predictability(rows, sample_weight=counts))
    assert net.predictability_.n_rows == counts.sum()
    same(found, columns(net.predictability(written)))
    same(found, by_hand(net.model_, rows, rows, counts, counts))


def test_missing_cells_are_not_predicted_and_count_as_in_scores():
    rng, rows = np.random.default_rng(2), mixed(200)
    gone = [[None if rng.random() < 0.1 else cell for cell in row] for row in rows]
    net = gw.MarkovNetwork(lam=0.02, missing="available-case", random_state=0).fit(gone)
    table = net.predictability(gone)
    expected = by_hand(net.model_, gone, gone, frequencies=net.missing_.frequencies)
    same(columns(table), expected)
    assert table["n"].tolist() == [sum(row[i] is not None for row in gone) for i in range(4)]
    assert net.predictability_.sample == "in-sample"
    held = net.predictability(gone, held_out=2)
    assert held["n"].tolist() == table["n"].tolist()
    with pytest.warns(gw.DataWarning, match="left out"):
        few = gw.MarkovNetwork(lam=0.02, missing="drop-rows").fit(gone)
    with pytest.warns(gw.DataWarning, match="left out"):
        dropped = few.predictability(gone)
    complete = [row for row in gone if None not in row]
    same(columns(dropped), columns(few.predictability(complete)))
    with pytest.raises(DataError, match="missing"):
        gw.MarkovNetwork(lam=0.02).fit(rows).predictability(gone)


def test_averages_of_impossible_states_are_refused():
    never = [[0.0, -np.inf], [-np.inf, 0.0]]
    model = gw.PairwiseMRF({n: [0, 1] for n in "ab"}, None, {("a", "b"): never})
    rows = model.rows_to_score([[0, None]], "available-case")
    with pytest.raises(DataError, match="-inf"):
        predict_each(model, rows)
    complete = predict_each(model, model.rows_to_score([[0, 0], [1, 1]]))
    assert complete.accuracy.tolist() == [1.0, 1.0]
    assert complete.explained_deviance.tolist() == [1.0, 1.0]


def test_variables_that_never_change_have_nothing_to_explain():
    rows = [["a", "x"], ["b", "x"]] * 20
    table = gw.MarkovNetwork(lam=0.1).fit(rows).predictability(rows)
    assert table["accuracy"][1] == table["marginal_accuracy"][1] == 1.0
    assert np.isnan([table["normalised_accuracy"][1], table["explained_deviance"][1]]).all()


def test_a_state_that_was_not_learned_from_counts_as_half_a_row():
    states = {"a": [0, 1, 2], "b": [0, 1]}
    rows = [{"a": 0, "b": 0}, {"a": 1, "b": 1}] * 10
    net = gw.MarkovNetwork(lam=0.05, states=states).fit(rows)
    table = net.predictability([{"a": 2, "b": 0}, {"a": 0, "b": 0}])
    expected = -(np.log(0.5 / 20.5) + np.log(10 / 20.5)) / 2
    assert table["marginal_log_loss"][0] == pytest.approx(expected)


def test_held_out_predictions_are_worse_than_in_sample_ones_where_noise_was_learned():
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 3, (60, 6))
    net = gw.MarkovNetwork(lam=0.005).fit(noise)
    inside, outside = net.predictability(noise), net.predictability(noise, held_out=5)
    assert inside["explained_deviance"].mean() > 0.05
    assert outside["explained_deviance"].mean() < 0


def test_what_means_nothing_is_refused(net):
    for folds in (1, 0, 2.5, True):
        with pytest.raises(ParameterError, match="held_out"):
            net.predictability(mixed(), held_out=folds)
    with pytest.raises(DataError):
        net.predictability([["no", "x"]])


def test_an_older_answer_is_forgotten_by_the_next_fit():
    rows = mixed(60)
    net = gw.MarkovNetwork(lam=0.05).fit(rows)
    net.predictability(rows)
    assert hasattr(net, "predictability_")
    assert not hasattr(net.fit(rows), "predictability_")
