"""The lambda path: its values, what is kept of each, and words about the choice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.tuning.levels import Levels

STEPS = 5


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


def path_values(levels: Levels) -> list[float]:
    """Return the path, from just above the largest useful lambda to the noise level."""
    top = 1.02 * levels.largest
    if levels.largest <= 0.0:
        return [1.0]  # no pair depends at all: any lambda gives the empty network
    if levels.noise >= levels.largest or levels.noise <= 0.0:
        return [top]
    return [float(lam) for lam in np.geomspace(top, levels.noise, STEPS)]
