"""Networks that tests chose agree with the tests, and with themselves, whatever the table."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.datasets import load_digits

import graftwork as gw
from graftwork.grafting import Problem
from graftwork.objectives import PseudoLikelihood
from graftwork.parameters import gather
from graftwork.penalties import GroupL1
from graftwork.selection import refit

from doors.data import prepare
from doors.grafting import with_pairs
from doors.inference import Layout, find_edges
from doors.objectives import FittedRows, independent_potentials
from doors.selection import Refits, unshrunk
from doors.significance import (
    EdgeTests,
    Findings,
    examine_pairs,
    frequent_states,
    log_q_values,
    log_tail,
    verdicts,
)
from doors.solvers import newton
from support.odd_tables import odd_table
from support.problems import FOLDER, dense_pseudo, random_table

QUICK, ALL = 24, 240
RIVALS = (24, 29, 30)


def learned(table, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gw.MarkovNetwork(**gather({"ordinal": False} | options)).fit(table)


def assert_agrees(net, required=0):
    """Every edge passes its test and every absent pair fails at the final fit; rivals are named."""
    evidence = net.evidence_
    assert (np.exp(evidence.other_log_q) > net.fdr).all()
    named = tuple((net.names_[i], net.names_[j]) for i, j in evidence.rivals)
    assert net.choice_.tests.rivals == named
    assert (np.exp(evidence.edge_log_q) > net.fdr).sum() <= required
    edges, near = net.edges_, net.near_edges_
    assert (near["q_value"] > net.fdr).all()
    assert len(edges) == net.model_.n_edges == len(evidence.edges.pairs)


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "seed", [pytest.param(k, marks=[] if k < QUICK else pytest.mark.slow) for k in range(ALL)]
)
def test_edges_and_tests_agree_for_every_seed(seed):
    odd = odd_table(seed)
    nets = [learned(odd.table, random_state=k, **odd.options) for k in (0, 1)]
    for net in nets:
        assert_agrees(net, len(odd.options.get("required", [])))
    if odd.options.get("missing") not in ("available-case", "impute"):  # which draw states
        assert nets[0].model_ == nets[1].model_


@pytest.mark.parametrize("fdr", [0.3, 0.6])
def test_with_a_generous_rate_all_absent_pairs_that_might_pass_are_tested(fdr):
    net = learned(gw.datasets.make_scale_free(8, 3, n_rows=80, random_state=2).data, fdr=fdr)
    assert_agrees(net)
    evidence = net.evidence_
    assert evidence.others.log_p.max() > np.log(0.05)
    untested = evidence.n_tests - len(evidence.edges.pairs) - len(evidence.others.pairs)
    tested = np.append(evidence.edges.log_p, evidence.others.log_p)
    largest = np.append(tested, np.full(untested, np.log(max(0.05, fdr)) + 1e-9))  # at least so
    log_q = log_q_values(largest, evidence.n_tests)
    assert (log_q[len(evidence.edges.pairs) :] > np.log(fdr)).all()


@pytest.mark.slow
def test_the_mushroom_network_agrees_with_itself_and_the_picture_shows_it():
    net = learned(gw.datasets.load_mushroom())
    assert_agrees(net)
    picture = (Path(__file__).parents[2] / "docs" / "mushroom.png").read_bytes()
    assert f"Title\0{net.model_.n_edges} edges among 23 variables".encode() in picture


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_mushroom_network_is_the_same_for_every_seed(seed):
    table = gw.datasets.load_mushroom()
    assert learned(table, random_state=seed).model_ == learned(table).model_


def test_two_plain_fits_are_the_same():
    table = gw.datasets.make_scale_free(12, 3, n_rows=300, random_state=1).data
    assert gw.MarkovNetwork().fit(table).model_ == gw.MarkovNetwork().fit(table).model_


def test_the_order_of_columns_changes_no_edge():
    table = gw.datasets.make_scale_free(15, 3, n_rows=400, random_state=2).data
    order = np.random.default_rng(0).permutation(15)
    other = gw.data.Table(
        tuple(table.names[k] for k in order),
        tuple(table.states[k] for k in order),
        table.codes[order],
    )
    edges = [{frozenset(edge) for edge in learned(t).model_.edges} for t in (table, other)]
    assert edges[0] == edges[1]


def test_a_pair_that_two_variables_share_with_a_near_copy_is_kept_once():
    """Either of two near copies explains a third variable; both are not needed, one is."""
    rng = np.random.default_rng(3)
    first = rng.integers(0, 3, 600)
    twin = np.where(rng.random(600) < 0.01, rng.integers(0, 3, 600), first)
    third = np.where(rng.random(600) < 0.5, rng.integers(0, 3, 600), first)
    net = learned(np.stack([first, twin, third], axis=1))
    assert_agrees(net)
    touching = [edge for edge in net.model_.edges if "x2" in edge]
    assert len(touching) >= 1


def contested(seed):
    """A table of which some pairs' tests disagree."""
    return gw.datasets.make_scale_free(30, 3, n_rows=300, random_state=seed).data


