"""Comparison of groups: equal groups look equal, planted differences are found, refusals."""

import itertools
import math
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize

import graftwork as gw
from graftwork.data import Table
from graftwork.errors import DataError, ParameterError
from graftwork.models import read_info

from doors.estimators import pool
from doors.grafting import Silence
from doors.groups import log_q_of_chosen
from doors.report import network_view, pair_tables


def joined(tables, groups=("a", "b", "c"), name="g"):
    """Return tables one below the other, with a column that says which is which."""
    codes = np.concatenate([table.codes for table in tables], axis=1)
    labels = np.repeat(np.arange(len(tables)), [table.n_rows for table in tables])
    first = tables[0]
    return Table(
        (*first.names, name),
        (*first.states, tuple(groups[: len(tables)])),
        np.vstack([codes, labels[None].astype(codes.dtype)]),
    )


def chain(strengths, seed, rows):
    """Return rows of a chain of binary variables with these log-potentials."""
    names = [f"x{i}" for i in range(len(strengths) + 1)]
    pairs = {
        (names[i], names[i + 1]): [[w, -w], [-w, w]] for i, w in enumerate(strengths) if w != 0
    }
    model = gw.PairwiseMRF({name: [0, 1] for name in names}, None, pairs)
    return model.sample(rows, random_state=seed)


@pytest.fixture(scope="module")
def two():
    """Two groups of a chain; the second lacks the first edge, and the last has another sign."""
    return joined([chain([0.6, 0.5, 0.5, 0.5], 0, 600), chain([0.0, 0.5, 0.5, -0.5], 1, 500)])


@pytest.fixture(scope="module")
def found(two):
    return gw.compare_groups(two, by="g", n_jobs=1)


def test_planted_differences_are_found(found):
    differing = {(e["first"], e["second"]) for e in found.edges() if e["differs"]}
    assert differing == {("x0", "x1"), ("x3", "x4")}
    assert found.invariance < 1e-6
    assert found.sizes == (600.0, 500.0)
    assert found.networks["a"].model_.n_edges == 4
    with pytest.raises(DataError, match="not compared"):
        found.table("x0", "x4")


def test_intervals_hold_the_truth(found):
    """A coupling of w gives a double-centred table of norm 2 w."""
    [first] = [e for e in found.edges() if (e["first"], e["second"]) == ("x0", "x1")]
    assert first["low"] < 1.2 < first["high"]
    assert first["norm_a"] == pytest.approx(1.2, abs=0.3)
    cells = found.table("x3", "x4")
    assert cells[0]["low"] < 1.0 < cells[0]["high"]
    assert sum(cell["difference"] for cell in cells) == pytest.approx(0.0, abs=1e-12)


def test_a_change_of_sign_is_no_change_of_strength(found):
    [last] = [e for e in found.differences() if (e["first"], e["second"]) == ("x3", "x4")]
    assert last["low"] < 0.0 < last["high"]
    assert last["change"] == pytest.approx(2.0, abs=0.5)


def test_the_same_rows_twice_do_not_differ():
    rows = chain([0.6, 0.5, 0.4], 3, 400)
    found = gw.compare_groups(joined([rows, rows]), by="g", n_jobs=1)
    assert np.allclose(found.tests.statistics, 0.0, atol=1e-6)
    assert found.invariance == found.strength.p_value == 1.0
    assert not found.different.any()


def test_weights_are_repeated_rows(two):
    weights = np.where(np.arange(two.n_rows) % 5 == 0, 2, 1)
    long = two.take_rows(np.repeat(np.arange(two.n_rows), weights))
    a = gw.compare_groups(two, "g", sample_weight=weights, n_permutations=3, n_jobs=1)
    b = gw.compare_groups(long, "g", n_permutations=3, n_jobs=1)
    assert a.sizes == b.sizes
    assert np.allclose(a.tests.statistics, b.tests.statistics, rtol=1e-4)
    assert a.strength.p_value == pytest.approx(b.strength.p_value, rel=1e-3)
    assert np.array_equal(a.permutations.p_values, b.permutations.p_values)


