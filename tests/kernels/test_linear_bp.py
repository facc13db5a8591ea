"""Messages as numbers, against enumeration on a tree and against logarithms on a cycle."""

import numpy as np
import pytest

from doors.inference import ready, wire
from doors.kernels import bp, linear_bp
from support.brute import GRAPHS, enumerate_states, random_potentials

FOUR = (0,) * 4
EIGHT = (0,) * 8


def boxes(potentials, sizes):
    """Fields, tables and messages that are all 1, as the kernels take them."""
    layout, tables, wiring = potentials.layout, ready(potentials), wire(potentials.layout)
    fields = np.zeros((layout.n_variables, len(sizes)))
    for i in range(layout.n_variables):
        fields[i, : layout.cards[i]] = np.exp(layout.unary(potentials.weights, i))
    padded = np.full((wiring.rows[-1], len(sizes)), np.nan)
    linear_bp.fill_tables(
        wiring.indptr, layout.cards, wiring.slots, tables.scaled, wiring.rows, padded
    )
    inbox, inverse = np.empty((2, len(wiring.reverse), len(sizes)))
    ones = np.ones(int(wiring.message_offsets[-1]))
    linear_bp.fill_boxes(sizes, wiring.indptr, layout.cards, wiring.slots, ones, inbox, inverse)
    return fields, padded, inbox, inverse


def propagate(potentials, sizes, sweeps, halved=False):
    layout, wiring = potentials.layout, wire(potentials.layout)
    fields, tables, inbox, inverse = boxes(potentials, sizes)
    done, change = linear_bp.propagate_linear(
        sizes, fields, layout.cards, wiring.indptr, wiring.neighbours, wiring.reverse, wiring.rows,
        tables, wiring.order, wiring.position, inbox, inverse, sweeps, 1e-12, halved,
    )  # fmt: skip
    return (fields, tables, inbox, inverse), done, change


def test_tables_lie_row_by_row_for_both_variables():
    potentials = random_potentials(np.random.default_rng(0), [3, 2], [(0, 1)])
    _, padded, inbox, inverse = boxes(potentials, FOUR)
    table = np.exp(potentials.layout.table(potentials.weights, 0))
    table /= table.max()
    assert np.allclose(padded[:3, :2], table)
    assert np.allclose(padded[3:, :3], table.T)
    assert not padded[:3, 2:].any()
    assert (inbox == 1).all()
    assert (inverse == 1).all()


@pytest.mark.parametrize("halved", [False, True])
def test_on_a_tree_beliefs_and_log_partition_are_exact(halved):
    potentials = random_potentials(np.random.default_rng(1), *GRAPHS["tree"])
    layout, wiring, twin = potentials.layout, wire(potentials.layout), enumerate_states(potentials)
    (fields, tables, inbox, inverse), _, change = propagate(potentials, EIGHT, 200, halved)
    assert 0 <= change <= 1e-12
    out = np.zeros(layout.size)
    log_z = linear_bp.read_linear(
        EIGHT, fields, layout.cards, layout.unary_offsets, wiring.indptr, wiring.slots,
        wiring.reverse, wiring.rows, tables, inbox, inverse, out,
    )  # fmt: skip
    assert np.isclose(log_z + ready(potentials).maxima.sum(), twin.log_partition, rtol=1e-12)
    for i in range(layout.n_variables):
        assert np.allclose(layout.unary(out, i), twin.marginal(i), atol=1e-11)
    for e, (i, j) in enumerate(layout.edges.tolist()):
        assert np.allclose(layout.table(out, e), twin.marginal(i, j), atol=1e-11)


def test_sweeps_on_a_cycle_are_those_in_logarithms():
    potentials = random_potentials(np.random.default_rng(2), *GRAPHS["cycle"], 0.5)
    layout, wiring, tables = potentials.layout, wire(potentials.layout), ready(potentials)
    (_, _, inbox, _), done, change = propagate(potentials, EIGHT, 3)
    logs, messages = np.zeros((2, int(wiring.message_offsets[-1])))
    twin = bp.propagate(
        tables.unary, layout.unary_offsets, wiring.indptr, wiring.slots, tables.rho,
        tables.shifted, tables.scaled, wiring.order, wiring.position, logs, 3, 1e-12, 0.0,
    )  # fmt: skip
    linear_bp.empty_boxes(wiring.indptr, layout.cards, wiring.slots, inbox, messages)
    assert np.allclose(np.log(messages), logs, atol=1e-12)
    assert done == twin[0]
    assert np.isclose(change, twin[1], rtol=1e-6)


def test_extreme_messages_are_refused():
    potentials = random_potentials(np.random.default_rng(3), [3, 3], [(0, 1)], 100.0)
    assert propagate(potentials, FOUR, 3)[2] == -1.0
