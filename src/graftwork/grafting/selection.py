"""How a selector sees the network, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from graftwork.grafting.certificate import Stop
from graftwork.grafting.domain import Domain
from graftwork.grafting.screen import Screen
from graftwork.grafting.space import Space
from graftwork.inference.layout import Floats, Ints
from graftwork.penalties.protocol import Penalty


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The network at one point, as far as a selector may look.

    Attributes
    ----------
    score : function
        Scores of an array of keys at this point; the batch is scored at once. Where a block has a
        factor of its own, its score is shifted so that the same lam is the limit for all.
    lam : float
        A block whose score exceeds lam wants to be active.
    threshold : float
        The same plus the accuracy the point was solved to: only a larger score counts as violation.
    active : (m,) int64
        Keys of the active blocks.
    degrees : (n,) int64
        Number of active edges of each variable.
    most : int
        Most blocks that may be activated now.
    halted : function
        True when a budget ran out: stop looking.
    point : Evaluated
        The loss at this point, for scorers that look deeper than the gradient.
    penalty : Penalty
        What weighs on blocks.
    domain : Domain
        What blocks are, for scorers that look at more than numbers.
    screen : Screen, optional
        What is known of all scores from earlier points, where that says something.
    """

    score: Callable[[Ints], Floats]
    lam: float
    threshold: float
    active: Ints
    degrees: Ints
    most: int
    halted: Callable[[], bool]
    point: Any
    penalty: Penalty
    domain: Domain
    screen: Screen | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What a selector found.

    Attributes
    ----------
    keys : (k,) int64
        Blocks to activate; none when nothing violates (or the search was cut short).
    worst : float
        Largest score seen at this point.
    tested : int
        How many different inactive blocks were scored at this point.
    complete : bool
        Whether that was every inactive block.
    stop : Stop, optional
        Why a search that is not complete will not go on: one of ``certificate.STOPS``.
    """

    keys: Ints
    worst: float
    tested: int
    complete: bool
    stop: Stop | None = None


class Selection(Protocol):
    """A selector at work: it may remember what it saw."""

    def choose(self, view: View) -> Choice:
        """Return the blocks to activate at this point."""
        ...

    def release(self, keys: Ints) -> None:
        """Take note that these blocks are inactive again."""
        ...


class Selector(Protocol):
    """Configuration of a way to choose blocks."""

    def begin(self, space: Space, active: Ints, rng: np.random.Generator) -> Selection:
        """Return a fresh selection over a space in which some blocks are already active."""
        ...
