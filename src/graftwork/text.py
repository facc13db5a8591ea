"""What all texts share: counts with their nouns, lists, rounding, paragraphs, tables."""

from __future__ import annotations

import io
import json
import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

WIDTH = 88
NAMES_SHOWN = 12

#: A record's key, the column's title, and how a value is written.
Column = tuple[str, str, Callable[[Any], str]]


def percent(share: float) -> str:
    """Return a share as whole per cent; what is not all or nothing is not said to be.

    Examples
    --------
    >>> percent(0.5), percent(0.995), percent(1.0), percent(0.001), percent(0.0)
    ('50%', '>99%', '100%', '<1%', '0%')
    """
    text = f"{share:.0%}"
    if text == "100%" and share < 1:
        return ">99%"
    return "<1%" if text == "0%" and share > 0 else text


#: What terminals obey or cannot show: control characters but tab and line end, marks that turn
#: the direction of text, separators, characters without width (but joiners, which letters need),
#: halves of characters.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
#: No word of a text is longer, and no name in a list.
_LONGEST_WORD = 120
_LONG_WORD = re.compile(rf"\S{{{_LONGEST_WORD + 1},}}")
#: The longest value in the message of an error, and the longest message.
_LONGEST_VALUE, _LONGEST_MESSAGE = 300, 2000
_LONG_VALUE = re.compile(rf"\S{{{_LONGEST_VALUE + 1},}}")
#: Cells that a spreadsheet calculates, or that `guarded` has marked.
_FORMULA = re.compile(r"'*[=+\-@\t\r].", re.DOTALL)


def harmless(text: str) -> str:
    r"""Return a text that changes nothing where it is printed: no escape sequence, no turn of text.

    Line ends and tabs stay; other characters that a terminal obeys are written as JSON writes
    them, so that JSON means the same as before.
    """
    return _OBEYED.sub(lambda found: json.dumps(found[0])[1:-1], text)


def on_a_line(value: Any) -> str:
    r"""Return a value as harmless text on one line, long words cut.

    Examples
    --------
    >>> print(on_a_line("two\nlines"))
    two\nlines
    """
    text = harmless(str(value)).replace("\n", "\\n").replace("\t", "\\t")
    return _LONG_WORD.sub(lambda found: cut(found[0], _LONGEST_WORD), text)


def cut(text: str, most: int) -> str:
    """Return a text of at most so many characters; what is longer ends in three dots."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def readable(message: str) -> str:
    """Return the message of an error as harmless text that can be read: what is long is cut.

    Whatever a user typed or a file holds may stand in it.
    """
    shown = _LONG_VALUE.sub(lambda found: _middle_cut(found[0], _LONGEST_VALUE), harmless(message))
    return _middle_cut(shown, _LONGEST_MESSAGE)


def _middle_cut(text: str, most: int) -> str:
    """Return a text of at most so many characters, without its middle if it is longer."""
    head = most * 2 // 3
    return text if len(text) <= most else f"{text[:head]}…{text[len(text) - (most - head - 1) :]}"


def guarded(cell: Any) -> Any:
    """Return a cell for a CSV file, text that a spreadsheet would calculate after an apostrophe.

    Numbers, and a sign by itself, are no formulas. `unguarded` takes the apostrophe off again.
    """
    return f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell


def unguarded(cell: str) -> str:
    """Return the text that `guarded` wrote."""
    return cell[1:] if cell.startswith("'") and _is_formula(cell[1:]) else cell


def _is_formula(cell: str) -> bool:
    if _FORMULA.match(cell) is None:
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def count(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is one."""
    return f"{n:,} {noun}{'s'[: n != 1]}"


def verb(n: int, one: str = "is", several: str = "are") -> str:
    """Return the verb that goes with a number of things.

    Examples
    --------
    >>> verb(1), verb(0), verb(2, "has", "have")
    ('is', 'are', 'have')
    """
    return one if n == 1 else several


