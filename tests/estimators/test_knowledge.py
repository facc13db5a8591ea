"""What users know about edges: every way to say it, and what is refused."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from graftwork import MarkovNetwork, PriorKnowledge
from graftwork.data import Table
from graftwork.errors import ConvergenceWarning, DataWarning, ParameterError, TooLargeError
from graftwork.parameters import gather
from graftwork.recipes import RECIPES

from doors.estimators import named_pairs, read_weights
from support.problems import random_table

NAMES = tuple(f"v{i}" for i in range(6))
TABLE = random_table(21, n=6, rows=200, most=3)


def fit(method="best-choice", table=TABLE, **options):
    return MarkovNetwork(method, **gather({"lam": 0.03, "random_state": 0, **options})).fit(table)


def edges(net):
    return {frozenset(edge) for edge in net.graph_.edges}


@pytest.mark.some(3)
@pytest.mark.parametrize("method", RECIPES)
def test_every_method_keeps_to_what_is_known(method):
    forbidden = [("v1", "v0"), ("v2", "v3")]
    net = fit(method, required=[("v5", "v0")], forbidden=forbidden)
    assert frozenset(("v0", "v5")) in edges(net)
    assert not edges(net) & set(map(frozenset, forbidden))
    assert net.knowledge_ == {"required": 1, "forbidden": 2, "weighted": 0}
    assert net.info()["knowledge"] == net.knowledge_


def test_lists_graphs_and_functions_mean_the_same():
    pairs = [("v0", "v1"), ("v2", "v5"), ("v3", "v4")]
    weights = fit(candidates=pairs).model_.potentials.weights
    assert 0 < len(edges(fit(candidates=pairs))) <= 3
    ways = [
        nx.Graph(pairs),
        np.array(pairs),
        [p[::-1] for p in pairs],
        lambda a, b: (a, b) in pairs,
        lambda a, b: (b, a) in pairs,
    ]
    for way in ways:
        assert np.array_equal(fit(candidates=way).model_.potentials.weights, weights)
    everything = fit(forbidden=lambda a, b: (a, b) not in pairs)
    assert everything.certificate_.n_barred == 15  # the other order of each is not in the list
    others = fit(forbidden=lambda a, b: tuple(sorted((a, b))) not in pairs)
    assert np.array_equal(others.model_.potentials.weights, weights)
    assert others.certificate_.n_barred == 12


def test_dicts_functions_matrices_and_frames_mean_the_same():
    factors = {("v1", "v0"): 0.2, ("v2", "v4"): 3.0, ("v3", "v5"): np.inf}
    matrix = np.ones((6, 6))
    for (a, b), factor in factors.items():
        matrix[NAMES.index(a), NAMES.index(b)] = matrix[NAMES.index(b), NAMES.index(a)] = factor
    np.fill_diagonal(matrix, np.nan)
    frame = pd.DataFrame(matrix, NAMES, NAMES)
    ways = [
        factors,
        lambda a, b: factors.get((a, b), factors.get((b, a), 1)),
        matrix,
        matrix.tolist(),
        frame,
        frame.iloc[::-1, [2, 0, 1, 5, 4, 3]],
    ]
    answers = [fit(penalty_weights=way) for way in ways]
    for net in answers:
        assert np.array_equal(net.model_.potentials.weights, answers[0].model_.potentials.weights)
        assert net.knowledge_ == {"required": 0, "forbidden": 1, "weighted": 2}
    small = read_weights(frame.iloc[:2, :2], NAMES)
    assert small.at(np.array([[0, 1], [2, 4]])).tolist() == [0.2, 1.0]


def test_weights_change_what_is_found():
    pair = frozenset(("v0", "v4"))
    assert pair in edges(fit(penalty_weights={("v0", "v4"): 0.0}))
    assert pair not in edges(fit(penalty_weights={("v0", "v4"): 50.0}))
    base = fit()
    same = fit(penalty_weights={("v0", "v4"): 1.0}, candidates=lambda a, b: True)
    assert np.array_equal(base.model_.potentials.weights, same.model_.potentials.weights)
    assert base.knowledge_ is None


def test_required_pairs_need_not_be_candidates_and_forbidden_ones_are_none():
    net = fit(required=[("v0", "v1")], candidates=[("v2", "v3"), ("v3", "v4")],
              forbidden=[("v3", "v4")])  # fmt: skip
    assert frozenset(("v0", "v1")) in edges(net)
    assert edges(net) <= {frozenset(("v0", "v1")), frozenset(("v2", "v3"))}
    assert net.knowledge_ == {"required": 1, "forbidden": 13, "weighted": 0}


@pytest.mark.parametrize("loss", ["pseudolikelihood", "likelihood"])
def test_choosing_lambda_keeps_to_what_is_known(loss):
    known = {"required": [("v5", "v0")], "forbidden": [("v0", "v1")]}
    net = fit(lam="auto", loss=loss, penalty_weights={("v2", "v3"): 0.0}, **known)
    assert frozenset(("v0", "v5")) in edges(net)
    assert frozenset(("v0", "v1")) not in edges(net)
    assert net.certificate_.converged
    noise = np.random.default_rng(0).integers(0, 2, (300, 4))
    net = fit(lam="auto", table=noise, required=[("x0", "x1")])
    assert list(net.graph_.edges) == [("x0", "x1")]


def test_names_may_be_anything_that_can_be_one():
    names = (("a", 1), 2, "c")
    table = Table(names, TABLE.states[:3], TABLE.codes[:3])
    net = fit(table=table, required=[(2, ("a", 1))], forbidden=[("c", 2)], penalty="l1")
    assert frozenset((("a", 1), 2)) in edges(net)
    assert frozenset(("c", 2)) not in edges(net)


def test_a_constant_column_has_no_required_edge():
    table = Table((*NAMES, "same"), (*TABLE.states, (0, 1)), [*TABLE.codes, [0] * TABLE.n_rows])
    with pytest.warns(DataWarning, match="never changes, such as 'same'"):
        net = fit(table=table, required=[("same", "v1"), ("v0", "v1")])
    assert net.knowledge_["required"] == 1
    assert frozenset(("v0", "v1")) in edges(net)


def test_trees_and_budgets_have_room_for_what_is_required():
    cycle = [("v0", "v1"), ("v1", "v2"), ("v0", "v2")]
    with pytest.raises(ParameterError, match="form a cycle"):
        fit("chow-liu", required=cycle)
    assert set(map(frozenset, cycle)) <= edges(fit("forced-pruning", required=cycle, max_edges=5))
    assert set(map(frozenset, cycle)) <= edges(fit(start="chow-liu", required=cycle))
    with pytest.raises(ParameterError, match="max_edges=2 leaves no room for the 3"):
        fit(required=cycle, max_edges=2)
    exactly = fit(required=cycle, max_edges=3)
    assert edges(exactly) == set(map(frozenset, cycle))
    assert exactly.certificate_.stop == "edges"
    begun = fit(start=[("v3", "v4"), ("v4", "v5")], required=cycle[:2], max_edges=2)
    assert edges(begun) == set(map(frozenset, cycle[:2]))


def test_functions_are_not_asked_about_too_many_pairs(monkeypatch):
    monkeypatch.setattr(named_pairs, "MOST_ASKED", 14)
    with pytest.raises(TooLargeError, match=r"about 15 pairs .* give a list of pairs of names"):
        fit(forbidden=lambda a, b: False)
    with pytest.raises(TooLargeError, match="give a dict"):
        fit(penalty_weights=lambda a, b: 1.0)


def test_parameters_survive_a_clone():
    known = {
        "required": [("v0", "v1")],
        "forbidden": nx.Graph([("v0", "v2")]),
        "candidates": max,
        "penalty_weights": {("v0", "v3"): 2.0},
    }
    for given in (known, PriorKnowledge(**known)):
        twin = PriorKnowledge.read(clone(MarkovNetwork(knowledge=given)).knowledge)
        for name in ("required", "candidates", "penalty_weights"):
            assert getattr(twin, name) == known[name]
        assert list(twin.forbidden.edges) == [("v0", "v2")]


def test_a_required_pair_without_a_finite_optimum_is_said():
    """States that never occur together drive free weights to infinity: any number is arbitrary."""
    rng = np.random.default_rng(3)
    a, c = rng.integers(0, 2, 300), rng.integers(0, 3, 300)
    rows = {"a": a, "b": np.where(a == 1, 0, rng.integers(0, 2, 300)), "c": c}
    known = {"required": [("a", "b"), ("a", "c")]}
    with pytest.warns(ConvergenceWarning, match="a - b has no finite optimum"):
        net = MarkovNetwork(lam=0.05, knowledge=known).fit(rows)
    assert net.fit_.endless == (("a", "b"),)
    assert "But a - b has no finite optimum" in " ".join(net.summary().split())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        finite = MarkovNetwork(lam=0.05, knowledge=known, penalty_options={"l2": 0.01}).fit(rows)
        tested = MarkovNetwork(knowledge=known).fit(rows)  # refits have a prior
        squared = MarkovNetwork(lam=0.05, penalty="l2").fit(rows)
    assert finite.fit_.endless == tested.fit_.endless == squared.fit_.endless == ()
