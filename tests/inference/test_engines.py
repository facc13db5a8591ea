"""One matrix: every engine on every graph, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from graftwork.inference import ENGINES as NAMES
from graftwork.inference import (
    Automatic,
    Beliefs,
    Engine,
    JunctionTree,
    Layout,
    LoopyBP,
    Potentials,
    TreeReweighted,
    make_engine,
)

from support.brute import (
    FORESTS,
    GRAPHS,
    all_pairs,
    complete,
    enumerate_states,
    random_potentials,
    random_tree,
    unflatten,
)

#: Message passing: exact on forests, approximate with loops.
PASSING = [LoopyBP(), LoopyBP(damping=0.3), TreeReweighted(), TreeReweighted(rule="exact")]
REGISTERED = {name: make_engine(name) for name in NAMES}
OTHERS = [LoopyBP(rule="product"), LoopyBP(rule="exact"), *PASSING]
ENGINES = [*REGISTERED.values(), *(each for each in OTHERS if each not in REGISTERED.values())]
EXACT = [(JunctionTree(), name) for name in GRAPHS]
EXACT += [(engine, name) for engine in PASSING for name in FORESTS]


def check_everything(engine, potentials, tolerance):
    layout = potentials.layout
    truth = enumerate_states(potentials)
    beliefs = engine.infer(potentials)
    assert beliefs.exact
    assert beliefs.converged
    assert beliefs.residual == 0.0
    scale = max(1.0, abs(truth.log_partition))
    assert beliefs.log_partition == pytest.approx(truth.log_partition, abs=tolerance * scale)
    for i in range(layout.n_variables):
        np.testing.assert_allclose(beliefs.unary(i), truth.marginal(i), atol=tolerance)
    for e, (i, j) in enumerate(layout.edges):
        np.testing.assert_allclose(beliefs.table(e), truth.marginal(i, j), atol=tolerance)
    pairs = all_pairs(np.random.default_rng(1), layout.n_variables)
    flat, exact = engine.pair_marginals(potentials, beliefs, pairs)
    assert exact
    for (i, j), table in zip(pairs, unflatten(flat, layout, pairs), strict=True):
        np.testing.assert_allclose(table, truth.marginal(i, j), atol=tolerance)


@pytest.mark.parametrize(("engine", "name"), EXACT, ids=str)
@pytest.mark.parametrize("scale", [0.0, 1.0, 5.0, 1000.0])
def test_exact_engines_equal_enumeration(engine, name, scale, rng):
    cards, edges = GRAPHS[name]
    check_everything(engine, random_potentials(rng, cards, edges, scale), 1e-10)


@pytest.mark.parametrize("engine", REGISTERED)
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_what_an_engine_calls_exact_equals_enumeration(engine, name, scale, rng):
    cards, edges = GRAPHS[name]
    potentials = random_potentials(rng, cards, edges, scale)
    if REGISTERED[engine].infer(potentials).exact:
        check_everything(REGISTERED[engine], potentials, 1e-9)


@pytest.mark.parametrize("seed", range(25))
def test_junction_tree_on_random_graphs(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    cards = rng.integers(1, 8, size=n)
    while cards.prod() > 2**14:
        cards[cards.argmax()] -= 1
    edges = [pair for pair in complete(n) if rng.random() < rng.random()]
    check_everything(JunctionTree(), random_potentials(rng, cards, edges, 2.0), 1e-10)


@pytest.mark.parametrize("engine", PASSING, ids=str)
@pytest.mark.parametrize("seed", range(10))
def test_message_passing_on_random_forests(engine, seed):
    rng = np.random.default_rng(seed)
    cards = rng.integers(1, 5, size=7)
    edges = [pair for pair in random_tree(rng, 7) if rng.random() < 0.8]
    check_everything(engine, random_potentials(rng, cards, edges, 5.0), 1e-9)


@pytest.mark.parametrize("engine", ENGINES, ids=str)
@pytest.mark.parametrize("name", GRAPHS)
def test_every_engine_returns_sensible_beliefs(engine, name, rng):
    cards, edges = GRAPHS[name]
    potentials = random_potentials(rng, cards, edges, 0.5)
    assert isinstance(engine, Engine)
    beliefs = engine.infer(potentials)
    assert isinstance(beliefs, Beliefs)
    layout = beliefs.layout
    for i in range(layout.n_variables):
        assert beliefs.unary(i).sum() == pytest.approx(1.0)
    for e, (i, j) in enumerate(layout.edges):
        if beliefs.converged:
            np.testing.assert_allclose(beliefs.table(e).sum(axis=1), beliefs.unary(i), atol=1e-6)
            np.testing.assert_allclose(beliefs.table(e).sum(axis=0), beliefs.unary(j), atol=1e-6)
    assert beliefs.values.min() >= 0.0
    pairs = all_pairs(rng, layout.n_variables)
    flat, exact = engine.pair_marginals(potentials, beliefs, pairs)
    assert exact == beliefs.exact or getattr(engine, "rule", None) in ("product", "exact")
    for table in unflatten(flat, layout, pairs):
        assert table.sum() == pytest.approx(1.0, abs=1e-6)
    truth = enumerate_states(potentials)
    # An upper bound may be far above; how far below is the engine's own affair.
    slack = 2.0 if isinstance(engine, TreeReweighted) else 0.2
    assert truth.log_partition - 0.2 < beliefs.log_partition < truth.log_partition + slack


def test_engines_say_what_they_do():
    assert JunctionTree().describe() == "exact inference (junction tree)"
    loopy = "loopy belief propagation, inactive pairs by the path rule"
    assert LoopyBP().describe() == loopy
    assert Automatic().describe() == f"exact inference where it fits, else {loopy}"
    assert TreeReweighted(rule="product").describe() == (
        "tree-reweighted belief propagation (an upper bound on log Z), "
        "inactive pairs by the product rule"
    )
    assert LoopyBP(rule="exact").describe() == (
        "loopy belief propagation, inactive pairs by exact inference (junction tree)"
    )


@pytest.mark.parametrize(("engine", "name"), EXACT, ids=str)
def test_hard_zeros(engine, name, rng):
    cards, edges = GRAPHS[name]
    potentials = random_potentials(rng, cards, edges, 2.0)
    zero = rng.random(potentials.layout.size) < 0.25
    # The first state of every variable stays possible, so that some joint state has mass.
    zero[potentials.layout.unary_offsets[:-1]] = False
    zero[potentials.layout.edge_offsets[:-1]] = False
    potentials.weights[zero] = -np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        check_everything(engine, potentials, 1e-10)


@pytest.mark.parametrize("engine", ENGINES, ids=str)
def test_a_network_without_mass(engine):
    layout = Layout.of([2, 2, 2], [(0, 1), (1, 2)])
    weights = layout.zeros()
    layout.table(weights, 0)[:] = [[0, -np.inf], [0, -np.inf]]
    layout.table(weights, 1)[:] = [[-np.inf, -np.inf], [0, 0]]
    beliefs = engine.infer(Potentials(layout, weights))
    assert beliefs.log_partition == -np.inf
    assert not beliefs.values.any()


@pytest.mark.parametrize("engine", ENGINES, ids=str)
def test_no_variables_at_all(engine):
    beliefs = engine.infer(Potentials(Layout.of([]), np.zeros(0)))
    assert beliefs.log_partition == 0.0


@pytest.mark.parametrize("engine", ENGINES, ids=str)
def test_bad_pairs_are_refused(engine, rng):
    potentials = random_potentials(rng, [2, 2], [(0, 1)])
    beliefs = engine.infer(potentials)
    with pytest.raises(ValueError, match="two different"):
        engine.pair_marginals(potentials, beliefs, np.array([(1, 1)]))
    with pytest.raises(ValueError, match="0 to 1"):
        engine.pair_marginals(potentials, beliefs, np.array([(0, 2)]))
    flat, exact = engine.pair_marginals(potentials, beliefs, np.zeros((0, 2), dtype=np.int64))
    assert exact
    assert len(flat) == 0


@pytest.mark.parametrize("engine", ENGINES, ids=str)
def test_read_only_weights_and_same_answer_twice(engine, rng):
    potentials = random_potentials(rng, *GRAPHS["grid"])
    first = engine.infer(potentials).values
    potentials.weights.flags.writeable = False
    np.testing.assert_array_equal(engine.infer(potentials).values, first)
