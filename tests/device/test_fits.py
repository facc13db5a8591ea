"""Whole fits on a device, here on CPU tensors, are those of the processor; and what is refused."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-gpu has it")

import graftwork as gw
from graftwork.errors import GraftworkError, ParameterError

from doors.device import within_memory


@pytest.fixture
def cpu_tensors(monkeypatch):
    """Have CPU tensors in the place of a GPU."""

    def find(name):
        return None if name == "cpu" else torch.device("cpu")

    monkeypatch.setattr("graftwork.estimators.devices.find_device", find)


def made(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (1200, 8))
    for j in range(1, 8):
        same = rng.random(len(rows)) < 0.4
        rows[same, j] = rows[same, rng.integers(0, j)]
    return rows


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("options", [{"lam": 0.02}, {}, {"lam": 0.02, "penalty": "l1"}])
def test_networks_are_the_same(cpu_tensors, options, weights):
    rows = made(1)
    own = np.random.default_rng(0).integers(1, 3, len(rows)) if weights else None
    one, other = (
        gw.MarkovNetwork(device=device, n_jobs=1, **options).fit(rows, sample_weight=own)
        for device in ("cpu", "cuda")
    )
    assert set(one.model_.edges) == set(other.model_.edges)
    assert other.certificate_.objective == pytest.approx(one.certificate_.objective, abs=1e-6)
    if not options:
        first, second = one.evidence_.edges, other.evidence_.edges
        assert np.array_equal(first.pairs, second.pairs)
        assert np.allclose(first.log_p, second.log_p, rtol=1e-4)


def test_bounds_of_scores_lead_to_the_same_network(cpu_tensors, monkeypatch):
    rows = np.random.default_rng(3).integers(0, 2, (300, 40))
    rows[:, 1::2] ^= rows[:, ::2] & (np.random.default_rng(4).random((300, 20)) < 0.7)
    fit = gw.MarkovNetwork(device="cuda", n_jobs=1, lam=0.05, method="working-set").fit
    one = fit(rows)
    monkeypatch.setattr("graftwork.grafting.state.ANEW", 0)
    other = fit(rows)
    assert set(one.model_.edges) == set(other.model_.edges)
    assert one.certificate_.converged
    assert other.certificate_.objective == pytest.approx(one.certificate_.objective, abs=1e-9)


@pytest.mark.parametrize("missing", ["state", "available-case"])
def test_rows_with_missing_cells_are_summed_here(cpu_tensors, missing):
    rows = [
        [None if k % 17 == 0 else v for k, v in enumerate(row, i)]
        for i, row in enumerate(made(2)[:300].tolist())
    ]
    one, other = (
        gw.MarkovNetwork(device=device, n_jobs=1, lam=0.05, missing=missing).fit(rows)
        for device in ("cpu", "cuda")
    )
    assert set(one.model_.edges) == set(other.model_.edges)


def test_many_states_are_summed_here(cpu_tensors):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 40, (2000, 3))
    rows[:, 1] = np.where(rng.random(2000) < 0.5, rows[:, 0], rows[:, 1])
    network = gw.MarkovNetwork(device="cuda", n_jobs=1, lam=0.001).fit(rows)
    assert len(network.model_.edges) >= 1


def test_an_estimate_counts_the_memory_of_the_device(cpu_tensors, monkeypatch):
    rows = made(1)
    assert not gw.MarkovNetwork(lam=0.1).estimate(rows).device_memory
    monkeypatch.setattr("graftwork.estimators.estimate.find_device", lambda _: torch.device("cpu"))
    found = gw.MarkovNetwork(lam=0.1, device="cuda").estimate(rows)
    assert found.device_memory["codes of the rows"] == 8 * len(rows)
    assert found.device_memory["sums of all pairs"] == 20 * 16**2
    assert "On the GPU at most" in " ".join(found.summary().split())


def test_no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ParameterError, match="needs a GPU"):
        gw.MarkovNetwork(device="cuda", lam=0.1).fit(made(1))
    assert gw.MarkovNetwork(device="auto", lam=0.1, n_jobs=1).fit(made(1)).certificate_.converged


def test_no_pytorch(monkeypatch):
    real = builtins.__import__

    def absent(name, *more):
        if name == "torch":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ParameterError, match=r"graftwork\[gpu\]"):
        gw.MarkovNetwork(device="cuda", lam=0.1).fit(made(1))


def test_memory_is_short():
    with (
        pytest.raises(GraftworkError, match="memory of the GPU is short"),
        within_memory(torch.device("cpu")),
    ):
        raise torch.OutOfMemoryError
