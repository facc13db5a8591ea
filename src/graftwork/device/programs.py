"""The kernels themselves, in Triton: see `graftwork.device.kernels`, which calls them."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _logits(
    codes, starts, others, tables, unary, v, r, there, stride, W: tl.constexpr, B: tl.constexpr
):
    """Return the logits of the variable at place v in rows r, shape (W, B)."""
    s = tl.arange(0, W)
    found = tl.load(unary + v * W + s)[:, None] + tl.zeros([W, B], unary.dtype.element_ty)
    first = tl.load(starts + v).to(tl.int64)
    last = tl.load(starts + v + 1).to(tl.int64)
    for k in range(first, last):
        j = tl.load(others + k).to(tl.int64)
        x = tl.load(codes + j * stride + r, mask=there, other=0).to(tl.int64)
        at = tables + k * W * W
        found += tl.load(at + s[:, None] * W + x[None, :])
    return found


@triton.jit
def conditionals(
    codes,
    starts,
    others,
    tables,
    unary,
    p,
    logs,
    stride,
    rows,
    first,
    W: tl.constexpr,
    B: tl.constexpr,
):
    """Fill p (variables, W, rows) and logs (variables, rows), from the variable at ``first`` on."""
    k = tl.program_id(0).to(tl.int64)
    r = tl.program_id(1) * B + tl.arange(0, B)
    there = r < rows
    s = tl.arange(0, W)
    logits = _logits(codes, starts, others, tables, unary, first + k, r, there, stride, W, B)
    top = tl.max(logits, axis=0)
    raised = tl.exp(logits - top[None, :])
    total = tl.sum(raised, axis=0)
    at = p + k * W * rows + s[:, None] * rows + r[None, :]
    tl.store(at, raised / total[None, :], mask=there[None, :])
    tl.store(logs + k * rows + r, top + tl.log(total), mask=there)


@triton.jit
def _mixed(x):
    """Return 32 bits that all bits of x decide (the end of MurmurHash3)."""
    x = (x ^ (x >> 16)) * 0x85EBCA6B
    x = (x ^ (x >> 13)) * 0xC2B2AE35
    return x ^ (x >> 16)


@triton.jit
def residuals(
    codes,
    nodes,
    starts,
    others,
    tables,
    unary,
    lines,
    out,
    stride,
    width,
    rows,
    begin,
    W: tl.constexpr,
    B: tl.constexpr,
):
    """Fill residuals of all states but the last, times 127, rounded up or down at random."""
    k = tl.program_id(0).to(tl.int64)
    r = tl.program_id(1) * B + tl.arange(0, B)
    there = r < rows
    s = tl.arange(0, W)
    logits = _logits(codes, starts, others, tables, unary, k, r, there, stride, W, B)
    raised = tl.exp(logits - tl.max(logits, axis=0)[None, :])
    v = tl.load(nodes + k).to(tl.int64)
    x = tl.load(codes + v * stride + r, mask=there, other=0).to(tl.int32)
    seen = tl.where(s[:, None] == x[None, :], 1.0, 0.0)
    left = seen - raised / tl.sum(raised, axis=0)[None, :]
    key = _mixed((v * 64 + s).to(tl.uint32))
    bits = _mixed(key[:, None] + ((begin + r).to(tl.uint32) * 0x9E3779B9)[None, :])
    chance = (bits >> 8).to(tl.float32) * (1.0 / 16777216.0)
    whole = tl.minimum(tl.floor(127.0 * left + chance), 127.0)
    line = tl.load(lines + k)
    count = tl.load(lines + k + 1) - line
    at = (line + s)[:, None] * width + r[None, :]
    mask = (s < count)[:, None] & there[None, :]
    tl.store(out + at, whole.to(tl.int8), mask=mask)


@triton.jit
def indicators(codes, variables, states, out, stride, width, rows, B: tl.constexpr):
    """Fill 1 where the variable of a line is in the line's state."""
    k = tl.program_id(0).to(tl.int64)
    r = tl.program_id(1) * B + tl.arange(0, B)
    there = r < rows
    v = tl.load(variables + k)
    x = tl.load(codes + v * stride + r, mask=there, other=0).to(tl.int64)
    tl.store(out + k * width + r, (x == tl.load(states + k)).to(tl.int8), mask=there)


