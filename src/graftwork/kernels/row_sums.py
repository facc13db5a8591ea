"""Sums of table rows that stay in vector registers.

A row has as many numbers as the tuple ``lanes`` is long. Plain loops give the same sums, but store
and load them again after each row. Arrays are C-contiguous and addressed by the number of the row.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_NUMBER, _INDEX = ir.DoubleType(), ir.IntType(64)
#: So many sums are under way at once, if registers allow: an addition takes about four cycles.
_UNDER_WAY = 8
_FLAGS = ("contract", "reassoc", "nsz")


def register_width(context: Any, n_lanes: int) -> int:
    """Return how many numbers a register has, of those that the processor has and rows fill."""
    features = context.codegen().magic_tuple()[2].split(",")
    widest = 8 if "+avx512f" in features else 4 if "+avx" in features else 2
    return min(widest, n_lanes)


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


class _Row:
    """A row of numbers in registers."""

    def __init__(self, context: Any, builder: Any, n_lanes: int) -> None:
        self.builder, self.n_lanes = builder, n_lanes
        self.kind = ir.VectorType(_NUMBER, register_width(context, n_lanes))
        self.starts = range(0, n_lanes, self.kind.count)

    def addresses(self, data: Any, row: Any) -> list[Any]:
        """Return where the parts of a row of an array are."""
        start = self.builder.mul(row, _INDEX(self.n_lanes))
        places = [self.builder.add(start, _INDEX(k)) for k in self.starts]
        found = [self.builder.gep(data, [place]) for place in places]
        return [self.builder.bitcast(address, self.kind.as_pointer()) for address in found]

    def load(self, data: Any, row: Any) -> list[Any]:
        """Return a row of an array."""
        return [self.builder.load(a, align=8) for a in self.addresses(data, row)]

    def store(self, values: list[Any], data: Any, row: Any) -> None:
        """Write a row of an array."""
        for value, address in zip(values, self.addresses(data, row), strict=True):
            self.builder.store(value, address, align=8)

    def spread(self, number: Any) -> Any:
        """Return a register full of one number."""
        nothing = ir.Constant(self.kind, ir.Undefined)
        one = self.builder.insert_element(nothing, number, ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.kind.count), None)
        return self.builder.shuffle_vector(one, nothing, zeros)

    def add_product(self, total: Any, factor: Any, value: Any) -> Any:
        """Return ``total + factor * value``."""
        product = self.builder.fmul(factor, value, flags=_FLAGS)
        return self.builder.fadd(total, product, flags=_FLAGS)


@intrinsic
def sum_rows(
    typing_context: Any, lanes: Any, factors: Any, first_factor: Any, factor_step: Any, table: Any,
    first_row: Any, row_step: Any, count: Any, out: Any, place: Any,
) -> Any:  # fmt: skip
    """Fill row ``place`` of ``out`` with sum_k factors[first + k step] table[first + k step]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row = _Row(context, builder, len(lanes))
        numbers = _data(context, builder, factors, arguments[1])
        rows = _data(context, builder, table, arguments[4])
        n_sets = max(1, _UNDER_WAY // len(row.starts))
        zero = ir.Constant(row.kind, None)
        sums = [[cgutils.alloca_once(builder, row.kind) for _ in row.starts] for _ in range(n_sets)]
        for one in sums:
            for part in one:
                builder.store(zero, part)

        def add(k: Any, into: list[Any]) -> None:
            number = builder.add(arguments[2], builder.mul(k, arguments[3]))
            factor = row.spread(builder.load(builder.gep(numbers, [number])))
            values = row.load(rows, builder.add(arguments[5], builder.mul(k, arguments[6])))
            for part, value in zip(into, values, strict=True):
                builder.store(row.add_product(builder.load(part), factor, value), part)

        whole = builder.sub(arguments[7], builder.srem(arguments[7], _INDEX(n_sets)))
        with cgutils.for_range_slice(builder, _INDEX(0), whole, _INDEX(n_sets)) as (k, _):
            for q, one in enumerate(sums):
                add(builder.add(k, _INDEX(q)), one)
        with cgutils.for_range_slice(builder, whole, arguments[7], _INDEX(1)) as (k, _):
            add(k, sums[0])
        totals = [builder.load(part) for part in sums[0]]
        for one in sums[1:]:
            totals = [
                builder.fadd(t, builder.load(p), flags=_FLAGS)
                for t, p in zip(totals, one, strict=True)
            ]
        row.store(totals, _data(context, builder, out, arguments[8]), arguments[9])
        return context.get_dummy_value()

    whole = types.int64
    return (
        types.void(lanes, factors, whole, whole, table, whole, whole, whole, out, whole),
        generate,
    )


@intrinsic
def add_row(
    typing_context: Any, lanes: Any, factor: Any, source: Any, row: Any, out: Any, place: Any
) -> Any:
    """Add ``factor`` times a row of ``source`` to row ``place`` of ``out``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        of = _Row(context, builder, len(lanes))
        many = of.spread(arguments[1])
        values = of.load(_data(context, builder, source, arguments[2]), arguments[3])
        target = _data(context, builder, out, arguments[4])
        sums = zip(of.load(target, arguments[5]), values, strict=True)
        of.store([of.add_product(t, many, value) for t, value in sums], target, arguments[5])
        return context.get_dummy_value()

    return (
        types.void(lanes, types.float64, source, types.int64, out, types.int64),
        generate,
    )
