"""Rows in parts: what is computed of each part adds up.

Counts, losses, gradients, scores and statistics of tests are sums over rows. So rows may be
anywhere: an *operation* runs on every part where that part is, and what it finds is added up. An
*engine* knows where parts are and how to run something there; `graftwork.data.engines` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from graftwork.data.encoded import EncodedRows

#: Of a part and further arguments: arrays, or lists and tuples of them, that add up over parts.
Operation = Callable[..., Any]
#: What adds two results.
Add = Callable[[Any, Any], Any]
#: What an engine knows an object by that lies elsewhere.
Handle = Any
#: Called with how many objects are there.
Tell = Callable[[int], object]


class Engine(Protocol):
    """Where parts of the rows are, and how to run something there.

    Functions that it is given belong to modules, and arguments can be pickled: both may travel.
    """

    @property
    def n_threads(self) -> int:
        """Threads that a function may use where it runs."""

    def place(self, makers: Sequence[Callable[[], Any]], tell: Tell | None = None) -> list[Handle]:
        """Return handles of what the functions return, each called where its object shall be.

        An engine that makes objects now may ``tell`` how many are there, from time to time.
        """

    def map(
        self,
        handles: Sequence[Handle],
        function: Callable[..., Any],
        *arguments: Any,
        own: Sequence[tuple[Any, ...]] | None = None,
        keep: bool = False,
    ) -> list[Handle]:
        """Return handles of ``function(object, *own arguments, *arguments)``, where objects are.

        Parameters
        ----------
        own : sequence of tuple, optional
            For each object arguments of its own.
        keep : bool
            The results are tuples of arrays (or None) that took long to make: an engine that would
            make them anew whenever they are looked at keeps them.
        """

    def total(
        self,
        handles: Sequence[Handle],
        function: Operation,
        *arguments: Any,
        add: Add | None = None,
    ) -> Any:
        """Return the sum of ``function(object, *arguments)`` over the objects.

        With `graftwork.data.engines.sums` it has the same bits wherever the objects are.

        Parameters
        ----------
        add : function, optional
            What adds two results, first and second in the order of the objects; default `add_up`.
        """

    def close(self) -> None:
        """Let go of what it holds."""


@runtime_checkable
class TilingEngine(Protocol):
    """An engine that has all pairs of variables in tiles of its own."""

    def tiles(
        self, handles: Sequence[Handle], at: Any, variables: Any, own_sums: Any, leading: int | None
    ) -> Iterator[Any] | None:
        """Return tiles (see ``graftwork.objectives.pair_tiles``); None if it has none of these."""


@runtime_checkable
class InvertingEngine(Protocol):
    """An engine that inverts large matrices faster than the processor does."""

    def inverses(self, matrices: Iterable[Any]) -> Iterator[Any]:
        """Yield the inverses of symmetric matrices; None for one that is not positive definite."""


@dataclass(frozen=True, slots=True, eq=False)
class RowPart:
    """Part of the rows, where it can be looked at."""

    sample: EncodedRows  # these rows
    number: int  # which part it is
    n_threads: int
    memory: int  # bytes that an operation may take
    # what an operation leaves for the next ones that look at this part
    memo: dict[str, Any] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the memo: what is in it can be made again where the part goes.
        return RowPart, (self.sample, self.number, self.n_threads, self.memory)


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """All rows of a sample, in parts.

    Attributes
    ----------
    engine : Engine
    handles : list
        Of a `RowPart` each.
    n_rows : int
        Number of rows of all parts.
    memory : int
        Bytes that may be used where a part is.
    """

    engine: Engine
    handles: list[Handle]
    n_rows: int
    memory: int

    def total(self, operation: Operation, *arguments: Any, add: Add | None = None) -> Any:
        """Return the sum of ``operation(part, *arguments)`` over the parts."""
        return self.engine.total(self.handles, operation, *arguments, add=add)


def add_up(first: Any, second: Any) -> Any:
    """Return the sum of two results: of numbers and arrays, entry by entry in lists and tuples."""
    if isinstance(first, list | tuple):
        return type(first)(add_up(a, b) for a, b in zip(first, second, strict=True))
    return first + second


def join(first: list[Any], second: list[Any]) -> list[Any]:
    """Return two lists as one: adds results that are kept apart."""
    return [*first, *second]
