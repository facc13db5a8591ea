import csv
import json
import math
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import graftwork as gw
from graftwork.errors import ParameterError
from graftwork.recipes import RECIPES

from doors.comparing import (
    NETWORKS,
    Album,
    corner_of,
    evaluate,
    make_entries,
    make_task,
    run_methods,
    usual_entries,
)
from doors.recipes import best_choice
from support.problems import dense_optimum, dense_pseudo, random_table

COUNTERS = ("seconds", "evaluations", "blocks_scored", "tables_counted")
TRIO = ("best-choice", "edge-grafting", "first-hit")


@pytest.fixture(scope="module")
def table():
    return random_table(3, n=7, rows=250)


@pytest.fixture(scope="module")
def truth(table):
    return [("v0", "v1"), ("v1", "v2"), ("v5", "v6")]


@pytest.fixture(scope="module")
def result(table, truth):
    return gw.compare(table, TRIO, lam=0.03, truth=truth, test=0.2, n_jobs=1)


def test_every_method_reaches_the_independent_optimum(table):
    best = dense_optimum(dense_pseudo, table, "group-l1", 0.05, 0.0)
    compared = gw.compare(table, TRIO, lam=0.05, n_jobs=1)
    assert [record["method"] for record in compared.table()] == [*TRIO]
    for record in compared.table():
        assert record["objective"] == pytest.approx(best, abs=1e-6)
        assert 0 <= record["gap"] < 1e-6
        assert record["converged"]
    [agreement] = compared.agreements()
    assert agreement.labels == TRIO
    assert agreement.same
    assert agreement.disputed == 0
    assert agreement.shared == compared.runs[0].certificate.n_edges
    assert "The 3 methods that converged agree" in compared.words()


def test_final_numbers_are_those_of_a_run_alone(result, table, truth):
    test, train = table.split(0.2, 0)
    net = gw.MarkovNetwork("first-hit", lam=0.03, random_state=0, n_jobs=1).fit(train)
    run = result["first-hit"]
    found = {frozenset(edge) for edge in net.graph_.edges}
    true = {frozenset(edge) for edge in truth}
    assert run["nlpl"] == pytest.approx(-net.score(train), abs=1e-12)
    assert run["test_nlpl"] == pytest.approx(-net.score(test), abs=1e-12)
    assert run["recall"] == len(found & true) / len(true)
    assert run["precision"] == len(found & true) / len(found)
    last = net.trace_[-1]
    [record] = [record for record in result.table() if record["method"] == "first-hit"]
    for name in ("evaluations", "blocks_scored", "tables_counted"):
        assert record[name] == getattr(last, name)
    assert run.certificate == net.certificate_
    assert run.model == net.model_


def test_the_closing_check_counts(result):
    for run, record in zip(result.runs, result.table(), strict=True):
        last, before = run.trace[-1], run.trace[-2]
        assert record["blocks_scored"] == last.blocks_scored == run.rounds[-1]["blocks_scored"]
        assert last.blocks_scored >= before.blocks_scored + run.certificate.n_inactive


def test_rounds_are_evaluated_networks(result):
    for run in result.runs:
        assert len(run.rounds) == len(run.trace)
        for before, after in pairwise(run.rounds):
            assert all(after[name] >= before[name] for name in COUNTERS)
        first, last = run.rounds[0], run.rounds[-1]
        assert first["edges"] == 0
        assert first["recall"] == 0.0
        assert last["objective"] == run.certificate.objective
        assert last["nlpl"] == run["nlpl"]
        assert last["test_nlpl"] == pytest.approx(run["test_nlpl"], abs=1e-12)
        assert last["recall"] == run["recall"]
        assert all(r["test_nlpl"] is not None for r in run.rounds)
    assert len(result.rounds()) == sum(len(run.trace) for run in result.runs)


