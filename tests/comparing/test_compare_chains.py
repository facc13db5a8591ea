import csv
import json
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

import graftwork as gw
from graftwork.datasets import labelled_chains
from graftwork.errors import ParameterError
from graftwork.grafting import Round

from doors.comparing import CHAINS, Seen, lines_of, make_chain_task, run_methods
from doors.estimators import ChainCRF
from doors.grafting import Silence
from doors.inference import FeatureLayout, FeatureWeights
from doors.recipes import grafting_light

LAM = 0.1
CRITERIA = ("nll", "test_error", "features", "selected", "seconds", "evaluations")
NAMES = ("grafting-light", "grafting", "gauss-seidel", "full")


@pytest.fixture(scope="module")
def chains():
    return labelled_chains(90, 4, 12, 3, state_sd=1.0, random_state=0).split(60)


@pytest.fixture(scope="module")
def result(chains):
    train, test = chains
    return compared(train, NAMES, select=[1, 5], test=(test.X, test.y))


def compared(train, methods, **options):
    return gw.compare_chains(train.X, train.y, methods, **{"lam": LAM, "n_jobs": 1, **options})


def enumerated_optimum(train, lam):
    """The l1 optimum by enumerating labellings, and a bound-constrained solver on +/- parts."""
    y = np.array(train.y)
    n, length, d = train.X.shape
    labellings = np.array(list(product(range(2), repeat=length)))
    places = np.arange(length)

    def loss(w):
        votes, moves = w[: 2 * d].reshape(d, 2), w[2 * d :].reshape(2, 2)
        scores = train.X @ votes
        totals = scores[:, places, labellings].sum(axis=2)
        totals += moves[labellings[:, :-1], labellings[:, 1:]].sum(axis=1)
        true = scores[np.arange(n)[:, None], places, y].sum(axis=1)
        true += moves[y[:, :-1], y[:, 1:]].sum(axis=1)
        return float(np.mean(np.logaddexp.reduce(totals, axis=1) - true))

    size = 2 * d + 4

    def both(parts):
        return loss(parts[:size] - parts[size:]) + lam * parts.sum()

    found = minimize(both, np.zeros(2 * size), bounds=[(0, None)] * (2 * size), method="L-BFGS-B")
    return found.fun


def test_every_method_reaches_the_enumerated_optimum(chains, result):
    best = enumerated_optimum(chains[0], LAM)
    for record in result.table():
        assert record["converged"]
        assert record["objective"] == pytest.approx(best, rel=1e-4)
        assert 0 <= record["gap"] < 5e-3
    [agreement] = result.agreements()
    assert agreement.same
    assert len(agreement.labels) == len(result.runs) == 7
    assert "The 7 methods that converged agree" in result.words()


def test_criteria_are_those_of_a_run_alone(chains, result):
    train, test = chains
    crf = ChainCRF("grafting", select=5, lam=LAM, n_jobs=1).fit(train.X, train.y)
    run = result["grafting:select=5"]
    [record] = [r for r in result.table() if r["method"] == "grafting:select=5"]
    assert run.certificate == crf.certificate_
    assert record["select"] == 5
    assert record["nll"] == pytest.approx(-crf.score_samples(train.X, train.y).sum(), rel=1e-9)
    assert record["test_error"] == pytest.approx(1 - crf.score(test.X, test.y), abs=1e-12)
    assert record["features"] == crf.n_features_
    assert record["evaluations"] == crf.trace_[-1].evaluations
    assert record["activations"] == sum(told.activated for told in crf.trace_)
    assert record["features"] <= record["selected"] <= record["activations"]
    assert run.model.predict(test.X) == crf.predict(test.X)
    assert len(run.kept()) == crf.n_features_


def test_the_table_has_the_six_criteria_and_full_takes_everything(result):
    for record in result.table():
        assert all(np.isfinite(record[name]) for name in CRITERIA)
    full = result["full"]
    assert full["select"] is None
    assert full["selected"] == 12 * 2 + 4
    assert [run["select"] for run in result.runs] == [1, 5, 1, 5, 1, 5, None]


def test_rounds_count_up(result):
    for run in result.runs:
        assert len(run.rounds) == len(run.trace)
        assert (np.diff([record["selected"] for record in run.rounds]) >= 0).all()
        assert run.rounds[-1]["selected"] == run["selected"]
        assert run.rounds[-1]["nll"] == run["nll"]
        assert run.rounds[-1]["objective"] == run.certificate.objective
        assert all(r["selected"] >= r["features"] for r in run.rounds)
    assert len(result.rounds()) == sum(len(run.trace) for run in result.runs)
    assert list(result.rounds()[0])[:2] == ["method", "round"]