def test_the_middle_test_is_the_median_of_three_and_is_told():
    net = learned(contested(5))
    assert net.evidence_.n_contested > 0
    assert net.choice_.tests.n_contested == net.evidence_.n_contested


def test_neighbours_tell_whether_a_verdict_still_holds():
    layout = Layout.of([2] * 4, [(0, 1), (1, 2)])
    other = Layout.of([2] * 4, [(0, 1), (1, 2), (0, 3)])
    known = verdicts.Verdicts()
    finding = Findings.none(1)
    known.add((0, 1), finding, layout)
    assert known.get((0, 1), layout) is finding
    assert known.get((0, 1), other) is None
    for _ in range(verdicts.MOST_LOOKS - 1):
        known.add((0, 1), finding, layout)
    assert known.get((0, 1), other) is finding


def test_the_likelihood_ratio_is_that_of_dense_fits(monkeypatch):
    monkeypatch.setattr("graftwork.significance.tilted.ENOUGH", 0.0)  # few rows as there are
    table = random_table(5, n=5, rows=250)
    sample = prepare(table)
    problem = Problem(PseudoLikelihood(sample), GroupL1(0.0))
    alone = independent_potentials(sample)
    edges = np.array([(0, 1), (1, 2), (2, 3), (3, 4)])
    contrasts = frequent_states(sample)
    for k, pair in enumerate(edges):
        starts = [with_pairs(alone, some) for some in (np.delete(edges, k, axis=0), edges)]
        fits = [
            newton(unshrunk(problem).on(start.layout), refit(problem, start, 1e-6), 1e-12)
            for start in starts
        ]
        values = []
        for fit in fits:
            end = fit.point.potentials
            value, _ = dense_pseudo(table, end.weights, end.layout.edges)
            ridge = 0.5 * (end.weights[end.layout.n_unary :] ** 2).sum()
            values.append(table.n_rows * value + ridge)
        rows = tuple(FittedRows.of(fit.point, contrasts) for fit in fits)
        score = examine_pairs(rows[0], fits[0].point, pair[None])
        wald = EdgeTests.of(rows[1]).findings(10**6).some([k])
        scale = wald.rises / wald.statistics
        ratio = log_tail(2 * (values[0] - values[1]) / scale, wald.degrees)
        found = verdicts.middle_test(fits, rows, pair[None], 10**6)
        assert np.isclose(found.log_p[0], np.median([score.log_p, wald.log_p, ratio]), rtol=1e-6)


@pytest.mark.skipif(not (FOLDER / "psych").is_dir(), reason="needs the data sets of psych")
@pytest.mark.parametrize("name", ["adhd", "boredom"])
def test_surveys_agree_with_their_tests(name):
    table = gw.read_table(FOLDER / "psych" / f"{name}.csv")
    nets = [learned(table, random_state=k) for k in (0, 1)]
    assert nets[0].model_ == nets[1].model_
    assert_agrees(nets[0])


