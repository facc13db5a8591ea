"""How far the estimates of single edges vary with the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.inference.ragged import offsets
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.tuning.hessian import Parameters, Star
from graftwork.tuning.localise import Local
from graftwork.tuning.rows import RowBlock, Rows

# Rows looked at together.
STRIP = 512


@dataclass(frozen=True, slots=True, eq=False)
class _Arm:
    """A variable with the shares of some of its edges, one below the other.

    ``lines`` says where each edge's lines start among all influences of first variables, or of
    second ones.
    """

    star: Star
    shares: Floats
    lines: list[tuple[int, slice]]


def variations(
    rows: Rows, parameters: Parameters, locals_: list[Local], chosen: Ints
) -> list[Floats]:
    """Return the sums over rows of the squared slopes in some edges' parameters, all others
    following.

    Parameters
    ----------
    locals_ : list of Local
        All edges.
    chosen : (k,) int64
        Which of them are wanted.
    """
    sizes = np.array([len(locals_[e].precision) for e in chosen.tolist()], dtype=np.int64)
    lines = offsets(sizes)
    totals = [np.zeros((size, size)) for size in sizes.tolist()]
    arms = _arms(parameters, locals_, chosen, lines)
    if not arms:
        return totals
    places = rows.places
    costs = np.array([float(arm.shares.size) for arm in arms])

    for block in rows.blocks():
        for start in range(0, len(block.weights), STRIP):
            strip = block.strip(slice(start, start + STRIP))
            slopes = np.empty((2, int(lines[-1]), len(strip.weights)))

            def reach(part: slice, strip: RowBlock = strip, slopes: Floats = slopes) -> None:
                for arm in arms[part]:
                    found, first = arm.shares @ _scores(strip, arm.star, places), 0
                    for end, own in arm.lines:
                        last = first + own.stop - own.start
                        slopes[end, own] = found[first:last]
                        first = last

            def add(part: slice, strip: RowBlock = strip, slopes: Floats = slopes) -> None:
                for k in range(part.start, part.stop):
                    both = slopes[:, lines[k] : lines[k + 1]].sum(axis=0)
                    totals[k] += (both * strip.weights) @ both.T

            run_chunks(reach, cut_evenly(costs, rows.n_threads), rows.n_threads)
            run_chunks(add, cut_evenly(sizes.astype(np.float64), rows.n_threads), rows.n_threads)
    return totals


def _arms(parameters: Parameters, locals_: list[Local], chosen: Ints, lines: Ints) -> list[_Arm]:
    """Return the variables at these edges."""
    stars = parameters.stars()
    at: dict[int, list[tuple[int, int]]] = {}
    for k, e in enumerate(chosen.tolist()):
        for end, centre in enumerate(parameters.layout.edges[e].tolist()):
            at.setdefault(centre, []).append((k, end))
    arms = []
    for centre, edges in sorted(at.items()):
        star = stars[centre]
        rank = np.argsort(np.argsort(star.parameters, axis=None))
        shares = np.hstack([locals_[chosen[k]].shares[end] for k, end in edges])
        own = [(end, slice(int(lines[k]), int(lines[k + 1]))) for k, end in edges]
        arms.append(_Arm(star, np.ascontiguousarray(shares[rank].T), own))
    return arms


def _scores(block: RowBlock, star: Star, places: Ints) -> Floats:
    """Return each row's slope in each parameter at a variable, shape (parameters, rows)."""
    own = slice(places[star.centre], places[star.centre + 1])
    scores = np.empty((*star.parameters.shape, len(block.weights)))
    scores[:, 0] = block.residuals[own]
    np.multiply(block.residuals[own, None], block.indicators[star.lines][None], out=scores[:, 1:])
    scores[:, 1:] += block.indicators[own, None] * block.residuals[star.lines][None]
    return scores.reshape(-1, len(block.weights))
