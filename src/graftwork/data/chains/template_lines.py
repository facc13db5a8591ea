r"""Lines of feature templates: what they look at, in either of two languages.

The readable one names columns, ``word[-1] lower(word[0])``; that of CRF++ numbers them,
``U05:%x[-1,0]/%x[0,0]``. Both become the same `Line`, named as the readable language writes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from math import prod

from graftwork.data.values import listing, suggestion
from graftwork.errors import DataError

#: How far a template may look.
REACH = 99
_MOST_LINES = 10_000
_LONGEST = 9
_COLUMN = re.compile(r"[^\W\d]\w*")
_LOOK = re.compile(
    r"(?:(?P<function>\w+)\(\s*)?"
    r"(?P<column>\w+)\s*\[\s*(?P<low>[+-]?\d+)(?:\s*\.\.\s*(?P<high>[+-]?\d+))?\s*\]"
    r"(?(function)\s*\))(?:\s*\|\s*|\s+|$)"
)
_MACRO = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]")


def shape(word: str) -> str:
    """Return how a word is written: X for capitals, x for other letters, d for digits.

    Runs of one kind are written once, so that long words and long numbers share their shapes;
    whatever is neither letter nor digit stays.
    """
    out = ""
    for mark in map(_kind, word):
        if mark not in ("X", "x", "d") or not out.endswith(mark):
            out += mark
    return out


def _kind(character: str) -> str:
    """Return X, x or d for a letter or digit, and anything else as it is."""
    if character.isalpha():
        return "X" if character.isupper() or character.istitle() else "x"
    return "d" if character.isnumeric() else character


def _prefix(length: int, word: str) -> str:
    return word[:length]


def _suffix(length: int, word: str) -> str:
    return word[-length:]


#: What a template can do with a cell, by name; shorter words are their own prefix and suffix.
FUNCTIONS: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "shape": shape,
    **{f"prefix{n}": partial(_prefix, n) for n in range(1, _LONGEST + 1)},
    **{f"suffix{n}": partial(_suffix, n) for n in range(1, _LONGEST + 1)},
}


@dataclass(frozen=True, slots=True)
class Look:
    """A cell to look at, relative to a token.

    Examples
    --------
    >>> Look(0, "word", -1, "lower").text
    'lower(word[-1])'
    """

    column: int
    name: str  # what the column is called
    offset: int  # tokens to the right; negative to the left
    function: str = ""  # A key of `FUNCTIONS`, or empty for the cell as it is

    @property
    def text(self) -> str:
        """The look as a template writes it."""
        cell = f"{self.name}[{self.offset}]"
        return f"{self.function}({cell})" if self.function else cell

    def value(self, cell: str | int) -> str:
        """Return what an attribute says of a cell; an int counts steps out of the sentence."""
        if isinstance(cell, int):
            return f"_B{cell:+d}"
        word = FUNCTIONS[self.function](cell) if self.function else cell
        # Values are joined by "|", and "_B" marks the sentence's ends: in words both are escaped,
        # so that attributes are equal only where all the cells are.
        text = word.replace("\\", "\\\\").replace("|", "\\|")
        return "\\" + text if text.startswith("_B") else text


@dataclass(frozen=True, slots=True)
class Line:
    """What gives each token one attribute: the cells it looks at together; without any, a bias.

    Examples
    --------
    >>> Line((Look(0, "word", -1), Look(0, "word", 0))).attribute(("the", "man"))
    'word[-1]|word[0]=the|man'
    >>> Line(()).attribute(())
    'bias'
    """

    looks: tuple[Look, ...]
    # the line as a template writes it, with ``|`` between looks; no other line has the same
    name: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        # Kept, since hundreds of thousands of attributes begin with it.
        name = "|".join(look.text for look in self.looks) or "bias"
        object.__setattr__(self, "name", name)

    def attribute(self, cells: Sequence[str | int]) -> str:
        """Return the attribute of a token that has these cells where the line looks."""
        if not self.looks:
            return self.name
        values = (look.value(cell) for look, cell in zip(self.looks, cells, strict=True))
        # Names hold no "=", so the first one ends the name, whatever the words hold.
        return f"{self.name}={'|'.join(values)}"


def parse_columns(text: str) -> tuple[str, ...]:
    """Return the names of columns in a text that lists them.

    Examples
    --------
    >>> parse_columns(" word tag")
    ('word', 'tag')
    """
    names = tuple(text.split())
    for i, name in enumerate(names):
        if not _COLUMN.fullmatch(name):
            raise DataError(
                f"{name!r} cannot name a column; names are letters, digits and underscores."
            )
        if name in names[:i]:
            raise DataError(f"two columns are called {name!r}.")
        if re.fullmatch(r"c\d+", name) and name != f"c{i}":
            raise DataError(f"{name!r} always is column {name[1:]}; choose another name.")
    if not names:
        raise DataError("no columns are named; write for example 'columns: word tag'.")
    return names


def column_name(column: int, names: Sequence[str] = ()) -> str:
    """Return what a column is called: as declared, else word, tag, c2, c3, ...

    Examples
    --------
    >>> column_name(1), column_name(2), column_name(0, ["form"]), column_name(1, ["form"])
    ('tag', 'c2', 'form', 'c1')
    """
    known = names or ("word", "tag")
    return known[column] if column < len(known) else f"c{column}"


def parse_line(text: str, names: Sequence[str] = ()) -> tuple[Line, ...]:
    """Return the lines that one line of the readable language stands for.

    Examples
    --------
    >>> [line.name for line in parse_line("word[-1..1] tag[0]")]
    ['word[-1]|tag[0]', 'word[0]|tag[0]', 'word[1]|tag[0]']
    """
    if text == "bias":
        return (Line(()),)
    windows = list(_windows(text, names))
    if prod(map(len, windows)) > _MOST_LINES:
        raise DataError(f"these windows stand for more than {_MOST_LINES:,} lines; narrow them.")
    return tuple(Line(looks) for looks in product(*windows))


def _windows(text: str, names: Sequence[str]) -> Iterator[list[Look]]:
    """Yield the looks of a readable line, each as a list of the looks its window stands for."""
    at = 0
    while at < len(text):
        found = _LOOK.match(text, at)
        if found is None:
            raise DataError(
                f"{text[at:]!r} cannot be read; write a column with a position, such as word[-1], "
                "word[-2..2] or lower(word[0]), or 'bias' or 'transitions' alone."
            )
        function = found["function"] or ""
        if function and function not in FUNCTIONS:
            hint = suggestion(function, list(FUNCTIONS)) or "."
            raise DataError(
                f"there is no function {function!r}{hint} "
                f"There are lower, shape, prefix1 to prefix{_LONGEST} and suffix1 to "
                f"suffix{_LONGEST}."
            )
        column = _find_column(found["column"], names)
        low = _offset(found["low"])
        high = low if found["high"] is None else _offset(found["high"])
        if high < low:
            raise DataError(f"the window {low}..{high} is empty; write {high}..{low}.")
        name = column_name(column, names)
        yield [Look(column, name, offset, function) for offset in range(low, high + 1)]
        at = found.end()


def _find_column(name: str, names: Sequence[str]) -> int:
    """Return the position of the column with this name; c0, c1, ... are always known."""
    known = list(names or ("word", "tag"))
    if name in known:
        return known.index(name)
    if re.fullmatch(r"c\d{1,6}", name):
        return int(name[1:])
    raise DataError(
        f"there is no column {name!r}{suggestion(name, known) or '.'} The columns are "
        f"{listing(known)}, or c0, c1, ... by position; a first line 'columns: ...' names others."
    )


def _offset(text: str) -> int:
    """Return a position relative to the token, or refuse one far away."""
    if len(text) > 9 or abs(int(text)) > REACH:
        raise DataError(f"the position {text} is out of reach; templates look {REACH} tokens far.")
    return int(text)


def is_crfpp(text: str) -> bool:
    """Return whether a line is in the language of CRF++, right or wrong.

    Examples
    --------
    >>> is_crfpp("U00:%x[0,0]"), is_crfpp("U"), is_crfpp("B01"), is_crfpp("Upos[0]")
    (True, True, True, False)
    """
    return "%" in text or re.fullmatch(r"[UB]\w*(:[^\[\]]*)?", text) is not None


def parse_crfpp(text: str, names: Sequence[str] = ()) -> Line:
    """Return the line that a U line of CRF++ stands for.

    Its id and the characters between its cells are only there to tell lines and values apart,
    which names and escapes do here.

    Examples
    --------
    >>> parse_crfpp("U05:%x[-1,0]/%x[0,0]").name
    'word[-1]|word[0]'
    """
    if text.startswith("B"):
        raise DataError(
            "transitions that look at the input are not supported; write B alone for transitions "
            "between labels, and U lines for what looks at the input."
        )
    if not text.startswith("U"):
        raise DataError("lines of CRF++ begin with U, or are B alone.")
    if "%" in _MACRO.sub("", text):
        raise DataError("after each % there must be x[row,column], such as %x[-1,0].")
    looks = []
    for offset, digits in _MACRO.findall(text):
        column = _find_column(f"c{digits}", names)
        looks.append(Look(column, column_name(column, names), _offset(offset)))
    return Line(tuple(looks))
