"""Rows with missing cells, as the learner takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graftwork.data import Table


def as_learned(policy: str, table: Table) -> Table:
    """Return the rows that are learned from: without those that are left out for missing cells."""
    from graftwork.data.missing import complete_rows

    return complete_rows(table) if policy == "drop-rows" else table
