"""Triton kernels, in its interpreter, do what the PyTorch code does."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: make test-gpu has it")
pytest.importorskip("triton", reason="Triton is not installed: make test-gpu has it")

CHECK = """
import numpy as np, torch
from graftwork.data import Table
from graftwork.device import conditionals, counting, kernels, tiles
from graftwork.device.counting import Lines
from graftwork.device.network import DeviceNetwork
from graftwork.device.rows import Chunk, DeviceRows
from graftwork.inference import Layout, Potentials
rng = np.random.default_rng(0)
cards = np.array([2, 3, 5, 4])
layout = Layout.of(cards, [(0, 1), (1, 2), (0, 3)])
potentials = Potentials(layout, rng.normal(size=layout.size))
codes = np.stack([rng.integers(0, s, 300) for s in cards]).astype(np.uint8)
device, on, off = torch.device("cpu"), lambda _: True, lambda _: False
variables = np.arange(4)
weights = rng.random(300)

def both(function):
    found = []
    for usable in (off, on):
        kernels.usable = usable
        found.append(function())
    return found

def close(found, tolerance):
    for one, other in zip(*found, strict=True):
        assert np.allclose(np.asarray(one), np.asarray(other), atol=tolerance), (one, other)

for dtype in (torch.float32, torch.float64):
    network = DeviceNetwork.of(potentials, variables, device, dtype)
    chunk = Chunk(torch.as_tensor(codes)[:, 20:290], None)
    close(both(lambda: network.conditionals(chunk, slice(1, 4))), 1e-6)
for own in (None, weights):
    rows = DeviceRows(codes, own, device, torch.as_tensor(codes))
    table = Table(tuple("abcd"), tuple(tuple(range(s)) for s in cards.tolist()), codes, own)
    for one, other in zip(*both(lambda: counting.count_states(rows, table))):
        close((one, other), 1e-9)
    wanted = [(0, np.array([1, 3])), (1, np.array([0, 2])), (2, np.array([1]))]
    for one, other in zip(*both(lambda: counting.count_configurations(rows, cards, wanted, 99))):
        close((one, other), 1e-9)
    pairs = np.array([(0, 2), (1, 3)])
    close(both(lambda: [counting.count_pairs(rows, cards, pairs)]), 1e-9)
    ends = np.array([0, 10, 22])
    close(both(lambda: [conditionals.sum_one_by_one(rows, potentials, None, pairs, ends)]), 1e-6)
    close(both(lambda: conditionals.sums_of(rows, potentials, None, variables)), 1e-6)
for p, q in ((6, 10), (1, 40)):
    left, right = (torch.rand(3, 2, size, 150, dtype=torch.float64) for size in (p, q))
    i, j = torch.tensor([0, 2, 1, 2]), torch.tensor([1, 1, 0, 2])
    out = torch.ones(4, p, q, dtype=torch.float64)
    kernels.add_products(left.float(), right.float(), i, j, out)
    own, other = left[i], right[j]
    wanted = 1 + torch.einsum("kar,kbr->kab", own[:, 0], other[:, 1])
    wanted += torch.einsum("kar,kbr->kab", own[:, 1], other[:, 0])
    assert torch.allclose(out, wanted, rtol=1e-6)
network = DeviceNetwork.of(potentials, variables, device)
lines = Lines.of(cards - 1, variables, device)
close(both(lambda: [lines.indicators(chunk.codes, torch.int8)]), 0)
side = tiles._Side.__new__(tiles._Side)
side.lines, side._network = lines, network
one, other = both(lambda: side.residuals(chunk, 70).int())
assert (one - other).abs().max() <= 1 and (one != other).float().mean() < 1e-3, (one, other)
assert one.float().std() > 30
print("same")
"""


def test_kernels_do_what_pytorch_does():
    found = subprocess.run(
        [sys.executable, "-c", CHECK],
        env=os.environ | {"TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.stdout.strip() == "same", found.stderr[-3000:]
