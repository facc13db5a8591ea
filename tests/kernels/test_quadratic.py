"""The compiled inner steps of the proximal solver against the plain ones, for any penalty."""

from dataclasses import replace

import numpy as np
import pytest

from graftwork.grafting import Problem
from graftwork.inference import Layout, Potentials
from graftwork.objectives import PseudoLikelihood
from graftwork.penalties import L1, GroupL1
from graftwork.solvers import Memory, ProximalQuasiNewton

from doors.data import Scores, prepare
from doors.solvers import Composite, _Model, choose_coordinates
from support.problems import all_pairs, random_table


def models(penalty, free_share=1.0, curved=None, ordered=False):
    """Models along the way of a solve, with and without remembered curvature."""
    rng = np.random.default_rng(3)
    sample = prepare(random_table(5, n=5, rows=150, most=4))
    if ordered:
        scores = [np.arange(float(s)) if i else None for i, s in enumerate(sample.cards.tolist())]
        sample = replace(sample, scores=Scores.of(scores, sample.cards))
    layout = Layout.of(sample.cards, all_pairs(5))
    objective = PseudoLikelihood(sample, 1)
    problem = Problem(objective, penalty)
    problem = replace(problem, family=replace(problem.family, curved=curved))
    free = rng.random(layout.size) < free_share
    blocks = replace(problem.blocks(layout), free=free)
    solution = problem.solution(Potentials(layout, layout.zeros()))
    coordinates = choose_coordinates(objective, penalty, blocks)
    composite = Composite(objective, penalty, blocks, coordinates, 10)
    for _ in range(6):
        weights = coordinates.enter(solution.point.potentials.weights)
        metric = np.maximum(solution.point.curvature, 1e-8)
        hessian = solution.memory.hessian(metric)
        gradient = coordinates.slope(solution.point.gradient)
        yield _Model(composite, hessian, gradient, weights, blocks.largest(metric))
        solution = ProximalQuasiNewton().improve(
            objective, penalty, blocks, replace(solution, memory=solution.memory), 0.0, 1
        )


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 0.0])
@pytest.mark.parametrize("free_share", [1.0, 0.7])
@pytest.mark.parametrize(
    "penalty",
    [
        GroupL1(0.03),
        GroupL1(0.0, 0.01),
        GroupL1(0.03, 0.02, 0.01, 0.005),
        L1(0.02),
        L1(0.02, 0.01, 0.01),
        L1(0.0),
    ],
    ids=repr,
)
def test_it_is_what_the_penalty_itself_gives(penalty, free_share, tolerance):
    found = list(models(penalty, free_share))
    assert any(len(model.hessian.factors) for model in found)
    for model in found:
        plain, compiled = model.minimise_by(tolerance), model.minimise(tolerance)
        np.testing.assert_allclose(compiled, plain, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("free_share", [1.0, 0.7])
@pytest.mark.parametrize("curved", [None, frozenset(), frozenset({(1, 2), (0, 3)})], ids=repr)
@pytest.mark.parametrize("penalty", [GroupL1(0.03), GroupL1(0.01, 0.02)], ids=repr)
def test_tables_of_two_parts_are_shrunk_like_that(penalty, curved, free_share):
    found = list(models(penalty, free_share, curved, ordered=True))
    assert found[0].problem.blocks.parts is not None
    for model in found:
        plain, compiled = model.minimise_by(1e-5), model.minimise(1e-5)
        np.testing.assert_allclose(compiled, plain, rtol=1e-7, atol=1e-10)


def test_a_model_that_bends_down_leaves_everything_where_it_is():
    model = next(models(GroupL1(0.03)))
    down = replace(model, hessian=replace(model.hessian, diagonal=-model.hessian.diagonal))
    assert down.minimise(1e-3) is down.centre
    assert down.minimise_by(1e-3) is down.centre
    assert Memory().hessian(model.hessian.diagonal).factors.shape == (0, len(model.centre))
