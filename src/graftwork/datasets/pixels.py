"""Black-and-white images as tables: a variable for each pixel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data import Table

Images = NDArray[np.uint8]


def pixel_table(images: NDArray[Any]) -> Table:
    """Return images as rows of a table.

    Parameters
    ----------
    images : array of 0 and 1, shape (n_images, height, width)
        At least one.

    Returns
    -------
    Table
        Variable ``"r3c5"`` is the pixel in row 3 and column 5, both from 0; states 0 and 1.

    Examples
    --------
    >>> table = pixel_table(np.eye(2, dtype=np.uint8)[None])
    >>> table.names, table[0]
    (('r0c0', 'r0c1', 'r1c0', 'r1c1'), (1, 0, 0, 1))
    """
    count, height, width = images.shape
    names = tuple(f"r{r}c{c}" for r in range(height) for c in range(width))
    return Table(names, ((0, 1),) * len(names), images.reshape(count, -1).T)


def coarser(images: Images, factor: int) -> Images:
    """Return images of blocks of pixels: 1 where at least half of a block is 1.

    Parameters
    ----------
    images : array of uint8, shape (n_images, height, width)
        Height and width are multiples of the factor.
    factor : int
        Pixels of a block's side.

    Returns
    -------
    array of uint8, shape (n_images, height / factor, width / factor)
        The blocks.

    Examples
    --------
    >>> coarser(np.array([[[1, 1, 0, 0], [0, 0, 0, 1]]], dtype=np.uint8), 2)
    array([[[1, 0]]], dtype=uint8)
    """
    count, height, width = images.shape
    blocks = images.reshape(count, height // factor, factor, width // factor, factor)
    ones = blocks.sum(axis=(2, 4), dtype=np.int64)
    out: Images = (2 * ones >= factor * factor).astype(np.uint8)
    return out


def centred(images: Images, height: int, width: int) -> Images:
    """Return images in the middle of larger ones of zeros.

    Examples
    --------
    >>> centred(np.ones((1, 1, 2), dtype=np.uint8), 3, 4)[0].tolist()
    [[0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    """
    top, left = (height - images.shape[1]) // 2, (width - images.shape[2]) // 2
    out = np.zeros((len(images), height, width), dtype=np.uint8)
    out[:, top : top + images.shape[1], left : left + images.shape[2]] = images
    return out
