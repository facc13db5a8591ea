"""Rows held out, and how well a network learned without them predicts them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from graftwork.cli.failures import as_options
from graftwork.cli.interrupts import Stoppable
from graftwork.cli.learner import as_learned
from graftwork.cli.progress import Progress
from graftwork.errors import ConvergenceWarning, DataWarning, GraftworkError

if TYPE_CHECKING:
    from graftwork.data import Table
    from graftwork.data.placed import AnyTable, PlacedTable
    from graftwork.report import HeldOut

    Parts = tuple[Table, Table | None, str]
    AnyParts = tuple[AnyTable, Table | None, str]
    Measured = tuple[HeldOut | None, str]

#: With fewer rows held out than this, the comparison would say nothing.
_LEAST_HELD_OUT = 5
#: Of rows in parts at most so many are held out: these are in memory.
MOST_ROWS = 100_000

NO_PARTS = (
    "No rows were held out: of rows that are read in parts, that is done when asked for "
    "(--holdout 0.1)."
)
INTERRUPTED = "How well it predicts new rows was not measured: that was interrupted."


def hold_out(table: Table, share: float, seed: int) -> Parts:
    """Return the rows to learn from, those held out or None, and why there are none.

    A row whose weight is a whole number is so many rows, which may fall into both parts.
    """
    from graftwork.report.scores import count_rows

    if share == 0:
        return table, None, "No rows were held out."
    whole = count_rows(table.weights, table.n_rows)
    rows = round(share * whole)
    if rows < _LEAST_HELD_OUT or whole - rows < _LEAST_HELD_OUT:
        return table, None, f"No rows were held out: {whole:,} are too few to spare some."
    if table.weights is None:
        test, train = table.split(share, seed)
        return train, test, ""
    return *_split_weights(table, rows, seed), ""


def hold_out_parts(table: PlacedTable, share: float, seed: int) -> AnyParts:
    """Return the same of rows in parts: the rest stays in parts, those held out are in memory."""
    if share == 0:
        return table, None, "No rows were held out."
    share = min(share, MOST_ROWS / table.n_rows)
    test = table.sample_rows(share, seed) if share * table.n_rows >= _LEAST_HELD_OUT else None
    if test is None or not _LEAST_HELD_OUT <= test.n_rows <= table.n_rows - _LEAST_HELD_OUT:
        return table, None, f"No rows were held out: {table.n_rows:,} are too few to spare some."
    return table.without_sample(share, seed), test, ""


def _split_weights(table: Table, rows: int, seed: int) -> tuple[Table, Table]:
    """Return the rest of a weighted table, and so many rows of it."""
    import numpy as np

    from graftwork.selection.folds import draw

    assert table.weights is not None
    drawn = draw(table.weights, rows, np.random.default_rng(seed))
    rest, held = (
        table.with_weights(part).take_rows(part > 0) for part in (table.weights - drawn, drawn)
    )
    return rest, held


def measure(
    table: AnyTable, share: float, settings: dict[str, Any], progress: Progress, watched: Stoppable
) -> Measured:
    """Return how well such a network predicts rows it was not learned from, or why nobody knows.

    A network is learned once more, from the rows that are not held out, with the same settings
    and limits. An error becomes a sentence; an interrupt raises KeyboardInterrupt.
    """
    from graftwork.data import Table

    try:
        divide: Any = hold_out if isinstance(table, Table) else hold_out_parts
        train, test, why_not = divide(table, share, int(settings["random_state"]))
        if test is None:
            return None, why_not
        return _measure(train, test, settings, progress, watched), ""
    except GraftworkError as error:
        return (
            None,
            f"How well it predicts new rows could not be measured: {as_options(str(error))}",
        )


def _measure(
    train: AnyTable,
    test: Table,
    settings: dict[str, Any],
    progress: Progress,
    watched: Stoppable,
) -> HeldOut:
    from graftwork.data import Table
    from graftwork.estimators.fit import fit
    from graftwork.estimators.spec import FitSpec
    from graftwork.report import held_out
    from graftwork.report.scores import count_rows

    policy = settings.get("missing", "error")
    train, test = as_learned(policy, train), as_learned(policy, test)
    rows = count_rows(train.weights, train.n_rows) if isinstance(train, Table) else train.n_rows
    others = count_rows(test.weights, test.n_rows)
    progress.note(f"measuring: learning once more from {rows:,} rows, to predict {others:,} others")
    spec = FitSpec.of(settings | {"verbose": watched})
    with warnings.catch_warnings():
        # the first network has warned of the same
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = fit(spec, train)
    if found.interrupted:
        raise KeyboardInterrupt
    learned = train if isinstance(train, Table) else found.data
    return held_out(found.model, learned, test, apart=True)
