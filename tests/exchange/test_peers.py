"""Real readers agree: pgmpy, pyAgrum, pyGMs, pytoulbar2, toulbar2 on our files, we on theirs.

make test-exchange runs this where they are installed (.venv-peers); elsewhere it is skipped.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from graftwork import exchange
from graftwork.errors import DataError
from graftwork.models import PairwiseMRF

from doors.exchange import without_constants
from support.made_networks import NETWORKS, enumerate_model, with_zeros

PEERS = ("pgmpy", "pyagrum", "pygms", "pytoulbar2", "evcouplings")
TOULBAR2 = os.environ.get("TOULBAR2") or shutil.which("toulbar2")
if TOULBAR2 is None and not any(map(importlib.util.find_spec, PEERS)):
    pytest.skip("none of the peers is installed; use make test-exchange", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")
TOLERANCE = 1e-6
#: Copies of a network in one file: toulbar2 prints log Z with three digits behind the point.
COPIES = 1000


def peer(name):
    return pytest.importorskip(name, reason=f"{name} is not installed; make test-exchange has it")


def close(found, expected):
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=TOLERANCE)


def asked(model):
    return model.log_partition(), list(model.marginals().values())


def agree(found, expected):
    assert found[0] == pytest.approx(expected[0], abs=TOLERANCE)
    close(found[1], expected[1])


# ---- pgmpy -----------------------------------------------------------------------------------


def by_pgmpy(network, names):
    inference = peer("pgmpy.inference")
    engine = inference.VariableElimination(network)
    found = [engine.query([name], show_progress=False).values for name in names]
    total = np.log(network.get_partition_function())
    return total, [values / values.sum() for values in found]


@pytest.mark.parametrize("seed", NETWORKS)
def test_pgmpy_reads_our_files(seed, tmp_path):
    readwrite = peer("pgmpy.readwrite")
    model = NETWORKS[seed]
    rest = without_constants(model)
    model.export(tmp_path / "net.basic.uai")
    network = readwrite.UAIReader(str(tmp_path / "net.basic.uai")).get_model()
    names = [f"var_{i}" for i in range(rest.n_variables)]
    log_z, marginals = enumerate_model(model)
    agree(by_pgmpy(network, names), (log_z, [m for m in marginals if len(m) > 1]))


@pytest.mark.parametrize("seed", NETWORKS)
def test_pgmpy_objects_both_ways(seed):
    peer("pgmpy")
    model = NETWORKS[seed]
    network = exchange.to_pgmpy(model)
    assert set(network.nodes()) == set(model.names)
    assert {frozenset(e) for e in network.edges()} == {frozenset(e) for e in model.edges}
    agree(by_pgmpy(network, model.names), enumerate_model(model))
    back = exchange.from_pgmpy(network)
    assert (back.states, back.edges) == (model.states, model.edges)
    agree(asked(back), enumerate_model(model))


@pytest.mark.parametrize("seed", NETWORKS)
def test_we_read_files_of_pgmpy(seed, tmp_path):
    readwrite = peer("pgmpy.readwrite")
    model = NETWORKS[seed]
    readwrite.UAIWriter(exchange.to_pgmpy(model)).write(str(tmp_path / "net.uai"))
    cards = {name: str(len(own)) for name, own in model.states.items()}
    order = sorted(model.names, key=lambda name: (cards[name], name))  # as texts
    log_z, marginals = enumerate_model(model)
    places = [model.names.index(name) for name in order]
    agree(asked(exchange.load(tmp_path / "net.uai")), (log_z, [marginals[i] for i in places]))


def test_states_of_pgmpy_in_another_order():
    discrete, models = peer("pgmpy.factors.discrete"), peer("pgmpy.models")
    network = models.DiscreteMarkovNetwork([("a", "b")])
    one = {"a": ["x", "y"], "b": [0, 1]}
    other = {"a": ["y", "x"], "b": [0, 1]}
    network.add_factors(
        discrete.DiscreteFactor(["a", "b"], [2, 2], [1, 2, 3, 4], state_names=one),
        discrete.DiscreteFactor(["a"], [2], [10, 1], state_names={"a": other["a"]}),
    )
    model = exchange.from_pgmpy(network)
    assert model.states == {"a": ("x", "y"), "b": (0, 1)}
    assert np.exp(model.log_partition()) == pytest.approx(3 + 70)


def test_impossible_states_reach_pgmpy_and_come_back():
    peer("pgmpy")
    model = with_zeros()
    back = exchange.from_pgmpy(exchange.to_pgmpy(model))
    assert np.isneginf(back.potentials.weights).sum() == 2
    agree(asked(back), enumerate_model(model))


def test_bayesian_networks_of_pgmpy_are_told_from_markov_networks():
    models = peer("pgmpy.models")
    with pytest.raises(DataError, match="is not a Markov network of pgmpy"):
        exchange.from_pgmpy(models.DiscreteBayesianNetwork([("a", "b")]))


# ---- pyAgrum ---------------------------------------------------------------------------------


def by_pyagrum(network, names):
    gum = peer("pyagrum")
    engine = gum.ShaferShenoyMRFInference(network)
    engine.makeInference()
    # Of a variable with one state it may return [[1.0]].
    return [np.ravel(engine.posterior(name).tolist()) for name in names]


def partition_of(network):
    """pyAgrum has no partition function: the product of its factors, summed."""
    gum = peer("pyagrum")
    product = None
    for scope in network.factors():
        tensor = gum.Tensor(network.factor(scope))
        product = tensor if product is None else product * tensor
    return np.log(product.sum())


@pytest.mark.parametrize("seed", NETWORKS)
def test_pyagrum_reads_our_files(seed, tmp_path):
    gum = peer("pyagrum")
    model = NETWORKS[seed]
    rest = without_constants(model)
    model.export(tmp_path / "net.basic.uai")
    network = gum.loadMRF(str(tmp_path / "net.basic.uai"))
    log_z, marginals = enumerate_model(model)
    close(by_pyagrum(network, map(str, range(rest.n_variables))),
          [m for m in marginals if len(m) > 1])  # fmt: skip
    assert partition_of(network) == pytest.approx(log_z, abs=TOLERANCE)


@pytest.mark.parametrize("seed", NETWORKS)
def test_pyagrum_objects_both_ways(seed):
    peer("pyagrum")
    model = NETWORKS[seed]
    network = exchange.to_pyagrum(model)
    log_z, marginals = enumerate_model(model)
    close(by_pyagrum(network, model.names), marginals)
    assert partition_of(network) == pytest.approx(log_z, abs=TOLERANCE)
    back = exchange.from_pyagrum(network)
    assert (back.states, back.edges) == (model.states, model.edges)
    agree(asked(back), (log_z, marginals))


@pytest.mark.parametrize("seed", range(20))
def test_we_read_files_of_pyagrum(seed, tmp_path):
    gum = peer("pyagrum")
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 6, rng.integers(2, 8)).tolist()
    network = gum.MarkovRandomField()
    for i, card in enumerate(cards):
        network.add(gum.LabelizedVariable(f"v{i}", "", card))
        network.addFactor([i]).fillWith((rng.integers(1, 999, card) / 100).tolist())
    for pair in itertools.combinations(range(len(cards)), 2):
        if rng.random() < 0.6:
            tensor = network.addFactor(list(pair if rng.random() < 0.5 else pair[::-1]))
            tensor.fillWith((rng.integers(1, 999, tensor.domainSize()) / 100).tolist())
    gum.saveMRF(network, str(tmp_path / "net.uai"))
    model = exchange.load(tmp_path / "net.uai")
    close(model.marginals().values(), by_pyagrum(network, range(len(cards))))
    assert model.log_partition() == pytest.approx(partition_of(network), abs=TOLERANCE)


def test_bayesian_networks_of_pyagrum_are_told_from_markov_random_fields():
    gum = peer("pyagrum")
    with pytest.raises(DataError, match="is not a Markov random field of pyAgrum"):
        exchange.from_pyagrum(gum.fastBN("a->b"))


# ---- pyGMs -----------------------------------------------------------------------------------


def by_pygms(gm, factors, cards):
    joint = gm.GraphModel(factors).joint()
    total = joint.sum()
    known = {v.label: v for v in joint.vars}
    sums = [
        (joint / total).marginal([known[i]]).table if i in known else np.ones(1)
        for i in range(len(cards))
    ]
    return np.log(total), [np.atleast_1d(values) for values in sums]


@pytest.mark.parametrize("seed", NETWORKS)
def test_pygms_reads_our_files(seed, tmp_path):
    gm = peer("pygms")
    model = NETWORKS[seed]
    model.export(tmp_path / "net.uai")
    cards = [len(own) for own in model.states.values()]
    found = by_pygms(gm, gm.readUai(str(tmp_path / "net.uai")), cards)
    agree(found, enumerate_model(model))


@pytest.mark.parametrize("seed", NETWORKS)
def test_we_read_files_of_pygms(seed, tmp_path):
    gm = peer("pygms")
    model = NETWORKS[seed]
    model.export(tmp_path / "net.uai")
    gm.filetypes.writeUai(str(tmp_path / "theirs.uai"), gm.readUai(str(tmp_path / "net.uai")))
    agree(asked(exchange.load(tmp_path / "theirs.uai")), enumerate_model(model))


def test_evidence_in_both_dialects_is_read_by_pygms(tmp_path):
    gm, model = peer("pygms"), NETWORKS[0]
    seen = {name: own[-1] for name, own in list(model.states.items())[::2]}
    codes = {i: len(model.states[name]) - 1 for i, name in enumerate(model.names) if name in seen}
    path = tmp_path / "net.uai.evid"
    exchange.write_evidence(path, model, seen, "2014")
    assert gm.readEvidence14(str(path)) == codes
    exchange.write_evidence(path, model, [seen, {}], "2010")
    assert gm.readEvidence10(str(path)) == [codes, {}]


# ---- toulbar2 --------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["uai", "LG"])
@pytest.mark.parametrize("seed", NETWORKS)
def test_pytoulbar2_finds_the_most_probable_state_in_our_files(seed, suffix, tmp_path):
    peer("pytoulbar2")
    model = NETWORKS[seed]
    path = tmp_path / f"net.{suffix}"
    model.export(path)
    # It prints as it likes, and keeps settings: in a process of its own.
    script = (
        "import sys, pytoulbar2; c = pytoulbar2.CFN(); c.Read(sys.argv[1]); print(c.Solve()[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    codes = [int(word) for word in re.findall(r"\d+", done.stdout.strip().splitlines()[-1])]
    best = [own.index(model.map()[name]) for name, own in model.states.items()]
    assert codes == best


@pytest.mark.parametrize("suffix", ["uai", "LG"])
@pytest.mark.parametrize("seed", NETWORKS)
def test_toulbar2_computes_log_z_of_our_files(seed, suffix, tmp_path):
    if TOULBAR2 is None:
        pytest.skip("toulbar2 is not installed (apt-get install toulbar2); TOULBAR2 says where")
    model = NETWORKS[seed]
    log_z, _ = enumerate_model(model)
    path = tmp_path / f"copies.{suffix}"
    copies(model).export(path)
    # -p eliminates variables of up to so many neighbours: no search, whatever the loops.
    words = [TOULBAR2, str(path), "-logz", "-precision=9", "-p=8"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    low, high = re.search(r"(\S+) <= Log\(Z\) <= (\S+)", done.stdout).groups()
    assert float(low) / COPIES == pytest.approx(log_z, abs=TOLERANCE)
    assert float(high) / COPIES == pytest.approx(log_z, abs=TOLERANCE)


def copies(model):
    """A network of many independent copies of one."""
    states, unary, tables = {}, {}, {}
    for k in range(COPIES):
        states |= {(name, k): own for name, own in model.states.items()}
        unary |= {(name, k): model.unary(name) for name in model.names}
        tables |= {((a, k), (b, k)): model.table(a, b) for a, b in model.edges}
    return PairwiseMRF(states, unary, tables)


# ---- EVcouplings -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_evcouplings_reads_our_parameters(seed, tmp_path):
    reader = peer("evcouplings.couplings.model")
    rng = np.random.default_rng(seed)
    letters = list("-ACDE")
    names = [f"site {i}" for i in range(7)]
    linked = [pair for pair in itertools.combinations(names, 2) if rng.random() < 0.4]
    model = PairwiseMRF(
        dict.fromkeys(names, letters),
        {name: rng.normal(size=5) for name in names},
        {pair: rng.normal(size=(5, 5)) for pair in linked},
    )
    model.export(tmp_path / "net.params")
    found = reader.CouplingsModel(str(tmp_path / "net.params"))
    rows = [[letters[k] for k in row] for row in rng.integers(0, 5, (20, 7))]
    energies = found.hamiltonians(["".join(row) for row in rows])[:, 0]
    # Parameters have 32 bits.
    np.testing.assert_allclose(np.diff(energies), np.diff(model.log_prob(rows)), atol=1e-5)
    close(found.f_i, model.marginals().values())
    np.testing.assert_allclose(
        found.f_ij[1, 5], model.pair_marginal(names[1], names[5]), atol=TOLERANCE
    )
