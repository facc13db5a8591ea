"""What the papers claim of their learners, in counters and held-out figures. Run by make test-slow.

The experiments are those of experiments/, on fewer networks.
"""

import numpy as np
import pytest

import graftwork as gw
from experiments.grafting_light.select_units import by_select_unit, planted_chain, solved
from experiments.l1_markov.annealing import networks
from experiments.l1_markov.penalties import NEGLIGIBLE, by_penalty
from experiments.priority import mushroom_halves

from doors.recipes import grafting, priority

pytestmark = pytest.mark.slow

# ---- L1 against L2 and no penalty (Lee, Ganapathi and Koller) --------------------------------

FEW, MANY = 50, 500
RIVALS = ("l2", "none")
SETTINGS = {  # loss: variables, sizes, networks
    "pseudolikelihood": (16, (FEW, 200, MANY), 12),
    "likelihood": (12, (FEW, MANY), 10),
}


@pytest.fixture(scope="module", params=SETTINGS)
def held_out(request):
    """Rows: penalty: what was learned of each random network, mean degree 3."""
    n, sizes, networks = SETTINGS[request.param]
    runs = {
        rows: [by_penalty(seed, rows, n, 3.0, request.param) for seed in range(networks)]
        for rows in sizes
    }
    return {
        rows: {name: [result[name] for result in results] for name in results[0]}
        for rows, results in runs.items()
    }


def lead(of_size, rival):
    """By how much L1's held-out CMLL is higher, network by network."""
    ours, theirs = (np.array([held.cmll for held in of_size[name]]) for name in ("l1", rival))
    return ours - theirs


def clearly_positive(values):
    """More than two standard errors above zero on average."""
    return values.mean() > 2 * values.std(ddof=1) / np.sqrt(len(values))


def test_l1_predicts_new_rows_better_than_l2_and_that_better_than_no_penalty(held_out):
    """Lambda of both is chosen from the same values on the same validation rows."""
    for of_size in held_out.values():
        assert clearly_positive(lead(of_size, "l2"))
        assert clearly_positive(lead(of_size, "none") - lead(of_size, "l2"))


def test_validation_rows_to_learn_from_do_not_make_up_for_a_missing_penalty(held_out):
    """With few rows; with many, twice the rows are worth about as much as the penalty."""
    assert clearly_positive(lead(held_out[FEW], "none, 2x rows"))


@pytest.mark.parametrize("rival", RIVALS)
def test_l1_gains_most_with_few_rows(held_out, rival):
    assert lead(held_out[FEW], rival).mean() > 1.5 * lead(held_out[MANY], rival).mean()


@pytest.mark.parametrize("rival", RIVALS)
@pytest.mark.parametrize("least", [0.0, 0.05, 0.1])
def test_l1_edges_are_closer_to_the_true_ones(held_out, rival, least):
    """Hamming distance of all edges, and of those with a double-centred entry above ``least``.

    At 0.2, nearly half the standard deviation of the true entries, L1 and L2 are even, L2 a little
    closer with many rows: thresholding a good ridge fit is then as good a test for an edge.
    """
    place = NEGLIGIBLE.index(least)
    for of_size in held_out.values():
        ours, theirs = (
            np.mean([held.hamming[place] for held in of_size[name]]) for name in ("l1", rival)
        )
        assert ours < 0.85 * theirs


# ---- Grafting-light against grafting and Gauss-Seidel (Zhu, Lao and Xing) ---------------------

UNITS = (1, 10, 50)


@pytest.fixture(scope="module", params=["pseudolikelihood", "likelihood"])
def chains(request):
    """For each planted chain: select unit: method: how it was solved."""
    return [
        {unit: by_select_unit(seed, unit, request.param) for unit in UNITS} for seed in range(3)
    ]


def test_features_at_a_time_all_end_at_one_optimum(chains):
    for by_unit in chains:
        runs = [run for by_method in by_unit.values() for run in by_method.values()]
        assert all(run.converged for run in runs)
        assert np.ptp([run.objective for run in runs]) < 1e-6
        assert len({run.edges for run in runs}) == 1


@pytest.mark.parametrize("slower", ["grafting", "gauss-seidel"])
def test_one_step_a_round_needs_fewer_gradients_most_of_all_one_feature_at_a_time(chains, slower):
    def spent(method, unit):  # of all chains: single ones move by several with the last digits
        return sum(by_unit[unit][method].evaluations for by_unit in chains)

    ratios = [spent(slower, unit) / spent("grafting-light", unit) for unit in UNITS]
    assert min(ratios) > 1.3
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] > 5


