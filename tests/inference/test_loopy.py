from __future__ import annotations

import numpy as np
import pytest

from graftwork.inference import JunctionTree, Layout, LoopyBP, Potentials

from doors.inference import attempt, ready, wire
from support.brute import GRAPHS, complete, enumerate_states, grid, random_potentials, unflatten


def bethe_twin(potentials, sweeps=500):
    """Parallel sum-product in plain NumPy, and the Bethe log Z from its beliefs."""
    layout, weights = potentials.layout, potentials.weights
    n, m = layout.n_variables, layout.n_edges
    into = {(e, k): np.zeros(layout.cards[layout.edges[e, k]]) for e in range(m) for k in (0, 1)}

    def field(i, but=None):
        total = layout.unary(weights, i).copy()
        for e in range(m):
            for k in (0, 1):
                if layout.edges[e, k] == i and e != but:
                    total += into[e, k]
        return total

    for _ in range(sweeps):
        fresh = {}
        for e in range(m):
            i, j = layout.edges[e]
            table = layout.table(weights, e)
            fresh[e, 1] = np.log(np.exp(field(i, e)[:, None] + table).sum(axis=0))
            fresh[e, 0] = np.log(np.exp(field(j, e)[None, :] + table).sum(axis=1))
        into = {slot: 0.5 * into[slot] + 0.5 * (v - v.max()) for slot, v in fresh.items()}
    values, bethe = layout.zeros(), 0.0
    degree = np.bincount(layout.edges.ravel(), minlength=n)
    for i in range(n):
        b = np.exp(field(i) - field(i).max())
        b /= b.sum()
        layout.unary(values, i)[:] = b
        bethe += b @ layout.unary(weights, i) - (1 - degree[i]) * (b @ np.log(b))
    for e in range(m):
        i, j = layout.edges[e]
        b = np.exp(field(i, e)[:, None] + field(j, e)[None, :] + layout.table(weights, e))
        b /= b.sum()
        layout.table(values, e)[:] = b
        bethe += (b * (layout.table(weights, e) - np.log(b))).sum()
    return values, bethe


@pytest.mark.parametrize("name", ["cycle", "two components", "grid", "complete", "wheel", "tree"])
def test_fixed_point_and_bethe_value_equal_a_plain_twin(name, rng):
    potentials = random_potentials(rng, *GRAPHS[name], 0.4)
    beliefs = LoopyBP().infer(potentials)
    assert beliefs.converged
    values, bethe = bethe_twin(potentials)
    np.testing.assert_allclose(beliefs.values, values, atol=1e-7)
    assert beliefs.log_partition == pytest.approx(bethe, abs=1e-7)


def test_weak_loops_are_nearly_exact(rng):
    potentials = random_potentials(rng, [3] * 16, grid(4, 4), 0.2)
    exact, loopy = JunctionTree().infer(potentials), LoopyBP().infer(potentials)
    assert loopy.converged
    assert not loopy.exact
    np.testing.assert_allclose(loopy.values, exact.values, atol=0.01)
    pairs = np.array([(0, 2), (5, 0)])
    path, flag = LoopyBP().pair_marginals(potentials, loopy, pairs)
    product, _ = LoopyBP(rule="product").pair_marginals(potentials, loopy, pairs)
    truth, _ = JunctionTree().pair_marginals(potentials, exact, pairs)
    assert not flag
    assert np.abs(path - truth).max() < np.abs(product - truth).max()


def test_failure_to_converge_is_reported_and_damping_is_tried(rng):
    frustrated = random_potentials(rng, [2] * 10, complete(10), 6.0)
    beliefs = LoopyBP(max_sweeps=20).infer(frustrated)
    assert not beliefs.converged
    assert beliefs.residual > 1e-9
    assert beliefs.sweeps == 40
    assert np.isfinite(beliefs.values).all()
    assert LoopyBP(max_sweeps=20, damping=0.2).infer(frustrated).sweeps == 20
    untouched = LoopyBP(max_sweeps=0).infer(frustrated)
    assert not untouched.converged


def antiferromagnet(n, coupling):
    """Every two of n binary variables want to differ, which they cannot."""
    layout = Layout.of([2] * n, complete(n))
    weights = layout.zeros()
    weights[: layout.n_unary : 2] = 0.3 * np.random.default_rng(0).normal(size=n)
    weights[layout.n_unary :] = np.tile([-coupling, coupling, coupling, -coupling], layout.n_edges)
    return Potentials(layout, weights)


@pytest.mark.parametrize("coupling", [0.5, 1.5])
def test_damping_rescues_a_frustrated_network(coupling):
    potentials = antiferromagnet(10, coupling)
    start = np.zeros(wire(potentials.layout).message_offsets[-1])
    tables = ready(potentials)
    alone = attempt(potentials.layout, tables, start, 200, 1e-9, 0.0)
    assert alone.residual > 0.1
    damped = attempt(potentials.layout, tables, start, 200, 1e-9, 0.5)
    assert damped.residual <= 1e-9
    beliefs = LoopyBP().infer(potentials)
    assert beliefs.converged
    assert beliefs.sweeps == 200 + damped.sweeps
    np.testing.assert_array_equal(beliefs.messages, damped.messages)


