"""ChainCRF: what scikit-learn expects, inputs of every form, and every refusal."""

from __future__ import annotations

import itertools
import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from graftwork import ChainCRF, label_scores, load
from graftwork.errors import DataError, ParameterError
from graftwork.models import read_info
from graftwork.recipes import RECIPES

from doors.estimators import METHODS
from doors.grafting import Silence
from doors.recipes import grafting

LAM = 0.02


def draw(n=25, seed=0, n_labels=3, n_words=6):
    """Sequences of words that mostly tell a label, which mostly stays the same."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels = [int(rng.integers(n_labels))]
        for _ in range(rng.integers(0, 5)):
            stays = rng.random() < 0.6
            labels.append(labels[-1] if stays else int(rng.integers(n_labels)))
        noise = (rng.random(len(labels)) < 0.3) * rng.integers(n_words, size=len(labels))
        words = (np.array(labels) + noise) % n_words
        X.append([{"bias": 1.0, f"w{w}": 1.0, "x": 0.5 * (1 + w % 3)} for w in words.tolist()])
        y.append([f"L{label}" for label in labels])
    return X, y


X, Y = draw()


@pytest.fixture(scope="module")
def fitted():
    return ChainCRF(lam=LAM).fit(X, Y)


@pytest.fixture(scope="module", params=[1, 2])
def of_order(request):
    return ChainCRF(lam=LAM, order=request.param).fit(X, Y)


def table(crf):
    """The weights by what they belong to."""
    records = crf.model_.records()
    return {tuple(v for k, v in r.items() if k != "weight"): r["weight"] for r in records}


def farthest(one, other):
    a, b = table(one), table(other)
    return max((abs(a.get(k, 0.0) - b.get(k, 0.0)) for k in a | b), default=0.0)


def bits(crf):
    model = crf.model_
    parts = (model.vote_attributes, model.vote_outputs, model.vote_weights, model.pairs)
    return [part.tobytes() for part in (*parts, model.triples)], model.attributes, crf.objective_


def refused(kind, words, call, *args, **more):
    """The call must be refused in one sentence that says this."""
    with pytest.raises(kind, match=words) as caught:
        call(*args, **more)
    text = str(caught.value)
    assert text.endswith((".", "'"))
    assert "\n" not in text


# What scikit-learn expects


def test_grid_search_over_lists_of_sequences():
    search = GridSearchCV(ChainCRF(n_jobs=1), {"lam": [0.02, 5.0]}, cv=2)
    search.fit(X, Y)
    assert search.best_params_["lam"] == 0.02
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.predict(X[:2]) == search.predict(X[:2])


def test_cross_validation_and_pipelines():
    scores = cross_val_score(ChainCRF(lam=LAM), X, Y, cv=3)
    pipeline = make_pipeline(FunctionTransformer(lambda X: X), ChainCRF(lam=LAM))
    assert scores.shape == (3,)
    np.testing.assert_array_equal(cross_val_score(pipeline, X, Y, cv=3), scores)


def test_nothing_is_answered_before_fit():
    for name in ("predict", "predict_marginals", "save", "n_features_", "weights_"):
        with pytest.raises(NotFittedError):
            getattr(ChainCRF(), name)(X)


# The same data, the same model


@pytest.mark.parametrize("order", [1, 2])
def test_threads_of_several_parts_of_positions_give_the_same_bits(order):
    big, labels = [s * 40 for s in X * 3], [s * 40 for s in Y * 3]
    first, again = (
        ChainCRF(n_jobs=n, lam=1.0, order=order, tol=0.5).fit(big, labels) for n in (1, np.int64(3))
    )
    assert bits(again) == bits(first)
    logs = [crf.score_samples(big, labels).tobytes() for crf in (first, again)]
    assert logs[0] == logs[1]


def test_labels_of_weightless_sequences_are_no_classes():
    crf = ChainCRF(lam=LAM, candidates="all").fit(
        [*X, [{"new": 1.0}]], [*Y, ["Z"]], sample_weight=[1.0] * len(X) + [0.0]
    )
    alone = ChainCRF(lam=LAM, candidates="all").fit(X, Y)
    assert crf.classes_ == ("L0", "L1", "L2")
    assert crf.objective_ == pytest.approx(alone.objective_, abs=1e-12)
    assert farthest(crf, alone) < 1e-9
    assert crf.n_candidates_ == alone.n_candidates_


NAMES = sorted({name for sequence in X for item in sequence for name in item})
MATRICES = [np.array([[item.get(n, 0.0) for n in NAMES] for item in s]) for s in X]
LENGTHS = [len(s) for s in X]
FORMS = {
    "matrices": (MATRICES, None),
    "sparse": (sparse.csr_array(np.vstack(MATRICES)), LENGTHS),
}


@pytest.mark.parametrize("form", FORMS)
def test_matrices_are_the_dicts_they_stand_for(form):
    given, lengths = FORMS[form]
    crf = ChainCRF(lam=LAM, tol=1e-9)
    dicts = clone(crf).fit(X, Y)
    crf.fit(given, Y, lengths=lengths, attribute_names=NAMES)
    assert crf.objective_ == pytest.approx(dicts.objective_, abs=1e-12)
    assert farthest(crf, dicts) < 1e-8
    assert crf.predict(given, lengths) == dicts.predict(X)
    assert crf.predict(X) == dicts.predict(X)  # the columns have names
    assert crf.score(given, Y, lengths) == dicts.score(X, Y)
    np.testing.assert_allclose(
        crf.score_samples(given, Y, lengths), dicts.score_samples(X, Y), atol=1e-9
    )
    flat = [label for labels in Y for label in labels]
    assert clone(crf).fit(given, flat, lengths).objective_ == crf.objective_
    refused(DataError, "X has 2 columns, but the model was learned from", crf.predict, [np.eye(2)])


def test_iterators_tuples_and_arrays_of_labels(fitted):
    assert bits(ChainCRF(lam=LAM).fit(iter(X), iter(Y))) == bits(fitted)
    labels = [np.array(part) for part in Y]
    assert bits(ChainCRF(lam=LAM).fit(tuple(map(tuple, X)), labels)) == bits(fitted)
    assert fitted.score((iter(s) for s in X), (tuple(s) for s in Y)) == fitted.score(X, Y)


def test_unknown_attributes_are_ignored(fitted):
    more = [[{**item, "never seen": 7.0} for item in s] for s in X]
    assert fitted.predict(more) == fitted.predict(X)
    assert fitted.score_samples(more, Y).tobytes() == fitted.score_samples(X, Y).tobytes()
    assert fitted.predict([[["never seen"]], [[]]]) == [fitted.predict([[[]]])[0]] * 2


def test_weights_keep_labels_and_names_as_they_are():
    big = 2**60
    crf = ChainCRF(lam=0.001).fit(np.eye(2)[[0, 1, 1, 0]], [[big + 1, big + 2]] * 2, lengths=[2, 2])
    frame = crf.weights_
    assert {type(v) for v in frame["label"]} == {int}
    assert set(frame["label"]) <= {big + 1, big + 2}
    assert {type(v) for v in frame["attribute"]} <= {int, type(None)}
    assert frame["weight"].dtype == float


# Odd data


LABELS = {
    "tuples": (("B", 1), ("I", None)),
    "bools with ints": (True, 1),
    "numpy text": (np.str_("a"), np.str_("")),
    "sets": (frozenset("a"), frozenset("b")),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_of_any_kind(case, tmp_path):
    a, b = LABELS[case]
    crf = ChainCRF(lam=0.001).fit(
        [[["p"], ["q"], ["q"]], [["q"], ["p"]]] * 5, [[a, b, b], [b, a]] * 5
    )
    found = crf.predict([[["q"], ["p"]]])
    assert found == [[b, a]]
    assert [type(label) for label in found[0]] == [
        str if isinstance(label, np.str_) else type(label) for label in (b, a)
    ]
    assert crf.score([[["q"], ["p"]]], [[b, b]]) == 0.5
    if case == "sets":
        refused(DataError, "cannot write the label", crf.save, tmp_path / "m.gw")
        return
    crf.save(tmp_path / "m.gw")
    again = load(tmp_path / "m.gw")
    assert again.records() == crf.model_.records()
    assert list(map(type, again.labels)) == list(map(type, crf.classes_))


def test_equal_keys_of_marginals_are_refused():
    crf = ChainCRF(lam=0.01).fit([[["p"], ["q"]]], [[True, 1]])
    refused(DataError, "True and 1", crf.predict_marginals, [[["p"]]])
    assert crf.model_.marginals([[["p"]]])[0].shape == (1, 2)


def test_hundreds_of_labels():
    given = [[[f"w{k}"], [f"w{7 * k % 300}"]] for k in range(300)]
    labels = [[k, 7 * k % 300] for k in range(300)]
    crf = ChainCRF(lam=0.001, max_iter=5).fit(given, labels)
    assert len(crf.classes_) == 300
    assert crf.score(given, labels) > 0.5


def test_values_beyond_what_can_be_solved_are_refused():
    with pytest.raises(DataError, match=r"the value 1e\+50 of attribute 'a' in sequence 0"):
        ChainCRF(lam=0.01).fit([[{"a": 1e50}], [{"a": -1e50}]], [["O"], ["P"]])


@pytest.mark.parametrize(
    ("scale", "method"),
    [(1e-2, "grafting-light"), (100.0, "grafting"), (1e6, "full"), (1e6, "grafting-light")],
)
def test_attributes_of_any_scale_are_solved(scale, method):
    X = [[{"a": scale, "b": 1.0}, {"a": -scale}]] * 3
    crf = ChainCRF(method, lam=0.01, candidates="all").fit(X, [["O", "P"]] * 3)
    assert crf.certificate_.converged
    assert crf.trace_[-1].evaluations < 400


# Answers


def score_by_records(crf, sequence, labels):
    """The summed weights of labels, by the published records alone."""
    total = 0.0
    for record in crf.model_.records():
        wanted = [record["label"], record["previous"], record.get("before")]
        for t, item in enumerate(sequence):
            found = [labels[t - back] if back <= t else None for back in range(3)]
            fits = all(w is None or w == f for w, f in zip(wanted, found, strict=True))
            name = record["attribute"]
            total += fits * record["weight"] * (1.0 if name is None else item.get(name, 0.0))
    return total


def test_answers_are_those_of_enumeration(of_order):
    crf = of_order
    for sequence, true in [(X[k], Y[k]) for k in (0, 1, 2, 3)]:
        every = list(itertools.product(crf.classes_, repeat=len(sequence[:4])))
        sequence, true = sequence[:4], tuple(true[:4])
        scores = np.array([score_by_records(crf, sequence, labels) for labels in every])
        log_z = np.logaddexp.reduce(scores)
        logs = dict(zip(every, scores - log_z, strict=True))
        found = crf.score_samples([sequence], [true])
        assert found == pytest.approx(logs[true], abs=1e-9)
        assert crf.model_.log_partition([sequence]) == pytest.approx(log_z)
        (best,) = crf.predict([sequence])
        assert logs[tuple(best)] == pytest.approx(max(logs.values()), abs=1e-9)
        (marginals,) = crf.predict_marginals([sequence])
        for t, shares in enumerate(marginals):
            assert sum(shares.values()) == pytest.approx(1.0)
            for label, share in shares.items():
                expected = sum(np.exp(v) for labels, v in logs.items() if labels[t] == label)
                assert share == pytest.approx(expected, abs=1e-9)


def penalty_of(crf, lam):
    return lam * sum(map(abs, table(crf).values()))


def test_the_objective_is_loss_plus_penalty(of_order):
    loss = -of_order.score_samples(X, Y).mean()
    assert of_order.objective_ == pytest.approx(loss + penalty_of(of_order, LAM))
    default = ChainCRF().fit(X, Y)
    assert default.lam_ == 1 / len(X)
    loss = -default.score_samples(X, Y).mean()
    assert default.objective_ == pytest.approx(loss + penalty_of(default, 1 / len(X)))


def test_weights_with_and_without_pandas(of_order, monkeypatch):
    frame = of_order.weights_
    columns = ["attribute", "previous", "label", "weight"]
    assert isinstance(frame, pd.DataFrame)
    assert list(frame) == columns[:1] + ["before"] * (of_order.order == 2) + columns[1:]
    assert frame["weight"].abs().is_monotonic_decreasing
    assert len(frame) == of_order.n_features_
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert of_order.weights_ == of_order.model_.records()


def test_files_keep_how_the_model_was_learned(of_order, tmp_path):
    of_order.save(tmp_path / "m.gw")
    again = load(tmp_path / "m.gw")
    assert again.predict(X) == of_order.predict(X)
    info = read_info(tmp_path / "m.gw")
    assert info["order"] == of_order.order
    assert info["certificate"]["converged"] is True
    ChainCRF(lam=LAM, max_iter=0).fit(X, Y).save(tmp_path / "m.gw")
    assert read_info(tmp_path / "m.gw")["certificate"]["stop"] == "rounds"


# Labels that were never fitted, empty sequences, attributes that are not known


def test_labels_that_were_never_fitted_are_wrong_and_impossible(of_order):
    strange = [Y[0], ["Z"] * len(Y[1]), *Y[2:]]
    right = label_scores(strange, of_order.predict(X))
    assert of_order.score(X, strange) == pytest.approx(right.accuracy)
    logs = of_order.score_samples(X, Y)
    logs[1] = -np.inf
    np.testing.assert_array_equal(of_order.score_samples(X, strange), logs)
    assert of_order.score([X[0]], [["Z"] * len(Y[0])]) == 0.0


def test_cross_validation_with_a_label_that_one_fold_alone_has():
    labels = [["Z"] * len(Y[0]), *Y[1:]]
    search = GridSearchCV(ChainCRF(n_jobs=1), {"lam": [0.02, 5.0]}, cv=3, error_score="raise")
    search.fit(X, labels)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


GAPS = [0, 0, 3, len(X)]  # where empty sequences go among the others


def with_gaps(sequences):
    out = list(sequences)
    for k in reversed(GAPS):
        out.insert(k, [])
    return out


@pytest.mark.parametrize("order", [1, 2])
def test_empty_sequences_add_nothing_but_their_number(order):
    more = len(GAPS) / len(X)
    gaps = ChainCRF(lam=LAM / (1 + more), order=order, tol=1e-8).fit(with_gaps(X), with_gaps(Y))
    plain = ChainCRF(lam=LAM, order=order, tol=1e-8).fit(X, Y)
    assert gaps.certificate_.converged
    assert gaps.objective_ * (1 + more) == pytest.approx(plain.objective_, abs=1e-10)
    assert farthest(gaps, plain) < 1e-6
    assert ChainCRF(order=order).fit(with_gaps(X), with_gaps(Y)).lam_ == 1 / (len(X) + len(GAPS))


def test_empty_sequences_are_answered(of_order):
    X_gaps, Y_gaps = with_gaps(X), with_gaps(Y)
    assert of_order.predict(X_gaps) == with_gaps(of_order.predict(X))
    assert of_order.predict_marginals(X_gaps) == with_gaps(of_order.predict_marginals(X))
    assert of_order.score(X_gaps, Y_gaps) == of_order.score(X, Y)
    logs = dict(zip(map(id, X), of_order.score_samples(X, Y), strict=True))
    expected = [logs.get(id(sequence), 0.0) for sequence in X_gaps]
    np.testing.assert_array_equal(of_order.score_samples(X_gaps, Y_gaps), expected)
    assert of_order.model_.marginals([[]])[0].shape == (0, 3)
    assert of_order.model_.log_partition([[], []]).tolist() == [0.0, 0.0]


def test_nothing_is_answered_with_nothing(of_order):
    for nothing in ([], (), iter(())):
        assert of_order.predict(nothing) == []
    assert of_order.predict([[]]) == [[]]
    assert of_order.predict_marginals([]) == []
    assert of_order.score_samples([], []).tolist() == []
    assert of_order.score([], []) == of_order.score([[]], [[]]) == 1.0
    weights = [0.0, 1.0]
    assert of_order.score([X[0], []], [["Z"] * len(Y[0]), []], sample_weight=weights) == 1.0
    refused(DataError, "X has no sequences", ChainCRF().fit, [], [])
    refused(DataError, "every sequence of X is empty", ChainCRF().fit, [[], []], [[], []])
    refused(
        DataError, "every sequence of X with a weight above zero is empty",
        ChainCRF().fit, [X[0], []], [Y[0], []], sample_weight=weights,
    )  # fmt: skip


@pytest.mark.parametrize("order", [1, 2])
def test_equally_probable_labels_go_to_the_most_frequent(order, tmp_path):
    words = [[["w=a"]], [["w=b"]], [["w=c"]]]
    times = {"A": 4, "B": 9, "C": 6}
    given = [words[k] for k, n in enumerate(times.values()) for _ in range(n)]
    labels = [[label] for label, n in times.items() for _ in range(n)]
    crf = ChainCRF(lam=0.01, order=order).fit(given, labels)
    assert crf.predict(words) == [["A"], ["B"], ["C"]]
    unknown = [[["w=never"]], [[]], [["w=a"], ["w=never"], []]]
    expected = [["B"], ["B"], ["A", "B", "B"]]
    assert crf.predict(unknown) == expected
    assert crf.model_.label_counts.tolist() == [4.0, 9.0, 6.0]
    crf.save(tmp_path / "m.gw")
    assert load(tmp_path / "m.gw").predict(unknown) == expected
    weighted = ChainCRF(lam=0.01, order=order).fit(
        given, labels, sample_weight=[2.0 if label == ["C"] else 1.0 for label in labels]
    )
    assert weighted.predict(unknown) == [["C"], ["C"], ["A", "C", "C"]]
    without = replace(crf.model_, label_counts=None)
    assert without.predict(unknown) == [["A"], ["A"], ["A", "A", "A"]]


def test_transitions_count_before_frequencies():
    X = [[["w=the"], ["w=dog"]]] * 3 + [[["w=go"]]] * 9
    crf = ChainCRF(lam=0.001).fit(X, [["D", "N"]] * 3 + [["V"]] * 9)
    assert crf.predict([[["w=the"], ["w=goat"]]]) == [["D", "N"]]
    assert crf.predict([[["w=goat"]]]) == [["V"]]


# Methods, penalties, budgets


@pytest.mark.parametrize("penalty", ["l1", "elastic-net", "group-l1", "l2", "none"])
def test_all_methods_end_at_the_same_optimum(penalty):
    given = {"penalty": penalty, "l2": 0.01 if penalty == "elastic-net" else 0.0, "tol": 1e-5}
    crfs = [ChainCRF(method, lam=LAM, **given).fit(X, Y) for method in METHODS]
    assert all(crf.certificate_.converged for crf in crfs)
    objectives = [crf.objective_ for crf in crfs]
    np.testing.assert_allclose(objectives, objectives[0], atol=1e-4)
    assert crfs[0].lam_ == (0.0 if penalty == "none" else LAM)


def test_penalties_choose_features_rows_or_everything():
    kept = {}
    for penalty in ("l1", "group-l1", "l2"):
        crf = ChainCRF(lam=0.1, penalty=penalty, tol=1e-6).fit(X, Y)
        kept[penalty] = crf.n_features_ / crf.n_candidates_
        names = {name for name, *_ in table(crf)} - {None}
        if penalty == "group-l1":  # each attribute with all labels it was seen with
            seen = {(n, q) for s, t in zip(X, Y, strict=True) for i, q in zip(s, t, strict=True)
                    for n in i if i[n]}  # fmt: skip
            found = {(name, label) for name, _, label in table(crf) if name is not None}
            assert found == {(n, q) for n, q in seen if n in names}
    assert kept["l1"] < kept["group-l1"] < kept["l2"] == 1.0


def test_without_a_penalty_separable_data_are_no_trouble():
    crf = ChainCRF(penalty="none").fit([[["a"], ["b"]]] * 3, [["A", "B"]] * 3)
    assert crf.certificate_.converged
    assert crf.predict([[["a"], ["b"]]]) == [["A", "B"]]


BUDGETS = {
    "edges": {"max_features": 2},
    "rounds": {"max_iter": 2},
    "seconds": {"max_seconds": 0},
}


@pytest.mark.parametrize("stop", BUDGETS)
def test_budgets_end_a_run_and_the_certificate_says_so(stop):
    crf = ChainCRF(lam=0.001, select=1, **BUDGETS[stop]).fit(X, Y)
    assert crf.certificate_.stop == stop
    assert not crf.certificate_.converged
    assert crf.n_features_ <= 2
    assert len(crf.trace_) == crf.n_iter_
    assert len(crf.predict(X)) == len(X)


def test_a_row_budget_counts_rows():
    crf = ChainCRF(lam=0.001, select=1, penalty="group-l1", max_features=2).fit(X, Y)
    assert (crf.certificate_.stop, crf.certificate_.noun) == ("edges", "row")
    assert len({name or previous for name, previous, _ in table(crf)}) == 2


def test_candidates_and_counts():
    observed = ChainCRF(lam=LAM).fit(X, Y)
    every = ChainCRF(lam=LAM, candidates="all").fit(X, Y)
    few = ChainCRF(lam=LAM, min_count=10**6).fit(X, Y)
    assert every.n_candidates_ == (len(NAMES) + 3) * 3 >= observed.n_candidates_
    assert every.objective_ <= observed.objective_ + 1e-3
    assert few.model_.attributes == ()
    assert few.n_candidates_ <= 9


def test_recipes_are_methods():
    named = ChainCRF("grafting", select=3, lam=LAM).fit(X, Y)
    recipe = ChainCRF(grafting(3), lam=LAM).fit(X, Y)
    assert bits(recipe) == bits(named)
    assert recipe.info()["method"] == "grafting"


def test_recipes_for_edges_are_refused_in_one_sentence():
    for name in RECIPES:
        crf = ChainCRF(RECIPES[name](), lam=0.2)
        if name in METHODS or name == "edge-grafting":
            assert crf.fit(X, Y).certificate_.converged
        else:
            words = f"the recipe '{name}' is for the edges of networks"
            refused(ParameterError, words, crf.fit, X, Y)


class Watch(Silence):
    def __init__(self, at=None):
        self.at, self.rounds = at, []

    def on_round(self, record):
        self.rounds.append(record)
        if record.index == self.at:
            raise KeyboardInterrupt


def test_observers_see_every_round_and_verbose_writes_lines(capsys):
    watch = Watch()
    crf = ChainCRF(lam=LAM, verbose=watch).fit(X, Y)
    assert watch.rounds == crf.trace_
    ChainCRF(lam=LAM, verbose=1).fit(X, Y)
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == crf.n_iter_
    assert re.match(r"round 0: 0 features, objective", lines[0])


def test_the_default_tolerance_is_the_smaller_of_a_ten_thousandth_and_lam():
    crf = ChainCRF(lam=LAM).fit(X, Y)
    assert crf.certificate_.converged
    assert crf.certificate_.tolerance == 1e-4
    assert max(crf.certificate_.max_violation, crf.certificate_.stationarity) <= 1e-4
    assert ChainCRF(lam=1e-6, max_iter=0).fit(X, Y).certificate_.tolerance == 1e-6


# Refusals


# What sequences, labels and weights may be is tested with graftwork.data: here, that all calls ask.
BAD_X = {
    "nothing": (None, "X is of type NoneType"),
    "items of text": ([X[0], ["word"]], "sequence 1, position 0 is the text 'word'"),
    "NaN": ([X[0], [{"bias": float("nan")}]], "NaN for attribute 'bias' in sequence 1, position 0"),
}


@pytest.mark.parametrize("case", BAD_X)
def test_bad_sequences(fitted, case):
    bad, words = BAD_X[case]
    labels = [["L0"] * 2]
    refused(DataError, words, ChainCRF().fit, bad, labels)
    refused(DataError, words, fitted.predict, bad)
    refused(DataError, words, fitted.predict_marginals, bad)
    refused(DataError, words, fitted.score, bad, labels)
    refused(DataError, words, fitted.score_samples, bad, labels)


def test_bad_labels_and_weights(fitted):
    short = [*Y[:-1], Y[-1][1:]]
    for call in (ChainCRF().fit, fitted.score, fitted.score_samples):
        refused(DataError, f"sequence {len(Y) - 1} has .* labels in y, but", call, X, short)
        refused(DataError, "the label in sequence 0, position 0 is missing", call, X,
                [[None, *Y[0][1:]], *Y[1:]])  # fmt: skip
    for call in (ChainCRF().fit, fitted.score):
        refused(DataError, "one weight per sequence", call, X, Y, sample_weight=[1.0])
        refused(DataError, "all weights are zero", call, X, Y, sample_weight=np.zeros(len(X)))


def test_bad_matrices(fitted):
    fit, stacked = ChainCRF().fit, np.vstack(MATRICES)
    refused(DataError, "lengths must say how many rows", fit, stacked, Y)
    refused(DataError, "names must differ", fit, MATRICES, Y, attribute_names=["a"] * len(NAMES))
    refused(
        DataError, "X is a matrix, but the model was learned from named", fitted.predict, MATRICES
    )


@pytest.mark.parametrize("penalty", ["l2", "none"])
def test_penalties_that_leave_nothing_out_keep_every_feature(penalty):
    rng = np.random.default_rng(0)
    X = [[[f"w{k}", f"v{k % 7}"] for k in rng.integers(60, size=6)] for _ in range(60)]
    y = [[f"L{k}" for k in rng.integers(4, size=6)] for _ in X]
    crf = ChainCRF(penalty=penalty, lam=0.01, max_seconds=20.0, tol=1e-3).fit(X, y)
    assert crf.n_features_ == crf.n_candidates_
    some = ChainCRF(penalty=penalty, lam=0.01, max_features=10, tol=1e-3).fit(X, y)
    assert some.n_features_ == 10


def test_predictions_of_folds_are_joined():
    X, y = [[["w=a"], ["w=b"]], [["w=b"]], [["w=a"]] * 3] * 6, [["A", "B"], ["A"], ["A"] * 3] * 6
    crf = ChainCRF(lam=0.01)
    found = cross_val_predict(crf, X, y, cv=KFold(3))
    assert [type(labels) for labels in found] == [list] * len(X)
    train = np.setdiff1d(np.arange(18), np.arange(6))
    again = crf.fit([X[k] for k in train], [y[k] for k in train]).predict(X[:6])
    assert found[:6].tolist() == again
    assert isinstance(again, list)


def test_a_frame_is_learned_from_and_labelled_by_its_columns():
    frame = pd.DataFrame({"word": ["the", "dog", "barks"] * 9, "long": [0.0, 0.5, 1.5] * 9})
    y, lengths = [["D", "N", "V"]] * 9, [3] * 9
    crf = ChainCRF(lam=0.01).fit(frame, y, lengths=lengths)
    rows = [frame[k : k + 3].to_dict("records") for k in range(0, 27, 3)]
    plain = ChainCRF(lam=0.01).fit(rows, y)
    assert crf.model_.records() == plain.model_.records()
    assert crf.predict(frame[["long", "word"]], lengths=lengths) == plain.predict(rows) == y
    assert crf.score(frame, y, lengths=lengths) == 1.0
    assert ChainCRF(lam=0.01).fit(iter(rows), y).model_.records() == plain.model_.records()
