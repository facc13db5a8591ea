"""The estimator: scikit-learn's contract, names and states, and numbers that can be checked."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import graftwork as gw
from graftwork.inference import JunctionTree
from graftwork.parameters import LARGEST, gather
from graftwork.recipes import RECIPES

from doors.estimators import MOST_LISTED, MOST_VARIABLES
from doors.recipes import best_choice
from support.problems import random_table


def waits_for_array_api(estimator):
    """Return the check that needs an environment of its own."""
    return {"check_array_api_input": "needs SCIPY_ARRAY_API=1 in the environment"}


def test_a_network_of_arrays_is_no_classifier():
    net = gw.MarkovNetwork(lam=0.01).fit(np.array([[0, 1], [1, 0]] * 30))
    assert not hasattr(net, "predict")
    with pytest.raises(AttributeError):
        net.predict_proba([[0, 1]])
    assert list(net.model_.predict([[0, 1]], "x1")) == [1]


@parametrize_with_checks(
    [gw.MarkovNetwork(lam=0.1, n_jobs=1)], expected_failed_checks=waits_for_array_api
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [gw.MarkovNetwork(), gw.MarkovNetwork("edge-grafting", lam=0.05)],
    expected_failed_checks=waits_for_array_api,
)
def test_scikit_learn_checks_with_searches(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    sky = rng.choice(["sun", "cloud", "rain"], 400)
    wet = (sky == "rain") ^ (rng.random(400) < 0.1)
    coin = rng.integers(0, 2, 400)
    return pd.DataFrame({"sky": sky, "wet": wet, "coin": coin, "always": "x"})


def test_names_states_and_types_survive(frame):
    net = gw.MarkovNetwork(lam=0.05).fit(frame)
    assert net.model_.states == {
        "sky": ("cloud", "rain", "sun"),
        "wet": (False, True),
        "coin": (0, 1),
        "always": ("x",),
    }
    assert set(net.graph_.nodes) == set(frame.columns)
    assert list(net.graph_.edges) == [("sky", "wet")]
    assert net.graph_.edges["sky", "wet"]["strength"] == net.model_.strength("sky", "wet")
    assert net.graph_.nodes["sky"] == {"states": '["cloud", "rain", "sun"]'}
    row = net.sample(5, random_state=0)[0]
    assert [type(value) for value in row] == [str, bool, int, str]


def test_graphs_carry_the_tests_there_were(frame):
    net = gw.MarkovNetwork().fit(frame)
    assert net.graph_.number_of_edges() == len(net.edges_) > 0
    for edge in net.edges_.to_dict("records"):
        data = net.graph_.edges[edge["first"], edge["second"]]
        tests = ("p_value", "q_value", "statistic", "df")
        assert data == {name: edge[name] for name in ("strength", *tests)}
        assert {type(value) for value in data.values()} == {float}


def test_containers_agree(frame):
    wanted = gw.MarkovNetwork(lam=0.02).fit(gw.as_table(frame)).objective_
    for convert in (pl.from_pandas, lambda f: f.to_dict("list"), lambda f: f):
        assert gw.MarkovNetwork(lam=0.02).fit(convert(frame)).objective_ == wanted
    codes = np.random.default_rng(0).integers(0, 3, (60, 4))
    dense = gw.MarkovNetwork(lam=0.01).fit(codes)
    for kind in (csr_array, csr_matrix):
        net = gw.MarkovNetwork(lam=0.01).fit(kind(codes))
        assert np.array_equal(net.score_samples(kind(codes)), dense.score_samples(codes))
        assert np.array_equal(net.model_.predict(kind(codes)), dense.model_.predict(codes))


def test_objective_is_loss_plus_penalty_of_the_model(frame):
    net = gw.MarkovNetwork(lam=0.05, penalty_options={"l2": 0.01}).fit(frame)
    table = net.model_.table("sky", "wet")
    penalty = 0.05 * np.sqrt(6) * np.linalg.norm(table) + 0.01 * (table**2).sum()
    assert net.model_.edges == [("sky", "wet")]
    assert np.isclose(-net.score(frame) + penalty, net.objective_, rtol=1e-10)
    assert net.certificate_.objective == net.objective_


def test_score_is_the_mean_log_pseudo_likelihood_whatever_the_loss(frame):
    for loss in ("pseudolikelihood", "likelihood"):
        net = gw.MarkovNetwork(loss=loss, lam=0.02).fit(frame)
        rows = net.score_samples(frame)
        assert np.isclose(net.score(frame), rows.mean())
        assert np.allclose(rows, net.model_.log_pseudo_likelihood(frame))
        weights = np.arange(400.0)
        assert np.isclose(
            net.score(frame, sample_weight=weights), np.average(rows, weights=weights)
        )


def test_likelihood_with_small_penalty_matches_the_data_marginals(frame):
    net = gw.MarkovNetwork(loss="likelihood", lam=1e-6, tol=1e-9).fit(frame)
    for name, probabilities in net.model_.marginals().items():
        counts = frame[name].value_counts(normalize=True)
        expected = [counts[state] for state in net.model_.states[name]]
        assert np.allclose(probabilities, expected, atol=1e-6)


def test_declared_states_that_never_occur_are_kept_and_unlikely(frame):
    states = {"sky": ["sun", "cloud", "rain", "snow"]}
    for lam in (0.02, "auto"):
        net = gw.MarkovNetwork(lam=lam, states=states).fit(frame)
        assert net.model_.states["sky"] == ("sun", "cloud", "rain", "snow")
        probability = net.model_.marginals()["sky"][3]
        assert 0 < probability < 0.01
        assert np.isfinite(net.score(frame.assign(sky="snow")))


def test_penalised_unaries_keep_every_state_finite(frame):
    states = {"sky": ["sun", "cloud", "rain", "snow"]}
    net = gw.MarkovNetwork(lam=0.02, penalty_options={"unary": True}, states=states).fit(frame)
    assert net.certificate_.converged
    assert np.isfinite(net.model_.unary("sky")).all()


def test_unknown_state_and_missing_column_are_named(frame):
    net = gw.MarkovNetwork(lam=0.02).fit(frame)
    with pytest.raises(gw.DataError, match=r"sky.*'fog'|'fog'.*sky"):
        net.score(frame.assign(sky="fog"))
    with pytest.raises(gw.DataError, match="wet"):
        net.score(frame.drop(columns="wet"))


@pytest.mark.parametrize("penalty", ["group-l1", "l1", "l2", "elastic-net"])
def test_the_largest_numbers_give_finite_weights(frame, penalty):
    """pytest turns a raw warning of numpy into an error."""
    most = {"lam": LARGEST, "l2": LARGEST, "unary": LARGEST}
    for factor, own in ((1.0, {"lam": LARGEST}), (LARGEST, most), (LARGEST, {"lam": 0.01})):
        given = gather({"penalty": penalty, **own})
        given["knowledge"] = {"penalty_weights": {tuple(frame.columns[:2]): factor}}
        net = gw.MarkovNetwork(**given).fit(frame)
        assert np.isfinite(net.model_.potentials.weights).all()


def test_defaults_written_out_are_not_refused(frame):
    written = {"fdr": np.float64(0.01), "goal": "structure", "criterion_options": {}}
    nets = [gw.MarkovNetwork(lam=0.02, **more).fit(frame) for more in ({}, written)]
    assert nets[0].model_ == nets[1].model_


def test_parts_can_be_given_instead_of_names(frame):
    net = gw.MarkovNetwork(
        best_choice(alpha=0.0), loss="likelihood", inference=JunctionTree(), lam=0.02
    ).fit(frame)
    assert net.certificate_.converged


def test_too_large_exact_inference_is_refused_with_its_cost():
    rows = np.random.default_rng(0).integers(0, 20, (300, 6))
    rows[:, 1:] = np.where(
        np.random.default_rng(1).random((300, 5)) < 0.8, rows[:, :1], rows[:, 1:]
    )
    with pytest.raises(gw.TooLargeError, match=r"(?i)cells|GiB"):
        gw.MarkovNetwork(loss="likelihood", inference=JunctionTree(limit_cells=1000), lam=1e-4).fit(
            rows
        )


def test_grid_search_and_clone(frame):
    search = GridSearchCV(gw.MarkovNetwork(), {"lam": [0.01, 0.1]}, cv=2).fit(frame)
    assert search.best_params_["lam"] in (0.01, 0.1)
    assert clone(search.best_estimator_).get_params()["lam"] == search.best_params_["lam"]


def test_verbose_writes_to_standard_error_only(frame, capsys):
    gw.MarkovNetwork(lam=0.02, verbose=1).fit(frame)
    captured = capsys.readouterr()
    assert "edges" in captured.err
    assert captured.out == ""
    gw.MarkovNetwork(lam=0.02).fit(frame)
    captured = capsys.readouterr()
    assert captured.err == captured.out == ""


STRENGTHS = {"group-l1": 0.03, "l1": 0.03, "elastic-net": 0.03, "l2": 0.05, "none": 0.0}


def penalty_by_hand(net, penalty, lam, l2, unary):
    """The penalty of a model's weights, from its tables and the definitions alone."""
    own = lam if unary is True else float(unary)

    def of(weights, strength, squared):
        norms = {
            "group-l1": np.sqrt(weights.size) * np.linalg.norm(weights),
            "l1": np.abs(weights).sum(),
            "elastic-net": np.abs(weights).sum(),
            "l2": (weights**2).sum(),
            "none": 0.0,
        }
        return strength * norms[penalty] + squared * (weights**2).sum() * (penalty != "none")

    tables = [net.model_.table(a, b) for a, b in net.model_.edges]
    unaries = [net.model_.unary(name) for name in net.names_] if own else []
    return sum(of(t, lam, l2) for t in tables) + sum(of(u, own, l2) for u in unaries)


