"""The estimator: scikit-learn's contract, names and states, and numbers that can be checked."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from problems import random_table
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import graftwork as gw
from graftwork.estimators.parts import ParameterError
from graftwork.inference import JunctionTree
from graftwork.recipes import best_choice


def waits_for_array_api(estimator):
    return {"check_array_api_input": "needs SCIPY_ARRAY_API=1 in the environment"}


@parametrize_with_checks(
    [gw.MarkovNetwork(), gw.MarkovNetwork("edge-grafting", lam=0.05)],
    expected_failed_checks=waits_for_array_api,
)
def test_scikit_learn_checks(estimator, check):
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
    data = net.graph_.edges["sky", "wet"]
    assert data["strength"] > 0
    assert data["table"].shape == (3, 2)
    row = net.sample(5, random_state=0)[0]
    assert [type(value) for value in row] == [str, bool, int, str]


@pytest.mark.parametrize("convert", [pl.from_pandas, lambda f: f.to_dict("list"), lambda f: f])
def test_containers_agree(frame, convert):
    net = gw.MarkovNetwork(lam=0.02).fit(convert(frame))
    reference = gw.MarkovNetwork(lam=0.02).fit(gw.as_table(frame))
    assert net.objective_ == reference.objective_


def test_objective_is_loss_plus_penalty_of_the_model(frame):
    net = gw.MarkovNetwork(lam=0.05, l2=0.01).fit(frame)
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


def test_sample_weights_equal_repeated_rows():
    table = random_table(41, n=5, rows=60)
    weights = np.random.default_rng(1).integers(0, 4, 60)
    rows = np.asarray(table)
    kept = weights > 0
    states = {f"x{i}": list(range(s)) for i, s in enumerate(table.cards)}
    weighted = gw.MarkovNetwork(lam=0.03, states=states).fit(rows, sample_weight=weights)
    repeated = gw.MarkovNetwork(lam=0.03, states=states).fit(np.repeat(rows, weights, axis=0))
    assert kept.any()
    assert np.isclose(weighted.objective_, repeated.objective_, rtol=1e-8)
    assert weighted.model_.edges == repeated.model_.edges


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
    net = gw.MarkovNetwork(lam=0.02, penalize_unary=True, states=states).fit(frame)
    assert net.certificate_.converged
    assert np.isfinite(net.model_.unary("sky")).all()


def test_unknown_state_and_missing_column_are_named(frame):
    net = gw.MarkovNetwork(lam=0.02).fit(frame)
    with pytest.raises(gw.DataError, match=r"sky.*'fog'|'fog'.*sky"):
        net.score(frame.assign(sky="fog"))
    with pytest.raises(gw.DataError, match="wet"):
        net.score(frame.drop(columns="wet"))


def test_columns_are_found_by_name(frame):
    net = gw.MarkovNetwork(lam=0.02).fit(frame)
    shuffled = frame[["coin", "always", "wet", "sky"]].assign(extra=1)
    assert np.array_equal(net.model_.log_pseudo_likelihood(shuffled), net.score_samples(frame))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "best-choise"}, "did you mean 'best-choice'"),
        ({"loss": "pseudo"}, "loss='pseudo'"),
        ({"penalty": "ridge"}, "penalty='ridge'"),
        ({"inference": "magic", "loss": "likelihood"}, "inference='magic'"),
        ({"lam": "automatic"}, "lam='automatic'"),
        ({"lam": -1.0}, "lam must be"),
        ({"lam": 0.0}, "lam must be"),
        ({"lam": float("nan")}, "lam must be"),
        ({"lam": None}, "lam must be"),
        ({"l2": -0.1}, "l2 must be"),
        ({"tol": 0.0}, "tol must be"),
        ({"alpha": 2.0}, "alpha must"),
        ({"max_edges": -1}, "max_edges must be"),
        ({"max_edges": 1.5}, "max_edges must be"),
        ({"n_jobs": 0}, "n_jobs must"),
        ({"tests": 0}, "at least 1"),
    ],
)
def test_bad_parameters_get_one_sentence(frame, options, words):
    with pytest.raises(ParameterError, match=words):
        gw.MarkovNetwork(**options).fit(frame)


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


def test_model_files_round_trip_with_their_story(frame, tmp_path):
    net = gw.MarkovNetwork(lam=0.02).fit(frame)
    net.save(tmp_path / "net.gw")
    assert gw.load(tmp_path / "net.gw") == net.model_


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


def test_an_interrupt_stores_the_best_so_far_and_is_raised(frame):
    class Stop:
        def on_stage(self, text, step, steps):
            pass

        def on_round(self, record):
            if record.index == 1:
                raise KeyboardInterrupt

        def on_network(self, potentials):
            pass

        def on_search(self, tested, total):
            pass

    net = gw.MarkovNetwork(lam=0.001, observer=Stop())
    with pytest.raises(KeyboardInterrupt):
        net.fit(frame)
    assert net.certificate_.stop == "interrupted"
    assert net.model_.marginals()["coin"].sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "rows",
    [
        [["a", "b"]],
        [["a"], ["b"], ["a"]],
        [["a", "x"]] * 5,
        [[i, -i, 10**30 + i] for i in range(300)],
        [["ä", "日本"], ["ö", "日本"], ["ä", "中国"]] * 4,
    ],
    ids=["one-row", "one-column", "all-constant", "300-states-and-huge-ints", "unicode"],
)
@pytest.mark.parametrize("lam", [0.1, "auto"])
def test_odd_tables_are_learned(rows, lam):
    net = gw.MarkovNetwork(lam=lam).fit(rows)
    assert np.isfinite(net.score(rows))
    assert net.certificate_.converged
    assert net.graph_.number_of_nodes() == len(rows[0])