def test_features_that_come_back_are_selected_once():
    seen = Seen(Silence())
    starts = np.arange(10)
    for features in ([], [3, 1], [1], [1, 3], [7, 1]):
        blocks = np.array(features, dtype=np.int64)
        seen.on_round(Round(0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, True, 0, 0, 0, 0.0, 0.1))
        seen.on_network(FeatureWeights(FeatureLayout.of(starts, blocks), np.ones(len(blocks))))
    seen.on_search(3, 9)
    assert seen.by_round(5) == (0, 2, 2, 2, 3)
    assert seen.by_round(6) == (0, 2, 2, 2, 3, 3)


def test_methods_are_taken_in_many_forms(chains):
    train, _ = chains
    task = make_chain_task(
        train.X,
        train.y,
        {
            "a": "grafting",
            "own": {"method": "grafting", "select": 3},
            "counted": {"method_options": {"count": 4}},
            "recipe": grafting_light(count=6),
            "full": "full",
        },
        select=[1, 2, 2],
    )
    labels = [entry.label for entry in task.entries]
    assert labels == ["a:select=1", "a:select=2", "own", "counted", "recipe", "full"]
    alone = make_chain_task(train.X, train.y, "all", select=7).entries
    assert [entry.label for entry in alone] == [
        "full" if name == "full" else f"{name}:select=7" for name in CHAINS.methods
    ]
    usual = make_chain_task(train.X, train.y).entries
    assert [entry.label for entry in usual] == ["grafting-light", "grafting", "full"]


def test_lines_join_what_differs_in_the_select_unit_only(chains):
    train, _ = chains
    methods = {
        "light:select=9": {"select": 9},
        "light:count=2": {"method_options": {"count": 2}},
        "two steps": {"method_options": {"count": 2, "steps": 2}},
        "recipe": grafting_light(count=4),
        "full": "full",
    }
    lines = lines_of(compared(train, methods))
    assert [(name, [r["select"] for r in records]) for name, records in lines.items()] == [
        ("light", [2, 9]), ("two steps", [2]), ("recipe", [4]), ("full", [None]),
    ]  # fmt: skip


def test_the_figure_has_a_line_a_method_or_a_bar(chains, result, tmp_path):
    figure = result.plot(tmp_path / "a.svg")
    assert "<svg" in (tmp_path / "a.svg").read_text()
    assert figure._repr_png_().startswith(b"\x89PNG")  # what notebooks show
    axes = figure.get_axes()
    assert len(axes) == 6
    assert [t.get_text() for t in figure.legends[0].get_texts()] == [*NAMES]
    for ax, name in zip(axes, CRITERIA, strict=True):
        x, y = ax.get_lines()[1].get_data()
        assert list(x) == [1, 5]
        assert list(y) == [r[name] for r in result.table() if r["method"].startswith("grafting:")]
        assert len(set(ax.get_lines()[3].get_ydata())) == 1
    bars = compared(chains[0], ["grafting-light", "full"]).plot()
    assert [len(ax.patches) for ax in bars.get_axes()] == [2, 2, 2, 2, 2]
    rounds = result.plot(by="rounds").get_axes()
    assert len(rounds) == 6  # NLL, features and selected by clock and evaluations
    assert rounds[0].get_lines()[0].get_ydata()[-1] == result.runs[0]["nll"]


def test_without_matplotlib_the_extra_is_named(result, no_matplotlib):
    with pytest.raises(ImportError, match=r"pip install 'graftwork\[plot\]'"):
        result.plot()


