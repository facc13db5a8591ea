"""The one interface of everything that turns potentials into beliefs."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from graftwork.inference.beliefs import Beliefs
from graftwork.inference.layout import Floats, Ints, Potentials


@runtime_checkable
class Engine(Protocol):
    """Something that infers: junction tree, belief propagation, tree-reweighted, yours.

    Examples
    --------
    >>> from graftwork.inference import JunctionTree, LoopyBP
    >>> isinstance(JunctionTree(), Engine), isinstance(LoopyBP(), Engine), isinstance(3, Engine)
    (True, True, False)
    """

    @property
    def ignores_empty_edges(self) -> bool:
        """Whether an edge with a table of zeros changes neither marginals nor log Z.

        If not, what is learned must be inferred anew whenever an edge comes or goes.
        """
        ...

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
