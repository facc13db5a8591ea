"""Exchanges of edges: exactly so many, the best seen, rules that do what they say."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from graftwork.data import Table
from graftwork.grafting import (
    Budget,
    Descent,
    Exchange,
    Metropolis,
    Problem,
    Rejection,
    Tally,
    graft,
)
from graftwork.inference import JunctionTree, Layout, Potentials
from graftwork.objectives import Likelihood, PseudoLikelihood
from graftwork.penalties import L1, GroupL1
from graftwork.solvers import ProximalQuasiNewton

from doors.data import prepare
from doors.grafting import Chain, ExchangeContext, Network, RunLog, Silence
from doors.objectives import independent_potentials
from doors.recipes import forced_pruning
from support.problems import all_pairs, random_table

RIDGE = GroupL1(0.0, 1e-3)
RULES = ["descent", "greedy", "rejection", "mcmc"]


def problem_of(table, loss="pseudo", penalty=RIDGE, n_jobs=1):
    sample = prepare(table)
    objective = (
        PseudoLikelihood(sample, n_jobs) if loss == "pseudo" else Likelihood(sample, JunctionTree())
    )
    return Problem(objective, penalty)


def context_of(problem, most):
    log = RunLog(Budget(max_edges=most), Silence())
    return ExchangeContext(problem, problem.space, ProximalQuasiNewton(), log, most)


def fitted(problem, keys, accuracy=1e-9):
    """The network of these pairs with its weights solved."""
    pairs = problem.space.pairs(np.asarray(keys))
    layout = Layout.of(problem.objective.sample.cards, pairs)
    weights = layout.zeros()
    weights[: layout.n_unary] = independent_potentials(problem.objective.sample).weights
    network = Network(problem.solution(Potentials(layout, weights)), np.ones(layout.size, bool))
    return context_of(problem, len(pairs)).solve(network, accuracy)


def every_objective(problem, most):
    """The objective of every network with so many edges."""
    sets = combinations(range(problem.space.size), most)
    return {keys: fitted(problem, keys).solution.objective for keys in sets}


def keys_of(problem, potentials):
    return tuple(sorted(problem.space.keys(potentials.layout.edges).tolist()))


@pytest.mark.some(4)
@pytest.mark.parametrize("loss", ["pseudo", "likelihood"])
@pytest.mark.parametrize("seed", range(4))
def test_a_descent_ends_at_the_best_of_all_networks_of_that_size(seed, loss):
    problem = problem_of(random_table(seed, n=5, rows=120, most=3), loss)
    values = every_objective(problem, 3)
    ranked = sorted(values.values())
    outcome = graft(
        problem,
        forced_pruning(restarts=2),
        budget=Budget(max_edges=3),
        rng=np.random.default_rng(seed),
        tolerance=1e-8,
    )
    assert outcome.certificate.n_edges == 3
    assert outcome.solution.objective == pytest.approx(ranked[0], abs=1e-7)
    assert values[keys_of(problem, outcome.potentials)] == pytest.approx(ranked[0], abs=1e-7)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("most", [0, 1, 3, 7, 15, 40])
def test_the_network_has_exactly_as_many_edges_as_asked_for(rule, most):
    problem = problem_of(random_table(7, n=6, rows=200, most=3))
    recipe = forced_pruning(exchange=2, delete=rule, rounds=3)
    outcome = graft(problem, recipe, budget=Budget(max_edges=most))
    assert outcome.certificate.n_edges == min(most, 15)
    assert outcome.solution.residual <= 1e-6


@pytest.mark.parametrize("rule", RULES)
def test_the_best_network_seen_is_returned(rule):
    problem = problem_of(random_table(8, n=7, rows=150, most=3))
    recipe = forced_pruning(exchange=3, delete=rule, rounds=12, temperature=30.0)
    outcome = graft(problem, recipe, budget=Budget(max_edges=6), rng=np.random.default_rng(1))
    told = [record.objective for record in outcome.trace]
    assert outcome.solution.objective <= min(told) + 1e-9
    assert outcome.exchange.best == pytest.approx(outcome.solution.objective, abs=1e-6)
    assert outcome.exchange.rounds > 0
    if rule != "descent":  # these also stand at worse networks: the last is not the best
        assert max(told[2:]) > min(told) + 1e-4


def test_a_descent_never_climbs_and_ends_where_no_single_exchange_was_found():
    problem = problem_of(random_table(9, n=7, rows=150, most=3))
    outcome = graft(problem, forced_pruning(), budget=Budget(max_edges=6))
    exchanged = [record.objective for record in outcome.trace[1:-1]]
    assert all(after <= before + 1e-12 for before, after in pairwise(exchanged))
    assert (outcome.exchange.ended, outcome.exchange.limit) == ("local-optimum", 8)
    assert outcome.exchange.cycles > 0  # the last ones led back to where they were


def test_the_best_of_a_round_of_the_chain_is_kept(monkeypatch):
    visited = []
    propose = Chain._propose

    def remembering(chain, current):
        after = propose(chain, current)
        visited.append(after.solution.objective)
        return after

    monkeypatch.setattr(Chain, "_propose", remembering)
    for seed in range(3):
        visited.clear()
        problem = problem_of(random_table(seed, n=8, rows=150, most=2))
        recipe = forced_pruning(exchange=15, delete="mcmc", rounds=2, temperature=3.0)
        outcome = graft(
            problem, recipe, budget=Budget(max_edges=9), rng=np.random.default_rng(seed)
        )
        assert outcome.solution.objective <= min(visited) + 1e-9
        assert outcome.trace[-1].objective == outcome.solution.objective


@pytest.mark.some(3)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("most", [7, 8, 9])
def test_restarts_keep_the_size_where_hardly_any_pair_is_left(rule, most):
    for seed in range(3):
        problem = problem_of(random_table(seed, n=5, rows=100, most=2))
        recipe = forced_pruning(exchange=2, delete=rule, rounds=2, restarts=2)
        outcome = graft(
            problem, recipe, budget=Budget(max_edges=most), rng=np.random.default_rng(seed)
        )
        assert outcome.certificate.n_edges == most
        assert outcome.exchange.shortfall is None


@pytest.mark.slow
def test_what_a_penalty_dropped_on_the_way_is_filled_up_again():
    for seed in range(6):
        for rule in RULES:
            table = random_table(50 + seed, n=7, rows=150, most=2)
            problem = problem_of(table, penalty=GroupL1(0.005))
            recipe = forced_pruning(exchange=3, delete=rule, rounds=3, restarts=1)
            outcome = graft(
                problem, recipe, budget=Budget(max_edges=9), rng=np.random.default_rng(seed)
            )
            fewer = outcome.certificate.n_edges < 9
            assert fewer == outcome.certificate.converged  # fewer only where no pair wants in


def test_exchanging_every_edge_at_once_ends_no_worse():
    problem = problem_of(random_table(23, n=9, rows=300, most=2))
    ends = [
        graft(problem, forced_pruning(exchange=k), budget=Budget(max_edges=11)).solution.objective
        for k in (3, 11, 100)
    ]
    assert max(ends) - min(ends) < 2e-3


def test_costs_are_what_removal_costs_before_other_weights_follow():
    for penalty in (RIDGE, GroupL1(0.01, 0.002), L1(0.01), L1(0.0)):
        problem = problem_of(random_table(10, n=5, rows=200, most=3), penalty=penalty)
        network = fitted(problem, [0, 3, 4, 7])
        context = context_of(problem, 4)
        rises = [
            context.without(network, np.array([key])).solution.objective
            - network.solution.objective
            for key in network.active(problem.space)
        ]
        assert np.allclose(context.costs(network), rises, atol=1e-8)


def test_cheapest_and_best_agree_with_solving_every_candidate():
    problem = problem_of(random_table(11, n=6, rows=300, most=3))
    network = fitted(problem, [0, 2, 4, 6, 8, 11])
    context, active = context_of(problem, 6), [0, 2, 4, 6, 8, 11]
    without = {k: fitted(problem, [j for j in active if j != k]).solution.objective for k in active}
    joined = {
        k: fitted(problem, [*active, k]).solution.objective for k in range(15) if k not in active
    }
    assert context.cheapest(network, 3)[:3].tolist() == sorted(without, key=without.get)[:3]
    none = np.zeros(0, dtype=np.int64)
    assert context.best(network, 3, none).tolist() == sorted(joined, key=joined.get)[:3]
    top = sorted(joined, key=joined.get)
    assert context.best(network, 2, np.array([top[0]])).tolist() == top[1:3]


def test_rejection_draws_in_proportion_to_the_likelihood_without_the_edges():
    problem = problem_of(random_table(12, n=5, rows=80, most=2))
    network = fitted(problem, [0, 3, 4, 7])
    context, tally = context_of(problem, 4), Tally()
    sampling = Rejection(2).begin(context, np.random.default_rng(3), tally)
    pairs = list(combinations(network.active(problem.space).tolist(), 2))
    chances = np.array(
        [np.exp(-context.without(network, np.array(pair)).solution.point.value) for pair in pairs]
    )
    draws = 1500
    found = dict.fromkeys(pairs, 0)
    for _ in range(draws):
        found[tuple(sorted(sampling.leaving(network).tolist()))] += 1
    expected = draws * chances / chances.sum()
    chi2 = sum((found[pair] - e) ** 2 / e for pair, e in zip(pairs, expected, strict=True))
    assert chi2 < 25  # five degrees of freedom: one in 7,000
    # proposals are those of drawing one after the other: each is accepted with its own chance
    mean = draws / chances.mean()
    assert abs(tally.proposals - mean) < 5 * np.sqrt(draws) / chances.mean()


def test_rejection_gives_up_clearly():
    problem = problem_of(random_table(13, n=8, rows=100, most=4))
    recipe = forced_pruning(exchange=2, delete="rejection", proposals=5)
    outcome = graft(problem, recipe, budget=Budget(max_edges=7))
    assert outcome.exchange.proposals == 5
    assert (outcome.exchange.ended, outcome.exchange.limit) == ("all-rejected", 5)
    assert outcome.certificate.n_edges == 7


@pytest.mark.parametrize("temperature", [1.0, 8.0])
def test_the_chain_is_in_detailed_balance(temperature):
    """Of every exchange between networks: p(S) q(S, S') a(S, S') = p(S') q(S', S) a(S', S)."""
    problem = problem_of(random_table(14, n=4, rows=25, most=2))
    context = context_of(problem, 2)
    rows = problem.objective.sample.total_weight
    networks = {s: fitted(problem, s) for s in combinations(range(6), 2)}
    chain = Chain(context, Tally(), 1, temperature, np.random.default_rng(0))
    checked = 0
    for source, network in networks.items():
        moves = chain.moves(network)
        assert moves.out.sum() == pytest.approx(1)
        assert moves.into.sum() == pytest.approx(1)
        for target, there in networks.items():
            if len(set(source) & set(target)) != 1:
                continue
            (leaving,), (entering,) = set(source) - set(target), set(target) - set(source)
            fall = network.solution.objective - there.solution.objective
            log_ratio = chain.log_acceptance(moves, there, leaving, entering, fall)
            ahead = moves.chance(leaving, entering) * min(1.0, np.exp(log_ratio))
            back_ratio = chain.log_acceptance(chain.moves(there), network, entering, leaving, -fall)
            back = chain.moves(there).chance(entering, leaving) * min(1.0, np.exp(back_ratio))
            weight = np.exp(rows * fall / temperature)  # p(S') / p(S)
            assert ahead == pytest.approx(weight * back, rel=1e-9)
            checked += 1
    assert checked == 15 * 8


@pytest.mark.slow
def test_the_chain_visits_networks_in_proportion():
    problem = problem_of(random_table(14, n=4, rows=25, most=2))
    values = every_objective(problem, 2)
    rows, temperature, steps = problem.objective.sample.total_weight, 8.0, 3000
    weights = {
        s: np.exp(-rows * (v - min(values.values())) / temperature) for s, v in values.items()
    }
    total = sum(weights.values())
    chain = Metropolis(1, temperature).begin(
        context_of(problem, 2), np.random.default_rng(5), Tally()
    )
    network, found = fitted(problem, (0, 1)), dict.fromkeys(values, 0)
    for _ in range(steps):
        network = chain.step(network, lambda seen: None)
        found[tuple(sorted(network.active(problem.space).tolist()))] += 1
    distance = sum(abs(found[s] / steps - weights[s] / total) for s in values) / 2
    assert distance < 0.06


@pytest.mark.some(3)
@pytest.mark.parametrize("rule", RULES)
def test_the_same_seed_gives_the_same_network_whatever_the_threads(rule):
    table = random_table(15, n=8, rows=400, most=4)
    found = []
    for n_jobs in (1, 2, 3):
        recipe = forced_pruning(exchange=3, delete=rule, rounds=6, restarts=1)
        problem = problem_of(table, n_jobs=n_jobs)
        problem.objective.sample.counts.n_threads = n_jobs
        found.append(
            graft(problem, recipe, budget=Budget(max_edges=10), rng=np.random.default_rng(2))
        )
    for other in found[1:]:
        assert (other.potentials.layout.edges == found[0].potentials.layout.edges).all()
        assert (other.potentials.weights == found[0].potentials.weights).all()
        assert other.exchange.to_dict() == found[0].exchange.to_dict()


def test_restarts_begin_again_and_never_make_it_worse():
    table = random_table(16, n=8, rows=150, most=3)
    once = graft(problem_of(table), forced_pruning(rounds=5), budget=Budget(max_edges=8))
    more = graft(
        problem_of(table), forced_pruning(rounds=5, restarts=3), budget=Budget(max_edges=8)
    )
    assert more.exchange.restarts == 3
    assert more.exchange.rounds > once.exchange.rounds
    assert more.solution.objective <= once.solution.objective + 1e-9


def test_a_penalty_that_wants_fewer_edges_gets_fewer():
    problem = problem_of(random_table(17, n=6, rows=200, most=3), penalty=GroupL1(0.05))
    free = graft(problem, forced_pruning(), budget=Budget(max_edges=15), tolerance=1e-8)
    assert 0 < free.certificate.n_edges < 15
    assert free.certificate.converged  # nothing more is wanted: the optimum of the penalty itself


def test_independent_columns_carry_no_edge():
    codes = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).astype(np.uint8)
    problem = problem_of(Table(tuple("abc"), ((0, 1),) * 3, codes))
    outcome = graft(problem, forced_pruning(), budget=Budget(max_edges=2))
    assert outcome.certificate.n_edges == 0
    assert outcome.certificate.converged