def test_three_groups_and_each_two_of_them():
    tables = [chain([0.5, w, 0.5], seed, 500) for seed, w in enumerate((0.5, 0.5, 0.0))]
    found = gw.compare_groups(joined(tables), by="g", n_jobs=1)
    first = found.edges()[0]
    assert (first["first"], first["second"]) == ("x1", "x2")
    assert first["differs"]
    assert first["df"] == pytest.approx(2.0, abs=0.05)
    own = {(e["group"], e["other"]): e for e in found.differences() if e["first"] == "x1"}
    assert own["a", "b"]["p_value"] > 0.01 > 1e-4 > own["b", "c"]["p_value"]
    assert len(found.strength.sums) == 3
    assert found.strength.df == 2.0


def test_states_of_one_group_only_and_constant_columns():
    """What only one group has is fitted there, and not compared."""
    rng = np.random.default_rng(0)
    tables = []
    for states in (3, 2):
        a = rng.integers(states, size=400)
        b = np.where(rng.random(400) < 0.7, a % 2, rng.integers(2, size=400))
        c = np.where(rng.random(400) < 0.7, b, rng.integers(2, size=400)) * (states == 3)
        tables.append(Table(("a", "b", "c"), ((0, 1, 2), (0, 1), (0, 1)), [a, b, c]))
    found = gw.compare_groups(joined(tables, ("all", "few")), by="g", n_jobs=1)
    assert found.untested == (("b", "c"),)
    assert [cell["a"] for cell in found.table("a", "b")] == [0, 0, 1, 1]
    assert not found.different.any()
    assert "Not tested" in found.summary()


def test_rare_states_are_pooled():
    rng = np.random.default_rng(1)
    tables = []
    for _ in range(2):
        a = rng.choice(4, p=[0.49, 0.49, 0.01, 0.01], size=500)
        b = np.where(rng.random(500) < 0.6, a % 2, rng.integers(2, size=500))
        tables.append(Table(("a", "b"), (("w", "x", "y", "z"), (0, 1)), [a, b]))
    found = gw.compare_groups(joined(tables), by="g", n_jobs=1)
    assert {cell["a"] for cell in found.table("a", "b")} >= {"w"}
    assert any("+" in str(cell["a"]) for cell in found.table("a", "b"))
    assert not found.different.any()


def test_variables_of_very_many_states():
    """Only the frequent ones are told apart, the same in all groups."""
    rng = np.random.default_rng(2)
    tables = []
    for shift in (0, 1):
        a = np.minimum(rng.geometric(0.15, size=500) + shift, 30) - 1
        b = np.where(rng.random(500) < 0.7, a % 2, rng.integers(2, size=500))
        tables.append(Table(("a", "b"), (tuple(range(30)), (0, 1)), [a, b]))
    found = gw.compare_groups(joined(tables), by="g", n_jobs=1)
    assert 2 < len(found.table("a", "b")) <= 24
    assert np.exp(found.tests.log_p[0]) > 0.001


@pytest.mark.parametrize("missing", ["available-case", "impute", "drop-rows", "state"])
def test_missing_cells(two, missing):
    rng = np.random.default_rng(0)
    gaps = rng.random((two.n_variables - 1, two.n_rows)) < 0.05
    states = tuple((*listed, "(missing)") for listed in two.states[:-1])
    codes = np.vstack([np.where(gaps, 2, two.codes[:-1]), two.codes[-1:]])
    table = Table(two.names, (*states, two.states[-1]), codes)
    catch = pytest.warns(gw.DataWarning) if missing == "drop-rows" else nullcontext()
    with catch:
        found = gw.compare_groups(table, "g", missing=missing, n_permutations=2, n_jobs=1)
    sure = {(e["first"], e["second"]) for e in found.edges() if e["differs"]}
    assert {("x0", "x1"), ("x3", "x4")} <= sure
    assert found.permutations.n_done == 2
    drawn = missing in ("available-case", "impute")
    assert ("were drawn" in found.summary()) == drawn
    assert all(each.added.all() == drawn for each in found.estimates)


def test_permutations_do_not_depend_on_processes(two, monkeypatch):
    some = two.take_rows(np.arange(two.n_rows) % 2 == 0)
    alone = gw.compare_groups(some, "g", n_permutations=6, n_jobs=1)
    monkeypatch.setattr(pool, "WORTH_PROCESSES", 0.0)
    many = gw.compare_groups(some, "g", n_permutations=6, n_jobs=2)
    assert np.array_equal(alone.permutations.p_values, many.permutations.p_values)
    assert alone.permutations.strength == many.permutations.strength
    assert "p perm." in alone.summary()
    assert "rough" in alone.summary()


