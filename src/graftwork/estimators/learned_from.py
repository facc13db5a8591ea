"""What is kept of the rows a network was learned from: enough for a summary of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graftwork.data.missing import MISSING_STATE
from graftwork.data.oddities import column_remarks, order_remarks, weight_remarks
from graftwork.data.placed import AnyTable
from graftwork.estimators.missing import MissingCells
from graftwork.inference.layout import Floats


@dataclass(frozen=True, slots=True, eq=False)
class LearnedFrom:
    """The rows a network was learned from, without the rows."""

    names: tuple[Any, ...]  # the variables
    # their states; missing is one of them only if it was learned as one
    states: tuple[tuple[Any, ...], ...]
    counts: tuple[Floats, ...]  # weight of the rows in each state
    n_rows: int
    weighted: bool
    total_weight: float
    # how many rows of equal weight say as much: fewer than there are where the rows have sampling
    # weights, the total weight where these are counts
    effective_rows: float
    remarks: tuple[str, ...] = ()  # sentences about columns and weights that should be looked at

    @staticmethod
    def of(
        table: AnyTable, missing: MissingCells | None = None, *, order: bool = False
    ) -> LearnedFrom:
        """Return what is kept of a table, and of what was missing in it.

        With ``order`` there is a remark on columns that look ordered and are not taken so.
        """
        states, counts, n_rows = table.states, table.observed(), table.n_rows
        if missing is not None and missing.policy in ("available-case", "impute"):
            n_rows = missing.of_rows  # rows that count for many are drawn for in copies
            states = tuple(
                tuple(state for state in each if state != MISSING_STATE) for each in states
            )
            counts = [each[: len(listed)] for each, listed in zip(counts, states, strict=True)]
        return LearnedFrom(
            table.names,
            states,
            tuple(counts),
            n_rows,
            table.weighted,
            table.total_weight,
            table.effective_rows,
            (
                *table.notes,
                *weight_remarks(table),
                *column_remarks(table),
                *(order_remarks(table) if order else ()),
            ),
        )

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def design_effect(self) -> float:
        """Rows over effective rows (Kish) where the rows have sampling weights; 1 for counts."""
        sampled = self.effective_rows != self.total_weight
        return self.n_rows / self.effective_rows if sampled else 1.0

    def unseen(self) -> dict[Any, list[Any]]:
        """Return the states that no row has, for the variables that have such states."""
        parts = zip(self.names, self.states, self.counts, strict=True)
        found = {
            name: [state for state, count in zip(listed, counts, strict=True) if count == 0]
            for name, listed, counts in parts
        }
        return {name: states for name, states in found.items() if states}
