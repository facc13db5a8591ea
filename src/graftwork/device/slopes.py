"""Squared slopes in the parameters of edges, summed over rows: in float64.

What `graftwork.significance.profiles` does row block by row block, as products: variables that have
equally many parameters and edges go together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from graftwork.device.memory import free_bytes, tensor
from graftwork.device.network import DeviceNetwork, weighted
from graftwork.device.rows import Chunk, DeviceRows
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.objectives.contrasts import Contrasts
from graftwork.significance.profiles import Influences, alike

# Shares of the free memory that slopes of all edges take, and what they are computed from.
SHARE, OF_SCORES = 0.2, 0.1
# Rows looked at together, at most.
ROWS = 2**13


def variations(
    rows: DeviceRows, potentials: Potentials, _: Ints | None, contrasts: Contrasts,
    _frequencies: Floats, asked: Influences,
) -> list[Floats]:  # fmt: skip
    """Return the sums over rows of the squared slopes of some edges."""
    device = rows.device
    needed = np.arange(len(contrasts.sizes)) if asked.needed is None else asked.needed
    lines = _Lines(potentials, contrasts, needed, device)
    size = int(SHARE * free_bytes(device)) // (8 * (asked.count + 4 * lines.numbers))
    same = alike(asked.sizes)
    totals = [torch.zeros((len(k), asked.sizes[k[0]], asked.sizes[k[0]]), dtype=torch.float64,
                          device=device) for k in same]  # fmt: skip
    kinds = _kinds(asked)
    for chunk in rows.chunks(int(np.clip(size, 64, ROWS))):
        found = torch.empty((asked.count, chunk.codes.shape[1]), dtype=torch.float64, device=device)
        seen, left = lines.of(chunk)
        for kind in kinds:
            _fill(kind, asked, lines, seen, left, found)
        for places, total in zip(same, totals, strict=True):
            _add(found, chunk, np.array([asked.starts[k] for k in places]), total)
    out: list[Any] = [None] * len(asked.sizes)
    for places, total in zip(same, totals, strict=True):
        for k, own in zip(places, total.cpu().numpy(), strict=True):
            out[k] = own
    return out


class _Lines:
    """Indicators and residuals of variables in contrasts: as many lines for each, then a zero."""

    def __init__(
        self, potentials: Potentials, contrasts: Contrasts, needed: Ints, device: Any
    ) -> None:
        self._network = DeviceNetwork.of(potentials, needed, device, torch.float64)
        self.width = int(contrasts.sizes[needed].max(initial=1))
        self.numbers = len(needed) * max(self.width, self._network.width)
        self._place = np.full(len(contrasts.sizes), len(needed))
        self._place[needed] = np.arange(len(needed))
        bases = np.zeros((len(needed), self._network.width, self.width))
        for k, i in enumerate(needed.tolist()):
            basis = contrasts.bases[i]
            bases[k, : basis.shape[0], : basis.shape[1]] = basis
        self._bases = tensor(bases, device)
        self._variables = tensor(needed, device)

    def of(self, chunk: Chunk) -> tuple[Any, Any]:
        """Return indicators and residuals, (variables + 1, lines, rows)."""
        rows, bases = chunk.codes.shape[1], self._bases
        shape = (len(bases) + 1, self.width, rows)
        seen, left = (torch.zeros(shape, dtype=bases.dtype, device=bases.device) for _ in range(2))
        for part in self._network.batches(rows):
            own = bases[part]
            codes = chunk.codes[self._variables[part]].long()
            each = torch.arange(len(own), device=bases.device)[:, None]
            seen[part] = own[each, codes].transpose(1, 2)
            p = self._network.conditionals(chunk, part)[0]
            left[part] = seen[part] - torch.bmm(own.transpose(1, 2), p)
        return seen, left

    def places(self, variables: Ints) -> Any:
        """Return where variables' lines are; the zero for those that are not there."""
        return tensor(np.where(variables < 0, len(self._bases), self._place[variables]),
                      self._bases.device)  # fmt: skip


def _kinds(asked: Influences) -> list[list[int]]:
    """Return the places of centres with equally many parameters, edges and lines."""
    places: dict[tuple[int, ...], list[int]] = {}
    for k, one in enumerate(asked.centres):
        places.setdefault((*one.shares.shape, len(one.halves)), []).append(k)
    return list(places.values())


def _fill(
    kind: list[int], asked: Influences, lines: _Lines, seen: Any, left: Any, out: Any
) -> None:
    """Fill in the slopes that some centres of one kind add to."""
    first = asked.centres[kind[0]]
    size = 8 * out.shape[1] * 3 * (first.shares.shape[1] + lines.width**2 * (1 + len(first.halves)))
    step = max(1, int(OF_SCORES * free_bytes(out.device)) // size)
    for start in range(0, len(kind), step):
        own = [asked.centres[k] for k in kind[start : start + step]]
        shares = tensor(np.stack([one.shares for one in own]), out.device)
        places = np.concatenate([np.arange(one.lines.start, one.lines.stop) for one in own])
        scores = _scores(np.array([one.centre for one in own]), [one.halves for one in own],
                         shares.shape[2], lines, seen, left)  # fmt: skip
        found = torch.bmm(shares, scores)
        out[tensor(places, out.device)] = found.view(-1, out.shape[1])


def _scores(
    centres: Ints, halves: list[Ints], count: int, lines: _Lines, seen: Any, left: Any
) -> Any:
    """Return slopes in the parameters at some variables, (variables, parameters, rows)."""
    width, rows, device = lines.width, seen.shape[2], seen.device
    own = lines.places(centres)
    stacked = np.stack(halves).reshape(len(centres), -1, 6)
    columns = 1 + stacked.shape[1] * width
    whole = torch.empty((len(centres), width, columns, rows), dtype=seen.dtype, device=device)
    mine, apart = seen[own], left[own]
    whole[:, :, 0] = apart
    for d in range(stacked.shape[1]):
        others = lines.places(stacked[:, d, 0])
        target = whole[:, :, 1 + d * width : 1 + (d + 1) * width]
        torch.mul(apart[:, :, None], seen[others][:, None], out=target)
        target.addcmul_(mine[:, :, None], left[others][:, None])
    order = np.stack([_order(one, count, width) for one in stacked])
    at = tensor(order + np.arange(len(centres))[:, None] * width * columns, device)
    return whole.view(-1, rows)[at]


def _order(halves: Ints, count: int, width: int) -> Ints:
    """Return where each parameter is among contrasts times columns."""
    columns, order = 1 + len(halves) * width, np.empty(count, dtype=np.int64)
    lengths = halves[:, 4] * halves[:, 5]
    size = count - int(lengths.sum())
    order[:size] = np.arange(size) * columns
    for d, (_, begin, own, across, height, wide) in enumerate(halves.tolist()):
        a, b = np.arange(height)[:, None], np.arange(wide)
        order[begin + a * own + b * across] = a * columns + 1 + d * width + b
    return order


def _add(found: Any, chunk: Chunk, starts: Ints, total: Any) -> None:
    """Add the squares of the slopes of edges of one size, which begin at two places each."""
    count, size = total.shape[:2]
    step = max(1, int(OF_SCORES * free_bytes(found.device)) // (8 * 4 * size * found.shape[1]))
    inner = torch.arange(size, device=found.device)
    for begin in range(0, count, step):
        some = slice(begin, begin + step)
        first, second = (tensor(starts[some, end], found.device) for end in range(2))
        both = found[first[:, None] + inner] + found[second[:, None] + inner]
        total[some] += torch.bmm(weighted(both, chunk), both.transpose(1, 2))
