import warnings
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chi2, ncx2

import graftwork as gw
from graftwork.data import Table, as_table
from graftwork.datasets import make_scale_free
from graftwork.errors import DataError, DataWarning
from graftwork.estimators import MarkovNetwork
from graftwork.grafting import Problem
from graftwork.objectives import PseudoLikelihood
from graftwork.penalties import GroupL1
from graftwork.selection import refit

from doors.data import complete_rows, missing_cells, prepare
from doors.estimators import (
    Bootstrap,
    Fit,
    Units,
    correlations_with,
    fit,
    frequencies_of,
    pool,
    stability_coefficient,
    to_model,
)
from doors.grafting import Silence, with_pairs
from doors.models import Gaps
from doors.objectives import independent_potentials
from doors.report import bootstrap_text
from doors.selection import StructureSearch
from doors.significance import moved
from support.problems import random_table, with_holes

ARRAYS = (
    "pairs", "strengths", "draws", "centrality_draws", "dropped", "subset_centrality", "weights",
    "weight_draws",
)  # fmt: skip


def network(**settings):
    return MarkovNetwork(**({"lam": 0.05, "random_state": 0, "n_jobs": 1} | settings))


def same(one: Bootstrap, two: Bootstrap, arrays=ARRAYS) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(two, name), equal_nan=True) for name in arrays
    )


class Stop(Silence):
    """Ctrl-C after so many resamples."""

    def __init__(self, after):
        self.after = after

    def on_stage(self, text, step, steps):
        if step == self.after:
            raise KeyboardInterrupt


class Told(Silence):
    def __init__(self):
        self.stages = []

    def on_stage(self, text, step, steps):
        self.stages.append((text, step, steps))


def test_frequencies_and_intervals_are_those_of_a_loop_over_repeated_rows():
    table, n = random_table(3, n=5, rows=80), 12
    boot = network(lam=0.03).bootstrap(table, n, random_state=7, case_dropping=False)
    # Each different row once, in the order of first appearance, drawn by hand and written out.
    counted = Counter(map(tuple, table.codes.T.tolist()))
    rows, copies = np.array(list(counted)), np.array(list(counted.values()))
    found = []
    for seed in np.random.SeedSequence(7).spawn(2)[0].spawn(n):
        rng = np.random.default_rng(seed)
        picked = np.repeat(np.arange(len(rows)), rng.multinomial(80, copies / 80))
        model = network(lam=0.03).fit(Table(table.names, table.states, rows[picked].T)).model_
        found.append({edge: model.strength(*edge) for edge in model.edges})
    reference = network(lam=0.03).fit(table).model_
    for record in boot.edges():
        pair = record["first"], record["second"]
        values = np.array([each.get(pair, 0.0) for each in found])
        there = np.array([each[pair] for each in found if pair in each])
        assert record["frequency"] == boot.frequency(*pair[::-1]) == len(there) / n
        own = reference.strength(*pair) if pair in reference.edges else 0.0
        assert record["strength"] == pytest.approx(own, abs=1e-9)
        reach = 1.959964 * np.sqrt(np.mean((values - own) ** 2))
        told = [record["mean"], record["low"], record["high"]]
        low, high = max(0.0, own - reach), own + reach
        if pair not in reference.edges:
            low, high = np.quantile(values, [0.025, 0.975])
        assert told == pytest.approx([values.mean(), low, high], abs=1e-4)
        if len(there):
            low, high = np.quantile(there, [0.025, 0.975])
            told = [record["mean_if_edge"], record["low_if_edge"], record["high_if_edge"]]
            assert told == pytest.approx([there.mean(), low, high], abs=1e-4)
    listed = {(record["first"], record["second"]) for record in boot.edges()}
    assert listed == set(reference.edges).union(*found)
    order = [(-record["frequency"], -record["strength"]) for record in boot.edges()]
    assert order == sorted(order)


