"""Conditionals by configurations, against dense matrices over all rows."""

import numpy as np
import pytest

from doors.inference import Layout
from doors.kernels import neighbourhoods as kernel

# Variable 1 has neighbours 0 and 2 in one group, and 3 in another; 0 has one code for missing
# cells (their average), 2 as many as states (drawn ones).
CARDS, EXTENDED = np.array([2, 5, 3, 4]), np.array([3, 5, 6, 4])
LAYOUT = Layout.of(CARDS, [(0, 1), (1, 2), (1, 3)])
NODE, OTHERS, SIDES = 1, (0, 2, 3), (1, 0, 0)
OWN = slice(LAYOUT.unary_offsets[NODE], LAYOUT.unary_offsets[NODE + 1])
ROWS = 600
LANES = (0,) * 4


@pytest.fixture(params=[1.0, 300.0], ids=["products", "logarithms"])
def problem(request):
    return Problem(request.param)


class Problem:
    """One variable with its neighbours: what the kernels take, and dense matrices."""

    def __init__(self, size, weighted=True):
        rng = np.random.default_rng(0)
        self.codes = rng.integers(0, EXTENDED[:, None], (4, ROWS))
        self.masses = rng.random(ROWS) * (rng.random(ROWS) < 0.9) if weighted else np.zeros(0)
        self.frequencies = np.concatenate([rng.dirichlet(np.ones(s)) for s in CARDS])
        self.weights = size * rng.normal(size=LAYOUT.size)
        self.tables = self.weights[LAYOUT.n_unary :]
        # codes counted, start, own stride, other's stride, end, states, frequencies' start
        starts, unary = LAYOUT.edge_offsets - LAYOUT.n_unary, LAYOUT.unary_offsets
        self.halves = np.array([
            [3, starts[0], 1, 5, 1, 2, unary[0]],
            [6, starts[1], 3, 1, 0, 3, unary[2]],
            [4, starts[2], 4, 1, 0, 4, unary[3]],
        ])  # fmt: skip
        self.groups = np.array([[0, 2, 18, 0], [2, 3, 4, ROWS]])
        self.spans = np.zeros((4, 4), dtype=np.int64)
        self.spans[NODE] = 0, 2, ROWS, 0 if weighted else -1
        joint = self.codes[0] * 6 + self.codes[2]
        self.arena = np.concatenate([joint, self.codes[3]]).astype(np.uint16)
        self.mass = self.masses if weighted else np.ones(ROWS)

    def arguments(self):
        unary = self.weights[: LAYOUT.n_unary]
        return (
            CARDS, unary, LAYOUT.unary_offsets, self.tables, self.frequencies, self.halves,
            self.groups, self.spans, self.arena,
        )  # fmt: skip

    def seen(self, j):
        """What each row's code of a neighbour counts as, shape (rows, states)."""
        states = np.eye(CARDS[j])
        average = LAYOUT.unary(self.frequencies, j)[None]
        more = {0: average, 2: states}.get(j, states[:0])
        return np.vstack([states, more])[self.codes[j]]

    def table(self, e, vector=None):
        """A table with the variable's own states first."""
        found = LAYOUT.table(self.weights if vector is None else vector, e)
        return found.T if SIDES[e] else found

    def logits(self):
        own = np.tile(LAYOUT.unary(self.weights, NODE), (ROWS, 1))
        return own + sum(self.seen(j) @ self.table(e).T for e, j in enumerate(OTHERS))

    def conditionals(self):
        logits = self.logits()
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)


def test_sums_are_those_of_all_rows(problem):
    logs, states, squares = np.zeros(4), np.zeros(LAYOUT.n_unary), np.zeros(LAYOUT.n_unary)
    pairs = np.full((2, len(problem.tables)), np.nan)
    kernel.sum_conditionals(
        LANES, np.array([NODE]), *problem.arguments(), problem.masses, logs, states, squares, pairs
    )
    logits, p, mass = problem.logits(), problem.conditionals(), problem.mass
    top = logits.max(axis=1)
    wanted = mass @ (top + np.log(np.exp(logits - top[:, None]).sum(axis=1)))
    assert np.isclose(logs[NODE], wanted, rtol=1e-12)
    assert np.allclose(states[OWN], mass @ p, rtol=1e-11, atol=1e-12)
    assert np.allclose(squares[OWN], mass @ p**2, rtol=1e-11, atol=1e-12)
    for e, (j, side) in enumerate(zip(OTHERS, SIDES, strict=True)):
        vector = np.concatenate([np.zeros(LAYOUT.n_unary), pairs[side]])
        wanted = (mass[:, None] * p).T @ problem.seen(j)
        assert np.allclose(problem.table(e, vector), wanted, atol=1e-11)


