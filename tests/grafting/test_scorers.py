"""What makes one violator better: each number against scipy or scikit-learn, on real losses."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from sklearn.metrics import mutual_info_score

from graftwork.grafting import (
    CellSpace,
    Exhaustive,
    Gain,
    MutualInformation,
    NetworkFamily,
    PairSpace,
    View,
    Violation,
)
from graftwork.inference import JunctionTree, Layout, Potentials
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.penalties import L1, GroupL1

from doors.data import prepare
from doors.objectives import independent_potentials
from support.problems import dense_likelihood, dense_pseudo, random_table

N = 5
EDGES = [(0, 1), (1, 3), (0, 3)]
LOSSES = {
    "likelihood": lambda sample: Likelihood(sample, JunctionTree()),
    "pseudo": lambda sample: PseudoLikelihood(sample, 1),
}
SEEDS = [3, 4]


class Setting:
    """A loss at one network, and the gains by scipy of what could be added to it."""

    def __init__(self, loss, seed, edges, penalty):
        self.loss, self.penalty = loss, penalty
        self.table = random_table(seed, n=N, rows=150, most=3)
        self.sample = prepare(self.table)
        layout = Layout.of(self.sample.cards, edges)
        rng = np.random.default_rng(seed)
        self.potentials = (
            Potentials(layout, rng.normal(0, 0.7, layout.size))
            if len(edges)
            else independent_potentials(self.sample)
        )
        self.point = LOSSES[loss](self.sample).at(self.potentials)
        self.edges = layout.edges
        states = np.stack(np.meshgrid(*map(np.arange, layout.cards), indexing="ij"), -1)
        self.joint = states.reshape(-1, N).T  # all joint states
        self.log_p = self.logits(0, self.joint)[self.joint[0], np.arange(self.joint.shape[1])]
        self.log_p -= np.log(np.exp(self.log_p).sum())

    def logits(self, i, codes):
        """The log-potential of every state of one variable, given the others, in each column."""
        layout, weights = self.potentials.layout, self.potentials.weights
        columns = np.arange(codes.shape[1])
        out = np.zeros((layout.cards[i], len(columns)))
        for state in range(layout.cards[i]):
            x = codes.copy()
            x[i] = state
            for v in range(N):
                out[state] += layout.unary(weights, v)[x[v]]
            for e, (a, b) in enumerate(layout.edges):
                out[state] += layout.table(weights, e)[x[a], x[b]]
        return out

    def view(self, score=None, threshold=0.0, active=()):
        active = np.array(active, dtype=np.int64)
        return View(
            score, self.penalty.lam, threshold, active, np.zeros(N, np.int64), 10**9,
            lambda: False, self.point, self.penalty, NetworkFamily(self.sample),
        )  # fmt: skip

    def keys(self, space):
        pairs = space.pairs(np.arange(space.size)).tolist()
        return np.array([k for k, pair in enumerate(pairs) if pair not in self.edges.tolist()])

    def change(self, pair):
        """A function of one more table: what the loss changes by, and the gradient."""
        i, j = pair
        shape = tuple(self.sample.cards[[i, j]])
        (x, y), rows = self.table.codes[[i, j]].astype(int), self.table.n_rows
        data = np.bincount(x * shape[1] + y, minlength=shape[0] * shape[1]) / rows
        cells = self.joint[i] * shape[1] + self.joint[j]
        base = [self.logits(v, self.table.codes.astype(int)) for v in (i, j)]

        def likelihood(w):
            raised = self.log_p + w[cells]
            log_z = np.log(np.exp(raised).sum())
            return log_z - w @ data, np.bincount(cells, np.exp(raised - log_z)) - data

        def pseudo(w):
            table = w.reshape(shape)
            value, slope = -2 * w @ data, -2 * data.reshape(shape)
            for logits, seen in ((base[0], table[:, y]), (base[1], table[x].T)):
                after = np.log(np.exp(logits + seen).sum(axis=0))
                value += np.mean(after - np.log(np.exp(logits).sum(axis=0)))
                p = np.exp(logits + seen - after) / rows
                onto = np.eye(shape[1])[y] if logits is base[0] else np.eye(shape[0])[x]
                slope = slope + (p @ onto if logits is base[0] else (p @ onto).T)
            return value, slope.ravel()

        return likelihood if self.loss == "likelihood" else pseudo

    def best_cell(self, pair, cell):
        size, change = int(np.prod(self.sample.cards[list(pair)])), self.change(pair)

        def objective(a):
            weights = np.where(np.arange(size) == cell, a, 0.0)
            extra = self.penalty.lam * abs(a) + self.penalty.l2 * a * a
            return change(weights)[0] + extra

        ends = [
            minimize_scalar(objective, bounds=side, method="bounded", options={"xatol": 1e-10}).fun
            for side in ((-15, 0), (0, 15))
        ]
        return max(0.0, -min(ends))

    def best_table(self, pair):
        size, lam = int(np.prod(self.sample.cards[list(pair)])), self.penalty.lam
        options = {"maxiter": 20000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 30}
        change = self.change(pair)

        def smooth(w):
            value, slope = change(w)
            return value + self.penalty.l2 * w @ w, slope + 2 * self.penalty.l2 * w

        if self.penalty.separable:

            def split(both):
                value, slope = smooth(both[:size] - both[size:])
                return value + lam * both.sum(), np.concatenate([slope, -slope]) + lam

            start, bounds = np.zeros(2 * size), [(0, None)] * (2 * size)
            return -minimize(
                split, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
            ).fun
        weights, toll = np.zeros(size), lam * np.sqrt(size)
        for eps in (1e-1, 1e-3, 1e-5, 1e-7):

            def rounded(w, eps=eps):
                value, slope = smooth(w)
                norm = np.sqrt(w @ w + eps * eps)
                return value + toll * norm, slope + toll * w / norm

            weights = minimize(rounded, weights, jac=True, method="L-BFGS-B", options=options).x
        return max(0.0, -(smooth(weights)[0] + toll * np.linalg.norm(weights)))


@pytest.mark.parametrize(
    ("loss", "dense"), [("likelihood", dense_likelihood), ("pseudo", dense_pseudo)]
)
def test_the_change_written_here_is_that_of_the_dense_loss(loss, dense):
    """So that what the gains are compared with is itself checked."""
    setting = Setting(loss, 3, EDGES, L1(0.0))
    pair, edges = [2, 4], np.array(EDGES)
    size = int(np.prod(setting.sample.cards[pair]))
    added = np.random.default_rng(0).normal(0, 1, size)
    values = [
        dense(
            setting.table, np.concatenate([setting.potentials.weights, w]), np.array([*edges, pair])
        )
        for w in (added, np.zeros(size))
    ]
    value, slope = setting.change(pair)(added)
    assert np.isclose(value, values[0][0] - values[1][0], rtol=1e-10)
    assert np.allclose(slope, values[0][1][-size:], atol=1e-12)


def gains_of_cells(setting):
    """Gains by the scorer and by scipy, of some cells in a random order."""
    space = CellSpace(np.arange(N), setting.sample.cards)
    keys = np.random.default_rng(0).permutation(setting.keys(space))[:30]
    gains = Gain().rank(space, setting.view(), keys, np.zeros(len(keys)))
    pairs, cells = space.pairs(keys).tolist(), space.cells(keys)
    best = [setting.best_cell(pair, cell) for pair, cell in zip(pairs, cells, strict=True)]
    return gains, np.array(best)


def gains_of_tables(setting):
    space = PairSpace(np.arange(N))
    keys = np.random.default_rng(0).permutation(setting.keys(space))[:5]
    gains = Gain().rank(space, setting.view(), keys, np.zeros(len(keys)))
    return gains, np.array([setting.best_table(pair) for pair in space.pairs(keys).tolist()])


EXACT = [("likelihood", EDGES), ("pseudo", [])]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize(("loss", "edges"), EXACT, ids=["likelihood", "empty pseudo"])
def test_the_gain_of_a_cell_is_what_optimising_it_alone_brings(loss, edges, l2, seed):
    gains, best = gains_of_cells(Setting(loss, seed, edges, L1(0.02, l2)))
    assert (best > 1e-3).sum() > 10
    assert np.allclose(gains, best, rtol=1e-6, atol=1e-11)


@pytest.mark.parametrize("penalty", [GroupL1(0.01), GroupL1(0.01, 0.05), L1(0.01), L1(0.01, 0.05)])
@pytest.mark.parametrize(("loss", "edges"), EXACT, ids=["likelihood", "empty pseudo"])
def test_the_gain_of_a_table_is_what_optimising_it_alone_brings(loss, edges, penalty):
    gains, best = gains_of_tables(Setting(loss, SEEDS[0], edges, penalty))
    assert (best > 1e-3).sum() >= 3
    assert np.allclose(gains, best, rtol=1e-6, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_gains_under_the_pseudo_likelihood_are_lower_bounds(l2, seed):
    """Jensen: conditionals that differ from row to row leave more to gain than their mean."""
    for penalty, both in ((L1(0.02, l2), gains_of_cells), (GroupL1(0.01, l2), gains_of_tables)):
        gains, best = both(Setting("pseudo", seed, EDGES, penalty))
        assert (gains <= best + 1e-9).all()
        assert (gains[best > 1e-3] > 0).mean() > 0.9  # and bounds that say something
        assert (best > 1e-3).any()


def test_the_scale_of_a_table_counts_declared_states():
    """A declared state that never occurs makes the table's toll larger, and its gain smaller."""
    table = random_table(3, n=N, rows=150, most=3)
    setting = Setting("likelihood", 3, EDGES, GroupL1(0.02))
    declared = [(*states, 99) for states in table.states]
    more = prepare(type(table)(table.names, tuple(declared), table.codes))
    space = PairSpace(np.arange(N))
    keys = setting.keys(space)
    view = setting.view()
    gains = [
        Gain().rank(
            space,
            View(
                None, 0.02, 0.0, view.active, view.degrees, 1, view.halted,
                Likelihood(sample, JunctionTree()).at(setting.potentials), setting.penalty,
                NetworkFamily(sample),
            ),
            keys,
            np.zeros(len(keys)),
        )
        for sample in (setting.sample, more)
    ]  # fmt: skip
    assert (gains[1] < gains[0]).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_mutual_information_is_scikit_learns(seed):
    setting = Setting("pseudo", seed, EDGES, GroupL1(0.01))
    space = PairSpace(np.arange(N))
    keys = np.random.default_rng(1).permutation(space.size)
    codes = setting.table.codes
    expected = [mutual_info_score(codes[i], codes[j]) for i, j in space.pairs(keys).tolist()]
    found = MutualInformation().rank(space, setting.view(), keys, np.zeros(len(keys)))
    assert np.allclose(found, expected, atol=1e-12)
    cells = CellSpace(np.arange(N), setting.sample.cards)
    some = np.random.default_rng(2).permutation(cells.size)
    of_cells = MutualInformation().rank(cells, setting.view(), some, np.zeros(len(some)))
    of_pairs = dict(zip(map(tuple, space.pairs(keys).tolist()), expected, strict=True))
    pairs = map(tuple, cells.pairs(some).tolist())
    assert np.allclose(of_cells, [of_pairs[pair] for pair in pairs], atol=1e-12)


