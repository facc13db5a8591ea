"""Elimination plans, against enumeration."""

import numpy as np
import pytest

from doors.inference import Potentials, compile_plan
from doors.kernels import junction as kernel
from support.brute import GRAPHS, enumerate_states, random_potentials


@pytest.fixture(params=["cycle", "wheel", "two components"])
def potentials(request):
    return random_potentials(np.random.default_rng(0), *GRAPHS[request.param])


def room(plan):
    return np.empty(plan.n_cells), np.empty(plan.widest), np.empty(plan.widest)


def arguments(plan, weights):
    return weights, plan.steps, plan.rows, plan.row_ptr, plan.maps


def test_sums_give_log_z_and_marginals(potentials):
    layout, plan = potentials.layout, compile_plan(potentials.layout)
    twin = enumerate_states(potentials)
    table, message, mass = room(plan)
    log_z = kernel.eliminate_sum(*arguments(plan, potentials.weights), table, message, mass)
    assert np.isclose(log_z, twin.log_partition, rtol=1e-12)
    out = np.zeros(layout.size)
    kernel.distribute(plan.steps, plan.rows, plan.row_ptr, plan.maps, table, mass, out)
    for i in range(layout.n_variables):
        assert np.allclose(layout.unary(out, i), twin.marginal(i), atol=1e-13)
    for e, (i, j) in enumerate(layout.edges.tolist()):
        assert np.allclose(layout.table(out, e), twin.marginal(i, j), atol=1e-13)


def test_joint_tables_of_any_two_variables(potentials):
    layout, plan = potentials.layout, compile_plan(potentials.layout)
    twin, n = enumerate_states(potentials), layout.n_variables
    table, message, mass = room(plan)
    kernel.eliminate_sum(*arguments(plan, potentials.weights), table, message, mass)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    sizes = [int(layout.cards[i] * layout.cards[j]) for i, j in pairs]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    places = np.array([(starts[k], layout.cards[j], 1) for k, (_, j) in enumerate(pairs)])
    out = np.zeros(starts[-1])
    kernel.joint_tables(
        plan.steps, plan.maps, table, plan.position[np.arange(n)],
        plan.position[np.array([j for _, j in pairs])], np.arange(n + 1) * (n - 1), places, out,
        *room(plan),
    )  # fmt: skip
    for k, (i, j) in enumerate(pairs):
        found = out[starts[k] : starts[k + 1]].reshape(layout.cards[i], layout.cards[j])
        assert np.allclose(found, twin.marginal(i, j), atol=1e-12)


def test_the_largest_weight_is_that_of_the_best_state(potentials):
    plan, twin = compile_plan(potentials.layout), enumerate_states(potentials)
    table, message, _ = room(plan)
    choice = np.empty(int(plan.steps[:, 2].sum()), np.int64)
    best = kernel.eliminate_max(*arguments(plan, potentials.weights), table, message, choice)
    assert np.isclose(best, twin.energy.max(), rtol=1e-12)


@pytest.mark.parametrize("size", [1.0, 400.0], ids=["products", "logarithms"])
def test_logs_of_marginals_are_read_line_by_line(potentials, size):
    rng, layout = np.random.default_rng(1), potentials.layout
    plan, n_unary = compile_plan(layout), layout.n_unary
    unaries = size * rng.normal(size=(2, n_unary))
    codes = rng.integers(0, layout.cards[:, None], (layout.n_variables, 5))
    weights, scaled = potentials.weights.copy(), np.empty(plan.n_cells)
    tables_alone = np.concatenate([np.zeros(n_unary), weights[n_unary:]])
    kernel.scale_tables(tables_alone, plan.steps, plan.rows, plan.row_ptr, scaled)
    table, message, mass = room(plan)
    out = np.zeros(codes.shape)
    kernel.log_marginals_seen(
        unaries, np.array([0, 2, 5]), layout.unary_offsets, codes, weights, scaled, plan.steps,
        plan.rows, plan.row_ptr, plan.maps, table, message, mass, np.empty(layout.size), out,
    )  # fmt: skip
    for line, columns in ((0, range(2)), (1, range(2, 5))):
        vector = np.concatenate([unaries[line], potentials.weights[n_unary:]])
        energy = enumerate_states(Potentials(layout, vector)).energy
        for i in range(layout.n_variables):
            for r in columns:
                seen = np.take(energy, codes[i, r], axis=i)
                wanted = np.logaddexp.reduce(seen.ravel()) - np.logaddexp.reduce(energy.ravel())
                assert np.isclose(out[i, r], wanted, rtol=1e-9, atol=1e-9)
