"""The lambda path: its values, what is kept of each, and how one of them was chosen."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from graftwork.grafting.certificate import Stop
from graftwork.tuning.levels import Levels

STEPS = 5

#: How lambda came about: there is no penalty; the method gives the number of edges, so that none is
#: needed; it was given; one row cannot tell; no pair depends at all; tests chose the edges at the
#: noise level; or what the lambdas of a path were judged by (of "adaptive" the first fit ended it).
How = Literal[
    "none", "sized", "given", "one-row", "independent", "tests", "held-out", "ebic", "stars",
    "adaptive",
]  # fmt: skip
#: Where a path ended: the criterion kept rising, edges became unstable, or at its planned end, with
#: the best lambda inside it or at its small end.
PathEnd = Literal["rises", "unstable", "inside", "boundary"]


@dataclass(frozen=True, slots=True)
class PathPoint:
    """One lambda of the path.

    Attributes
    ----------
    lam : float
    n_edges : int
    loss, objective : float
        Of the penalised fit. Where parts of the rows were learned from, these three are means over
        the parts.
    refit_loss : float
        Of the same edges fitted without the penalty; NaN where that was not asked for.
    criterion : float
        What was minimised to choose (of "stars" the instability, which must not exceed a
        threshold); NaN where nothing was.
    held_out : float
        Mean negative log pseudo-likelihood of rows not learned from; NaN where none were.
    chosen : bool
    """

    lam: float
    n_edges: int
    loss: float
    objective: float
    refit_loss: float = float("nan")
    criterion: float = float("nan")
    held_out: float = float("nan")
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Basis:
    """What the lambdas of a path are judged by.

    Attributes
    ----------
    how : {"held-out", "ebic", "stars"}
    n_parts : int
        Parts of the rows held out in turn, or subsamples.
    n_rows : int
        Rows held out, or in each subsample.
    gamma : float
        Of the extended Bayesian information criterion.
    of_refits : bool
        Whether that is of refits without the penalty.
    threshold : float
        The largest instability that is accepted.
    """

    how: How
    n_parts: int = 1
    n_rows: int = 0
    gamma: float = 0.0
    of_refits: bool = False
    threshold: float = 0.0


@dataclass(frozen=True, slots=True)
class PathSearch:
    """The search along a path for the best lambda.

    Attributes
    ----------
    basis : Basis
    n_lams : int
        Lambdas tried.
    largest, smallest : float
        The first and the last of them.
    criterion : float
        Its value at the lambda chosen.
    end : PathEnd or None
        Where it ended; None if it was cut short.
    planned : float or None
        The planned end, where the path went on below it.
    """

    basis: Basis
    n_lams: int
    largest: float
    smallest: float
    criterion: float
    end: PathEnd | None
    planned: float | None = None


@dataclass(frozen=True, slots=True)
class EdgeSelection:
    """How tests chose the edges.

    Attributes
    ----------
    n_listed : int
        Pairs on the short list: edges of the penalised fit at the noise level.
    n_tests, n_kept, n_required : int
        Pairs tested; edges that tests keep; edges that are there whatever their test says.
    fdr : float
        The false discovery rate.
    largest, noise : float
        The largest score of a pair, and what chance alone would reach.
    sampled : bool
        Whether the noise level comes from a sample of the pairs.
    n_contested : int
        Pairs whose tests with and without the edge disagreed.
    rivals : tuple of (name, name)
        Pairs left out though they pass their tests while absent: they fail as edges.
    n_moved : int or None
        Edges that come or go without 1 % of the rows; None if that was not tried.
    max_edges : int or None
        The largest number of edges, where there are that many.
    residual : float or None
        What the refit was solved to, where that is less than asked for.
    """

    n_listed: int
    n_tests: int
    n_kept: int
    n_required: int
    fdr: float
    largest: float
    noise: float
    sampled: bool = False
    n_contested: int = 0
    rivals: tuple[tuple[Any, Any], ...] = ()
    n_moved: int | None = None
    max_edges: int | None = None
    residual: float | None = None


@dataclass(frozen=True, slots=True)
class LambdaChoice:
    """How lambda came about, and with it the edges.

    Attributes
    ----------
    how : How
    lam : float
    stop : Stop or None
        Why a search was cut short, if it was.
    tests : EdgeSelection or None
        Where tests chose the edges, unless they were cut short.
    path : PathSearch or None
        Where a criterion judged lambdas, unless there was none to judge.
    """

    how: How
    lam: float
    stop: Stop | None = None
    tests: EdgeSelection | None = None
    path: PathSearch | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain values; names as text."""
        plain = asdict(self)
        if self.tests is not None:
            plain["tests"]["rivals"] = [[str(name) for name in pair] for pair in self.tests.rivals]
        return plain


def path_values(levels: Levels) -> list[float]:
    """Return the path, from just above the largest useful lambda to the noise level."""
    top = 1.02 * levels.largest
    if levels.largest <= 0.0:
        return [1.0]  # no pair depends at all: any lambda gives the empty network
    if levels.noise >= levels.largest or levels.noise <= 0.0:
        return [top]
    return [float(lam) for lam in np.geomspace(top, levels.noise, STEPS)]
