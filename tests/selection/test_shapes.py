"""Ordered variables with goal="structure": linear parts and rests, each tested on its own."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control

import graftwork as gw

SCORES = np.arange(5) - 2.0
STRAIGHT = np.outer(SCORES, SCORES)
BENT = np.outer(SCORES, SCORES**2 - 2.0)


def drawn(tables, rows, seed=0, n=6):
    model = gw.PairwiseMRF({i: range(5) for i in range(n)}, None, tables)
    return model.sample(rows, random_state=seed).codes.T.astype(int)


def straight_pair(theta, rows, seed, margins=(0.2,) * 5):
    """Return two items with the table theta x y and given margins, and one of its own."""
    joint, margins = np.exp(theta * STRAIGHT), np.array(margins)
    for _ in range(2000):
        joint *= (margins / joint.sum(axis=1))[:, None]
        joint *= margins / joint.sum(axis=0)
    rng = np.random.default_rng(seed)
    cells = rng.choice(25, size=rows, p=joint.ravel() / joint.sum())
    return np.stack([cells // 5, cells % 5, rng.integers(5, size=rows)], axis=1)


def answers_with_style(rows, n, seed):
    """Return items of one trait, answered with a style of each person: the ends, or the middle."""
    rng = np.random.default_rng(seed)
    trait, style = rng.normal(size=(rows, 1)), np.exp(0.6 * rng.normal(size=(rows, 1)))
    drawn = (0.6 * trait + 0.8 * rng.normal(size=(rows, n))) * style
    return np.searchsorted([-1.2, -0.4, 0.4, 1.2], drawn)


def edges(net):
    return {tuple(sorted((int(a[1:]), int(b[1:])))) for a, b in net.model_.edges}


def test_linear_relations_need_few_rows():
    chain = {(i, i + 1): 0.2 * STRAIGHT for i in range(5)}
    rows = drawn(chain, 150)
    net = gw.MarkovNetwork(ordinal=True).fit(rows)
    assert edges(net) == set(chain)
    assert not net.evidence_.curved
    assert (net.edges_["df"] == 1).all()
    assert len(gw.MarkovNetwork(ordinal=False).fit(rows).model_.edges) < 5
    for a, b in net.model_.edges:  # a linear table is theta x y and nothing else
        table = net.model_.table(a, b)
        table = table - table.mean(0) - table.mean(1, keepdims=True) + table.mean()
        assert np.allclose(table, net.model_.weight(a, b) * STRAIGHT, atol=1e-9)
    assert np.allclose(net.edges_["weight"], 0.2, atol=0.12)


def test_a_relation_that_is_not_monotone_is_found():
    rows = drawn({(0, 1): 0.3 * BENT, (2, 3): 0.3 * STRAIGHT}, 400)
    net = gw.MarkovNetwork(ordinal=True).fit(rows)
    assert edges(net) == {(0, 1), (2, 3)}
    assert net.evidence_.curved == {(0, 1)}
    found = net.edges_.set_index(["first", "second"])
    assert found.loc[("x2", "x3"), "df"] == 1
    assert found.loc[("x0", "x1"), "df"] > 1
    assert "1 is not linear and has a whole table: x0 - x1" in " ".join(net.summary().split())
    assert found.loc[("x2", "x3"), "linear_share"] == pytest.approx(1.0)
    # Least squares, cells weighed by the frequencies of both variables in the rows.
    p, q = (np.bincount(rows[:, i], minlength=5) / len(rows) for i in (0, 1))
    root, table = np.sqrt(np.outer(p, q)).ravel(), net.model_.table("x0", "x1").ravel()
    states = np.divmod(np.arange(25), 5)
    effects = np.column_stack([np.eye(5)[states[0]], np.eye(5)[states[1]]])

    def left(columns):
        weighed = columns * root[:, None]
        fitted = np.linalg.lstsq(weighed, table * root, rcond=None)[0]
        return np.sum((table * root - weighed @ fitted) ** 2)

    line = np.column_stack([effects, SCORES[states[0]] * SCORES[states[1]]])
    share = found.loc[("x0", "x1"), "linear_share"]
    assert share == pytest.approx(1 - left(line) / left(effects), rel=1e-6)
    assert share < 0.2


def test_an_edge_with_both_parts_is_curved():
    both = 0.3 * STRAIGHT + 0.12 * np.outer(SCORES**2 - 2, SCORES**2 - 2)
    rows = drawn({(0, 1): both}, 1500)
    net = gw.MarkovNetwork(ordinal=True).fit(rows)
    assert edges(net) == {(0, 1)}
    assert net.evidence_.curved == {(0, 1)}
    assert net.model_.weight("x0", "x1") > 0


@pytest.mark.parametrize("seed", range(3))
def test_independent_items_have_no_edges(seed):
    rows = np.random.default_rng(seed).integers(5, size=(200, 8))
    net = gw.MarkovNetwork(ordinal=True).fit(rows)
    assert not net.model_.n_edges


def test_an_unordered_variable_has_a_number_for_each_difference():
    rng = np.random.default_rng(0)
    town = rng.integers(3, size=500)
    odds = np.exp(0.4 * np.array([-1.0, 0.0, 1.0])[town][:, None] * SCORES)
    odds /= odds.sum(axis=1, keepdims=True)
    mood = (rng.random(500)[:, None] > odds.cumsum(axis=1)).sum(axis=1)
    table = {
        "town": [f"t{t}" for t in town],
        "mood": mood.tolist(),
        "age": rng.integers(5, size=500),
    }
    net = gw.MarkovNetwork(ordinal=["mood", "age"]).fit(table)
    assert net.model_.edges == [("town", "mood")]
    assert net.edges_["df"][0] == pytest.approx(2.0, abs=0.01)  # Satterthwaite
    assert np.isnan(net.edges_["weight"][0])


def test_resamples_keep_the_curved_pairs():
    rows = drawn({(0, 1): 0.3 * BENT, (2, 3): 0.3 * STRAIGHT}, 400)
    net = gw.MarkovNetwork(ordinal=True).fit(rows)
    found = net.bootstrap(rows, n=6, random_state=0).to_frame()
    often = {
        (a, b): f for a, b, f in found[["first", "second", "frequency"]].itertuples(index=False)
    }
    assert often[("x0", "x1")] == often[("x2", "x3")] == 1.0


def bent_tables(net):
    """Return the pairs of a model whose tables are not linear."""
    place = {name: k for k, name in enumerate(net.names_)}
    shares = zip(net.model_.edges, net.model_.linear_shares.tolist(), strict=True)
    return {tuple(sorted((place[a], place[b]))) for (a, b), share in shares if share < 1.0 - 1e-6}


@pytest.mark.parametrize("theta", [1.3, 3.0])
def test_a_strong_line_is_a_line_of_its_own_size(theta):
    net = gw.MarkovNetwork(ordinal=True).fit(straight_pair(theta, 1000, 0))
    assert edges(net) == {(0, 1)}
    assert not net.evidence_.curved
    assert not bent_tables(net)
    assert net.model_.weight("x0", "x1") == pytest.approx(theta, rel=0.1)


def test_near_copies_are_lines():
    rng = np.random.default_rng(0)
    first = rng.integers(5, size=500)
    away = (rng.random(500) < 0.1) * rng.choice([-1, 1], size=500)
    rows = np.stack([first, np.clip(first + away, 0, 4), rng.integers(5, size=500)], axis=1)
    net = gw.MarkovNetwork(ordinal=True).fit(rows)
    assert edges(net) == {(0, 1)}
    assert not bent_tables(net)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_model_is_bent_where_the_last_tests_say_so(seed):
    net = gw.MarkovNetwork(ordinal=True).fit(answers_with_style(400, 8, seed))
    curved = net.evidence_.curved
    assert bent_tables(net) == curved
    rests = net.evidence_.rest_log_q
    assert all(rests[pair][1] <= np.log(net.fdr) for pair in curved)
    told = " ".join(net.summary().split())
    if curved:
        assert f"{len(curved)} {'is' if len(curved) == 1 else 'are'} not linear" in told
    else:
        assert "Every edge of ordered variables lies along their scores" in told


def test_pairs_that_seem_bent_again_and_again_stay_lines(monkeypatch):
    """Tests that change their mind at every look do not keep the search going."""
    looks = []

    def fickle(*_):
        looks.append(frozenset({(0, 1)}) if len(looks) % 2 == 0 else frozenset({(2, 3)}))
        return looks[-1]

    monkeypatch.setattr("graftwork.selection.structure.curved_pairs", fickle)
    chain = {(i, i + 1): 0.3 * STRAIGHT for i in range(5)}
    net = gw.MarkovNetwork(ordinal=True).fit(drawn(chain, 400))
    assert len(looks) == 4  # (0, 1) bends and goes back, then (2, 3); neither bends again
    assert not net.evidence_.curved
    assert not bent_tables(net)


@pytest.mark.slow
@pytest.mark.parametrize("margins", [(0.2,) * 5, (0.4, 0.3, 0.15, 0.1, 0.05)], ids=["even", "skew"])
@pytest.mark.parametrize(("rows", "within"), [(400, 0.15), (1000, 0.1), (4000, 0.1)])
@pytest.mark.parametrize("theta", [0.6, 0.9, 1.3])
def test_straight_pairs_of_forty_samples(theta, rows, within, margins):
    nets = [
        gw.MarkovNetwork(ordinal=True).fit(straight_pair(theta, rows, seed, margins))
        for seed in range(40)
    ]
    found = [net.model_.weight("x0", "x1") for net in nets]
    assert np.median(found) == pytest.approx(theta, rel=within)
    assert sum((0, 1) in net.evidence_.curved for net in nets) <= 2


@pytest.mark.parametrize(
    "options",
    [{}, {"lam": 0.03}, {"criterion": "ebic"}, {"loss": "likelihood"}],
    ids=["tests", "lambda", "criterion", "likelihood"],
)
def test_straight_lines_alone(options):
    rows = drawn({(0, 1): 0.3 * BENT, (2, 3): 0.3 * STRAIGHT, (3, 4): 0.3 * STRAIGHT}, 400)
    net = gw.MarkovNetwork(ordinal=True, shape="linear", **options).fit(rows)
    assert {(2, 3), (3, 4)} <= edges(net)
    assert not bent_tables(net)
    assert net.certificate_.converged
    if not options:
        assert edges(net) == {(2, 3), (3, 4)}
        assert net.evidence_.rests is None


@pytest.mark.parametrize(
    "options",
    [{"method": "chow-liu"}, {"penalty": "l1"}, {"ordinal": False}, {"shape": "line"}],
    ids=str,
)
def test_straight_lines_that_mean_nothing_are_refused(options):
    with pytest.raises(gw.errors.ParameterError, match="shape="):
        gw.MarkovNetwork(**{"shape": "linear"} | options).fit([[1, 2], [2, 1], [3, 3]])


def test_both_tests_of_a_pair_are_one_family():
    """A pair may become an edge by its linear part or by its rest: the q-values count both."""
    rows = drawn({(0, 1): 0.2 * STRAIGHT, (2, 3): 0.3 * BENT, (4, 5): 0.1 * STRAIGHT}, 300)
    net = gw.MarkovNetwork(ordinal=True, fdr=0.05).fit(rows)
    evidence = net.evidence_
    assert (evidence.n_tests, evidence.family) == (15, 30)
    p = np.exp(np.append(evidence.edges.log_p, evidence.others.log_p))
    q = np.exp(np.append(evidence.edge_log_q, evidence.other_log_q))
    expected = false_discovery_control(np.append(p, np.ones(30 - len(p))))[: len(p)]
    assert np.allclose(q, expected, rtol=1e-9)
    rest_p = np.array([np.exp(log_p) for log_p, _ in evidence.rest_log_q.values()])
    expected = false_discovery_control(np.append(rest_p, np.ones(30 - len(rest_p))))[: len(rest_p)]
    assert np.allclose([np.exp(q) for _, q in evidence.rest_log_q.values()], expected, rtol=1e-9)
    straight = gw.MarkovNetwork(ordinal=True, shape="linear").fit(rows)
    assert straight.evidence_.family == straight.evidence_.n_tests == 15


@pytest.mark.slow
def test_independent_ordered_items_have_false_edges_as_rarely_as_promised():
    false = 0
    for seed in range(200):
        rng = np.random.default_rng(1000 + seed)
        rows = rng.choice(5, size=(300, 8), p=[0.45, 0.25, 0.15, 0.1, 0.05])
        false += gw.MarkovNetwork(ordinal=True, fdr=0.05).fit(rows).model_.n_edges > 0
    assert false <= 10 + 2 * np.sqrt(200 * 0.05 * 0.95)
