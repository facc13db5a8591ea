"""What inference knows, and the one interface of everything that infers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from graftwork.inference.layout import Floats, Ints, Layout, Potentials


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """Marginals of a network and its log partition function, as one engine found them.

    Attributes
    ----------
    layout : Layout
        Which number is which in `values`.
    values : (layout.size,) float64
        Probabilities: the marginal of each variable, then the joint marginal of each edge. All
        zero where the network gives no joint state any mass.
    log_partition : float
        log Z in nats; ``-inf`` where no joint state has any mass.
    exact : bool
        Whether the numbers are exact up to rounding.
    converged : bool
        Whether the engine reached its own tolerance (always, for an exact engine).
    residual : float
        Largest change of a log-message in the last sweep; 0 for exact beliefs.
    sweeps : int
        Passes over all messages.
    messages : (sum over edges of s_i + s_j,) float64 or None
        Log-messages, per edge first the one into i, then the one into j: what a warm start needs.
    noise : float
        Largest standard error of a marginal that was sampled; 0 where nothing was.

    Examples
    --------
    >>> import numpy as np
    >>> from graftwork.inference import JunctionTree, Layout, Potentials
    >>> layout = Layout.of([2, 2], [(0, 1)])
    >>> beliefs = JunctionTree().infer(Potentials(layout, layout.zeros()))
    >>> beliefs.unary(0), round(beliefs.log_partition, 4), beliefs.exact
    (array([0.5, 0.5]), 1.3863, True)
    """

    layout: Layout
    values: Floats
    log_partition: float
    exact: bool
    converged: bool
    residual: float
    sweeps: int
    messages: Floats | None = None
    noise: float = 0.0

    def unary(self, i: int) -> Floats:
        """Return the marginal of variable ``i``, shape (cards[i],)."""
        return self.layout.unary(self.values, i)

    def table(self, e: int) -> Floats:
        """Return the joint marginal of edge ``e``, shape (cards[i], cards[j])."""
        return self.layout.table(self.values, e)


@runtime_checkable
class Engine(Protocol):
    """Something that infers: junction tree, belief propagation, tree-reweighted, yours.

    Examples
    --------
    >>> from graftwork.inference import JunctionTree, LoopyBP
    >>> isinstance(JunctionTree(), Engine), isinstance(LoopyBP(), Engine), isinstance(3, Engine)
    (True, True, False)
    """

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
