"""MNIST: handwritten digits in small black-and-white images."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.datasets.checks import whole
from graftwork.datasets.folders import Bytes, Folder, arrays_in, check_range
from graftwork.datasets.parts import pixel_table
from graftwork.datasets.registry import Dataset
from graftwork.errors import DataError
from graftwork.inference.layout import Ints

_SIDE = 14
_BYTES = 25


@dataclass(frozen=True, slots=True, eq=False)
class Digits:
    """Images of handwritten digits as rows of tables.

    Attributes
    ----------
    train, test : Table
        Variable ``"r3c5"`` is the pixel in row 3 and column 5; states 0 and 1.
    train_digits, test_digits : array of int64, shape (n_rows,)
        The digit of each row.
    """

    train: Table
    test: Table
    train_digits: Ints
    test_digits: Ints

    def __repr__(self) -> str:
        kinds = ", ".join(map(str, np.union1d(self.train_digits, self.test_digits)))
        return (
            f"Digits: {self.train.n_rows} images to learn from, {self.test.n_rows} to test on; "
            f"{self.train.n_variables} pixels; of {kinds}"
        )


def load_mnist(
    folder: Folder = None,
    *,
    digits: int | Iterable[int] | None = None,
    n_train: int | None = None,
    n_test: int | None = None,
    size: int = _SIDE,
) -> Digits:
    """Return images of handwritten digits, 14 x 14 pixels, black and white.

    Parameters
    ----------
    folder : path-like, optional
        The folder that has ``mnist/``, or that folder itself; otherwise what the environment
        variable ``GRAFTWORK_DATA`` says. The file is ``mnist14x14_binary.npz``.
    digits : int or iterable of int, optional
        The digits wanted; all by default.
    n_train, n_test : int, optional
        How many of their images to take, the first of the file; all by default (60,000 and
        10,000).
    size : {14, 7, 2}
        Pixels of an image's side. Those of smaller images are blocks, 1 where half of a block's
        pixels are 1 at least.

    Returns
    -------
    Digits
        ``train``, ``test``, ``train_digits`` and ``test_digits``. Of the 196 pixels 34 are
        constant in ``train``.

    Notes
    -----
    Not part of the package. The licence of the data is commonly given as CC BY-SA 3.0. Changed in
    the file: 28 x 28 grey levels became 14 x 14 bits, 1 where the mean of four is at least 127.5.

    Examples
    --------
    >>> load_mnist()
    Digits: 60000 images to learn from, 10000 to test on; 196 pixels; of 0, 1, 2, 3, ..., 8, 9
    >>> load_mnist(digits=[3, 8], n_train=1000, n_test=500, size=7).train
    Table: 1000 rows x 49 variables, 2 states each
    """
    wanted = _wanted(digits)
    if whole("size", size, 2, _SIDE) not in (_SIDE, 7, 2):
        raise DataError(f"size is {size!r}; use 14, 7 or 2, which part 14 pixels evenly.")
    path = DATASET.file(folder, "mnist14x14_binary.npz")
    train, train_digits = _part(path, "train", wanted, n_train, size)
    test, test_digits = _part(path, "test", wanted, n_test, size)
    return Digits(train, test, train_digits, test_digits)


def _part(
    path: Path, part: str, wanted: list[int], most: int | None, size: int
) -> tuple[Table, Ints]:
    """Return the first images of the digits wanted, and which digit each is."""
    found = arrays_in(path, {f"X_{part}_packed": (None, _BYTES), f"y_{part}": (None,)})
    packed, digits = found[f"X_{part}_packed"], found[f"y_{part}"].astype(np.int64)
    check_range(path, f"X_{part}_packed", packed, 0, 255)
    check_range(path, f"y_{part}", digits, 0, 9)
    if len(packed) != len(digits):
        raise DataError(
            f"{path.name}: there are {len(packed)} images and {len(digits)} digits in {part!r}."
        )
    kept = np.flatnonzero(np.isin(digits, wanted))
    if not kept.size:
        raise DataError(f"{path.name}: no image in {part!r} shows one of {wanted}.")
    if most is not None:
        kept = kept[: whole(f"n_{part}", most, 1, kept.size)]
    bits = np.unpackbits(packed[kept].astype(np.uint8), axis=1, count=_SIDE * _SIDE)
    images = bits.reshape(-1, _SIDE, _SIDE)
    if size != _SIDE:
        images = coarser(images, _SIDE // size)
    return pixel_table(images), digits[kept]


def _wanted(digits: Any) -> list[int]:
    """Return the digits meant, in ascending order."""
    if digits is None:
        return list(range(10))
    if isinstance(digits, str) or not isinstance(digits, int | np.integer | Iterable):
        raise DataError(f"digits is {digits!r}; use a digit, a list of digits, or None.")
    listed = list(digits) if isinstance(digits, Iterable) else [digits]
    if not listed:
        raise DataError("digits is empty; use a digit, a list of digits, or None.")
    return sorted({whole("digits", digit, 0, 9) for digit in listed})


def coarser(images: Bytes, factor: int) -> Bytes:
    """Return images of blocks of pixels: 1 where at least half of a block is 1.

    Examples
    --------
    >>> coarser(np.array([[[1, 1, 0, 0], [0, 0, 0, 1]]], dtype=np.uint8), 2)
    array([[[1, 0]]], dtype=uint8)
    """
    count, height, width = images.shape
    blocks = images.reshape(count, height // factor, factor, width // factor, factor)
    ones = blocks.sum(axis=(2, 4), dtype=np.int64)
    out: Bytes = (2 * ones >= factor * factor).astype(np.uint8)
    return out


DATASET = Dataset(
    "mnist",
    load_mnist,
    form="An archive of X_train_packed and X_test_packed (images x 25 bytes: 14 x 14 bits, 1 "
    "where the mean of 2 x 2 grey levels is 127.5 or more), y_train and y_test (0 to 9).",
    source="http://yann.lecun.com/exdb/mnist",
    cite="LeCun, Bottou, Bengio and Haffner (1998), Gradient-based learning applied to document "
    "recognition, Proceedings of the IEEE 86(11), 2278-2324",
)