def test_results_do_not_depend_on_threads_and_processes(monkeypatch):
    table, net = random_table(0, n=5, rows=120), network(lam="auto")
    alone = net.bootstrap(table, 6, random_state=3, n_jobs=1)
    assert alone.n_done == alone.n_subsets == 6
    assert not alone.interrupted
    assert same(alone, net.bootstrap(table, 6, random_state=3, n_jobs=2))
    monkeypatch.setattr(pool, "WORTH_PROCESSES", 0.0)
    assert same(alone, net.bootstrap(table, 6, random_state=3, n_jobs=2))


def test_more_resamples_keep_the_first_and_other_seeds_change_them():
    table = random_table(1, n=4, rows=60)
    few = network().bootstrap(table, 3, random_state=0, case_dropping=False)
    more = network().bootstrap(table, 6, random_state=0)
    assert np.array_equal(few.centrality_draws, more.centrality_draws[:3], equal_nan=True)
    assert not np.array_equal(
        few.centrality_draws,
        network().bootstrap(table, 3, random_state=1, case_dropping=False).centrality_draws,
    )
    # By default the network's own seed; a generator moves on.
    assert same(network(random_state=0).bootstrap(table, 6), more)
    rng = np.random.default_rng(0)
    assert not same(*(network().bootstrap(table, 3, random_state=rng) for _ in range(2)))


def test_weights_count_repeated_rows():
    table = random_table(2, n=4, rows=50)
    weights = np.random.default_rng(0).integers(0, 4, 50)
    written = table.take_rows(np.repeat(np.arange(50), weights))
    by_weight = network().bootstrap(table, 5, sample_weight=weights, random_state=0)
    by_rows = network().bootstrap(written, 5, random_state=0)
    assert same(by_weight, by_rows, [name for name in ARRAYS if name != "strengths"])
    np.testing.assert_allclose(by_weight.strengths, by_rows.strengths, atol=1e-4)


def test_rows_of_weight_zero_are_not_there():
    table = random_table(4, n=4, rows=50)
    weights = np.where(np.arange(50) < 40, 1.5, 0.0)
    with_them = network().bootstrap(table, 4, sample_weight=weights, random_state=0)
    without = network().bootstrap(
        table.take_rows(np.arange(40)), 4, sample_weight=weights[:40], random_state=0
    )
    assert same(with_them, without)


def test_whole_weights_draw_units_and_others_draw_rows():
    table = Table(("a",), ((0, 1),), [[0, 1, 1, 0]])
    units = Units.of(table.with_weights([5, 2, 1, 0]))
    assert (units.copies.tolist(), units.n_units) == ([5, 3], 8)
    drawn = np.array([units.resample(np.random.default_rng(s)).weights for s in range(4000)])
    assert (drawn.sum(axis=1) == 8).all()
    np.testing.assert_allclose(drawn.mean(axis=0), [5, 3], atol=0.1)
    np.testing.assert_allclose(drawn.var(axis=0), [8 * 15 / 64] * 2, atol=0.15)
    subset = units.subset(np.random.default_rng(0), 0.5)
    assert subset.total_weight == 4
    assert (subset.weights <= [5, 3]).all()
    units = Units.of(table.with_weights([0.5, 1.5, 2.0, 0]))
    assert units.n_units == 3
    parts = units.resample(np.random.default_rng(1)).weights / [0.5, 1.5, 2.0]
    assert (parts == parts.round()).all()
    assert parts.sum() == 3
    assert units.subset(np.random.default_rng(1), 0.99).weights.astype(bool).sum() == 1


def test_a_state_that_a_resample_lacks_is_no_trouble():
    rows = [("a", "x"), ("b", "y")] * 20 + [("c", "z")]
    states = {"x0": ["a", "b", "c", "never"]}
    for lam in (0.05, "auto"):
        net = network(lam=lam, states=states)
        boot = net.bootstrap(rows, 10, random_state=0)
        assert boot.frequency("x0", "x1") == 1.0
        assert net.model_.states["x0"] == ("a", "b", "c", "never")


