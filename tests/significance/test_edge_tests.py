"""Hessians, statistics and p-values against dense computations that share no code with them."""

import numpy as np
import pytest
from scipy.stats import chi2, false_discovery_control

from graftwork import MarkovNetwork
from graftwork.data import Table
from graftwork.grafting import Problem
from graftwork.objectives import PseudoLikelihood
from graftwork.penalties import GroupL1
from graftwork.selection import refit

from doors.data import prepare
from doors.grafting import with_pairs
from doors.inference import Potentials
from doors.objectives import (
    Contrasts,
    FittedRows,
    Parameters,
    all_states,
    basis_of,
    hessian,
    independent_potentials,
)
from doors.selection import unshrunk
from doors.significance import (
    Cut,
    EdgeTests,
    MomentTables,
    View,
    examine_absent,
    examine_pairs,
    frequent_states,
    log_q_values,
    log_tail,
    moved_variables,
)
from doors.solvers import newton
from support.problems import random_table, with_holes

EDGES = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])


def fitted(kind, threads=1, rows=150, seed=3):
    """A small refitted network over complete, weighted or incomplete rows."""
    drawn = np.random.default_rng(seed)
    weights = {"counts": drawn.integers(1, 4, rows), "sampling": drawn.gamma(1.0, 1.0, rows) + 0.1}
    table = random_table(seed, n=6, rows=rows, weights=weights.get(kind))
    if kind == "incomplete":
        table = with_holes(table, seed)
    sample = prepare(table, missing=kind == "incomplete")
    problem = Problem(PseudoLikelihood(sample, threads), GroupL1(1.0))
    start = with_pairs(independent_potentials(sample), EDGES)
    solution = refit(problem, start, 1e-9)
    return problem, sample, solution


class Dense:
    """Scores of every row and the Hessian, parameter by parameter, by plain formulas."""

    def __init__(self, sample, potentials, contrasts):
        layout, n = potentials.layout, len(sample.cards)
        self.weights = np.ones(sample.n_rows) if sample.weights is None else sample.weights
        self.spreads = self.weights if sample.squares is None else sample.squares
        self.layout, self.sample, self.bases = layout, sample, contrasts.bases
        soft = [sample.indicators(i)[sample.codes[i]] for i in range(n)]
        seen = [sample.observed(i).astype(float) for i in range(n)]
        logits = [
            np.tile(layout.unary(potentials.weights, i), (sample.n_rows, 1)) for i in range(n)
        ]
        for e, (i, j) in enumerate(layout.edges):
            table = layout.table(potentials.weights, e)
            logits[i] = logits[i] + soft[j] @ table.T
            logits[j] = logits[j] + soft[i] @ table
        self.p = [np.exp(x) / np.exp(x).sum(axis=1, keepdims=True) for x in logits]
        self.z = [s @ b for s, b in zip(soft, self.bases, strict=True)]
        self.r = [
            o[:, None] * ((s - p) @ b)
            for o, s, p, b in zip(seen, soft, self.p, self.bases, strict=True)
        ]
        self.s = [
            o[:, None, None] * (np.einsum("ma,ak,al->mkl", p, b, b) - _square(p @ b))
            for o, p, b in zip(seen, self.p, self.bases, strict=True)
        ]
        self.mean = [
            (p - np.average(s, axis=0, weights=self.weights * o)) @ b
            for p, s, o, b in zip(self.p, soft, seen, self.bases, strict=True)
        ]
        self.seen = seen

    def designs(self, k):
        """What each parameter adds to the contrasts of k's logit, shape (rows, k_k, parameters)."""
        layout, out = self.layout, []
        for i, basis in enumerate(self.bases):
            size = basis.shape[1]
            block = np.zeros((len(self.weights), self.bases[k].shape[1], size))
            if i == k:
                block[:] = np.eye(size)
            out.append(block)
        for i, j in layout.edges:
            shape = self.bases[i].shape[1], self.bases[j].shape[1]
            block = np.zeros((len(self.weights), self.bases[k].shape[1], *shape))
            for a in range(shape[0]):
                for b in range(shape[1]):
                    if k == i:
                        block[:, a, a, b] = self.z[j][:, b]
                    if k == j:
                        block[:, b, a, b] = self.z[i][:, a]
            out.append(block.reshape(len(self.weights), self.bases[k].shape[1], -1))
        return np.concatenate(out, axis=2)

    def hessian(self):
        total = 0.0
        for k in range(len(self.bases)):
            x = self.designs(k)
            total = total + np.einsum("m,mkp,mkl,mlq->pq", self.weights, x, self.s[k], x)
        return total

    def scores(self):
        return sum(np.einsum("mkp,mk->mp", self.designs(k), self.r[k]) for k in range(len(self.r)))


