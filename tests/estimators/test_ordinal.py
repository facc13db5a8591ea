"""Ordered columns: what is ordered, and that fits are optimal by an independent sum."""

import numpy as np
import pandas as pd
import pytest

import graftwork as gw
from graftwork.cli import main
from graftwork.data import as_table
from graftwork.errors import DataWarning, ParameterError

from doors.estimators import ordered_table


def items(n=5, rows=400, seed=0, theta=0.5):
    """Return five-point answers along a chain."""
    rng = np.random.default_rng(seed)
    scores = np.arange(5) - 2.0
    x = np.zeros((rows, n), dtype=int)
    x[:, 0] = rng.integers(5, size=rows)
    for j in range(1, n):
        odds = np.exp(theta * scores[x[:, j - 1]][:, None] * scores[None])
        odds /= odds.sum(axis=1, keepdims=True)
        x[:, j] = (rng.random(rows)[:, None] > odds.cumsum(axis=1)).sum(axis=1)
    return x


def scores_of(data, ordinal, degree=1, declared=()):
    ordered = ordered_table(as_table(data), ordinal, degree, declared).ordered
    return None if ordered is None else ordered.scores


def test_numbers_are_their_own_scores():
    assert scores_of({"a": [1, 2, 5], "b": ["x", "y", "z"]}, ["a"]) == {"a": {1: 1, 2: 2, 5: 5}}


def test_ordered_categoricals_are_found_and_can_be_left_out():
    column = pd.Categorical(["lo", "hi", "mid"], ["lo", "mid", "hi"], ordered=True)
    frame = pd.DataFrame({"a": column, "b": column.as_unordered()})
    assert scores_of(frame, None) == {"a": {"lo": 0, "mid": 1, "hi": 2}}
    assert scores_of(frame, False) == {}
    assert set(scores_of(frame, {"b": ["hi", "mid", "lo"], "a": None})) == {"a", "b"}


WORDS = ["never", "rarely", "sometimes", "often"]
SCALE = "never < rarely<sometimes < often"


def worded(n=20, rows=400):
    """Return columns of the same answers, two of another kind, and one with an answer more."""
    codes = np.minimum(items(n, rows), 3)
    frame = pd.DataFrame({f"q{j}": np.array(WORDS)[codes[:, j]] for j in range(n)})
    frame["town"] = np.array(["x", "y", "z"])[np.arange(rows) % 3]
    frame["sex"] = np.array(["m", "w"])[np.arange(rows) % 2]
    return frame


def test_all_means_all_in_python_too():
    data = {"a": [1, 2, 5], "b": [3, 4, 8]}
    assert scores_of(data, "all") == scores_of(data, ["all"]) == scores_of(data, True)
    assert scores_of(data, "all") == {"a": {1: 1, 2: 2, 5: 5}, "b": {3: 3, 4: 4, 8: 8}}
    named = {"all": [1, 2, 5], "b": [3, 4, 8]}
    assert set(scores_of(named, ["all"])) == {"all"}  # the column of that name
    net = gw.MarkovNetwork(ordinal="all", lam=0.1).fit(items())
    assert len(net.model_.scores) == 5


def test_one_scale_orders_every_column_with_these_answers():
    frame = worded()
    for ordinal in (SCALE, [SCALE], {SCALE: None}):
        found = scores_of(frame, ordinal)
        assert set(found) == {f"q{j}" for j in range(20)}
        assert all(own == {word: k for k, word in enumerate(WORDS)} for own in found.values())
    few = scores_of({"a": ["often", "never"], "b": ["low", "high"]}, [SCALE, "low < high"])
    assert few == {"a": {"never": 0, "often": 3}, "b": {"low": 0, "high": 1}}
    both = scores_of({"a": ["often", "never"], "b": [1, 2]}, [SCALE, "all"])
    assert both == {"a": {"never": 0, "often": 3}, "b": {1: 1, 2: 2}}
    own = scores_of({"a": ["often", "never"]}, {SCALE: None, "a": ["often", "never"]})
    assert own == {"a": {"often": 0, "never": 1}}
    assert scores_of({"a": [2, 1, 3], "b": ["x", "y", "z"]}, "3<2<1") == {"a": {3: 0, 2: 1, 1: 2}}


