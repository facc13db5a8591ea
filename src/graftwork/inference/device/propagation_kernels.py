"""Messages of some variables to some of their neighbours, of many evidence sets, in Triton.

Messages are logarithms in float64, (slots, states, sets): line t holds the one into the owner of
slot t. A program has one variable and a block of sets.
"""

from __future__ import annotations

from typing import Any

try:
    import triton
    import triton.language as tl

    jit: Any = triton.jit
except ImportError:  # a module that cannot be called, but can be imported
    tl: Any = None  # type: ignore[no-redef]

    def jit(function: Any) -> Any:
        """Return a function as it is."""
        return function


@jit
def send(
    messages, change, codes, unaries, cards, indptr, senders, sends, slots, reverse, neighbours,
    shifted, scaled, damping, sets, S: tl.constexpr, B: tl.constexpr, LOGS: tl.constexpr,
):  # fmt: skip
    """Send the messages of slots ``slots[sends[k]:sends[k + 1]]`` of variable ``senders[k]``.

    ``codes`` (n, sets) are observed states, -1 where there is none; ``change`` (sets,) becomes the
    largest change of a message. Tables (slots, S, S) are by the sender's state, then by the
    other's. With LOGS sums are taken in logarithms, for tables that are extreme.
    """
    k = tl.program_id(0)
    v = tl.load(senders + k)
    c = tl.program_id(1) * B + tl.arange(0, B)
    inside = c < sets
    s = tl.arange(0, S)
    low = float("-inf")
    own = tl.load(unaries + v * S + s)[:, None]
    seen = tl.load(codes + v * sets + c, mask=inside, other=-1).to(tl.int32)[None, :]
    open_ = (own > low) & ((seen < 0) | (seen == s[:, None]))
    total = tl.where(open_, own, 0.0)
    zeros = tl.where(open_, 0, 1)
    box = s[:, None] * sets + c[None, :]
    for t in range(tl.load(indptr + v), tl.load(indptr + v + 1)):
        message = tl.load(messages + t * S * sets + box, mask=inside[None, :], other=0.0)
        total += tl.where(message > low, message, 0.0)
        zeros += tl.where(message > low, 0, 1)
    most = tl.zeros([B], tl.float64)
    for q in range(tl.load(sends + k), tl.load(sends + k + 1)):
        t = tl.load(slots + q)
        message = tl.load(messages + t * S * sets + box, mask=inside[None, :], other=0.0)
        finite = message > low
        left = zeros - tl.where(finite, 0, 1)
        cavity = tl.where(left == 0, total - tl.where(finite, message, 0.0), low)
        peak = tl.max(cavity, axis=0)
        cavity = cavity - tl.where(peak > low, peak, 0.0)[None, :]
        table = t * S * S + s[:, None] * S + s[None, :]
        if LOGS:
            terms = cavity[:, None, :] + tl.load(shifted + table)[:, :, None]
            top = tl.max(terms, axis=0)
            safe = tl.where(top > low, top, 0.0)
            sums = tl.sum(tl.exp(terms - safe[None, :, :]), axis=0)
            fresh = tl.where(top > low, safe + tl.log(tl.where(top > low, sums, 1.0)), low)
        else:
            sums = tl.sum(tl.exp(cavity)[:, None, :] * tl.load(scaled + table)[:, :, None], axis=0)
            fresh = tl.where(sums > 0.0, tl.log(tl.where(sums > 0.0, sums, 1.0)), low)
        real = (s < tl.load(cards + tl.load(neighbours + t)))[:, None]
        top = tl.max(tl.where(real, fresh, low), axis=0)[None, :]
        fresh = tl.where(real & (top > low), fresh - tl.where(top > low, top, 0.0), 0.0)
        out = messages + tl.load(reverse + t) * S * sets + box
        old = tl.load(out, mask=inside[None, :], other=0.0)
        same = fresh == old
        both = (fresh > low) & (old > low)
        moved = tl.where(both, tl.abs(tl.where(both, fresh - old, 0.0)), float("inf"))
        most = tl.maximum(most, tl.max(tl.where(same, 0.0, moved), axis=0))
        mixed = (1.0 - damping) * tl.where(both, fresh, 0.0) + damping * tl.where(both, old, 0.0)
        tl.store(out, tl.where(both, mixed, fresh), mask=inside[None, :])
    tl.atomic_max(change + c, most, mask=inside)