def test_rows_without_masses_count_once():
    problem = Problem(1.0, weighted=False)
    logs, states, squares = np.zeros(4), np.zeros(LAYOUT.n_unary), np.zeros(LAYOUT.n_unary)
    kernel.sum_conditionals(
        LANES, np.array([NODE]), *problem.arguments(), problem.masses, logs, states, squares,
        np.zeros((2, len(problem.tables))),
    )  # fmt: skip
    assert np.isclose(logs[NODE], np.log(np.exp(problem.logits()).sum(axis=1)).sum(), rtol=1e-12)
    assert np.allclose(states[OWN], problem.conditionals().sum(axis=0), rtol=1e-12)


def test_conditionals_are_filled_in_from_any_row_on(problem):
    out = np.empty(400 * 8)
    kernel.fill_conditionals(LANES, NODE, *problem.arguments(), 150, out)
    found = out.reshape(400, 8)
    assert np.allclose(found[:, :5], problem.conditionals()[150:550], atol=1e-13)
    assert not found[:, 5:].any()


def test_changes_of_tables_are_averaged_under_the_conditionals():
    problem = Problem(1.0)
    changes = np.random.default_rng(1).normal(size=(2, len(problem.tables)))
    out = np.full(3, np.nan)
    kernel.sum_over_edges(
        LANES, np.array([NODE]), *problem.arguments(), problem.masses, changes, out
    )
    p, nothing = problem.conditionals(), np.zeros(LAYOUT.n_unary)
    for e, (j, side) in enumerate(zip(OTHERS, SIDES, strict=True)):
        vector = np.concatenate([nothing, changes[side]])
        c = problem.seen(j) @ problem.table(e, vector).T
        values = np.log((p * np.exp(-c)).sum(axis=1))
        assert np.isclose(out[e], problem.mass @ values, rtol=1e-11)


def test_keys_are_made_counted_and_numbered():
    rng = np.random.default_rng(2)
    codes = np.stack([rng.integers(0, 3, 50), rng.integers(0, 4, 50)]).astype(np.uint8)
    cards, whole = np.array([3, 4]), codes[0].astype(np.int64) * 4 + codes[1]
    keys = np.empty(30, dtype=np.int64)
    kernel.find_keys(codes, np.array([0, 1]), cards, 20, keys)
    assert keys.tolist() == whole[20:].tolist()
    ids = codes[0].astype(np.int32)
    kernel.extend_keys(ids, codes[1], 4)
    assert ids.tolist() == whole.tolist()
    for weights in (np.zeros(0), rng.random(50)):
        counts = np.zeros(12)
        kernel.count_keys(ids, weights, counts)
        assert np.allclose(counts, np.bincount(whole, weights if weights.size else None, 12))
    kernel.renumber(ids, np.arange(12, dtype=np.int32)[::-1].copy())
    assert ids.tolist() == (11 - whole).tolist()


@pytest.mark.parametrize("weighted", [False, True])
def test_conditionals_are_compared_row_by_row(weighted):
    rng, none = np.random.default_rng(3), np.zeros(0, np.int32)
    now, before = rng.random((7, 4)), rng.random((30, 4))
    ids = rng.integers(0, 7, 30).astype(np.int32)
    masses = rng.random(30) if weighted else np.zeros(0)
    found = kernel.squared_distance(
        LANES, 4, now.ravel(), ids, before.ravel(), none, masses, 30
    )  # fmt: skip
    squares = ((now[ids] - before) ** 2).sum(axis=1)
    assert np.isclose(found, (masses if weighted else np.ones(30)) @ squares, rtol=1e-12)


def test_codes_count_as_states():
    assert [kernel.states_of_code(c, 3, 3) for c in range(3)] == [(0, 1), (1, 2), (2, 3)]
    assert kernel.states_of_code(3, 3, 4) == (0, 3)
    assert [kernel.states_of_code(c, 3, 6) for c in (3, 5)] == [(0, 1), (2, 3)]