def test_without_a_budget_it_has_as_many_edges_as_the_tree():
    problem = problem_of(random_table(18, n=6, rows=200, most=3))
    outcome = graft(problem, forced_pruning(rounds=3))
    assert outcome.certificate.n_edges == 5


@pytest.mark.parametrize("rule", RULES)
def test_an_interrupt_keeps_the_best_so_far(rule):
    class Stops(Silence):
        def on_round(self, record):
            if record.index == 3:
                raise KeyboardInterrupt

    problem = problem_of(random_table(19, n=7, rows=150, most=3))
    recipe = forced_pruning(exchange=2, delete=rule, rounds=20)
    outcome = graft(problem, recipe, budget=Budget(max_edges=7), observer=Stops())
    assert outcome.interrupted
    assert outcome.certificate.n_edges == 7
    assert outcome.solution.objective <= min(r.objective for r in outcome.trace) + 1e-9


def test_budgets_end_the_exchanges():
    problem = problem_of(random_table(20, n=8, rows=150, most=3))
    outcome = graft(problem, forced_pruning(), budget=Budget(max_edges=9, max_rounds=3))
    assert outcome.certificate.stop == "rounds"
    assert outcome.certificate.n_edges == 9
    assert outcome.exchange.ended == "rounds"
    late = graft(problem, forced_pruning(), budget=Budget(max_edges=9, max_seconds=0.0))
    assert late.certificate.stop == "seconds"


