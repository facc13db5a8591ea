"""All weights of a network's edges fitted by the likelihood, from the counts that it keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from graftwork.errors import DataError, TooLargeError
from graftwork.inference.elimination import eliminate
from graftwork.inference.junction import JunctionTree
from graftwork.inference.layout import Floats, Layout, Potentials
from graftwork.inference.pairs import find_edges, pair_offsets
from graftwork.models.observed import Observed, wanted_margins
from graftwork.parameters import number

if TYPE_CHECKING:
    from graftwork.models.pairwise import PairwiseMRF

#: Cells of a junction tree that hundreds of evaluations are affordable of.
MOST_CELLS = 2**23
MOST_EVALUATIONS, TOLERANCE = 2000, 1e-6
#: A table is linear if less than this share of it is not.
STRAIGHT = 1e-6


def refitted(model: PairwiseMRF, l2: float | None) -> PairwiseMRF:
    """Return the network of the same edges with all weights fitted by the likelihood.

    Tables of ordered variables that are linear stay so. ``l2`` is a ridge on every entry of a
    table; None is that of a standard normal prior, half an observation's worth.
    """
    rows, layout = model.observed, model.potentials.layout
    if rows is None:
        raise DataError("a refit needs the counts of rows, which only learned networks keep.")
    ridge = None if l2 is None else number("l2", l2, 0.0)
    cells = eliminate(layout).cost.total_cells
    if cells > MOST_CELLS:
        raise TooLargeError(
            f"a refit by the likelihood needs a junction tree of {cells:,} cells hundreds of "
            f"times, and {MOST_CELLS:,} are affordable. The network as it is, with calibrated "
            "unaries, has the rows' margins."
        )
    data = _data(rows, layout)
    ridge = 0.5 / _total(rows, layout) if ridge is None else ridge
    spaces = [_Space.of(model, rows, e) for e in range(layout.n_edges)]
    start = _projected(spaces, layout, np.array(model.potentials.weights), 1.0)
    weights = _minimised(layout, data, spaces, ridge, start)
    potentials = Potentials(layout, weights)
    margins = JunctionTree().infer(potentials).values[: layout.n_unary]
    error = rows.error(layout, margins)
    seen = replace(rows, fitted="likelihood", margin_error=error, noise=0.0)
    return model.with_weights(potentials, seen)


@dataclass(frozen=True, slots=True, eq=False)
class _Space:
    """Where the table of an edge may lie, as projections of both its sides; and its ridge."""

    first: Floats
    second: Floats
    share: float

    @staticmethod
    def of(model: PairwiseMRF, rows: Observed, edge: int) -> _Space:
        """Return the space of linear tables for a table that is linear, else of all."""
        layout = model.potentials.layout
        pair = layout.edges[edge].tolist()
        table = layout.table(model.potentials.weights, edge)
        seen = [layout.unary(rows.margins, i) > 0.0 for i in pair]
        whole = [_centring(each) for each in seen]
        own = whole[0] @ table @ whole[1]
        names = [model.names[i] for i in pair]
        scored = [
            _along(np.array(model.scores[name]), each) if name in model.scores else centred
            for name, each, centred in zip(names, seen, whole, strict=True)
        ]
        straight = scored[0] @ own @ scored[1]
        if np.abs(own - straight).max() > STRAIGHT * max(np.abs(own).max(), 1e-12):
            return _Space(whole[0], whole[1], 1.0)
        curves = any(name in model.scores and len(model.states[name]) > 2 for name in names)
        # All entries of a linear table come from few numbers, so it counts by its mean square.
        return _Space(scored[0], scored[1], 1.0 / table.size if curves else 1.0)


def _centring(seen: NDArray[np.bool_]) -> Floats:
    """Return what takes the mean of the states that occur away, and leaves the others at 0."""
    one = seen.astype(np.float64)
    return np.asarray(np.diag(one) - np.outer(one, one) / max(1.0, one.sum()))


def _along(scores: Floats, seen: NDArray[np.bool_]) -> Floats:
    """Return what leaves of a side what is along its scores."""
    centred = _centring(seen) @ np.where(seen, np.nan_to_num(scores), 0.0)
    return np.outer(centred, centred) / max(float(centred @ centred), 1e-300)


def _projected(spaces: list[_Space], layout: Layout, vector: Floats, of_unaries: float) -> Floats:
    """Return a vector with every table in its space."""
    out = vector.copy()
    out[: layout.n_unary] *= of_unaries
    for e, space in enumerate(spaces):
        layout.table(out, e)[:] = space.first @ layout.table(vector, e) @ space.second
    return out


def _minimised(
    layout: Layout, data: Floats, spaces: list[_Space], ridge: float, start: Floats
) -> Floats:
    """Return the weights of least loss."""
    engine = JunctionTree()
    shares = [ridge * space.share for space in spaces]
    ridges = np.concatenate([np.zeros(layout.n_unary), np.repeat(shares, layout.edge_sizes)])

    def loss(weights: Floats) -> tuple[float, Floats]:
        beliefs = engine.infer(Potentials(layout, weights))
        value = beliefs.log_partition - float(weights @ data) + float(ridges @ weights**2)
        slope = beliefs.values - data + 2.0 * ridges * weights
        return value, _projected(spaces, layout, slope, 1.0)

    found = minimize(
        loss, start, jac=True, method="L-BFGS-B",
        options={"maxfun": MOST_EVALUATIONS, "maxiter": MOST_EVALUATIONS, "ftol": 0.0,
                 "gtol": TOLERANCE, "maxcor": 30},
    )  # fmt: skip
    return np.asarray(found.x, dtype=np.float64)


def _data(rows: Observed, layout: Layout) -> Floats:
    """Return the probabilities that single states and the edges' tables should have."""
    places = find_edges(Layout.of(layout.cards, rows.pairs), layout.edges)
    if (places < 0).any():
        raise DataError(
            "the network has so many states that the tables of its edges were not kept; learn with "
            "loss='likelihood' and these edges required."
        )
    starts = pair_offsets(layout, rows.pairs)
    tables = [rows.tables[starts[k] : starts[k + 1]] for k in places.tolist()]
    shares = [table / max(float(table.sum()), 1e-300) for table in tables]
    return np.concatenate([wanted_margins(layout, rows.margins), *shares])


def _total(rows: Observed, layout: Layout) -> float:
    """Return the weight of the rows, as many as the best observed variable has."""
    return float(np.add.reduceat(rows.margins, layout.unary_offsets[:-1]).max())