def test_no_method_profits_from_another(table):
    alone = gw.compare(table, "best-choice", lam=0.03, n_jobs=1).runs[0]
    after = gw.compare(table, ["edge-grafting", "best-choice"], lam=0.03, n_jobs=1).runs[1]
    counted = [tuple(r[name] for name in COUNTERS[1:]) for r in alone.rounds]
    assert counted == [tuple(r[name] for name in COUNTERS[1:]) for r in after.rounds]


def test_few_of_many_rounds_are_evaluated(table):
    compared = gw.compare(table, "first-hit", lam=0.005, test=table, points=4, n_jobs=1)
    rounds = compared.runs[0].rounds
    known = [r["round"] for r in rounds if r["test_nlpl"] is not None]
    assert len(rounds) > 8
    assert len(known) == 4
    assert known[0] == 0
    assert known[-1] == rounds[-1]["round"]
    assert all(r["nlpl"] is not None for r in rounds)


@pytest.mark.parametrize("rounds", [1, 2, 9, 1000])
def test_an_album_is_small_and_even(rounds):
    from graftwork.grafting import Round

    from doors.grafting import Silence

    album = Album(Silence(), 10)
    for index in range(rounds):
        album.on_round(
            Round(index, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, True, index, index, 0, index, 0.1)
        )
        album.on_network(index)
        assert len(album._kept) <= 20
    album.on_search(7, 10)
    kept = album.networks()
    assert len(kept) == min(rounds, 10)
    assert all(index == network for index, network in kept)
    assert (kept[0][0], kept[-1][0]) == (0, rounds - 1)
    gaps = np.diff([index for index, _ in kept])
    assert rounds < 10 or gaps.max() <= 2 * rounds / 9


def test_likelihood_rounds_are_scored_by_the_model(table):
    compared = gw.compare(table, "best-choice", lam=0.05, loss="likelihood", n_jobs=1)
    net = gw.MarkovNetwork(lam=0.05, loss="likelihood", random_state=0, n_jobs=1).fit(table)
    run = compared.runs[0]
    assert run["nlpl"] == pytest.approx(-net.score(table), abs=1e-9)
    assert run.rounds[-1]["nlpl"] == pytest.approx(run["nlpl"], abs=1e-9)


def test_lambda_is_chosen_once(table):
    compared = gw.compare(table, TRIO[:2], n_jobs=1)
    net = gw.MarkovNetwork(random_state=0, n_jobs=1).fit(table)
    assert compared.lam == net.lam_
    assert compared.lam_words.startswith(gw.describe(net.choice_))
    assert {run.certificate.lam for run in compared.runs} == {net.lam_}


def test_weights_and_declared_states():
    rows = [["x", 0], ["x", 0], ["y", 1], ["y", 1]] * 5
    weights = np.arange(20) % 3
    states = {"x0": ["x", "y", "never"]}
    compared = gw.compare(
        rows, "first-hit", lam=0.01, sample_weight=weights, states=states, test=0.3
    )
    assert compared.runs[0].model.states["x0"] == ("x", "y", "never")
    assert math.isfinite(compared.runs[0]["test_nlpl"])


def test_methods_are_taken_in_many_forms():
    recipe = best_choice(alpha=1.0)
    entries = make_entries(["best-choice", recipe, {"max_edges": 3}, "best-choice"], NETWORKS)
    assert [e.label for e in entries] == [
        "best-choice", "best-choice (2)", "best-choice (3)", "best-choice (4)",
    ]  # fmt: skip
    assert entries[1].settings == {"method": recipe}
    assert entries[2].settings == {"method": "best-choice", "max_edges": 3}
    labelled = make_entries({"α = 1": recipe, "usual": "first-hit"}, NETWORKS)
    assert [e.label for e in labelled] == ["α = 1", "usual"]
    assert [e.label for e in make_entries("first-hit", NETWORKS)] == ["first-hit"]