def test_a_scale_that_does_not_fit_is_said():
    with pytest.raises(ParameterError, match="'low < high' orders nothing"):
        scores_of(worded(3), "low < high")
    with pytest.raises(ParameterError, match=r"no others \('a' has 'often' as well\)"):
        scores_of({"a": ["never", "rarely", "often"]}, "never < rarely")
    mixed = worded(3).assign(q1=[*WORDS, "no idea"] * 80)
    with pytest.warns(DataWarning, match="'q1' has 'no idea' as well, and is not taken as ordered"):
        assert set(scores_of(mixed, SCALE)) == {"q0", "q2"}
    assert set(scores_of(mixed, {SCALE: None, "q1": [*WORDS, "no idea"]})) == {"q0", "q1", "q2"}
    with pytest.raises(ParameterError, match="ordinal must be True or 'all'"):
        scores_of(mixed, "never <")


def test_integer_items_are_taken_as_ordered_where_lambda_is_chosen():
    x = items(rows=200, theta=0.2)
    net, said = (gw.MarkovNetwork(ordinal=ordinal).fit(x) for ordinal in (None, True))
    assert set(net.model_.scores) == {f"x{j}" for j in range(5)}
    assert net.model_.edges == said.model_.edges
    assert (net.edges_["df"] == 1).all()
    (told,) = net.data_.remarks
    assert told.startswith("'x0', 'x1', 'x2', 'x3', 'x4' hold a few whole numbers")
    assert "ordinal=False says so" in told
    assert told in " ".join(net.summary().split())
    plain = gw.MarkovNetwork(ordinal=False).fit(x)
    assert not plain.model_.scores
    assert not plain.data_.remarks + said.data_.remarks
    for own in ({"lam": 0.1}, {"method": "chow-liu"}, {"penalty": "l1", "goal": "prediction"}):
        assert not gw.MarkovNetwork(**own).fit(x[:, :3]).model_.scores
    ebic = gw.MarkovNetwork(criterion="ebic").fit(x)
    assert len(ebic.model_.scores) == 5
    counts = gw.count_pairs(x)
    assert len(gw.MarkovNetwork(loss="likelihood", criterion="ebic").fit(counts).model_.scores) == 5


