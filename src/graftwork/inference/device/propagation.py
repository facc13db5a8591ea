"""Belief propagation of many evidence sets at once: the same network, other cells observed.

Messages are logarithms, a tensor (directed edges, states, sets). A sweep sends every message once,
from the deepest variables of a breadth-first order to the roots and back, as ``LoopyBP`` does;
variables of equal depth that no edge joins send together. On a forest one sweep is exact. Each set
has its own end: the largest change of its messages is at most ``tol``. Those that do not get there
are tried once more with damping 0.5, and the better of the two counts.

`send_plain` does in PyTorch what ``propagation_kernels.send`` does in Triton.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.errors import DataError
from graftwork.inference.device.colours import colours
from graftwork.inference.device.torch_ import Tensor, import_torch, open_device
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.messages import SECOND_DAMPING
from graftwork.inference.ragged import grids
from graftwork.inference.wiring import block_maxima, wire

#: The most states a variable may have.
MOST_STATES = 32
#: Entries of messages at a time: 8 bytes each, and a second attempt doubles them.
MOST_ENTRIES = 2**29
#: Entries of tables of beliefs at a time.
READ_ENTRIES = 2**26
#: Tables with smaller entries, less their maximum, are summed in logarithms.
LEAST_LOG = -600.0


@dataclass(frozen=True, slots=True, eq=False)
class BatchBeliefs:
    """What belief propagation says about each of many evidence sets."""

    # (sets, n, states): zero beyond the states of a variable, and all zero where the evidence is
    # impossible
    marginals: Floats
    # (sets,): the Bethe log Z of what agrees with the evidence: exact on forests
    log_partition: Floats
    residual: Floats  # (sets,): largest change of a message in the last sweep; 0 on forests
    sweeps: Ints  # (sets,)


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """Variables that send together: slots ``slots[sends[k]:sends[k + 1]]`` of ``senders[k]``."""

    senders: Tensor
    sends: Tensor
    slots: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A network as message passing reads it, on a device: see ``propagation_kernels.send``."""

    states: int
    logs: bool
    unaries: Tensor
    cards: Tensor
    indptr: Tensor
    owner: Tensor
    neighbours: Tensor
    reverse: Tensor
    shifted: Tensor
    scaled: Tensor
    steps: list[Step]


#: What sends the messages of a step: network, step, codes, messages, change, damping.
Send = Callable[[Network, Step, Tensor, Tensor, Tensor, float], None]


def propagate_sets(
    potentials: Potentials,
    codes: NDArray[Any],
    device: str = "cuda",
    *,
    max_sweeps: int = 200,
    tol: float = 1e-9,
    damping: float = 0.0,
    send: Send | None = None,
) -> BatchBeliefs:
    """Return the beliefs given each column of ``codes`` (n_variables, sets).

    Shapes: codes (n_variables, sets) integers.
    """
    layout = potentials.layout
    if layout.cards.max(initial=1) > MOST_STATES:
        raise DataError(
            f"a variable has {int(layout.cards.max()):,} states, and belief propagation on a "
            f"graphics card has at most {MOST_STATES}. Leave device out to use the processor."
        )
    torch, place = import_torch(), open_device(device)
    seen = np.asarray(codes)
    seen = np.where(seen < layout.cards[:, None], seen, -1).astype(np.int16)
    network = place_network(potentials, place)
    chosen = (send_triton if place.type == "cuda" else send_plain) if send is None else send
    forest = wire(layout).forest
    entries = max(1, len(network.reverse)) * network.states
    width = max(16, MOST_ENTRIES // entries // 16 * 16)
    shift = float(block_maxima(potentials.weights[layout.n_unary :], layout.edge_sizes).sum())
    parts = []
    for first in range(0, seen.shape[1], width):
        part = np.ascontiguousarray(seen[:, first : first + width])
        given = torch.from_numpy(part).to(place)
        found = _settle(network, given, chosen, 1 if forest else max_sweeps, tol, damping, forest)
        marginals, log_partition = read(network, given, found[0])
        parts.append((marginals, log_partition + shift, *(x.cpu().numpy() for x in found[1:])))
    if not parts:
        empty = np.zeros((0, layout.n_variables, network.states))
        return BatchBeliefs(empty, np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64))
    values, log_partitions, residual, sweeps = map(np.concatenate, zip(*parts, strict=True))
    most = int(layout.cards.max(initial=1))
    return BatchBeliefs(values[:, :, :most], log_partitions, residual, sweeps)