def test_what_damping_does_not_rescue_is_reported():
    beliefs = LoopyBP().infer(antiferromagnet(10, 4.0))
    assert not beliefs.converged
    assert beliefs.sweeps == 400
    assert beliefs.residual > 1e-9


def test_damping_rescues_an_oscillation():
    layout = Layout.of([2] * 6, [(i, j) for i in range(3) for j in range(3, 6)])
    weights = layout.zeros()
    for e in range(layout.n_edges):
        layout.table(weights, e)[:] = [[-1.5, 1.5], [1.5, -1.5]]
    weights[: layout.n_unary : 2] = 0.3
    beliefs = LoopyBP().infer(Potentials(layout, weights))
    assert beliefs.converged


def test_a_warm_start_after_an_added_edge_needs_fewer_sweeps(rng):
    edges = grid(5, 5)
    before = random_potentials(rng, [3] * 25, edges, 0.5)
    layout = Layout.of([3] * 25, [(0, 24), *edges])
    table = 0.1 * rng.normal(size=9)
    n = layout.n_unary
    after = Potentials(layout, np.concatenate([before.weights[:n], table, before.weights[n:]]))
    cold = LoopyBP().infer(after)
    warm = LoopyBP().infer(after, warm=LoopyBP().infer(before))
    assert warm.sweeps < cold.sweeps
    np.testing.assert_allclose(warm.values, cold.values, atol=1e-8)
    again = LoopyBP().infer(after, warm=cold)
    assert again.sweeps == 1
    fewer = LoopyBP().infer(before, warm=cold)
    np.testing.assert_allclose(fewer.values, LoopyBP().infer(before).values, atol=1e-8)


def test_warm_beliefs_that_do_not_fit_are_ignored(rng):
    potentials = random_potentials(rng, *GRAPHS["cycle"])
    other = LoopyBP().infer(random_potentials(rng, *GRAPHS["grid"]))
    exact = JunctionTree().infer(potentials)
    expected = LoopyBP().infer(potentials).values
    for warm in (other, exact):
        np.testing.assert_array_equal(LoopyBP().infer(potentials, warm).values, expected)


def test_a_forest_takes_one_sweep_whatever_the_warm_start(rng):
    potentials = random_potentials(rng, *GRAPHS["tree"], 5.0)
    warm = LoopyBP().infer(random_potentials(rng, *GRAPHS["tree"], 5.0))
    beliefs = LoopyBP().infer(potentials, warm)
    assert beliefs.sweeps == 1
    np.testing.assert_allclose(beliefs.values, LoopyBP().infer(potentials).values, atol=1e-12)


def test_the_path_rule_does_not_depend_on_the_batch(rng):
    potentials = random_potentials(rng, *GRAPHS["grid"])
    engine = LoopyBP()
    beliefs = engine.infer(potentials)
    pairs = np.array(complete(12))
    flat, _ = engine.pair_marginals(potentials, beliefs, pairs)
    for pair, table in zip(pairs, unflatten(flat, potentials.layout, pairs), strict=True):
        alone, _ = engine.pair_marginals(potentials, beliefs, pair[None, ::-1])
        np.testing.assert_array_equal(alone, table.T.ravel())


def test_a_long_chain_is_linear_and_exact(rng):
    n = 50_000
    potentials = random_potentials(rng, [3] * n, [(k, k + 1) for k in range(n - 1)], 2.0)
    beliefs = LoopyBP().infer(potentials)
    assert beliefs.exact
    # Transfer matrices, scaled as they go.
    layout, log_partition = potentials.layout, 0.0
    vector = layout.unary(potentials.weights, 0).copy()
    for e in range(n - 1):
        table = vector[:, None] + layout.table(potentials.weights, e)
        vector = np.log(np.exp(table - table.max()).sum(axis=0)) + table.max()
        vector += layout.unary(potentials.weights, e + 1)
        log_partition += vector.max()
        vector -= vector.max()
    log_partition += np.log(np.exp(vector).sum())
    assert beliefs.log_partition == pytest.approx(log_partition, rel=1e-11)


def test_strong_tables_that_underflow_products():
    layout = Layout.of([2, 2, 2], [(0, 1), (1, 2)])
    weights = layout.zeros()
    layout.table(weights, 0)[:] = [[900.0, -900.0], [-900.0, 0.0]]
    layout.table(weights, 1)[:] = [[-900.0, 900.0], [-900.0, -900.0]]
    layout.unary(weights, 0)[:] = [-1000.0, 1000.0]
    potentials = Potentials(layout, weights)
    truth = enumerate_states(potentials)
    for engine in (LoopyBP(), JunctionTree()):
        beliefs = engine.infer(potentials)
        assert beliefs.log_partition == pytest.approx(truth.log_partition, abs=1e-9)
        np.testing.assert_allclose(beliefs.unary(1), truth.marginal(1), atol=1e-12)
