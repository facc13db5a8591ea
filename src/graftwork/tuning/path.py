"""The lambda path: its values, what is kept of each, and words about the choice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Layout
from graftwork.tuning.levels import Levels

STEPS = 7


@dataclass(frozen=True, slots=True)
class PathPoint:
    """One lambda of the path.

    ``loss`` and ``objective`` are of the penalised fit. ``refit_loss`` is the refitted one's and
    ``criterion`` what was minimised: twice the refitted log-loss of all rows plus the prices of the
    edges (NaN where the search did not get to).
    """

    lam: float
    n_edges: int
    loss: float
    objective: float
    refit_loss: float = float("nan")
    criterion: float = float("nan")
    chosen: bool = False


def path_values(levels: Levels) -> list[float]:
    """Return the path, from just above the largest useful lambda to the noise level."""
    top = 1.02 * levels.largest
    if levels.largest <= 0.0:
        return [1.0]  # no pair depends at all: any lambda gives the empty network
    if levels.noise >= levels.largest or levels.noise <= 0.0:
        return [top]
    return [float(lam) for lam in np.geomspace(top, levels.noise, STEPS)]


def words_of_revision(certified: Layout, final: Layout) -> str:
    """Return how the final edges differ from those of the penalised network, for people."""
    before = set(map(tuple, certified.edges.tolist()))
    after = set(map(tuple, final.edges.tolist()))
    parts = []
    if before - after:
        parts.append(
            f"{len(before - after)} of its edges do not repay their price and were dropped"
        )
    if after - before:
        parts.append(f"{len(after - before)} pairs that repay theirs were added")
    return f" In the refit {', and '.join(parts)}." if parts else ""


def words_of_choice(path: tuple[PathPoint, ...], best: int, levels: Levels, planned: int) -> str:
    """Return how lambda was chosen, for people."""
    chosen = path[best]
    if levels.largest <= levels.noise:
        return (
            f"No pair depends more than chance would allow (strongest score {levels.largest:.3g}, "
            f"noise level {levels.noise:.3g}), so "
            + ("no edge is added." if chosen.n_edges else "the network is left empty.")
        )
    text = (
        f"lambda {chosen.lam:.4g} was chosen among {len(path)} values from {path[0].lam:.4g} "
        f"(no edge) to {path[-1].lam:.4g}"
        + (" (the noise level of shuffled columns)" if len(path) == planned else "")
        + (
            ": its edges, refitted without the penalty, best repay what they cost."
            if chosen.n_edges
            else ": no edge repays what it costs."
        )
    )
    if best == planned - 1 and planned > 1 and chosen.n_edges:
        text += (
            " It is the smallest value tried: weaker dependences may hide below the noise level."
        )
    if levels.sampled:
        text += " The range was estimated from a random sample of all pairs."
    return text