def test_mutual_information_of_weighted_rows_is_that_of_repeated_rows():
    table = random_table(5, n=N, rows=80, most=3)
    weights = np.random.default_rng(0).integers(1, 4, 80)
    heavy = type(table)(table.names, table.states, table.codes, weights.astype(float))
    view = View(
        None, 0.0, 0.0, np.zeros(0, np.int64), np.zeros(N, np.int64), 1, None, None, None,
        NetworkFamily(prepare(heavy)),
    )  # fmt: skip
    space = PairSpace(np.arange(N))
    keys = np.arange(space.size)
    repeated = np.repeat(table.codes, weights, axis=1)
    expected = [mutual_info_score(repeated[i], repeated[j]) for i, j in space.pairs(keys).tolist()]
    found = MutualInformation().rank(space, view, keys, np.zeros(len(keys)))
    assert np.allclose(found, expected, atol=1e-12)


SCORERS = {"violation": Violation(), "gain": Gain(), "mutual-information": MutualInformation()}


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("kind", ["pairs", "cells"])
def test_the_search_takes_the_highest_ranked_of_the_violators_only(kind, scorer):
    setting = Setting("likelihood", 3, EDGES, L1(0.02))
    cards = setting.sample.cards
    space = PairSpace(np.arange(N)) if kind == "pairs" else CellSpace(np.arange(N), cards)
    idle = setting.keys(space)
    active = np.setdiff1d(np.arange(space.size), idle)
    scores = np.random.default_rng(6).uniform(0.5, 2, space.size)
    view = setting.view(lambda keys: scores[keys], 1.0, active)
    violators = idle[scores[idle] > 1.0]
    ranks = SCORERS[scorer].rank(space, view, violators, scores[violators])
    choice = Exhaustive(4, SCORERS[scorer]).begin(space, active, None).choose(view)
    taken = [int(np.flatnonzero(violators == key)[0]) for key in choice.keys]
    assert len(set(taken)) == 4
    assert set(choice.keys.tolist()) <= set(violators.tolist())
    order = [(ranks[t], scores[violators[t]]) for t in taken]
    assert all(before >= after for before, after in pairwise(order))  # equal ranks: by violation
    left = [
        (r, s)
        for k, (r, s) in enumerate(zip(ranks, scores[violators], strict=True))
        if k not in taken
    ]
    assert max(left) <= order[-1]
    assert choice.worst == scores[idle].max()
    assert choice.tested == len(idle)
    assert choice.complete
