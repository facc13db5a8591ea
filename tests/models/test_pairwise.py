from __future__ import annotations

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.stats import spearmanr

import graftwork as gw
from graftwork.data import Table
from graftwork.errors import (
    ApproximationWarning,
    ConvergenceWarning,
    DataError,
    GraftworkError,
    TooLargeError,
)
from graftwork.inference import JunctionTree, Layout, LoopyBP, Potentials, TreeReweighted
from graftwork.models import PairwiseMRF, engine_for

from doors.inference import possible_state, search_mode
from doors.models import Gaps

STATES = {
    "colour": ["red", "green", "blue"],
    "size": [1, 2],
    "only": [None],
    "shape": ["round", "square"],
    "alone": [True, False],
    "count": [0, 1, 2, 3],
}


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    pairs = [("size", "colour"), ("colour", "shape"), ("shape", "count"), ("count", "size"),
             ("only", "size")]  # fmt: skip
    return PairwiseMRF(
        STATES,
        {name: rng.normal(size=len(listed)) for name, listed in STATES.items()},
        {(a, b): rng.normal(size=(len(STATES[a]), len(STATES[b]))) for a, b in pairs},
    )


@pytest.fixture(scope="module")
def joint(model):
    """Every joint state with its log weight, by a loop over dicts."""
    out = {}
    for row in itertools.product(*STATES.values()):
        cell = dict(zip(STATES, row, strict=True))
        energy = sum(model.unary(name)[STATES[name].index(x)] for name, x in cell.items())
        for a, b in model.edges:
            energy += model.table(a, b)[STATES[a].index(cell[a]), STATES[b].index(cell[b])]
        out[row] = energy
    return out


def weight(joint, **wanted):
    names = list(STATES)
    return sum(
        math.exp(energy)
        for row, energy in joint.items()
        if all(row[names.index(name)] == state for name, state in wanted.items())
    )


EVIDENCE = [None, {}, {"size": 2}, {"colour": "blue", "count": 3}, {"only": None}]


@pytest.mark.parametrize("evidence", EVIDENCE, ids=str)
@pytest.mark.parametrize("inference", ["exact", "auto", JunctionTree()], ids=str)
def test_queries_equal_enumeration(model, joint, evidence, inference):
    given = evidence or {}
    total = weight(joint, **given)
    asked = {"evidence": evidence, "inference": inference}
    assert model.log_partition(**asked) == pytest.approx(math.log(total), abs=1e-10)
    marginals = model.marginals(**asked)
    assert list(marginals) == list(STATES)
    for name, listed in STATES.items():
        for p, state in zip(marginals[name], listed, strict=True):
            both = {**given, name: state}
            clash = name in given and given[name] != state
            assert p == pytest.approx(0.0 if clash else weight(joint, **both) / total, abs=1e-12)
    for a, b in itertools.permutations(STATES, 2):
        table = model.pair_marginal(a, b, **asked)
        assert table.shape == (len(STATES[a]), len(STATES[b]))
        for (r, x), (c, y) in itertools.product(enumerate(STATES[a]), enumerate(STATES[b])):
            both = {**given, a: x, b: y}
            clash = any(both[name] != state for name, state in given.items())
            expected = 0.0 if clash else weight(joint, **both) / total
            assert table[r, c] == pytest.approx(expected, abs=1e-12)
    best = model.map(evidence)
    assert all(best[name] == state for name, state in given.items())
    allowed = [e for row, e in joint.items()
               if all(row[list(STATES).index(k)] == v for k, v in given.items())]  # fmt: skip
    assert joint[tuple(best.values())] == pytest.approx(max(allowed))


def test_bp_is_close_and_exact_on_a_forest(model):
    for name, p in model.marginals(inference="bp").items():
        np.testing.assert_allclose(p, model.marginals()[name], atol=0.05)
    tree = PairwiseMRF(STATES, None, {("colour", "count"): np.eye(3, 4)})
    assert tree.log_partition(inference="bp") == pytest.approx(tree.log_partition(), abs=1e-12)
    pair = tree.pair_marginal("count", "colour", inference=LoopyBP())
    np.testing.assert_allclose(pair, tree.pair_marginal("count", "colour"), atol=1e-12)


