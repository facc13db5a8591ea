"""Sums of conditionals over rows: of the loss, of its gradient, of pairs that are listed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from graftwork.device import kernels
from graftwork.device.counting import Lines, flat_tables
from graftwork.device.memory import free_bytes, tensor
from graftwork.device.network import DeviceNetwork, Halves, tables_of, weighted
from graftwork.device.rows import Chunk, DeviceRows
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.objectives.pair_sums import LANES
from graftwork.objectives.pseudo import Sums

# Rows summed at once where nothing is kept of a row.
ROWS = 2**20
# Share of the free memory that conditionals as whole numbers take.
TERMS = 0.1
# In a sum of whole numbers 1 is this many.
UNIT = 2.0**28


def sums_of(rows: DeviceRows, potentials: Potentials, _: Ints | None, nodes: Ints) -> list[Floats]:
    """Return the sums of some variables over the rows; of others they are 0.

    In float64, since a loss is solved to more digits than float32 has.
    """
    layout = potentials.layout
    network = DeviceNetwork.of(potentials, nodes, rows.device, torch.float64)
    halves, width = network.halves, network.width
    logs, states, squares, pairs = sum_by_codes(rows, network, halves.starts, halves.others)
    sums = Sums.empty(layout)
    for values in sums:
        values[...] = 0.0
    sums.logs[nodes] = logs
    there = np.arange(width) < layout.cards[nodes][:, None]
    at = (layout.unary_offsets[nodes][:, None] + np.arange(width))[there]
    sums.states[at], sums.squares[at] = states[there], squares[there]
    place_tables(layout, halves, pairs, sums.pairs)
    return list(sums)


def sum_by_codes(
    rows: DeviceRows, network: DeviceNetwork, ends: Ints, targets: Ints
) -> tuple[Floats, ...]:
    """Return sums of log-normalisers, of p, of p^2, and of p by the codes of other variables.

    Shapes: ends, targets (k + 1,), (h,) int64.
    """
    count, width, device = len(network.variables), network.width, rows.device
    shapes = (count, width), (count, width), (len(targets), width, width)
    logs = torch.zeros(count, dtype=torch.float64, device=device)
    if kernels.usable(device) and not rows.weighted:  # whole numbers have no weights
        whole = [torch.zeros(shape, dtype=torch.int64, device=device) for shape in shapes]
        listed = kernels.Targets(ends, targets, width, device)
        room = int(TERMS * free_bytes(device)) // (4 * width)  # variables times rows
        size = min(ROWS, max(kernels.SPAN, room // max(1, count) // kernels.SPAN * kernels.SPAN))
        step = max(1, room // size)
        for chunk in rows.chunks(size):
            for start in range(0, count, step):
                part = slice(start, min(start + step, count))
                logs[part] += kernels.sum_by_codes(network, chunk, part, listed, whole)
        return logs.cpu().numpy(), *(own.cpu().numpy() / UNIT for own in whole)
    states, squares, pairs = (
        torch.zeros(shape, dtype=torch.float64, device=device) for shape in shapes
    )
    owners = np.repeat(np.arange(count), np.diff(ends))
    for chunk in rows.chunks():
        for part in network.batches(chunk.codes.shape[1]):
            p, normalisers = network.conditionals(chunk, part)
            mass = weighted(p, chunk)
            logs[part] += weighted(normalisers, chunk).sum(dim=1)
            states[part] += mass.sum(dim=2)
            squares[part] += (mass * p).sum(dim=2)
            some = slice(*ends[[part.start, part.stop]].tolist())
            add_by_codes(mass, chunk, owners[some] - part.start, targets[some], pairs[some])
    return tuple(own.cpu().numpy() for own in (logs, states, squares, pairs))


def place_tables(layout: Any, halves: Halves, tables: Floats, out: Floats) -> None:
    """Write the tables of half-edges, (h, own states, other's), to (2, entries of edge tables)."""
    for side in range(2):
        mine = halves.sides == side
        edges = layout.edges[halves.edges[mine]]
        own = tables[mine] if side == 0 else tables[mine].transpose(0, 2, 1)
        sizes = layout.edge_sizes[halves.edges[mine]]
        starts = layout.edge_offsets[halves.edges[mine]] - layout.n_unary
        ends = np.concatenate([[0], np.cumsum(sizes)])
        at = np.repeat(starts - ends[:-1], sizes) + np.arange(ends[-1])
        out[side, at] = flat_tables(own, layout.cards, edges)


def add_by_codes(p: Any, chunk: Chunk, owners: Ints, others: Ints, out: Any) -> None:
    """Add to ``out[k]`` the sum over rows of p of an owner by the code of another variable.

    Shapes: p (variables, width, rows) tensor; owners, others (k,) int64; out (k, width, width)
    float64 tensor.
    """
    width, count = p.shape[1:]
    step = max(1, int(0.02 * free_bytes(out.device)) // (8 * 3 * width * max(1, count)))
    codes = torch.arange(width, device=out.device)
    for start in range(0, len(owners), step):
        own = tensor(owners[start : start + step], device=out.device)
        other = tensor(others[start : start + step], device=out.device)
        ones = (chunk.codes[other][:, :, None] == codes).to(p.dtype)
        out[start : start + step] += torch.bmm(p[own], ones)


def sum_one_by_one(
    rows: DeviceRows, potentials: Potentials, _: Ints | None, pairs: Ints, ends: Ints
) -> Floats:
    """Return the sums of listed pairs, for variables that have neighbours; 0 of others."""
    layout = potentials.layout
    degrees = np.bincount(layout.edges.ravel(), minlength=layout.n_variables)
    owner, other = pairs.T.ravel(), pairs[:, ::-1].T.ravel()
    listed = np.flatnonzero(degrees[owner] > 0)
    listed = listed[np.argsort(owner[listed], kind="stable")]
    nodes, first = np.unique(owner[listed], return_index=True)
    bounds = np.append(first, len(listed))
    network = DeviceNetwork.of(potentials, nodes, rows.device, torch.float64)
    tables = np.zeros((2 * len(pairs), network.width, network.width))
    tables[listed] = sum_by_codes(rows, network, bounds, other[listed])[-1]
    forth, back = tables[: len(pairs)], tables[len(pairs) :].transpose(0, 2, 1)
    return np.stack([flat_tables(own, layout.cards, pairs) for own in (forth, back)])


def multiply(
    rows: DeviceRows, potentials: Potentials, _: Ints | None, jobs: list[tuple[Ints, Ints]]
) -> list[Floats]:
    """Return the sums of some variables' conditionals by the codes of others, as products."""
    return [_multiply_one(rows, potentials, *job) for job in jobs]


def _multiply_one(rows: DeviceRows, potentials: Potentials, owners: Ints, others: Ints) -> Floats:
    cards, lanes = potentials.layout.cards, len(LANES)
    lines = Lines.of(cards[owners] - 1, owners, rows.device)
    columns = Lines.of(cards[others], others, rows.device)
    blocks = -(-lines.count // lanes)
    total = torch.zeros((blocks * lanes, columns.count), dtype=torch.float64, device=rows.device)
    network = DeviceNetwork.of(potentials, owners, rows.device)
    for chunk in rows.chunks() if lines.count else ():
        ones = columns.indicators(chunk.codes, torch.float32)
        for part in network.batches(chunk.codes.shape[1]):
            p = weighted(network.conditionals(chunk, part)[0], chunk)
            low, high = lines.starts[[part.start, part.stop]]
            own, state = lines.owner[low:high] - part.start, lines.state[low:high]
            total[low:high] += p[own, state] @ ones[: columns.count, : p.shape[2]].T
    whole = total.cpu().numpy().reshape(blocks, lanes, columns.count)
    return np.ascontiguousarray(whole.transpose(0, 2, 1))


def edge_sums(
    rows: DeviceRows, potentials: Potentials, _: Ints | None, nodes: Ints, changes: Floats
) -> Floats:
    """Return for each edge the sum of log E[exp(-c)] of the column that leaves."""
    layout = potentials.layout
    network = DeviceNetwork.of(potentials, nodes, rows.device)
    halves, width = network.halves, network.width
    tables = tables_of(layout, tensor(changes, rows.device, torch.float32), halves, width)
    tables = torch.exp(-tables)
    sums = torch.zeros(len(halves.edges), dtype=torch.float64, device=rows.device)
    for chunk in rows.chunks():
        count = chunk.codes.shape[1]
        step = max(1, int(0.05 * free_bytes(rows.device)) // (24 * width * count))
        for part in network.batches(count):
            p, _logs = network.conditionals(chunk, part)
            low, high = halves.starts[[part.start, part.stop]].tolist()
            for start in range(low, high, step):
                some = slice(start, min(start + step, high))
                own = tensor(halves.owners[some] - part.start, device=rows.device)
                codes = chunk.codes[network.others[some].long()].long()
                where = codes[:, None].expand(len(own), width, count)
                columns, mine = tables[some].gather(2, where), p[own]
                values = torch.log((mine * columns).sum(dim=1))
                sums[some] += weighted(values.double(), chunk).sum(dim=1)
    total = np.zeros(layout.n_edges)
    np.add.at(total, halves.edges, sums.cpu().numpy())
    return total


def distances(
    rows: DeviceRows, potentials: Potentials, _: Ints | None, before: Potentials, nodes: Ints
) -> Floats:
    """Return the squared changes of conditionals, summed over the rows."""
    now, left = (DeviceNetwork.of(one, nodes, rows.device) for one in (potentials, before))
    total = torch.zeros(len(nodes), dtype=torch.float64, device=rows.device)
    for chunk in rows.chunks():
        for part in now.batches(chunk.codes.shape[1], copies=8):
            moved = now.conditionals(chunk, part)[0] - left.conditionals(chunk, part)[0]
            found = (moved**2).sum(dim=1, dtype=torch.float64)
            total[part] += weighted(found, chunk).sum(dim=1)
    out: Floats = total.cpu().numpy()
    return out
