"""How well variables are predicted, in words and as shares to draw."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from graftwork.estimators.predictability import COLUMNS, Predictability
from graftwork.inference.layout import Floats
from graftwork.report.trace import write_records
from graftwork.text import count, names, verb

#: Accuracies of fewer rows than this are rough.
FEW_ROWS = 100
_BEST = 3
#: Less than this is no gain.
_NOTHING = 5e-4


def predictability_text(found: Predictability) -> str:
    """Return how well variables are predicted, in plain sentences."""
    parts = [_means(found), *_extremes(found)]
    if found.sample == "in-sample":
        parts.append("The network was learned from these rows, so this is optimistic.")
    return " ".join([*parts, _rough(found)]).rstrip()


def _rough(found: Predictability) -> str:
    """Return how far accuracies of few rows may be off; an empty text for many."""
    if found.n_rows >= FEW_ROWS:
        return ""
    return (
        f"With {count(found.n_rows, 'row')}, accuracies are rough: one variable's may be off "
        f"by {1.0 / np.sqrt(max(found.n_rows, 1)):.2f}."
    )


def both_text(inside: Predictability | None, outside: Predictability | None) -> str:
    """Return how well variables are predicted in sample and held out; empty if neither is known."""
    if inside is None or outside is None:
        return "".join(predictability_text(each) for each in (inside, outside) if each is not None)
    if preferred(inside, outside) is outside:
        return f"{_means(inside)} {predictability_text(outside)}"
    return f"{predictability_text(inside)} {_means(outside)} {_rough(outside)}"


def preferred(inside: Predictability, outside: Predictability | None) -> Predictability:
    """Return which of the two to look at variable by variable: held-out rows, unless few."""
    return inside if outside is None or outside.n_rows < FEW_ROWS else outside


def write_predictability(
    path: str | PathLike[str], inside: Predictability, outside: Predictability | None = None
) -> None:
    """Write the table as CSV, and return None: in sample, and behind it held out if that is known.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> one, path = np.ones(1), pathlib.Path(tempfile.mkdtemp(), "predictability.csv")
    >>> write_predictability(path, Predictability(("a",), one, one, one / 2, one / 2, one, 1))
    >>> print(path.read_text())
    variable,accuracy,marginal_accuracy,normalised_accuracy,log_loss,...
    a,1.0,0.5,1.0,0.5,1.0,0.5,1.0
    """
    records = inside.records()
    if outside is not None:
        others = (
            {f"held_out_{key}": each[key] for key in COLUMNS[1:]} for each in outside.records()
        )
        records = [mine | other for mine, other in zip(records, others, strict=True)]
    write_records(path, records)


def mean_of(values: Floats) -> float:
    """Return the mean of what is known; NaN where nothing is.

    Examples
    --------
    >>> mean_of(np.array([0.5, np.nan])), mean_of(np.array([np.nan]))
    (0.5, nan)
    """
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def sample_words(found: Predictability) -> str:
    """Return which rows were predicted, in words.

    Examples
    --------
    >>> none = np.zeros(0)
    >>> sample_words(Predictability((), none, none, none, none, none, 50, "held-out", 5))
    'held out (50 rows in 5 folds)'
    """
    folds = f" in {found.n_folds} folds" if found.n_folds else ""
    start = {"in-sample": "in sample", "held-out": "held out", "given": "on the rows given"}
    return f"{start[found.sample]} ({count(found.n_rows, 'row')}{folds})"


def _means(found: Predictability) -> str:
    where = sample_words(found)
    start = where[:1].upper() + where[1:]
    share, base = mean_of(found.accuracy), mean_of(found.marginal_accuracy)
    text = (
        f"{start}, {share:.0%} of the cells are predicted correctly from all other "
        f"variables on average; the most frequent states would be right in {base:.0%}."
    )
    gain, deviance = mean_of(found.normalised_accuracy), mean_of(found.explained_deviance)
    if np.isnan(gain):
        return f"{text} No variable varies, so there is nothing to explain."
    return f"{text} Mean normalised accuracy {gain:.2f}, mean explained deviance {deviance:.2f}."


def _extremes(found: Predictability) -> list[str]:
    """Return which variables are predicted best, and which not at all."""
    gain, deviance = found.normalised_accuracy, found.explained_deviance
    order = np.argsort(-np.nan_to_num(gain, nan=-np.inf), kind="stable")
    best = [i for i in order[:_BEST].tolist() if gain[i] > _NOTHING]
    none = np.flatnonzero((gain <= _NOTHING) & (deviance <= _NOTHING)).tolist()
    out = []
    if best and len(gain) > 1:
        listed = ", ".join(f"{found.names[i]} ({gain[i]:.2f})" for i in best)
        out.append(f"Highest normalised accuracy: {listed}.")
    if none:
        listed = names([found.names[i] for i in none])
        out.append(f"No better than by {verb(len(none), 'its', 'their')} marginals: {listed}.")
    return out


def ring_shares(given: Any) -> tuple[dict[Any, float], str]:
    """Return the share of each variable's ring that is filled, and what it means."""
    where = ""
    if isinstance(given, Predictability):
        where, given = f", {sample_words(given)}", given.records()
    elif hasattr(given, "to_dict") and hasattr(given, "columns"):
        given = given.to_dict("records")
    if isinstance(given, Mapping):
        shares, meaning = dict(given), "Rings show the values given; a full ring is 1."
    else:
        shares = {record["variable"]: record["normalised_accuracy"] for record in given}
        meaning = (
            f"Rings: normalised accuracy of predictions from all other variables{where}; "
            "a full ring is 1."
        )
    filled = {name: float(np.clip(np.nan_to_num(share), 0, 1)) for name, share in shares.items()}
    return filled, meaning