def test_trw_bounds_log_z_and_is_exact_on_a_forest(model):
    for evidence in (None, {"size": 2}):
        exact = model.log_partition(evidence)
        assert exact - 1e-12 <= model.log_partition(evidence, "trw") < exact + 1.0
    for name, p in model.marginals(inference="trw").items():
        np.testing.assert_allclose(p, model.marginals()[name], atol=0.15)
    loose = model.pair_marginal("colour", "alone", inference="trw")
    assert loose.sum() == pytest.approx(1.0)
    rows = model.sample(5, random_state=0)
    assert (model.log_prob(rows, inference="trw") <= model.log_prob(rows) + 1e-12).all()
    tree = PairwiseMRF(STATES, None, {("colour", "count"): np.eye(3, 4)})
    assert tree.log_partition(inference="trw") == pytest.approx(tree.log_partition(), abs=1e-12)
    pair = tree.pair_marginal("count", "colour", inference=TreeReweighted())
    np.testing.assert_allclose(pair, tree.pair_marginal("count", "colour"), atol=1e-12)


def test_messages_that_do_not_settle_are_reported():
    names = list(range(10))
    tables = {pair: [[-4.0, 4.0], [4.0, -4.0]] for pair in itertools.combinations(names, 2)}
    rng = np.random.default_rng(0)
    model = PairwiseMRF({k: [0, 1] for k in names}, {k: rng.normal(size=2) for k in names}, tables)
    with pytest.warns(ConvergenceWarning, match="loopy belief propagation.* did not converge"):
        model.marginals(inference="bp")
    with pytest.warns(ConvergenceWarning, match="tree-reweighted.* did not converge"):
        model.log_partition(inference=TreeReweighted(max_sweeps=3))


def test_everything_observed(model, joint):
    row = ("red", 1, None, "square", False, 2)
    evidence = dict(zip(STATES, row, strict=True))
    for inference in ("exact", "bp", "trw", "auto"):
        assert model.log_partition(evidence, inference) == pytest.approx(joint[row], abs=1e-12)
        assert model.marginals(evidence, inference)["shape"].tolist() == [0.0, 1.0]
        pair = model.pair_marginal("size", "shape", evidence, inference)
        assert pair.tolist() == [[0.0, 1.0], [0.0, 0.0]]
    assert model.map(evidence) == evidence
    for method in ("exact", "gibbs"):
        drawn = model.sample(3, evidence, 0, method)
        assert [dict(zip(drawn.names, cells, strict=True)) for cells in drawn] == [evidence] * 3


@pytest.mark.parametrize("method", ["auto", "exact", "gibbs"])
def test_samples_match_and_keep_the_evidence(model, method):
    drawn = model.sample(8_000, {"size": 2}, random_state=1, method=method)
    assert isinstance(drawn, Table)
    assert drawn.n_rows == 8_000
    assert set(drawn["size"].tolist()) == {2}
    marginals = model.marginals({"size": 2})
    for i, name in enumerate(model.names):
        seen = np.bincount(drawn.codes[i], minlength=len(STATES[name])) / 8_000
        np.testing.assert_allclose(seen, marginals[name], atol=0.03)


@pytest.mark.parametrize("method", ["exact", "gibbs"])
def test_same_seed_same_rows_for_any_number_of_threads(model, method):
    one = model.sample(200, random_state=4, method=method, n_jobs=1)
    two = model.sample(200, random_state=4, method=method, n_jobs=2)
    generator = model.sample(200, random_state=np.random.default_rng(4), method=method)
    np.testing.assert_array_equal(one.codes, two.codes)
    np.testing.assert_array_equal(one.codes, generator.codes)


