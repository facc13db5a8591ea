"""Gibbs sampling on a graphics card: tens of thousands of chains side by side.

States are a tensor (variables, chains) of bytes on the device. Variables of one colour, which no
edge joins, are updated together: a sweep is one kernel for each colour. `update_plain` does in
PyTorch what ``gibbs_kernels.update_class`` does in Triton, with the same random numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.errors import DataError
from graftwork.inference.device.colours import colour_classes
from graftwork.inference.device.torch_ import Tensor, import_torch, open_device
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.ragged import grids
from graftwork.inference.wiring import conditionals
from graftwork.kernels.gibbs import deal

#: The most states a variable may have.
MOST_STATES = 256
#: Chains run at most, where the caller does not say.
MOST_CHAINS = 65_536
#: Numbers of chains are rounded up to a multiple of this; what is too much is thrown away.
LANES = 16
#: Bytes of draws held on the device until they are copied back.
HELD_BYTES = 2**28
#: The weight of the most probable state, as a whole number; the others have their share of it.
SCALE = 2.0**25

_ROUND_A, _ROUND_B, _KEY_A, _KEY_B = 0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85
_LOW = 0xFFFFFFFF

#: What updates the variables of a class: network, states, class, sweep.
Update = Callable[["DeviceNetwork", Tensor, Tensor, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class DeviceNetwork:
    """What Gibbs updates need of a network, as tensors."""

    states: int  # the largest number of states, rounded up to a power of two
    seed: int  # key of the random numbers
    # indptr, neighbours: neighbours of variable i are ``neighbours[indptr[i]:indptr[i + 1]]``
    indptr: Tensor
    neighbours: Tensor
    unaries: Tensor  # (n, states): -inf for states that a variable does not have
    # (2 m, states, states): the table of each slot, by the own state, then by the neighbour's
    tables: Tensor
    classes: list[Tensor]  # variables that are updated together


def gibbs_sample_on(
    device: str,
    potentials: Potentials,
    n: int,
    rng: np.random.Generator,
    burn_in: int = 1000,
    thin: int = 10,
    n_chains: int | None = None,
    fixed: Ints | None = None,
    start: Ints | None = None,
    update: Update | None = None,
) -> NDArray[np.uint8]:
    """Return ``n`` draws as codes, shape (n_variables, n), from Gibbs chains on a device.

    Parameters are those of ``inference.sampling.gibbs_sample``.
    """
    if thin < 1 or burn_in < 0:
        raise ValueError("thin must be at least 1 and burn_in at least 0")
    layout = potentials.layout
    if layout.cards.max(initial=1) > MOST_STATES:
        raise DataError(
            f"a variable has {int(layout.cards.max()):,} states, and draws on a graphics card "
            f"have at most {MOST_STATES}. Leave device out to draw on the processor."
        )
    torch, place = import_torch(), open_device(device)
    n_variables = layout.n_variables
    chains = max(1, min(n, MOST_CHAINS if n_chains is None else n_chains))
    at_rest = np.full(n_variables, -1, dtype=np.int64) if fixed is None else fixed
    free = np.flatnonzero(at_rest < 0)
    if not len(free) or not n:
        return np.repeat(np.maximum(at_rest, 0).astype(np.uint8)[:, None], n, axis=1)
    network = place_network(potentials, rng, place, free)
    x = _first_states(layout.cards, chains, at_rest, start, rng, place)
    bounds = np.linspace(0, n, chains + 1).astype(np.int64)
    step = (update_triton if place.type == "cuda" else update_plain) if update is None else update
    left, sweep = int(np.diff(bounds).max()), 0
    if left == 1:  # a row from each chain
        for sweep in range(burn_in + thin):
            run_sweep(network, x, sweep, step)
        return np.asarray(x[:, :n].cpu().numpy())
    out = np.empty((n_variables, n), dtype=np.uint8)
    room = max(1, min(left, HELD_BYTES // x.numel()))
    held, copied = x.new_empty((room, *x.shape)), None
    for first in range(0, left, room):
        count = min(room, left - first)
        for k in range(count):
            for _ in range(thin + (burn_in if first == k == 0 else 0)):
                run_sweep(network, x, sweep, step)
                sweep += 1
            held[k].copy_(x)
        part = held[:count].permute(1, 2, 0).contiguous()
        if part.numel() > HELD_BYTES:  # so much is not locked in memory
            part = part.cpu()
        elif place.type == "cuda":
            if copied is None or copied.shape != part.shape:
                copied = torch.empty(part.shape, dtype=torch.uint8, pin_memory=True)
            part = copied.copy_(part)
        deal(part.numpy().transpose(0, 2, 1), bounds[:-1] + first, bounds[1:], out)
    return out


def run_sweep(network: DeviceNetwork, x: Tensor, sweep: int, update: Update) -> None:
    """Update every variable once, class after class."""
    for members in network.classes:
        update(network, x, members, sweep)


def place_network(
    potentials: Potentials, rng: np.random.Generator, place: Any, free: Ints | None = None
) -> DeviceNetwork:
    """Return a network as tensors on a device, with a seed from the generator."""
    torch = import_torch()
    given = conditionals(potentials.layout, np.array(potentials.weights))
    states, unaries, tables = padded(potentials)
    # At least 2**32, so that kernels always get the same type.
    seed = int(rng.integers(2**32, 2**63 - 1))

    def tensor(values: NDArray[Any], kind: type[np.generic]) -> Tensor:
        return torch.from_numpy(np.array(values, dtype=kind)).to(place)

    return DeviceNetwork(
        states,
        seed,
        tensor(given.indptr, np.int64),
        tensor(given.neighbours, np.int32),
        tensor(unaries, np.float32),
        tensor(tables, np.float32),
        [tensor(members, np.int32) for members in colour_classes(potentials.layout, free)],
    )


def padded(potentials: Potentials) -> tuple[int, Floats, NDArray[np.float32]]:
    """Return the number of states, unaries (n, states) and tables (2 m, states, states).

    For each state of a neighbour the mean over the own states is taken away: that changes no
    conditional, and sums over many neighbours stay small enough for float32.
    """
    layout = potentials.layout
    cards, n = layout.cards, layout.n_variables
    given = conditionals(layout, np.array(potentials.weights))
    states = 2 ** max(1, int(cards.max(initial=1) - 1).bit_length())
    unaries = np.full((n, states), -np.inf)
    unaries[np.arange(states) < cards[:, None]] = given.unary_logs
    owner = np.repeat(np.arange(n), np.diff(given.indptr))
    s_i, s_j = cards[owner], cards[given.neighbours]
    lengths = np.repeat(s_i, s_j)
    finite = np.isfinite(given.logs)
    starts = np.cumsum(lengths) - lengths
    if len(starts):
        sums = np.add.reduceat(np.where(finite, given.logs, 0.0), starts)
        means = sums / np.maximum(np.add.reduceat(finite.astype(np.int64), starts), 1)
        logs = given.logs - np.repeat(means, lengths)
    else:
        logs = given.logs
    tables = np.zeros((max(len(owner), 1), states, states), dtype=np.float32)
    slots = np.arange(len(owner))
    tables.ravel()[grids(slots * states * states, s_j, s_i, 1, states)] = logs
    return states, unaries, tables


def _first_states(
    cards: Ints,
    chains: int,
    at_rest: Ints,
    start: Ints | None,
    rng: np.random.Generator,
    place: Any,
) -> Tensor:
    """Return where chains start, shape (n, lanes); lanes that are too many repeat the last one."""
    torch = import_torch()
    lanes = -(-chains // LANES) * LANES
    if start is None:
        source = torch.Generator(device=place).manual_seed(int(rng.integers(2**63 - 1)))
        x = torch.empty((len(cards), lanes), dtype=torch.uint8, device=place)
        for i, states in enumerate(cards.tolist()):
            x[i].random_(0, states, generator=source)
    else:
        given = start[np.minimum(np.arange(lanes), len(start) - 1)].T
        x = torch.from_numpy(np.array(given, dtype=np.uint8)).to(place)
    for i in np.flatnonzero(at_rest >= 0).tolist():
        x[i] = int(at_rest[i])
    return x


def block_warps(states: int) -> int:
    """Return how many warps a program has; each thread holds all states of one chain.

    Examples
    --------
    >>> block_warps(8), block_warps(32)
    (4, 2)
    """
    return 4 if states <= 16 else 2 if states <= 32 else 1


def update_triton(network: DeviceNetwork, x: Tensor, members: Tensor, sweep: int) -> None:
    """Update a class of variables with the Triton kernel."""
    from graftwork.inference.device.gibbs_kernels import update_class

    lanes, states = x.shape[1], network.states
    warps = block_warps(states)
    block = 32 * warps
    grid = (len(members), -(-lanes // block))
    update_class[grid](
        x, members, network.indptr, network.neighbours, network.unaries, network.tables,
        network.seed, sweep, lanes, S=states, B=block, num_warps=warps,
    )  # fmt: skip


def update_plain(network: DeviceNetwork, x: Tensor, members: Tensor, sweep: int) -> None:
    """Update a class of variables in PyTorch, one variable after the other."""
    torch = import_torch()
    for v in members.tolist():
        logits = network.unaries[v][:, None].repeat(1, x.shape[1])
        for t in range(int(network.indptr[v]), int(network.indptr[v + 1])):
            logits += network.tables[t][:, x[int(network.neighbours[t])].long()]
        peak = logits.max(dim=0).values
        possible = peak > -np.inf
        logits = logits - torch.where(possible, peak, torch.zeros_like(peak))
        sums = torch.cumsum((torch.exp(logits) * SCALE).long(), dim=0)
        bits = random_bits(network.seed, sweep, v, x.shape[1], x.device)
        chosen = (sums <= (bits * sums[-1]) >> 32).sum(dim=0)
        x[v] = torch.where(possible, chosen.to(torch.uint8), x[v])


def random_bits(seed: int, sweep: int, variable: int, lanes: int, place: Any = "cpu") -> Tensor:
    """Return 32 random bits for each chain: Philox 4x32 of (chain, variable, sweep, 0)."""
    torch = import_torch()
    c0 = torch.arange(lanes, dtype=torch.int64, device=place)
    c1, c2, c3 = torch.full_like(c0, variable), torch.full_like(c0, sweep), torch.zeros_like(c0)
    k0, k1 = seed & _LOW, seed >> 32
    for _ in range(10):
        high_b, low_b = _multiply(_ROUND_B, c2)
        high_a, low_a = _multiply(_ROUND_A, c0)
        c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
        k0, k1 = (k0 + _KEY_A) & _LOW, (k1 + _KEY_B) & _LOW
    return c0


def _multiply(factor: int, numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Return the upper and lower 32 bits of products of 32-bit numbers held in int64."""
    lower = numbers * (factor & 0xFFFF)
    upper = numbers * (factor >> 16) + (lower >> 16)
    return upper >> 16, ((upper & 0xFFFF) << 16) | (lower & 0xFFFF)
