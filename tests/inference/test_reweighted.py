"""Tree-reweighted belief propagation: never below log Z, and its own gradient."""

from __future__ import annotations

import numpy as np
import pytest

from graftwork.inference import JunctionTree, Layout, LoopyBP, Potentials, TreeReweighted

from doors.inference import attempt, ready, spanning_forests, upper_bound, warm_messages, wire
from support.brute import FORESTS, GRAPHS, complete, enumerate_states, grid, random_potentials

LOOPS = [name for name in GRAPHS if name not in FORESTS]


def assert_not_below(bound, exact):
    assert bound >= exact - 1e-12 * max(1.0, abs(exact))


def reweighted_twin(potentials, sweeps=3000):
    """Parallel reweighted sum-product in plain NumPy, and the free energy of its beliefs."""
    layout, weights = potentials.layout, potentials.weights
    rho = spanning_forests(layout).shares
    n, m = layout.n_variables, layout.n_edges
    into = {(e, k): np.zeros(layout.cards[layout.edges[e, k]]) for e in range(m) for k in (0, 1)}

    def field(i):
        total = layout.unary(weights, i).copy()
        for e, k in into:
            if layout.edges[e, k] == i:
                total += rho[e] * into[e, k]
        return total

    for _ in range(sweeps):
        fresh = {}
        for e in range(m):
            i, j = layout.edges[e]
            table = layout.table(weights, e) / rho[e]
            left, right = field(i) - into[e, 0], field(j) - into[e, 1]
            fresh[e, 1] = np.log(np.exp(left[:, None] + table).sum(axis=0))
            fresh[e, 0] = np.log(np.exp(right[None, :] + table).sum(axis=1))
        change = max(np.abs(v - v.max() - into[slot]).max() for slot, v in fresh.items())
        into = {slot: 0.5 * into[slot] + 0.5 * (v - v.max()) for slot, v in fresh.items()}
        if change < 1e-12:
            break
    values, energy = layout.zeros(), 0.0
    for i in range(n):
        b = np.exp(field(i) - field(i).max())
        b /= b.sum()
        layout.unary(values, i)[:] = b
        energy += b @ layout.unary(weights, i) - b @ np.log(b)
    for e, (i, j) in enumerate(layout.edges):
        left, right = field(i) - into[e, 0], field(j) - into[e, 1]
        b = np.exp(left[:, None] + right[None, :] + layout.table(weights, e) / rho[e])
        b /= b.sum()
        layout.table(values, e)[:] = b
        apart = np.outer(layout.unary(values, i), layout.unary(values, j))
        energy += (b * (layout.table(weights, e) - rho[e] * np.log(b / apart))).sum()
    return values, energy


@pytest.mark.parametrize("name", ["cycle", "two components", "grid", "complete", "wheel", "tree"])
def test_fixed_point_and_value_equal_a_plain_twin(name, rng):
    potentials = random_potentials(rng, *GRAPHS[name], 0.4)
    beliefs = TreeReweighted().infer(potentials)
    assert beliefs.converged
    values, energy = reweighted_twin(potentials)
    np.testing.assert_allclose(beliefs.values, values, atol=1e-7)
    assert beliefs.log_partition == pytest.approx(energy, abs=1e-7)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("scale", [0.0, 0.1, 1.0, 5.0, 100.0])
def test_never_below_log_z(name, scale, rng):
    potentials = random_potentials(rng, *GRAPHS[name], scale)
    exact = enumerate_states(potentials).log_partition
    for sweeps in (0, 1, 2, 7, 500):
        beliefs = TreeReweighted(max_sweeps=sweeps).infer(potentials)
        assert_not_below(beliefs.log_partition, exact)
        assert beliefs.exact == (name in FORESTS)
        if beliefs.exact:
            assert beliefs.log_partition == pytest.approx(exact, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("seed", range(60))
def test_never_below_log_z_on_random_networks(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 13))
    density = rng.random()
    edges = [pair for pair in complete(n) if rng.random() < density]
    scale = rng.choice([0.1, 1.0, 3.0, 10.0, 100.0])
    cards = rng.integers(1, 5, size=n)
    if n > 9:
        cards = np.minimum(cards, 2)
    potentials = random_potentials(rng, cards, edges, scale)
    exact = JunctionTree().infer(potentials).log_partition
    for sweeps in (0, 1, 3, 20, 200):
        for damping in (0.0, 0.8):
            engine = TreeReweighted(max_sweeps=sweeps, damping=damping)
            assert_not_below(engine.infer(potentials).log_partition, exact)


@pytest.mark.parametrize("seed", range(20))
def test_never_below_log_z_at_any_messages(seed):
    rng = np.random.default_rng(seed)
    potentials = random_potentials(rng, *GRAPHS[LOOPS[seed % len(LOOPS)]], rng.choice([0.5, 5.0]))
    layout, exact = potentials.layout, enumerate_states(potentials).log_partition
    forests = spanning_forests(layout)
    tables = ready(potentials, forests.shares, forests.slot_shares)
    best = TreeReweighted(max_sweeps=2000).infer(potentials).log_partition
    for scale in (0.1, 1.0, 10.0):
        messages = scale * rng.normal(size=wire(layout).message_offsets[-1])
        bound = upper_bound(layout, tables, forests, messages)
        assert_not_below(bound, exact)
        # The fixed point is the best split of all.
        assert bound >= best - 1e-6