def test_scores_of_rows(model, joint):
    rows = list(joint)[::7]
    total = weight(joint)
    expected = [joint[row] - math.log(total) for row in rows]
    names = list(STATES)
    columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    codes = [[STATES[n].index(x) for x in columns[n]] for n in names]
    table = Table(tuple(names), tuple(map(tuple, STATES.values())), np.array(codes))
    np.testing.assert_allclose(model.log_prob(table), expected, atol=1e-10)
    pseudo = []
    for row in rows:
        value = 0.0
        for k, listed in enumerate(STATES.values()):
            others = [math.exp(joint[(*row[:k], x, *row[k + 1 :])]) for x in listed]
            value += joint[row] - math.log(sum(others))
        pseudo.append(value)
    np.testing.assert_allclose(model.log_pseudo_likelihood(table), pseudo, atol=1e-10)
    np.testing.assert_array_equal(
        model.log_pseudo_likelihood(table, n_jobs=2), model.log_pseudo_likelihood(table)
    )


def test_rows_of_plain_containers_are_aligned():
    model = PairwiseMRF({"a": ["x", "y"], "b": [0, 1, 2]}, {"a": [1.0, 0.0]})
    rows = model.log_prob([["y", 2], ["x", 0]])
    np.testing.assert_allclose(rows, model.log_prob({"b": [2, 0], "a": ["y", "x"]}))
    with pytest.raises(DataError, match="z"):
        model.log_prob([["z", 0]])


def test_impossible_rows_and_impossible_evidence():
    model = PairwiseMRF(
        {"a": ["x", "y"], "b": ["u", "v"], "c": [0, 1]},
        pairwise={("a", "b"): [[0.0, -np.inf], [0.0, 0.0]]},
    )
    assert model.log_prob([["x", "v", 0]]) == -np.inf
    assert model.log_pseudo_likelihood([["x", "v", 0]]) == -np.inf
    assert 0.99 < model.strength("a", "b") <= 1.0  # with even margins a is in state x just if b is
    assert model.correlation("a", "b") == pytest.approx(model.strength("a", "b"))
    assert model.weight("a", "b") == np.inf
    bad = {"a": "x", "b": "v"}
    for ask in (model.marginals, model.log_partition, model.map):
        with pytest.raises(DataError, match=r"\{'a': 'x', 'b': 'v'\} has probability zero"):
            ask(bad)
    with pytest.raises(DataError, match="probability zero"):
        model.sample(1, bad)
    with pytest.raises(DataError, match="probability zero"):
        model.pair_marginal("a", "c", bad, "bp")
    nothing = PairwiseMRF({"a": [0, 1]}, {"a": [-np.inf, -np.inf]})
    with pytest.raises(DataError, match="every joint state"):
        nothing.marginals()


UNLIKE = [[-np.inf, 0.0], [0.0, -np.inf]]


def neighbours_differ(pairs):
    """Binary variables; those of a pair must differ."""
    names = sorted({name for pair in pairs for name in pair})
    return PairwiseMRF({name: [0, 1] for name in names}, None, dict.fromkeys(pairs, UNLIKE))


def sides_of_a_grid(side):
    across = [((r, c), (r, c + 1)) for r in range(side) for c in range(side - 1)]
    return across + [((c, r), (c + 1, r)) for r in range(side) for c in range(side - 1)]