def _square(x):
    return x[:, :, None] * x[:, None, :]


@pytest.mark.parametrize("kind", ["complete", "counts", "sampling", "incomplete"])
def test_hessian_is_that_of_finite_differences(kind):
    problem, sample, solution = fitted(kind)
    potentials = solution.point.potentials
    parameters = Parameters.of(potentials.layout, all_states(sample))
    rows = FittedRows.of(solution.point, parameters.contrasts)
    curvature = hessian(rows, parameters)
    found = curvature.toarray() / sample.total_weight
    vector = np.random.default_rng(0).normal(size=parameters.size)
    assert np.allclose(curvature.multiplier()(vector), curvature.toarray() @ vector, rtol=1e-10)
    rng = np.random.default_rng(0)
    for _ in range(5):
        step = rng.normal(size=parameters.size)
        moved = [
            problem.objective.at(
                Potentials(potentials.layout, potentials.weights + h * parameters.write(step))
            ).gradient
            for h in (1e-5, -1e-5)
        ]
        slope = parameters.read(moved[0] - moved[1]) / 2e-5
        assert np.allclose(found @ step, slope, atol=1e-7)
    assert np.allclose(parameters.read(parameters.write(step)), step)


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("kind", ["complete", "counts", "sampling", "incomplete"])
def test_statistics_of_edges_equal_dense_ones(kind, pooled, monkeypatch):
    monkeypatch.setattr("graftwork.significance.tilted.ENOUGH", 0.0)  # few rows as there are
    _, sample, solution = fitted(kind)
    potentials, layout = solution.point.potentials, solution.point.potentials.layout
    contrasts = all_states(sample)
    if pooled:
        contrasts = Contrasts.of(tuple(np.minimum(g, 1) for g in contrasts.groups))
    dense = Dense(sample, potentials, contrasts)
    parameters = Parameters.of(layout, contrasts)
    curvature = dense.hessian()
    tables = parameters.starts[layout.n_variables]
    curvature[np.arange(tables, len(curvature)), np.arange(tables, len(curvature))] += 1.0
    scores = dense.scores()
    values = parameters.read(potentials.weights)
    found = EdgeTests.of(FittedRows.of(solution.point, contrasts)).findings(1000)
    ends = [{i} for i in range(layout.n_variables)] + [set(e) for e in layout.edges.tolist()]
    owner = np.repeat(np.arange(len(ends)), np.diff(parameters.starts))
    for e, (i, j) in enumerate(layout.edges.tolist()):
        near = np.flatnonzero([bool(ends[o] & {i, j}) for o in owner])
        own = np.flatnonzero(owner[near] == layout.n_variables + e)
        inverse = np.linalg.inv(curvature[np.ix_(near, near)])
        moved = scores[:, near] @ inverse[:, own]
        spread = moved.T @ (moved * dense.spreads[:, None])
        precision = np.linalg.inv(inverse[np.ix_(own, own)])
        w = values[near][own]
        weights = np.linalg.eigvals(precision @ spread).real
        scale = np.clip((weights**2).sum() / weights.sum(), 1, 50 if kind == "sampling" else 2)
        degrees = weights.sum() ** 2 / (weights**2).sum()
        assert np.isclose(found.rises[e], w @ precision @ w, rtol=1e-6)
        assert np.isclose(found.statistics[e], w @ precision @ w / scale, rtol=1e-6)
        assert np.isclose(found.degrees[e], degrees, rtol=1e-6)
        assert np.isclose(found.log_p[e], chi2.logsf(found.statistics[e], degrees), rtol=1e-6)


