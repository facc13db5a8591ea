"""Which active blocks are no longer wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from graftwork.inference.layout import Floats
from graftwork.penalties.blocks import Bools
from graftwork.settings import check_amount


class Pruner(Protocol):
    """Says which active blocks leave."""

    def leaving(self, largest: Floats, final: bool) -> Bools:
        """Return which blocks leave, from the largest absolute weight of each.

        ``final`` is True once, when everything has converged.
        """
        ...


@dataclass(frozen=True, slots=True)
class Zeros:
    """Blocks of zeros leave every round; at the end also those with no weight of ``epsilon``.

    Our solvers give exact zeros, so nothing but zeros need leave: a larger ``epsilon`` is for those
    who want the published pruning, and its certificate says what was dropped.

    References
    ----------
    Chaabene and Huang (2016), Priority grafting, Algorithm 2 (the pruning threshold).
    """

    epsilon: float = 0.0

    def __post_init__(self) -> None:
        check_amount("epsilon", self.epsilon)

    def leaving(self, largest: Floats, final: bool) -> Bools:
        """Return the blocks of zeros, at the end also the small ones."""
        small: Bools = (largest == 0) | (largest < self.epsilon * final)
        return small


@dataclass(frozen=True, slots=True)
class AtTheEnd:
    """Blocks of zeros leave only at the end: everything stays in play until then."""

    def leaving(self, largest: Floats, final: bool) -> Bools:
        """Return the blocks of zeros at the end, and none before."""
        zero: Bools = (largest == 0) & final
        return zero
