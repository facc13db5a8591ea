"""Gibbs draws on a device: Triton against PyTorch, and both against exact marginals."""

import os

import numpy as np
import pytest

import graftwork as gw
from graftwork.errors import DataError
from graftwork.models import PairwiseMRF

from doors.datasets import bernoulli_network, scale_free_network
from doors.inference import Layout, Potentials, colour_classes, drawing

try:
    import torch
except ImportError:
    torch = None
CUDA = torch is not None and torch.cuda.is_available()
if not CUDA:
    os.environ.setdefault("TRITON_INTERPRET", "1")
DEVICE = "cuda" if CUDA else "cpu"

needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")


@pytest.fixture
def mixed() -> PairwiseMRF:
    return bernoulli_network(6, [2, 3, 4, 5, 3, 2], mean_degree=3, random_state=1)


def test_no_edge_joins_variables_of_a_class():
    layout = scale_free_network(60, 2, random_state=0).potentials.layout
    classes = colour_classes(layout)
    assert sorted(np.concatenate(classes).tolist()) == list(range(60))
    for members in classes:
        assert not np.isin(layout.edges, members).all(axis=1).any()


def test_classes_hold_free_variables_only():
    layout = Layout.of([2] * 3, [(0, 1), (1, 2)])
    classes = colour_classes(layout, np.array([0, 2]))
    assert [members.tolist() for members in classes] == [[0, 2]]


@needs_torch
def test_random_bits_are_philox():
    # Random123, known answers: counter and key of zeros.
    assert hex(int(drawing.random_bits(0, 0, 0, 1)[0])) == "0x6627e8d5"


@needs_torch
def test_no_two_variables_or_sweeps_share_noise():
    variables = [0, 1, 4095, 4096, 8192, 65_536, 2**24]
    seen = [drawing.random_bits(2**40 + 3, t, v, 4096).numpy() for t in (0, 1) for v in variables]
    for a in range(len(seen)):
        for b in range(a):
            assert (seen[a] == seen[b]).mean() < 0.01
            assert abs(np.corrcoef(seen[a], seen[b])[0, 1]) < 0.1
    assert abs(np.concatenate(seen).mean() / 2**32 - 0.5) < 0.01


@needs_torch
@pytest.mark.parametrize("states", [2, 3, 5, 9])
def test_the_kernel_draws_what_pytorch_draws(states):
    pytest.importorskip("triton", reason="Triton is not installed")
    potentials = bernoulli_network(5, states, mean_degree=3, random_state=2).potentials
    found = [
        drawing.gibbs_sample_on(
            DEVICE, potentials, 50, np.random.default_rng(0), 4, 2, 20, update=update
        )
        for update in (drawing.update_plain, drawing.update_triton)
    ]
    assert (found[0] == found[1]).mean() > 0.999


@needs_torch
def test_draws_have_the_exact_marginals(mixed):
    drawn = drawing.gibbs_sample_on(
        DEVICE, mixed.potentials, 40_000, np.random.default_rng(0), 40, 2, 20_000
    )
    for i, (name, exact) in enumerate(mixed.marginals().items()):
        shares = np.bincount(drawn[i], minlength=len(exact)) / drawn.shape[1]
        assert abs(shares - exact).max() < 0.015, name
    a, b = mixed.edges[0]
    joint = np.zeros(mixed.table(a, b).shape)
    np.add.at(joint, (drawn[mixed.names.index(a)], drawn[mixed.names.index(b)]), 1.0)
    assert abs(joint / joint.sum() - mixed.pair_marginal(a, b)).max() < 0.015


@needs_torch
def test_impossible_states_are_left_and_never_entered():
    table = np.array([[0.0, -np.inf, 0.0], [-np.inf, 0.0, 0.0], [0.0, 0.0, 0.0]])
    model = PairwiseMRF({"a": range(3), "b": range(3)}, None, {("a", "b"): table})
    drawn = drawing.gibbs_sample_on(DEVICE, model.potentials, 4000, np.random.default_rng(0), 50, 1)
    assert np.isfinite(table[drawn[0], drawn[1]]).all()
    assert abs(np.bincount(drawn[0]) / 4000 - model.marginals()["a"]).max() < 0.03


@needs_torch
def test_a_variable_without_any_state_stays():
    layout = Layout.of([2, 2], [(0, 1)])
    nothing = Potentials(layout, np.array([0, 0, 0, 0, *[-np.inf] * 4]))
    start = np.array([[0, 1], [1, 0]])
    drawn = drawing.gibbs_sample_on(
        DEVICE, nothing, 2, np.random.default_rng(0), 3, 1, 2, start=start
    )
    assert drawn.T.tolist() == start.tolist()


@needs_torch
def test_fixed_variables_do_not_move_and_every_draw_is_written(mixed, monkeypatch):
    monkeypatch.setattr(drawing, "HELD_BYTES", 6 * 16 * 2)  # two draws at a time
    fixed = np.array([1, -1, 3, -1, -1, -1])
    whole = drawing.gibbs_sample_on(
        DEVICE, mixed.potentials, 73, np.random.default_rng(5), 2, 1, 11, fixed
    )
    assert (whole[0] == 1).all()
    assert (whole[2] == 3).all()
    monkeypatch.setattr(drawing, "HELD_BYTES", 2**20)
    again = drawing.gibbs_sample_on(
        DEVICE, mixed.potentials, 73, np.random.default_rng(5), 2, 1, 11, fixed
    )
    assert np.array_equal(whole, again)


@needs_torch
@pytest.mark.skipif(not CUDA, reason="there is no graphics card")
def test_rows_and_diagnostics_from_a_graphics_card(mixed):
    made = gw.datasets.draw(mixed, 5000, n_test=500, method="gibbs", device="cuda", random_state=0)
    assert made.mixing.ok
    assert (made.data.n_rows, made.test.n_rows) == (5000, 500)
    seen = mixed.sample(1000, {"x0": 1}, 0, "gibbs", device="cuda")
    assert (np.asarray(seen["x0"]) == 1).all()


def test_what_a_device_cannot_do_is_refused(mixed):
    with pytest.raises(DataError, match="Gibbs sampling only"):
        mixed.sample(5, method="exact", device="cuda")
    with pytest.raises(DataError, match="Gibbs sampling only"):
        gw.datasets.draw(mixed, 5, device="cuda")
    with pytest.raises(DataError, match="device is 'gpu'"):
        mixed.sample(5, device="gpu")


@pytest.mark.skipif(CUDA, reason="there is a graphics card")
def test_a_missing_card_or_library_is_said(mixed):
    with pytest.raises(DataError, match="PyTorch"):
        mixed.sample(5, method="gibbs", device="cuda")