def test_every_method_is_compared_where_that_ends_soon():
    assert [e.label for e in usual_entries(10)] == [*RECIPES]
    assert [e.label for e in usual_entries(11)] == [*TRIO, "grafting-light"]
    assert [e.label for e in usual_entries(64)] == [*TRIO, "grafting-light"]
    assert [e.label for e in usual_entries(10**6)] == ["best-choice", "first-hit"]
    assert [e.label for e in make_entries("all", NETWORKS)] == [*RECIPES]
    some = make_entries([{"max_edges": 3}, "all"], NETWORKS)
    assert [e.label for e in some] == ["best-choice", "best-choice (2)", *[*RECIPES][1:]]
    wide = gw.Table(range(65), [(0, 1)] * 65, np.zeros((65, 3), dtype=int))
    assert [e.label for e in make_task(wide).entries] == ["best-choice", "first-hit"]


@pytest.mark.parametrize(
    ("methods", "options", "told"),
    [
        (["best-choise"], {}, "did you mean 'best-choice'"),
        ([], {}, "empty"),
        (7, {}, "not a list of methods"),
        ([7], {}, "7 is not a method"),
        ({"a": {"method": "frist-hit"}}, {}, "did you mean 'first-hit'"),
        ({"a": {"lam": 0.1}}, {}, "one number for all"),
        ({"a": {"penalti": "l1"}}, {}, "did you mean 'penalty'"),
        (["best-choice"], {"max_edge": 3}, "did you mean 'max_edges'"),
        (["best-choice"], {"method": "first-hit"}, "methods="),
        (["first-hit", {"method_options": {"alpha": -1}}], {}, "alpha"),
        (["first-hit", {"max_edges": -1}], {}, "max_edges"),
        (["first-hit"], {"max_iter": -1}, "max_iter"),
        (["first-hit"], {"penalty": "l7"}, "penalty"),
        (["first-hit"], {"lam": 0}, "lam"),
        (["first-hit"], {"lam": "aut"}, "auto"),
        (["first-hit"], {"random_state": "x"}, "not a seed"),
        (["first-hit"], {"points": 1}, "points"),
    ],
)
def test_nonsense_is_refused_before_any_run(table, methods, options, told):
    class Nobody:
        def on_stage(self, text, step, steps):
            assert text == "warming up"

    with pytest.raises(ParameterError, match=told):
        gw.compare(table, methods, **{"lam": 0.1, "observer": Nobody(), **options})


def test_false_truths_are_refused(table):
    with pytest.raises(gw.DataError, match="'v0' - 'v9', but there is no variable 'v9'"):
        gw.compare(table, "first-hit", lam=0.1, truth=[("v0", "v9")])


def test_recovery_is_what_compare_edges_says(result, table, truth):
    graph = nx.DiGraph([*truth, *((b, a) for a, b in truth)])
    model = gw.PairwiseMRF({n: [0, 1] for n in table.names}, None, {e: np.eye(2) for e in truth})
    assert make_task(table, truth=graph).truth == make_task(table, truth=model).truth
    for run in result.runs:
        found = gw.compare_edges(run.model, graph)
        assert run["recall"] == found.recall
        assert run["precision"] == found.precision
        assert run["f1"] == found.f1


def test_nothing_found_and_nothing_true_is_all_right(table):
    [record] = gw.compare(table, "first-hit", lam=10.0, truth=[], n_jobs=1).table()
    assert [record[name] for name in ("recall", "precision", "f1")] == [1.0, 1.0, 1.0]


def test_methods_that_stop_early_are_named(table):
    methods = {"whole": "best-choice", "short": {"max_edges": 1}}
    compared = gw.compare(table, methods, lam=0.01, n_jobs=1)
    words = " ".join(compared.words().split())
    assert "Only whole converged" in words
    assert "short did not converge: the edge budget was reached." in words
    assert compared.table()[1]["gap"] > 0
    assert compared.table()[1]["stop"] == "edges"


def test_different_objectives_are_not_held_against_each_other(table):
    methods = {"groups": "best-choice", "entries": {"penalty": "l1"}}
    compared = gw.compare(table, methods, lam=0.05, n_jobs=1)
    assert [record["gap"] for record in compared.table()] == [0.0, 0.0]
    assert len(compared.agreements()) == 2
    assert "Only groups converged (loss=pseudolikelihood, penalty=group-l1" in " ".join(
        compared.words().split()
    )


