"""Belief propagation of many evidence sets: against LoopyBP and exact marginals."""

import os

import numpy as np
import pytest

from graftwork.errors import ConvergenceWarning, DataError
from graftwork.models import PairwiseMRF

from doors.datasets import bernoulli_network, planted_chain
from doors.inference import Layout, LoopyBP, observe, propagation, restore

try:
    import torch
except ImportError:
    torch = None
CUDA = torch is not None and torch.cuda.is_available()
if not CUDA:
    os.environ.setdefault("TRITON_INTERPRET", "1")
DEVICE = "cuda" if CUDA else "cpu"

needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")


def rows_of(model: PairwiseMRF, sets: int = 5):
    rng, cards = np.random.default_rng(0), model.potentials.layout.cards[:, None]
    codes = rng.integers(0, cards, size=(len(cards), sets))
    codes[rng.random(codes.shape) < 0.6] = 99
    codes[:, 0] = -1
    return codes


def one_by_one(model: PairwiseMRF, codes):
    layout = model.potentials.layout
    for column in codes.T:
        reduced = observe(model.potentials, np.where(column < layout.cards, column, -1))
        beliefs = LoopyBP().infer(reduced.potentials)
        values = restore(reduced, layout, beliefs.values)
        yield np.split(values, layout.unary_offsets[1:-1]), reduced.constant + beliefs.log_partition


MODELS = {
    "loops": bernoulli_network(6, [2, 3, 4, 3, 2, 2], mean_degree=3, edge_sd=0.7, random_state=1),
    "chain": planted_chain(5, 2, 3, random_state=0),
    "no edges": PairwiseMRF({"a": [0, 1], "b": [0, 1, 2]}, {"b": [0.0, 1.0, 2.0]}),
}


def sends():
    return [propagation.send_plain, propagation.send_triton]


@needs_torch
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("send", sends())
def test_beliefs_are_those_of_each_set_alone(name, send):
    if send is propagation.send_triton:
        pytest.importorskip("triton", reason="Triton is not installed")
    model = MODELS[name]
    codes = rows_of(model)
    found = propagation.propagate_sets(model.potentials, codes, DEVICE, send=send)
    assert (found.residual <= 1e-9).all()
    for r, (exact, log_partition) in enumerate(one_by_one(model, codes)):
        assert found.log_partition[r] == pytest.approx(log_partition, abs=1e-8)
        for i, values in enumerate(exact):
            assert abs(found.marginals[r, i, : len(values)] - values).max() < 1e-8
            assert (found.marginals[r, i, len(values) :] == 0.0).all()


@needs_torch
def test_hard_zeros_and_impossible_evidence():
    low = -np.inf
    table = [[0.0, low], [low, 1.0]]
    model = PairwiseMRF(
        {name: [0, 1] for name in "abc"}, None, {("a", "b"): table, ("b", "c"): table}
    )
    codes = np.array([[0, 0, -1], [-1, -1, -1], [-1, 1, -1]])
    for send in sends():
        found = propagation.propagate_sets(model.potentials, codes, DEVICE, send=send)
        assert np.isneginf(found.log_partition).tolist() == [False, True, False]
        assert found.marginals[0, :, 0].tolist() == [1.0, 1.0, 1.0]
        assert (found.marginals[1] == 0.0).all()
        exact = model.marginals()["a"]
        assert abs(found.marginals[2, 0] - exact).max() < 1e-12


@needs_torch
def test_sets_that_do_not_settle_are_tried_again_with_damping():
    strong = np.array([[6.0, -6.0], [-6.0, 6.0]])
    names, edges = "abcd", ["ab", "bc", "cd", "ad", "ac", "bd"]
    pairs = {tuple(edge): strong * (-1) ** k for k, edge in enumerate(edges)}
    model = PairwiseMRF({name: [0, 1] for name in names}, {"a": [0.3, 0.0]}, pairs)
    codes = np.array([[-1, 0], [-1, 1], [-1, -1], [-1, 0]])
    found = propagation.propagate_sets(model.potentials, codes, DEVICE, max_sweeps=8)
    assert found.residual[1] <= 1e-9
    assert found.sweeps[1] < found.sweeps[0]
    assert found.sweeps[0] == (16 if found.residual[0] > 1e-9 else found.sweeps[0])


@needs_torch
def test_parts_give_what_the_whole_gives(monkeypatch):
    model = MODELS["loops"]
    codes = rows_of(model, 40)
    whole = propagation.propagate_sets(model.potentials, codes, DEVICE)
    monkeypatch.setattr(propagation, "MOST_ENTRIES", 1)
    monkeypatch.setattr(propagation, "READ_ENTRIES", 1)
    parts = propagation.propagate_sets(model.potentials, codes, DEVICE)
    assert abs(whole.marginals - parts.marginals).max() < 1e-8
    assert abs(whole.log_partition - parts.log_partition).max() < 1e-8


def test_every_message_is_sent_once_and_never_to_one_who_sends():
    layout = bernoulli_network(30, 2, mean_degree=5, random_state=0).potentials.layout
    steps = propagation.schedule(layout)
    sent = np.concatenate([slots for _, _, slots in steps])
    assert sorted(sent.tolist()) == list(range(2 * layout.n_edges))
    for senders, _, _ in steps:
        assert not np.isin(layout.edges, senders).all(axis=1).any()
    assert propagation.schedule(Layout.of([2, 2])) == []


def test_rows_of_a_model_one_after_the_other():
    model = MODELS["chain"]
    codes = rows_of(model)
    states = list(model.states.values())
    rows = [
        [states[i][c] if 0 <= c < len(states[i]) else None for i, c in enumerate(column)]
        for column in codes.T.tolist()
    ]
    found = model.marginals_batch(rows)
    for r, (exact, _) in enumerate(one_by_one(model, codes)):
        for name, values in zip(model.names, exact, strict=True):
            assert abs(found[name][r] - values).max() < 1e-9
    if CUDA:
        device = model.marginals_batch(rows, device="cuda")
        assert max(abs(device[name] - found[name]).max() for name in model.names) < 1e-8


def test_impossible_rows_are_refused_and_unsettled_ones_warned_of():
    low = -np.inf
    never = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[0, low], [0, 0]]})
    with pytest.raises(DataError, match="row 1"):
        never.marginals_batch([[1, 0], [0, 1]])
    rng = np.random.default_rng(3)
    names = range(12)
    pairs = {(i, j): 4 * rng.normal(size=(2, 2)) for i in names for j in names if i < j}
    hard = PairwiseMRF({name: [0, 1] for name in names}, None, pairs)
    if not LoopyBP().infer(hard.potentials).converged:
        with pytest.warns(ConvergenceWarning, match="1 of 1 rows"):
            hard.marginals_batch([[None] * 12])