def test_files_hold_the_numbers(result, tmp_path):
    written = result.write(tmp_path / "deep")
    folder = tmp_path / "deep"
    assert {path.name for path in folder.iterdir()} == {*written}
    with (folder / "comparison.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert float(rows[2]["nll"]) == result.runs[2]["nll"]
    assert rows[-1]["select"] == ""
    with (folder / "rounds.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == len(result.rounds())
    stored = json.loads((folder / "comparison.json").read_text())
    assert stored["sequences"] == 60
    assert stored["test_sequences"] == 30
    assert stored["methods"][0]["settings"]["select"] == 1
    assert stored["methods"][0]["certificate"]["words"] == gw.describe(result.runs[0].certificate)
    assert (folder / "comparison.txt").read_text() == result.words()


def test_words_say_what_is_counted(chains, result):
    words = " ".join(result.words().split())
    assert words.startswith("7 runs on 60 sequences, 240 positions, 12 attributes, 2 labels, 30")
    assert "Lambda is 0.1 on the mean loss of a sequence, 6 on the sum." in words
    assert "not determined by the optimum" in words
    assert "test error" in words
    plain = compared(chains[0], "full")
    assert "test error" not in plain.words()
    assert "test_error" not in plain.table()[0]
    assert "Only full converged" in plain.words()
    assert repr(plain) == "Comparison: full; lambda 0.1"


def test_lists_of_attributes_labels_never_seen_and_weights():
    X = [[["w=the"], ["w=dog"]], [["w=dogs"], ["w=bark"]]] * 8
    y = [["D", "N"], ["N", "V"]] * 8
    weights = np.arange(16) % 3
    test = (iter([[["w=the"], ["w=new"]]]), [["D", "FOREIGN"]])
    found = gw.compare_chains(
        iter(X), iter(y), "full", lam=0.02, test=test, sample_weight=weights, n_jobs=1
    )
    [run] = found.runs
    crf = ChainCRF("full", lam=0.02, n_jobs=1).fit(X, y, sample_weight=weights)
    assert run["test_error"] == 0.5
    assert run["nll"] == pytest.approx(-weights @ crf.score_samples(X, y), rel=1e-9)
    assert "not determined" not in found.words()


def test_one_matrix_of_all_positions(chains):
    train, test = chains
    flat, lengths = train.X.reshape(240, 12), [4] * 60
    other = (test.X.reshape(120, 12), test.y, [4] * 30)
    found = gw.compare_chains(flat, train.y, "full", lengths=lengths, test=other, lam=LAM, n_jobs=1)
    same = compared(train, "full", test=(test.X, test.y))
    assert found.runs[0]["nll"] == same.runs[0]["nll"]
    assert found.runs[0]["test_error"] == same.runs[0]["test_error"]


def test_budgets_and_different_objectives_are_named(chains):
    methods = {
        "whole": "full",
        "short": {"max_features": 2, "select": 1},
        "groups": {"penalty": "group-l1"},
    }
    found = compared(chains[0], methods)
    words = " ".join(found.words().split())
    assert "short did not converge: the feature budget was reached." in words
    assert "Only whole converged (penalty=l1" in words
    assert len(found.agreements()) == 2
    assert found.table()[1]["gap"] > 0
    assert found.table()[2]["gap"] == 0


@pytest.mark.parametrize(
    ("methods", "options", "told"),
    [
        ("best-choice", {}, "method='best-choice' is not known"),
        (["grafting-lite"], {}, "did you mean 'grafting-light'"),
        ([], {}, "methods is empty"),
        (7, {}, "not a list of methods"),
        ([7], {}, "dict of ChainCRF's arguments"),
        ({"a": {"lam": 1}}, {}, "pass it to compare_chains as lam="),
        ("full", {"max_edges": 1}, "option='max_edges' is not known"),
        ("full", {"method": "full"}, "compare_chains takes several methods"),
        ("full", {"select": 0}, "select must be"),
        ("full", {"select": []}, "select is empty"),
        ([{"method": "full", "select": 2}], {}, "leave out select=2"),
        ("full", {"lam": -1}, "lam must be"),
        ("full", {"order": 3}, "order must be 1 or 2"),
        ("full", {"max_iter": -1}, "max_iter must be"),
    ],
)
def test_nonsense_is_refused_before_any_run(chains, methods, options, told):
    class Nobody:
        def on_stage(self, text, step, steps):
            assert text == "warming up"

    with pytest.raises(ParameterError, match=told):
        compared(chains[0], methods, observer=Nobody(), **options)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"test": 0.2}, "test must be"),
        ({"test": ([[["a"]]], [["x", "y"]])}, "test: .* 2 labels in y"),
        ({"test": (np.zeros((1, 2, 11)), [[0, 1]])}, "test: X has 11 columns, but .* has 12"),
        ({"test": ([[["a"]]], [[0]])}, "test: X has named attributes, but .* columns of a matrix"),
        ({"test": (np.zeros((2, 12)), [[0, 1]], [3])}, "test: "),
        ({"X": [[["a"]]], "y": [[0]], "test": (np.zeros((1, 1, 2)), [[0]])}, "test: X has columns"),
        ({"y": [[0] * 4]}, "60 sequences"),
        ({"sample_weight": [1.0]}, "60"),
    ],
)
def test_wrong_data_are_refused_before_any_learning(chains, changes, told):
    train, _ = chains
    given = {"X": train.X, "y": train.y, "methods": "full", "lam": LAM, **changes}
    with pytest.raises(gw.DataError, match=told):
        make_chain_task(**given)