QUESTIONS = {
    **{f"marginals {how}": lambda m, e, how=how: m.marginals(e, how)
       for how in ("auto", "exact", "bp", "trw", LoopyBP(max_sweeps=5))},
    **{f"log_partition {how}": lambda m, e, how=how: m.log_partition(e, how)
       for how in ("auto", "exact", "bp", "trw")},
    **{f"pair {how}": lambda m, e, how=how: m.pair_marginal("a", "c", e, how)
       for how in ("auto", "exact", "bp", "trw", TreeReweighted(rule="exact"))},
    **{f"map {how}": lambda m, e, how=how: m.map(e, how) for how in ("auto", "exact")},
    **{f"sample {how}": lambda m, e, how=how: m.sample(5, e, 0, how)
       for how in ("auto", "exact", "gibbs")},
}  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_contradictions_are_refused_however_one_asks(ask):
    triangle = neighbours_differ([("a", "b"), ("b", "c"), ("a", "c")])
    with pytest.raises(DataError, match="every joint state of this network is impossible"):
        ask(triangle, None)
    with pytest.raises(DataError, match=r"the evidence \{'a': 0\} has probability zero"):
        ask(triangle, {"a": 0})
    ring = neighbours_differ([*itertools.pairwise("abcdefgh"), ("a", "h"), ("h", "i"), ("i", "j")])
    if ask is not QUESTIONS["sample gibbs"]:  # two states, and no way from one to the other
        assert ask(ring, None) is not None
        assert ask(ring, {"d": 0, "j": 0}) is not None
    with pytest.raises(DataError, match=r"the evidence \{'d': 0, 'j': 1\} has probability zero"):
        ask(ring, {"d": 0, "j": 1})


@pytest.mark.parametrize("inference", ["exact", "bp", "trw"])
def test_rows_of_a_contradiction_have_no_probability(inference):
    triangle = neighbours_differ([("a", "b"), ("b", "c"), ("a", "c")])
    with pytest.raises(DataError, match="every joint state"):
        triangle.log_prob([[0, 1, 0]], inference)


def test_what_is_beyond_exact_inference_is_checked_for_contradictions():
    sides = sides_of_a_grid(30)
    odd = neighbours_differ([*sides, ((0, 0), (1, 1))])
    for ask in (odd.marginals, odd.map, lambda: odd.sample(2, random_state=0)):
        with pytest.raises(DataError, match="every joint state of this network is impossible"):
            ask()
    fine = neighbours_differ(sides)
    with pytest.warns(ApproximationWarning, match="best of a search"):
        best = fine.map()
    assert all(best[a] != best[b] for a, b in sides)
    with pytest.raises(DataError, match="cut the space apart"):
        fine.sample(2, random_state=0)


def test_a_check_that_is_too_long_is_a_warning(monkeypatch):
    monkeypatch.setattr(
        "graftwork.models.engines.possible_state", lambda p: possible_state(p, most_tries=0)
    )
    ring = neighbours_differ([*itertools.pairwise("abcdef"), ("a", "f")])
    with pytest.warns(ApproximationWarning, match="was not found out in 0 tries"):
        found = ring.marginals(inference="bp")
    np.testing.assert_allclose(found["a"], 0.5)


def test_attributes(model):
    assert model.names == tuple(STATES)
    assert model.states["size"] == (1, 2)
    assert (model.n_variables, model.n_edges) == (6, 5)
    assert ("colour", "size") in model.edges
    np.testing.assert_array_equal(model.table("size", "colour"), model.table("colour", "size").T)
    assert repr(model) == "PairwiseMRF: 6 variables, 5 edges"
    assert model.strength("only", "size") == pytest.approx(0.0)
    flat = PairwiseMRF.from_flat(model.names, list(STATES.values()), model.potentials)
    assert flat == model
    assert flat != PairwiseMRF(STATES)
    assert model != 3
    assert pickle.loads(pickle.dumps(model)) == model
    assert copy.deepcopy(model) == model
    with pytest.raises(ValueError, match="read-only"):
        model.potentials.weights[0] = 1.0


def test_tables_do_not_change_with_what_was_passed():
    table = np.eye(2)
    model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): table})
    table[:] = 9.0
    model.table("a", "b")[:] = 9.0
    assert model.table("a", "b").tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_to_networkx(model):
    graph = model.to_networkx()
    assert set(graph.nodes) == set(STATES)
    assert graph.number_of_edges() == 5
    assert graph.edges["size", "colour"] == {"strength": model.strength("colour", "size")}
    assert graph.nodes["size"] == {"states": "[1, 2]"}


