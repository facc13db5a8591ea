"""Which sums over rows a device has implementations of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graftwork.data import encoded_parts, placed
from graftwork.data.parts import RowPart
from graftwork.data.table import Table
from graftwork.device import conditionals, counting, moments, slopes
from graftwork.device.rows import DeviceRows, can_hold
from graftwork.objectives import conditionals as at_points
from graftwork.objectives import configurations, hessian, pair_sums, pseudo, some_rows
from graftwork.objectives import fitted_rows as fitted
from graftwork.significance import profiles, variances

#: Of rows on the device, the potentials, the variables looked at, and the operation's arguments.
OF_CONDITIONALS: dict[Any, Callable[..., Any]] = {
    pair_sums._sum_one_by_one: conditionals.sum_one_by_one,
    pair_sums._multiply: conditionals.multiply,
    pseudo._sums_of: conditionals.sums_of,
    pseudo._edge_sums: conditionals.edge_sums,
    pseudo._distances_in_part: conditionals.distances,
}
#: The same, with contrasts and frequencies before the arguments.
OF_FITTED_ROWS: dict[Any, Callable[..., Any]] = {
    variances._sums: moments.pair_sums,
    variances._totals: moments.totals,
    hessian._blocks: moments.blocks,
    profiles._variations: slopes.variations,
}
#: Of rows on the device, numbers of states, and the operation's arguments.
OF_CODES: dict[Any, Callable[..., Any]] = {
    encoded_parts.count_pairs: counting.count_pairs,
    configurations._count_part: counting.count_configurations,
}
#: Bound to their arguments: what is left to do with rows on the device.
Job = Callable[[DeviceRows], Any]


def job_of(value: Any, function: Any, arguments: tuple[Any, ...]) -> Job | None:
    """Return how a device does an operation on part of the rows; None where it does not."""
    if isinstance(value, Table):
        small = value.codes.dtype.itemsize == 1 and int(value.cards.max(initial=0)) <= 256
        if function is placed._counts and small and value.n_rows:
            return lambda rows: counting.count_states(rows, value)
        return None
    if not isinstance(value, RowPart) or not can_hold(value.sample) or not value.sample.n_rows:
        return None
    sample = value.sample
    if function is some_rows._take_part:
        return lambda rows: counting.take_part(rows, sample, *arguments)
    found = OF_CODES.get(function)
    if found is not None:
        own = found
        return lambda rows: own(rows, sample.cards, *arguments)
    if function is not at_points._in_part:
        return None
    operation, potentials, variables, *more = arguments
    if operation is fitted._in_part:
        operation, contrasts, *more = more
        found, more = OF_FITTED_ROWS.get(operation), [contrasts, sample.frequencies, *more]
    else:
        found = OF_CONDITIONALS.get(operation)
    if found is None:
        return None
    own = found
    return lambda rows: own(rows, potentials, variables, *more)