@pytest.mark.some(4)
@pytest.mark.parametrize(
    ("penalty", "unary"),
    [(name, unary) for name in STRENGTHS for unary in (False, True, 0.01) if name != "none"]
    + [("none", False)],
)
@pytest.mark.parametrize("l2", [0.0, 0.02])
@pytest.mark.parametrize("loss", ["pseudolikelihood", "likelihood"])
def test_objective_is_loss_plus_the_penalty_asked_for(loss, penalty, l2, unary):
    table, lam = random_table(45, n=4, rows=200, most=2), STRENGTHS[penalty]
    options = {} if penalty == "none" else {"l2": l2, "unary": unary}
    net = gw.MarkovNetwork(
        "grafting-light",
        loss=loss,
        penalty=penalty,
        lam=lam,
        penalty_options=options,
        tol=1e-7,
    ).fit(table)
    assert net.certificate_.converged
    mean = net.score(table) if loss == "pseudolikelihood" else net.model_.log_prob(table).mean()
    by_hand = -mean + penalty_by_hand(net, penalty, lam, l2, unary)
    assert np.isclose(net.objective_, by_hand, rtol=1e-10)
    assert np.isclose(net.certificate_.loss, -mean, rtol=1e-10)
    # and another way there ends at the same value
    other = gw.MarkovNetwork(
        "full",
        loss=loss,
        penalty=penalty,
        lam=lam,
        penalty_options=options,
        tol=1e-7,
    ).fit(table)
    assert np.isclose(other.objective_, net.objective_, rtol=1e-9)