@pytest.mark.parametrize(
    ("data", "pairs", "lam"),
    [
        ([[0, 1, 0]], 0, "auto"),  # one row
        ([[0, 1, i % 2] for i in range(20)], 0, 0.2),  # constant columns
        ([[i % 2] for i in range(20)], 0, "auto"),  # one column
        ([[i % 2, i % 2] for i in range(20)], 1, "auto"),  # the same column twice
        ({"größe": [0, 1] * 20, "$x_1$": ["ja", "nein"] * 20}, 1, 0.2),
    ],
)
def test_small_and_odd_tables(data, pairs, lam):
    boot = network(lam=lam).bootstrap(data, 4, random_state=0)
    assert boot.n_done == boot.n_subsets == 4
    if pairs is not None:
        assert len(boot.edges()) == pairs
    for record in boot.edges()[:1]:
        assert record["first"] in boot.names
        assert boot.frequency(record["first"], record["second"]) == record["frequency"]
    assert boot.summary()
    assert boot.to_dict()["resamples"] == 4
    assert repr(boot).startswith("Bootstrap(n_done=4, n_asked=4, n_subsets=4, ")
    if pairs == 0:
        assert set(boot.cs.values()) == {None}


def test_names_keep_their_types():
    boot = network().bootstrap({0: [0, 1] * 20, 1: [1, 0] * 20}, 3, random_state=0)
    frame = boot.to_frame()
    assert frame.loc[0, "first"] == 0
    assert frame["frequency"].dtype == float
    assert list(frame.columns) == list(boot.edges()[0])
    assert boot.frequency(1, 0) == 1.0
    with pytest.raises(DataError, match="no variable"):
        boot.frequency("0", 1)
    with pytest.raises(DataError, match="two different"):
        boot.frequency(0, 0)


@pytest.fixture(scope="module")
def symptoms():
    """A fitted network that has a bootstrap, and its edges before that."""
    table = gw.datasets.load_adhd()
    net = gw.MarkovNetwork(random_state=0).fit(table)
    before = net.edges_
    net.bootstrap(table, 12, case_dropping=False)
    return net, before


def test_edges_of_the_network_have_their_share_of_resamples_after_a_bootstrap(symptoms):
    net, before = symptoms
    assert "frequency" not in before
    boot = net.bootstrap_
    edges = net.edges_.set_index(["first", "second"])
    drawn = {pair: k for k, pair in enumerate(map(tuple, boot.pairs.tolist()))}
    names = list(boot.names)
    for (first, second), edge in edges.iterrows():
        k = drawn[tuple(sorted((names.index(first), names.index(second))))]
        assert edge["frequency"] == np.mean(~np.isnan(boot.draws[:, k]))
    listed = {(r["first"], r["second"]): r for r in boot.edges()}
    for pair, edge in edges.iterrows():
        assert listed[pair]["p_value"] == edge["p_value"]
        assert listed[pair]["q_value"] == edge["q_value"]
    absent = [r for pair, r in listed.items() if pair not in edges.index]
    assert absent
    assert all(np.isnan(r["p_value"]) for r in absent)


def test_near_ends_of_bootstrap_intervals_allow_for_the_selection_of_edges(symptoms):
    boot = symptoms[0].bootstrap_
    plain = replace(boot, limits=None)
    wider = 0
    for own, other in zip(boot.edges(), plain.edges(), strict=True):
        assert own["weight_high"] == pytest.approx(other["weight_high"], nan_ok=True)
        assert not own["weight_low"] > other["weight_low"] + 1e-9
        wider += own["weight_low"] < other["weight_low"] - 0.1
    assert wider > 5
    surest = max(boot.edges(), key=lambda r: r["weight"] * (r["p_value"] < 1e-10))
    assert surest["weight_low"] > 1