@pytest.mark.parametrize("unit", UNITS)
def test_memory_kept_across_rounds_saves_gradients(chains, unit):
    spent = {
        name: sum(by_unit[unit][name].evaluations for by_unit in chains)
        for name in ("grafting-light", "without memory")
    }
    assert spent["without memory"] > 1.3 * spent["grafting-light"]


@pytest.mark.parametrize("loss", ["pseudolikelihood", "likelihood"])
def test_everything_at_once_ends_at_the_same_network(loss):
    """All pairs at once need belief propagation; what is left of them is solved exactly."""
    data = planted_chain(2)
    batch, light = (solved(data, method, loss) for method in ("full", "grafting-light"))
    assert batch.converged
    assert abs(batch.objective - light.objective) < 1e-6
    assert batch.edges == light.edges


# ---- Priority grafting against grafting (Chaabene and Huang, 2016) -----------------------------


ENGINES = {
    "bp, product rule": {"inference": "bp:rule=product"},
    "exact": {"inference": "auto"},
}
METHODS = {
    "grafting": grafting(features=False),  # the whole table of the worst feature, as in the paper
    "priority": priority(),
    "priority, 1e-4": priority(epsilon=1e-4),
}


def learn_mushroom(train, method, engine, lam, seed=0):
    """Learn with the paper's settings: the likelihood, L1 on all weights, unaries included."""
    changes = {"method": method, "method_options": None, "lam": lam, "random_state": seed}
    return gw.MarkovNetwork(**{**gw.preset("priority-paper"), **engine, **changes}).fit(train)


@pytest.fixture(scope="module")
def halves():
    train, test = mushroom_halves()
    # Nats a row of the uniform model: READINGS' 35.726 says the states are those it counted.
    assert abs(np.log(train.cards).sum() - 35.726) < 5e-4
    return train, test


# Not the path rule: it is no slope of the Bethe value, so the order of activation matters. At
# lambda 0.6 three of ten seeds of priority grafting end one or two edges from grafting's 25, at
# objectives lower by 2e-7 to 4e-7.
@pytest.mark.parametrize("engine", ["bp, product rule", "exact"])
@pytest.mark.parametrize("lam", [0.7, 0.6])
def test_priority_grafting_finds_the_network_of_grafting_with_far_fewer_tests(halves, engine, lam):
    train, _ = halves
    part, methods = ENGINES[engine], METHODS
    baseline = learn_mushroom(train, methods["grafting"], part, lam)
    assert baseline.certificate_.converged
    for seed in range(3):
        for name in ("priority", "priority, 1e-4"):
            net = learn_mushroom(train, methods[name], part, lam, seed)
            assert net.certificate_.converged
            assert gw.compare_edges(net, baseline).hamming == 0
            assert abs(net.objective_ - baseline.objective_) < 1e-6
            assert 3 * net.trace_[-1].blocks_scored <= baseline.trace_[-1].blocks_scored


def test_the_mushroom_figures_of_belief_propagation(halves):
    """READINGS: test NLPL 32.4381 with 15 edges at lambda 0.7; the paper prints 32.4519 with 12.

    By exact inference it is 32.4793: the network has loops. At 0.6 (printed 31.2475, 17 edges) it
    is 31.1126 with 27 edges by the product rule and 31.1035 with 25 exactly.
    """
    train, test = halves
    part = ENGINES["bp, product rule"]
    net = learn_mushroom(train, METHODS["priority"], part, 0.7)
    assert net.model_.n_edges == 15
    assert abs(-net.score(test) - 32.4381) < 1e-3


# ---- Annealing (Lee, Ganapathi and Koller) ----------------------------------------------------


@pytest.mark.filterwarnings("ignore::graftwork.ConvergenceWarning")
def test_annealed_belief_propagation_does_not_overflow():
    """Other warnings are errors: no step may come from a quadratic model that is not convex."""
    made = gw.datasets.make_bernoulli(16, n_rows=500, random_state=4)
    options = {"loss": "likelihood", "inference": "bp", "lam": 0.005, "tol": 1e-5}
    net = list(networks(made.data, {**options, "anneal": 8}, random_state=0))[-1]
    assert net.certificate_.trusted
    assert net.certificate_.max_violation < 0.01
