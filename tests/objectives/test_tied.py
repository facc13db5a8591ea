"""Shifted and tied losses: finite differences, and one optimum for every solver and SciPy."""

import numpy as np
import pytest
from scipy.optimize import minimize

from graftwork.inference import JunctionTree, Layout, Potentials
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.penalties import L1, Blocks, GroupL1
from graftwork.solvers import GaussSeidel, OrthantWise, ProximalQuasiNewton, measure

from doors.objectives import Shifted, Tied
from support.problems import random_sample

LOSSES = {
    "pseudo": lambda sample: PseudoLikelihood(sample, 1),
    "likelihood": lambda sample: Likelihood(sample, JunctionTree()),
}
SOLVERS = [ProximalQuasiNewton(), OrthantWise(), GaussSeidel(2)]


def problem(loss, seed=0):
    """A tied divergence with a pull, of 5 values; some weights stay zero."""
    rng = np.random.default_rng(seed)
    sample = random_sample(seed, n=4, rows=80, most=3)
    layout = Layout.of(sample.cards, [(0, 1), (1, 2), (0, 3)])
    objective = LOSSES[loss](sample)
    learned = objective.at(Potentials(layout, 0.7 * rng.normal(size=layout.size)))
    centre, pull = rng.normal(size=(2, layout.size))
    shifted = Shifted(objective, learned.gradient, centre, 0.05 * np.abs(pull))
    groups = rng.integers(-1, 5, layout.size)
    groups[:5] = np.arange(5)
    return learned, shifted, Tied(shifted, layout, groups)


def slopes(objective, layout, weights, step=1e-6):
    found = np.empty(len(weights))
    for k in range(len(weights)):
        move = np.zeros(len(weights))
        move[k] = step
        up = objective.at(Potentials(layout, weights + move)).value
        down = objective.at(Potentials(layout, weights - move)).value
        found[k] = (up - down) / (2 * step)
    return found


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_are_finite_differences(loss):
    learned, shifted, tied = problem(loss)
    layout = learned.potentials.layout
    weights = np.random.default_rng(5).normal(size=layout.size)
    point = shifted.at(Potentials(layout, weights))
    np.testing.assert_allclose(point.gradient, slopes(shifted, layout, weights), atol=2e-8)
    values = np.random.default_rng(6).normal(size=5)
    point = tied.at(Potentials(tied.small, values))
    np.testing.assert_allclose(point.gradient, slopes(tied, tied.small, values), atol=2e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_divergence_is_zero_sloped_at_the_learned_weights_and_positive_elsewhere(loss):
    learned, shifted, _ = problem(loss)
    layout = learned.potentials.layout
    plain = Shifted(shifted.objective, learned.gradient)
    here = plain.at(learned.potentials)
    assert np.abs(here.gradient).max() == 0.0
    rng = np.random.default_rng(7)
    for _ in range(5):
        there = plain.at(Potentials(layout, rng.normal(size=layout.size)))
        assert there.value > here.value


@pytest.mark.parametrize("penalty", [L1(0.0), GroupL1(0.0), L1(0.0, 0.0, 0.0, 0.01)], ids=str)
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_solver_finds_the_values_scipy_finds(loss, solver, penalty):
    _, _, tied = problem(loss)

    def objective(values):
        point = tied.at(Potentials(tied.small, values))
        ridge = penalty.unary_l2
        return point.value + ridge * values @ values, point.gradient + 2 * ridge * values

    best = minimize(objective, np.zeros(5), jac=True, method="BFGS", options={"gtol": 1e-9})
    blocks = Blocks.of(tied.small, tied.small.cards)
    start = measure(tied.at(Potentials(tied.small, np.zeros(5))), penalty, blocks)
    end = solver.improve(tied, penalty, blocks, start, 1e-8)
    np.testing.assert_allclose(end.point.potentials.weights, best.x, atol=1e-6)
    assert end.objective == pytest.approx(best.fun, abs=1e-12)


def test_weights_without_a_group_are_zero_and_groups_share():
    _, _, tied = problem("pseudo")
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    weights = tied.expand(values).weights
    assert np.array_equal(weights, np.append(values, 0.0)[tied.groups])
    vector = np.random.default_rng(0).normal(size=len(weights))
    assert tied.gather(vector) @ values == pytest.approx(vector @ weights)
