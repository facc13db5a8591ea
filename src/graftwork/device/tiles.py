"""Gradient tables of all pairs on the device: products of residuals with indicators.

A residual times 127 is rounded to a whole number, up or down at random such that it is right on
average. Products of bytes are exact, so a sum over N rows is wrong by about sqrt(N) / 254 at most,
in the mean: little beside what sampling the rows does. `DeviceTile.slack` bounds it.

Only states but the last of either variable are multiplied: residuals of a variable add up to 0, and
the sums of a residual over all codes of another variable are those of the loss's gradient.
"""

from __future__ import annotations

import math
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

# Shares of the free memory that the sums of a tile and a chunk of rows take.
SHARE, OF_ROWS = 0.5, 0.1
# Rows multiplied at once, at most, and variables of a side of a tile.
ROWS, MOST_VARIABLES = 2**16, 2**14
# A residual of 1 is this whole number.
UNIT = 127
# Standard deviations by which rounding may be off: one of 10^15 sums is.
DEVIATIONS = 8.0
# With weights residuals are float32, and so are sums of a chunk; these are cut off after 24 bits.
CUT_OFF = CHUNK / 16 * 2.0**-24
# Numbers of pairs' tables that are looked at together.
BLOCK = 2**30


@dataclass(frozen=True, slots=True, eq=False)
class DeviceTile:
    """All pairs between two lists of variables (see `graftwork.objectives.pair_tiles.Tile`)."""

    first: Ints  # first, second, places, at: as of `Tile`
    second: Ints
    places: tuple[int, int]
    # forth, back: (lines, columns) tensors: sums of the residuals of the first by states of the
    # second, and the other way round; of all states but the last
    forth: Any
    back: Any
    slopes: Any  # sums of the residuals of all states of all variables
    own_sums: Floats  # (states of all variables,)
    at: Conditionals

    @property
    def triangle(self) -> bool:
        """Whether both lists are the same: then only pairs above the diagonal count."""
        return self.places[0] == self.places[1]

    def slack(self, roots: Floats, largest: bool, limit: float) -> float:
        """Return by how much a score near a limit may be wrong."""
        sample = self.at.sample
        scale = 1.0
        if not largest:
            scale = float(roots[self.first].min()) * float(roots[self.second].min())
        if sample.weights is not None:
            return 4 * CUT_OFF / scale + CUT_OFF * limit
        own, other = (float(sample.cards[some].max()) for some in (self.first, self.second))
        # Of a cell before the last states are filled in; then of the largest cell, or the norm.
        deviation = 0.5 / UNIT / math.sqrt(sample.total_weight)
        if largest:
            return DEVIATIONS * deviation * math.sqrt(own + other)
        mean = 2.0 * deviation * math.sqrt(own + other - 2.0)
        return (mean + DEVIATIONS * deviation * math.sqrt(own * other)) / scale

    def scores(self, roots: Floats, largest: bool) -> Floats:
        """Return norms of the gradient tables over both variables' roots, or largest entries."""
        return self._dense(self._scores(roots, largest))

    def scored_above(self, roots: Floats, largest: bool, limit: float) -> tuple[Ints, Ints, Floats]:
        """Return the pairs that score above a limit (see `Tile.scored_above`)."""
        return self._chosen(
            (some, found, found > limit) for some, found in self._scores(roots, largest)
        )

    def statistics(self, axes: list[Floats], curvatures: list[Floats]) -> Floats:
        """Return statistics in coordinates of each variable's own (see `Tile.statistics`)."""
        return self._dense(self._statistics(axes, curvatures))

    def striking(
        self, axes: list[Floats], curvatures: list[Floats], least: Floats
    ) -> tuple[Ints, Ints, Floats]:
        """Return the pairs whose statistic is large (see `Tile.striking`)."""
        device = self.forth.device
        needed = tensor(least, device)
        first, second = (
            tensor(np.array([len(curvatures[i]) for i in some.tolist()]), device)
            for some in (self.first, self.second)
        )
        return self._chosen(
            (some, found, found >= needed[first[some, None] * second])
            for some, found in self._statistics(axes, curvatures)
        )

    def _scores(self, roots: Floats, largest: bool) -> Iterator[tuple[slice, Any]]:
        total = float(self.at.sample.total_weight)
        scales = tensor(roots[self.second], device=self.forth.device)
        for some, tables in self._tables():
            if largest:
                found = tables.abs().amax(dim=(1, 3))
            else:
                found = torch.linalg.vector_norm(tables, dim=(1, 3)) / scales
                found /= tensor(roots[self.first[some]], device=found.device)[:, None]
            yield some, found / total

    def _statistics(
        self, axes: list[Floats], curvatures: list[Floats]
    ) -> Iterator[tuple[slice, Any]]:
        right, across = self._axes(self.second, self._height(self.second), axes, curvatures)
        for some, tables in self._tables():
            left, along = self._axes(self.first[some], tables.shape[1] - 1, axes, curvatures)
            p, height, q, width = tables.shape
            half = torch.bmm(left.transpose(1, 2), tables.reshape(p, height, q * width))
            half = half.view(p, -1, q, width).permute(2, 0, 1, 3).reshape(q, -1, width)
            slopes = torch.bmm(half, right).view(q, p, left.shape[2], right.shape[2])
            slopes = slopes**2 / (along[None, :, :, None] + across[:, None, None, :])
            yield some, slopes.sum(dim=(2, 3)).T

    def _dense(self, found: Iterator[tuple[slice, Any]]) -> Floats:
        out = np.zeros((len(self.first), len(self.second)))
        for some, values in found:
            out[some] = values.cpu().numpy()
        return np.triu(out, 1) if self.triangle else out

    def _chosen(self, found: Iterator[tuple[slice, Any, Any]]) -> tuple[Ints, Ints, Floats]:
        """Return the places of chosen values in the first list and the second, and the values."""
        lines, columns, values = [], [], []
        for some, own, chosen in found:
            if self.triangle:
                chosen = torch.triu(chosen, some.start + 1)
            places = torch.nonzero(chosen)
            lines.append(some.start + places[:, 0].cpu().numpy())
            columns.append(places[:, 1].cpu().numpy())
            values.append(own[places[:, 0], places[:, 1]].cpu().numpy())
        return np.concatenate(lines), np.concatenate(columns), np.concatenate(values)

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
    """Yield all pairs among some variables, tile by tile (see `pair_tiles.tiles`)."""
    device, leading = parts[0].device, len(variables) if leading is None else leading
    most = _most_lines(device) if most is None else most
    sizes = at.sample.cards[variables] - 1
    numbers = np.cumsum(sizes) // most, np.arange(len(variables)) // MOST_VARIABLES
    cuts = np.flatnonzero(np.diff(numbers).any(axis=0)) + 1
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
    """Return how many lines each side of a tile may have: 20 bytes a pair of them."""
    return max(1024, int((SHARE * free_bytes(device) / 20) ** 0.5))


