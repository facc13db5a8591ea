"""Prior knowledge: factors of penalties, pairs that may not be edges, edges that must be."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graftwork.grafting import (
    Budget,
    CellSpace,
    NetworkFamily,
    PairFactors,
    PairSpace,
    Problem,
    Recipe,
    WorkingSet,
    chow_liu_edges,
    graft,
)
from graftwork.inference import JunctionTree, Layout, Potentials
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.penalties import L1, Blocks, GroupL1, residual
from graftwork.recipes import RECIPES

from doors.data import prepare
from doors.grafting import IndexMap, pair_information
from doors.recipes import chow_liu, forced_pruning
from support.problems import all_pairs, dense_likelihood, dense_pseudo, random_table

N, LAM = 5, 0.03
PAIRS = all_pairs(N)
PENALTIES = {"group-l1": GroupL1, "l1": L1}
PATHS = {
    **{name: factory() for name, factory in RECIPES.items() if not factory().sized},
    "working-set": Recipe("working-set", WorkingSet()),
}
# forbidden, free, weighted either way, required; the rest have 1
FACTORS = PairFactors.of(
    N, [(0, 1), (2, 1), (0, 4), (1, 4), (2, 3)], [np.inf, np.inf, 0.0, 0.4, 2.5]
).requiring([(3, 0)])


def made(penalty, loss="pseudo", prior=FACTORS, lam=LAM, l2=0.01):
    table = random_table(21, n=N, rows=150, most=3)
    sample = prepare(table)
    objective = PseudoLikelihood(sample) if loss == "pseudo" else Likelihood(sample, JunctionTree())
    return table, Problem(objective, PENALTIES[penalty](lam, l2), NetworkFamily(sample, prior))


def edges_of(outcome):
    return set(map(tuple, outcome.potentials.layout.edges.tolist()))


@cache
def proximal_gradient(penalty, loss, l2=0.01):
    """The optimal objective by plain proximal steps over all pairs that may be edges."""
    table, _ = made(penalty, loss)
    factors = FACTORS.at(PAIRS)
    pairs, factors = PAIRS[np.isfinite(factors)], factors[np.isfinite(factors)]
    dense = dense_pseudo if loss == "pseudo" else dense_likelihood
    sizes = np.array([table.cards[i] * table.cards[j] for i, j in pairs])
    n_unary = int(table.cards.sum())
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    tolls = LAM * factors * (np.sqrt(sizes) if penalty == "group-l1" else 1.0)

    def paid(tables):
        norms = np.sqrt(np.add.reduceat(tables**2, starts))
        sparse = tolls @ norms if penalty == "group-l1" else np.repeat(tolls, sizes) @ abs(tables)
        return sparse + l2 * tables @ tables

    def shrunk(tables, step):
        if penalty == "group-l1":
            norms = np.sqrt(np.add.reduceat(tables**2, starts))
            keep = np.repeat(np.maximum(0, 1 - step * tolls / np.maximum(norms, 1e-300)), sizes)
            return tables * keep / (1 + 2 * l2 * step)
        cut = np.maximum(0, abs(tables) - step * np.repeat(tolls, sizes))
        return np.sign(tables) * cut / (1 + 2 * l2 * step)

    x = y = np.zeros(n_unary + sizes.sum())
    step, momentum = 0.25, 1.0
    for _ in range(2000):
        ahead = y - step * dense(table, y, pairs)[1]
        new = np.concatenate([ahead[:n_unary], shrunk(ahead[n_unary:], step)])
        if (y - new) @ (new - x) > 0:
            momentum = 1.0
        longer = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        y, x, momentum = new + (momentum - 1) / longer * (new - x), new, longer
    return dense(table, x, pairs)[0] + paid(x[n_unary:])


@pytest.mark.some(4)
@pytest.mark.parametrize("loss", ["pseudo", "likelihood"])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("path", PATHS)
def test_every_recipe_meets_the_weighted_optimum(path, penalty, loss):
    _, problem = made(penalty, loss)
    outcome = graft(problem, PATHS[path], tolerance=1e-7, rng=np.random.default_rng(1))
    certificate = outcome.certificate
    assert certificate.converged
    assert certificate.n_barred == 2
    if certificate.unit == "pair":
        assert certificate.n_inactive == certificate.n_tested == 8 - certificate.n_edges
    assert not edges_of(outcome) & {(0, 1), (1, 2)}
    assert (0, 3) in edges_of(outcome)
    best = proximal_gradient(penalty, loss)
    assert abs(certificate.objective - best) < 2e-7


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_violation_is_that_computed_by_hand(penalty):
    table, problem = made(penalty, lam=0.02)
    outcome = graft(problem, PATHS["edge-grafting"], budget=Budget(max_edges=2))
    layout = outcome.potentials.layout
    weights, found = outcome.potentials.weights, edges_of(outcome)
    absent = [p for p in map(tuple, PAIRS.tolist()) if p not in found | {(0, 1), (1, 2)}]
    pairs = np.array([*layout.edges.tolist(), *absent])
    sizes = [table.cards[i] * table.cards[j] for i, j in absent]
    _, gradient = dense_pseudo(table, np.concatenate([weights, np.zeros(sum(sizes))]), pairs)
    parts = np.split(gradient[layout.size :], np.cumsum(sizes)[:-1])
    excess = []
    for pair, part in zip(absent, parts, strict=True):
        score = (
            np.linalg.norm(part) / np.sqrt(part.size) if penalty == "group-l1" else abs(part).max()
        )
        excess.append(score - 0.02 * FACTORS.at(np.array([pair]))[0])
    assert outcome.certificate.n_tested == len(absent)
    assert np.isclose(outcome.certificate.max_violation, max(excess), rtol=1e-9)


@pytest.mark.some(3)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("path", PATHS)
def test_factors_of_one_and_all_pairs_as_candidates_change_nothing(path, penalty):
    def run(prior):
        _, problem = made(penalty, prior=prior)
        outcome = graft(problem, PATHS[path], rng=np.random.default_rng(3))
        trace = [{**r.to_dict(), "seconds": 0} for r in outcome.trace]
        return outcome.potentials.weights.tobytes(), trace

    bare = run(None)
    assert run(PairFactors.of(N, PAIRS[:4], 1.0)) == bare
    assert run(PairFactors.of(N, PAIRS, 1.0, default=np.inf)) == bare


@pytest.mark.parametrize("path", PATHS)
def test_a_required_edge_stays_though_its_weights_are_zero(path):
    table = random_table(21, n=3, rows=4, most=2)
    codes = np.array([[0, 0, 1, 1] * 5, [0, 1, 0, 1] * 5, [0, 0, 1, 1] * 5], dtype=np.uint8)
    table = type(table)(("a", "b", "c"), ((0, 1),) * 3, codes)
    sample = prepare(table)
    prior = PairFactors.of(3, [(0, 2)], np.inf).requiring([(0, 1)])
    problem = Problem(PseudoLikelihood(sample), L1(0.1), NetworkFamily(sample, prior))
    outcome = graft(problem, PATHS[path])
    assert edges_of(outcome) == {(0, 1)}
    assert outcome.certificate.converged
    assert not outcome.potentials.layout.table(outcome.potentials.weights, 0).any()


def test_pairs_that_are_no_candidates_are_never_counted():
    _, problem = made("group-l1", prior=PairFactors.of(N, [(0, 1), (2, 4)], 1.0, default=np.inf))
    for path in ("best-choice", "full", "working-set", "priority"):
        outcome = graft(problem, PATHS[path])
        assert edges_of(outcome) <= {(0, 1), (2, 4)}
        assert outcome.certificate.converged
        assert outcome.trace[-1].tables_counted <= 2


def test_nothing_may_be_an_edge():
    _, problem = made("l1", prior=PairFactors.of(N, [], 1.0, default=np.inf))
    for path in PATHS.values():
        certificate = graft(problem, path).certificate
        assert certificate.converged
        assert (certificate.n_edges, certificate.n_inactive, certificate.n_barred) == (0, 0, 10)


@pytest.mark.parametrize("path", ["best-choice", "grafting"])
def test_a_start_loses_what_may_not_be_and_makes_room_for_what_must(path):
    _, problem = made("l1")
    layout = Layout.of(problem.objective.sample.cards, [(0, 1), (1, 3), (2, 4)])
    start = Potentials(layout, np.random.default_rng(0).normal(0, 0.5, layout.size))
    outcome = graft(problem, PATHS[path], start=start, budget=Budget(max_edges=2))
    assert (0, 3) in edges_of(outcome)
    assert len(edges_of(outcome)) <= 2
    assert (0, 1) not in edges_of(outcome)
    free = graft(problem, PATHS[path], start=start, tolerance=1e-7)
    assert abs(free.certificate.objective - proximal_gradient("l1", "pseudo")) < 2e-7


def trees(n):
    """All spanning trees of n variables, as Prüfer codes tell them."""
    for number in range(n ** (n - 2)):
        code = [number // n**k % n for k in range(n - 2)]
        degree, edges = [1 + code.count(v) for v in range(n)], []
        for v in code:
            leaf = degree.index(1)
            edges.append(tuple(sorted((leaf, v))))
            degree[leaf] -= 1
            degree[v] -= 1
        edges.append(tuple(v for v in range(n) if degree[v] == 1))
        yield set(edges)


@pytest.mark.parametrize("seed", range(4))
def test_the_tree_is_the_best_that_has_and_avoids_these_edges(seed):
    sample = prepare(random_table(seed, n=N, rows=100, most=3))
    prior = PairFactors.of(N, [(0, 1), (2, 3)], np.inf).requiring([(0, 4), (1, 4)])
    worth = dict(zip(map(tuple, PAIRS.tolist()), pair_information(sample, PAIRS), strict=True))
    allowed = [t for t in trees(N) if {(0, 4), (1, 4)} <= t and not t & {(0, 1), (2, 3)}]
    best = max(sum(worth[e] for e in t) for t in allowed)
    edges, information = chow_liu_edges(sample, prior=prior)
    assert np.isclose(information.sum(), best)
    assert set(map(tuple, edges[:2].tolist())) == {(0, 4), (1, 4)}
    outcome = graft(
        Problem(PseudoLikelihood(sample), L1(0.0, 0.01), NetworkFamily(sample, prior)), chow_liu()
    )
    assert edges_of(outcome) == set(map(tuple, edges.tolist()))


@pytest.mark.parametrize("delete", ["descent", "greedy", "rejection", "mcmc"])
def test_exchanges_keep_what_must_be_and_out_what_may_not(delete):
    seen = []

    class Watching:
        def on_network(self, potentials):
            seen.append(set(map(tuple, potentials.layout.edges.tolist())))

        def on_stage(self, *_):
            pass

        on_round = on_search = on_stage

    prior = PairFactors.of(N, [(0, 1), (1, 2)], np.inf).requiring([(0, 3), (0, 2), (2, 3)])
    _, problem = made("group-l1", prior=prior, lam=0.0)
    recipe = forced_pruning(delete=delete, rounds=5, restarts=2, exchange=2, proposals=10_000)
    outcome = graft(
        problem, recipe, budget=Budget(max_edges=5), observer=Watching(), tolerance=1e-5
    )
    assert len(edges_of(outcome)) == 5
    assert len(seen) > 2
    for edges in seen:
        assert {(0, 3), (0, 2), (2, 3)} <= edges
        assert not edges & {(0, 1), (1, 2)}


@given(data=st.data())
def test_a_sieve_numbers_what_it_keeps(data):
    total = data.draw(st.integers(0, 30))
    dropped = data.draw(st.sets(st.integers(0, max(0, total - 1)), max_size=total))
    dropped = np.array(sorted(d for d in dropped if d < total), dtype=np.int64)
    kept = np.setdiff1d(np.arange(total), dropped)
    one = np.ones_like
    for index_map in (
        IndexMap.dropping(dropped, one(dropped), total),
        IndexMap.keeping(kept, one(kept)),
    ):
        assert index_map.size == len(kept)
        assert np.array_equal(index_map.numbers(np.arange(index_map.size)), kept)
        assert np.array_equal(index_map.keys(kept), np.arange(len(kept)))
        assert (index_map.keys(dropped) == -1).all()


@settings(deadline=None)
@given(st.lists(st.sampled_from([tuple(p) for p in PAIRS.tolist()]), unique=True), st.booleans())
def test_sifted_spaces_hold_the_pairs_that_may_be_edges(listed, keep):
    sample = made("l1")[1].objective.sample
    prior = PairFactors.of(N, listed, *((1.0, np.inf) if keep else (np.inf,)))
    family = NetworkFamily(sample, prior)
    allowed = [p for p in map(tuple, PAIRS.tolist()) if (p in listed) == keep]
    pairs, cells = (family.space(np.arange(N), features) for features in (False, True))
    assert isinstance(pairs, PairSpace)
    assert isinstance(cells, CellSpace)
    assert pairs.pairs(np.arange(pairs.size)).tolist() == [list(p) for p in allowed]
    sizes = [int(sample.cards[list(p)].prod()) for p in allowed]
    expected = [list(p) for p, size in zip(allowed, sizes, strict=True) for _ in range(size)]
    assert cells.pairs(np.arange(cells.size)).tolist() == expected
    assert family.count_entries(pairs) == sum(sizes)
    layout = Layout.of(sample.cards, allowed)
    every = np.ones(layout.size, dtype=bool)
    assert np.array_equal(cells.active(layout, every), np.arange(cells.size))
    assert np.array_equal(cells.keys(np.array(allowed).reshape(-1, 2)), np.arange(cells.size))


def test_factors_multiply_and_forbid():
    both = PairFactors.of(3, [(0, 1), (1, 2)], [0.5, 0.0])
    product = both.times(PairFactors.of(3, [(1, 2)], 4.0, default=np.inf))
    assert product.at(np.array([[1, 0], [0, 2], [2, 1]])).tolist() == [np.inf, np.inf, 0.0]
    assert product.requiring([(0, 1)]).at(np.array([[0, 1]])) == 0
    assert PairFactors.of(3, [(0, 1)], 1.0).trivial
    with pytest.raises(ValueError, match="from 0 to infinity"):
        PairFactors.of(3, [(0, 1)], -1.0)


@pytest.mark.parametrize("penalty", [GroupL1(0.3, 0.2), L1(0.3, 0.1)], ids=str)
def test_a_penalty_with_factors_is_the_sum_of_penalties_with_other_lambdas(penalty):
    layout, declared = Layout.of([2, 3, 4], [(0, 1), (1, 2)]), np.array([2, 3, 4])
    weights = np.random.default_rng(0).normal(size=layout.size)
    weights[: layout.n_unary] = 0
    factors = np.array([0.5, 0.0])
    blocks = Blocks.of(layout, declared, None, factors)
    expected = 0.0
    for e, factor in enumerate(factors):
        alone = np.zeros_like(weights)
        alone[layout.entries(np.array([e]))] = layout.table(weights, e).ravel()
        scaled = type(penalty)(penalty.lam * factor, penalty.l2)
        expected += scaled.value(Blocks.of(layout, declared), alone)
    assert np.isclose(penalty.value(blocks, weights), expected)
    proxed = penalty.prox(blocks, weights, np.ones(5))
    assert residual(penalty, blocks, proxed, proxed - weights) < 1e-12