@pytest.mark.parametrize("kind", ["complete", "counts", "sampling", "incomplete"])
def test_statistics_of_absent_pairs_equal_dense_ones(kind, monkeypatch):
    monkeypatch.setattr("graftwork.significance.tilted.ENOUGH", 0.0)
    monkeypatch.setattr("graftwork.significance.variances.TILE", 4)  # several tiles
    monkeypatch.setattr("graftwork.significance.pair_tests.STRIP", 3)
    _, sample, solution = fitted(kind)
    contrasts = all_states(sample)
    dense = Dense(sample, solution.point.potentials, contrasts)
    pairs = np.array([[0, 3], [0, 4], [1, 5], [3, 5], [4, 5]])
    rows = FittedRows.of(solution.point, contrasts)
    found = examine_pairs(rows, solution.point, pairs)
    for k, (i, j) in enumerate(pairs):
        both = dense.spreads * dense.seen[i] * dense.seen[j]
        u = np.einsum("m,ma,mb->ab", dense.weights, dense.r[i], dense.z[j])
        u = u + np.einsum("m,ma,mb->ab", dense.weights, dense.z[i], dense.r[j])
        spread = 0.0
        for first, second, times in (
            (dense.s[i], _square(dense.mean[j]), 1.0),
            (_square(dense.mean[i]), dense.s[j], 1.0),
            (dense.s[i], dense.s[j], 4.0),
        ):
            spread = spread + times * np.einsum("m,mac,mbd->abcd", both, first, second)
        spread = spread.reshape(u.size, u.size)
        expected = u.ravel() @ np.linalg.solve(spread, u.ravel())
        assert np.isclose(found.statistics[k], expected, rtol=1e-5)
        assert found.degrees[k] == u.size


def test_only_striking_absent_pairs_are_listed():
    problem, sample, solution = fitted("complete")
    rows = FittedRows.of(solution.point, frequent_states(sample))
    space = problem.space
    every = space.pairs(np.setdiff1d(np.arange(space.size), space.keys(EDGES)))
    all_of_them = examine_pairs(rows, solution.point, every)
    listed = examine_absent(rows, solution.point, problem)
    striking = all_of_them.log_p < np.log(0.05)
    assert 0 < striking.sum() < len(striking)
    assert listed.pairs.tolist() == every[striking].tolist()
    assert np.array_equal(listed.log_p, all_of_them.log_p[striking])


def test_tests_do_not_depend_on_threads():
    found = []
    for threads in (1, 2, 3):
        problem, sample, solution = fitted("sampling", threads, rows=700)
        rows = FittedRows.of(solution.point, frequent_states(sample))
        found.append(
            (EdgeTests.of(rows).findings(100), examine_absent(rows, solution.point, problem))
        )
    for edges, others in found[1:]:
        assert np.array_equal(edges.log_p, found[0][0].log_p)
        assert np.array_equal(others.log_p, found[0][1].log_p)


@pytest.mark.parametrize("kind", ["complete", "counts", "sampling", "incomplete"])
def test_newton_steps_reach_the_last_digits(kind):
    problem, _, _ = fitted(kind)
    start = with_pairs(independent_potentials(problem.objective.sample), EDGES)
    loose = refit(problem, start, 1e-3)
    assert loose.residual > 1e-6
    assert newton(unshrunk(problem).on(start.layout), loose, 1e-12).residual < 1e-12


@pytest.mark.parametrize("groups", [[0, 1], [0, 1, 2, 3], [0, 0, 1], [2, 0, 1, 0, 2], [0]])
def test_bases_are_orthonormal_contrasts_of_groups(groups):
    groups = np.array(groups)
    basis = basis_of(groups)
    assert basis.shape == (len(groups), groups.max())
    assert np.allclose(basis.T @ basis, np.eye(groups.max()))
    assert np.allclose(basis.sum(axis=0), 0)
    for g in range(groups.max() + 1):
        assert np.allclose(basis[groups == g], basis[groups == g][0])


def test_q_values_are_those_of_scipy():
    p = np.random.default_rng(0).random(50) ** 3
    assert np.allclose(np.exp(log_q_values(np.log(p), 50)), false_discovery_control(p))
    more = np.append(p, np.ones(30))
    assert np.allclose(np.exp(log_q_values(np.log(p), 80)), false_discovery_control(more)[:50])


