"""Text files of numbers, read word by word; errors say the line."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np

from graftwork.errors import ModelFileError
from graftwork.inference.layout import Floats
from graftwork.limits import read_bytes

# float() takes more than numbers in files are: underscores, words.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?[iI][nN][fF](inity)?", re.ASCII)
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)


def read_text(path: Path, what: str) -> str:
    """Return the text of a file, or refuse it; ``what`` is the kind of file, for errors."""
    try:
        return read_bytes(path).decode("utf-8")
    except FileNotFoundError as error:
        raise ModelFileError(f"there is no file {str(path)!r}.") from error
    except OSError as error:
        raise ModelFileError(f"cannot read {str(path)!r}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ModelFileError(
            f"{str(path)!r} is not {what}: it is not text (byte {error.start})."
        ) from error


class Tokens:
    """The words of a text file, one after the other.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "numbers.txt")
    >>> _ = path.write_text("2 # how many\\n0.5 1e-3")
    >>> tokens = Tokens(path, "a list of numbers")
    >>> tokens.numbers(tokens.whole("a length"), "a number").tolist()
    [0.5, 0.001]
    """

    def __init__(self, path: Path, what: str, separators: str = "") -> None:
        text = read_text(path, what)
        for separator in separators:
            text = text.replace(separator, " ")
        parts = [line.partition("#") for line in text.splitlines()]
        self._lines = [before for before, _, _ in parts]
        #: What stands behind a ``#``, line by line.
        self.comments = [comment.strip() for _, mark, comment in parts if mark]
        self._words = [word for line in self._lines for word in line.split()]
        self._path, self._what, self._next = path, what, 0

    @property
    def left(self) -> int:
        """How many words are left."""
        return len(self._words) - self._next

    def fail(self, problem: str, back: int = 1) -> ModelFileError:
        """Return the error about a word that was read, the last one unless told otherwise."""
        line = self._line(self._next - back)
        return ModelFileError(f"{str(self._path)!r} is not {self._what}: line {line}: {problem}.")

    def _line(self, place: int) -> int:
        """Return the line of a word; the last line of the file if there are not so many words."""
        seen = 0
        for number, line in enumerate(self._lines, 1):
            seen += len(line.split())
            if place < seen:
                return number
        return max(1, len(self._lines))

    def word(self, expected: str) -> str:
        """Return the next word; ``expected`` says for errors what it is."""
        if not self.left:
            raise ModelFileError(
                f"{str(self._path)!r} is not {self._what}, or not all of it: it ends at line "
                f"{max(1, len(self._lines))}, where {expected} is expected."
            )
        self._next += 1
        return self._words[self._next - 1]

    def whole(self, expected: str, least: int = 0, most: float = math.inf) -> int:
        """Return the next word as a whole number within limits."""
        word = self.word(expected)
        if not _WHOLE.fullmatch(word) or not least <= int(word) <= most:
            limits = f" of at least {least}" if most == math.inf else f" from {least} to {most}"
            raise self.fail(f"{word[:40]!r} stands where {expected}, a whole number{limits}, is "
                            "expected")  # fmt: skip
        return int(word)

    def numbers(self, count: int, expected: str) -> Floats:
        """Return the next words as numbers; infinite ones are allowed, NaN is not."""
        if count > self.left:
            raise ModelFileError(
                f"{str(self._path)!r} is not {self._what}, or not all of it: it ends at line "
                f"{max(1, len(self._lines))}, with {self.left} of {count} numbers left to read "
                f"({expected})."
            )
        words = self._words[self._next : self._next + count]
        for k, word in enumerate(words):
            if not _NUMBER.fullmatch(word):
                self._next += k + 1
                raise self.fail(f"{word[:40]!r} stands where {expected}, a number, is expected")
        self._next += count
        return np.array([float(word) for word in words], dtype=np.float64)

    def end(self) -> None:
        """Refuse what follows the end of what should be in the file."""
        if self.left:
            self._next += 1
            raise self.fail(f"{self._words[self._next - 1][:40]!r} follows where it should end")


def positional(value: float) -> str:
    """Return a number without exponent, in as few digits as bring it back exactly.

    Some readers do not know exponents.

    Examples
    --------
    >>> positional(1.5e-7), positional(3.0)
    ('0.00000015', '3.0')
    """
    return np.format_float_positional(value, unique=True, trim="0")
