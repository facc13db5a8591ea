"""Sums of moments of conditionals over rows, for tests: added in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from graftwork.device import kernels
from graftwork.device.memory import free_bytes, tensor
from graftwork.device.network import DeviceNetwork, weighted
from graftwork.device.rows import CHUNK, Chunk, DeviceRows
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.objectives.contrasts import Contrasts
from graftwork.objectives.hessian import Parameters
from graftwork.significance.variances import unfold

# Share of the free memory that moments of rows take.
SHARE = 0.15
# Triangles of moments up to this size are multiplied in registers.
MOST_IN_REGISTERS = 64
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
        self.size, self.triangle = size, len(upper[0])
        self._upper = [tensor(side, rows.device) for side in upper]
        real = {"dtype": network.unary.dtype, "device": rows.device}
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

    @property
    def element_size(self) -> int:
        """Bytes of a number."""
        return int(self._bases.element_size())

    def batches(self, rows: int) -> Any:
        """Yield parts of the variables that fit into memory."""
        size = self.element_size * rows * (2 * self._network.width + 4 * self.triangle + 4)
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
    variables: Ints, dtype: Any = torch.float64,
) -> tuple[Ints, list[Moments]]:  # fmt: skip
    """Return variables in the order of their numbers of contrasts, and the moments of each."""
    order = variables[np.argsort(contrasts.sizes[variables], kind="stable")]
    network = DeviceNetwork.of(potentials, order, rows.device, dtype)
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
    triangles = contrasts.sizes * (contrasts.sizes + 1) // 2
    quick = kernels.usable(rows.device) and int(triangles[variables].max()) <= MOST_IN_REGISTERS
    kind = torch.float32 if quick else torch.float64
    order, sizes = _by_size(rows, potentials, contrasts, frequencies, variables, kind)
    group = np.zeros(len(contrasts.sizes), dtype=np.int64)
    place = np.zeros_like(group)
    for number, own in enumerate(sizes):
        group[order[own.places]], place[order[own.places]] = number, np.arange(len(own.places))
    real = {"dtype": torch.float64, "device": rows.device}
    found = [torch.zeros((len(own), *triangles[own[0]].tolist()), **real) for own in groups]
    numbers = int((4 * triangles[variables] + 2 * sizes[0]._network.width).sum())
    room = SHARE * free_bytes(rows.device) / (sizes[0].element_size * max(1, numbers))
    size = int(np.clip(room, 256, CHUNK))
    add = kernels.add_products if quick else _add_products
    ends = [
        [(group[pairs[0, k]], tensor(place[pairs[:, k]], device=rows.device)) for k in range(2)]
        for pairs in groups
    ]
    for chunk in rows.chunks(size):
        known = [torch.stack(own.of(chunk), dim=1) for own in sizes]
        heavy = known if chunk.weights is None else [weighted(own, chunk) for own in known]
        for ((a, i), (b, j)), out in zip(ends, found, strict=True):
            if out.numel():
                add(heavy[a], known[b], i, j, out)
    return [own.cpu().numpy() for own in found]


def _add_products(left: Any, right: Any, i: Any, j: Any, out: Any) -> None:
    """Add sums over rows of S_i M_j' + M_i S_j', a few pairs at a time."""
    size = 32 * left.shape[3] * int(sum(out.shape[1:]))
    step = max(1, int(SHARE * free_bytes(out.device)) // size)
    for start in range(0, len(i), step):
        some = slice(start, start + step)
        first, second = left[i[some]], right[j[some]].transpose(2, 3)
        out[some] += torch.bmm(first[:, 0], second[:, 1])
        out[some] += torch.bmm(first[:, 1], second[:, 0])


def blocks(
    rows: DeviceRows, potentials: Potentials, _: Ints | None, contrasts: Contrasts,
    frequencies: Floats, parameters: Parameters, variables: Ints,
) -> list[Floats]:  # fmt: skip
    """Return the Hessians of some variables' conditionals: sums of S (x) z z'.

    z is 1 and the indicators of neighbours, in contrasts. Variables of equally many contrasts and
    neighbours go together.
    """
    places = parameters.half_edges.places
    found = {i: np.zeros((len(places[i]),) * 2) for i in variables.tolist()}
    listed = np.array([i for i in variables.tolist() if len(places[i])], dtype=np.int64)
    degrees = np.array([len(parameters.half_edges.of_variable(i)) for i in listed.tolist()])
    shapes = np.stack([contrasts.sizes[listed], degrees.astype(np.int64)], axis=1)
    kinds, kind = np.unique(shapes.reshape(-1, 2), axis=0, return_inverse=True)
    for number in range(len(kinds)):
        own = listed[kind.ravel() == number]
        network = DeviceNetwork.of(potentials, own, rows.device, torch.float64)
        moments = Moments(rows, network, contrasts, frequencies, np.arange(len(own)))
        indicators = _Indicators(parameters, contrasts, own, network.width, rows.device)
        found |= _alike_blocks(rows, moments, indicators)
    return [found[i] for i in variables.tolist()]


class _Indicators:
    """Neighbours' indicators, in contrasts, of variables that have equally many neighbours."""

    def __init__(
        self, parameters: Parameters, contrasts: Contrasts, variables: Ints, states: int,
        device: Any,
    ) -> None:  # fmt: skip
        self.variables, self._parameters = variables, parameters
        halves = np.stack([parameters.half_edges.of_variable(i) for i in variables.tolist()])
        self._halves, (count, degree) = halves, halves.shape[:2]
        self.width = int(halves[:, :, 5].max(initial=0))
        bases = np.zeros((count, degree, states, self.width))
        for k in range(count):
            for d, (other, *_, width) in enumerate(halves[k].tolist()):
                basis = contrasts.bases[other][:, :width]
                bases[k, d, : len(basis), :width] = basis
        self.columns = 1 + degree * self.width
        self._bases = tensor(bases, dtype=torch.float64, device=device)
        self._others = tensor(halves[:, :, 0].copy(), device=device)

    def of(self, chunk: Chunk, some: slice) -> Any:
        """Return 1 and the indicators, (variables, rows, columns)."""
        others, bases = self._others[some], self._bases[some]
        (count, degree), rows = others.shape, chunk.codes.shape[1]
        ones = torch.ones((count, rows, 1), dtype=bases.dtype, device=bases.device)
        if not degree:
            return ones
        codes = chunk.codes[others.view(-1)].long()
        each = torch.arange(count * degree, device=codes.device)[:, None]
        seen = bases.reshape(count * degree, -1, self.width)[each, codes]
        seen = seen.view(count, degree, rows, self.width).transpose(1, 2)
        return torch.cat([ones, seen.reshape(count, rows, degree * self.width)], dim=2)

    def parameters_of(self, k: int, size: int) -> Ints:
        """Return which parameter a contrast and a column stand for, (size, columns); -1: none."""
        where = np.full((size, self.columns), -1)
        where[:, 0] = np.arange(size)
        for d, (_, begin, own, across, height, width) in enumerate(self._halves[k].tolist()):
            start = 1 + d * self.width
            table = begin + np.arange(height)[:, None] * own + np.arange(width) * across
            where[:height, start : start + width] = table
        return where

    def order_of(self, k: int, size: int) -> Any:
        """Return where each parameter is among contrasts times columns: there is one for each."""
        where = self.parameters_of(k, size).ravel()
        there = np.flatnonzero(where >= 0)
        order = np.empty(len(there), dtype=np.int64)
        order[where[there]] = there
        return tensor(order, device=self._others.device)

    def assembled(self, k: int, sums: Any, size: int) -> Floats:
        """Return the Hessian of one of the variables from sums (triangle, columns, columns)."""
        order, columns = self.order_of(k, size), self.columns
        contrast, column = order // columns, order % columns
        kinds = tensor(unfold(size), device=order.device)[contrast[:, None], contrast]
        flat = (kinds * columns + column[:, None]) * columns + column
        found: Floats = sums.view(-1)[flat].cpu().numpy()
        return found


def _alike_blocks(rows: DeviceRows, moments: Moments, indicators: _Indicators) -> dict[int, Floats]:
    """Return the Hessians of variables of one kind."""
    triangle, columns, count = moments.triangle, indicators.columns, len(indicators.variables)
    size = int(moments.size)
    room = int(SHARE * free_bytes(rows.device)) // (8 * (triangle + 4) * columns)  # rows of one
    step = int(np.clip(room, 256, min(ROWS, max(256, rows.n_rows))))
    together = max(1, min(count, room // step))
    found = {}
    for start in range(0, count, together):
        some = slice(start, min(start + together, count))
        shape = (some.stop - start, triangle * columns, columns)
        total = torch.zeros(shape, dtype=torch.float64, device=rows.device)
        for chunk in rows.chunks(step):
            spread = weighted(moments.of(chunk, some)[0], chunk).transpose(1, 2)
            z = indicators.of(chunk, some)
            left = (spread[:, :, :, None] * z[:, :, None, :]).flatten(2)
            total += torch.bmm(left.transpose(1, 2), z)
        for k, own in enumerate(total.view(-1, triangle, columns, columns), start):
            found[int(indicators.variables[k])] = indicators.assembled(k, own, size)
    return found