def test_tails_go_on_where_numbers_end():
    x = np.array([1300.0, 1400.0, 1480.0, 1500.0, 1600.0])
    for degrees in (1, 4, 25):
        found = log_tail(x, np.full(5, degrees))
        assert np.isfinite(found).all()
        slope = np.diff(found) / np.diff(x)
        assert np.allclose(slope, -0.5 + (degrees / 2 - 1) / x[1:], atol=0.001)


def test_some_rows_are_chosen_by_what_is_in_them():
    """Weighted and repeated rows choose the same different rows."""
    table = random_table(4, n=6, rows=900)
    counts = np.random.default_rng(0).integers(1, 4, 900)
    weighted = Table(table.names, table.states, table.codes, counts.astype(float))
    repeated = Table(table.names, table.states, np.repeat(table.codes, counts, axis=1))
    kept = []
    for one in (weighted, repeated):
        sample = prepare(one, merge=False)
        point = PseudoLikelihood(sample, 1).at(independent_potentials(sample))
        some = FittedRows.of(point, all_states(sample)).some(100)
        assert some.sample.n_rows == 100
        assert 0.05 < some.share < 0.5
        shown = zip(some.sample.codes.T.tolist(), some.sample.weights, strict=True)
        kept.append({(*row, weight) for row, weight in shown})
    assert kept[0] == kept[1]


@pytest.mark.parametrize("cells", [1, 2**22])
@pytest.mark.parametrize("cut", [None, Cut(0.05, 5)])
@pytest.mark.parametrize("kind", ["complete", "counts", "sampling", "incomplete"])
def test_a_quick_look_finds_what_exact_tests_would(kind, cut, cells, monkeypatch):
    problem, sample, solution = fitted(kind)
    rows = FittedRows.of(solution.point, frequent_states(sample))
    every = examine_absent(rows, solution.point, problem)
    monkeypatch.setattr("graftwork.significance.pair_screen.FEWEST_PAIRS", 0)
    monkeypatch.setattr("graftwork.significance.pair_tests.CELLS", cells)  # one, or all
    quick = examine_absent(rows, solution.point, problem, cut)
    sure = every.some(every.log_p <= np.log(0.05))
    assert len(sure.pairs)
    assert {tuple(pair) for pair in sure.pairs} <= {tuple(pair) for pair in quick.pairs}
    shared = [k for k, pair in enumerate(every.pairs.tolist()) if pair in quick.pairs.tolist()]
    assert np.allclose(every.log_p[shared], quick.log_p, rtol=1e-9)


