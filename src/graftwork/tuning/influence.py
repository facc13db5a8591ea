"""How far the estimates of single edges vary with the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.spreads import fill_scores
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.tuning.hessian import Parameters, Star
from graftwork.tuning.localise import Local
from graftwork.tuning.rows import FittedRows, RowBlock

# FittedRows looked at together.
STRIP = 512


@dataclass(frozen=True, slots=True, eq=False)
class _Arm:
    """A variable with the shares of some of its edges, one below the other.

    ``lines`` are the places of their influences among those of all arms.
    """

    star: Star
    shares: Floats
    lines: slice


def variations(
    rows: FittedRows, parameters: Parameters, locals_: dict[int, Local], chosen: Ints
) -> list[Floats]:
    """Return the sums over rows of the squared slopes in some edges' parameters, all others
    following.

    Parameters
    ----------
    locals_ : dict of Local
        Edges.
    chosen : (k,) int64
        Which of them are wanted.
    """
    sizes = [len(locals_[e].precision) for e in chosen.tolist()]
    totals = [np.zeros((size, size)) for size in sizes]
    arms, starts = _arms(parameters, locals_, chosen)
    if not arms:
        return totals
    places = rows.places
    costs = np.array([float(arm.shares.size) for arm in arms])
    arm_cuts = cut_evenly(costs, rows.n_threads)
    edge_cuts = cut_evenly(np.array(sizes, dtype=np.float64), rows.n_threads)
    slopes = np.empty((arms[-1].lines.stop, STRIP))

    for block in rows.blocks():
        for start in range(0, len(block.weights), STRIP):
            weights = block.weights[start : start + STRIP]
            found = slopes[:, : len(weights)]

            def reach(part: slice, block: RowBlock = block, start: int = start,
                      found: Floats = found) -> None:  # fmt: skip
                for arm in arms[part]:
                    scores = np.empty((*arm.star.parameters.shape, found.shape[1]))
                    own = places[arm.star.centre : arm.star.centre + 2].tolist()
                    fill_scores(
                        *own, arm.star.lines, start, block.indicators, block.residuals, scores
                    )
                    np.matmul(arm.shares, scores.reshape(-1, found.shape[1]), out=found[arm.lines])

            def add(part: slice, weights: Floats = weights, found: Floats = found) -> None:
                for k in range(part.start, part.stop):
                    first, second = (found[s : s + sizes[k]] for s in starts[k])
                    both = first + second
                    totals[k] += (both * weights) @ both.T

            run_chunks(reach, arm_cuts, rows.n_threads)
            run_chunks(add, edge_cuts, rows.n_threads)
    return totals


def _arms(
    parameters: Parameters, locals_: dict[int, Local], chosen: Ints
) -> tuple[list[_Arm], list[list[int]]]:
    """Return the variables at these edges, and where the influences of each edge's two start."""
    starts = [[0, 0] for _ in chosen]
    at: dict[int, list[tuple[int, int]]] = {}
    for k, e in enumerate(chosen.tolist()):
        for end, centre in enumerate(parameters.layout.edges[e].tolist()):
            at.setdefault(centre, []).append((k, end))
    arms, first = [], 0
    for centre, edges in sorted(at.items()):
        star, last = parameters.stars[centre], first
        for k, end in edges:
            starts[k][end] = last
            last += len(locals_[int(chosen[k])].precision)
        rank = np.argsort(np.argsort(star.parameters, axis=None))
        shares = np.hstack([locals_[int(chosen[k])].shares[end] for k, end in edges])
        arms.append(_Arm(star, np.ascontiguousarray(shares[rank].T), slice(first, last)))
        first = last
    return arms, starts
