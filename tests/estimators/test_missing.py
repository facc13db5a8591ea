"""MarkovNetwork on tables with missing cells."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import graftwork as gw
from graftwork.errors import DataError, DataWarning
from graftwork.objectives import PseudoLikelihood

from doors.data import prepare
from doors.estimators import Drawn, FitSpec, LearnedFrom, fit_rows, fitting, imputing, read_rows
from doors.grafting import Silence, chow_liu_edges, pair_information
from doors.inference import impute
from support.problems import dense_available, dense_solution, random_table, with_holes


def chain(rows=400, share=0.05, seed=0):
    """a - b - c - d, with missing cells; every cell is text."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 2, rows)]
    for _ in range(3):
        columns.append(np.where(rng.random(rows) < 0.85, columns[-1], 1 - columns[-1]))
    frame = pd.DataFrame(dict(zip("abcd", columns, strict=True))).replace({0: "no", 1: "yes"})
    return frame.mask(rng.random(frame.shape) < share)


EDGES = [("a", "b"), ("b", "c"), ("c", "d")]


def test_an_error_says_where():
    with pytest.raises(DataError, match="available-case"):
        gw.MarkovNetwork(lam=0.02).fit(chain())


def test_available_case_learns_the_observed_states():
    frame = chain()
    net = gw.MarkovNetwork(lam=0.03, missing="available-case").fit(frame)
    assert net.model_.edges == EDGES
    assert set(net.model_.states.values()) == {("no", "yes")}
    assert net.certificate_.converged
    assert "observed cells" in net.certificate_.method
    assert net.missing_.cells == int(frame.isna().to_numpy().sum())
    assert net.info()["missing"]["policy"] == "available-case"


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_optimum_of_the_dense_problem(weighted, monkeypatch):
    weights = np.random.default_rng(0).random(120) if weighted else None
    table = with_holes(random_table(3, n=5, rows=120, most=3, weights=weights), 2)
    states = np.random.default_rng(1).integers(0, 2, table.codes.shape)
    best, _ = dense_solution_available(table, states)
    monkeypatch.setattr(
        fitting, "draw_missing", lambda _, __, sample, *___: Drawn(sample.with_drawn(states))
    )
    for method in ("best-choice", "edge-grafting", "grafting", "full", "gain"):
        net = gw.MarkovNetwork(method, lam=0.03, missing="available-case", random_state=0)
        net.fit(table)
        assert net.certificate_.converged, method
        assert np.isclose(net.objective_, best, atol=2e-6), method


def dense_solution_available(table, drawn):
    """The dense optimum: group penalties of the observed states' tables."""

    class Observed:
        n_variables = table.n_variables
        cards = table.cards - [("(missing)" in states) for states in table.states]

    def loss(_, vector, pairs):
        return dense_available(table, vector, pairs, drawn)

    return dense_solution(loss, Observed, "group-l1", 0.03, 0.0)


def test_other_methods_auto_tie_and_starts():
    frame = chain()
    for own in ({"method": "chow-liu"}, {"method": "grafting-light", "lam": 0.03}):
        net = gw.MarkovNetwork(**own, missing="available-case", random_state=0).fit(frame)
        assert net.model_.edges == EDGES
    forced = gw.MarkovNetwork("forced-pruning", max_edges=3, missing="available-case").fit(frame)
    assert forced.model_.edges == EDGES
    auto = gw.MarkovNetwork(missing="available-case", random_state=0, tie=5).fit(frame)
    assert auto.model_.edges == EDGES
    again = gw.MarkovNetwork(
        lam=0.03, missing="available-case", method_options={"start": auto}
    ).fit(frame)
    assert again.model_.edges == EDGES


def with_averages(rows, **options):
    """The network in which a missing neighbour counts as its average."""
    spec = FitSpec.of({"missing": "available-case", "random_state": 0, **options})
    table, found = read_rows(spec, rows, None)
    sample = prepare(table, missing=True)
    data = LearnedFrom.of(table, found)
    return fit_rows(spec, table, sample, found, data, spec.budget, spec.rng())


