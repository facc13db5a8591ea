"""Hessians of small losses, against differences of gradients."""

from dataclasses import replace

import numpy as np

from graftwork.data import as_table
from graftwork.inference import Layout, Potentials
from graftwork.objectives import PseudoLikelihood

from doors.data import prepare
from doors.inference import JunctionTree
from doors.kernels import joint_hessian


def test_it_is_how_marginals_change():
    rng = np.random.default_rng(3)
    layout = Layout.of([2, 3, 2, 1], [(0, 1), (1, 2), (0, 2), (2, 3)])
    weights, step = rng.normal(size=layout.size), 1e-5
    found = joint_hessian(
        weights, layout.cards, layout.edges, layout.unary_offsets, layout.edge_offsets
    )

    def marginals(at):
        return JunctionTree().infer(Potentials(layout, at)).values

    for k, along in enumerate(step * np.eye(layout.size)):
        difference = (marginals(weights + along) - marginals(weights - along)) / (2 * step)
        assert np.allclose(found[k], difference, atol=1e-9)


def test_of_conditionals_it_is_how_the_gradient_changes():
    columns = {"a": [0, 1, 1, 0, 1], "b": [0, 1, 2, 2, 1], "c": [1, 0, 0, 1, 1]}
    columns |= {"d": [0, 1, 2, 3, 4], "e": [0, 1, 1, 2, 0]}  # e has no neighbours
    table = as_table(columns)
    loss = PseudoLikelihood(prepare(replace(table, weights=np.array([1, 2, 1, 0.5, 3]))), 1)
    layout = Layout.of([2, 3, 2, 5, 3], [(0, 1), (1, 2), (0, 3)])
    weights, step = np.random.default_rng(4).normal(size=layout.size), 1e-5
    found = loss.at(Potentials(layout, weights)).hessian()
    for k, along in enumerate(step * np.eye(layout.size)):
        ahead, behind = (loss.at(Potentials(layout, weights + s * along)) for s in (1, -1))
        assert np.allclose(found[k], (ahead.gradient - behind.gradient) / (2 * step), atol=1e-8)


def test_large_potentials_do_not_overflow():
    layout = Layout.of([2, 3], [(0, 1)])
    weights = 1000.0 * np.random.default_rng(0).normal(size=layout.size)
    found = joint_hessian(
        weights, layout.cards, layout.edges, layout.unary_offsets, layout.edge_offsets
    )
    assert np.isfinite(found).all()
    assert (np.diag(found) >= 0).all()
