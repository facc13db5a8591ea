"""Messages and beliefs, against enumeration on trees."""

import numpy as np
import pytest

from doors.inference import ready, wire
from doors.kernels import bp as kernel
from support.brute import GRAPHS, enumerate_states, random_potentials


@pytest.fixture(params=["numbers", "hard zeros"])
def tree(request):
    rng = np.random.default_rng(0)
    potentials = random_potentials(rng, *GRAPHS["tree"])
    if request.param == "hard zeros":
        potentials.layout.unary(potentials.weights, 3)[1] = -np.inf
        potentials.layout.table(potentials.weights, 4)[0, 2] = -np.inf
    return potentials


def graph(potentials):
    """What all kernels take."""
    layout, tables = potentials.layout, ready(potentials)
    wiring = wire(layout)
    return (
        tables.unary, layout.unary_offsets, wiring.indptr, wiring.slots, tables.rho,
        tables.shifted, tables.scaled,
    )  # fmt: skip


def exact_messages(potentials):
    wiring = wire(potentials.layout)
    messages = np.zeros(int(wiring.message_offsets[-1]))
    arguments = *graph(potentials), wiring.order, wiring.position
    done, change = kernel.propagate(*arguments, messages, 5, 1e-12, 0.0)
    assert done == 2  # the first sweep is exact, the second changes nothing
    assert change <= 1e-12
    return messages


def test_a_breadth_first_order_goes_through_components():
    order, component = kernel.breadth_first(np.array([0, 1, 1, 3, 4]), np.array([2, 0, 3, 2]))
    assert order.tolist() == [0, 2, 3, 1]
    assert component.tolist() == [0, 1, 0, 0]


def test_on_a_tree_beliefs_and_log_partition_are_exact(tree):
    layout, twin = tree.layout, enumerate_states(tree)
    out = np.zeros(layout.size)
    messages = exact_messages(tree)
    log_z = kernel.read_beliefs(*graph(tree), wire(layout).reverse, messages, out)
    assert np.isclose(log_z + ready(tree).maxima.sum(), twin.log_partition, rtol=1e-12)
    for i in range(layout.n_variables):
        assert np.allclose(layout.unary(out, i), twin.marginal(i), atol=1e-13)
    for e, (i, j) in enumerate(layout.edges.tolist()):
        assert np.allclose(layout.table(out, e), twin.marginal(i, j), atol=1e-13)


def test_damped_messages_end_where_others_do(tree):
    wiring, messages = wire(tree.layout), exact_messages(tree)
    damped = np.zeros_like(messages)
    arguments = *graph(tree), wiring.order, wiring.position
    _, change = kernel.propagate(*arguments, damped, 200, 1e-12, 0.5)
    assert change <= 1e-12
    assert np.allclose(np.exp(damped), np.exp(messages), atol=1e-10)


def test_logs_of_beliefs_are_read_line_by_line(tree):
    layout, wiring = tree.layout, wire(tree.layout)
    unary, *rest = graph(tree)
    rng = np.random.default_rng(1)
    unaries = np.stack([unary, unary + rng.normal(size=len(unary))])
    codes = rng.integers(0, layout.cards[:, None], (layout.n_variables, 5))
    out, room = np.zeros(codes.shape), np.zeros((2, int(wiring.message_offsets[-1])))
    failures = kernel.log_beliefs_seen(
        unaries, np.array([0, 3, 5]), rest[0], codes, *rest[1:], wiring.order, wiring.position,
        room[0], room[1], 10, 1e-10, 0.5, out,
    )  # fmt: skip
    assert failures == 0
    for line, columns in ((0, range(3)), (1, range(3, 5))):
        weights = np.concatenate([unaries[line], tree.weights[layout.n_unary :]])
        twin = enumerate_states(type(tree)(layout, weights))
        for i in range(layout.n_variables):
            for r in columns:
                chance = twin.marginal(i)[codes[i, r]]
                assert np.isclose(np.exp(out[i, r]), chance, rtol=1e-9, atol=1e-15)


def test_paths_give_the_joint_tables_of_a_tree(tree):
    layout, wiring, twin = tree.layout, wire(tree.layout), enumerate_states(tree)
    beliefs = np.zeros(layout.size)
    kernel.read_beliefs(*graph(tree), wiring.reverse, exact_messages(tree), beliefs)
    pairs = [(6, 5), (6, 1), (0, 4)]  # sources and targets: the first source has two
    sizes = [int(layout.cards[i] * layout.cards[j]) for i, j in pairs]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    places = np.array([(starts[k], layout.cards[j], 1) for k, (_, j) in enumerate(pairs)])
    out = np.zeros(starts[-1])
    kernel.path_tables(
        beliefs, layout.unary_offsets, wiring.indptr, wiring.slots, np.array([6, 0]),
        np.array([5, 1, 4]), np.array([0, 2, 3]), places, out,
    )  # fmt: skip
    for k, (i, j) in enumerate(pairs):
        found = out[starts[k] : starts[k + 1]].reshape(layout.cards[i], layout.cards[j])
        assert np.allclose(found, twin.marginal(i, j), atol=1e-12)