@pytest.mark.skipif(not (FOLDER / "debd").is_dir(), reason="needs the data sets of debd")
def test_the_network_of_nltcs_agrees_with_its_tests():
    table = gw.datasets.load_debd("nltcs", FOLDER).train
    nets = [learned(table, random_state=k) for k in (0, 1)]
    assert nets[0].model_ == nets[1].model_
    assert_agrees(nets[0])


@pytest.mark.slow
def test_pixels_of_digits_agree_with_their_tests():
    pixels = (load_digits().data > 7).astype(int)
    nets = [learned(pixels, random_state=k) for k in (0, 1)]
    assert nets[0].model_ == nets[1].model_
    assert_agrees(nets[0])


def rival_symptoms(seed):
    """Ten binary symptoms of 150 people: of two pairs either passes its test, both do not."""
    rng = np.random.default_rng(seed)
    severity = rng.normal(size=150)
    limits, loads = rng.normal(0.3, 0.6, 10), rng.uniform(0.6, 1.8, 10)
    noise = rng.logistic(size=(150, 10))
    return (severity[:, None] * loads + noise > limits).astype(int)


def test_pairs_that_stand_in_for_each_other_end_the_search_and_are_named():
    """Found among such tables: as an edge a pair fails by the p-value that it passed by before."""
    found = 0
    for seed in RIVALS:
        net = learned(rival_symptoms(seed))
        assert_agrees(net)
        found += len(net.choice_.tests.rivals)
    assert found


def test_p_values_follow_from_statistics_and_degrees_of_freedom():
    net = learned(contested(5))
    for table in (net.edges_, net.near_edges_):
        expected = chi2.sf(table["statistic"], table["df"])
        assert np.allclose(table["p_value"], expected, rtol=1e-6, atol=0.0)


def test_with_millions_of_rows_a_refit_is_good_enough_for_tests():
    drawn = gw.datasets.make_scale_free(10, 3, n_rows=2000, random_state=4)
    table = drawn.data.with_weights(np.full(drawn.data.n_rows, 5000.0))  # as ten million rows
    sample = prepare(table)
    problem = Problem(PseudoLikelihood(sample), GroupL1(0.0))
    edges = drawn.model.potentials.layout.edges
    start = with_pairs(independent_potentials(sample), edges)
    exact = newton(unshrunk(problem).on(start.layout), refit(problem, start, 1e-4), 1e-13)
    fitted = Refits(problem).fit(start)
    assert fitted.residual <= 0.05 / np.sqrt(sample.total_weight)
    pairs = np.array([(i, j) for i in range(10) for j in range(i)])[:, ::-1]
    absent = pairs[find_edges(start.layout, pairs) < 0]
    here, there = (
        examine_pairs(FittedRows.of(each.point, frequent_states(sample)), each.point, absent)
        for each in (fitted, exact)
    )
    assert np.abs(np.sqrt(here.statistics) - np.sqrt(there.statistics)).max() < 0.5


def test_a_variable_that_lost_its_edges_is_refitted_whatever_its_unaries_were():
    table = random_table(3, n=4, rows=300)
    sample = prepare(table)
    problem = Problem(PseudoLikelihood(sample), GroupL1(0.0))
    start = independent_potentials(sample)
    far = start.weights.copy()
    far[0] += 900.0  # a probability that rounds to 1
    fitted = refit(problem, replace(start, weights=far), 1e-6)
    assert fitted.residual <= 1e-6
    assert fitted.evaluations <= 2  # it begins where it ends
    p = np.exp(fitted.point.potentials.weights[: sample.cards[0]])
    np.testing.assert_allclose(p / p.sum(), sample.frequencies[: sample.cards[0]], atol=1e-6)