AB = {"a": [0, 1], "b": ["x", "y", "z"]}
WRONG = {
    "unknown unary": (
        {"states": AB, "unary": {"aa": [0, 0]}},
        r"no variable 'aa'; did you mean 'a'",
    ),
    "unknown edge": ({"states": AB, "pairwise": {("a", "q"): np.eye(2)}}, "no variable 'q'"),
    "unary shape": ({"states": AB, "unary": {"a": [0, 0, 0]}}, r"shape \(3,\).*need \(2,\)"),
    "table shape": ({"states": AB, "pairwise": {("a", "b"): np.zeros((3, 2))}}, r"need \(2, 3\)"),
    "both orders": (
        {"states": AB, "pairwise": {("a", "b"): np.zeros((2, 3)), ("b", "a"): np.zeros((3, 2))}},
        "given twice",
    ),
    "self edge": ({"states": AB, "pairwise": {("a", "a"): np.eye(2)}}, "to itself"),
    "not a pair": ({"states": AB, "pairwise": {"ab": np.eye(2)}}, "not a pair"),
    "duplicate state": ({"states": {"a": [0, 0]}}, "given twice"),
    "equal numbers": ({"states": {"a": [1, 1.0]}}, "given twice"),
    "nan name": ({"states": {float("nan"): [0, 1]}}, "name of a variable: it is never found"),
    "nan state": ({"states": {"a": [0.0, float("nan")]}}, "never found again"),
    "text as states": ({"states": {"a": "xy"}}, "list of states"),
    "no states": ({"states": {"a": []}}, "at least one"),
    "no variables": ({"states": {}}, "at least one variable"),
    "nan": ({"states": AB, "unary": {"a": [0, np.nan]}}, "NaN"),
    "+inf": ({"states": AB, "pairwise": {("a", "b"): np.full((2, 3), np.inf)}}, r"\+inf"),
    "too large": ({"states": AB, "unary": {"a": [1e300, -1e300]}}, r"beyond 1e.100"),
    "not numbers": ({"states": AB, "unary": {"a": ["p", "q"]}}, "not a table of numbers"),
    "not a dict": ({"states": AB, "unary": [0, 0]}, "must be a dict"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_refused_in_a_sentence(case):
    arguments, sentence = WRONG[case]
    with pytest.raises(DataError, match=sentence):
        PairwiseMRF(**arguments)


def test_wrong_questions_are_refused(model):
    with pytest.raises(GraftworkError, match="no variable 'colr'; did you mean 'colour'"):
        model.marginals({"colr": "red"})
    with pytest.raises(GraftworkError, match=r"'size' has no state '2'.*Its states are 1, 2"):
        model.marginals({"size": "2"})
    with pytest.raises(GraftworkError, match="no state 1"):
        model.marginals({"alone": 1})
    with pytest.raises(GraftworkError, match="two different"):
        model.pair_marginal("size", "size")
    with pytest.raises(GraftworkError, match="no edge between"):
        model.table("alone", "size")
    with pytest.raises(GraftworkError, match="inference is 'magic'"):
        model.marginals(inference="magic")
    with pytest.raises(GraftworkError, match="inference is 3"):
        model.marginals(inference=3)
    with pytest.raises(GraftworkError, match="evidence is"):
        model.marginals(["size"])
    with pytest.raises(GraftworkError, match="method is"):
        model.sample(1, method="magic")
    with pytest.raises(GraftworkError, match="number of rows"):
        model.sample(-1)
    with pytest.raises(GraftworkError, match="differ from the states"):
        PairwiseMRF.from_flat(["a"], [[0, 1, 2]], Potentials(Layout.of([2]), np.zeros(2)))


def test_too_large_networks_say_so_and_auto_falls_back():
    names = [f"v{k}" for k in range(40)]
    tables = {pair: 0.02 * np.eye(2) for pair in itertools.combinations(names, 2)}
    model = PairwiseMRF({name: [0, 1] for name in names}, None, tables)
    with pytest.raises(TooLargeError, match="treewidth 39"):
        model.log_partition()
    with pytest.warns(ApproximationWarning):
        assert model.log_partition(inference="auto") > 40 * math.log(2)
    assert isinstance(engine_for("auto", model.potentials.layout), LoopyBP)
    assert model.sample(10, random_state=0).n_rows == 10
    known = dict.fromkeys(names[:30], 0)
    assert model.log_partition(known) > 0


def test_one_variable_of_one_state():
    model = PairwiseMRF({0: ["x"]}, {0: [3.0]})
    assert model.log_partition() == 3.0
    assert model.marginals()[0].tolist() == [1.0]
    assert model.map() == {0: "x"}
    assert model.sample(2, random_state=0).codes.tolist() == [[0, 0]]
    assert model.log_prob([["x"]]).tolist() == [0.0]


def _dense_network(n=40, states=3):
    names = [f"v{i}" for i in range(n)]
    rng = np.random.default_rng(0)
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    tables = {pair: rng.normal(0, 0.1, (states, states)) for pair in pairs}
    return PairwiseMRF({name: range(states) for name in names}, None, tables)


def test_what_is_too_large_is_answered_approximately_with_a_warning_or_refused():
    model = _dense_network()
    with pytest.warns(ApproximationWarning, match="joint states were drawn"):
        assert np.isclose(model.marginals()["v0"].sum(), 1.0)
    with pytest.warns(ApproximationWarning, match="search"):
        found = model.map()
    assert set(found) == set(model.names)
    for ask in (model.marginals, model.map):
        with pytest.raises(TooLargeError):
            ask(inference="exact")


def test_large_networks_are_sampled_since_messages_may_settle_far_from_the_truth(monkeypatch):
    # All pairs of 40 variables agree a little: either side is as likely, and messages choose one.
    names = [f"v{k}" for k in range(40)]
    tables = {pair: 0.1 * np.eye(2) for pair in itertools.combinations(names, 2)}
    unaries = {name: [0.0, 0.001 * (name == "v0")] for name in names}
    model = PairwiseMRF({name: [0, 1] for name in names}, unaries, tables)
    # The number of ones alone decides: 40 variables are summed over by hand.
    ones = np.arange(41)
    agree = 0.1 * (ones * (ones - 1) + (40 - ones) * (39 - ones)) / 2
    ways = np.array([math.comb(40, k) for k in ones], dtype=float)
    share = ones / 40
    weight = ways * np.exp(agree - agree.max()) * (share * np.exp(0.001) + 1 - share)
    first = (ways * np.exp(agree - agree.max()) * share * np.exp(0.001)).sum() / weight.sum()
    with pytest.warns(ApproximationWarning, match="joint states were drawn"):
        answer = model.answer()
    assert answer.how == "sampled"
    assert 0 < answer.noise < 0.03
    assert abs(answer.marginals["v0"][1] - first) < 4 * answer.noise + 0.005
    settled = model.answer(inference="bp")
    assert settled.converged
    assert abs(settled.marginals["v0"][1] - first) > 0.2
    monkeypatch.setattr("graftwork.inference.sampled.MOST_MOVES", 0)
    with pytest.warns(ApproximationWarning, match="belief propagation was used, which converged"):
        assert model.answer().how == "approximate"


def test_frequencies_of_pairs_are_those_of_the_rows():
    rows = [["sun", "dry"], ["rain", "wet"], ["rain", "dry"], ["rain", "dry"]] * 50
    model = gw.MarkovNetwork(states={"x0": ["rain", "sun", "fog"], "x1": ["dry", "wet"]}).fit(rows)
    found = model.model_.pair_frequencies("x1", "x0")
    assert found.tolist() == [[0.5, 0.25, 0.0], [0.25, 0.0, 0.0]]
    assert PairwiseMRF({"a": [0, 1], "b": [0, 1]}).pair_frequencies("a", "b") is None
    with pytest.raises(DataError, match="two different variables"):
        model.model_.pair_frequencies("x0", "x0")


def test_searched_modes_are_modes_of_small_networks():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        names = [f"v{i}" for i in range(6)]
        tables = {(a, b): rng.normal(0, 1, (3, 3)) for a, b in itertools.pairwise(names)}
        model = PairwiseMRF({name: range(3) for name in names}, None, tables)
        _, exact = JunctionTree().maximise(model.potentials)
        _, found = search_mode(model.potentials, rng)
        assert np.isclose(exact, found)


@pytest.mark.parametrize("engine", ["auto", "exact", "bp", "trw"])
def test_a_table_that_allows_nothing_is_refused(engine):
    model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): np.full((2, 2), -np.inf)})
    for ask in (model.marginals, model.log_partition):
        with pytest.raises(DataError, match="impossible"):
            ask(inference=engine)


