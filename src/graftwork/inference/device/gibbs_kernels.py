"""Gibbs updates of one class of variables in many chains, as a Triton kernel.

Chains are columns of ``x`` (variables, chains). A program updates one variable in a block of
chains: logits of all states in registers, weights as whole numbers (the most probable state has
2**25), and a state chosen by one random number of 32 bits. Whole numbers add up exactly, so a state
of weight zero is never chosen. The random number is Philox of (chain, variable, sweep): all three
are counters of their own, which cannot run into each other.
"""

from __future__ import annotations

from typing import Any

try:
    import triton
    import triton.language as tl

    jit: Any = triton.jit
except ImportError:  # a module that cannot be called, but can be imported
    tl: Any = None  # type: ignore[no-redef]

    def jit(*_: Any, **__: Any) -> Any:
        """Return what leaves a function as it is."""
        return lambda function: function


@jit(do_not_specialize=["sweep", "seed"])
def update_class(
    x, members, indptr, neighbours, unaries, tables, seed, sweep, chains,
    S: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    """Draw the variables ``members`` given their neighbours, B chains in each program.

    Logits are in ``unaries`` (n, S) and ``tables`` (slots, S, S), by the own state, then by the
    neighbour's; -inf where there is no state. Where no state has any weight, the old one stays.
    """
    v = tl.load(members + tl.program_id(0))
    c = tl.program_id(1) * B + tl.arange(0, B)
    inside = c < chains
    s = tl.arange(0, S)
    width = chains.to(tl.int64)
    logits = tl.load(unaries + v.to(tl.int64) * S + s)[:, None] + tl.zeros([S, B], tl.float32)
    first = tl.load(indptr + v)
    last = tl.load(indptr + v + 1)
    for t in range(first, last):
        j = tl.load(neighbours + t).to(tl.int64)
        code = tl.load(x + j * width + c, mask=inside, other=0).to(tl.int32)
        table = tables + t * (S * S)  # 64 bits, as indptr has
        logits += tl.load(table + s[:, None] * S + code[None, :])
    peak = tl.max(logits, axis=0)
    possible = peak > float("-inf")
    logits = logits - tl.where(possible, peak, 0.0)[None, :]
    weights = (tl.exp(logits) * 33554432.0).to(tl.int32)
    total = tl.sum(weights, axis=0)
    bits, _, _, _ = tl.philox(seed, c.to(tl.uint32), c * 0 + v, c * 0 + sweep, c * 0)
    level = tl.umulhi(bits, total.to(tl.uint32)).to(tl.int32)
    sums = tl.cumsum(weights, axis=0)
    chosen = tl.sum((sums <= level[None, :]).to(tl.int32), axis=0)
    tl.store(x + v.to(tl.int64) * width + c, chosen.to(tl.uint8), mask=inside & possible)
