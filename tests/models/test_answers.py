"""predict, predict_proba and impute, against enumeration; containers in and out."""

import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import graftwork as gw
from graftwork.errors import ApproximationWarning, DataError, ParameterError

from doors.inference import fill_rows, state_probabilities

CARDS = (2, 3, 2, 4, 3)
EDGES = ((0, 1), (1, 2), (0, 2), (2, 3), (3, 4))
NAMES = "abcde"


def network(seed=0, edges=EDGES, scale=1.0):
    rng = np.random.default_rng(seed)
    states = {name: [f"{name}{k}" for k in range(s)] for name, s in zip(NAMES, CARDS, strict=True)}
    pairs = {(NAMES[i], NAMES[j]): scale * rng.normal(size=(CARDS[i], CARDS[j])) for i, j in edges}
    return gw.PairwiseMRF(
        states, {name: rng.normal(size=len(s)) for name, s in states.items()}, pairs
    )


def joint(model):
    """Return all joint states and their probabilities, by enumeration."""
    layout, weights = model.potentials.layout, model.potentials.weights
    every = np.array(list(itertools.product(*map(range, layout.cards))))
    logs = sum(layout.unary(weights, i)[every[:, i]] for i in range(layout.n_variables))
    for e, (i, j) in enumerate(layout.edges):
        logs = logs + layout.table(weights, e)[every[:, i], every[:, j]]
    return every, np.exp(logs) / np.exp(logs).sum()


def agreeing(every, probabilities, row, cards, hidden=()):
    known = [i for i in range(len(row)) if row[i] < cards[i] and i not in hidden]
    fits = (every[:, known] == row[known]).all(axis=1)
    return every[fits], probabilities[fits] / probabilities[fits].sum()


def rows_of(seed=1, n=60, share=0.4):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(s, size=n) for s in CARDS])
    gone = rng.random(codes.shape) < share
    return np.where(gone, np.array(CARDS)[:, None], codes)


@pytest.mark.parametrize("target", range(5))
def test_probabilities_are_those_of_enumeration(target):
    model, codes = network(), rows_of()
    found = state_probabilities(model.potentials, codes, target)
    assert not found.approximate.any()
    every, p = joint(model)
    for row, values in zip(codes.T, found.values, strict=True):
        own, weights = agreeing(every, p, row, CARDS, hidden=(target,))
        expected = np.bincount(own[:, target], weights, CARDS[target])
        assert values == pytest.approx(expected, abs=1e-12)


def test_filled_cells_are_the_most_probable_together():
    model, codes = network(), rows_of()
    found = fill_rows(model.potentials, codes)
    assert not found.approximate.any()
    every, p = joint(model)
    for row, full in zip(codes.T, found.values.T, strict=True):
        own, weights = agreeing(every, p, row, CARDS)
        assert full.tolist() == own[np.argmax(weights)].tolist()


def test_drawn_cells_have_the_right_frequencies():
    model, n = network(), 20_000
    row = np.array([2, 3, 2, 1, 3])  # all but the fourth are unknown
    found = fill_rows(model.potentials, np.repeat(row[:, None], n, 1), np.random.default_rng(0))
    own, weights = agreeing(*joint(model), row, CARDS)
    for i in range(5):
        expected = np.bincount(own[:, i], weights, CARDS[i])
        assert np.bincount(found.values[i], minlength=CARDS[i]) / n == pytest.approx(
            expected, abs=0.02
        )


def test_what_is_too_large_is_approximate_and_says_so():
    model, codes = network(), rows_of()
    every, p = joint(model)
    found = state_probabilities(model.potentials, codes, 0, most_cells=len(codes.T))
    assert found.approximate.any()
    assert not found.approximate.all()
    errors = []
    for row, values in zip(codes.T, found.values, strict=True):
        own, weights = agreeing(every, p, row, CARDS, hidden=(0,))
        errors.append(abs(values - np.bincount(own[:, 0], weights, 2)).max())
    assert max(errors) < 0.1
    filled = fill_rows(model.potentials, codes, most_cells=len(codes.T))
    assert filled.approximate.any()
    known = codes < np.array(CARDS)[:, None]
    assert (filled.values == codes)[known].all()
    assert (filled.values < np.array(CARDS)[:, None]).all()
    for row, full in zip(codes.T, filled.values.T, strict=True):  # no single cell can be better
        own, weights = agreeing(every, p, row, CARDS)
        near = (own != full).sum(axis=1) <= 1
        assert weights[(own == full).all(axis=1)][0] == pytest.approx(weights[near].max())
    drawn = fill_rows(model.potentials, codes, np.random.default_rng(0), most_cells=60)
    assert (drawn.values < np.array(CARDS)[:, None]).all()


