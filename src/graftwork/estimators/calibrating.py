"""What a learned network keeps of its rows' counts, and unaries that are calibrated to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from graftwork.data.encoded import EncodedRows
from graftwork.grafting.trace import Observer
from graftwork.inference.calibration import calibrate, is_quick
from graftwork.inference.junction import JunctionTree
from graftwork.inference.layout import Layout
from graftwork.inference.ragged import offsets
from graftwork.models import PairwiseMRF
from graftwork.models.observed import Fitted, Observed, pairs_to_keep, wanted_margins


def observed_in(sample: EncodedRows, layout: Layout) -> Observed:
    """Return the counts of a sample, over all declared states of a model.

    Of cells that are missing only observed ones count, and of pairs rows that have both.
    """
    margins = np.zeros(layout.n_unary)
    own = np.split(
        np.asarray(sample.counts.margins, dtype=np.float64), np.cumsum(sample.cards)[:-1]
    )
    for i, kept in enumerate(sample.kept):
        layout.unary(margins, i)[kept] = own[i]
    pairs = pairs_to_keep(layout)
    counted, starts = sample.counts.tables(pairs)
    sizes = offsets(layout.cards[pairs[:, 0]] * layout.cards[pairs[:, 1]])
    tables = np.zeros(sizes[-1])
    for place, (i, j) in enumerate(pairs.tolist()):
        table = tables[sizes[place] : sizes[place + 1]].reshape(layout.cards[i], layout.cards[j])
        small = counted[starts[place] : starts[place + 1]]
        cells = np.ix_(sample.kept[i], sample.kept[j])
        table[cells] = small.reshape(sample.cards[i], sample.cards[j])
    return Observed(margins, pairs, tables)


def with_rows(
    model: PairwiseMRF,
    observed: Observed,
    fitted: Fitted,
    *,
    halted: Callable[[], bool],
    observer: Observer,
    n_jobs: int | None = 1,
) -> PairwiseMRF:
    """Return a network with the counts of its rows, calibrated to them if it is to be."""
    layout = model.potentials.layout
    wanted = wanted_margins(layout, observed.margins)
    if fitted == "calibrated":
        if not is_quick(layout):
            observer.on_stage("calibrating single variables to the rows", 0, 1)
        found = calibrate(model.potentials, wanted, halted, n_jobs)
        if found is not None:
            error = observed.error(layout, found.margins)
            seen = replace(observed, fitted=fitted, margin_error=error, noise=found.noise)
            return model.with_weights(found.potentials, seen)
        fitted = "pseudolikelihood"
    distance = None
    if is_quick(layout):
        margins = JunctionTree().infer(model.potentials).values[: layout.n_unary]
        distance = observed.error(layout, margins)
    return model.with_weights(
        model.potentials, replace(observed, fitted=fitted, margin_error=distance)
    )
