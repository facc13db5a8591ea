"""What is minimised, and how: a loss plus a penalty, and a choice of parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from graftwork.grafting.domain import Domain, PairDomain
from graftwork.grafting.pruning import Pruner, Zeros
from graftwork.grafting.selection import Selector
from graftwork.grafting.space import PairSpace, Space
from graftwork.inference.layout import Ints, Potentials
from graftwork.penalties.blocks import Blocks, Bools
from graftwork.penalties.protocol import Penalty
from graftwork.solvers import (
    Lazy,
    Memory,
    ProximalQuasiNewton,
    Schedule,
    Solution,
    Solver,
    measure,
)

if TYPE_CHECKING:
    from graftwork.grafting.exchange import Exchange


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
    """A published algorithm as a choice of parts.

    Attributes
    ----------
    name : str
    selector : Selector
        What chooses the blocks to activate.
    solver : Solver
        What improves the weights of everything active.
    schedule : Schedule
        How far a round is solved.
    pruner : Pruner
        What drops blocks that are no longer wanted.
    features : bool
        Activate single table cells where the penalty allows it (where it is separable); otherwise,
        and by default, whole tables.
    start : Start, optional
        The network to begin with; by default one without edges.
    sized : bool
        The number of edges is given (by the start, or by ``max_edges``): nothing has to be found
        out by a penalty, so lam="auto" means no sparsity penalty.
    exchange : Exchange, optional
        What becomes of a network with as many edges as it may have: edges are exchanged for better
        ones. Without ``max_edges`` it may have as many as it starts with.
    """

    name: str
    selector: Selector
    solver: Solver = field(default_factory=ProximalQuasiNewton)
    schedule: Schedule = field(default_factory=Lazy)
    pruner: Pruner = field(default_factory=Zeros)
    features: bool = False
    start: Start | None = None
    sized: bool = False
    exchange: Exchange | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop before nothing more is wanted; None is no limit."""

    max_edges: int | None = None
    max_rounds: int | None = None
    max_tests: int | None = None
    max_seconds: float | None = None

    def after(self, seconds: float) -> Budget:
        """Return what is left when so much time is spent.

        Examples
        --------
        >>> Budget(max_seconds=5).after(3).max_seconds
        2
        """
        if self.max_seconds is None:
            return self
        return replace(self, max_seconds=max(0, self.max_seconds - seconds))


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What is minimised: a loss plus a penalty, over what a domain may activate.

    Attributes
    ----------
    objective : Loss
        An ``Objective`` for networks.
    penalty : Penalty
    domain : Domain
        What blocks are; by default edges between the variables of the objective's sample.
    """

    objective: Any
    penalty: Penalty
    domain: Domain = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.domain is None:
            object.__setattr__(self, "domain", PairDomain(self.objective.sample))

    @property
    def variables(self) -> Ints:
        """The variables between which there may be edges."""
        return self.domain.variables

    @property
    def space(self) -> PairSpace:
        """All pairs of variables that vary and may be edges."""
        space = self.domain.space(self.variables, False)
        return space if isinstance(space, PairSpace) else PairSpace(self.variables)

    def space_for(self, recipe: Recipe, variables: Ints) -> Space:
        """Return the blocks a recipe may activate among some of the variables."""
        return self.domain.space(variables, recipe.features and self.penalty.separable)

    def at(self, lam: float) -> Problem:
        """Return the same problem with another lambda on the tables."""
        return replace(self, penalty=replace(self.penalty, lam=lam))  # type: ignore[type-var]

    def blocks(self, layout: Any, free: Bools | None = None) -> Blocks:
        """Return the blocks of a layout, with what may move."""
        return self.domain.blocks(layout, free)

    def solution(
        self,
        potentials: Any,
        memory: Memory | None = None,
        near: Solution | None = None,
        free: Bools | None = None,
    ) -> Solution:
        """Return these potentials, evaluated."""
        point = self.objective.at(potentials, near.point if near else None)
        return measure(point, self.penalty, self.blocks(potentials.layout, free), 0, memory)
