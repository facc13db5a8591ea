"""Standard errors of weights against a pseudo-likelihood of its own, and repeated samples."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

import graftwork as gw

from doors.report import edges_of
from doors.significance import interval_of_shown, least_shown, shrunk

CARDS = (2, 3, 5, 2)
THETA = {(0, 1): 0.9, (1, 2): -0.4, (0, 2): 0.3, (2, 3): 0.35}
LOWER = np.array([0.3, -0.2, 0.1, -0.6])
STATES = np.array(list(itertools.product(*map(range, CARDS))))


def drawn(rng, n_rows):
    """Rows of a small ordered network, drawn from the list of all its states."""
    energy = STATES @ LOWER
    for (i, j), theta in THETA.items():
        energy = energy + theta * STATES[:, i] * STATES[:, j]
    p = np.exp(energy - energy.max())
    return STATES[rng.choice(len(STATES), n_rows, p=p / p.sum())]


def log_conditionals(parameters, rows, edges):
    """log p(x_i | rest) summed over i, of every row: unaries of states above the first, thetas."""
    sizes = [card - 1 for card in CARDS]
    unaries = np.split(parameters, np.cumsum([*sizes, len(edges)])[:-1])
    thetas = unaries.pop()
    total = np.zeros(len(rows))
    for i, card in enumerate(CARDS):
        field = np.zeros(len(rows))
        for theta, pair in zip(thetas, edges, strict=True):
            if i in pair:
                other = pair[0] if pair[1] == i else pair[1]
                field += theta * (rows[:, other] - (CARDS[other] - 1) / 2)  # tables are centred
        logits = np.concatenate([[0.0], unaries[i]]) + field[:, None] * np.arange(card)
        total += logits[np.arange(len(rows)), rows[:, i]] - np.log(np.exp(logits).sum(axis=1))
    return total


def sandwich(rows, edges):
    """Thetas and their standard errors, by finite differences of the log pseudo-likelihood.

    Errors twice: with all other parameters free, and with those at an edge's variables free alone.
    """
    size, step = sum(CARDS) - len(CARDS) + len(edges), 1e-4
    steps = step * np.eye(size)

    def scores(at):
        return np.array([
            (log_conditionals(at + e, rows, edges) - log_conditionals(at - e, rows, edges))
            / (2 * step) for e in steps
        ])  # fmt: skip

    best = minimize(
        lambda at: -log_conditionals(at, rows, edges).mean(), np.zeros(size),
        jac=lambda at: -scores(at).mean(axis=1), tol=1e-8,
    ).x  # fmt: skip
    hessian = np.array([
        (scores(best + e).sum(axis=1) - scores(best - e).sum(axis=1)) / (2 * step) for e in steps
    ])  # fmt: skip
    own = scores(best)
    owners = [(i,) for i, card in enumerate(CARDS) for _ in range(card - 1)] + edges

    def error(place, free):
        inverse = np.linalg.inv(hessian[np.ix_(free, free)])
        covariance = inverse @ (own[free] @ own[free].T) @ inverse
        at = free.index(place)
        return np.sqrt(max(covariance[at, at], -inverse[at, at]))  # the curvature's at least

    places = range(size - len(edges), size)
    near = [[k for k in range(size) if set(owners[k]) & set(owners[place])] for place in places]
    whole = [error(place, list(range(size))) for place in places]
    return best[places], whole, [error(*each) for each in zip(places, near, strict=True)]


def learned(rows):
    """The edges learned from rows, by pair."""
    columns = {f"x{i}": [int(x) for x in rows[:, i]] for i in range(len(CARDS))}
    order = {f"x{i}": list(range(card)) for i, card in enumerate(CARDS) if card > 2}
    net = gw.MarkovNetwork(ordinal=order, random_state=0).fit(columns)
    records = edges_of(net)
    return net, {(int(each.first[1]), int(each.second[1])): each for each in records}


def test_errors_are_those_of_a_sandwich_by_finite_differences():
    rows = drawn(np.random.default_rng(2), 4000)
    _, found = learned(rows)
    edges = sorted(found)
    assert edges == sorted(THETA)
    for pair, theta, error, near in zip(edges, *sandwich(rows, edges), strict=True):
        record = found[pair]
        assert record.weight == pytest.approx(theta, abs=0.15 * error)
        assert record.weight_se == pytest.approx(near, rel=0.01)
        assert record.weight_se == pytest.approx(error, rel=0.03)
        reach = 1.959964 * record.weight_se  # far from its limit, nothing is added for selection
        assert record.weight_low == pytest.approx(record.weight - reach, abs=1e-5)
        assert record.weight_high == pytest.approx(record.weight + reach, abs=1e-5)


def test_of_one_number_the_interval_says_what_the_test_says(monkeypatch):
    monkeypatch.setattr("graftwork.significance.tilted.ENOUGH", 0.0)  # else others decide
    net = gw.MarkovNetwork(random_state=0).fit(gw.datasets.load_adhd())
    records = edges_of(net)
    squares = np.array([(each.weight / each.weight_se) ** 2 for each in records])
    agree = np.isclose(squares, [each.statistic for each in records], rtol=0.01)
    assert agree.mean() > 0.8
    assert all(each.weight_low >= 0 for each in records)
    surest, least = records[0], max(records, key=lambda each: each.p_value)
    assert surest.weight_low > 0 == least.weight_low


def test_where_few_rows_tell_intervals_and_tests_tell_one_story():
    """Statistics made without the edge, errors made with it: each kept edge passes with both."""
    records = edges_of(gw.MarkovNetwork(random_state=0).fit(gw.datasets.load_adhd()))
    roots = np.sqrt([each.statistic for each in records])
    ratios = np.array([abs(each.weight) / each.weight_se for each in records])
    few = ~np.isclose(ratios, roots, rtol=0.005)
    assert few.sum() >= 5
    assert np.abs(ratios - roots)[few].max() < 1
    assert ratios.min() > 1.959964
    least = max(each.p_value for each in records)
    assert all(each.weight_low > 0 for each in records if each.p_value < 0.01 * least)
    assert all(each.weight_low >= 0 for each in records)


def shares_of(weight, error, limit, truth, n=400_000):
    """How often an estimate that is shown is at least this large, by drawing estimates."""
    drawn = truth + error * np.random.default_rng(0).normal(size=n)
    return np.mean(drawn[np.abs(drawn) > limit] >= weight)


def test_lower_ends_are_where_the_share_of_larger_shown_estimates_is_small():
    weights, error = np.array([1.2, 2.0, 3.0]), 0.4
    limits = np.full(3, 0.9)
    low, high = interval_of_shown(weights, np.full(3, error), limits)
    assert np.allclose(high, weights + 1.959964 * error)
    assert low[0] == 0 < low[1] < weights[1] - 1.959964 * error + 1e-9
    assert low[2] == pytest.approx(weights[2] - 1.959964 * error, abs=1e-3)
    assert shares_of(weights[0], error, 0.9, 0.0) > 0.025
    middle = shrunk(weights, np.full(3, error), limits)
    for k in (0, 1):
        assert shares_of(weights[k], error, 0.9, middle[k]) == pytest.approx(0.5, abs=0.01)
    assert shares_of(weights[1], error, 0.9, low[1]) == pytest.approx(0.025, abs=0.003)
    assert np.allclose(interval_of_shown(-weights, np.full(3, error), limits), [-high, -low])


def test_intervals_cover_what_is_shown_of_many_weak_effects():
    rng = np.random.default_rng(1)
    truth = rng.normal(0, 1.2, 20_000)
    drawn = truth + rng.normal(size=len(truth))
    shown = np.abs(drawn) > 2.5
    errors, limits = np.ones(len(truth)), np.full(len(truth), 2.5)
    low, high = interval_of_shown(drawn, errors, limits)
    covered = ((low <= truth) & (truth <= high))[shown].mean()
    naive = (np.abs(drawn - truth) <= 1.96)[shown].mean()
    assert naive < 0.85 < 0.95 <= covered
    sizes = np.abs(drawn[shown]).sum()
    likely = shrunk(np.abs(drawn[shown]), errors[shown], limits[shown]).sum()
    real = (truth * np.sign(drawn))[shown].sum()
    assert sizes / likely == pytest.approx(sizes / real, rel=0.2)


def test_what_a_weight_needed_leaves_the_rest_of_its_table_aside():
    weights, errors = np.array([2.0, 2.0, 2.0]), np.full(3, 0.4)  # squares of 25
    limits = least_shown(
        weights, errors, np.array([25.0, 40.0, 10.0]), np.array([16.0, 31.0, 16.0])
    )
    assert limits.tolist() == pytest.approx([1.6, 1.6, 0.0])


def test_pairs_without_a_sign_have_no_interval(tmp_path):
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 500)
    second = np.where(rng.random(500) < 0.6, first, rng.integers(0, 3, 500))
    colours = np.array(["red", "green", "blue"])
    words = {"a": colours[first].tolist(), "b": colours[second].tolist()}
    net = gw.MarkovNetwork(random_state=0).fit(words)
    [record] = edges_of(net)
    assert np.isnan([record.weight_se, record.weight_low, record.weight_high]).all()
    assert "weight_low" not in net.graph_.edges["a", "b"]


def test_files_and_graphs_have_the_intervals(tmp_path):
    rows = drawn(np.random.default_rng(2), 1000)
    net, found = learned(rows)
    net.save(tmp_path / "net.gw")
    kept = gw.load(tmp_path / "net.gw")
    graph = net.graph_
    for (i, j), record in found.items():
        numbers = graph.edges[f"x{i}", f"x{j}"]
        assert numbers["weight_se"] == record.weight_se
        assert numbers["weight_low"] == record.weight_low
    assert kept == net.model_
    text = net.summary()
    record = next(iter(found.values()))
    shown = f"({record.weight_low:.2f} to {record.weight_high:.2f})"
    assert shown in " ".join(text.split())


@pytest.mark.slow
def test_errors_are_the_deviations_of_repeated_samples():
    rng = np.random.default_rng(5)
    found = {pair: [] for pair in THETA}
    for _ in range(150):
        for pair, record in learned(drawn(rng, 1000))[1].items():
            if pair in found:
                found[pair].append((record.weight, record.weight_se))
    for pair, records in found.items():
        weights, errors = np.array(records).T
        assert len(weights) > 140
        assert errors.mean() == pytest.approx(weights.std(), rel=0.2)
        inside = np.abs(weights - THETA[pair]) <= 1.96 * errors
        assert inside.mean() >= 0.9


@pytest.mark.slow
def test_errors_of_bent_edges_are_those_of_their_weights():
    """The weight of a bent edge is an average over its table: against the spread of fits."""
    x = np.arange(5) - 2.0
    joint = np.exp(0.3 * np.outer(x, x**2 - 2.0) + 0.25 * np.outer(x, x) - 0.3 * x**2)
    rng, found = np.random.default_rng(7), []
    for _ in range(150):
        cells = rng.choice(25, 1500, p=joint.ravel() / joint.sum())
        columns = {"a": (cells // 5).tolist(), "b": (cells % 5).tolist()}
        net = gw.MarkovNetwork(ordinal=True, random_state=0).fit(columns)
        (record,) = edges_of(net)
        assert record.linear_share < 0.9
        found.append((record.weight, record.weight_se))
    weights, errors = np.array(found).T
    assert weights.std() == pytest.approx(errors.mean(), rel=0.15)
