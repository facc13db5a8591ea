"""Documents against kept ones: the same words, and numbers that are nearly the same.

Numbers may differ by 0.1 %, or by one in the last place that is shown (whole numbers not at all);
how exactly a network was solved is noise, and only has to stay as small.
"""

from __future__ import annotations

import os
import re
from itertools import zip_longest
from pathlib import Path

#: Write what differs instead of failing.
WRITE = os.environ.get("GRAFTWORK_GOLDEN") == "write"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
# Residuals of solvers: of these only the size is known.
NOISE = re.compile(
    r"(stationary\s+to\s+|violation\s+|kept</td><td>|left out</td><td>)"
    r"(?:0(?![.\d])|\d[\d.]*e-\d+)"
)
ZERO = re.compile(r"[-+\u2212](0\.0+)(?!\d)")


def differences(found: str, kept: str) -> list[str]:
    """Return what differs between two documents, a line for each line that does.

    Where lines end is no difference, since numbers may be wider; where paragraphs end is one.
    """
    if _alike(found, kept):
        return []
    lines = zip_longest(found.splitlines(), kept.splitlines(), fillvalue="")
    told = [f"now:  {one}\nkept: {other}" for one, other in lines if not _alike(one, other)]
    return told or ["paragraphs"]


def _alike(one: str, other: str) -> bool:
    one, other = (
        " ".join(ZERO.sub(r"\1", NOISE.sub(r"\1small", text)).replace("\n\n", " ~ ").split())
        for text in (one, other)
    )
    if NUMBER.split(one) != NUMBER.split(other):
        return False
    pairs = zip(NUMBER.finditer(one), NUMBER.finditer(other), strict=True)
    return all(_near(a, b, one[a.end() : a.end() + 1]) for a, b in pairs)


def _near(one: re.Match[str], other: re.Match[str], behind: str) -> bool:
    a, b = (float(each[0].replace(",", "")) for each in (one, other))
    if "." not in one[0] and "e" not in one[0]:
        return abs(a - b) <= (behind == "%")
    places = [_last_place(each[0]) for each in (one, other)]
    return abs(a - b) <= 1.0001 * max(1e-3 * abs(b), *places) or max(a, b) < 1e-12


def _last_place(number: str) -> float:
    """Return one in the last place: 0.01 of "1,200.25", 1e-7 of "2e-7"."""
    mantissa, _, power = number.partition("e")
    return float(10.0 ** (int(power or 0) - len(mantissa.partition(".")[2])))


def check(path: Path, found: str) -> None:
    """Compare a document with what is kept of it, or keep it."""
    found = "\n".join(line.rstrip() for line in found.splitlines()) + "\n"
    kept = path.read_text(encoding="utf-8") if path.exists() else None
    told = ["there is no such file"] if kept is None else differences(found, kept)
    if told and WRITE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    elif told:
        raise AssertionError(
            f"{path.name} differs from what is kept of it; if that is meant, run "
            f"GRAFTWORK_GOLDEN=write pytest tests/report/test_golden.py\n" + "\n".join(told)
        )
