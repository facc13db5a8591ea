"""How large input may be: sizes that are checked before they are believed, and how to raise them.

``GRAFTWORK_LIMITS=10`` in the environment raises all of them tenfold.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from graftwork.errors import ParameterError, TooLargeError

#: The variable of the environment by whose number all limits are multiplied.
VARIABLE = "GRAFTWORK_LIMITS"


@dataclass(frozen=True, slots=True)
class Limit:
    """The most there may be of something, unless the environment raises it."""

    usual: int

    def value(self) -> int:
        """Return the limit that holds now."""
        given = os.environ.get(VARIABLE, "").strip() or "1"
        try:
            found = int(self.usual * float(given))
        except (ValueError, OverflowError):
            found = 0
        if found < 1:
            raise ParameterError(
                f"the environment has {VARIABLE}={given}, which must be a number such as 10."
            )
        return found

    def check(self, needed: int, what: str, instead: str) -> None:
        """Refuse more than the limit; ``what`` is there, ``instead`` is what to try first."""
        limit = self.value()
        if needed > limit:
            raise TooLargeError(
                f"{what}, more than the limit of {limit:,}; {instead}, or raise all limits with "
                f"{VARIABLE}={-(-needed // self.usual)} in the environment."
            )


#: Bytes of one line of text.
LINE = Limit(10_000_000)
#: Bytes of blank lines one after the other.
BLANK = Limit(1_000_000)
#: Bytes that are read from what is no file: pipes, devices.
PIPE = Limit(500_000_000)
#: How many times longer than its compressed bytes a text may be.
RATIO = Limit(500)
#: Columns of a table that are read.
COLUMNS = Limit(200_000)
#: Pairs of columns that are all tested.
PAIRS = Limit(200_000_000)
#: Bytes of what is drawn at once.
DRAWN = Limit(4_000_000_000)
#: Rows that are drawn into a file or a pipe.
ROWS = Limit(1_000_000_000)
#: Times that rows are drawn anew, or labels permuted.
RESAMPLES = Limit(1_000_000)
_CHUNK = 1 << 20


def check_name(file: Path) -> None:
    """Refuse a path that no file can have, as the system refuses others; return None.

    Examples
    --------
    >>> check_name(Path("a.csv"))
    """
    try:
        possible = b"\0" not in os.fsencode(file)
    except UnicodeEncodeError:  # half a character
        possible = False
    if not possible:
        raise FileNotFoundError(
            errno.ENOENT, "No file can have such a name", ascii(str(file))[1:-1]
        )


def read_bytes(file: Path) -> bytes:
    """Return what is in a file, or in a pipe or device that ends within the limit."""
    check_name(file)
    if file.is_file():
        return file.read_bytes()
    parts, held = [], 0
    with file.open("rb", buffering=0) as raw:
        while part := raw.read(_CHUNK):
            parts.append(part)
            held += len(part)
            PIPE.check(
                held,
                f"it has not ended after {held:,} bytes",
                "save what is needed of it as a file",
            )
    return b"".join(parts)


def is_archive(file: Path) -> bool:
    """Return whether a file is one of zip, as model files are.

    Examples
    --------
    >>> is_archive(Path("/dev/null"))
    False
    """
    if not file.is_file():  # what is read from a pipe is gone
        return False
    with file.open("rb") as raw:
        return raw.read(2) == b"PK"
