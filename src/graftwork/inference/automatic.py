"""Exact inference while it is cheap, belief propagation beyond."""

from __future__ import annotations

from dataclasses import dataclass, field

from graftwork.inference.beliefs import Beliefs
from graftwork.inference.junction import JunctionTree
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.loopy import LoopyBP
from graftwork.inference.rules import Rule
from graftwork.registry import register


@dataclass(frozen=True, slots=True)
class Automatic:
    """An engine that is exact up to a size, and loopy belief propagation for larger networks.

    The limit is far below the one for a single question: learning infers hundreds of times.

    Examples
    --------
    >>> from graftwork.inference import Layout
    >>> layout = Layout.of([2, 2], [(0, 1)])
    >>> Automatic().infer(Potentials(layout, layout.zeros())).exact
    True
    """

    exact: JunctionTree = field(default_factory=lambda: JunctionTree(limit_cells=2**20))
    loopy: LoopyBP = field(default_factory=LoopyBP)

    @property
    def ignores_empty_edges(self) -> bool:
        """Yes."""
        return True

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


@register("auto")
def automatic(rule: Rule = "path") -> Automatic:
    """Return exact inference where it fits, else belief propagation with this pair rule."""
    return Automatic(loopy=LoopyBP(rule=rule))