def test_a_method_that_fails_does_not_take_the_others_along(table, monkeypatch):
    fit = gw.MarkovNetwork.fit

    def failing(self, X, *rest):
        if self.method == "first-hit" and X is table:
            raise gw.TooLargeError("this is too large.")
        return fit(self, X, *rest)

    monkeypatch.setattr(gw.MarkovNetwork, "fit", failing)
    compared = gw.compare(table, ["first-hit", "best-choice"], lam=0.1, n_jobs=1)
    assert [run.label for run in compared.runs] == ["best-choice"]
    assert compared.missing == {"first-hit": "this is too large."}
    assert "first-hit is missing: this is too large." in compared.words()
    with pytest.raises(KeyError, match="too large"):
        compared["first-hit"]
    with pytest.raises(gw.TooLargeError):
        gw.compare(table, ["first-hit"], lam=0.1, n_jobs=1)


def test_methods_nobody_asked_for_may_not_fit(table, monkeypatch):
    fit = gw.MarkovNetwork.fit

    def choosy(self, X, *rest):
        if self.method == "first-hit":
            raise ParameterError("method='first-hit' needs something else.")
        return fit(self, X, *rest)

    monkeypatch.setattr(gw.MarkovNetwork, "fit", choosy)
    labels = [run.label for run in gw.compare(table, lam=0.1, n_jobs=1).runs]
    assert labels == [name for name in RECIPES if name != "first-hit"]
    with pytest.raises(ParameterError, match="something else"):
        gw.compare(table, ["best-choice", "first-hit"], lam=0.1, n_jobs=1)
    with pytest.raises(ParameterError, match="penalty"):
        gw.compare(table, lam=0.1, penalty="l7")


class Interrupting:
    """An observer that presses Ctrl-C in a round of a method."""

    def __init__(self, method, at_round):
        self.method, self.at_round = method, at_round

    def on_stage(self, text, step, steps):
        self.here = text == self.method
        if self.here and self.at_round is None:
            raise KeyboardInterrupt

    def on_round(self, record):
        if self.here and record.index == self.at_round:
            raise KeyboardInterrupt

    def on_network(self, potentials):
        pass

    def on_search(self, tested, total):
        pass


def test_an_interrupt_keeps_what_there_is(table, truth, tmp_path):
    observer = Interrupting("edge-grafting", 2)
    compared = gw.compare(table, TRIO, lam=0.01, truth=truth, test=0.2, observer=observer)
    assert [run.label for run in compared.runs] == ["best-choice", "edge-grafting"]
    assert compared.interrupted
    assert compared["edge-grafting"].certificate.stop == "interrupted"
    assert compared.missing == {"first-hit": "not run, because of the interrupt"}
    words = " ".join(compared.words().split())
    assert "edge-grafting did not converge: it was interrupted." in words
    assert "Interrupted: these are the results so far." in words
    compared.write(tmp_path)
    assert json.loads((tmp_path / "comparison.json").read_text())["interrupted"]


def test_an_interrupt_between_methods_or_too_early(table):
    compared = gw.compare(table, TRIO, lam=0.1, observer=Interrupting("first-hit", None))
    assert [run.label for run in compared.runs] == ["best-choice", "edge-grafting"]
    assert list(compared.missing) == ["first-hit"]
    with pytest.raises(KeyboardInterrupt):
        gw.compare(table, TRIO, lam=0.1, observer=Interrupting("best-choice", None))


def test_an_interrupt_before_the_first_round_leaves_the_method_out(table, monkeypatch):
    fit = gw.MarkovNetwork.fit

    def interrupted(self, X, *rest):
        fit(self, X, *rest)
        if self.method == "edge-grafting" and X is table:
            self.trace_ = []
            raise KeyboardInterrupt
        return self

    monkeypatch.setattr(gw.MarkovNetwork, "fit", interrupted)
    compared = gw.compare(table, TRIO, lam=0.1, n_jobs=1)
    assert [run.label for run in compared.runs] == ["best-choice"]
    assert compared.missing["edge-grafting"] == "interrupted before its first round was complete"
    assert compared.interrupted