def schedule(layout: Layout) -> list[tuple[Ints, Ints, Ints]]:
    """Return who sends what in a sweep, step by step: senders, where their slots start, slots."""
    wiring = wire(layout)
    n = layout.n_variables
    owner = np.repeat(np.arange(n), np.diff(wiring.indptr))
    depth = np.zeros(n, dtype=np.int64)
    placed = np.zeros(n, dtype=np.bool_)
    for i in wiring.order.tolist():
        near = wiring.neighbours[wiring.indptr[i] : wiring.indptr[i + 1]]
        before = near[placed[near]]
        depth[i] = depth[before].min() + 1 if len(before) else 0
        placed[i] = True
    level = depth[layout.edges[:, 0]] == depth[layout.edges[:, 1]]
    inner = colours(n, layout.edges[level])
    rank = depth * (int(inner.max(initial=0)) + 1) + inner
    ranks = np.unique(rank)
    steps = []
    for upward, listed in ((True, ranks[::-1]), (False, ranks)):
        sent = (rank[wiring.neighbours] < rank[owner]) == upward
        slots = np.flatnonzero(sent)
        slots = slots[np.argsort(rank[owner[slots]], kind="stable")]
        bounds = np.searchsorted(rank[owner[slots]], np.stack([listed, listed + 1], axis=1))
        for low, high in bounds.tolist():
            if high > low:
                own = slots[low:high]
                senders, counts = np.unique(owner[own], return_counts=True)
                steps.append((senders, np.concatenate([[0], np.cumsum(counts)]), own))
    return steps


def place_network(potentials: Potentials, place: Any) -> Network:
    """Return a network as tensors on a device."""
    torch = import_torch()
    layout, weights = potentials.layout, potentials.weights
    wiring = wire(layout)
    cards, n = layout.cards, layout.n_variables
    states = 2 ** max(1, int(cards.max(initial=1) - 1).bit_length())
    unaries = np.full((n, states), -np.inf)
    unaries[np.arange(states) < cards[:, None]] = weights[: layout.n_unary]
    owner = np.repeat(np.arange(n), np.diff(wiring.indptr))
    tables = weights[layout.n_unary :]
    flat = tables - np.repeat(block_maxima(tables, layout.edge_sizes), layout.edge_sizes)
    shifted = np.zeros((max(1, len(owner)), states, states))
    s_i, s_j = cards[owner], cards[wiring.neighbours]
    start, own, other = wiring.slots[:, 1], wiring.slots[:, 2], wiring.slots[:, 3]
    shifted.ravel()[grids(np.arange(len(owner)) * states**2, s_i, s_j, states, 1)] = flat[
        grids(start, s_i, s_j, own, other)
    ]

    def tensor(values: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.array(values)).to(place)

    steps = [Step(*map(tensor, found)) for found in schedule(layout)]
    return Network(
        states, bool(flat.min(initial=0.0) < LEAST_LOG), tensor(unaries), tensor(cards),
        tensor(wiring.indptr), tensor(owner), tensor(wiring.neighbours), tensor(wiring.reverse),
        tensor(shifted), tensor(np.exp(shifted)), steps,
    )  # fmt: skip


