"""Families of models: which blocks there are, and what coming and going means for weights.

The loop is the same for networks, whose blocks are tables of pairs of variables or cells of them,
and for chains, whose blocks are features of sequences. All it does not know is in a model family.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from graftwork.grafting.screen import Screen, TileScores
from graftwork.grafting.spaces import Space
from graftwork.inference.layout import Floats, Ints
from graftwork.penalties.blocks import Blocks, Bools, Parts
from graftwork.penalties.protocol import Penalty

_EMPTY = np.zeros(0, dtype=np.int64)


class ModelFamily(ABC):
    """Which blocks there are, and how a layout changes when they come and go.

    Layouts and potentials are the family's own; to the loop they are values that it hands around.
    What a family without variables, prior knowledge or pair tables need not say has a default.
    """

    @property
    @abstractmethod
    def noun(self) -> str:
        """What is kept in the end, in a word: an edge, a feature."""

    @property
    def scored(self) -> bool:
        """Whether an evaluation scores every block, so that looking costs nothing."""
        return False

    @property
    def variables(self) -> Ints:
        """The variables between which there may be edges; none where blocks are not edges."""
        return _EMPTY

    @property
    def tables_counted(self) -> int:
        """How many pair tables were computed so far."""
        return 0

    @abstractmethod
    def empty(self) -> Any:
        """Return the potentials without any block."""

    def admitted(self, start: Any, penalty: Penalty, most: int | None) -> Any:
        """Return potentials as a run may begin with them, with at most ``most`` edges."""
        return start

    @abstractmethod
    def space(self, variables: Ints, features: bool) -> Space:
        """Return the blocks among some variables; ``features`` asks for single entries."""

    def count_barred(self, variables: Ints) -> int:
        """Return how many pairs of these variables may not be edges."""
        return 0

    @abstractmethod
    def blocks(self, layout: Any, free: Bools | None = None) -> Blocks:
        """Return the blocks of a layout, with what may move."""

    @abstractmethod
    def grown(self, layout: Any, space: Any, keys: Ints) -> Any:
        """Return the layout that has these blocks too."""

    @abstractmethod
    def kept(self, layout: Any, free: Bools) -> tuple[Any, Ints]:
        """Return the layout of blocks with entries that may move, and the entries that stay."""

    @abstractmethod
    def without(self, layout: Any, weights: Floats, places: Ints, compensate: bool) -> Floats:
        """Return the weights with these entries zero.

        To ``compensate`` is to let weights that are not penalised take over what they did.
        """

    @abstractmethod
    def scales(self, space: Any, keys: Ints) -> Floats:
        """Return d_g of each block."""

    def parts(self, layout: Any) -> Parts | None:
        """Return the tables of a layout that have a linear part and a rest; None for none."""
        return None

    def scores(
        self, space: Any, penalty: Penalty, gradients: Floats, starts: Ints, keys: Ints
    ) -> Floats:
        """Return the scores of inactive blocks from their gradients."""
        return penalty.scores(gradients, starts, self.scales(space, keys))

    def factors_of(self, space: Any, keys: Ints) -> Floats | None:
        """Return what lam is multiplied by for each block; None where that is 1 for all."""
        return None

    def needed(self, space: Any) -> Ints:
        """Return the keys of the blocks that are active from the start and never leave."""
        return _EMPTY

    def screen(self, objective: Any, penalty: Penalty, space: Any) -> Screen | None:
        """Return what is known of the scores of all blocks; None where that says nothing."""
        return None

    def stars(self, objective: Any, penalty: Penalty, space: Any) -> TileScores | None:
        """Return how all blocks at some variables are scored at once; None where that cannot be."""
        return None

    @abstractmethod
    def gains(self, space: Any, point: Any, penalty: Penalty, keys: Ints) -> Floats:
        """Return by how much the objective would fall if each block alone were optimised."""

    @abstractmethod
    def count_entries(self, space: Any) -> int:
        """Return how many entries all blocks together have."""

    def degrees(self, layout: Any) -> Ints:
        """Return the number of edges of each variable."""
        return _EMPTY

    @abstractmethod
    def absent(self, layout: Any, space: Any, keys: Ints) -> Bools:
        """Return which of these blocks would bring something new to the layout, if it is full."""

    @abstractmethod
    def known(self, space: Any, most: int) -> Ints:
        """Return keys that cost little to score: about ``most`` at most, where each costs."""
