"""Gradient tables of all pairs on the device: products of residuals with indicators.

A residual is the sum of two float16 numbers, 22 bits together; indicators are exact in float16. So
products of tensor cores, summed in float32 over `CHUNK` rows and in float64 beyond, are about as
good as float32 ones. `DeviceTile.slack` bounds what is lost.

Only states but the last of either variable are multiplied: residuals of a variable add up to 0, and
the sums of a residual over all codes of another variable are those of the loss's gradient.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import torch

from graftwork.device import kernels
from graftwork.device.counting import Lines, product
from graftwork.device.memory import free_bytes, tensor
from graftwork.device.network import DeviceNetwork, weighted
from graftwork.device.rows import CHUNK, Chunk, DeviceRows
from graftwork.inference.layout import Floats, Ints
from graftwork.objectives.conditionals import Conditionals
from graftwork.objectives.pair_sums import compare_pairs
from graftwork.objectives.protocol import Expectations

# Share of the free memory that a tile takes.
SHARE = 0.6
# A residual of two float16 numbers differs by this share of itself at most, and float32 sums of a
# chunk by this share of theirs: CHUNK / 16 additions, each cut off after 24 bits.
ROUNDED, CUT_OFF = 2.0**-21, CHUNK / 16 * 2.0**-24
# Of each variable, the norm of its states' mean absolute residuals, the last one's error being the
# sum of the others'.
MOST_RESIDUAL = 2.0
# Numbers of pairs' tables that are looked at together.
BLOCK = 2**30


@dataclass(frozen=True, slots=True, eq=False)
class DeviceTile:
    """All pairs between two lists of variables (see `graftwork.objectives.pair_tiles.Tile`).

    Attributes
    ----------
    first, second, places, at
        As of `Tile`.
    forth, back : (lines, columns) float64 tensors
        Sums of the residuals of the first by states of the second, and the other way round; of all
        states but the last.
    slopes : tensor
        Sums of the residuals of all states of all variables.
    own_sums : (states of all variables,) float64
    """

    first: Ints
    second: Ints
    places: tuple[int, int]
    forth: Any
    back: Any
    slopes: Any
    own_sums: Floats
    at: Conditionals

    @property
    def triangle(self) -> bool:
        """Whether both lists are the same: then only pairs above the diagonal count."""
        return self.places[0] == self.places[1]

    def slack(self, roots: Floats, largest: bool, limit: float) -> float:
        """Return by how much a score near a limit may be wrong."""
        scale = 1.0
        if not largest:
            scale = float(roots[self.first].min() * roots[self.second].min())
        return 2 * MOST_RESIDUAL * ROUNDED / scale + CUT_OFF * limit

    def scores(self, roots: Floats, largest: bool) -> Floats:
        """Return norms of the gradient tables over both variables' roots, or largest entries."""
        out = np.zeros((len(self.first), len(self.second)))
        total = float(self.at.sample.total_weight)
        scales = tensor(roots[self.second], device=self.forth.device)
        for some, tables in self._tables():
            if largest:
                found = tables.abs().amax(dim=(1, 3))
            else:
                found = torch.linalg.vector_norm(tables, dim=(1, 3)) / scales
                found /= tensor(roots[self.first[some]], device=found.device)[:, None]
            out[some] = (found / total).cpu().numpy()
        return np.triu(out, 1) if self.triangle else out

    def statistics(self, axes: list[Floats], curvatures: list[Floats]) -> Floats:
        """Return statistics in coordinates of each variable's own (see `Tile.statistics`)."""
        out = np.zeros((len(self.first), len(self.second)))
        right, across = self._axes(self.second, self._height(self.second), axes, curvatures)
        for some, tables in self._tables():
            left, along = self._axes(self.first[some], tables.shape[1] - 1, axes, curvatures)
            p, height, q, width = tables.shape
            half = torch.bmm(left.transpose(1, 2), tables.reshape(p, height, q * width))
            half = half.view(p, -1, q, width).permute(2, 0, 1, 3).reshape(q, -1, width)
            slopes = torch.bmm(half, right).view(q, p, left.shape[2], right.shape[2])
            slopes = slopes**2 / (along[None, :, :, None] + across[:, None, None, :])
            out[some] = slopes.sum(dim=(2, 3)).T.cpu().numpy()
        return np.triu(out, 1) if self.triangle else out

    def expectations(self, lines: Ints, columns: Ints) -> Expectations:
        """Return what the loss compares at some pairs, summed anew."""
        pairs = np.stack([self.first[lines], self.second[columns]], axis=1)
        return compare_pairs(self.at, pairs, self.own_sums)

    def _axes(
        self, variables: Ints, height: int, axes: Sequence[Floats], curvatures: Sequence[Floats]
    ) -> tuple[Any, Any]:
        """Return axes (k, states, coordinates) and curvatures (k, coordinates), the last state
        behind all others."""
        cards, device = self.at.sample.cards, self.forth.device
        width = max((len(curvatures[i]) for i in variables.tolist()), default=0)
        stacked = np.zeros((len(variables), height + 1, width))
        along = np.ones((len(variables), width))
        for k, i in enumerate(variables.tolist()):
            size, count = int(cards[i]), len(curvatures[i])
            stacked[k, : size - 1, :count] = axes[i][:-1]
            stacked[k, height, :count] = axes[i][-1]
            along[k, :count] = curvatures[i]
        real = {"dtype": torch.float64, "device": device}
        return tensor(stacked, **real), tensor(along, **real)

    def _tables(self) -> Iterator[tuple[slice, Any]]:
        """Yield the sums of residuals of some of the first variables with all of the second.

        Shape (variables, states, variables, states): states but the last, zeros up to the largest
        number of states, then the last.
        """
        mine, heights = self._places(self.first)
        theirs, widths = self._places(self.second)
        height, width = mine.shape[1], theirs.shape[1]
        size = (height + 1) * len(self.second) * (width + 1) * 8 * 3
        step = max(1, min(BLOCK, int(0.1 * free_bytes(self.forth.device))) // max(1, size))
        across = theirs.view(-1)
        right = self._slopes(self.second, width)
        for start in range(0, len(self.first), step):
            some = slice(start, min(start + step, len(self.first)))
            p, q = some.stop - start, len(self.second)
            lines = mine[some].reshape(-1)
            inner = self.forth[lines][:, across]
            inner = inner + self.back[:, mine[some].reshape(-1)][across].T
            inner = inner.view(p, height, q, width)
            inner *= heights[some, :, None, None] * widths[None, None]
            left = self._slopes(self.first[some], height)
            out = torch.empty(
                (p, height + 1, q, width + 1), dtype=torch.float64, device=inner.device
            )
            out[:, :height, :, :width] = inner
            out[:, :height, :, width] = left[:, :, None] - inner.sum(dim=3)
            out[:, height, :, :width] = right[None] - inner.sum(dim=1)
            out[:, height, :, width] = (
                inner.sum(dim=(1, 3)) - left.sum(dim=1)[:, None] - right.sum(dim=1)[None]
            )
            yield some, out

    def _height(self, variables: Ints) -> int:
        return int(self.at.sample.cards[variables].max(initial=1)) - 1

    def _places(self, variables: Ints) -> tuple[Any, Any]:
        """Return the lines of each variable, (k, states but the last), and 1 where there is one."""
        sizes = self.at.sample.cards[variables] - 1
        starts = np.cumsum(sizes) - sizes
        states = np.arange(self._height(variables))
        there = states < sizes[:, None]
        device = self.forth.device
        lines = tensor(np.where(there, starts[:, None] + states, 0), device=device)
        return lines, tensor(there, device=device, dtype=torch.float64)

    def _slopes(self, variables: Ints, height: int) -> Any:
        """Return the sums of residuals of states but the last, (k, height)."""
        sizes = self.at.sample.cards[variables] - 1
        starts = self.at.potentials.layout.unary_offsets[variables]
        states = np.arange(height)
        there = tensor(states < sizes[:, None], device=self.slopes.device)
        at = np.where(states < sizes[:, None], starts[:, None] + states, 0)
        return self.slopes[tensor(at, device=self.slopes.device)] * there


def tiles(
    parts: list[DeviceRows],
    at: Conditionals,
    variables: Ints,
    own_sums: Floats,
    leading: int | None = None,
    most: int | None = None,
) -> Iterator[DeviceTile]:
    """Yield all pairs among some variables, tile by tile (see `pair_tiles.tiles`).

    Parameters
    ----------
    most : int, optional
        Lines of a side; default what the memory allows.
    """
    device, leading = parts[0].device, len(variables) if leading is None else leading
    most = _most_lines(device) if most is None else most
    sizes = at.sample.cards[variables] - 1
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // most)) + 1
    if leading < len(variables):
        cuts = np.union1d(cuts, [leading])
    lists = [own for own in np.split(variables, cuts) if len(own)]
    places = [0, *accumulate(map(len, lists))]
    margins = np.asarray(at.sample.counts.margins, dtype=np.float64)
    slopes = tensor(margins - own_sums, device=device)
    for second, theirs in enumerate(lists):
        for first, mine in enumerate(lists[: second + 1]):
            if places[first] >= leading:
                break
            sums = _sums(parts, at, mine, theirs if second > first else None)
            yield DeviceTile(
                mine, theirs, (places[first], places[second]), sums[0], sums[-1], slopes, own_sums,
                at,
            )  # fmt: skip
            del sums


def _most_lines(device: Any) -> int:
    """Return how many lines each side of a tile may have: 24 bytes a pair of them."""
    return max(1024, int((SHARE * free_bytes(device) / 24) ** 0.5))


def _sums(parts: list[DeviceRows], at: Conditionals, mine: Ints, theirs: Ints | None) -> list[Any]:
    """Return the sums of residuals by states: forth and back, or once for the same variables."""
    device = parts[0].device
    sides = [_Side(at, own, device) for own in (mine, theirs) if own is not None]
    jobs = [(sides[0], sides[-1]), (sides[-1], sides[0])][: len(sides)]
    real = {"dtype": torch.float64, "device": device}
    found = [torch.zeros((a.lines.count, b.lines.count), **real) for a, b in jobs]
    for rows in parts:
        for chunk in rows.chunks():
            ones = [side.indicators(chunk) for side in sides]
            left = [side.residuals(chunk) for side in sides]
            for number, out in enumerate(found):
                own, other = left[number], ones[-1 - number]
                for k, term in enumerate(own):
                    out.add_(product(term, other), alpha=2.0 ** (-11 * k))
    return found


class _Side:
    """The variables of one side of a tile, and their lines."""

    def __init__(self, at: Conditionals, variables: Ints, device: Any) -> None:
        self.lines = Lines.of(at.sample.cards[variables] - 1, variables, device)
        self._network = DeviceNetwork.of(at.potentials, variables, device)

    def indicators(self, chunk: Chunk) -> Any:
        """Return 1 where variables are in a line's state."""
        half = in_half(chunk)
        return self.lines.indicators(chunk.codes, torch.float16 if half else torch.float32)

    def residuals(self, chunk: Chunk) -> list[Any]:
        """Return residuals in float32, or in float16 and what that leaves, times 2^11."""
        network, lines = self._network, self.lines
        half = in_half(chunk)
        if half and kernels.usable(chunk.codes.device):
            return kernels.residuals(network, lines, chunk)
        count = chunk.codes.shape[1]
        out = torch.empty((lines.count, count), device=chunk.codes.device)
        for part in network.batches(count):
            p, _ = network.conditionals(chunk, part)
            low, high = lines.starts[[part.start, part.stop]]
            own, state = lines.owner[low:high] - part.start, lines.state[low:high]
            there = chunk.codes[lines.variable[low:high]] == state[:, None]
            out[low:high] = there.float() - p[own, state]
        return in_halves(out) if half else [weighted(out, chunk)]


def in_half(chunk: Chunk) -> bool:
    """Return whether products are those of float16 numbers: weights need more room."""
    return chunk.codes.device.type == "cuda" and chunk.weights is None


def in_halves(values: Any) -> list[Any]:
    """Return numbers in float16, and what that leaves, times 2^11."""
    high = values.half()
    return [high, ((values - high.float()) * 2.0**11).half()]