def test_an_interrupt_keeps_the_permutations_done(two):
    class Stop(Silence):
        def __init__(self):
            self.steps = []

        def on_stage(self, text, step, steps):
            self.steps.append((text, step, steps))
            if step == 3:
                raise KeyboardInterrupt

    observer = Stop()
    found = gw.compare_groups(two, "g", n_permutations=20, n_jobs=1, observer=observer)
    assert found.interrupted
    assert found.permutations.n_done == 3
    assert found.permutations.n_asked == 20
    assert observer.steps[0] == ("permutations", 0, 20)
    assert "interrupted" in found.summary()


def test_saturated_likelihood_fits_equal_independent_ones():
    """Two groups' exact fits of all pairs, against maximisation over an enumeration."""
    names = ["p", "q", "r", "s"]
    tables = [chain([0.5, 0.4, 0.3], seed, 300) for seed in (0, 1)]
    tables = [Table(tuple(names), t.states, t.codes) for t in tables]
    pairs = list(itertools.combinations(names, 2))
    found = gw.compare_groups(
        joined(tables), "g", loss="likelihood", penalty="none", tol=1e-9, n_jobs=1,
        knowledge={"required": pairs}, inference="exact",
    )  # fmt: skip
    cells = np.array(list(itertools.product([0, 1], repeat=4)))
    features = np.hstack(
        [cells, [[x[i] * x[j] for i in range(4) for j in range(i)] for x in cells]]
    )

    def best(table):
        counts = np.bincount(table.codes.T @ [8, 4, 2, 1], minlength=16)
        target = counts @ features

        def loss(w):
            scores = features @ w
            top = scores.max()
            log_z = top + np.log(np.exp(scores - top).sum())
            p = np.exp(scores - log_z)
            return counts.sum() * log_z - target @ w, counts.sum() * (p @ features) - target

        return -minimize(loss, np.zeros(10), jac=True, method="BFGS", options={"gtol": 1e-9}).fun

    total = sum(
        float(net.model_.log_prob(table).sum())
        for net, table in zip(found.networks.values(), tables, strict=True)
    )
    assert total == pytest.approx(sum(map(best, tables)), abs=1e-6)
    assert len(found.pairs) == 6


def test_equal_groups_rarely_differ():
    """A small version of the calibration in tests/slow."""
    p_values, false = [], 0
    for seed in range(4):
        network = gw.datasets.scale_free_network(
            10, 2, edge_sd=0.8, centred=True, random_state=seed
        )
        rows = [network.sample(500, random_state=k) for k in (100 + seed, 200 + seed)]
        found = gw.compare_groups(joined(rows), by="g", n_jobs=1)
        p_values += np.exp(found.tests.log_p[found.known]).tolist()
        false += bool(found.different.any())
    assert false <= 1
    assert 0.35 < np.mean(p_values) < 0.65


def test_q_values_of_pairs_that_were_chosen():
    log_p = np.log([1e-4, 1e-4, 0.5])
    q = np.exp(log_q_of_chosen(log_p, np.array([True, False, True]), 190))
    assert q[0] == pytest.approx(2 * 2 * 1e-4)
    assert q[1] == pytest.approx(2 * 188 * 1e-4 / 2)
    one = np.exp(log_q_of_chosen(log_p, np.array([True, True, True]), 3))
    assert one[0] == pytest.approx(1.5e-4)


def test_no_edges_at_all():
    rng = np.random.default_rng(0)
    table = Table(("a", "b", "g"), ((0, 1), (0, 1), ("x", "y")), rng.integers(2, size=(3, 200)))
    found = gw.compare_groups(table, "g", n_permutations=2, n_jobs=1)
    assert found.edges() == found.differences() == []
    assert found.invariance == 1.0
    assert "nothing to compare" in found.summary()
    found.plot()


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("gg", "no column 'gg'"),
        ("same", "all rows have 'same'"),
        ("id", "looks like an identifier"),
        ("tiny", r"'rare' of 'tiny' has 5 rows; 30 is the least that can be tested, and about 40"),
    ],
)
def test_columns_that_make_no_groups_are_refused(two, by, words):
    n = two.n_rows
    tiny = np.zeros(n, dtype=int)
    tiny[:5] = 1
    codes = np.vstack([two.codes.astype(int), np.zeros(n), np.arange(n) % 300, tiny]).astype(int)
    table = Table(
        (*two.names, "same", "id", "tiny"),
        (*two.states, ("one",), tuple(range(300)), ("usual", "rare")),
        codes,
    )
    if by == "tiny":
        table = table.take_columns([*two.names, "tiny"])
    with pytest.raises(DataError, match=words):
        gw.compare_groups(table, by=by)