def test_refits_of_resamples_take_few_evaluations(monkeypatch):
    counted, table = Counter(), gw.datasets.load_adhd()
    net = MarkovNetwork(random_state=0, n_jobs=1).fit(table)
    at = PseudoLikelihood.at

    def count(self, *arguments):
        counted["evaluations"] += 1
        return at(self, *arguments)

    monkeypatch.setattr(PseudoLikelihood, "at", count)
    net.bootstrap(table, 3, case_dropping=False)
    assert 0 < counted["evaluations"] / 3 < 110  # 80; without Newton's steps at once 160


def test_the_text_names_edges_with_tiny_p_values_that_rarely_come_back():
    boot = network().bootstrap(random_table(0, n=4, rows=200), 6, case_dropping=False)
    rare = replace(
        boot, draws=np.where(np.arange(len(boot.draws))[:, None] < 1, boot.draws, np.nan),
        p_values=np.full(len(boot.pairs), 2.4e-5), q_values=np.full(len(boot.pairs), 1e-3),
    )  # fmt: skip
    assert "p = 2.4e-05" in bootstrap_text(rare)
    assert "stand in for" in bootstrap_text(rare)
    assert "stand in for" not in bootstrap_text(replace(rare, p_values=None))
    assert "stand in for" not in bootstrap_text(
        replace(rare, p_values=np.full(len(boot.pairs), 0.01))
    )


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_keeps_what_is_done(jobs):
    table = random_table(5, n=4, rows=60)
    whole = network().bootstrap(table, 8, random_state=0)
    net = network()
    with pytest.raises(KeyboardInterrupt):
        net.bootstrap(table, 8, random_state=0, n_jobs=jobs, observer=Stop(after=5))
    kept = net.bootstrap_
    assert kept.interrupted
    assert 5 <= kept.n_done + kept.n_subsets < 16
    if jobs == 1:
        assert (kept.n_done, kept.n_subsets) == (3, 2)  # in turns
        whole_draws, whole_subsets = whole.centrality_draws, whole.subset_centrality
        assert np.array_equal(kept.centrality_draws, whole_draws[:3], equal_nan=True)
        assert np.array_equal(kept.subset_centrality, whole_subsets[:2], equal_nan=True)
        assert np.array_equal(kept.dropped, whole.dropped[:2])
    with pytest.raises(KeyboardInterrupt):
        net.bootstrap(table, 8, observer=Stop(after=0))
    assert not hasattr(net, "bootstrap_")
    assert net.bootstrap(table, 2) is net.bootstrap_


def test_the_observer_is_told_of_every_resample():
    told = Told()
    network().bootstrap(random_table(5, n=3, rows=40), 3, observer=told)
    assert [step for _, step, _ in told.stages] == list(range(6))
    assert {steps for _, _, steps in told.stages} == {6}
    assert {text for text, _, _ in told.stages} == {"resamples and subsets"}


def test_the_reference_is_the_fitted_network():
    table = random_table(6, n=4, rows=80)
    net = network(lam=0.01).fit(table)
    net.set_params(lam=0.3)
    boot = net.bootstrap(table, 2, case_dropping=False)
    assert np.sum(~np.isnan(boot.strengths)) == net.model_.n_edges > 0


def test_rows_of_other_columns_are_refused():
    table = random_table(6, n=4, rows=60)
    net = network().fit(table)
    model, names = net.model_, list(table.names)
    frame = table.to_pandas()
    with pytest.raises(DataError, match=f"the data lack '{names[2]}'"):
        net.bootstrap(frame[[*names[:2], names[3]]], 2)
    with pytest.raises(DataError, match=f"the data lack '{names[1]}'.*clone"):
        net.bootstrap(frame.rename(columns={names[1]: "else"}), 2)
    with pytest.raises(DataError, match="'more' is none of them"):
        net.bootstrap(frame.assign(more=0), 2)
    assert net.model_ is model
    turned = net.bootstrap(frame[names[::-1]], 2, case_dropping=False)  # by name
    there = ~np.isnan(turned.strengths)
    own = {frozenset(turned.names[i] for i in pair) for pair in turned.pairs[there]}
    assert own == {frozenset(edge) for edge in model.edges}