@pytest.mark.parametrize("policy", ["available-case", "impute"])
def test_drawn_cells_leave_no_edges_past_missing_variables(policy):
    frame = chain(600, share=0.2)
    net = gw.MarkovNetwork(missing=policy, random_state=0, n_jobs=1)
    averaged = with_averages(frame)
    assert set(averaged.model.edges) > set(EDGES)  # b and d, where c is missing
    net.fit(frame)
    assert net.model_.edges == EDGES
    assert net.certificate_.converged
    assert net.missing_.drawn
    assert np.isfinite(net.score(frame))
    assert clone(net).set_params(n_jobs=2).fit(frame).model_ == net.model_


@pytest.mark.parametrize(
    ("policy", "loss"),
    [
        ("available-case", "pseudolikelihood"),
        ("impute", "pseudolikelihood"),
        ("impute", "likelihood"),
    ],
)
def test_cells_are_drawn_with_weights_that_are_not_shrunken(policy, loss):
    frame = chain(600, share=0.2)
    nets = [
        gw.MarkovNetwork(lam=0.03, loss=loss, missing=what, random_state=0).fit(rows)
        for what, rows in (("error", chain(600, share=0.0)), (policy, frame))
    ]
    whole, drawn = ([net.model_.strength(*edge) for edge in EDGES] for net in nets)
    assert np.allclose(whole, drawn, atol=0.25)


def interrupt(*_):
    raise KeyboardInterrupt


class Impatient(Silence):
    def on_round(self, *_):
        raise KeyboardInterrupt


def test_an_interrupt_leaves_the_network_learned_so_far(monkeypatch):
    table, learn = gw.as_table(chain(), missing="state"), imputing.impute
    averaged = with_averages(table, lam=0.03)
    net = gw.MarkovNetwork(lam=0.03, missing="available-case", random_state=0)
    monkeypatch.setattr(imputing, "impute", interrupt)
    with pytest.raises(KeyboardInterrupt):
        net.fit(table)
    assert net.model_ == averaged.model
    assert not net.missing_.drawn
    assert np.isfinite(net.score(table))
    monkeypatch.setattr(imputing, "impute", learn)
    stop = gw.MarkovNetwork(lam=0.03, missing="available-case", verbose=Impatient())
    with pytest.raises(KeyboardInterrupt):  # in the first round of the first fit
        stop.fit(table)
    assert stop.certificate_.stop == "interrupted"


def test_seconds_are_for_all_networks_together():
    frame = chain()
    hasty = gw.MarkovNetwork(lam=0.001, missing="available-case", max_seconds=1e-9).fit(frame)
    assert hasty.certificate_.stop == "seconds"
    assert hasty.missing_.drawn
    calm = gw.MarkovNetwork(lam=0.03, missing="available-case", max_seconds=1e6).fit(frame)
    assert calm.certificate_.converged


def test_rows_that_count_for_many_are_drawn_for_many():
    rows = [["no", None], ["no", "no"], ["no", "yes"], ["yes", "no"], ["yes", "yes"]]
    weights = np.array([1000.0, 30, 10, 10, 30])
    spec = FitSpec.of({"lam": 0.01, "missing": "available-case", "random_state": 0})
    table, _ = read_rows(spec, rows, weights)
    states = np.random.default_rng(0).integers(0, 2, table.codes.shape)
    sample = prepare(table, missing=True).with_drawn(states)
    drawn = sample.codes[1] >= 2
    assert set(sample.codes[1, drawn]) == {2, 3}
    assert np.isclose(sample.total_weight, weights.sum())
    assert np.isclose(sample.weights[drawn].sum(), 1000)


@pytest.mark.parametrize("policy", ["available-case", "impute"])
def test_nothing_is_drawn_where_nothing_is_missing(policy):
    frame = chain().dropna()
    drawn = gw.MarkovNetwork(lam=0.03, missing=policy, random_state=0).fit(frame)
    assert drawn.model_ == gw.MarkovNetwork(lam=0.03, random_state=0).fit(frame).model_
    assert not drawn.missing_.drawn
    one = gw.MarkovNetwork(lam=0.1, missing="impute").fit([[None, None], [0, 1], [1, None]])
    assert one.missing_.cells == 3


def test_drawn_cells_have_the_conditional_distribution():
    model = gw.MarkovNetwork(lam=0.03).fit(chain().dropna()).model_
    codes = np.full((4, 20000), 2)
    codes[1], codes[3] = 0, 1
    drawn = impute(model.potentials, codes, np.random.default_rng(0))
    assert (drawn[[1, 3]] == codes[[1, 3]]).all()
    given = model.marginals({"b": "no", "d": "yes"})
    for i, name in ((0, "a"), (2, "c")):
        assert np.isclose(drawn[i].mean(), given[name][1], atol=0.015)


