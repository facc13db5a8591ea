"""What node-wise contenders share: one-hot columns and neighbours. NumPy only."""

from __future__ import annotations

import numpy as np


def one_hot(codes: np.ndarray, cards: np.ndarray, without: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 0/1 columns of all variables but one, and where each variable's columns start.

    Columns are contiguous in memory, as coordinate descent wants them.
    """
    kept = [j for j in range(len(cards)) if j != without]
    columns = np.empty((len(codes), int(cards[kept].sum())), order="F")
    starts = np.concatenate([[0], np.cumsum(cards[kept])])
    for j, start in zip(kept, starts, strict=False):
        for state in range(cards[j]):
            columns[:, start + state] = codes[:, j] == state
    return columns, starts


def directed(node: int, sizes: np.ndarray) -> list[list[int]]:
    """Return [node, neighbour] for every other variable whose weights are not all zero.

    ``sizes`` has one number for each variable but the node itself.
    """
    others = np.flatnonzero(sizes > 0)
    return [[int(node), int(j + (j >= node))] for j in others]


def scale_of(data: dict[str, np.ndarray]) -> float:
    """Return the number of variables over the number of nodes solved."""
    return data["codes"].shape[1] / len(data["nodes"])