def test_without_a_penalty_there_is_no_lambda_to_choose(table):
    methods = {"half": {"max_edges": 2}}
    compared = gw.compare(table, methods, penalty="none", n_jobs=1, method_options={"max_iter": 5})
    assert compared.lam == 0.0
    assert "There is no penalty." in compared.words()


def test_features_are_counted_where_features_are_scored(table):
    compared = gw.compare(table, ["grafting-light", "best-choice"], lam=0.05, penalty="l1")
    light, best = compared.runs
    assert light.certificate.unit == "feature"
    assert best.certificate.unit == "pair"
    assert compared.agreements()[0].same
    assert light.trace[-1].blocks > light.trace[-1].edges


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "rows",
    [
        [["a", "b"]],
        [["a"], ["b"], ["a"]],
        [["a"]],
        [["same", "x", 1], ["same", "y", 2], ["same", "x", 2]],
        [["same", "same"]] * 5,
    ],
)
@pytest.mark.parametrize("lam", [0.01, "auto"])
def test_odd_tables(rows, lam, tmp_path):
    compared = gw.compare(rows, TRIO, lam=lam, truth=[], test=rows, n_jobs=1)
    assert len(compared.runs) == 3
    assert all(record["converged"] for record in compared.table())
    assert len(compared.write(tmp_path)) == 5
    assert compared.words()


def test_no_edges_and_odd_names(tmp_path):
    rows = {"größe": [0, 1, 0, 1], "色": ["赤", "青", "青", "赤"]}
    methods = {"$best_choice": "best-choice", "_erste 方法": "first-hit"}
    compared = gw.compare(rows, methods, lam=100.0, truth=[("größe", "色")], n_jobs=1)
    assert [record["edges"] for record in compared.table()] == [0, 0]
    assert [record["recall"] for record in compared.table()] == [0.0, 0.0]
    compared.write(tmp_path)
    assert "_erste 方法" in (tmp_path / "comparison.csv").read_text(encoding="utf-8")


def test_files_hold_the_numbers(result, tmp_path):
    written = result.write(tmp_path / "deep" / "folder")
    folder = tmp_path / "deep" / "folder"
    assert {path.name for path in folder.iterdir()} == {*written}
    with (folder / "comparison.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == [*TRIO]
    assert float(rows[0]["objective"]) == result.runs[0].certificate.objective
    with (folder / "rounds.csv").open(newline="") as file:
        rounds = list(csv.DictReader(file))
    assert len(rounds) == len(result.rounds())
    assert rounds[0]["precision"] == "0.0"  # no edges yet
    stored = json.loads((folder / "comparison.json").read_text())
    assert stored["methods"][2]["certificate"]["words"] == gw.describe(result.runs[2].certificate)
    assert stored["methods"][0]["settings"]["method"] == "best-choice"
    assert (folder / "comparison.txt").read_text() == result.words()
    result.write(folder, plot=False)
    assert not (folder / "comparison.png").exists()


def test_words_are_narrow(result):
    assert max(map(len, result.words().splitlines())) <= 88


def test_the_figure_has_a_line_a_method(result, tmp_path):
    figure = result.plot(tmp_path / "a.svg")
    assert "<svg" in (tmp_path / "a.svg").read_text()
    assert figure._repr_png_().startswith(b"\x89PNG")  # what notebooks show
    axes = figure.get_axes()
    assert len(axes) == 20  # objective, two NLPLs, edges, recall by clock and three counters
    for ax in axes:
        lines = ax.get_lines()
        assert len(lines) == 3
        assert len({(line.get_color(), line.get_marker()) for line in lines}) == 3
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown == [*TRIO]
    x, y = axes[0].get_lines()[0].get_data()
    assert y[-1] == result.runs[0].certificate.objective
    assert x[-1] == result.runs[0].trace[-1].seconds
    assert len(x) == len(result.runs[0].trace)
    plain = gw.compare([[0, 1], [1, 0]] * 9, "first-hit", lam=0.1)
    assert len(plain.plot().get_axes()) == 12


def test_without_matplotlib_the_extra_is_named(result, no_matplotlib):
    with pytest.raises(ImportError, match=r"pip install 'graftwork\[plot\]'"):
        result.plot()


def test_the_corner_keeps_the_widest_column_and_the_kind_of_weights():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (300, 500))
    codes[250] = np.arange(500)
    states = [(0, 1)] * 300
    states[250] = tuple(range(500))
    table = gw.Table(tuple(range(300)), tuple(states), codes, np.linspace(0, 1, 500))
    corner = corner_of(table)
    assert corner.n_variables <= 8
    assert 250 in corner.names
    assert corner.codes.dtype == table.codes.dtype
    assert corner.weights is not None


