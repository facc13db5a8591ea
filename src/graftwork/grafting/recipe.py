"""A learner as a choice of parts, and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from graftwork.grafting.selectors import Selector
from graftwork.inference.layout import Floats, Potentials
from graftwork.parameters import number
from graftwork.penalties.blocks import Bools
from graftwork.solvers import (
    Lazy,
    ProximalQuasiNewton,
    Schedule,
    Solver,
)

if TYPE_CHECKING:
    from graftwork.grafting.exchange import Exchange
    from graftwork.grafting.problem import Problem


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
        number("epsilon", self.epsilon, 0.0)

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


class Start(Protocol):
    """Makes the network that a run begins with."""

    def begin(
        self,
        problem: Problem,
        budget: Budget,
        rng: np.random.Generator,
        halted: Callable[[], bool],
    ) -> Potentials:
        """Return a network over all variables of the problem's sample.

        ``halted`` says when there is no time left: what is there by then must do.
        """
        ...


@dataclass(frozen=True, slots=True)
class Recipe:
    """A published algorithm as a choice of parts."""

    name: str
    selector: Selector  # what chooses the blocks to activate
    # what improves the weights of everything active
    solver: Solver = field(default_factory=ProximalQuasiNewton)
    schedule: Schedule = field(default_factory=Lazy)  # how far a round is solved
    pruner: Pruner = field(default_factory=Zeros)  # what drops active blocks
    # activate single table cells where the penalty allows it (where it is separable); otherwise,
    # and by default, whole tables
    features: bool = False
    start: Start | None = None  # the network to begin with; by default one without edges
    # the number of edges is given (by the start, or by ``max_edges``): nothing has to be found out
    # by a penalty, so lam="auto" means no sparsity penalty
    sized: bool = False
    # what becomes of a network with as many edges as it may have: edges are exchanged for better
    # ones
    exchange: Exchange | None = None

    @property
    def needs_pairs(self) -> bool:
        """Whether a part works on pairs of variables, which features of chains do not have."""
        parts = self.selector, getattr(self.selector, "scorer", None)
        chosen = any(getattr(part, "needs_pairs", False) for part in parts)
        return chosen or self.start is not None or self.exchange is not None


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop before nothing violates; None is no limit."""

    max_edges: int | None = None
    max_rounds: int | None = None
    max_tests: int | None = None
    max_seconds: float | None = None
    max_evaluations: int | None = None

    def after(self, seconds: float) -> Budget:
        """Return what is left when so much time is spent."""
        if self.max_seconds is None:
            return self
        return replace(self, max_seconds=max(0, self.max_seconds - seconds))
