"""The Hessian of a small network's log Z, against differences of marginals."""

import numpy as np

from graftwork.inference import Layout, Potentials
from graftwork.inference.junction import JunctionTree
from graftwork.kernels.joint import joint_hessian


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


def test_large_potentials_do_not_overflow():
    layout = Layout.of([2, 3], [(0, 1)])
    weights = 1000.0 * np.random.default_rng(0).normal(size=layout.size)
    found = joint_hessian(
        weights, layout.cards, layout.edges, layout.unary_offsets, layout.edge_offsets
    )
    assert np.isfinite(found).all()
    assert (np.diag(found) >= 0).all()
