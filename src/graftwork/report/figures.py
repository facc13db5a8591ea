"""What all pictures share: colours, texts that are shown as they are, figures and files.

Figures belong to no window, and pyplot does not know of them. matplotlib, an extra, is imported
when a figure is made.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from graftwork.data.atomic import replacing
from graftwork.errors import DataError

#: Okabe and Ito's colours, told apart with any colour vision, the pale yellow last.
PALETTE = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b8a800",
)  # fmt: skip
#: Of text, of what steps back, and of what has no sign or group.
INK, PALE, GREY = "#222831", "#6b7280", "#9aa0a6"
#: What has a sign: above and below zero. In black and white they are told apart by dashes.
POSITIVE, NEGATIVE, UNSIGNED = "#2b6cb0", "#c0392b", "#5f6b7a"


def colour_of(k: int) -> str:
    """Return colour k.

    Examples
    --------
    >>> colour_of(0) == colour_of(8)
    True
    """
    return PALETTE[k % len(PALETTE)]


def printable(value: Any, most: int | None = None, end: float = 0.0) -> str:
    """Return a value as text on one line, cut if longer than ``most``.

    What is no character to print is a question mark. ``end`` is the share of a text cut that is
    from its end.

    Examples
    --------
    >>> printable("a\\tb\\x07"), printable("from 0123456789 to", 12, end=0.4)
    ('a b?', 'from 01…9 to')
    """
    text = "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in str(value))
    if most is not None and len(text) > most:
        last = int((most - 1) * end)
        text = f"{text[: most - 1 - last]}…{text[len(text) - last :]}"
    return text


def shown(value: Any, most: int | None = None) -> str:
    """Return a value as `printable` does, with dollar signs that matplotlib takes as they are."""
    return printable(value, most).replace("$", r"\$")


@contextmanager
def any_letters() -> Iterator[None]:
    """Let letters that a font lacks be boxes, without a warning for each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        yield


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure of a size in inches, which pyplot does not know of."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        from graftwork.report.pictures import Picture
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'graftwork[plot]'") from error
    figure = Picture(figsize=(width, height), dpi=130, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def new_axes(width: float, height: float, place: tuple[float, float, float, float]) -> Any:
    """Return axes at a place (left, bottom, width, height) of a new figure, as its shares."""
    figure = new_figure(width, height)
    from graftwork.report.pictures import PictureAxes

    return figure.add_axes(place, axes_class=PictureAxes)


def check_axes(ax: Any) -> None:
    """Refuse what is given as axes, and is none.

    Examples
    --------
    >>> check_axes("left")
    Traceback (most recent call last):
    graftwork.errors.DataError: ax must be axes of matplotlib, or None for new ones, not 'left'.
    """
    if not (hasattr(ax, "imshow") and hasattr(ax, "figure")):
        raise DataError(f"ax must be axes of matplotlib, or None for new ones, not {ax!r}.")


def finish(drawn: Any, path: str | PathLike[str] | None, *, tight: bool = True) -> Any:
    """Return a figure, or axes, and write it if a path is given; the file appears whole or not."""
    from graftwork.report.pictures import rendered

    figure = getattr(drawn, "figure", None) or drawn
    if path is None:
        return drawn
    target = Path(path)
    kind = target.suffix.lstrip(".").lower() or "png"
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise DataError(f"cannot draw a {target.suffix!r} file; use one of {', '.join(known)}.")
    image = rendered(figure, kind, tight=tight)
    with replacing(target) as file:
        file.write(image)
    return drawn
