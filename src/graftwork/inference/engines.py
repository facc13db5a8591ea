"""What inference knows, and the one interface of everything that infers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from graftwork.inference.layout import Floats, Ints, Layout, Potentials


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """Marginals of a network and its log partition function, as one engine found them."""

    layout: Layout  # which number is which in `values`
    # (layout.size,): probabilities: the marginal of each variable, then the joint marginal of each
    # edge
    values: Floats
    log_partition: float  # log Z in nats; ``-inf`` where no joint state has any mass
    exact: bool  # whether the numbers are exact up to rounding
    converged: bool  # whether the engine reached its own tolerance (always, for an exact engine)
    residual: float  # largest change of a log-message in the last sweep; 0 for exact beliefs
    sweeps: int  # passes over all messages
    # (sum over edges of s_i + s_j,) or None: log-messages, per edge first the one into i, then the
    # one into j: what a warm start needs
    messages: Floats | None = None
    noise: float = 0.0  # largest standard error of a marginal that was sampled; 0 where nothing was

    def unary(self, i: int) -> Floats:
        """Return the marginal of variable ``i``, shape (cards[i],)."""
        return self.layout.unary(self.values, i)

    def table(self, e: int) -> Floats:
        """Return the joint marginal of edge ``e``, shape (cards[i], cards[j])."""
        return self.layout.table(self.values, e)


@runtime_checkable
class Engine(Protocol):
    """Something that infers: junction tree, belief propagation, tree-reweighted, yours."""

    def describe(self) -> str:
        """Return what this engine does, in plain words: certificates quote it."""
        ...

    def infer(self, potentials: Potentials, warm: Beliefs | None = None) -> Beliefs:
        """Return the beliefs at these potentials, starting from `warm` where that helps."""
        ...

    def pair_marginals(
        self, potentials: Potentials, beliefs: Beliefs, pairs: Ints
    ) -> tuple[Floats, bool]:
        """Return the joint marginals of any pairs of variables, and whether they are exact.

        Parameters
        ----------
        potentials : Potentials
        beliefs : Beliefs
            What `infer` returned for these potentials.
        pairs : (k, 2) int64
            Two different variables a row, edges or not, in any order.

        Returns
        -------
        tables : (sum of s_i * s_j,) float64
            One row-major ``s_i x s_j`` table a pair, in the order asked.
        exact : bool
        """
        ...