@pytest.mark.some(2)
@pytest.mark.parametrize("policy", ["state", "drop-rows", "available-case", "impute"])
def test_missing_cells_are_taken_as_in_fit(policy):
    table, n = with_holes(random_table(3, n=4, rows=90), 2, share=0.1), 3
    frame = {
        name: [None if state == "(missing)" else state for state in column]
        for name, column in table.to_dict().items()
    }
    net = network(lam=0.03, missing=policy)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", DataWarning)
        boot = net.bootstrap(frame, n, random_state=7, case_dropping=False)
        told = [str(each.message) for each in heard if each.category is DataWarning]
    gone = int(missing_cells(table).any(axis=0).sum())
    assert [text.split(" rows")[0] for text in told] == [f"{gone} of 90"] * (policy == "drop-rows")
    whole = complete_rows(table) if policy == "drop-rows" else table
    units = Units.of(as_table(whole, missing="state"))
    for k, seed in enumerate(np.random.SeedSequence(7).spawn(2)[0].spawn(n)):
        rng = np.random.default_rng(seed)
        drawn, own = units.resample(rng), int(rng.integers(2**31))
        # Where cells are drawn, the first ones come from the network of all rows.
        near = boot.model if policy in ("available-case", "impute") else None
        spec = network(lam=0.03, missing=policy, random_state=own).spec()
        again = fit(spec, drawn, near=near).model
        there = ~np.isnan(boot.draws[k])
        edges = [tuple(boot.names[i] for i in pair) for pair in boot.pairs[there]]
        assert set(edges) == set(again.edges)
        strengths = [again.strength(*edge) for edge in edges]
        np.testing.assert_allclose(boot.draws[k][there], strengths, atol=1e-9)


def test_a_variable_with_few_observed_cells_is_in_every_subset():
    seen = [0, 1, 0, 1] + [None] * 36
    data = {"a": seen, "b": [0, 1] * 20, "c": [0, 0, 1, 1] * 10}
    boot = network(missing="available-case").bootstrap(data, 20, random_state=0)
    assert boot.n_done == boot.n_subsets == 20


def test_dropped_rows_are_told_once_each_time():
    data = {"a": [0, 1, None] * 20, "b": [0, 1, 1] * 20}
    net = network(missing="drop-rows")
    with pytest.warns(DataWarning, match="20 of 60 rows"):
        net.fit(data)
    with pytest.warns(DataWarning, match="20 of 60 rows") as heard:
        net.bootstrap(data, 2)
    assert len(heard) == 1
    with pytest.raises(DataError, match="missing"):
        network().bootstrap(data, 2)


def test_lambda_can_be_kept():
    table = random_table(7, n=4, rows=150)
    net = network(lam="auto", ordinal=False).fit(table)
    model = net.model_
    boot = net.bootstrap(table, 3, refit_lam=False, case_dropping=False, random_state=0)
    fixed = network(lam=net.lam_).bootstrap(table, 3, case_dropping=False, random_state=0)
    assert same(boot, fixed)
    assert net.model_ is model
    assert net.lam == "auto"


def test_fits_that_warn_are_counted(monkeypatch):
    table = random_table(8, n=3, rows=60)
    net = network().fit(table)
    odd = property(lambda found: found.model.n_edges % 2 == 1)
    monkeypatch.setattr(Fit, "unsolved", odd)
    boots = [net.bootstrap(table, 8, case_dropping=False, n_jobs=jobs) for jobs in (1, 2)]
    assert 0 < boots[0].unconverged == boots[1].unconverged < 8


def test_the_stability_coefficient_by_hand():
    dropped = np.repeat([0.1, 0.2, 0.3, 0.4], 20)
    correlations = np.full(80, 0.9)
    assert stability_coefficient(dropped, correlations) == 0.4
    correlations[60] = 0.69  # 19 of 20 at .4: still 95 %
    assert stability_coefficient(dropped, correlations) == 0.4
    correlations[61] = np.nan  # 18 of 20
    assert stability_coefficient(dropped, correlations) == 0.3
    correlations[20:22] = 0.7  # .7 itself is enough
    assert stability_coefficient(dropped, correlations) == 0.3
    correlations[20:22] = 0.6  # .2 fails, so .3 does not count
    assert stability_coefficient(dropped, correlations) == 0.1
    correlations[:2] = -1.0
    assert stability_coefficient(dropped, correlations) == 0.0


