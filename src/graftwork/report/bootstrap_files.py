"""A bootstrap as files: tables for programs, words and a figure for people."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

from graftwork.estimators.bootstrap import COLUMNS, Bootstrap
from graftwork.report.bootstrap_words import bootstrap_summary, bootstrap_words
from graftwork.report.records import plain, write_records
from graftwork.report.trace import write_text


def write_bootstrap(
    boot: Bootstrap, folder: str | PathLike[str], *, plot: bool = True
) -> list[str]:
    """Write a bootstrap's files to a folder, and return their names; each appears whole or not.

    Parameters
    ----------
    folder : path-like
        Made where there is none.
    plot : bool
        Whether to draw the figure, which needs matplotlib.
    """
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    for earlier in ("stability.csv", "bootstrap.png"):  # of another run: they would not fit this
        (out / earlier).unlink(missing_ok=True)
    write_records(out / "bootstrap.csv", boot.edges(), COLUMNS)
    write_records(out / "centrality.csv", boot.centralities())
    written = ["bootstrap.csv", "centrality.csv"]
    if boot.shares:
        write_records(out / "stability.csv", boot.stability())
        written.append("stability.csv")
    write_text(out / "bootstrap.txt", bootstrap_summary(boot))
    text = json.dumps(bootstrap_dict(boot), indent=2, allow_nan=False, ensure_ascii=False)
    write_text(out / "bootstrap.json", text + "\n")
    written += ["bootstrap.txt", "bootstrap.json"]
    if plot:
        boot.plot(out / "bootstrap.png")
        written.append("bootstrap.png")
    return written


def bootstrap_dict(boot: Bootstrap) -> dict[str, Any]:
    """Return a bootstrap as values JSON can hold; what is unknown is None."""
    found: dict[str, Any] = plain(
        {
            "resamples": boot.n_done,
            "resamples_asked": boot.n_asked,
            "subsets": boot.n_subsets,
            "subsets_asked": boot.n_asked if boot.shares else 0,
            "interrupted": boot.interrupted,
            "unconverged": boot.unconverged,
            "tested": boot.tested,
            "words": bootstrap_words(boot),
            "cs": boot.cs,
            "edges": boot.edges(),
            "centrality": boot.centralities(),
            "stability": boot.stability(),
        }
    )
    return found