def test_rows_are_dropped_with_a_warning():
    frame = chain()
    with pytest.warns(DataWarning, match=r"of 400 rows were left out: they lack \d+ cells"):
        net = gw.MarkovNetwork(lam=0.03, missing="drop-rows", random_state=0).fit(frame)
    whole = gw.MarkovNetwork(lam=0.03, random_state=0).fit(frame.dropna())
    assert net.model_ == whole.model_
    assert net.missing_.rows == 400 - len(frame.dropna())
    gw.MarkovNetwork(lam=0.03, missing="drop-rows").fit(frame.dropna())  # nothing to warn of
    with pytest.raises(DataError, match="dropping rows leaves nothing"):
        gw.MarkovNetwork(missing="drop-rows").fit([[None, 1], [0, None]])


def test_missing_is_a_state():
    frame = chain()
    net = gw.MarkovNetwork(lam=0.03, missing="state").fit(frame)
    assert net.model_.states["a"] == ("no", "yes", "(missing)")
    filled = gw.MarkovNetwork(lam=0.03).fit(frame.fillna("(missing)"), None)
    assert net.model_.edges == filled.model_.edges
    assert np.isclose(net.score(frame), filled.score(frame.fillna("(missing)")))
    assert net.missing_.policy == "state"


def test_scores_of_incomplete_rows():
    frame = chain()
    net = gw.MarkovNetwork(lam=0.03, missing="available-case").fit(frame)
    sample = prepare(gw.as_table(frame, missing="state"), missing=True)
    model = net.model_.potentials
    assert np.isclose(-net.score(frame), PseudoLikelihood(sample).at(model).value)
    complete = frame.dropna()
    assert np.allclose(net.score_samples(complete), net.model_.log_pseudo_likelihood(complete))
    nothing = pd.DataFrame({name: [None, "no"] for name in "abcd"})
    assert net.score_samples(nothing)[0] == 0
    with pytest.raises(DataError, match="score with missing='available-case'"):
        net.model_.log_pseudo_likelihood(frame, missing="error")
    whole = gw.MarkovNetwork(lam=0.03).fit(complete)
    with pytest.raises(DataError, match=r"missing cells.*score with missing='available-case'"):
        whole.score(frame)
    assert np.isfinite(whole.model_.score(frame, missing="available-case"))
    with pytest.raises(DataError, match="did you mean 'available-case'"):
        whole.model_.score(frame, missing="available")


@pytest.mark.parametrize("policy", ["available-case", "impute", "drop-rows", "state"])
def test_everybody_gives_the_same_score(policy, tmp_path):
    frame = chain()
    weights = np.random.default_rng(1).random(len(frame)) + 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of rows left out
        net = gw.MarkovNetwork(lam=0.03, missing=policy, random_state=0)
        net.fit(frame, sample_weight=weights)
        net.save(tmp_path / "net.gw")
        net.model_.save(tmp_path / "model.gw")
        models = [net.model_, *(gw.load(tmp_path / f"{name}.gw") for name in ("net", "model"))]
        models.append(pickle.loads(pickle.dumps(net.model_)))
        score = net.score(frame, sample_weight=weights)
        assert {model.score(frame, weights, n_jobs=2) for model in models} == {score}
        found = {-gw.evaluate(each, frame, sample_weight=weights).nlpl for each in (net, *models)}
        assert found == {score}
        rows = net.score_samples(frame)
        for model in models:
            assert np.array_equal(model.log_pseudo_likelihood(frame), rows, equal_nan=True)
            assert model.missing == policy
    table = gw.as_table(frame, missing="state")
    complete = frame.notna().all(axis=1).to_numpy()
    assert np.isnan(rows).tolist() == (~complete & (policy == "drop-rows")).tolist()
    if policy != "drop-rows":
        assert net.score(table, sample_weight=weights) == score


