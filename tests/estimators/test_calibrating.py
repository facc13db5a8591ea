"""The default network answers like its rows do, and what it keeps of them."""

import numpy as np
import pytest

import graftwork as gw

from doors.estimators import FitSpec, calibrating, fit


@pytest.fixture(scope="module")
def symptoms():
    table = gw.datasets.load_adhd()
    return table.take_columns([name for name in table.names if name != "group"])


@pytest.fixture(scope="module")
def learned(symptoms):
    return gw.MarkovNetwork(n_jobs=1).fit(symptoms)


def worst(model, table):
    """Return the largest error of a margin, from the rows."""
    found = model.marginals(inference="exact")
    rows = {name: np.bincount(table[name], minlength=len(found[name])) for name in table.names}
    return max(np.abs(found[name] - rows[name] / table.n_rows).max() for name in table.names)


def test_margins_are_those_of_the_rows(symptoms, learned):
    assert worst(learned.model_, symptoms) < 0.001
    assert learned.model_.observed.fitted == "calibrated"
    assert learned.model_.observed.margin_error < 1e-5


def test_weights_are_those_of_the_refit(symptoms, learned):
    plain = fit(FitSpec.of({"n_jobs": 1}), symptoms, calibrated=False)
    assert plain.model.observed is None
    layout = plain.model.potentials.layout
    n = layout.n_unary
    mine, theirs = learned.model_.potentials.weights, plain.model.potentials.weights
    np.testing.assert_array_equal(mine[n:], theirs[n:])
    assert np.abs(mine[:n] - theirs[:n]).max() > 0.1
    np.testing.assert_array_equal(learned.evidence_.edges.log_p, plain.evidence.edges.log_p)
    score = plain.model.score(symptoms)
    assert abs(learned.model_.score(symptoms) / score - 1.0) < 0.003


def test_frequencies_are_counts(symptoms, learned):
    model = learned.model_
    rows = np.stack([symptoms[name] for name in symptoms.names])
    every = model.frequencies()
    given = model.frequencies({"susatt": 1})
    chosen = rows[:, symptoms["susatt"] == 1]
    for name, own, some in zip(symptoms.names, rows, chosen, strict=True):
        np.testing.assert_allclose(every[name], np.bincount(own, minlength=2) / len(own))
        np.testing.assert_allclose(given[name], np.bincount(some, minlength=2) / len(some))
    assert model.frequencies({"susatt": 1, "distract": 0}) == {}


def test_weighted_rows_and_states_that_no_row_has():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 400)
    table = {"x": x.tolist(), "y": ((x + (rng.random(400) < 0.2)) % 3).tolist()}
    weights = rng.uniform(0.2, 3.0, 400)
    net = gw.MarkovNetwork(n_jobs=1, states={"x": [0, 1, 2, 3, 4]}).fit(
        table, sample_weight=weights
    )
    share = np.bincount(x, weights, 5) / weights.sum()
    np.testing.assert_allclose(net.model_.frequencies()["x"], share)
    found = net.model_.marginals()["x"]
    np.testing.assert_allclose(found[:3], share[:3], atol=0.002)
    worth = weights.sum() ** 2 / (weights**2).sum()  # sampling weights: half an effective row
    np.testing.assert_allclose(found[3:], 0.25 / (worth + 0.5), rtol=1e-3)
    pair = np.zeros((5, 3))
    np.add.at(pair, (x, np.array(table["y"])), weights)
    np.testing.assert_allclose(net.model_.frequencies({"x": 1})["y"], pair[1] / pair[1].sum())


@pytest.mark.parametrize("policy", ["available-case", "impute", "state"])
def test_missing_cells(policy):
    rng = np.random.default_rng(1)
    z = rng.integers(0, 2, 300)
    rows = np.where(rng.random((300, 5)) < 0.15, 1 - z[:, None], z[:, None]).astype(object)
    rows[rng.random((300, 5)) < 0.08] = None
    net = gw.MarkovNetwork(n_jobs=1, missing=policy, random_state=0).fit(rows)
    found, seen = net.model_.marginals(), net.model_.frequencies()
    assert max(np.abs(found[name] - seen[name]).max() for name in net.names_) < 1e-4
    if policy == "available-case":
        column = rows[:, 2][[cell is not None for cell in rows[:, 2]]].astype(int)
        np.testing.assert_allclose(seen["x2"], np.bincount(column) / len(column))


