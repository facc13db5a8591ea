"""Text about why a chain labels a sequence as it does."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

import numpy as np

from graftwork.models.explanation import COLUMNS, Contribution, Explanation
from graftwork.report.trace import write_records
from graftwork.text import table


def explanation_text(explanation: Explanation, *, top: int = 5, labels: int = 2) -> str:
    """Return which features spoke for the labels at each position, the largest first.

    Examples
    --------
    >>> spoke = Contribution(0, "D", "w=the", (), (), 1.0, 2.0)
    >>> probabilities, scores = np.array([[0.88, 0.12]]), np.array([[2.0, 0.0]])
    >>> two = Explanation(("D", "N"), ("D",), probabilities, scores, (spoke,), ("the",))
    >>> print(explanation_text(two))
    1 the: D (0.88)
      D  0.88  +2.00  +2.00 w=the
      N  0.12  +0.00
    """
    if not explanation.predicted:
        return "The sequence is empty."
    by_position: list[list[Contribution]] = [[] for _ in explanation.predicted]
    for each in explanation.contributions:
        by_position[each.position].append(each)
    parts = enumerate(by_position)
    return "\n".join(_position(explanation, t, found, top, labels) for t, found in parts)


def write_explanations(
    path: str | PathLike[str], explanations: Sequence[tuple[int, Explanation]]
) -> None:
    """Write contributions as CSV, each explanation with the number of its sentence; return None."""
    rows = [
        {"sentence": number, **record, "after": _labels(record["after"]),
         "before": _labels(record["before"])}
        for number, explanation in explanations
        for record in explanation.records()
    ]  # fmt: skip
    write_records(path, rows, ("sentence", *COLUMNS))


def _position(
    explanation: Explanation, t: int, contributions: list[Contribution], top: int, labels: int
) -> str:
    """Return a heading for a position, and a line for each label that is explained."""
    rows = []
    for c in _explained(explanation, t, labels):
        label = explanation.labels[c]
        found = [each for each in contributions if each.label == label]
        features = [f"{each.contribution:+.2f} {_feature(each)}" for each in found[:top]]
        if len(found) > top:
            features.append(f"and {len(found) - top:,} more")
        numbers = f"{explanation.probabilities[t, c]:.2f}", f"{explanation.scores[t, c]:+.2f}"
        rows.append([str(label), *numbers, ", ".join(features)])
    word = f" {explanation.words[t]}" if explanation.words else ""
    own = list(explanation.labels).index(explanation.predicted[t])
    head = f"{t + 1}{word}: {explanation.predicted[t]} ({explanation.probabilities[t, own]:.2f})"
    return f"{head}\n{table(rows, sides='lrrl')}"


def _explained(explanation: Explanation, t: int, labels: int) -> list[int]:
    """Return the label predicted, and then the most probable of the others."""
    own = list(explanation.labels).index(explanation.predicted[t])
    order = np.argsort(-explanation.probabilities[t], kind="stable").tolist()
    return [own, *(c for c in order if c != own)][:labels]


def _feature(found: Contribution) -> str:
    """Return a feature as text: its attribute, and the labels around it that it looks at."""
    parts = [] if found.attribute is None else [str(found.attribute)]
    parts += [f"after {_labels(found.after)}"] if found.after else []
    parts += [f"before {_labels(found.before)}"] if found.before else []
    return " ".join(parts)


def _labels(labels: Sequence[object]) -> str:
    return " ".join(map(str, labels))