def test_any_recipe_may_exchange():
    from dataclasses import replace

    from doors.recipes import edge_grafting

    table = random_table(21, n=8, rows=200, most=3)
    plain = graft(problem_of(table), edge_grafting(), budget=Budget(max_edges=8))
    recipe = replace(edge_grafting(), exchange=Exchange(Descent()))
    exchanged = graft(problem_of(table), recipe, budget=Budget(max_edges=8))
    assert exchanged.certificate.n_edges == plain.certificate.n_edges == 8
    assert exchanged.solution.objective <= plain.solution.objective + 1e-9
    assert exchanged.exchange is not None
    assert plain.exchange is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"exchange": 0}, "exchange"),
        ({"delete": "best"}, "descent, greedy, rejection, mcmc"),
        ({"rounds": -1}, "rounds"),
        ({"restarts": 0.5}, "restarts"),
        ({"delete": "mcmc", "temperature": 0.0}, "temperature"),
        ({"delete": "rejection", "proposals": 0}, "proposals"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        forced_pruning(**options)


def test_pairs_of_a_large_space_are_chosen_by_the_quadratic_model(monkeypatch):
    from doors.grafting import exchange as module

    problem = problem_of(random_table(22, n=8, rows=300, most=3))
    network = fitted(problem, [0, 5, 9])
    context = context_of(problem, 4)
    keys = context.absent(network)
    full = context.gains(network, keys)
    monkeypatch.setattr(module, "MOST_SOLVED", 6)
    few = context.gains(network, keys)
    assert np.count_nonzero(few) == 6
    assert (few[few > 0] == full[few > 0]).all()
    assert np.argmax(few) == np.argmax(full)
    assert len(all_pairs(8)) == problem.space.size