def test_penalties_that_mean_the_same_agree():
    table = random_table(46, n=4, rows=200, most=3)

    def objective(**options):
        return gw.MarkovNetwork("full", tol=1e-7, **gather(options)).fit(table).objective_

    same = [
        [
            {"penalty": "l1", "lam": 0.03, "l2": 0.1},
            {"penalty": "elastic-net", "lam": 0.03, "l2": 0.1},
        ],
        [{"penalty": "l2", "lam": 0.1}, {"penalty": "l2", "lam": 0.04, "l2": 0.06}],
        [
            {"penalty": kind, "lam": 0.03, "l2": 0.01, "unary": unary}
            for kind, unary in (("group-l1", True), ("group-l1", 0.03))
        ],
        [{"penalty": "l1", "lam": 0.03, "unary": unary} for unary in (False, 0.0, 0)],
    ]
    for alike in same:
        values = [objective(**options) for options in alike]
        assert np.allclose(values, values[0], rtol=1e-9)
    assert not np.isclose(objective(**same[0][0]), objective(penalty="l1", lam=0.03), rtol=1e-4)


def test_numpy_truths_are_truths():
    """As a grid of parameters gives them."""
    rows = np.random.default_rng(3).choice(3, (200, 3), p=[0.8, 0.15, 0.05])
    values = [
        gw.MarkovNetwork("full", lam=0.02, penalty_options={"unary": unary}).fit(rows).objective_
        for unary in (True, np.True_, 1.0, False, np.False_)
    ]
    assert np.isclose(values[0], values[1], rtol=1e-8)
    assert np.isclose(values[3], values[4], rtol=1e-8)
    assert not np.isclose(values[0], values[2], rtol=1e-4)
    assert not np.isclose(values[0], values[3], rtol=1e-4)


