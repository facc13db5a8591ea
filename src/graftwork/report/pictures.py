"""Figures that notebooks show by themselves. Importing this needs matplotlib, an extra."""

from __future__ import annotations

import io
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from graftwork.report.figures import any_letters

#: Equal pictures are equal files, and texts in PDF files are fonts that journals take.
_WRITING = {"svg.hashsalt": "graftwork", "pdf.fonttype": 42}


class Picture(Figure):
    """A figure that a notebook shows as the value of a cell, though pyplot does not know of it.

    Examples
    --------
    >>> Picture()._repr_png_()[1:4]
    b'PNG'
    """

    def _repr_png_(self) -> bytes:
        """Return the picture for a notebook."""
        return rendered(self, "png", tight=True)


class PictureAxes(Axes):
    """Axes that a notebook shows as their figure."""

    def _repr_png_(self) -> bytes:
        """Return the picture for a notebook."""
        return rendered(self.figure, "png", tight=True)


def rendered(figure: Any, kind: str, *, tight: bool) -> bytes:
    """Return a figure as the bytes of a file: png, pdf, svg or another kind matplotlib writes.

    The file's title is that of the first axes that have one.

    Examples
    --------
    >>> rendered(Picture(), "pdf", tight=False)[:4]
    b'%PDF'
    """
    buffer = io.BytesIO()
    # Without dates and versions inside, equal networks give equal files.
    bare = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}
    metadata = {bare[kind]: None} if kind in bare else None
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    if metadata is not None and titles:
        metadata["Title"] = titles[0].replace(r"\$", "$")
    extra = {"bbox_inches": "tight", "pad_inches": 0.15} if tight else {}
    with any_letters(), matplotlib.rc_context(_WRITING):
        figure.savefig(buffer, format=kind, metadata=metadata, **extra)
    return buffer.getvalue()
