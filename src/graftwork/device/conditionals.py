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


def sums_of(rows: DeviceRows, potentials: Potentials, _: Ints | None, nodes: Ints) -> list[Floats]:
    """Return the sums of some variables over the rows; of others they are 0.

    In float64, since a loss is solved to more digits than float32 has.
    """
    layout = potentials.layout
    network = DeviceNetwork.of(potentials, nodes, rows.device, torch.float64)
    halves, width = network.halves, network.width
    real = {"dtype": torch.float64, "device": rows.device}
    logs = torch.zeros(len(nodes), **real)
    states, squares = (torch.zeros((len(nodes), width), **real) for _ in range(2))
    pairs = torch.zeros((len(halves.edges), width, width), **real)
    for chunk in rows.chunks():
        for part in network.batches(chunk.codes.shape[1]):
            p, normalisers = network.conditionals(chunk, part)
            mass = weighted(p, chunk)
            logs[part] += weighted(normalisers.double(), chunk).sum(dim=1)
            states[part] += mass.sum(dim=2, dtype=torch.float64)
            squares[part] += (mass * p).sum(dim=2, dtype=torch.float64)
            first, last = halves.starts[[part.start, part.stop]]
            own = halves.owners[first:last] - part.start
            add_by_codes(mass, chunk, own, halves.others[first:last], pairs[first:last])
    sums = Sums.empty(layout)
    for values in sums:
        values[...] = 0.0
    sums.logs[nodes] = logs.cpu().numpy()
    there = np.arange(width) < layout.cards[nodes][:, None]
    at = (layout.unary_offsets[nodes][:, None] + np.arange(width))[there]
    sums.states[at] = states.cpu().numpy()[there]
    sums.squares[at] = squares.cpu().numpy()[there]
    place_tables(layout, halves, pairs.cpu().numpy(), sums.pairs)
    return list(sums)


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

    Parameters
    ----------
    p : (variables, width, rows) tensor
    owners, others : (k,) int64
        Places among the variables of ``p``, and variables.
    out : (k, width, width) float64 tensor
    """
    if kernels.usable(out.device) and chunk.weights is None:  # float16 has no room for weights
        kernels.add_by_codes(p.float(), chunk.codes, owners, others, out)
        return
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
    network = DeviceNetwork.of(potentials, nodes, rows.device)
    width = network.width
    place = np.searchsorted(nodes, owner[listed])
    found = torch.zeros((len(listed), width, width), dtype=torch.float64, device=rows.device)
    for chunk in rows.chunks():
        for part in network.batches(chunk.codes.shape[1]):
            p = weighted(network.conditionals(chunk, part)[0], chunk)
            low, high = bounds[part.start], bounds[part.stop]
            own = place[low:high] - part.start
            add_by_codes(p, chunk, own, other[listed[low:high]], found[low:high])
    tables = np.zeros((2 * len(pairs), width, width))
    tables[listed] = found.cpu().numpy()
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
            total[low:high] += p[own, state] @ ones.T
    whole = total.cpu().numpy().reshape(blocks, lanes, columns.count)
    return np.ascontiguousarray(whole.transpose(0, 2, 1))


def edge_sums(
    rows: DeviceRows,
    potentials: Potentials,
    _: Ints | None,
    nodes: Ints,
    changes: Floats,
    removed: bool,
) -> Floats:
    """Return sums for each edge: of log E[exp(-c)] of a column that leaves, or of Var[c]."""
    layout = potentials.layout
    network = DeviceNetwork.of(potentials, nodes, rows.device)
    halves, width = network.halves, network.width
    tables = tensor(
        tables_of(layout, changes, halves, width), dtype=torch.float32, device=rows.device
    )
    if removed:
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
                means = (mine * columns).sum(dim=1)
                if removed:
                    values = torch.log(means)
                else:
                    values = (mine * (columns - means[:, None]) ** 2).sum(dim=1)
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