def test_a_large_network_warns(monkeypatch):
    model = network()
    monkeypatch.setattr("graftwork.inference.filling._limit", lambda *_: 1)
    with pytest.warns(ApproximationWarning, match="1 of 2 rows lack too many cells.*propagation"):
        model.predict([["a0", None, None, None, None], ["a0", "b0", "c0", "d0", None]], "a")
    with pytest.warns(ApproximationWarning, match="improved one at a time"):
        model.impute([["a0", None, None, None, None]])
    with pytest.warns(ApproximationWarning, match="Gibbs"):
        model.impute([["a0", None, None, None, None]], draw=True)


def test_against_marginals_and_map():
    model = network(3)
    row = {"a": "a1", "b": None, "c": None, "d": "d2", "e": "e0"}
    given = {name: state for name, state in row.items() if state}
    expected = model.marginals({k: v for k, v in given.items() if k != "a"})["a"]
    assert model.predict_proba([row], "a") == pytest.approx(np.array([expected]))
    assert model.impute([row]) == [model.map(given)]


@pytest.fixture
def rain():
    pair = {("rain", "grass"): [[2.0, 0.0], [0.0, 2.0]], ("grass", "mood"): [[0, 1.0], [1.0, 0]]}
    return gw.PairwiseMRF(
        {"rain": ["no", "yes"], "grass": ["dry", "wet"], "mood": [1, 2]}, {"rain": [0.5, 0]}, pair
    )


def test_pandas_keeps_its_index_and_types(rain):
    frame = pd.DataFrame(
        {
            "id": [7, 8, 9],
            "mood": [1.0, np.nan, 2.0],
            "grass": pd.Categorical(["dry", None, "wet"], ["wet", "dry", "dead"]),
            "rain": ["no", "yes", None],
        },
        index=["x", "y", "z"],
    )
    found = rain.predict(frame, "grass")
    assert found.index.tolist() == ["x", "y", "z"]
    assert found.name == "grass"
    assert found.dtype == frame.grass.dtype
    assert found.tolist() == ["dry", "wet", "dry"]
    shares = rain.predict_proba(frame.drop(columns="grass"), "grass")
    assert shares.columns.tolist() == ["dry", "wet"]
    assert shares.index.tolist() == ["x", "y", "z"]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(1)
    before = frame.copy()
    full = rain.impute(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert full.index.tolist() == ["x", "y", "z"]
    assert full.columns.tolist() == frame.columns.tolist()
    assert full.grass.dtype == frame.grass.dtype
    assert full.mood.dtype == "int64"
    assert full.to_dict("list") == {
        "id": [7, 8, 9], "mood": [1, 1, 2], "grass": ["dry", "wet", "wet"],
        "rain": ["no", "yes", "yes"],
    }  # fmt: skip
    wide = frame.astype({"mood": "Int64", "rain": "string"})
    assert rain.impute(wide).dtypes["mood"] == "Int64"
    assert rain.impute(wide).rain.tolist() == ["no", "yes", "yes"]
    empty = frame.assign(rain=np.nan)
    assert rain.impute(empty).rain.tolist() == ["no", "no", "yes"]


def test_polars_comes_back(rain):
    frame = pl.DataFrame({
        "mood": [1, None], "grass": ["dry", None], "rain": ["no", "yes"], "id": [1, 2],
    })  # fmt: skip
    found = rain.predict(frame, "grass")
    assert isinstance(found, pl.Series)
    assert (found.name, found.to_list()) == ("grass", ["dry", "wet"])
    assert rain.predict_proba(frame, "grass").columns == ["dry", "wet"]
    full = rain.impute(frame)
    assert full.schema == frame.schema
    assert full.to_dict(as_series=False) == {
        "mood": [1, 1], "grass": ["dry", "wet"], "rain": ["no", "yes"], "id": [1, 2],
    }  # fmt: skip
    enum = frame.with_columns(pl.col("grass").cast(pl.Enum(["wet", "dry"])))
    assert rain.impute(enum).schema == enum.schema
    assert rain.impute(frame.lazy()).equals(full)


def test_arrays_and_lists_come_back(rain):
    rows = [["no", "dry", 2], ["yes", None, None]]
    assert rain.predict(rows, "rain") == ["no", "no"]
    assert rain.impute(rows) == [["no", "dry", 2], ["yes", "wet", 1]]
    assert rows[1][1] is None
    array = np.array(rows, dtype=object)
    found = rain.predict(array, "mood")
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.int64
    assert rain.impute(array).tolist() == [["no", "dry", 2], ["yes", "wet", 1]]
    assert np.array_equal(rain.predict(array[:, :2], "mood"), found)  # without its column
    assert np.array_equal(rain.predict(array), found)  # the last one
    masked = np.ma.MaskedArray(array, [[False] * 3, [False, True, True]])
    assert rain.impute(masked).tolist() == rain.impute(array).tolist()
    columns = {"rain": ["no", "yes"], "grass": [None, "wet"], "mood": (1, None), "more": [0, 0]}
    assert rain.impute(columns)["grass"] == ["dry", "wet"]
    assert rain.impute(columns)["more"] == [0, 0]
    records = [{"rain": "yes", "mood": 1}]
    assert rain.predict(records, "grass") == ["wet"]
    table = gw.as_table(columns, missing="state")
    assert isinstance(rain.impute(table), gw.Table)
    assert rain.impute(table)["grass"].tolist() == ["dry", "wet"]
    import pyarrow as pa

    assert rain.impute(pa.table({k: list(v) for k, v in columns.items()}))["mood"].tolist()[0] == 1


def test_numbers_in_arrays_stay_numbers():
    model = gw.PairwiseMRF({0: [0, 1], 1: [0, 1]}, None, {(0, 1): [[1, 0], [0, 1]]})
    full = model.impute(np.array([[0, np.nan], [np.nan, 1.0]]))
    assert full.dtype == np.float64
    assert full.tolist() == [[0, 0], [1, 1]]
    dense = sparse.csr_array(np.array([[0, np.nan], [1.0, 1.0]]))
    assert model.impute(dense).tolist() == [[0, 0], [1, 1]]
    assert model.predict(dense).tolist() == [0, 1]


def test_files(rain, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,rain,grass,mood\n1,no,,1\n2,NA,wet,2\n")
    assert rain.predict(path, "rain").tolist() == ["yes", "yes"]
    assert rain.impute(path).to_dict() == {
        "rain": ["no", "yes"], "grass": ["dry", "wet"], "mood": [1, 2],
    }  # fmt: skip


def test_states_never_seen(rain):
    rows = [["no", "soaked", 1], ["yes", None, 1]]
    known = "'soaked' is not one of its 2 known states.* as missing with unseen='ignore'"
    with pytest.raises(DataError, match=known):
        rain.predict(rows, "rain")
    with pytest.raises(ParameterError, match="unseen='ignor' is not known"):
        rain.predict(rows, "rain", unseen="ignor")
    clean = [["no", None, 1], ["yes", None, 1]]
    found = rain.predict_proba(rows, "rain", unseen="ignore")
    assert found == rain.predict_proba(clean, "rain")
    # the cell is the user's, and stays; it tells nothing about others
    assert rain.impute(rows, unseen="ignore") == [["no", "soaked", 1], ["yes", "wet", 1]]


def test_refusals(rain):
    with pytest.raises(DataError, match="no variable 'rian'; did you mean 'rain'"):
        rain.predict([["no", "dry", 1]], "rian")
    with pytest.raises(DataError, match="lack 1 of 3 columns: 'mood'"):
        rain.predict({"rain": ["no"]}, "grass")
    with pytest.raises(ParameterError, match="draw must be True or False"):
        rain.impute([["no", "dry", 1]], draw=3)
    sure = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[0, 0], [-np.inf] * 2]})
    for ask in (sure.impute, sure.predict):
        with pytest.raises(DataError, match="row 1: what it has is impossible"):
            ask([[0, None], [1, None]])