def _sums(parts: list[DeviceRows], at: Conditionals, mine: Ints, theirs: Ints | None) -> list[Any]:
    """Return the sums of residuals by states: forth and back, or once for the same variables."""
    device, size = parts[0].device, ROWS
    sides = [_Side(at, own, device) for own in (mine, theirs) if own is not None]
    jobs = [(sides[0], sides[-1]), (sides[-1], sides[0])][: len(sides)]
    real = {"dtype": torch.float64, "device": device}
    found = [torch.zeros((a.lines.room, b.lines.room), **real) for a, b in jobs]
    bytes_ = 2 * sum(side.lines.room for side in sides)
    while size > CHUNK and size * bytes_ > OF_ROWS * free_bytes(device):
        size //= 2
    for rows in parts:
        begin = 0
        for chunk in rows.chunks(CHUNK if rows.weighted else size):
            ones = [side.indicators(chunk) for side in sides]
            left = [side.residuals(chunk, begin) for side in sides]
            for number, out in enumerate(found):
                out += product(left[number], ones[-1 - number])
            begin += chunk.codes.shape[1]
    if not parts[0].weighted:
        for out in found:
            out /= UNIT
    return found


class _Side:
    """The variables of one side of a tile, and their lines."""

    def __init__(self, at: Conditionals, variables: Ints, device: Any) -> None:
        self.lines = Lines.of(at.sample.cards[variables] - 1, variables, device)
        self._network = DeviceNetwork.of(at.potentials, variables, device)

    def indicators(self, chunk: Chunk) -> Any:
        """Return 1 where variables are in a line's state."""
        kind = torch.int8 if chunk.weights is None else torch.float32
        return self.lines.indicators(chunk.codes, kind)

    def residuals(self, chunk: Chunk, begin: int) -> Any:
        """Return residuals, as whole numbers where rows have no weights."""
        network, lines = self._network, self.lines
        if chunk.weights is None and kernels.usable(chunk.codes.device):
            return kernels.residuals(network, lines, chunk, begin)
        count = chunk.codes.shape[1]
        out = lines.empty(count, torch.float32)
        for part in network.batches(count):
            p, _ = network.conditionals(chunk, part)
            low, high = lines.starts[[part.start, part.stop]]
            own, state = lines.owner[low:high] - part.start, lines.state[low:high]
            there = chunk.codes[lines.variable[low:high]] == state[:, None]
            out[low:high, :count] = weighted(there.float() - p[own, state], chunk)
        return out if chunk.weights is not None else _rounded(out, lines, begin)


def _rounded(values: Any, lines: Lines, begin: int) -> Any:
    """Return values times `UNIT` as bytes, rounded up or down at random."""
    key = torch.zeros(len(values), dtype=torch.int64, device=values.device)
    key[: lines.count] = lines.variable * 64 + lines.state
    rows = begin + torch.arange(values.shape[1], device=values.device)
    chance = _mixed(_mixed(key)[:, None] + rows * 0x9E3779B9 & 0xFFFFFFFF) >> 8
    return torch.floor(UNIT * values + chance.float() * 2.0**-24).clamp_(max=UNIT).to(torch.int8)


def _mixed(x: Any) -> Any:
    """Return 32 bits that all bits of x decide, as `programs` does."""
    x = (x ^ (x >> 16)) * 0x85EBCA6B & 0xFFFFFFFF
    x = (x ^ (x >> 13)) * 0xC2B2AE35 & 0xFFFFFFFF
    return x ^ (x >> 16)
