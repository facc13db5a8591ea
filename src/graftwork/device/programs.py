"""The kernels themselves, in Triton: see `graftwork.device.kernels`, which calls them."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _logits(
    codes, starts, others, tables, unary, v, r, there, stride, W: tl.constexpr, B: tl.constexpr
):
    """Return the logits of the variable at place v in rows r, shape (B, W).

    A row of a table, of all states given the neighbour's code, is loaded as a whole.
    """
    s = tl.arange(0, W)
    found = tl.load(unary + v * W + s)[None, :] + tl.zeros([B, W], unary.dtype.element_ty)
    first = tl.load(starts + v).to(tl.int64)
    last = tl.load(starts + v + 1).to(tl.int64)
    for k in range(first, last):
        j = tl.load(others + k).to(tl.int64)
        x = tl.load(codes + j * stride + r, mask=there, other=0).to(tl.int32)
        found += tl.load(tables + k * W * W + x[:, None] * W + s[None, :])
    return found


@triton.jit(do_not_specialize=["rows", "first"])
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
    top = tl.max(logits, axis=1)
    raised = tl.exp(logits - top[:, None])
    total = tl.sum(raised, axis=1)
    at = p + k * W * rows + s[None, :] * rows + r[:, None]
    tl.store(at, raised / total[:, None], mask=there[:, None])
    tl.store(logs + k * rows + r, top + tl.log(total), mask=there)


@triton.jit
def _mixed(x):
    """Return 32 bits that all bits of x decide (the end of MurmurHash3)."""
    x = (x ^ (x >> 16)) * 0x85EBCA6B
    x = (x ^ (x >> 13)) * 0xC2B2AE35
    return x ^ (x >> 16)


@triton.jit(do_not_specialize=["rows", "begin"])
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
    raised = tl.exp(logits - tl.max(logits, axis=1)[:, None])
    v = tl.load(nodes + k).to(tl.int64)
    x = tl.load(codes + v * stride + r, mask=there, other=0).to(tl.int32)
    seen = tl.where(s[None, :] == x[:, None], 1.0, 0.0)
    left = seen - raised / tl.sum(raised, axis=1)[:, None]
    key = _mixed((v * 64 + s).to(tl.uint32))
    bits = _mixed(key[None, :] + ((begin + r).to(tl.uint32) * 0x9E3779B9)[:, None])
    chance = (bits >> 8).to(tl.float32) * (1.0 / 16777216.0)
    whole = tl.minimum(tl.floor(127.0 * left + chance), 127.0)
    line = tl.load(lines + k)
    count = tl.load(lines + k + 1) - line
    at = (line + s)[None, :] * width + r[:, None]
    mask = (s < count)[None, :] & there[:, None]
    tl.store(out + at, whole.to(tl.int8), mask=mask)


@triton.jit(do_not_specialize=["rows"])
def indicators(codes, variables, lines, out, stride, width, rows, B: tl.constexpr):
    """Fill 1 where a variable is in the state of a line, in all lines of the variable."""
    k = tl.program_id(0).to(tl.int64)
    r = tl.program_id(1) * B + tl.arange(0, B)
    there = r < rows
    first = tl.load(lines + k)
    last = tl.load(lines + k + 1)
    x = tl.load(codes + tl.load(variables + k) * stride + r, mask=there, other=0)
    for line in range(first, last):
        tl.store(out + line * width + r, (x == line - first).to(tl.int8), mask=there)


@triton.jit(do_not_specialize=["rows", "first", "count"])
def fill_terms(
    codes,
    starts,
    others,
    tables,
    unary,
    terms,
    logs,
    states,
    squares,
    stride,
    width,
    rows,
    first,
    count,
    W: tl.constexpr,
    B: tl.constexpr,
):
    """Fill p of variables from ``first`` on as whole numbers, and add the sums of p and p^2.

    Numbers are in units of 2^-28, of which ``terms`` (variables, 4 W, width) has 7 bits each, the
    highest first. ``logs`` gets the sum of the log-normalisers of each block.
    """
    k = tl.program_id(0).to(tl.int64)
    block = tl.program_id(1)
    r = block * B + tl.arange(0, B)
    there = r < rows
    s = tl.arange(0, W)
    logits = _logits(codes, starts, others, tables, unary, first + k, r, there, stride, W, B)
    top = tl.max(logits, axis=1)
    raised = tl.exp(logits - top[:, None])
    total = tl.sum(raised, axis=1)
    sums = tl.sum(tl.where(there, top + tl.log(total), 0.0), axis=0)
    tl.store(logs + block * count + k, sums)
    p = raised * tl.where(there, 1.0 / total, 0.0)[:, None]
    q = tl.minimum((p * 268435456.0 + 0.5).to(tl.int32), 268435455)
    tl.atomic_add(states + k * W + s, tl.sum(q.to(tl.int64), axis=0))
    tl.atomic_add(squares + k * W + s, tl.sum((p * p * 268435456.0 + 0.5).to(tl.int64), axis=0))
    at = terms + (k * 4 * W + s)[None, :] * width + r[:, None]
    mask = there[:, None]
    tl.store(at, (q >> 21).to(tl.int8), mask=mask)
    tl.store(at + W * width, ((q >> 14) & 127).to(tl.int8), mask=mask)
    tl.store(at + 2 * W * width, ((q >> 7) & 127).to(tl.int8), mask=mask)
    tl.store(at + 3 * W * width, (q & 127).to(tl.int8), mask=mask)


@triton.jit(do_not_specialize=["rows"])
def add_terms(
    terms,
    codes,
    owners,
    firsts,
    counts,
    targets,
    pairs,
    stride,
    width,
    rows,
    W: tl.constexpr,
    G: tl.constexpr,
    K: tl.constexpr,
    SPAN: tl.constexpr,
):
    """Add p of an owner by the codes of up to G other variables, over SPAN rows.

    A product of terms with indicators; its sums of up to 127 SPAN are exact in float32.
    """
    g = tl.program_id(0)
    begin = tl.program_id(1) * SPAN
    own = tl.load(owners + g).to(tl.int64)
    first = tl.load(firsts + g).to(tl.int64)
    count = tl.load(counts + g)
    slot = tl.arange(0, G)
    j = tl.load(targets + first + slot, mask=slot < count, other=0).to(tl.int64)
    line = tl.arange(0, 4 * W)
    c = tl.arange(0, W)
    found = tl.zeros([4 * W, G * W], tl.float32)
    for start in range(0, tl.minimum(SPAN, rows - begin), K):
        r = begin + start + tl.arange(0, K)
        there = r < rows
        at = terms + (own * 4 * W + line)[:, None] * width + r[None, :]
        some = tl.load(at, mask=there[None, :], other=0).to(tl.float16)
        x = tl.load(codes + j[None, :] * stride + r[:, None], mask=there[:, None], other=255)
        seen = (x.to(tl.int32)[:, :, None] == c[None, None, :]).to(tl.float16)
        found = tl.dot(some, tl.reshape(seen, (K, G * W)), found)
    whole = found.to(tl.int64) << (21 - 7 * (line // W))[:, None]
    whole = tl.sum(tl.reshape(whole, (4, W, G * W)), axis=0)
    column = tl.arange(0, G * W)
    at = pairs + ((first + column // W)[None, :] * W + c[:, None]) * W + (column % W)[None, :]
    tl.atomic_add(at, whole, mask=(column // W < count)[None, :])


@triton.jit(do_not_specialize=["rows"])
def add_products(
    left,
    right,
    firsts,
    seconds,
    out,
    rows,
    P,
    Q,
    TP: tl.constexpr,
    TQ: tl.constexpr,
    K: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Add the sum over rows of S_i M_j' + M_i S_j' of a pair.

    ``left`` and ``right`` (variables, 2, P or Q, rows) have S and M in float32; K rows are added
    in float32, and those sums in float64.
    """
    k = tl.program_id(0).to(tl.int64)
    i = tl.load(firsts + k)
    j = tl.load(seconds + k)
    a = tl.arange(0, TP)
    b = tl.arange(0, TQ)
    total = tl.zeros([TP, TQ], tl.float64)
    for start in range(0, rows, K):
        r = start + tl.arange(0, K)
        there = r < rows
        mask = (a < P)[:, None] & there[None, :]
        here = left + (i * 2 * P + a)[:, None] * rows + r[None, :]
        other = (b < Q)[None, :] & there[:, None]
        across = right + (j * 2 * Q + b)[None, :] * rows + r[:, None]
        s = tl.load(here, mask=mask, other=0.0)
        m = tl.load(across + Q * rows, mask=other, other=0.0)
        found = tl.dot(s, m, input_precision=PRECISION)
        m = tl.load(here + P * rows, mask=mask, other=0.0)
        s = tl.load(across, mask=other, other=0.0)
        found = tl.dot(m, s, found, input_precision=PRECISION)
        total += found.to(tl.float64)
    at = out + (k * P + a)[:, None] * Q + b[None, :]
    mask = (a < P)[:, None] & (b < Q)[None, :]
    tl.store(at, tl.load(at, mask=mask, other=0.0) + total, mask=mask)


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
def count_states(codes, out, stride, rows, W: tl.constexpr, B: tl.constexpr):
    """Add how many rows are in each state of a variable."""
    k = tl.program_id(0).to(tl.int64)
    r = tl.program_id(1) * B + tl.arange(0, B)
    s = tl.arange(0, W)
    x = tl.load(codes + k * stride + r, mask=r < rows, other=255).to(tl.int32)
    there = (x[None, :] == s[:, None]) & (r < rows)[None, :]
    tl.atomic_add(out + k * W + s, tl.sum(there.to(tl.int32), axis=1).to(tl.int64))


@triton.jit(do_not_specialize=["rows"])
def count_few_states(codes, out, stride, rows, W: tl.constexpr, B: tl.constexpr, T: tl.constexpr):
    """Add how many rows are in each of up to eight states: a byte of a number counts each."""
    k = tl.program_id(0).to(tl.int64)
    begin = tl.program_id(1) * B * T
    found = tl.zeros([B], tl.int64)
    one = tl.full([B], 1, tl.int64)
    for t in range(T):  # so few that no byte is full
        r = begin + t * B + tl.arange(0, B)
        there = r < rows
        x = tl.load(codes + k * stride + r, mask=there, other=0).to(tl.int64)
        found += tl.where(there, one << (8 * x), 0)
    for s in tl.static_range(W):
        tl.atomic_add(out + k * W + s, tl.sum((found >> (8 * s)) & 255))


@triton.jit(do_not_specialize=["rows"])
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