def test_a_ridge_and_no_penalty_keep_every_edge():
    table = random_table(47, n=4, rows=300, most=2)
    for options in ({"penalty": "l2", "lam": 0.01}, {"penalty": "none"}):
        net = gw.MarkovNetwork("full", loss="likelihood", **gather(options)).fit(table)
        assert len(net.model_.edges) == 6
        assert net.certificate_.converged
    # without a penalty the model has the pair marginals of the data
    joint = net.model_.pair_marginal("v0", "v3")
    codes = table.codes.astype(int)
    counts = np.bincount(codes[0] * joint.shape[1] + codes[3], minlength=joint.size) / 300
    assert np.allclose(joint.ravel(), counts, atol=1e-5)


@pytest.mark.parametrize("method", ["best-choice", "grafting", "full"])
def test_every_kind_of_method_works_without_a_lambda(method):
    table = random_table(48, n=5, rows=400, most=3)
    net = gw.MarkovNetwork(method, random_state=0).fit(table)
    reference = gw.MarkovNetwork("edge-grafting", random_state=0).fit(table)
    assert net.certificate_.converged
    assert net.refitted_
    assert np.isclose(net.lam_, reference.lam_, rtol=1e-12)
    assert np.isclose(net.objective_, reference.objective_, rtol=1e-6)
    assert net.model_.edges == reference.model_.edges
    assert net.model_.edges
    assert np.isclose(net.score(table), reference.score(table), rtol=1e-4)


@pytest.mark.parametrize(
    "method", [name for name, factory in sorted(RECIPES.items()) if factory().features]
)
def test_methods_of_features_take_cells_or_whole_tables_as_the_penalty_has_it(method):
    table = random_table(49, n=5, rows=300, most=3)
    cells = gw.MarkovNetwork(method, penalty="l1", lam=0.05).fit(table)
    tables = gw.MarkovNetwork(method, penalty="group-l1", lam=0.05).fit(table)
    assert (cells.certificate_.unit, tables.certificate_.unit) == ("feature", "pair")
    assert any((cells.model_.table(*edge) == 0).any() for edge in cells.model_.edges)
    assert all((tables.model_.table(*edge) != 0).all() for edge in tables.model_.edges)
    assert all(record.blocks == record.edges for record in tables.trace_)
    assert any(record.blocks > record.edges for record in cells.trace_)
    assert tables.model_.edges
    reference = gw.MarkovNetwork("edge-grafting", lam=0.05).fit(table)
    assert np.isclose(tables.objective_, reference.objective_, rtol=1e-8)


def test_options_reach_the_method():
    table = random_table(50, n=5, rows=300, most=3)
    rounds = {
        count: gw.MarkovNetwork(
            "grafting-light", method_options={"count": count}, penalty="l1", lam=0.01
        ).fit(table).n_iter_
        for count in (1, 30)
    }  # fmt: skip
    assert rounds[30] < rounds[1]
    own = {"alpha": 0.0, "tests": 40, "reservoir": 40}
    nets = [
        gw.MarkovNetwork(method, method_options=options, lam=0.01, random_state=1).fit(table)
        for method, options in (("auto", own), ("best-choice", None), (best_choice(**own), None))
    ]
    told = [[(r.edges, r.objective) for r in net.trace_] for net in nets]
    assert told[0] == told[2] != told[1]


