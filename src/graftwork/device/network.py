"""A network's weights on the device, and the conditionals of its variables in rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from graftwork.device.memory import free_bytes, tensor
from graftwork.device.rows import Chunk
from graftwork.inference.layout import Ints, Layout, Potentials

# What states that are not there have for a logit.
NOTHING = -1e30
# Share of the free memory that the conditionals of a batch of variables take.
SHARE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """The half-edges of some variables: each edge as its one or other variable sees it."""

    starts: Ints  # (k + 1,): where those of each variable start
    # owners, others: (h,): the variable's place among those asked for, and the neighbour
    owners: Ints
    others: Ints
    # edges, sides: (h,): which edge, and whether the variable is its first (0) or second (1)
    edges: Ints
    sides: Ints

    @staticmethod
    def of(layout: Layout, variables: Ints) -> Halves:
        """Return the half-edges of some variables, in the order of the edges."""
        place = np.full(layout.n_variables, -1)
        place[variables] = np.arange(len(variables))
        owners = place[layout.edges.ravel()]
        half = np.flatnonzero(owners >= 0)
        half = half[np.argsort(owners[half], kind="stable")]
        owners = owners[half]
        edges, sides = np.divmod(half, 2)
        others = layout.edges[edges, 1 - sides]
        counts = np.bincount(owners, minlength=len(variables))
        return Halves(np.concatenate([[0], np.cumsum(counts)]), owners, others, edges, sides)


def tables_of(layout: Layout, values: Any, halves: Halves, width: int) -> Any:
    """Return edge tables as owners see them, shape (h, width, width): own state, other's code.

    Shapes: values (2, entries) tensor.
    """
    device = values.device
    cards = layout.cards[layout.edges[halves.edges]]
    starts = layout.edge_offsets[halves.edges] - layout.n_unary
    columns = np.stack([halves.sides, cards[:, 0], cards[:, 1], starts])
    side, first, second, start = tensor(columns, device)[:, :, None, None]
    states = torch.arange(width, device=device)
    own, other = states[None, :, None], states[None, None, :]
    a, b = torch.where(side == 0, own, other), torch.where(side == 0, other, own)
    there = (a < first) & (b < second)
    at = torch.where(there, start + a * second + b, 0)
    return torch.where(there, values[side, at], 0.0) if values.shape[1] else at.to(values.dtype)


def width_of(cards: Ints) -> int:
    """Return a power of 2, from 4 on, that no number of states exceeds.

    Examples
    --------
    >>> width_of(np.array([2, 5])), width_of(np.array([2, 2]))
    (8, 4)
    """
    return max(4, 1 << int(np.max(cards, initial=2) - 1).bit_length())


@dataclass(frozen=True, slots=True, eq=False)
class DeviceNetwork:
    """The weights that the conditionals of some variables depend on."""

    layout: Layout
    variables: Ints  # (k,): whose conditionals these are
    halves: Halves
    width: int  # states of all variables, filled up
    nodes: Any  # nodes, starts, others: the same as the variables and their half-edges
    starts: Any
    others: Any
    unary: Any  # (k, width) tensor
    tables: Any  # (h, width, width) tensor: by the neighbour's code, then by the own state

    @staticmethod
    def of(
        potentials: Potentials, variables: Ints, device: Any, dtype: Any = torch.float32
    ) -> DeviceNetwork:
        """Return a network's weights on a device."""
        layout, weights = potentials.layout, potentials.weights
        halves, width = Halves.of(layout, variables), width_of(layout.cards)
        states = layout.unary_offsets[variables][:, None] + np.arange(width)
        there = np.arange(width) < layout.cards[variables][:, None]
        unary = np.where(there, weights[np.where(there, states, 0)], NOTHING)
        whole, real = {"dtype": torch.int32, "device": device}, {"dtype": dtype, "device": device}
        flat = tensor(weights[layout.n_unary :], **real)
        tables = tables_of(layout, flat.expand(2, -1), halves, width)
        return DeviceNetwork(
            layout, variables, halves, width, tensor(variables, **whole),
            tensor(halves.starts, **whole), tensor(halves.others, **whole),
            tensor(unary, **real), tables.transpose(1, 2).contiguous(),
        )  # fmt: skip

    def batches(self, rows: int, copies: int = 4) -> Iterator[slice]:
        """Yield parts of the variables whose conditionals in some rows fit into memory."""
        size = self.unary.element_size() * self.width * max(1, rows) * copies
        count = max(1, int(SHARE * free_bytes(self.unary.device)) // size)
        for start in range(0, len(self.variables), count):
            yield slice(start, min(start + count, len(self.variables)))

    def conditionals(self, chunk: Chunk, part: slice) -> tuple[Any, Any]:
        """Return p of all states, (variables, width, rows), and log-normalisers, (variables, rows).

        Of some of the variables; states that are not there have none.
        """
        from graftwork.device import kernels

        if kernels.usable(self.unary.device):
            return kernels.conditionals(self, chunk, part)
        logits = self._logits(chunk, part)
        return torch.softmax(logits, dim=1), torch.logsumexp(logits, dim=1)

    def _logits(self, chunk: Chunk, part: slice) -> Any:
        rows = chunk.codes.shape[1]
        out = self.unary[part, :, None].repeat(1, 1, rows)
        starts = self.halves.starts[part.start : part.stop + 1]
        degrees = np.diff(starts)
        for k in range(int(degrees.max(initial=0))):
            has = tensor(np.flatnonzero(degrees > k), device=out.device)
            half = tensor(starts[:-1][degrees > k] + k, device=out.device)
            codes = chunk.codes[self.others[half].long()].long()
            where = codes[:, None].expand(len(half), self.width, rows)
            tables = self.tables[half].transpose(1, 2)
            out.index_add_(0, has, tables.gather(2, where))
        return out


def weighted(values: Any, chunk: Chunk) -> Any:
    """Return values by rows, (..., rows), times the rows' weights."""
    return values if chunk.weights is None else values * chunk.weights.to(values.dtype)
