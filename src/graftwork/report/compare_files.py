"""A comparison as files: tables for programs, words and a figure for people."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from graftwork.report.compare_words import Certified, agreements
from graftwork.report.trace import write_rows, write_text


class Detailed(Certified, Protocol):
    """A run with the estimator's parameters."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The parameters, as plain values."""
        ...


class Reportable(Protocol):
    """A comparison as it is written: what all of them can say."""

    @property
    def runs(self) -> Sequence[Detailed]:
        """The methods that were run."""
        ...

    @property
    def lam(self) -> float:
        """Lambda."""
        ...

    @property
    def missing(self) -> Mapping[str, str]:
        """Methods without a run, and why."""
        ...

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it early."""
        ...

    def table(self) -> list[dict[str, Any]]:
        """Return one record a method."""
        ...

    def rounds(self) -> list[dict[str, Any]]:
        """Return one record a round."""
        ...

    def words(self) -> str:
        """Return it as text."""
        ...

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """Return a figure."""
        ...


def write_comparison(
    comparison: Reportable,
    folder: str | PathLike[str],
    sizes: Mapping[str, Any],
    *,
    plot: bool = True,
) -> list[str]:
    """Write a comparison's files to a folder, and return their names; each appears whole or not.

    Parameters
    ----------
    folder : path-like
        Made where there is none.
    sizes : dict
        What the comparison was about, for the JSON file.
    plot : bool
        Whether to draw the figure, which needs matplotlib.
    """
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    (out / "comparison.png").unlink(missing_ok=True)  # an earlier one would not fit these numbers
    write_records(out / "comparison.csv", comparison.table())
    write_records(out / "rounds.csv", comparison.rounds())
    write_text(out / "comparison.txt", comparison.words())
    text = json.dumps(to_json(comparison, sizes), indent=2, allow_nan=False, ensure_ascii=False)
    write_text(out / "comparison.json", text + "\n")
    written = ["comparison.csv", "rounds.csv", "comparison.txt", "comparison.json"]
    if plot:
        comparison.plot(out / "comparison.png")
        written.append("comparison.png")
    return written


def write_records(
    path: Path, records: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None
) -> None:
    """Write records with the same keys as CSV, and return None; what is unknown stays empty.

    The columns are the keys of the first record, unless they are given.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "t.csv")
    >>> write_records(path, [{"a": 1, "b": None}, {"a": 2, "b": float("nan")}])
    >>> path.read_text()
    'a,b\\n1,\\n2,\\n'
    """
    header = list(records[0] if columns is None and records else columns or ())
    rows = (
        ["" if (v := plain(record[key])) is None else v for key in header] for record in records
    )
    write_rows(path, header, rows)


def to_json(comparison: Reportable, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a comparison as plain values; the rounds are in a file of their own."""
    return {
        "lam": comparison.lam,
        **sizes,
        "interrupted": comparison.interrupted,
        "missing": dict(comparison.missing),
        "agreements": [plain(asdict(agreement)) for agreement in agreements(comparison.runs)],
        "methods": [
            {**plain(record), **_details(run)}
            for record, run in zip(comparison.table(), comparison.runs, strict=True)
        ],
    }


def _details(run: Detailed) -> dict[str, Any]:
    certificate = {**run.certificate.to_dict(), "words": run.certificate.words()}
    return {"settings": plain(run.settings), "certificate": plain(certificate)}


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: None for what is not finite, text for what is not plain.

    Examples
    --------
    >>> plain({"a": float("inf"), "b": (1, 2.5), "c": {3}})
    {'a': None, 'b': [1, 2.5], 'c': '{3}'}
    """
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