def test_stability_of_made_up_centralities():
    rng = np.random.default_rng(0)
    reference = np.stack([rng.random(6), np.full(6, np.nan), *rng.random((2, 6)), np.full(6, 0.1)])
    subsets = np.repeat(reference[None], 80, axis=0)
    subsets[60:, 0] *= -1  # strength falls apart at .5
    subsets[20:, 2] = 0.3  # degree does not vary from .25 on
    reference[1, :4] = [1.0, -1.0, 2.0, -2.0]  # two variables have edges without a sign
    subsets[:, 1] = reference[1]
    subsets[20:, 1, 4] = 9.0  # has no value to compare with
    subsets[40:, 1, :2] *= -1  # the order changes at .4: the correlation is .6
    boot = Bootstrap(
        names=tuple("abcdef"),
        pairs=np.empty((0, 2), dtype=np.int64),
        strengths=np.empty(0),
        draws=np.empty((80, 0)),
        refits=np.empty((80, 0)),
        centrality=reference,
        centrality_draws=subsets,
        dropped=np.repeat([0.1, 0.25, 0.4, 0.5], 20),
        subset_centrality=subsets,
        shares=(0.1, 0.25, 0.4, 0.5),
        n_asked=80,
    )
    assert boot.cs == {
        "strength": 0.4, "expected_influence": 0.25, "degree": 0.1, "closeness": 0.5,
        "betweenness": None,
    }  # fmt: skip
    last = [record for record in boot.stability() if record["dropped"] == 0.5]
    assert [record["mean"] for record in last] == pytest.approx([-1, 0.6, 0, 1, 0])
    assert [record["kept"] for record in last] == [0, 0, 0, 1, 0]
    words = gw.describe(boot)
    assert "by strength with care (CS 0.40" in words
    assert "Do not read the order of variables by degree" in words
    assert "by closeness is stable (CS 0.50" in words
    assert "by expected influence with care (CS 0.25" in words
    assert "All variables have the same betweenness." in words
    assert "The network has no edges, and no resample has any." in words
    few = replace(boot, dropped=boot.dropped[::2], subset_centrality=subsets[::2])
    assert "Set n to 80 or more." in gw.describe(few)
    assert "CS" not in gw.describe(few)
    assert set(few.cs.values()) == {None}
    labels = few.plot().axes[2].get_legend().get_texts()
    assert [text.get_text() for text in labels] == [
        "strength", "expected influence", "degree", "closeness",
    ]  # fmt: skip
    assert few.plot().axes[2].get_legend().get_title().get_text() == "too few subsets for a verdict"
    expected = [np.corrcoef(reference[0], subsets[k, 0])[0, 1] for k in range(80)]
    np.testing.assert_allclose(correlations_with(reference, subsets)[:, 0], expected)


def test_a_table_and_its_frame_give_the_same():
    frame = random_table(9, n=3, rows=40).to_pandas()
    assert same(*(network().bootstrap(each, 3) for each in (frame, as_table(frame))))


@pytest.mark.slow
def test_resamples_of_tested_networks_have_as_many_edges_and_centralities_as_central():
    """Rows that repeat make chance patterns look real; tests of resamples are corrected for it."""
    table = make_scale_free(20, 5, n_rows=1000, random_state=0).data
    net = MarkovNetwork(random_state=0).fit(table)
    boot = net.bootstrap(table, 12, case_dropping=False, random_state=1)
    edges = (~np.isnan(boot.draws)).sum(axis=1)
    assert abs(edges.mean() - net.model_.n_edges) <= 0.1 * net.model_.n_edges
    low, high = boot.centrality_draws.min(axis=0), boot.centrality_draws.max(axis=0)
    slack = 1e-9 * boot.centrality
    inside = (low - slack <= boot.centrality) & (boot.centrality <= high + slack)
    assert inside[~np.isnan(boot.centrality)].mean() >= 0.9