def test_every_edge_of_ordered_variables_has_a_sign_however_bent_its_table_is():
    scores = np.arange(5) - 2.0
    u_shaped = np.outer(scores, scores**2 - 2.0)
    for table, sign in (
        (2.0 * np.eye(5), 1),
        (2.0 * np.eye(5)[::-1], -1),
        (0.3 * u_shaped - 0.05 * np.outer(scores, scores), -1),
        (0.3 * u_shaped + 0.05 * np.outer(scores, scores), 1),
        (0.5 * np.eye(5), 1),  # a little more often alike than not
    ):
        model = ordered_pair(table)
        assert model.linear_share("a", "b") < 0.5
        assert np.sign(model.weight("a", "b")) == np.sign(model.correlation("a", "b")) == sign
        assert model.weight("b", "a") == pytest.approx(model.weight("a", "b"))
        assert model.strength("a", "b") >= abs(model.correlation("a", "b")) - 1e-12
    bent = ordered_pair(0.3 * u_shaped)
    assert abs(bent.weight("a", "b")) < 1e-12
    assert abs(bent.correlation("a", "b")) < 1e-6
    assert bent.strength("a", "b") > 0.5  # tied, in another way than by a line


def ordered_pair(table, frequencies=()):
    """Return two variables of five ordered states with a table between them."""
    plain = PairwiseMRF({"a": range(1, 6), "b": range(1, 6)}, None, {("a", "b"): table})
    order = {"a": [1, 2, 3, 4, 5], "b": [1, 2, 3, 4, 5]}
    return PairwiseMRF.from_flat(
        plain.names,
        [*plain.states.values()],
        plain.potentials,
        Gaps(frequencies=frequencies),
        order,
    )