@pytest.mark.parametrize(
    "options", [{"lam": 0.02}, {"loss": "likelihood", "lam": 0.02}, {"tie": 4}]
)
def test_other_weights_are_not_touched(symptoms, options):
    spec = FitSpec.of({"n_jobs": 1} | options)
    one, other = (fit(spec, symptoms, calibrated=each) for each in (True, False))
    assert one.model == other.model
    kept = one.model.observed
    assert kept.fitted == ("likelihood" if "loss" in options else "pseudolikelihood")
    assert kept.margin_error == pytest.approx(worst(one.model, symptoms), abs=1e-9)


def test_prediction_is_calibrated_too(symptoms):
    net = gw.MarkovNetwork(n_jobs=1, goal="prediction", criterion="ebic").fit(symptoms)
    assert worst(net.model_, symptoms) < 0.001
    assert "before its unaries were calibrated" in net.summary().replace("\n  ", " ")


def test_a_refit_has_the_tables_of_the_rows(symptoms, learned):
    other = learned.refit()
    rows = np.stack([symptoms[name] for name in symptoms.names])
    places = {name: k for k, name in enumerate(symptoms.names)}
    for a, b in other.model_.edges:
        table = np.zeros((2, 2))
        np.add.at(table, (rows[places[a]], rows[places[b]]), 1 / symptoms.n_rows)
        np.testing.assert_allclose(other.model_.pair_marginal(a, b), table, atol=0.01)
        exact = (
            learned.model_.refit(0.0).pair_marginal(a, b)
            if (a, b) == ("fidget", "motor")
            else table
        )
        np.testing.assert_allclose(exact, table, atol=1e-4)
    assert other.model_.observed.fitted == "likelihood"
    assert learned.model_.observed.fitted == "calibrated"
    assert "All weights are fitted by the likelihood" in other.summary()


def test_a_refit_is_the_penalised_optimum(symptoms, learned):
    edges = learned.model_.edges
    ridge = 0.01
    same = gw.MarkovNetwork(
        loss="likelihood", penalty="l2", penalty_options=None, lam=ridge, n_jobs=1,
        knowledge={"required": edges, "candidates": edges},
    ).fit(symptoms)  # fmt: skip
    mine = learned.model_.refit(ridge)
    for name, own in same.model_.marginals().items():
        np.testing.assert_allclose(mine.marginals()[name], own, atol=1e-4)
    for a, b in edges:
        np.testing.assert_allclose(mine.weight(a, b), same.model_.weight(a, b), atol=0.01)


def test_linear_tables_stay_linear_in_a_refit():
    rng = np.random.default_rng(4)
    z = rng.normal(size=500)
    answers = np.digitize(z[:, None] + rng.normal(size=(500, 4)), [-1.0, 0.0, 1.0])
    net = gw.MarkovNetwork(ordinal="all", n_jobs=1).fit(answers)
    model = net.model_.refit()
    straight = np.abs(net.model_.linear_shares - 1.0) < 1e-9
    assert straight.any()
    np.testing.assert_allclose(model.linear_shares[straight], 1.0, atol=1e-9)
    assert np.abs(model.weights / net.model_.weights - 1.0).max() < 0.3


def test_refits_that_cannot_be_are_refused(learned):
    with pytest.raises(gw.errors.DataError, match="counts of rows"):
        gw.PairwiseMRF({"a": [0, 1]}).refit()
    with pytest.raises(gw.errors.ParameterError, match="l2 must be"):
        learned.refit(-1.0)


def test_files_keep_it(learned, tmp_path):
    learned.save(tmp_path / "net.gw")
    back = gw.load(tmp_path / "net.gw")
    mine, theirs = learned.model_.observed, back.observed
    for name in ("margins", "pairs", "tables"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
    assert (mine.fitted, mine.margin_error, mine.noise) == (
        theirs.fitted, theirs.margin_error, theirs.noise,
    )  # fmt: skip
    assert back.frequencies({"susatt": 1})["distract"] == pytest.approx([3 / 61, 58 / 61], abs=0.02)


def test_an_interrupt_leaves_the_refit(symptoms, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(calibrating, "calibrate", stop)
    net = gw.MarkovNetwork(n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        net.fit(symptoms)
    assert net.fit_.interrupted
    assert net.model_.n_edges == 34
    assert net.model_.observed is None


def test_states_that_no_row_has_count_in_the_error_that_is_told():
    rows = {"a": ["x", "y"] * 5, "b": ["x", "x", "y", "y", "x"] * 2}
    states = {name: ["x", "y", "never"] for name in rows}
    for lam in ("auto", 0.1):
        model = gw.MarkovNetwork(states=states, lam=lam).fit(rows).model_
        for each in (model, model.refit()):
            assert each.marginals()["a"][2] > 0.01
            apart = [each.marginals()[name] - each.frequencies()[name] for name in rows]
            assert each.observed.margin_error == pytest.approx(np.abs(apart).max(), abs=1e-9)