def test_what_evaluate_says_of_incomplete_rows():
    frame = chain()
    net = gw.MarkovNetwork(lam=0.03, missing="available-case", random_state=0).fit(frame)
    scores = gw.evaluate(net, frame)
    lacking = int(frame.isna().any(axis=1).sum())
    assert (scores.n_rows, scores.n_incomplete, scores.n_left_out) == (400, lacking, 0)
    assert scores.cells == pytest.approx(frame.notna().sum(axis=1).mean())
    assert scores.cmll is None
    assert scores.why_no_cmll == f"it needs complete rows, and {lacking} of 400 lack cells."
    # The likelihood of what is observed: the sum over all states of the cells that are missing.
    model, total = net.model_, 0.0
    for row in frame.to_dict("records"):
        seen = {name: state for name, state in row.items() if isinstance(state, str)}
        total += model.log_partition(evidence=seen) - model.log_partition()
    assert scores.log_likelihood == pytest.approx(total / 400)
    with pytest.warns(DataWarning, match=f"{lacking} of 400 rows were left out of the score"):
        dropped = gw.evaluate(net, frame, missing="drop-rows")
    assert (dropped.n_rows, dropped.n_left_out) == (400 - lacking, lacking)
    assert dropped.to_dict() | {"n_left_out": 0} == gw.evaluate(net, frame.dropna()).to_dict()
    with pytest.raises(DataError, match="leaves nothing to score"):
        gw.evaluate(net, {name: [None, "no"] for name in "abc"} | {"d": ["no", None]},
                    missing="drop-rows")  # fmt: skip


def test_a_network_made_by_hand_scores_incomplete_rows():
    alike = [[1.0, 0.0], [0.0, 1.0]]
    model = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}, {"a": [1.0, 0.0]}, {("a", "b"): alike})
    share = model.marginals()["a"]
    logits = np.array(alike) @ share  # what b hears of an a that is missing
    expected = logits[0] - np.log(np.exp(logits).sum())
    rows = {"a": [None], "b": [0]}
    assert model.score(rows, missing="available-case") == pytest.approx(expected)
    assert model.log_prob(rows, missing="available-case")[0] == pytest.approx(
        np.log(model.marginals()["b"][0])
    )
    same = {("a", "b"): [[0.0, -np.inf], [-np.inf, 0.0]]}
    sure = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, same)
    with pytest.raises(DataError, match="use log_prob"):
        sure.score({"a": [0], "b": [None]}, missing="available-case")


def test_scikit_learn_splits_and_clones():
    table = gw.as_table(chain(), missing="state")
    net = clone(gw.MarkovNetwork(lam=0.03, missing="available-case"))
    assert np.isfinite(cross_val_score(net, table, cv=3)).all()
    assert net.__sklearn_tags__().input_tags.allow_nan


def test_refusals():
    with pytest.raises(DataError, match=r"without any observed cell.*'b'"):
        gw.MarkovNetwork(missing="available-case").fit({"a": [0, 1], "b": [None, None]})


def test_odd_tables():
    one = gw.MarkovNetwork(missing="available-case").fit({"a": [0, None, 1]})
    assert one.model_.edges == []
    rows = gw.MarkovNetwork(lam=0.1, missing="available-case", penalty_options={"unary": True})
    rows.fit([[None, None], [0, "ä"], [1, None], [1, "ж"]])
    assert rows.model_.states == {"x0": (0, 1), "x1": ("ä", "ж")}
    declared = gw.MarkovNetwork(lam=0.1, missing="available-case", states={"x0": [0, 1, 2]})
    declared.fit([[None, None], [0, "ä"], [1, None], [1, "ж"]])
    assert declared.model_.states["x0"] == (0, 1, 2)
    assert np.isfinite(declared.score([[2, None], [None, "ä"]]))


def test_mutual_information_is_of_rows_that_have_both():
    table = with_holes(random_table(4, n=5, rows=200), 1)
    sample = prepare(table, missing=True)
    pairs = np.array([(0, 2), (0, 1), (3, 4)])
    found = pair_information(sample, pairs)
    for (i, j), value in zip(pairs, found, strict=True):
        seen = (table.codes[[i, j]] < sample.cards[[i, j], None]).all(axis=0)
        own = prepare(gw.Table(table.names, table.states, table.codes[:, seen]))
        assert np.isclose(pair_information(own, np.array([(i, j)]))[0], value, rtol=1e-10)
    assert len(chow_liu_edges(sample)[0]) == 4
