"""How a selector sees the network, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from graftwork.grafting.space import PairSpace
from graftwork.inference.layout import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The network at one point, as far as a selector may look.

    Attributes
    ----------
    score : function
        Scores of an array of keys at this point; the batch is scored at once.
    lam : float
        A block whose score exceeds lam wants to be active.
    threshold : float
        The same plus the accuracy the point was solved to: only a larger score counts as violation.
    active : (m,) int64
        Keys of the active pairs.
    degrees : (n,) int64
        Number of active edges of each variable.
    most : int
        Most pairs that may be activated now.
    halted : function
        True when a budget ran out: stop looking.
    """

    score: Callable[[Ints], Floats]
    lam: float
    threshold: float
    active: Ints
    degrees: Ints
    most: int
    halted: Callable[[], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What a selector found.

    Attributes
    ----------
    keys : (k,) int64
        Pairs to activate; none when nothing violates (or the search was cut short).
    worst : float
        Largest score seen at this point.
    tested : int
        How many different inactive pairs were scored at this point.
    complete : bool
        Whether that was every inactive pair.
    """

    keys: Ints
    worst: float
    tested: int
    complete: bool


class Selection(Protocol):
    """A selector at work: it may remember what it saw."""

    def choose(self, view: View) -> Choice:
        """Return the pairs to activate at this point."""
        ...

    def release(self, keys: Ints) -> None:
        """Take note that these pairs are inactive again."""
        ...


class Selector(Protocol):
    """Configuration of a way to choose pairs."""

    def begin(self, space: PairSpace, active: Ints, rng: np.random.Generator) -> Selection:
        """Return a fresh selection over a space in which some pairs are already active."""
        ...
