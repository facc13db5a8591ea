"""What the page computes equals what Python computes."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.errors import ConvergenceWarning, DataError

from doors.inference import log_weights
from doors.report import network_model, state_texts

pytestmark = pytest.mark.browser

ASK = """
const [model, states, evidence, pairs, engine] = arguments[0];
const { network } = graftwork.decodeModel(model, states);
const asked = { evidence: new Map(evidence), pairs, engine };
const found = graftwork.answer(network, asked);
const best = graftwork.mode(network, { evidence: asked.evidence, engine });
return found && {
  values: [...found.values],
  pairs: pairs.map((e) => [...found.pairs.get(e)]),
  engine: found.engine,
  converged: found.converged,
  best: [...best.codes],
  exact: best.exact,
};
"""


def random_network(seed, scale=1.5, barred=0.0):
    """Return a network of 2 to 24 variables with 1 to 7 states, sparser where it is larger."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    cards = rng.integers(1, 8, n)
    pairs = {}
    for j in range(1, n):
        pairs[int(rng.integers(0, j)), j] = None
    for _ in range(int(rng.integers(0, 5))):
        i, j = sorted(rng.choice(n, 2, replace=False).tolist())
        pairs[i, j] = None

    def table(shape):
        values = scale * rng.normal(size=shape)
        values[rng.random(shape) < barred] = -np.inf
        return values

    names = [f"v{i}" for i in range(n)]
    return gw.PairwiseMRF(
        {name: [f"s{a}" for a in range(c)] for name, c in zip(names, cards, strict=True)},
        {name: scale * rng.normal(size=c) for name, c in zip(names, cards, strict=True)},
        {(names[i], names[j]): table((cards[i], cards[j])) for i, j in pairs},
    )


def random_evidence(model, seed):
    """Return hard evidence as Python takes it, and weights of all evidence as the page does."""
    rng = np.random.default_rng(1000 + seed)
    hard, weights = {}, {}
    for i, (name, states) in enumerate(model.states.items()):
        kind, code = rng.random(), int(rng.integers(len(states)))
        if kind < 0.15:
            hard[name] = states[code]
            weights[i] = [float(a == code) for a in range(len(states))]
        elif kind < 0.3 and len(states) > 1:
            soft = rng.random(len(states))
            soft[code] = 0.0 if len(states) > 2 and kind < 0.2 else soft[code]
            weights[i] = soft.tolist()
    return hard, weights


def weighed(model, weights, hard):
    """Return the network whose unaries have the soft evidence in them."""
    names = model.names
    unary = {name: model.unary(name) for name in names}
    with np.errstate(divide="ignore"):
        for i, likelihood in weights.items():
            if names[i] not in hard:
                unary[names[i]] = unary[names[i]] + np.log(likelihood)
    return gw.PairwiseMRF(model.states, unary, {e: model.table(*e) for e in model.edges})


def ask(page, model, weights, engine=None):
    evidence = [[i, likelihood] for i, likelihood in weights.items()]
    edges = list(range(model.n_edges))
    return page.js(ASK, [network_model(model), state_texts(model), evidence, edges, engine])


def score(model, codes):
    column = np.array(codes, dtype=np.uint16)[:, None]
    return float(log_weights(model.potentials, column)[0])


@pytest.fixture(scope="module")
def anywhere(browser, tmp_path_factory):
    """A page to ask in; which one does not matter."""
    path = tmp_path_factory.mktemp("pages") / "net.html"
    gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [0, 1]]}).explore(path)
    return path


def test_exact_answers_equal_those_of_python_on_fifty_networks(page, anywhere):
    page.open(anywhere)
    compared = 0
    for seed in range(50):
        model = random_network(seed, barred=0.06 if seed % 3 == 0 else 0.0)
        hard, weights = random_evidence(model, seed)
        true = weighed(model, weights, hard)
        found = ask(page, model, weights)
        try:
            wanted = true.marginals(hard, inference="exact")
        except DataError:
            assert found is None
            continue
        compared += 1
        assert found["engine"] == "exact"
        assert found["exact"]
        np.testing.assert_allclose(
            found["values"], np.concatenate(list(wanted.values())), rtol=0, atol=1e-9
        )
        for e, (a, b) in list(enumerate(model.edges))[:4]:
            joint = true.pair_marginal(a, b, hard, inference="exact")
            np.testing.assert_allclose(found["pairs"][e], joint.ravel(), rtol=0, atol=1e-9)
        best = true.map(hard, inference="exact")
        codes = [true.states[name].index(state) for name, state in best.items()]
        assert score(true, found["best"]) == pytest.approx(score(true, codes), abs=1e-9)
    assert compared >= 45


def test_belief_propagation_equals_that_of_python_on_fifty_networks(page, anywhere):
    page.open(anywhere)
    loops = 0
    for seed in range(50):
        model = random_network(seed, scale=0.7)
        hard, weights = random_evidence(model, seed)
        true = weighed(model, weights, hard)
        try:
            wanted = true.marginals(hard, inference="bp")
        except ConvergenceWarning:
            continue
        found = ask(page, model, weights, "bp")
        assert found["engine"] == "bp"
        assert found["converged"]
        values = np.concatenate(list(wanted.values()))
        np.testing.assert_allclose(found["values"], values, rtol=0, atol=1e-6)
        for e, (a, b) in list(enumerate(model.edges))[:4]:
            joint = true.pair_marginal(a, b, hard, inference="bp")
            np.testing.assert_allclose(found["pairs"][e], joint.ravel(), rtol=0, atol=1e-6)
        exact = np.concatenate(list(true.marginals(hard, inference="exact").values()))
        loops += np.abs(exact - values).max() > 1e-6
        # What a search finds is no better than the best, and here it finds it.
        codes = [
            true.states[name].index(s) for name, s in true.map(hard, inference="exact").items()
        ]
        assert not found["exact"]
        assert score(true, found["best"]) <= score(true, codes) + 1e-9
    assert loops >= 15


def test_large_networks_are_answered_by_belief_propagation(page, tmp_path):
    """A grid of 20 by 20 with five states: no junction tree of it fits."""
    rng = np.random.default_rng(0)
    names = {(r, c): f"{r},{c}" for r in range(20) for c in range(20)}
    pairs = {
        (names[r, c], names[near]): 0.3 * rng.normal(size=(5, 5))
        for r, c in names
        for near in ((r + 1, c), (r, c + 1))
        if near in names
    }
    model = gw.PairwiseMRF({name: range(5) for name in names.values()}, None, pairs)
    page.open(model.explore(tmp_path / "grid.html"), "v=21&if=0:0,1,0,0,0").settle()
    assert page.text(".badge") == "approximate · converged"
    assert "loopy belief propagation" in page.js("return document.querySelector('.badge').title")
    shown = page.numbers(".marginal .number")
    wanted = model.marginals({"0,0": 1}, inference="bp")["1,1"]
    np.testing.assert_allclose(shown, wanted, rtol=0, atol=1e-6)
