"""Rows of a known network and the check of their mixing, against plain formulas and enumeration."""

import json

import numpy as np
import pytest

import graftwork as gw
from graftwork.datasets import Mixing, bernoulli_network, draw, effective_size, split_rhat
from graftwork.errors import ParameterError

from doors.datasets import _plan, _share_out, diagnose
from doors.inference import log_weights
from support.brute import enumerate_states, grid


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def plain_rhat(draws):
    """Split R-hat in the words of the book, one statistic at a time."""
    half = len(draws[0]) // 2
    parts = [chain[:half] for chain in draws] + [chain[len(chain) - half :] for chain in draws]
    means = [sum(part) / half for part in parts]
    grand = sum(means) / len(means)
    between = half / (len(parts) - 1) * sum((m - grand) ** 2 for m in means)
    within = np.mean(
        [sum((x - m) ** 2 for x in p) / (half - 1) for p, m in zip(parts, means, strict=True)]
    )
    pooled = (half - 1) / half * within + between / half
    size = len(parts) * half * pooled / between
    return np.sqrt(pooled / within), min(size, len(parts) * half)


def ferromagnet(side, coupling):
    edges = grid(side, side)
    names = [f"s{i}" for i in range(side * side)]
    table = [[coupling, -coupling], [-coupling, coupling]]
    return gw.PairwiseMRF(
        {name: [-1, 1] for name in names},
        pairwise={(names[i], names[j]): table for i, j in edges},
    )


@pytest.mark.parametrize("draws", [4, 5, 60])
def test_rhat_and_effective_size_equal_a_plain_twin(draws, rng):
    values = rng.normal(size=(6, draws)) + 0.3 * rng.normal(size=(6, 1))
    rhat, size = plain_rhat(values.tolist())
    assert split_rhat(values) == pytest.approx(rhat, rel=1e-12)
    assert effective_size(values) == pytest.approx(size, rel=1e-12)


def test_rhat_of_constants():
    assert split_rhat(np.full((3, 9), 0.1)) == 1.0
    assert effective_size(np.full((3, 8), 0.1)) == 24.0
    assert split_rhat(np.arange(3)[:, None] * np.ones(8)) == np.inf
    with pytest.raises(ValueError, match="4 draws"):
        split_rhat(np.zeros((3, 3)))


def test_effective_size_of_slow_chains(rng):
    """An autoregression of coefficient a is worth (1 - a) / (1 + a) of its draws."""
    a, chains, draws = 0.9, 200, 2000
    values = np.empty((chains, draws))
    values[:, 0] = rng.normal(size=chains)
    for t in range(1, draws):
        values[:, t] = a * values[:, t - 1] + np.sqrt(1 - a * a) * rng.normal(size=chains)
    expected = chains * draws * (1 - a) / (1 + a)
    assert effective_size(values) == pytest.approx(expected, rel=0.25)


def test_diagnosis_is_the_worst_of_all_statistics(rng):
    model = bernoulli_network(5, [2, 3, 2, 4, 3], mean_degree=3, random_state=2)
    layout, weights = model.potentials.layout, model.potentials.weights
    codes = np.stack([rng.integers(0, s, 6 * 21) for s in layout.cards]).astype(np.uint16)
    codes[3, :21] = 2
    values = [codes[i] == a for i in range(5) for a in range(layout.cards[i])]
    values += [
        layout.table(weights, e)[codes[i], codes[j]] for e, (i, j) in enumerate(layout.edges)
    ]
    values.append(log_weights(model.potentials, codes))
    plain = [plain_rhat(v.reshape(6, 21).astype(float).tolist()) for v in values]
    found = diagnose(model, codes, 6)
    assert found.rhat == pytest.approx(max(rhat for rhat, _ in plain), rel=1e-9)
    assert found.ess == pytest.approx(min(size for _, size in plain), rel=1e-9)
    assert "x3" in found.worst


@pytest.mark.parametrize("method", ["exact", "gibbs"])
def test_rows_have_the_pair_marginals_of_the_network(method):
    model = bernoulli_network(6, [2, 3, 2, 4, 2, 3], mean_degree=3, random_state=1)
    drawn = draw(model, 30_000, n_test=10_000, method=method, random_state=0)
    assert drawn.mixing.ok
    truth = enumerate_states(model.potentials)
    for table, tolerance in ((drawn.data, 0.015), (drawn.test, 0.025)):
        for i in range(6):
            for j in range(i + 1, 6):
                seen = np.zeros(
                    (model.potentials.layout.cards[i], model.potentials.layout.cards[j])
                )
                np.add.at(seen, (table.codes[i], table.codes[j]), 1 / table.n_rows)
                np.testing.assert_allclose(seen, truth.marginal(i, j), atol=tolerance)


