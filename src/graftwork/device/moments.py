"""Sums of moments of conditionals over rows, for tests: in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from graftwork.device.memory import free_bytes, tensor
from graftwork.device.network import DeviceNetwork, weighted
from graftwork.device.rows import CHUNK, Chunk, DeviceRows
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.testing.contrasts import Contrasts
from graftwork.testing.hessian import Parameters
from graftwork.testing.moments import unfold

# Share of the free memory that moments of rows take.
SHARE = 0.15
# Rows of a Hessian that are multiplied at once, at most.
ROWS = 2**18


class Moments:
    """Moments of the conditionals of some variables that have equally many contrasts.

    The upper triangles of S = K' (diag(p) - p p') K and of M = K' m m' K + 2 S, m = p - f.
    """

    def __init__(
        self, rows: DeviceRows, network: DeviceNetwork, contrasts: Contrasts, frequencies: Floats,
        places: Ints,
    ) -> None:  # fmt: skip
        self._network, self.places = network, places
        layout, variables = network.layout, network.variables[places]
        size = int(contrasts.sizes[variables[0]])
        upper = np.triu_indices(size)
        bases = np.zeros((len(variables), network.width, size))
        averages = np.zeros((len(variables), size))
        for k, i in enumerate(variables.tolist()):
            basis = contrasts.bases[i]
            bases[k, : len(basis)] = basis
            start = layout.unary_offsets[i]
            averages[k] = basis.T @ frequencies[start : start + len(basis)]
        self.triangle, self._upper = len(upper[0]), upper
        real = {"dtype": torch.float64, "device": rows.device}
        products = bases[:, :, upper[0]] * bases[:, :, upper[1]]
        self._bases = tensor(bases.transpose(0, 2, 1).copy(), **real)
        self._products = tensor(products.transpose(0, 2, 1).copy(), **real)
        self._averages = tensor(averages, **real)

    def of(self, chunk: Chunk, some: slice | None = None) -> tuple[Any, Any]:
        """Return the triangles of S and of M in rows, shape (variables, triangle, rows)."""
        some = slice(0, len(self.places)) if some is None else some
        first, second = self._upper
        p = _conditionals(self._network, chunk, self.places[some])
        means = torch.bmm(self._bases[some], p)
        spread = torch.bmm(self._products[some], p) - means[:, first] * means[:, second]
        means -= self._averages[some, :, None]
        return spread, means[:, first] * means[:, second] + 2.0 * spread

    def batches(self, rows: int) -> Any:
        """Yield parts of the variables that fit into memory."""
        size = 8 * rows * (2 * self._network.width + 4 * self.triangle + 4)
        count = max(1, int(SHARE * free_bytes(self._bases.device)) // size)
        for start in range(0, len(self.places), count):
            yield slice(start, min(start + count, len(self.places)))


def _conditionals(network: DeviceNetwork, chunk: Chunk, places: Ints) -> Any:
    """Return the conditionals of variables at some places, which ascend."""
    if len(places) == places[-1] - places[0] + 1:
        return network.conditionals(chunk, slice(int(places[0]), int(places[-1]) + 1))[0]
    parts = [network.conditionals(chunk, slice(k, k + 1))[0] for k in places.tolist()]
    return torch.cat(parts)


def _by_size(
    rows: DeviceRows, potentials: Potentials, contrasts: Contrasts, frequencies: Floats,
    variables: Ints,
) -> tuple[Ints, list[Moments]]:  # fmt: skip
    """Return variables in the order of their numbers of contrasts, and the moments of each."""
    order = variables[np.argsort(contrasts.sizes[variables], kind="stable")]
    network = DeviceNetwork.of(potentials, order, rows.device, torch.float64)
    cuts = np.flatnonzero(np.diff(contrasts.sizes[order])) + 1
    groups = np.split(np.arange(len(order)), cuts)
    return order, [Moments(rows, network, contrasts, frequencies, own) for own in groups]


def totals(
    rows: DeviceRows, potentials: Potentials, _: Ints | None, contrasts: Contrasts,
    frequencies: Floats, variables: Ints,
) -> list[Floats]:  # fmt: skip
    """Return the sums over rows of the triangles of S and M of each variable."""
    order, groups = _by_size(rows, potentials, contrasts, frequencies, variables)
    found: dict[int, Floats] = {}
    for own in groups:
        total = torch.zeros(
            (len(own.places), 2 * own.triangle), dtype=torch.float64, device=rows.device
        )
        for chunk in rows.chunks():
            for some in own.batches(chunk.codes.shape[1]):
                both = torch.cat(own.of(chunk, some), dim=1)
                total[some] += weighted(both, chunk).sum(dim=2)
        found |= dict(zip(order[own.places].tolist(), total.cpu().numpy(), strict=True))
    return [found[i] for i in variables.tolist()]


def pair_sums(
    rows: DeviceRows, potentials: Potentials, _: Ints | None, contrasts: Contrasts,
    frequencies: Floats, groups: list[Ints], variables: Ints,
) -> list[Floats]:  # fmt: skip
    """Return the sums over rows of S_i M_j' + M_i S_j' of pairs, each group of one shape."""
    order, sizes = _by_size(rows, potentials, contrasts, frequencies, variables)
    group = np.zeros(len(contrasts.sizes), dtype=np.int64)
    place = np.zeros_like(group)
    for number, own in enumerate(sizes):
        group[order[own.places]], place[order[own.places]] = number, np.arange(len(own.places))
    triangles = contrasts.sizes * (contrasts.sizes + 1) // 2
    real = {"dtype": torch.float64, "device": rows.device}
    found = [torch.zeros((len(own), *triangles[own[0]].tolist()), **real) for own in groups]
    numbers = int((3 * triangles[variables] + 2 * sizes[0]._network.width).sum())
    size = int(np.clip(SHARE * free_bytes(rows.device) / (8 * max(1, numbers)), 256, CHUNK))
    for chunk in rows.chunks(size):
        known = [own.of(chunk) for own in sizes]
        count = chunk.codes.shape[1]
        for pairs, out in zip(groups, found, strict=True):
            first, second = (known[group[pairs[0, side]]] for side in range(2))
            step = max(1, int(SHARE * free_bytes(rows.device)) // (
                32 * count * max(1, int(triangles[pairs[0]].sum()))
            ))  # fmt: skip
            for start in range(0, len(pairs) if out.numel() else 0, step):
                some = pairs[start : start + step]
                i, j = (tensor(place[some[:, k]], device=rows.device) for k in range(2))
                left = weighted(first[0][i], chunk), weighted(first[1][i], chunk)
                out[start : start + step] += torch.bmm(left[0], second[1][j].transpose(1, 2))
                out[start : start + step] += torch.bmm(left[1], second[0][j].transpose(1, 2))
    return [own.cpu().numpy() for own in found]


def blocks(
    rows: DeviceRows, potentials: Potentials, _: Ints | None, contrasts: Contrasts,
    frequencies: Floats, parameters: Parameters, variables: Ints,
) -> list[Floats]:  # fmt: skip
    """Return the Hessians of some variables' conditionals."""
    return [
        _block(rows, potentials, contrasts, frequencies, parameters, i) for i in variables.tolist()
    ]


