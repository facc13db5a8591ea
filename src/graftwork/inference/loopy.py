"""Belief propagation: exact and linear on forests, an approximation with loops.

With loops it can fail to converge, or converge to poor beliefs, where couplings are strong: read
``converged`` and ``residual`` of what it returns.

References
----------
J. S. Yedidia, W. T. Freeman and Y. Weiss (2005). Constructing free-energy approximations and
generalized belief propagation algorithms.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from graftwork.inference.engines import Beliefs
from graftwork.inference.junction import JunctionTree
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.messages import (
    Rule,
    check_rule,
    describe_rule,
    marginals_by_rule,
    read,
    ready,
    settle,
    warm_messages,
)
from graftwork.inference.wiring import wire


@dataclass(frozen=True, slots=True)
class LoopyBP:
    """Beliefs by sum-product message passing.

    A sweep updates every message once, leaves to root and back in a breadth-first order. A run
    without damping that has not converged is tried once more with damping 0.5, and the better of
    the two is returned.
    """

    max_sweeps: int = 200
    tol: float = 1e-9
    damping: float = 0.0
    rule: Rule = "path"

    def __post_init__(self) -> None:
        check_rule(self.rule)

    def describe(self) -> str:
        """Return what this engine does, in plain words."""
        return f"loopy belief propagation, {describe_rule(self.rule)}"

    def infer(self, potentials: Potentials, warm: Beliefs | None = None) -> Beliefs:
        """Return the beliefs, from the messages of `warm` on the edges it shares."""
        layout = potentials.layout
        wiring = wire(layout)
        start = warm_messages(layout, wiring, warm)
        tables = ready(potentials)
        done = settle(layout, tables, start, self.max_sweeps, self.tol, self.damping, restart=True)
        values, log_partition = read(layout, tables, done.messages)
        return Beliefs(
            layout, values, log_partition, wiring.forest, done.residual <= self.tol,
            done.residual, done.sweeps, done.messages,
        )  # fmt: skip

    def pair_marginals(
        self, potentials: Potentials, beliefs: Beliefs, pairs: Ints
    ) -> tuple[Floats, bool]:
        """Return the joint marginals of any pairs by `rule`, and whether they are exact."""
        return marginals_by_rule(self.rule, potentials, beliefs, pairs)


@dataclass(frozen=True, slots=True)
class Automatic:
    """An engine that is exact up to a size, and loopy belief propagation for larger networks.

    The limit is far below the one for a single question: learning infers hundreds of times.
    """

    exact: JunctionTree = field(default_factory=lambda: JunctionTree(limit_cells=2**20))
    loopy: LoopyBP = field(default_factory=LoopyBP)

    def describe(self) -> str:
        """Return what this engine does, in plain words."""
        return f"exact inference where it fits, else {self.loopy.describe()}"

    def infer(self, potentials: Potentials, warm: Beliefs | None = None) -> Beliefs:
        """Return the beliefs, exact where that fits."""
        return self._engine(potentials).infer(potentials, warm)

    def pair_marginals(
        self, potentials: Potentials, beliefs: Beliefs, pairs: Ints
    ) -> tuple[Floats, bool]:
        """Return the joint marginals of any pairs, and whether they are exact."""
        return self._engine(potentials).pair_marginals(potentials, beliefs, pairs)

    def _engine(self, potentials: Potentials) -> JunctionTree | LoopyBP:
        return self.exact if self.exact.fits(potentials.layout) else self.loopy


def automatic(rule: Rule = "path") -> Automatic:
    """Return exact inference where it fits, else belief propagation with this pair rule."""
    return Automatic(loopy=LoopyBP(rule=rule))