@pytest.mark.parametrize("method", ["exact", "gibbs"])
def test_seeds_and_threads(method):
    model = bernoulli_network(10, random_state=0)
    options = {"n_test": 30, "method": method, "random_state": 4, "n_chains": 20}
    one, two = (draw(model, 100, **options, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.data.codes, two.data.codes)
    np.testing.assert_array_equal(one.test.codes, two.test.codes)
    assert one.mixing == two.mixing
    other = draw(model, 100, **{**options, "random_state": 5})
    assert (other.data.codes != one.data.codes).any()


def test_auto_is_exact_where_it_fits_and_says_so():
    drawn = draw(bernoulli_network(12, random_state=0), 70, n_test=7, random_state=0)
    assert drawn.mixing == Mixing("exact", 77, ess=77.0)
    dense = bernoulli_network(60, mean_degree=40, edge_sd=0.05, random_state=0)
    drawn = draw(dense, 70, n_test=7, burn_in=50, random_state=0)
    assert drawn.mixing.method == "gibbs"
    assert (drawn.data.n_rows, drawn.test.n_rows) == (70, 7)
    assert drawn.mixing.ok
    assert json.loads(json.dumps(drawn.mixing.to_dict()))["ok"] is True


def test_a_strong_ferromagnet_is_flagged():
    model = ferromagnet(6, 1.0)
    with pytest.warns(gw.ApproximationWarning, match="have not mixed"):
        drawn = draw(model, 500, method="gibbs", burn_in=20, max_burn_in=20, thin=1, random_state=0)
    assert not drawn.mixing.ok
    assert drawn.mixing.rhat > 2
    assert drawn.mixing.ess < 500
    assert drawn.mixing.attempts == 1
    # The same network drawn exactly is fine: both magnetisations come up.
    exact = draw(model, 500, random_state=0)
    assert exact.mixing.ok
    assert 0.35 < (exact.data.codes.mean(axis=0) > 0.5).mean() < 0.65


def test_a_weak_ferromagnet_passes_after_a_longer_run():
    drawn = draw(ferromagnet(6, 0.5), 3000, method="gibbs", burn_in=5, thin=1, random_state=0)
    assert drawn.mixing.ok
    assert drawn.mixing.attempts > 1
    assert drawn.mixing.thin == 2 ** (drawn.mixing.attempts - 1)
    # The direction is symmetric, and a row's magnetisation must take both signs.
    assert abs(drawn.data.codes.mean() - 0.5) < 0.05


def test_the_limit_of_burn_in_is_kept():
    with pytest.warns(gw.ApproximationWarning):
        drawn = draw(
            ferromagnet(6, 2.0), 100, method="gibbs", burn_in=100, max_burn_in=400, random_state=0
        )
    assert (drawn.mixing.burn_in, drawn.mixing.attempts, drawn.mixing.thin) == (400, 3, 40)


@pytest.mark.parametrize(
    ("n_rows", "n_test", "n_chains"), [(30, 10, 40), (1, 1, 2), (1000, 3, 7), (19_000, 1_000, 64)]
)
def test_rows_come_evenly_from_chains_and_test_rows_from_others(n_rows, n_test, n_chains, rng):
    plan = _plan(n_rows, n_test, n_chains, 0, 1, 0)
    parts = _share_out(plan, n_rows, n_test, rng)
    chains = [part // plan.n_draws for part in parts]
    assert [len(set(part.tolist())) for part in parts] == [n_rows, n_test]
    assert not set(chains[0]) & set(chains[1])
    assert max(map(max, chains)) < n_chains
    for chain in chains:
        each = np.bincount(chain)[np.unique(chain)]
        assert each.max() - each.min() <= 1


def test_impossible_states():
    hard = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    model = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): hard})
    codes = draw(model, 50, random_state=0).data.codes
    assert (codes[0] == codes[1]).all()
    ring = dict.fromkeys([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")], hard[::-1])
    with pytest.raises(gw.DataError, match='method="exact"'):
        draw(gw.PairwiseMRF({n: [0, 1] for n in "abcd"}, None, ring), 50, method="gibbs")
    with pytest.raises(gw.DataError, match="every joint state of this network is impossible"):
        draw(
            gw.PairwiseMRF(
                {n: [0, 1] for n in "abc"},
                {"c": [0.0, -np.inf]},
                {("a", "b"): hard, ("a", "c"): [[-np.inf, 0.0], [-np.inf, -np.inf]]},
            ),
            50,
            method="gibbs",
            random_state=0,
        )


def test_one_variable_and_no_edges():
    coin = gw.PairwiseMRF({"coin": ["head", "tail"]})
    for method in ("exact", "gibbs"):
        drawn = draw(coin, 400, method=method, random_state=0)
        assert 0.4 < drawn.data.codes.mean() < 0.6


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"n_rows": 0}, "n_rows must .*got 0"),
        ({"n_rows": 10.0}, "n_rows must .*got 10.0"),
        ({"n_chains": 1}, "n_chains must .*got 1"),
        ({"thin": 0}, "thin must .*got 0"),
        ({"burn_in": -1}, "burn_in must .*got -1"),
        ({"max_burn_in": None}, "max_burn_in must .*got None"),
        ({"method": "magic"}, "method is 'magic'"),
        ({"random_state": "x"}, "random_state is 'x'"),
    ],
)
def test_draw_refuses_nonsense(options, told):
    with pytest.raises((gw.DataError, ParameterError), match=told):
        draw(bernoulli_network(4, mean_degree=2, random_state=0), **{"n_rows": 5, **options})


def test_draw_wants_a_model():
    with pytest.raises(gw.DataError, match="model is a MarkovNetwork"):
        draw(gw.MarkovNetwork(), 5)
