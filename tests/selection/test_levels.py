"""The two ends of a lambda path, and refits."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.data import Table
from graftwork.grafting import NetworkFamily, PairFactors, Problem, graft
from graftwork.inference import JunctionTree
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.penalties import L1, GroupL1
from graftwork.selection import find_levels, refit

from doors.data import prepare
from doors.recipes import best_choice
from doors.selection import largest_score, levels, noise_level
from support.problems import dense_pseudo, random_table


def test_the_largest_lambda_gives_no_edge_and_a_little_less_gives_one():
    table = random_table(31, n=6, rows=300)
    problem = Problem(PseudoLikelihood(prepare(table)), GroupL1(1.0))
    levels = find_levels(problem)
    assert 0 < levels.noise < levels.largest
    for factor, expected in ((1.001, 0), (0.98, 1)):
        penalised = Problem(problem.objective, GroupL1(factor * levels.largest))
        outcome = graft(penalised, best_choice(), tolerance=1e-9)
        assert outcome.certificate.n_edges == expected


def test_the_noise_level_is_what_shuffled_columns_reach():
    """The level against the scores of real shuffled columns, for losses and penalties."""
    rng = np.random.default_rng(5)
    cards = (2, 3, 4, 5) * 5
    codes = np.stack([rng.integers(0, s, 2000) for s in cards]).astype(np.uint8)
    names = tuple(f"v{i}" for i in range(20))
    table = Table(names, tuple(tuple(range(s)) for s in cards), codes)
    for loss in (PseudoLikelihood, lambda sample: Likelihood(sample, JunctionTree())):
        for penalty in (GroupL1(1.0), L1(1.0)):
            shuffled = []
            problem = Problem(loss(prepare(table)), penalty)
            for _ in range(40):
                other = np.stack([rng.permutation(row) for row in codes])
                real = Table(names, table.states, other)
                shuffled.append(largest_score(Problem(loss(prepare(real)), penalty)))
            error = np.std(shuffled) / np.sqrt(40)
            assert abs(noise_level(problem) - np.mean(shuffled)) < 4 * error


def test_refit_is_stationary_for_the_ridge():
    table = random_table(32, n=5, rows=200)
    problem = Problem(PseudoLikelihood(prepare(table)), GroupL1(0.03))
    start = graft(problem, best_choice()).potentials
    end = refit(problem, start, 1e-8).point.potentials
    _, gradient = dense_pseudo(table, end.weights, end.layout.edges)
    gradient[end.layout.n_unary :] += end.weights[end.layout.n_unary :] / table.n_rows
    assert np.abs(gradient).max() < 1e-7


def test_the_noise_level_depends_on_neither_chance_nor_the_order_of_columns():
    table = random_table(33, n=9, rows=250)
    order = np.random.default_rng(0).permutation(9)
    other = Table(
        tuple(table.names[k] for k in order),
        tuple(table.states[k] for k in order),
        table.codes[order],
    )
    levels = [
        find_levels(Problem(PseudoLikelihood(prepare(t)), GroupL1(1.0))) for t in (table, other)
    ]
    assert np.isclose(levels[0].noise, levels[1].noise, rtol=1e-12)
    assert np.isclose(levels[0].largest, levels[1].largest, rtol=1e-12)


def test_factors_move_the_noise_level_and_free_pairs_do_not_count():
    sample = prepare(random_table(34, n=6, rows=250))
    levels = []
    for factor in (1.0, 2.0, 0.0):
        prior = PairFactors.of(6, [(0, 1)], factor, default=1.0 if factor else 0.0)
        problem = Problem(PseudoLikelihood(sample), GroupL1(1.0), NetworkFamily(sample, prior))
        levels.append(noise_level(problem))
    assert levels[1] < levels[0]
    assert levels[2] == 0.0


@pytest.mark.parametrize("penalty", [GroupL1(1.0), L1(1.0)], ids=["group-l1", "l1"])
def test_pairs_counted_by_kinds_and_tiles_give_the_same_ends(penalty, monkeypatch):
    made = gw.datasets.make_scale_free(14, [2, 3, 5, 2, 2, 3, 4] * 2, n_rows=300, random_state=0)
    sample = prepare(made.data)
    problem = Problem(PseudoLikelihood(sample, 1), penalty, NetworkFamily(sample))
    quick = levels.find_levels(problem)
    monkeypatch.setattr(levels, "_weighed", lambda problem: True)  # pairs are listed then
    listed = levels.find_levels(problem)
    assert quick.noise == pytest.approx(listed.noise, rel=1e-12)
    assert quick.largest == pytest.approx(listed.largest, rel=1e-12)


def test_the_range_ends_with_the_time(monkeypatch):
    """Of four tiles two are looked at before time is up; beyond a size no pair is listed."""
    monkeypatch.setattr("graftwork.objectives.pair_tiles.TILE", 8)
    monkeypatch.setattr("graftwork.selection.levels.MOST_PAIRS", 10)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (8, 200))
    codes[7] = codes[6]  # the pair that scores most is in the last tile
    table = Table(tuple("abcdefgh"), ((0, 1),) * 8, codes)
    problem = Problem(PseudoLikelihood(prepare(table)), GroupL1(1.0))
    asked = []

    def halted():
        asked.append(None)
        return len(asked) > 2

    whole, part = find_levels(problem), find_levels(problem, halted)
    assert part.largest < whole.largest
    assert part.noise == whole.noise
    assert not whole.sampled
