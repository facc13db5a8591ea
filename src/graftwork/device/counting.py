"""Counts on the device: of states, of pairs of states, of configurations of neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from graftwork.data.encoded import EncodedRows
from graftwork.data.table import Table
from graftwork.device import kernels
from graftwork.device.memory import free_bytes, tensor
from graftwork.device.network import width_of
from graftwork.device.rows import DeviceRows
from graftwork.inference.layout import Floats, Ints
from graftwork.objectives.configurations import Counted, Wanted
from graftwork.objectives.some_rows import Taken, mixed, numbers_of_codes, take_least

# Configurations with up to this many possible keys are counted; variables that may have more are
# summed by rows, which a device does faster than the processor walks through configurations.
MOST_KEYS = 2**17
# Numbers in the histograms of variables that are counted together, on CPU tensors.
BATCH = 2**22
# Rows looked at at once.
ROWS = 2**20
# From this many pairs and this share of all among their variables on, all are counted at once.
MANY_PAIRS, DENSE = 4096, 0.2


def count_states(rows: DeviceRows, table: Table) -> tuple[list[Ints], list[Floats]]:
    """Return how many rows are in each state, and their weight (`graftwork.data.placed`)."""
    n, width = rows.n_variables, width_of(table.cards)
    counts = torch.zeros((n, width), dtype=torch.int64, device=rows.device)
    masses = torch.zeros((n, width), dtype=torch.float64, device=rows.device)
    for chunk in rows.chunks(ROWS):
        if kernels.usable(rows.device) and chunk.weights is None:
            kernels.count_states(chunk.codes, counts)
            continue
        step = max(1, int(0.02 * free_bytes(rows.device)) // max(1, 9 * chunk.codes.shape[1]))
        for first in range(0, n, step):
            own = chunk.codes[first : first + step]
            for state in range(width):
                there = own == state
                counts[first : first + step, state] += there.sum(dim=1)
                if chunk.weights is not None:
                    masses[first : first + step, state] += there.double() @ chunk.weights
    found = counts.cpu().numpy()
    weights = masses.cpu().numpy() if rows.weighted else found.astype(np.float64)
    sizes = table.cards.tolist()
    lists = zip(found, weights, sizes, strict=True)
    return tuple(map(list, zip(*((a[:s], b[:s]) for a, b, s in lists), strict=True)))  # type: ignore[return-value]


def count_pairs(rows: DeviceRows, cards: Ints, pairs: Ints) -> Any:
    """Return the tables of pairs, flat, one after the other."""
    width = width_of(cards)
    variables = np.unique(pairs)
    dense = len(pairs) >= MANY_PAIRS
    if dense and len(pairs) >= DENSE * len(variables) * (len(variables) - 1) / 2:
        return _count_all(rows, cards, pairs, variables)
    tables = _count_listed(rows, pairs, width)
    return flat_tables(tables, cards, pairs)


def flat_tables(tables: Any, cards: Ints, pairs: Ints) -> Any:
    """Return tables (pairs, width, width) as one flat array, each of its own size."""
    first, second = cards[pairs].T[:, :, None, None]
    states = np.arange(tables.shape[1])
    return tables[(states[None, :, None] < first) & (states[None, None, :] < second)]


def _count_listed(rows: DeviceRows, pairs: Ints, width: int) -> Any:
    """Return tables of pairs, shape (pairs, width, width), each counted on its own."""
    kind = torch.float64 if rows.weighted else torch.int64
    out = torch.zeros((len(pairs), width * width), dtype=kind, device=rows.device)
    listed = tensor(pairs, device=rows.device)
    for chunk in rows.chunks(ROWS):
        if kernels.usable(rows.device) and chunk.weights is None:
            kernels.count_pairs(chunk.codes, listed, width, out)
            continue
        count = chunk.codes.shape[1]
        step = max(1, int(0.05 * free_bytes(rows.device)) // (32 * count))
        for start in range(0, len(pairs), step):
            some = listed[start : start + step]
            keys = chunk.codes[some[:, 0]].long() * width + chunk.codes[some[:, 1]]
            keys += torch.arange(len(some), device=rows.device)[:, None] * width**2
            weights = None
            if chunk.weights is not None:
                weights = chunk.weights.expand(len(some), count).reshape(-1)
            found = torch.bincount(keys.view(-1), weights, len(some) * width**2)
            out[start : start + step] += found.view(len(some), -1)
    return out.view(len(pairs), width, width).cpu().numpy()


def _count_all(rows: DeviceRows, cards: Ints, pairs: Ints, variables: Ints) -> Any:
    """Return tables of pairs, flat, from one product of all codes of all variables."""
    lines = Lines.of(cards[variables], variables, rows.device)
    place = np.full(len(cards), -1)
    place[variables] = np.arange(len(variables))
    total = torch.zeros((lines.room, lines.room), dtype=torch.float64, device=rows.device)
    for chunk in rows.chunks():
        ones = lines.indicators(chunk.codes, torch.float64 if rows.weighted else torch.int8)
        left = ones
        if chunk.weights is not None:
            left = ones.clone()
            left[:, : len(chunk.weights)] *= chunk.weights
        total += product(left, ones)
    starts = lines.starts
    whole = total.cpu().numpy()
    first, second = place[pairs].T
    heights, widths = cards[pairs].T
    sizes = heights * widths
    ends = np.concatenate([[0], np.cumsum(sizes)])
    cell = np.arange(ends[-1]) - np.repeat(ends[:-1], sizes)
    across = np.repeat(widths, sizes)
    a, b = np.repeat(starts[first], sizes), np.repeat(starts[second], sizes)
    found = whole[a + cell // across, b + cell % across]
    return found if rows.weighted else np.rint(found).astype(np.int64)


def product(left: Any, right: Any) -> Any:
    """Return left times right transposed; of bytes exactly, in int32.

    What such products ask of the sizes of bytes, `Lines.empty` gives.
    """
    return torch._int_mm(left, right.T) if left.dtype == torch.int8 else left @ right.T


class Lines:
    """States of variables, one below the other: lines of indicators and of residuals.

    Shapes: starts (k + 1,) int64; variables (k,) tensor; owner, state (count,) tensors.
    """

    def __init__(self, starts: Ints, variables: Ints, device: Any) -> None:
        self.starts, self.count = starts, int(starts[-1])
        self.room = max(32, -(-self.count // 16) * 16)
        sizes = np.diff(starts)
        owner = np.repeat(np.arange(len(sizes)), sizes)
        self.owner = tensor(owner, device=device)
        self.variables = tensor(variables, device=device)
        self.variable = tensor(variables[owner], device=device)
        state = np.arange(self.count) - np.repeat(starts[:-1], sizes)
        self.state = tensor(state, device=device)

    @staticmethod
    def of(sizes: Ints, variables: Ints, device: Any) -> Lines:
        """Return lines of variables that have so many each."""
        return Lines(np.concatenate([[0], np.cumsum(sizes)]), variables, device)

    def empty(self, rows: int, dtype: Any) -> Any:
        """Return room for values of all lines in some rows, with zeros beyond them."""
        width = -(-rows // 16) * 16
        out = torch.empty((self.room, width), dtype=dtype, device=self.state.device)
        out[self.count :], out[:, rows:] = 0, 0
        return out

    def indicators(self, codes: Any, dtype: Any) -> Any:
        """Return 1 where a variable is in a line's state, as large as `empty`."""
        if kernels.usable(codes.device) and dtype == torch.int8:
            return kernels.indicators(codes, self)
        rows = codes.shape[1]
        out = self.empty(rows, dtype)
        out[: self.count, :rows] = codes[self.variable] == self.state[:, None]
        return out


