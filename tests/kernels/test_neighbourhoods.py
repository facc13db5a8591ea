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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [1.0, 300.0], ids=["products", "logarithms"])
def test_sums_are_those_of_all_rows(size, weighted):
    """Squares, too, which are a metric for solvers: no loss and no gradient would show them."""
    problem = Problem(size, weighted)
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
