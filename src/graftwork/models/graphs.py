"""Graphs of networkx, which is imported when one is made: a tenth of a second."""

from __future__ import annotations

import sys
from typing import Any


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