@pytest.mark.parametrize("allowed", [20, 0])
def test_variances_of_some_rows_decide_what_is_tested(allowed, monkeypatch):
    """Of 780 pairs, 40 of which depend: the same discoveries, and far fewer tests."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 3, (40, 6000))
    for j in range(1, 40):
        same = rng.random(6000) < rng.choice([0.06, 0.2])
        codes[j, same] = codes[j - 1, same]
    names, states = tuple(map(str, range(40))), ((0, 1, 2),) * 40
    sample = prepare(Table(names, states, codes))
    problem = Problem(PseudoLikelihood(sample, 1), GroupL1(0.1))
    point = problem.objective.at(independent_potentials(sample))
    rows, cut = FittedRows.of(point, frequent_states(sample)), Cut(0.05, 780)
    every = examine_absent(rows, point, problem, None, 1.0)
    assert len(every.pairs) == 780
    order = np.sort(every.log_p)
    passed = np.flatnonzero(order <= np.log(0.05 * np.arange(1, 781) / 780))
    found = {tuple(pair) for pair in every.pairs[every.log_p <= order[passed[-1]]].tolist()}
    assert 25 < len(found) < 45
    for name, value in (("pair_screen.FEWEST_PAIRS", 0), ("pair_screen.ALLOWED", allowed),
                        ("pair_tests.MANY_PAIRS", 1), ("pair_tests.MANY_ROWS", 1),
                        ("pair_tests.SOME_ROWS", 1500)):  # fmt: skip
        monkeypatch.setattr(f"graftwork.significance.{name}", value)
    quick = examine_absent(rows, point, problem, cut)
    assert found <= {tuple(pair) for pair in quick.pairs.tolist()}
    assert len(quick.pairs) < len(found) + 15
    shared = {tuple(pair): p for pair, p in zip(every.pairs.tolist(), every.log_p, strict=True)}
    wanted = [shared[tuple(pair)] for pair in quick.pairs.tolist()]
    assert np.allclose(quick.log_p, wanted, rtol=1e-9)


@pytest.mark.parametrize("kind", ["complete", "counts", "sampling", "incomplete"])
def test_quick_statistics_are_close_to_exact_ones(kind, monkeypatch):
    monkeypatch.setattr("graftwork.significance.variances.TILE", 4)  # several tiles
    _, sample, solution = fitted(kind)
    rows = FittedRows.of(solution.point, frequent_states(sample))
    pairs = np.array([[0, 3], [0, 4], [1, 5], [3, 5], [4, 5]])
    exact = examine_pairs(rows, solution.point, pairs)
    expectations = solution.point.pair_expectations(pairs)
    quick = View.of(MomentTables(rows)).statistics(pairs, expectations)
    assert np.allclose(quick, exact.statistics, rtol=0.15)


@pytest.mark.parametrize("fewest", [0, 2000])
def test_variables_that_do_not_vary_have_no_tests(fewest, monkeypatch):
    monkeypatch.setattr("graftwork.significance.pair_screen.FEWEST_PAIRS", fewest)
    codes = random_table(3, n=5, rows=400).codes.T.copy()
    codes[:, 2] = 0
    codes[:, 4] = codes[:, 0]
    net = MarkovNetwork(n_jobs=1, random_state=0).fit(codes)
    edges = [tuple(edge) for edge in net.model_.edges]
    assert ("x0", "x4") in edges
    assert not any("x2" in edge for edge in edges)


def test_rough_p_values_of_clear_edges_change_no_decision():
    _, sample, solution = fitted("complete", rows=700)
    rows = FittedRows.of(solution.point, frequent_states(sample))
    exact = EdgeTests.of(rows).findings(1000)
    rough = EdgeTests.of(rows).findings(1000, Cut(0.05, 15))
    for found in (exact, rough):
        assert np.array_equal(found.rises, exact.rises)
    kept = [log_q_values(found.log_p, 15) <= np.log(0.05) for found in (exact, rough)]
    assert np.array_equal(*kept)
    assert np.array_equal(exact.log_p[~kept[0]], rough.log_p[~kept[0]])


def test_hessians_of_variables_that_hardly_moved_are_taken_from_before():
    table = random_table(5, n=12, rows=900)
    sample = prepare(table)
    problem = Problem(PseudoLikelihood(sample, 1), GroupL1(1.0))
    chain = np.array([(k, k + 1) for k in range(11)])
    contrasts = frequent_states(sample)

    def rows_with(edges):
        start = with_pairs(independent_potentials(sample), edges)
        return FittedRows.of(refit(problem, start, 1e-9).point, contrasts)

    first = EdgeTests.of(rows_with(chain))
    again = EdgeTests.of(first.rows, before=first)
    assert np.array_equal(first.rises, again.rises)
    # One edge leaves, another comes: what is near is made again, what is far away is the same.
    rows = rows_with(np.concatenate([chain[1:], [(0, 2)]]))
    moved = moved_variables(first.rows.potentials, rows.potentials)
    assert moved[:3].all()
    assert not moved[6:].any()
    exact, near = EdgeTests.of(rows), EdgeTests.of(rows, before=first)
    assert (first.exact, exact.exact, near.exact) == (True, True, False)
    assert any(near.profiles[e] is first.profiles[e + 1] for e in range(10))
    assert near.profiles[10] is not first.profiles[10]
    assert not np.array_equal(exact.rises, near.rises)
    assert np.allclose(exact.rises, near.rises, rtol=0.02)
    tests = [one.findings(1000) for one in (exact, near)]
    assert np.allclose(tests[0].log_p, tests[1].log_p, rtol=0.02, atol=0.01)


def test_where_most_variables_moved_all_hessians_are_made_again():
    _, sample, solution = fitted("complete", rows=700)
    contrasts = frequent_states(sample)
    first = EdgeTests.of(FittedRows.of(solution.point, contrasts))
    potentials = solution.point.potentials
    moved = Potentials(potentials.layout, 1.5 * potentials.weights)
    rows = FittedRows.of(PseudoLikelihood(sample, 1).at(moved), contrasts)
    assert moved_variables(potentials, moved)[:4].all()
    assert EdgeTests.of(rows, before=first).exact
