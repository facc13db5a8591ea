"""Sums over parts that have the same bits wherever the parts are.

Parts are added as a tree says that depends on their number alone: first the two of each pair, then
the sums of two pairs, and so on. Who has some parts in a row adds up what it can; the rest is added
where their sums meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graftwork.data.parts import Add

#: The first part, how many there are, and their sum.
Block = tuple[int, int, Any]


def sum_run(values: Iterable[Any], start: int, add: Add) -> list[Block]:
    """Return the sums of results of parts in a row, as far as the tree adds them.

    Examples
    --------
    >>> from operator import add
    >>> sum_run([10, 10, 10, 10, 10], 3, add)
    [(3, 1, 10), (4, 4, 40)]
    """
    blocks: list[Block] = []
    for place, value in enumerate(values, start):
        _push(blocks, (place, 1, value), add)
    return blocks


def meet(first: list[Block], second: list[Block], add: Add) -> list[Block]:
    """Return the sums of parts in a row and of those that follow."""
    blocks = list(first)
    for block in second:
        _push(blocks, block, add)
    return blocks


def finish(blocks: list[Block], add: Add) -> Any:
    """Return the sum of all parts, whose number need not be a power of two."""
    *rest, (_, _, total) = blocks
    for _, _, value in reversed(rest):
        total = add(value, total)
    return total


def total_of(values: Iterable[Any], add: Add) -> Any:
    """Return the sum of the results of all parts.

    Examples
    --------
    >>> from operator import add
    >>> total_of("abcde", add)
    'abcde'
    """
    return finish(sum_run(values, 0, add), add)


def runs(owners: list[Any]) -> list[tuple[Any, int, int]]:
    """Return owners of parts in a row: the owner, the first part, and behind the last."""
    cuts = [k for k in range(len(owners)) if not k or owners[k] is not owners[k - 1]]
    return [(owners[k], k, end) for k, end in zip(cuts, [*cuts[1:], len(owners)], strict=True)]


def dealt(count: int, n_owners: int) -> list[int]:
    """Return who has which part: each some in a row, and about as many as others."""
    owners = min(count, n_owners)
    return [k * owners // count for k in range(count)]


def _push(blocks: list[Block], block: Block, add: Add) -> None:
    """Put a block behind others, and add the two sides of what is complete."""
    blocks.append(block)
    while len(blocks) > 1:
        (first, size, value), (_, following, other) = blocks[-2:]
        if size != following or first % (2 * size):
            return
        blocks[-2:] = [(first, 2 * size, add(value, other))]