@triton.jit
def sum_by_codes(
    codes,
    starts,
    others,
    tables,
    unary,
    ends,
    targets,
    logs,
    states,
    squares,
    pairs,
    stride,
    rows,
    count,
    W: tl.constexpr,
    S: tl.constexpr,
    B: tl.constexpr,
):
    """Add sums over rows of p, of p^2, and of p by the codes of other variables, as whole numbers.

    Numbers are in units of 2^-28, of which p has four terms of 7 bits. Products of these with
    indicators, and their sums over a block, are exact in float16 and float32. ``logs`` has the sum
    of the log-normalisers of each block.
    """
    k = tl.program_id(0).to(tl.int64)
    block = tl.program_id(1)
    r = block * B + tl.arange(0, B)
    there = r < rows
    s = tl.arange(0, W)
    logits = _logits(codes, starts, others, tables, unary, k, r, there, stride, W, B)
    top = tl.max(logits, axis=0)
    raised = tl.exp(logits - top[None, :])
    total = tl.sum(raised, axis=0)
    tl.store(logs + block * count + k, tl.sum(tl.where(there, top + tl.log(total), 0.0), axis=0))
    p = tl.where(there[None, :], raised / total[None, :], 0.0)
    q = tl.minimum((p * 268435456.0 + 0.5).to(tl.int32), 268435455)
    tl.atomic_add(states + k * W + s, tl.sum(q.to(tl.int64), axis=1))
    tl.atomic_add(squares + k * W + s, tl.sum((p * p * 268435456.0 + 0.5).to(tl.int64), axis=1))
    high = tl.join(q >> 21, (q >> 14) & 127)
    low = tl.join((q >> 7) & 127, q & 127)
    terms = tl.permute(tl.join(high, low), (3, 2, 0, 1))
    terms = tl.reshape(terms, (4 * W, B)).to(tl.float16)
    shift = 21 - 7 * (tl.arange(0, 4 * W) // W)
    c = tl.arange(0, S)
    first = tl.load(ends + k).to(tl.int64)
    last = tl.load(ends + k + 1).to(tl.int64)
    for h in range(first, last):
        j = tl.load(targets + h).to(tl.int64)
        x = tl.load(codes + j * stride + r, mask=there, other=255).to(tl.int32)
        seen = (x[:, None] == c[None, :]).to(tl.float16)
        found = tl.dot(terms, seen).to(tl.int64) << shift[:, None]
        found = tl.sum(tl.reshape(found, (4, W, S)), axis=0)
        at = pairs + h * W * W + s[:, None] * W + c[None, :]
        tl.atomic_add(at, found, mask=(c < W)[None, :])


@triton.jit
def count_pairs(codes, pairs, out, stride, rows, W: tl.constexpr, S: tl.constexpr, B: tl.constexpr):
    """Add the table of a pair; a chunk has so few rows that float32 counts are exact."""
    k = tl.program_id(0).to(tl.int64)
    i = tl.load(pairs + 2 * k)
    j = tl.load(pairs + 2 * k + 1)
    s = tl.arange(0, S)
    found = tl.zeros([S, S], tl.float32)
    for start in range(0, rows, B):
        r = start + tl.arange(0, B)
        there = r < rows
        x = tl.load(codes + i * stride + r, mask=there, other=255).to(tl.int32)
        y = tl.load(codes + j * stride + r, mask=there, other=255).to(tl.int32)
        left = (s[:, None] == x[None, :]).to(tl.float16)
        right = (y[:, None] == s[None, :]).to(tl.float16)
        found = tl.dot(left, right, found)
    mask = (s < W)[:, None] & (s < W)[None, :]
    at = out + k * W * W + s[:, None] * W + s[None, :]
    tl.store(at, tl.load(at, mask=mask, other=0) + found.to(tl.int64), mask=mask)


@triton.jit
def count_keys(
    codes,
    ends,
    others,
    cards,
    starts,
    weights,
    counts,
    stride,
    rows,
    WEIGHTED: tl.constexpr,
    B: tl.constexpr,
):
    """Add how often the keys of a variable's neighbours occur."""
    k = tl.program_id(0).to(tl.int64)
    r = tl.program_id(1) * B + tl.arange(0, B)
    there = r < rows
    keys = tl.zeros([B], tl.int64)
    first = tl.load(ends + k)
    last = tl.load(ends + k + 1)
    for h in range(first, last):
        j = tl.load(others + h)
        x = tl.load(codes + j * stride + r, mask=there, other=0).to(tl.int64)
        keys = keys * tl.load(cards + h) + x
    at = counts + tl.load(starts + k) + keys
    if WEIGHTED:
        mass = tl.load(weights + r, mask=there, other=0.0)
        tl.atomic_add(at, mass, mask=there)
    else:
        tl.atomic_add(at, tl.full([B], 1, tl.int32), mask=there)
