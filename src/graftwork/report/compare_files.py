"""A comparison as files: tables for programs, words and a figure for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from graftwork.report.compare_words import Certified, agreements
from graftwork.report.describe import certificate_text
from graftwork.report.trace import plain, write_records, write_text


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
    certificate = {**run.certificate.to_dict(), "words": certificate_text(run.certificate)}
    return {"settings": plain(run.settings), "certificate": plain(certificate)}
