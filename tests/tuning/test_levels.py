"""The two ends of a lambda path, and refits."""

import numpy as np
from problems import dense_pseudo, random_table

from graftwork.data import Table
from graftwork.data.compact import prepare
from graftwork.grafting import Problem, graft
from graftwork.inference import JunctionTree
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.penalties import L1, GroupL1
from graftwork.recipes import best_choice
from graftwork.tuning import find_levels, refit
from graftwork.tuning.levels import largest_score, noise_score


def test_the_largest_lambda_gives_no_edge_and_a_little_less_gives_one():
    table = random_table(31, n=6, rows=300)
    problem = Problem(PseudoLikelihood(prepare(table)), GroupL1(1.0))
    levels = find_levels(problem, np.random.default_rng(0))
    assert 0 < levels.noise < levels.largest
    for factor, expected in ((1.001, 0), (0.98, 1)):
        penalised = Problem(problem.objective, GroupL1(factor * levels.largest))
        outcome = graft(penalised, best_choice(), tolerance=1e-9)
        assert outcome.certificate.n_edges == expected


def test_the_noise_level_is_what_shuffled_columns_reach():
    """The drawn errors against the scores of real shuffled columns, for losses and penalties."""
    rng = np.random.default_rng(5)
    cards = (2, 3, 4, 5) * 5
    codes = np.stack([rng.integers(0, s, 2000) for s in cards]).astype(np.uint8)
    names = tuple(f"v{i}" for i in range(20))
    table = Table(names, tuple(tuple(range(s)) for s in cards), codes)
    for loss in (PseudoLikelihood, lambda sample: Likelihood(sample, JunctionTree())):
        for penalty in (GroupL1(1.0), L1(1.0)):
            drawn, shuffled = [], []
            problem = Problem(loss(prepare(table)), penalty)
            for _ in range(12):
                other = np.stack([rng.permutation(row) for row in codes])
                real = Table(names, table.states, other)
                shuffled.append(largest_score(Problem(loss(prepare(real)), penalty), rng))
                drawn.append(noise_score(problem, rng))
            error = np.hypot(np.std(drawn), np.std(shuffled)) / np.sqrt(12)
            assert abs(np.mean(drawn) - np.mean(shuffled)) < 4 * error


def test_refit_is_stationary_for_the_ridge():
    table = random_table(32, n=5, rows=200)
    problem = Problem(PseudoLikelihood(prepare(table)), GroupL1(0.03))
    start = graft(problem, best_choice()).potentials
    end = refit(problem, start, 1e-8).point.potentials
    _, gradient = dense_pseudo(table, end.weights, end.layout.edges)
    gradient[end.layout.n_unary :] += end.weights[end.layout.n_unary :] / table.n_rows
    assert np.abs(gradient).max() < 1e-7
