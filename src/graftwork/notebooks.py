"""What notebooks show of our values; outside of the rooms, since values of many have it."""

from __future__ import annotations

from typing import Any


def repr_html(value: Any) -> str:
    """Return a value as notebooks show it: ``_repr_html_`` of estimators, models and results.

    Examples
    --------
    >>> import graftwork as gw
    >>> "1 edge among 2 variables" in repr_html(
    ...     gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [0, 1]]})
    ... )
    True
    """
    from graftwork.report.html import to_html

    return to_html(value)