def test_sizes_are_those_of_the_pair_with_the_edges_odds_and_the_rows_frequencies():
    """The joint by a general solver; sizes from draws of it, by regression on dummies."""
    rng = np.random.default_rng(3)
    table, p, q = rng.normal(size=(5, 5)), rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(5))
    model = ordered_pair(table, (p, q))

    def away(u):
        joint = np.exp(table + u[:5, None] + u[5:])
        return np.r_[joint.sum(axis=1) - p, joint.sum(axis=0)[:4] - q[:4], u[9]]

    u = least_squares(away, np.r_[np.log(p), np.log(q)], xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    joint = np.exp(table + u[:5, None] + u[5:])
    np.testing.assert_allclose(joint.sum(axis=0), q, atol=1e-8)
    cells = rng.choice(25, 400_000, p=joint.ravel() / joint.sum())
    a, b = cells // 5, cells % 5
    assert model.correlation("a", "b") == pytest.approx(np.corrcoef(a, b)[0, 1], abs=0.006)
    ratios = [1 - (y - np.bincount(x, y)[x] / np.bincount(x)[x]).var() / y.var()
              for x, y in ((a, b), (b, a))]  # fmt: skip
    assert model.strength("a", "b") == pytest.approx(np.sqrt(max(ratios)), abs=0.006)
    # Without an order it is what normal variables of as much mutual information correlate.
    plain = PairwiseMRF.from_flat(
        model.names, [*model.states.values()], model.potentials, Gaps(frequencies=(p, q))
    )
    information = np.sum(joint * np.log(joint / np.outer(p, q)))
    r = plain.strength("a", "b")
    assert -0.5 * np.log(1 - r**2) == pytest.approx(information, rel=1e-6)
    assert np.isnan([plain.correlation("a", "b"), plain.weight("a", "b")]).all()


def test_the_weight_is_the_line_closest_to_the_table_where_the_rows_are():
    """Weighted least squares on the cells, with an effect of each state besides."""
    rng = np.random.default_rng(4)
    table, p, q = rng.normal(size=(5, 5)), rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(5))
    x, y = np.divmod(np.arange(25), 5)
    effects = np.column_stack([np.eye(5)[x], np.eye(5)[y]])
    design = np.column_stack([np.outer(range(5), range(5)).ravel(), effects])
    root = np.sqrt(np.outer(p, q).ravel())

    def left(columns):
        found = np.linalg.lstsq(columns * root[:, None], table.ravel() * root, rcond=None)[0]
        return found, np.sum((root * (table.ravel() - columns @ found)) ** 2)

    (found, rest), (_, whole) = left(design), left(effects)
    model = ordered_pair(table, (p, q))
    assert model.weight("a", "b") == pytest.approx(found[0])
    assert model.linear_share("a", "b") == pytest.approx(1 - rest / whole)
    # Of a straight table the frequencies do not matter.
    straight = 0.3 * np.outer(range(5), range(5)) + rng.normal(size=5)
    for frequencies in ((), (p, q)):
        assert ordered_pair(straight, frequencies).weight("a", "b") == pytest.approx(0.3)
        assert ordered_pair(straight, frequencies).linear_share("a", "b") == pytest.approx(1.0)