def shown_of(shown: int, total: int) -> str:
    """Return how many of a table's lines are shown, where some are not.

    Examples
    --------
    >>> shown_of(20, 136), shown_of(3, 3)
    ('; 20 of 136', '')
    """
    return f"; {shown:,} of {total:,}" if shown < total else ""


def names(items: Sequence[Any], most: int = NAMES_SHOWN) -> str:
    """Return names separated by commas: the first few, and how many more."""
    text = ", ".join(on_a_line(item) for item in items[:most])
    more = len(items) - most
    return text + (f" and {more:,} more" if more > 0 else "")


def sentence(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def probability(value: float) -> str:
    """Return a probability with two digits."""
    return f"{value:.2g}" if value > 1e-300 else "below 1e-300"


def two_digits(value: float) -> int:
    """Return a number rounded to two digits.

    Examples
    --------
    >>> two_digits(1234.5), two_digits(7.2)
    (1200, 7)
    """
    digits = max(0, len(str(int(value))) - 2)
    return int(round(int(value) / 10**digits) * 10**digits)


def decimals(digits: int) -> Callable[[Any], str]:
    """Return a writer of numbers with this many decimals; a dash stands for NaN.

    Examples
    --------
    >>> decimals(2)(1234.567), decimals(2)(float("nan"))
    ('1,234.57', '-')
    """
    return lambda value: f"{value:,.{digits}f}" if value == value else "-"


def whole(value: Any) -> str:
    """Return a whole number as text; a dash stands for None."""
    return "-" if value is None else f"{value:,}"


def section(title: str, text: str) -> str:
    """Return a paragraph below its heading."""
    return f"{title}\n{wrap(text)}"


def wrap(text: str, hang: int = 2) -> str:
    """Return a text in lines of at most 88 characters, the first indented by 2, others by hang.

    Examples
    --------
    >>> wrap("a = b")
    '  a = b'
    """
    # "name = state" stays on one line: no-break spaces, until the lines are made.
    shown = _LONG_WORD.sub(lambda found: cut(found[0], _LONGEST_WORD), harmless(text))
    wrapped = textwrap.fill(
        shown.replace(" = ", "\u00a0=\u00a0"),
        WIDTH,
        initial_indent="  ",
        subsequent_indent=" " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapped.replace("\u00a0", " ")


def aligned(records: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> str:
    """Return records as lines of a table: the first column to the left, others to the right.

    Columns that the records do not have are left out.
    """
    return table(*cells(records, columns))


def cells(
    records: Sequence[Mapping[str, Any]], columns: Sequence[Column]
) -> tuple[list[list[str]], list[str], str]:
    """Return the cells of records, the titles of their columns, and to which side each is aligned.

    Columns that the records do not have are left out.
    """
    shown = [column for column in columns if column[0] in records[0]]
    rows = [[text(record[key]) for key, _, text in shown] for record in records]
    return rows, [title for _, title, _ in shown], "l" + "r" * (len(shown) - 1)


def table(rows: Sequence[Sequence[str]], titles: Sequence[str] = (), sides: str = "") -> str:
    """Return cells as lines of a table, indented by two."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="", show_header=bool(titles)
    )
    width = len(titles) or max(map(len, rows), default=0)
    for k in range(width):
        title = Text(on_a_line(titles[k]) if titles else "")
        grid.add_column(title, justify="right" if sides[k : k + 1] == "r" else "left", no_wrap=True)
    for row in rows:
        grid.add_row(*(Text(on_a_line(cell)) for cell in row))
    page = io.StringIO()
    Console(file=page, width=100_000, color_system=None, legacy_windows=False).print(grid)
    return "\n".join(f"  {line}".rstrip() for line in page.getvalue().splitlines())


def size(held: int) -> str:
    """Return a number of bytes in words."""
    if held < 1000:
        return f"{held} bytes"
    if held >= 10**18:
        return f"10^{round(math.log10(held))} bytes"
    power = min(5, (len(str(held)) - 1) // 3)
    value = held / 1000**power
    return f"{value:.{0 if value >= 9.95 else 1}f} {['', 'kB', 'MB', 'GB', 'TB', 'PB'][power]}"
