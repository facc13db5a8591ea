"""The prior of refits: the same in penalties, in Newton's steps and in tests."""

import numpy as np
import pytest

from graftwork.data import Table
from graftwork.data.encoded import prepare
from graftwork.data.scores import Ordered
from graftwork.grafting import Problem
from graftwork.grafting.starts import with_pairs
from graftwork.objectives import PseudoLikelihood
from graftwork.objectives.protocol import independent_potentials
from graftwork.penalties import GroupL1
from graftwork.selection import refit
from graftwork.selection.refit import bent, unshrunk
from graftwork.testing.contrasts import all_states
from graftwork.testing.hessian import Parameters
from graftwork.testing.newton import newton

CARDS = {"a": 5, "b": 4, "c": 3, "d": 2}  # c and d have no order
PAIRS = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]])


def mixed(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(s, size=rows) for s in CARDS.values()])
    table = Table(tuple(CARDS), tuple(tuple(range(s)) for s in CARDS.values()), codes)
    return prepare(table.with_order(Ordered.by_rank({"a": range(5), "b": range(4)})))


@pytest.mark.parametrize("curved", [None, frozenset(), frozenset({(0, 2), (0, 1)})])
def test_penalties_and_hessians_have_the_same_prior(curved):
    sample, rng = mixed(), np.random.default_rng(1)
    problem = unshrunk(bent(Problem(PseudoLikelihood(sample), GroupL1(0.0)), curved))
    layout = with_pairs(independent_potentials(sample), PAIRS).layout
    parameters = Parameters.of(layout, all_states(sample, curved))
    drawn = rng.normal(size=parameters.size)
    drawn[: sample.cards.sum() - len(sample.cards)] = 0.0
    value = problem.penalty.value(problem.blocks(layout), parameters.write(drawn))
    tables = drawn[parameters.starts[layout.n_variables] :]
    precisions = parameters.contrasts.precisions(layout.edges)
    expected = 0.5 * precisions @ tables**2 / sample.total_weight
    assert value == pytest.approx(expected, rel=1e-12)


def test_the_prior_by_hand():
    sample = mixed()
    problem = unshrunk(bent(Problem(PseudoLikelihood(sample), GroupL1(0.0)), None))
    layout = with_pairs(independent_potentials(sample), PAIRS).layout
    a, b = np.arange(5) - 2.0, np.arange(4) - 1.5
    bend = np.outer(a**2 - 2.0, b)
    town = np.outer(a, [1.0, -2.0, 1.0])
    nominal = np.outer([1.0, 0.0, -1.0], [0.5, -0.5])
    for pair, table, expected in [
        ([0, 1], np.outer(a, b), (np.outer(a, b) ** 2).mean() / 9.0),
        ([0, 1], bend, (bend**2).sum()),
        ([0, 1], np.outer(a, b) + bend, (np.outer(a, b) ** 2).mean() / 9.0 + (bend**2).sum()),
        ([0, 2], town, (town**2).mean() / 9.0),
        ([2, 3], nominal, (nominal**2).sum()),
    ]:
        weights = layout.zeros()
        e = PAIRS.tolist().index(pair)
        weights[layout.edge_offsets[e] : layout.edge_offsets[e + 1]] = table.ravel()
        value = problem.penalty.value(problem.blocks(layout), weights)
        assert value == pytest.approx(0.5 * expected / sample.total_weight, rel=1e-12)


@pytest.mark.parametrize("curved", [None, frozenset({(0, 2)})])
def test_newton_and_gradients_end_at_the_same_weights(curved):
    sample = mixed()
    problem = bent(Problem(PseudoLikelihood(sample), GroupL1(0.0)), curved)
    start = with_pairs(independent_potentials(sample), PAIRS)
    slow = refit(problem, start, 1e-9)
    quick = newton(unshrunk(problem), refit(problem, start, 1e-2), 1e-12)
    assert quick.residual <= 1e-12
    first = slow.point.potentials.layout.n_unary  # a constant may be added to unaries
    here, there = (one.point.potentials.weights[first:] for one in (slow, quick))
    assert np.abs(here - there).max() < 1e-5