def test_tree_reweighted_inference_bounds_the_exact_loss():
    table = random_table(51, n=5, rows=300, most=3)
    net = gw.MarkovNetwork(loss="likelihood", inference="trw", lam=0.02, tol=1e-5).fit(table)
    exact = -net.model_.log_prob(table).mean()
    assert net.certificate_.converged
    assert not net.certificate_.exact
    assert "tree-reweighted" in net.certificate_.method
    assert len(net.model_.edges) > 4  # with cycles
    assert net.certificate_.loss > exact
    straight = gw.MarkovNetwork(loss="likelihood", inference="exact", lam=0.02, tol=1e-5).fit(table)
    assert straight.objective_ <= net.objective_  # the bound is above the loss everywhere
    assert straight.certificate_.exact


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "working-set"),
        ({"penalty": "l1"}, "working-set"),
        ({"start": "chow-liu"}, "working-set"),
        ({"max_edges": 1}, "best-choice"),
        ({"max_seconds": 60}, "working-set"),
        ({"method_options": {"alpha": 0.0}}, "best-choice"),
        ({"method_options": {"tests": 2}}, "best-choice"),
        ({"method_options": {"structure": False}}, "best-choice"),
        ({"loss": "likelihood"}, "best-choice"),
        ({"penalty": "l2"}, "full"),
        ({"penalty": "l2", "max_edges": 2}, "best-choice"),
        ({"penalty": "l2", "method_options": {"max_tests": 9}}, "best-choice"),
        ({"penalty": "l2", "loss": "likelihood", "max_seconds": 60}, "full"),
        ({"method": "best-choice"}, "best-choice"),
        ({"method": "edge-grafting"}, "edge-grafting"),
    ],
)
def test_auto_is_the_quickest_method_that_ends_at_the_same_network(settings, expected):
    rng = np.random.default_rng(3)
    first = rng.integers(2, size=400)
    columns = [first, (first + (rng.random(400) < 0.2)) % 2, *rng.integers(2, size=(2, 400))]
    rows = pd.DataFrame(dict(zip("abcd", columns, strict=True)))
    net = gw.MarkovNetwork(lam=0.02, **gather(settings)).fit(rows)
    assert (net.method_, net.info()["method"]) == (expected, expected)
    assert net.estimate(rows).method == expected


KNOWN, GAPS = {"knowledge": {"candidates": [("x0", "x1")]}}, {"missing": "available-case"}


def test_auto_with_very_many_variables_never_looks_at_all_pairs_first():
    rows = np.random.default_rng(0).integers(2, size=(30, MOST_VARIABLES + 1))
    net = gw.MarkovNetwork(lam=0.9, max_seconds=60).fit(rows)
    assert net.method_ == "best-choice"
    for settings, most in ({}, MOST_VARIABLES), (KNOWN, MOST_LISTED), (GAPS, MOST_LISTED):
        spec = gw.MarkovNetwork(lam=0.2, **settings).spec()
        names = [spec.recipe_for(n).name for n in (most, most + 1)]
        assert names == ["working-set", "best-choice"]


def test_a_path_is_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sky,grass\n" + "sun,dry\nrain,wet\n" * 30)
    net = gw.MarkovNetwork(lam=0.05, random_state=0).fit(str(path))
    table = gw.read_table(path)
    assert net.model_ == gw.MarkovNetwork(lam=0.05, random_state=0).fit(table).model_
    assert net.score(path) == net.score(table) == net.model_.score(path)
    assert gw.evaluate(net, str(path)) == gw.evaluate(net, table)
    frame = pd.read_csv(path)
    frame.to_parquet(tmp_path / "t.parquet")
    assert gw.MarkovNetwork(lam=0.05).fit(tmp_path / "t.parquet").score(frame) == net.score(frame)
    path.write_text("sky,grass\n" + "sun,dry\n,wet\n" * 30)
    with pytest.raises(gw.DataError, match=r"t\.csv: .*line 3; recommended is miss"):
        gw.MarkovNetwork().fit(path)
    gaps = gw.MarkovNetwork(lam=0.05, missing="available-case").fit(path)
    assert gaps.missing_.cells == 30
    with pytest.raises(
        gw.DataError, match=r"tt\.csv: there is no such file.*did you mean 't\.csv'"
    ):
        gw.MarkovNetwork().fit(tmp_path / "tt.csv")


def test_states_of_a_file_to_score_are_those_of_the_network(tmp_path):
    """Text stays text where the network has text, even if this file has numbers alone."""
    net = gw.MarkovNetwork(lam=0.05).fit({"a": ["1", "2", "x"] * 20, "b": ["NA", "no", "no"] * 20})
    path = tmp_path / "t.csv"
    path.write_text("id,b,a\n7,NA,1\n8,no,2\n")
    assert net.score(path) == net.score({"a": ["1", "2"], "b": ["NA", "no"]})
    path.write_text("b,a\nno,1\nno,3\n")
    with pytest.raises(gw.DataError, match=r"t\.csv: .*line 3"):
        net.score(path)


def test_a_summary_after_a_bootstrap_tells_of_it():
    rows = [["sun", "dry"], ["sun", "dry"], ["rain", "wet"], ["rain", "dry"]] * 25
    net = gw.MarkovNetwork(lam=0.02).fit(rows)
    assert "Bootstrap" not in net.summary()
    boot = net.bootstrap(rows, 5, case_dropping=False, random_state=0)
    assert " ".join(gw.describe(boot).split()) in " ".join(net.summary().split())