def cut_normal(r, rows, columns, rng):
    """Return the joint of two normal variables of correlation r, cut into states."""
    u, v = (np.linspace(-4, 4, 401) for _ in range(2))
    density = np.exp(-(u[:, None] ** 2 + v**2 - 2 * r * u[:, None] * v) / (2 * (1 - r**2)))
    density /= density.sum()
    at = [
        np.searchsorted(np.sort(rng.dirichlet(np.full(k, 5.0)).cumsum()[:-1]),
                        density.sum(axis=axis).cumsum())
        for k, axis in ((rows, 1), (columns, 0))
    ]  # fmt: skip
    joint = np.zeros((rows, columns))
    np.add.at(joint, (at[0][:, None], at[1]), density)
    return joint


@pytest.mark.parametrize("ordered", [True, False])
def test_strengths_order_edges_of_mixed_numbers_of_states(ordered):
    """Against the correlation of the normal variables that the states are cut from."""
    rng = np.random.default_rng(5)
    truth = np.linspace(0.1, 0.85, 24)
    cards = rng.choice([2, 3, 5, 7], (24, 2))
    states, pairs, shares, norms = {}, {}, [], []
    for e, (r, (rows, columns)) in enumerate(zip(truth, cards.tolist(), strict=True)):
        joint = cut_normal(r, rows, columns, rng)
        states |= {("a", e): range(rows), ("b", e): range(columns)}
        pairs[("a", e), ("b", e)] = np.log(joint)
        shares += [joint.sum(axis=1), joint.sum(axis=0)]
        centred = np.log(joint) - np.log(joint).mean(axis=0)
        norms.append(np.linalg.norm(centred - centred.mean(axis=1, keepdims=True)))
    plain = PairwiseMRF(states, None, pairs)
    model = PairwiseMRF.from_flat(
        plain.names, [*states.values()], plain.potentials, Gaps(frequencies=tuple(shares)),
        {name: own for name, own in states.items() if ordered or len(own) == 2},
    )  # fmt: skip
    right, before = (spearmanr(sizes, truth).statistic for sizes in (model.strengths, norms))
    assert right > 0.9 > before  # norms grow with the number of states
    fine = (cards >= 5).all(axis=1)
    assert model.strengths[fine] == pytest.approx(truth[fine], abs=0.1)
