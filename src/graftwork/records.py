"""Records as tables; outside of the rooms, since results of many are tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graftwork.notebooks import repr_html

Record = dict[str, Any]


class Records(list[Record]):
    """Records as a list, which notebooks show as a table."""

    _repr_html_ = repr_html


def as_frame(records: list[Record], columns: Sequence[str], numbers: Sequence[str]) -> Any:
    """Return records as a DataFrame where pandas is installed, else as a list.

    Names and states stay the values they are; only the columns named in ``numbers`` become floats.
    """
    try:
        import pandas as pd
    except ImportError:
        return Records(records)
    frame = pd.DataFrame(records, columns=list(columns), dtype=object)
    return frame.astype(dict.fromkeys(numbers, float))
