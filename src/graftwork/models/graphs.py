"""Graphs of networkx, which is imported when one is made: a tenth of a second."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any


def states_text(states: Iterable[Any]) -> str:
    """Return states as one text, a list in JSON, which every graph format can hold.

    What JSON does not know (dates, bytes) is written as text.

    Examples
    --------
    >>> states_text(["no", 2, None])
    '["no", 2, null]'
    """
    return json.dumps(list(states), default=str, ensure_ascii=False)


def is_graph(value: Any) -> bool:
    """Whether a value is a networkx graph; nobody has one who has not imported networkx.

    Examples
    --------
    >>> is_graph([("a", "b")])
    False
    >>> import networkx
    >>> is_graph(networkx.Graph())
    True
    """
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(value, networkx.Graph)