def test_iterators_are_read_once():
    X, y = [[["a"], ["b"]], [["b"]]] * 6, [["x", "y"], ["y"]] * 6
    usual = gw.compare_chains(X, y, ["full", "grafting"], lam=0.05, test=(X, y), n_jobs=1)
    once = gw.compare_chains(
        (iter(part) for part in X), [iter(part) for part in y], ["full", "grafting"], lam=0.05,
        test=([iter(part) for part in X], (iter(part) for part in y)), n_jobs=1,
    )  # fmt: skip
    assert [run["nll"] for run in once.runs] == [run["nll"] for run in usual.runs]
    assert [run["test_error"] for run in once.runs] == [0.0, 0.0]


def test_sequences_are_counted_by_their_weights():
    X, y = [[["a"], ["b"]], [["b"]], [["c"]]], [["x", "y"], ["y"], ["z"]]
    found = gw.compare_chains(X, y, "full", lam=0.1, sample_weight=[2.0, 3.0, 0.0], n_jobs=1)
    assert [found.sizes[name] for name in ("sequences", "positions", "labels")] == [2, 3, 2]
    assert "Lambda is 0.1 on the mean loss of a sequence, 0.5 on the sum." in " ".join(
        found.words().split()
    )


@pytest.mark.parametrize(
    ("options", "open_"),
    [({}, True), ({"penalty": "elastic-net", "l2": 0.1}, False), ({"penalty": "l2"}, False)],
)
def test_a_strictly_convex_penalty_determines_the_features(chains, options, open_):
    words = " ".join(compared(chains[0], "full", **options).words().split())
    assert ("not determined by the optimum" in words) is open_


def test_true_and_one_are_two_labels():
    X, y = [[["a"], ["b"]]] * 6, [[True, "y"]] * 6
    found = gw.compare_chains(X, y, "full", lam=0.05, test=(X[:1], [[1, "y"]]), n_jobs=1)
    assert found.runs[0]["test_error"] == 0.5


def test_a_method_that_fails_does_not_take_the_others_along(chains, monkeypatch):
    train, _ = chains
    fit = ChainCRF.fit

    def failing(self, X, *rest):
        if self.method == "grafting" and X is train.X:
            raise gw.TooLargeError("this is too large.")
        return fit(self, X, *rest)

    monkeypatch.setattr(ChainCRF, "fit", failing)
    found = compared(train, ["grafting", "full"])
    assert [run.label for run in found.runs] == ["full"]
    assert "grafting is missing: this is too large." in found.words()
    with pytest.raises(KeyError, match="too large"):
        found["grafting"]
    with pytest.raises(gw.TooLargeError):
        compared(train, "grafting")


class Interrupting:
    """An observer that presses Ctrl-C in a round of a method, or at its network."""

    def __init__(self, method, at_round, at_network=False):
        self.method, self.at_round, self.at_network = method, at_round, at_network

    def on_stage(self, text, step, steps):
        self.here = text == self.method
        if self.here and self.at_round is None:
            raise KeyboardInterrupt

    def on_round(self, record):
        self.now = self.here and record.index == self.at_round
        if self.now and not self.at_network:
            raise KeyboardInterrupt

    def on_network(self, potentials):
        if self.now and self.at_network:
            raise KeyboardInterrupt

    def on_search(self, tested, total):
        pass


@pytest.mark.parametrize("at_network", [False, True])
@pytest.mark.parametrize("at_round", [0, 2])
def test_an_interrupt_keeps_what_there_is(chains, tmp_path, at_round, at_network):
    observer = Interrupting("grafting:select=1", at_round, at_network)
    found = compared(chains[0], ["full", "grafting", "gain"], select=1, observer=observer)
    assert [run.label for run in found.runs] == ["full", "grafting:select=1"]
    assert found.interrupted
    assert found["grafting:select=1"].certificate.stop == "interrupted"
    assert found.missing == {"gain:select=1": "not run, because of the interrupt"}
    assert len(found.runs[1].rounds) == len(found.runs[1].trace)
    found.write(tmp_path, plot=False)
    assert json.loads((tmp_path / "comparison.json").read_text())["interrupted"]


def test_an_interrupt_before_anything(chains):
    with pytest.raises(KeyboardInterrupt):
        compared(chains[0], "full", observer=Interrupting("full", None))


def test_the_pieces_are_told_of_every_method(chains):
    told = []
    train, _ = chains
    task = make_chain_task(train.X, train.y, ["full", "gain"], lam=LAM, n_jobs=1)
    run_methods(task, finished=lambda attempt: told.append(attempt.label))
    assert told == ["full", "gain"]