def _block(
    rows: DeviceRows, potentials: Potentials, contrasts: Contrasts, frequencies: Floats,
    parameters: Parameters, i: int,
) -> Floats:  # fmt: skip
    """Return the Hessian of one conditional: sums of S (x) z z', z being 1 and the indicators."""
    size, count = int(contrasts.sizes[i]), len(parameters.half_edges.places[i])
    if not count:
        return np.zeros((count, count))
    network = DeviceNetwork.of(potentials, np.array([i]), rows.device, torch.float64)
    moments = Moments(rows, network, contrasts, frequencies, np.array([0]))
    halves = parameters.half_edges.of_variable(i)
    lengths = halves[:, 5]
    starts = 1 + np.concatenate([[0], np.cumsum(lengths)])
    where = np.full((size, int(starts[-1])), -1)
    where[:, 0] = np.arange(size)
    real = {"dtype": torch.float64, "device": rows.device}
    seen = []
    for start, (other, begin, own, across, height, width) in zip(starts, halves, strict=False):
        table = begin + np.arange(height)[:, None] * own + np.arange(width) * across
        where[:height, start : start + width] = table
        seen.append((int(other), tensor(contrasts.bases[other][:, :width], **real)))
    columns = int(starts[-1])
    total = torch.zeros((moments.triangle, columns, columns), **real)
    step = int(np.clip(SHARE * free_bytes(rows.device) / (24 * columns), 256, ROWS))
    for chunk in rows.chunks(step):
        spread = weighted(moments.of(chunk)[0][0], chunk)
        ones = torch.ones((chunk.codes.shape[1], 1), **real)
        z = torch.cat([ones, *(basis[chunk.codes[j].long()] for j, basis in seen)], dim=1)
        for t in range(moments.triangle):
            total[t] += (z * spread[t][:, None]).T @ z
    sums, places = total.cpu().numpy(), unfold(size)
    out = np.zeros((count, count))
    for a in range(size):
        for b in range(size):
            mine, theirs = where[a] >= 0, where[b] >= 0
            cells = sums[places[a, b]][np.ix_(mine, theirs)]
            out[np.ix_(where[a][mine], where[b][theirs])] = cells
    return out