def count_configurations(
    rows: DeviceRows, cards: Ints, wanted: list[Wanted], most: int
) -> list[Counted]:
    """Return configurations of variables' neighbours: keys and masses; None for too many."""
    found: list[Counted] = [None] * len(wanted)
    sizes = [math.prod(cards[others].tolist()) for _, others in wanted]
    places = [k for k, size in enumerate(sizes) if size <= MOST_KEYS]
    for batch in _batches(places, sizes, rows.device):
        starts = np.concatenate([[0], np.cumsum([sizes[k] for k in batch])])
        kind = torch.float64 if rows.weighted else torch.int32
        counts = torch.zeros(int(starts[-1]), dtype=kind, device=rows.device)
        neighbours = [wanted[k][1] for k in batch]
        for chunk in rows.chunks(ROWS):
            if kernels.usable(rows.device):
                kernels.count_keys(chunk, neighbours, cards, starts, counts)
            else:
                _count_keys(chunk, neighbours, cards, starts, counts)
        there = torch.nonzero(counts).view(-1)
        masses = counts[there].double().cpu().numpy()
        keys = there.cpu().numpy()
        cuts = np.searchsorted(keys, starts)
        for place, first, last, start in zip(batch, cuts[:-1], cuts[1:], starts, strict=False):
            if last - first <= most:
                found[place] = keys[first:last] - start, masses[first:last].copy()
    return found


def take_part(rows: DeviceRows, sample: EncodedRows, most: int) -> Taken:
    """Return the rows with the least marks (`graftwork.objectives.some_rows`)."""
    numbers = np.zeros((rows.n_variables, int(sample.extended.max(initial=1))), dtype=np.uint64)
    for line, own in zip(numbers, numbers_of_codes(sample), strict=True):
        line[: len(own)] = own
    there = tensor(numbers.view(np.int64), device=rows.device)
    found = []
    for chunk in rows.chunks(ROWS):
        count = chunk.codes.shape[1]
        marks = torch.zeros(count, dtype=torch.int64, device=rows.device)
        step = max(1, int(0.05 * free_bytes(rows.device)) // (24 * count))
        for first in range(0, rows.n_variables, step):
            some = slice(first, first + step)
            marks += there[some].gather(1, chunk.codes[some].long()).sum(dim=0)  # modulo 2^64
        found.append(marks.cpu().numpy().view(np.uint64))
    return take_least(sample, mixed(np.concatenate(found)), most, rows.columns)


def _batches(places: list[int], sizes: list[int], device: Any) -> Iterator[list[int]]:
    """Yield variables whose histograms fit into memory together."""
    room = BATCH if device.type != "cuda" else max(BATCH, int(0.2 * free_bytes(device)) // 16)
    room, size = min(room, 2**30), 0
    batch: list[int] = []
    for place in places:
        if batch and size + sizes[place] > room:
            yield batch
            batch, size = [], 0
        batch.append(place)
        size += sizes[place]
    if batch:
        yield batch


def _count_keys(chunk: Any, neighbours: list[Ints], cards: Ints, starts: Ints, counts: Any) -> None:
    for others, start, stop in zip(neighbours, starts[:-1], starts[1:], strict=True):
        keys = torch.zeros(chunk.codes.shape[1], dtype=torch.int64, device=counts.device)
        for j in others.tolist():
            keys = keys * int(cards[j]) + chunk.codes[j]
        counts[start:stop] += torch.bincount(keys, chunk.weights, int(stop - start)).to(
            counts.dtype
        )