def test_rows_without_a_group_are_refused(two):
    states = (*two.states[:-1], ("a", "b", "(missing)"))
    codes = two.codes.copy()
    codes[-1, :7] = 2
    with pytest.raises(DataError, match="7 rows have no group"):
        gw.compare_groups(Table(two.names, states, codes), "g", missing="available-case")


@pytest.mark.parametrize(
    "wrong", [{"fdr": 0}, {"fdr": 1.0}, {"n_permutations": -1}, {"n_permutations": 2.5}]
)
def test_wrong_parameters_are_refused(two, wrong):
    with pytest.raises(ParameterError):
        gw.compare_groups(two, "g", **wrong)


def test_files_and_words(found, tmp_path):
    written = found.save(tmp_path / "out")
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == sorted(written)
    lines = (tmp_path / "out" / "differences.csv").read_text().splitlines()
    assert lines[0].startswith("first,second,differs,p_value,q_value")
    assert len(lines) == 1 + len(found.pairs)
    assert gw.load(tmp_path / "out" / "model-1.gw").n_edges == 4
    infos = [read_info(tmp_path / "out" / f"model-{k}.gw") for k in (1, 2)]
    assert [info["group"] for info in infos] == [{"variable": "g", "value": v} for v in "ab"]
    assert [info["rows"] for info in infos] == list(found.sizes)
    page = network_view(gw.load(tmp_path / "out" / "model-2.gw"), info=infos[1])
    assert f"Learned from {found.sizes[1]:,.0f} rows with g = b." in page["words"]
    assert repr(found).startswith("GroupComparison(by='g', groups=['a', 'b'], n_pairs=4,")
    text = found.summary()
    for heading in ("Network invariance", "Global strength invariance", "Edge invariance"):
        assert heading in text
    assert found.to_dict()["network_invariance"]["p_value"] == found.invariance
    assert "differ" in found.to_dict()["words"]
    assert list(found.to_frame().columns)[:3] == ["first", "second", "differs"]


def cancelling(rows, seed):
    """Return rows of two groups: x0 - x1 above and below 0 in them, x2 - x3 alike."""
    tables = {}
    for group, sign in (("a", 1.0), ("b", -1.0)):
        pairs = {
            ("x0", "x1"): [[0.5 * sign, 0], [0, 0.5 * sign]],
            ("x2", "x3"): [[0.6, 0], [0, 0.6]],
        }
        model = gw.PairwiseMRF({f"x{i}": [0, 1] for i in range(5)}, None, pairs)
        drawn = model.sample(rows, random_state=seed + len(tables)).to_dict()
        tables[group] = drawn | {"group": [group] * rows}
    return {name: tables["a"][name] + tables["b"][name] for name in tables["a"]}


def test_permutations_see_pairs_that_cancel_in_the_network_of_all_rows():
    found = gw.compare_groups(cancelling(600, 0), by="group", n_permutations=40)
    place = [tuple(pair) for pair in found.pairs.tolist()].index((0, 1))
    assert not found.known[place]  # all rows together say nothing of it
    assert np.isnan(found.permutations.familywise[place])
    assert found.invariance < 0.001
    assert found.permutations.invariance < 0.001
    n_others = 10 - int(found.known.sum())
    least = np.exp(found.tests.log_p[~found.known].min())
    assert found.permutations.invariance == pytest.approx(2 * n_others * least)


def test_tables_of_pairs_say_how_many_of_their_own_pairs_they_show():
    """Of 25 pairs, 15 with a signed weight, the first 20 are listed: 12 and 8."""
    rng = np.random.default_rng(0)
    signed = rng.permutation(np.repeat([True, False], [12, 8])).tolist()
    signed += [True] * 3 + [False] * 2
    edges = [
        {"first": "a", "second": f"b{k}", "differs": False, "weight_x": 0.1 if own else math.nan}
        for k, own in enumerate(signed)
    ]
    found = SimpleNamespace(edges=lambda: edges, groups=("x", "y"))
    titles = [(title, len(records)) for title, records, _ in pair_tables(found, 20)]
    assert [n for _, n in titles] == [12, 8]
    assert titles[0][0].endswith("; 12 of 15")
    assert titles[1][0].endswith("; 8 of 10")
    assert not any(" of " in title for title, *_ in pair_tables(found, 25))