def test_the_pieces_are_told_of_every_method(table):
    told = []
    task = make_task(table, TRIO, lam=0.05, n_jobs=1)
    trial = run_methods(task, finished=lambda attempt: told.append(attempt.label))
    assert tuple(told) == TRIO
    assert (
        repr(evaluate(task, trial))
        == "Comparison: best-choice, edge-grafting, first-hit; lambda 0.05"
    )


def test_methods_may_start_from_columns_that_no_corner_has():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (200, 12))
    codes[:, 11] = codes[:, 10]
    compared = gw.compare(
        codes,
        ["best-choice", "edge-grafting"],
        method_options={"start": [("x10", "x11")]},
        n_jobs=1,
    )
    assert not compared.missing
    assert [record["converged"] for record in compared.table()] == [True, True]
    assert [run.rounds[0]["edges"] for run in compared.runs] == [1, 1]
    assert {run.settings["start"] for run in compared.runs} == {"1 given edge"}


def test_methods_that_know_their_size_need_no_lambda(table):
    sized = gw.compare(table, ["forced-pruning", "chow-liu"], max_edges=8, random_state=0)
    assert sized.lam == 0
    assert "no sparsity penalty" in sized.lam_words
    pruned, tree = sized.runs
    assert (len(pruned.kept()), len(tree.kept())) == (8, 6)
    assert pruned.trace[-1].objective < tree.trace[-1].objective
    alone = gw.MarkovNetwork("forced-pruning", max_edges=8, random_state=0).fit(table)
    assert pruned.trace[-1].objective == alone.objective_
    mixed = gw.compare(table, ["forced-pruning", "best-choice"], max_edges=8, random_state=0)
    assert mixed.lam > 0
    assert "penalised like the others" in mixed.lam_words
    assert "forced-pruning is not certified optimal" in sized.words()


def test_auto_is_a_method_too(table):
    compared = gw.compare(table, ["auto", "edge-grafting"], lam=0.03, n_jobs=1)
    assert [run.label for run in compared.runs] == ["auto", "edge-grafting"]
    assert compared.agreements()[0].same
    assert "auto used the method working-set." in compared.words()
    alone = gw.MarkovNetwork(lam=0.03, random_state=0, n_jobs=1).fit(table)
    assert compared["auto"].certificate == alone.certificate_


def test_files_name_the_metrics(result, tmp_path):
    result.write(tmp_path, plot=False)
    told = json.loads((tmp_path / "comparison.json").read_text())["metrics"]
    assert told["test_nlpl"]["unit"] == "nats"
    assert (told["nlpl"]["better"], told["recall"]["better"]) == ("lower", "higher")
    assert {*told} == {*result.table()[0]} - {"method", "converged", "stop"}


def test_the_end_of_the_runs_can_be_drawn(result):
    figure = result.plot(by="runs")
    axes = figure.get_axes()
    assert [ax.get_title() for ax in axes] == [m.label for m in result.metrics if m.drawn]
    heights = [[bar.get_height() for bar in ax.patches] for ax in axes]
    assert heights[0] == [run["objective"] for run in result.runs]
