"""Records as a table: a DataFrame where pandas is installed, else a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def as_frame(records: list[dict[str, Any]], columns: Sequence[str], numbers: Sequence[str]) -> Any:
    """Return records as a DataFrame where pandas is installed, else as they are.

    Names and states stay the values they are; only the columns named in ``numbers`` become floats.
    """
    try:
        import pandas as pd
    except ImportError:
        return records
    frame = pd.DataFrame(records, columns=list(columns), dtype=object)
    return frame.astype(dict.fromkeys(numbers, float))
