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
def residuals(
    codes,
    nodes,
    starts,
    others,
    tables,
    unary,
    lines,
    high,
    low,
    stride,
    rows,
    W: tl.constexpr,
    B: tl.constexpr,
):
    """Fill residuals of all states but the last in float16, and the rest times 2^11."""
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
    line = tl.load(lines + k)
    count = tl.load(lines + k + 1) - line
    at = (line + s)[:, None] * rows + r[None, :]
    mask = (s < count)[:, None] & there[None, :]
    rounded = left.to(tl.float16)
    tl.store(high + at, rounded, mask=mask)
    tl.store(low + at, ((left - rounded.to(tl.float32)) * 2048.0).to(tl.float16), mask=mask)


@triton.jit
def indicators(codes, variables, states, out, stride, rows, B: tl.constexpr):
    """Fill 1 where the variable of a line is in the line's state."""
    k = tl.program_id(0).to(tl.int64)
    r = tl.program_id(1) * B + tl.arange(0, B)
    there = r < rows
    v = tl.load(variables + k)
    x = tl.load(codes + v * stride + r, mask=there, other=0).to(tl.int64)
    tl.store(out + k * rows + r, (x == tl.load(states + k)).to(tl.float16), mask=there)


@triton.jit
def add_by_codes(
    p, codes, owners, others, out, stride, rows, W: tl.constexpr, S: tl.constexpr, B: tl.constexpr
):
    """Add the sums over rows of p of an owner by the codes of another variable to float64."""
    k = tl.program_id(0).to(tl.int64)
    i = tl.load(owners + k)
    j = tl.load(others + k)
    s = tl.arange(0, S)
    one = tl.zeros([S, S], tl.float32)
    two = tl.zeros([S, S], tl.float32)
    three = tl.zeros([S, S], tl.float32)
    for start in range(0, rows, B):
        r = start + tl.arange(0, B)
        there = r < rows
        mask = (s < W)[:, None] & there[None, :]
        value = tl.load(p + (i * W + s)[:, None] * rows + r[None, :], mask=mask, other=0.0)
        x = tl.load(codes + j * stride + r, mask=there, other=255).to(tl.int32)
        seen = (x[:, None] == s[None, :]).to(tl.float16)
        first = value.to(tl.float16)
        rest = (value - first.to(tl.float32)) * 2048.0
        second = rest.to(tl.float16)
        third = ((rest - second.to(tl.float32)) * 2048.0).to(tl.float16)
        one = tl.dot(first, seen, one)
        two = tl.dot(second, seen, two)
        three = tl.dot(third, seen, three)
    mask = (s < W)[:, None] & (s < W)[None, :]
    at = out + k * W * W + s[:, None] * W + s[None, :]
    found = one.to(tl.float64) + two.to(tl.float64) / 2048.0 + three.to(tl.float64) / 4194304.0
    tl.store(at, tl.load(at, mask=mask, other=0.0) + found, mask=mask)


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