def test_where_missing_is_a_state_it_is_no_answer():
    frame = pd.DataFrame({"a": ["x", "y", None, "x"] * 30, "b": ["x", "y", None, "x"] * 30})
    net = gw.MarkovNetwork(missing="state", lam=0.05).fit(frame)
    assert net.predict_proba(frame, "a").columns.tolist() == ["x", "y"]
    assert not net.predict(frame, "a").isna().any()
    full = net.impute(frame)
    assert set(full.a) == {"x", "y"}
    assert full.a.tolist()[:2] == ["x", "y"]


def test_bins_are_filled_with_bins_and_asked_by_numbers():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    frame = pd.DataFrame({"x": x, "y": x + 0.1 * rng.normal(size=300)})
    net = gw.MarkovNetwork(bins=3, lam=0.02).fit(frame)
    low, middle, high = net.model_.states["y"]
    assert net.predict(pd.DataFrame({"x": [-3.0, 0.0, 3.0]}), "y").tolist() == [low, middle, high]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        full = net.impute(pd.DataFrame({"x": [-3.0, 3.0], "y": [np.nan, 2.5]}))
    assert full.y.tolist() == [low, high]
    assert full.x.tolist() == [-3.0, 3.0]


def test_draws_can_be_repeated(rain):
    rows = [["no", None, None]] * 40
    one = rain.impute(rows, draw=True, random_state=1)
    assert one == rain.impute(rows, draw=True, random_state=1)
    assert one != rain.impute(rows, draw=True, random_state=2)
    assert len({tuple(row) for row in one}) > 1