def test_own_edges_are_fitted_in_every_resample():
    table = make_scale_free(10, 3, n_rows=300, random_state=2).data
    net = MarkovNetwork(random_state=0).fit(table)
    boot = net.bootstrap(table, 5, case_dropping=False, random_state=1)
    own = ~np.isnan(boot.strengths)
    assert own.sum() == net.model_.n_edges
    assert np.isfinite(boot.refits[:, own]).all()
    assert np.isnan(boot.refits[:, ~own]).all()
    drawn = Units.of(table)
    for k, seed in enumerate(np.random.SeedSequence(1).spawn(2)[0].spawn(5)):
        rows = drawn.draw(np.random.default_rng(seed))
        sample = prepare(rows)
        start = with_pairs(independent_potentials(sample), boot.pairs[own])
        problem = Problem(PseudoLikelihood(sample), GroupL1(0.0))
        found = refit(problem, start, 1e-7).point.potentials
        fitted = to_model(rows, sample, found, Gaps(frequencies=frequencies_of(sample))).strengths
        assert boot.refits[k, own] == pytest.approx(fitted, rel=2e-2)


def test_columns_in_another_order_change_no_share():
    table = make_scale_free(10, 3, n_rows=300, random_state=2).data
    order = np.random.default_rng(0).permutation(10)
    names = tuple(table.names[k] for k in order)
    other = Table(names, tuple(table.states[k] for k in order), table.codes[order])
    other = other.with_order(table.ordered)
    net = MarkovNetwork(random_state=0).fit(table)
    boots = [net.bootstrap(t, 5, case_dropping=False, random_state=1) for t in (table, other)]
    for record in boots[0].edges():
        pair = record["first"], record["second"]
        assert boots[1].frequency(*pair) == record["frequency"]


@pytest.mark.parametrize(("df", "old", "new"), [(16, 16, 0), (4, 30, 20), (1, 1, 0), (9, 200, 150)])
def test_moved_statistics_keep_their_quantile(df, old, new):
    for share in (0.01, 0.3, 0.7, 0.99, 0.9999):
        seen = np.array([ncx2.ppf(share, df, old)])
        found = moved(seen, *(np.array([float(x)]) for x in (df, old, new)))
        expected = ncx2.ppf(share, df, new) if new else chi2.ppf(share, df)
        assert found[0] == pytest.approx(expected, rel=0.03, abs=0.1 * df)


def signed_network(rows=600, seed=0):
    """Return rows of four ordered variables and a category: one edge above 0, one below."""
    scores = np.arange(4) - 1.5
    tables = {
        ("a", "b"): 0.5 * np.outer(scores, scores),
        ("b", "c"): -0.5 * np.outer(scores, scores),
        ("d", "town"): 1.5 * np.outer(scores, [1.0, 0.0, -1.0]),
    }
    states = {name: [1, 2, 3, 4] for name in "abcd"} | {"town": ["x", "y", "z"]}
    return gw.PairwiseMRF(states, None, tables).sample(rows, random_state=seed)


@pytest.mark.parametrize("lam", [0.02, pytest.param("auto", marks=pytest.mark.slow)])
def test_intervals_of_absent_pairs_hold_only_what_resamples_gave(lam):
    """Edges that some resamples have, all with one sign, reach from 0 to that side."""
    made = gw.datasets.make_bernoulli(10, mean_degree=2, n_rows=300, random_state=0)
    net = MarkovNetwork(lam=lam, random_state=0, n_jobs=1).fit(made.data)
    boot = net.bootstrap(made.data, 40, case_dropping=False, random_state=0)
    absent = [record for record in boot.edges() if not record["strength"]]
    assert len(absent) > 3
    places = [boot.names[i] + boot.names[j] for i, j in boot.pairs]
    sides = 0
    for record in absent:
        draws = np.nan_to_num(
            boot.weight_draws[:, places.index(record["first"] + record["second"])]
        )
        told = [record["weight_mean"], record["weight_low"], record["weight_high"]]
        assert told == pytest.approx([draws.mean(), *np.quantile(draws, [0.025, 0.975])])
        sides += (draws >= 0).all() or (draws <= 0).all()
        assert draws.min() <= record["weight_low"] <= 0 <= record["weight_high"] <= draws.max()
        assert record["weight"] == record["low"] == 0
    assert sides > 0