@pytest.mark.parametrize("seed", range(30))
def test_hard_zeros_with_loops(seed):
    rng = np.random.default_rng(seed)
    potentials = random_potentials(rng, *GRAPHS[LOOPS[seed % len(LOOPS)]], 2.0)
    layout = potentials.layout
    zero = rng.random(layout.size) < 0.3
    zero[layout.unary_offsets[:-1]] = False
    zero[layout.edge_offsets[:-1]] = False
    potentials.weights[zero] = -np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = enumerate_states(potentials)
    for sweeps in (1, 3, 500):
        beliefs = TreeReweighted(max_sweeps=sweeps).infer(potentials)
        assert_not_below(beliefs.log_partition, exact.log_partition)
        assert np.isfinite(beliefs.values).all()
        assert np.isfinite(beliefs.log_partition)


def test_a_loop_without_mass():
    layout = Layout.of([2, 2, 2], [(0, 1), (1, 2), (0, 2)])
    weights = layout.zeros()
    layout.table(weights, 0)[:] = [[0, -np.inf], [0, -np.inf]]
    layout.table(weights, 1)[:] = [[-np.inf, -np.inf], [0, 0]]
    beliefs = TreeReweighted().infer(Potentials(layout, weights))
    assert beliefs.log_partition == -np.inf
    assert not beliefs.values.any()


@pytest.mark.parametrize("name", ["cycle", "two components", "wheel", "complete", "tree"])
@pytest.mark.parametrize("scale", [0.3, 1.5])
def test_beliefs_are_the_gradient_of_the_bound(name, scale, rng):
    potentials = random_potentials(rng, *GRAPHS[name], scale)
    engine = TreeReweighted(tol=1e-12, max_sweeps=5000)
    beliefs = engine.infer(potentials)
    assert beliefs.converged
    step = 1e-5
    for k in rng.choice(potentials.layout.size, size=25, replace=False):
        ends = []
        for sign in (1.0, -1.0):
            weights = potentials.weights.copy()
            weights[k] += sign * step
            ends.append(engine.infer(Potentials(potentials.layout, weights)).log_partition)
        slope = (ends[0] - ends[1]) / (2 * step)
        assert beliefs.values[k] == pytest.approx(slope, abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_convex_in_the_potentials(seed):
    rng = np.random.default_rng(seed)
    ends = [random_potentials(rng, *GRAPHS["wheel"], 3.0) for _ in range(2)]
    layout = ends[0].layout
    engine = TreeReweighted(max_sweeps=5000)
    middle = engine.infer(Potentials(layout, 0.5 * (ends[0].weights + ends[1].weights)))
    bounds = [engine.infer(Potentials(layout, end.weights)).log_partition for end in ends]
    assert middle.log_partition <= np.mean(bounds) + 1e-6


def test_a_warm_start_needs_fewer_sweeps(rng):
    before = random_potentials(rng, [3] * 25, grid(5, 5), 0.5)
    after = Potentials(before.layout, before.weights + 0.01 * rng.normal(size=before.layout.size))
    cold = TreeReweighted().infer(after)
    warm = TreeReweighted().infer(after, warm=TreeReweighted().infer(before))
    assert warm.sweeps < cold.sweeps
    np.testing.assert_allclose(warm.values, cold.values, atol=1e-8)
    assert TreeReweighted().infer(after, warm=cold).sweeps == 1
    more = Layout.of([3] * 25, [*grid(5, 5), (0, 24)])
    grown = Potentials(more, np.concatenate([after.weights, np.zeros(9)]))
    start = warm_messages(more, wire(more), cold)
    assert np.array_equal(start[: len(cold.messages)], cold.messages)
    found = TreeReweighted().infer(grown, warm=cold)
    np.testing.assert_allclose(found.values, TreeReweighted().infer(grown).values, atol=1e-8)
    # Another engine's messages are as good a start as any.
    mixed = TreeReweighted().infer(after, warm=LoopyBP().infer(after))
    np.testing.assert_allclose(mixed.values, cold.values, atol=1e-8)


def test_failure_to_converge_is_reported_and_damping_is_tried(rng):
    frustrated = random_potentials(rng, [2] * 10, complete(10), 6.0)
    beliefs = TreeReweighted(max_sweeps=20).infer(frustrated)
    assert not beliefs.converged
    assert beliefs.residual > 1e-9
    assert beliefs.sweeps == 40
    assert np.isfinite(beliefs.values).all()
    assert TreeReweighted(max_sweeps=20, damping=0.2).infer(frustrated).sweeps == 20


@pytest.mark.parametrize("seed", [7, 39, 41])
def test_damping_rescues_an_oscillation(seed):
    rng = np.random.default_rng(seed)
    layout = Layout.of([2] * 10, [(i, j) for i in range(5) for j in range(5, 10)])
    weights = layout.zeros()
    for e in range(layout.n_edges):
        layout.table(weights, e)[:] = 6.0 * rng.choice([-1, 1]) * np.array([[1, -1], [-1, 1]])
    weights[: layout.n_unary : 2] = 0.3 * rng.normal(size=10)
    potentials, forests = Potentials(layout, weights), spanning_forests(layout)
    tables = ready(potentials, forests.shares, forests.slot_shares)
    start = np.zeros(wire(layout).message_offsets[-1])
    assert attempt(layout, tables, start, 500, 1e-9, 0.0).residual > 0.01
    beliefs = TreeReweighted().infer(potentials)
    assert beliefs.converged
    assert_not_below(beliefs.log_partition, enumerate_states(potentials).log_partition)