def _settle(
    network: Network,
    codes: Tensor,
    send: Send,
    max_sweeps: int,
    tol: float,
    damping: float,
    forest: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return settled messages, the last change and the sweeps of each set."""
    torch = import_torch()
    messages, residual, sweeps = _attempt(network, codes, send, max_sweeps, tol, damping)
    if forest:
        return messages, torch.zeros_like(residual), sweeps
    again = torch.nonzero(residual > tol).ravel()
    if damping > 0.0 or not len(again):
        return messages, residual, sweeps
    given = codes[:, again].contiguous()
    second, rest, more = _attempt(network, given, send, max_sweeps, tol, SECOND_DAMPING)
    sweeps[again] += more
    better = torch.nonzero(rest < residual[again]).ravel()
    messages[:, :, again[better]] = second[:, :, better]
    residual[again[better]] = rest[better]
    return messages, residual, sweeps


def _attempt(
    network: Network, codes: Tensor, send: Send, max_sweeps: int, tol: float, damping: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return messages, changes and sweeps; sets that have settled leave once half of them have."""
    torch = import_torch()
    shape, place = (len(network.reverse), network.states, codes.shape[1]), codes.device
    work = torch.zeros(shape, dtype=torch.float64, device=place)
    out, live, given = work, torch.arange(shape[2], device=place), codes
    residual = torch.full((shape[2],), np.inf, dtype=torch.float64, device=place)
    sweeps = torch.zeros(shape[2], dtype=torch.int64, device=place)
    for _ in range(max_sweeps):
        change = torch.zeros(len(live), dtype=torch.float64, device=place)
        for step in network.steps:
            send(network, step, given, work, change, damping)
        still = residual[live] > tol  # before this sweep: the others go on for nothing
        sweeps[live] += still
        residual[live] = change
        moving = change > tol
        count = int(moving.sum())
        if count <= len(live) // 2:
            if out is not work:
                out[:, :, live] = work
            if not count:
                return out, residual, sweeps
            kept = torch.nonzero(moving).ravel()
            work, live = work[:, :, kept].contiguous(), live[kept]
            given = given[:, kept].contiguous()
    if out is not work:
        out[:, :, live] = work
    return out, residual, sweeps


def send_triton(
    network: Network, step: Step, codes: Tensor, messages: Tensor, change: Tensor, damping: float
) -> None:
    """Send the messages of a step with the Triton kernel."""
    from graftwork.inference.device.propagation_kernels import send

    sets, states = codes.shape[1], network.states
    block = max(4, min(64, 2048 // states**2))
    send[(len(step.senders), -(-sets // block))](
        messages, change, codes, network.unaries, network.cards, network.indptr, step.senders,
        step.sends, step.slots, network.reverse, network.neighbours, network.shifted,
        network.scaled, float(damping), sets, S=states, B=block, LOGS=network.logs, num_warps=4,
    )  # fmt: skip


def send_plain(
    network: Network, step: Step, codes: Tensor, messages: Tensor, change: Tensor, damping: float
) -> None:
    """Send the messages of a step in PyTorch, one after the other."""
    torch = import_torch()
    sends = step.sends.tolist()
    for k, v in enumerate(step.senders.tolist()):
        total, zeros = _collect(network, codes, messages, v)
        for t in step.slots[sends[k] : sends[k + 1]].tolist():
            cavity, _ = _take_away(messages[t], total, zeros)
            fresh = torch.logsumexp(cavity[:, None] + network.shifted[t][:, :, None], dim=0)
            fresh[int(network.cards[network.neighbours[t]]) :] = -np.inf
            top = fresh.max(dim=0).values
            fresh = torch.where(top > -np.inf, fresh - _finite(top), 0.0)
            fresh[int(network.cards[network.neighbours[t]]) :] = 0.0
            old = messages[network.reverse[t]]
            both = (fresh > -np.inf) & (old > -np.inf)
            moved = torch.where(both, (_finite(fresh) - _finite(old)).abs(), np.inf)
            moved = torch.where(fresh == old, 0.0, moved)
            torch.maximum(change, moved.max(dim=0).values, out=change)
            mixed = (1.0 - damping) * _finite(fresh) + damping * _finite(old)
            messages[network.reverse[t]] = torch.where(both, mixed, fresh)


def _finite(values: Tensor) -> Tensor:
    """Return 0 in place of -inf."""
    return import_torch().where(values > -np.inf, values, 0.0)


def _collect(network: Network, codes: Tensor, messages: Tensor, v: int) -> tuple[Tensor, Tensor]:
    """Return the sum of finite logs that meet at a variable, and how many are infinite."""
    torch = import_torch()
    state = torch.arange(network.states, device=codes.device)[:, None]
    unary = torch.where((codes[v] < 0) | (codes[v] == state), network.unaries[v][:, None], -np.inf)
    into = messages[int(network.indptr[v]) : int(network.indptr[v + 1])]
    zeros = (unary == -np.inf).long() + (into == -np.inf).sum(dim=0)
    return _finite(unary) + _finite(into).sum(dim=0), zeros


def _take_away(message: Tensor, total: Tensor, zeros: Tensor) -> tuple[Tensor, Tensor]:
    """Return the log belief without a message, less its peak, and the peak; states last but one."""
    torch = import_torch()
    left = zeros - (message == -np.inf).long()
    cavity = torch.where(left == 0, total - _finite(message), -np.inf)
    peak = cavity.max(dim=-2).values
    return cavity - _finite(peak)[..., None, :], peak


def read(network: Network, codes: Tensor, messages: Tensor) -> tuple[Floats, Floats]:
    """Return marginals (sets, n, states), and the Bethe log Z less the tables' maxima.

    log Z = sum_i log z_i + sum_ij log(z_ij / (z_i z_j)), as in ``kernels.bp.read_beliefs``.
    """
    torch = import_torch()
    states, sets = network.states, codes.shape[1]
    state = torch.arange(states, device=codes.device)[:, None]
    seen = codes[:, None, :]
    total = torch.where((seen < 0) | (seen == state), network.unaries[:, :, None], -np.inf)
    zeros = (total == -np.inf).long()
    total = _finite(total)
    edges = torch.nonzero(network.owner < network.neighbours).ravel()
    # Tables of some edges at a time, and all sets.
    chunk = max(1, READ_ENTRIES // (states**2 * sets))
    for part in torch.arange(len(network.owner), device=codes.device).split(chunk * states):
        total.index_add_(0, network.owner[part], _finite(messages[part]))
        zeros.index_add_(0, network.owner[part], (messages[part] == -np.inf).long())
    logs = torch.where(zeros == 0, total, -np.inf)
    masses = torch.logsumexp(logs, dim=1)
    values = torch.exp(logs - _finite(masses)[:, None])
    log_partition = masses.sum(dim=0)
    for part in edges.split(chunk):
        i, j = network.owner[part], network.neighbours[part]
        left, top_i = _take_away(messages[part], total[i], zeros[i])
        right, top_j = _take_away(messages[network.reverse[part]], total[j], zeros[j])
        table = left[:, :, None] + right[:, None] + network.shifted[part][..., None]
        joint = torch.logsumexp(table.flatten(1, 2), dim=1)
        log_partition += (joint - ((masses[i] - top_i) + (masses[j] - top_j))).sum(dim=0)
    bad = torch.isnan(log_partition) | (log_partition == -np.inf)
    log_partition[bad] = -np.inf
    values[:, :, bad] = 0.0
    return values.permute(2, 0, 1).cpu().numpy(), log_partition.cpu().numpy()
