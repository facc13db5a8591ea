"""How far each round is solved: lazily, to convergence, or by a few steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from graftwork.parameters import whole_number


class Schedule(Protocol):
    """Says how accurately a round is solved, or in how many steps.

    A round that activated nothing is always solved to the run's accuracy.
    """

    def begin(self, lam: float, target: float) -> float:
        """Return the run's accuracy at its beginning; it ends at ``target`` or closer.

        In between it falls tenfold whenever nothing violates by more than it.
        """
        ...

    def plan(self, accuracy: float, residual: float) -> tuple[float, int | None]:
        """Return the accuracy of a round and its most steps (None: as many as that takes).

        ``accuracy`` is the run's; ``residual`` what the round's new blocks violate by.
        """
        ...


@dataclass(frozen=True, slots=True)
class Lazy:
    """Solve loosely while much is wrong: what later blocks will undo need not be exact."""

    share_of_lam: float = 0.1
    share_of_violation: float = 0.2

    def begin(self, lam: float, target: float) -> float:
        """Return a share of lambda."""
        return max(target, self.share_of_lam * lam)

    def plan(self, accuracy: float, residual: float) -> tuple[float, int | None]:
        """Return a share of the violation."""
        return max(accuracy, self.share_of_violation * residual), None


@dataclass(frozen=True, slots=True)
class ToConvergence:
    """Solve every round to the final accuracy, as most papers have it."""

    def begin(self, lam: float, target: float) -> float:
        """Return the final accuracy."""
        return target

    def plan(self, accuracy: float, residual: float) -> tuple[float, int | None]:
        """Return the final accuracy."""
        return accuracy, None


@dataclass(frozen=True, slots=True)
class Loose:
    """Solve to one loose accuracy until the end: for networks that will change much."""

    accuracy: float = 1e-4

    def begin(self, lam: float, target: float) -> float:
        """Return the loose accuracy."""
        return max(target, self.accuracy)

    def plan(self, accuracy: float, residual: float) -> tuple[float, int | None]:
        """Return the run's accuracy."""
        return accuracy, None


@dataclass(frozen=True, slots=True)
class Steps:
    """Take a few steps per round."""

    count: int = 1
    share_of_lam: float = 0.1

    def __post_init__(self) -> None:
        whole_number("steps", self.count, 1)

    def begin(self, lam: float, target: float) -> float:
        """Return a share of lambda.

        It may be closer than the target: until the weights are there, smaller violations count.
        """
        return self.share_of_lam * lam or target

    def plan(self, accuracy: float, residual: float) -> tuple[float, int | None]:
        """Return the steps."""
        return accuracy, self.count