@pytest.mark.parametrize("lam", [0.02, "auto"])
def test_weights_have_signs_and_intervals_and_so_has_expected_influence(lam):
    table = signed_network()
    net = MarkovNetwork(lam=lam, ordinal=list("abcd"), random_state=0, n_jobs=1).fit(table)
    boot = net.bootstrap(table, 30, case_dropping=False, random_state=0)
    found = {(r["first"], r["second"]): r for r in boot.edges()}
    for (a, b), record in found.items():
        if (a, b) in net.model_.edges and "town" not in (a, b):
            own = net.model_.weight(a, b)
            assert record["weight"] == own
            draws = np.array(list(boot.weight_draws.T[
                [boot.names[i] + boot.names[j] for i, j in boot.pairs].index(a + b)
            ]))  # fmt: skip
            assert np.sign(record["weight_low"]) == np.sign(record["weight_high"]) == np.sign(own)
            assert record["weight_low"] < own < record["weight_high"]
            if lam != "auto":  # the width is that of the resamples' own weights
                reach = 1.959964 * np.sqrt(np.mean((np.nan_to_num(draws) - own) ** 2))
                assert record["weight_high"] == pytest.approx(own + reach)
    if lam == "auto":  # and about that of fresh rows, of which the network has the same edges
        fresh = [MarkovNetwork(ordinal=list("abcd"), n_jobs=1).fit(signed_network(seed=s)).model_
                 for s in range(1, 21)]  # fmt: skip
        for a, b, theta in (("a", "b", 0.5), ("b", "c", -0.5)):
            others = np.array([model.weight(a, b) for model in fresh])
            width = found[a, b]["weight_high"] - found[a, b]["weight_low"]
            assert 0.6 < width / (2 * 1.96 * others.std(ddof=1)) < 1.6
            assert abs(others.mean() - theta) < 4 * others.std() / np.sqrt(20)
            assert abs(found[a, b]["weight_mean"] - found[a, b]["weight"]) < 0.3 * width
    assert np.isnan(found["d", "town"]["weight"])  # a category has no sign
    central = {
        r["variable"]: r for r in boot.centralities() if r["measure"] == "expected_influence"
    }
    net_central = {r["variable"]: r for r in net.centrality().to_dict("records")}
    for name in "abc":
        assert central[name]["value"] == pytest.approx(net_central[name]["expected_influence"])
    assert central["c"]["high"] < 0 < central["a"]["low"]
    assert np.isnan(central["town"]["value"])
    assert np.isnan(net_central["town"]["expected_influence"])
    assert "weight" in boot.summary()


def test_no_network_of_a_resample_is_tested_twice(monkeypatch):
    """Every refit of a resample is a last one: its tests hold until it changes."""
    rng = np.random.default_rng(0)
    mood = rng.normal(size=(400, 1)) + rng.normal(size=(400, 8))
    rows = np.clip(np.round(mood + 3), 1, 5).astype(int)
    net = MarkovNetwork(ordinal=True, shape="linear", random_state=0).fit(rows)
    tested = []
    whole = StructureSearch._test_all

    def noted(search, *rest, **options):
        tested.append(search.fitted)
        return whole(search, *rest, **options)

    monkeypatch.setattr(StructureSearch, "_test_all", noted)
    net.bootstrap(rows, 6, case_dropping=False, random_state=0)
    assert len(tested) > 6
    assert not any(first is second for first, second in pairwise(tested))