@pytest.mark.parametrize("ordinal", [None, True, ["x0", "x1", "x2", "x3", "x4"]], ids=str)
def test_numbers_written_as_texts_are_ordered_as_numbers_are(ordinal):
    rows = pd.DataFrame(2 * items(rows=200, theta=0.2) // 2 * (2 if ordinal else 1))
    rows.columns = [f"x{j}" for j in range(5)]
    net, told = (gw.MarkovNetwork(ordinal=ordinal).fit(x) for x in (rows, rows.astype(str)))
    assert net.model_.n_edges >= 4
    assert told.model_.states["x0"] == tuple(sorted(map(str, net.model_.states["x0"])))
    assert told.model_.edges == net.model_.edges
    np.testing.assert_allclose(told.edges_["weight"], net.edges_["weight"], rtol=1e-4)


def test_a_network_knows_which_of_its_rows_are_ordered():
    plain = gw.PairwiseMRF({"a": [1, 2, 3], "b": [1, 2, 3]}).sample(50, random_state=0)
    assert not gw.MarkovNetwork().fit(plain).model_.scores
    net = gw.MarkovNetwork(ordinal=["x0"]).fit(items())
    again = gw.MarkovNetwork().fit(net.sample(100, random_state=0))
    assert set(again.model_.scores) == {"x0"}
    assert not again.data_.remarks


def test_resamples_and_groups_take_what_the_network_takes():
    x = items(rows=300, theta=0.3)
    net = gw.MarkovNetwork().fit(x)
    boot = net.bootstrap(x, 5, random_state=0, n_jobs=1)
    same = gw.MarkovNetwork(ordinal=True).bootstrap(x, 5, random_state=0, n_jobs=1)
    assert len(boot.model.scores) == 5
    assert np.array_equal(boot.weights, same.weights, equal_nan=True)
    frame = pd.DataFrame(x, columns=list("abcde")).assign(g=["u", "v"] * 150)
    for ordinal, n in ((None, 5), (False, 0), (["a"], 1)):
        found = gw.compare_groups(frame, "g", ordinal=ordinal, n_jobs=1)
        assert len(found.networks["u"].model_.scores) == n


def test_declared_states_have_an_order():
    data = {"a": ["lo", "hi", "mid"]}
    with pytest.raises(ParameterError, match="whose order is not known"):
        scores_of(data, ["a"])
    assert scores_of(data, ["a"], declared=["a"]) == {"a": {"hi": 0, "lo": 1, "mid": 2}}


@pytest.mark.parametrize(
    ("ordinal", "words"),
    [
        (["c"], "not a column"),
        ("b", "a list of column names"),
        (3, "a list of column names"),
        ({"a": "low"}, "its states in order"),
        ({"a": [1, 2]}, "no place or score is given for 5"),
        ({"a": {1: 0, 2: 0, 5: 1}}, "the same score"),
        ({"a": {1: "x", 2: 0, 5: 1}}, "must be numbers"),
        ({"a": {1: 0, 2: float("nan"), 5: 1}}, "must be finite"),
        ({"a": [1, 2, 1, 5]}, "1 in two places"),
        (True, "whose order is not known"),
    ],
)
def test_what_says_nothing_is_refused(ordinal, words):
    with pytest.raises(ParameterError, match=words):
        scores_of({"a": [1, 2, 5], "b": ["x", "y", "z"]}, ordinal)


def negative_log_pseudolikelihood(x, unaries, tables):
    total = 0.0
    for i in range(x.shape[1]):
        energy = np.tile(unaries[i], (len(x), 1))
        for (a, b), table in tables.items():
            if a == i:
                energy += table[:, x[:, b]].T
            elif b == i:
                energy += table[x[:, a]]
        energy -= energy.max(axis=1, keepdims=True)
        energy -= np.log(np.exp(energy).sum(axis=1, keepdims=True))
        total -= energy[np.arange(len(x)), x[:, i]].mean()
    return total


@pytest.mark.parametrize("degree", [1, 2])
def test_no_direction_goes_down_from_a_fit(degree):
    x, lam, s = items(), 0.04, 5
    net = gw.MarkovNetwork(lam=lam, ordinal=True, degree=degree, tol=1e-9).fit(x)
    assert net.certificate_.converged
    a = np.arange(s) - 2.0
    columns = np.stack([a, a**2 - 2.0], axis=1)[:, :degree]
    basis = columns / np.linalg.norm(columns, axis=0)
    projector, centre = basis @ basis.T, np.eye(s) - 1 / s

    def objective(unaries, tables):
        value = negative_log_pseudolikelihood(x, unaries, tables)
        for table in tables.values():
            centred = centre @ table @ centre
            line = projector @ centred @ projector
            share = degree**2 / 16
            value += lam * 5 * np.sqrt(share) * np.linalg.norm(line)
            value += lam * 5 * np.sqrt(1 - share) * np.linalg.norm(centred - line)
        return value

    names = list(net.names_)
    unaries = [np.array(net.model_.unary(name)) for name in names]
    tables = {(i, j): np.zeros((s, s)) for i in range(5) for j in range(i + 1, 5)}
    for u, v in net.graph_.edges:
        i, j = sorted((names.index(u), names.index(v)))
        tables[i, j] = np.array(net.model_.table(names[i], names[j]))
    here = objective(unaries, tables)
    assert abs(here - net.objective_) < 1e-9
    rng = np.random.default_rng(0)
    for pair in tables:
        noise = centre @ rng.normal(size=(s, s)) @ centre
        for step in (projector @ noise @ projector, noise - projector @ noise @ projector):
            for sign in (1e-4, -1e-4):
                moved = {**tables, pair: tables[pair] + sign * step}
                assert objective(unaries, moved) >= here - 1e-9


def test_a_straight_relation_has_a_straight_table():
    net = gw.MarkovNetwork(lam=0.05, ordinal=True).fit(items())
    table = np.array(net.model_.table("x0", "x1"))
    scores = np.arange(5) - 2.0
    slope = (scores @ table @ scores) / 100.0
    assert np.allclose(
        table - table.mean(1, keepdims=True) - table.mean(0) + table.mean(),
        slope * np.outer(scores, scores),
        atol=1e-9,
    )


def test_declared_states_that_never_occur_change_no_weight():
    x = items(n=3)
    frame = pd.DataFrame(x, columns=list("abc"))
    wide = frame.apply(lambda column: pd.Categorical(column, range(8), ordered=True))
    nets = [gw.MarkovNetwork(ordinal=True).fit(data) for data in (frame, wide)]
    assert nets[0].model_.edges == nets[1].model_.edges
    for a, b in nets[0].model_.edges:
        one, other = (net.model_.weight(a, b) for net in nets)
        assert one == pytest.approx(other, abs=1e-9)
    assert np.isnan(nets[1].model_.scores["a"][7])


def test_names_do_not_take_the_order_from_other_columns():
    column = pd.Categorical([1, 2, 3], ordered=True)
    assert set(scores_of(pd.DataFrame({"a": column, "b": [1, 2, 3]}), ["b"])) == {"a", "b"}


def test_missing_as_a_state_loses_the_order_with_a_warning():
    frame = pd.DataFrame(items(n=3), columns=list("abc")).astype("object")
    frame.loc[:4, "a"] = None
    with pytest.warns(gw.errors.DataWarning, match="without a place in the order"):
        net = gw.MarkovNetwork(ordinal=True, lam=0.1, missing="state").fit(frame)
    assert set(net.model_.scores) == {"b", "c"}


def test_predictions_do_not_look_at_their_own_column():
    frame = pd.DataFrame(items(n=3), columns=list("abc"))
    net = gw.MarkovNetwork(ordinal=True).fit(frame)
    odd = frame.assign(b="unknown")
    assert list(net.predict(odd, target="b")) == list(net.predict(frame, target="b"))


@pytest.mark.parametrize("method", ["chow-liu", "forced-pruning"])
def test_methods_that_fit_whole_tables_say_so(method, tmp_path, capsys):
    scores = np.arange(5) - 2.0
    chain = {(f"q{i}", f"q{i + 1}"): 0.4 * np.outer(scores, scores) for i in range(3)}
    rows = gw.PairwiseMRF({f"q{i}": [1, 2, 3, 4, 5] for i in range(4)}, None, chain)
    table = rows.sample(300, random_state=0)
    net = gw.MarkovNetwork(method, ordinal=True).fit(table)
    shares = [net.model_.linear_share(a, b) for a, b in net.model_.edges]
    assert max(shares) < 0.999
    words = " ".join(net.summary().split())
    assert "Of 3 edges of ordered variables, 3 are not linear and have whole tables: " in words
    assert f"With {method} and no lambda tables are fitted whole" in words
    net.save(tmp_path / "m.gw")
    assert main(["show", str(tmp_path / "m.gw")]) == 0
    assert f"With {method} and no lambda" in " ".join(capsys.readouterr().out.split())
    cost = gw.MarkovNetwork(method, ordinal=True).estimate(table)
    assert cost.parameters == cost.entries == 20 + 6 * 25
    if method == "forced-pruning":  # with a lambda parts are penalised apart
        net = gw.MarkovNetwork(method, ordinal=True, lam=0.1).fit(table)
        assert "Every edge of ordered variables lies along" in " ".join(net.summary().split())
        assert gw.MarkovNetwork(method, ordinal=True, lam=0.1).estimate(table).parameters == 20 + 6


def test_tied_weights_are_said_to_be_no_longer_linear():
    scores = np.arange(4) - 1.5
    pair = {("a", "b"): 0.5 * np.outer(scores, scores), ("b", "c"): 0.4 * np.outer(scores, scores)}
    table = gw.PairwiseMRF({n: [1, 2, 3, 4] for n in "abc"}, None, pair).sample(400, random_state=0)
    net = gw.MarkovNetwork(ordinal=True, tie=3).fit(table)
    assert min(net.model_.linear_share(a, b) for a, b in net.model_.edges) < 0.999
    assert "Tied weights have few values cell by cell" in " ".join(net.summary().split())


def test_names_are_checked_before_missing_cells():
    frame = pd.DataFrame({"sad": [1, None, 2], "b": [1, 2, 3]})
    with pytest.raises(ParameterError, match="'sadd', which is not a column; did you mean 'sad'"):
        gw.MarkovNetwork(ordinal=["sadd"]).fit(frame)
    with pytest.raises(gw.DataError, match="missing cells"):
        gw.MarkovNetwork(ordinal=["sad"]).fit(frame)
    with pytest.raises(gw.DataError, match="'sadd'"):
        gw.compare_groups(frame, by="sadd")
