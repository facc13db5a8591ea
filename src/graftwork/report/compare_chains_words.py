"""A comparison of chains in words: the six criteria, and whether the methods agree."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from graftwork.report.compare_words import WIDTH, ended, missing_sentences, outcome_sentences
from graftwork.text import Column, aligned, count, decimals, whole

if TYPE_CHECKING:
    from graftwork.report.chain_comparison import ChainComparison

_MEANING = (
    "NLL is the negative log-likelihood of the training set, in nats. Features have a weight in "
    "the end; selected counts the different features there were at the end of any round; "
    "evaluations are of the loss and its gradient. Seconds run from a method's first evaluation to "
    "its last check: preparing the data, compilation and prediction are on nobody's clock."
)
# With labels A and B, "x votes for A" and "x votes against B" are the same to the model and cost
# the same, so a weight may be split between them.
_TWO_LABELS = (
    "With two labels the votes of an attribute for the one and against the other mean the same, "
    "and cost the same: the number of features is not determined by the optimum."
)


def chain_words(comparison: ChainComparison) -> str:
    """Return a comparison of chains as text for people."""
    records = [
        {**record, "ended": ended(record), "percent": 100 * record.get("test_error", 0.0)}
        for record in comparison.table()
    ]
    columns = [c for c in _CRITERIA if c[0] != "percent" or comparison.n_test is not None]
    parts = [textwrap.fill(_head(comparison), WIDTH), aligned(records, columns)]
    sentences = outcome_sentences(comparison.runs, "feature", comparison.interrupted)
    sentences += missing_sentences(comparison.missing)
    sentences += [_TWO_LABELS] * _is_undetermined(comparison) + [_MEANING]
    parts += [textwrap.fill(text, WIDTH) for text in sentences]
    return "\n\n".join(parts) + "\n"


def _is_undetermined(comparison: ChainComparison) -> bool:
    """Return whether some run's optimum leaves open how many features there are.

    A ridge makes the objective strictly convex: it has one optimum.
    """
    settings = [run.settings for run in comparison.runs]
    alone = (s["penalty"] in ("l1", "elastic-net") and not s["l2"] for s in settings)
    return comparison.n_labels == 2 and any(alone)


def _head(comparison: ChainComparison) -> str:
    positions = count(comparison.n_positions, "position")
    parts = [
        f"{count(comparison.n_sequences, 'sequence')} of {positions}",
        count(comparison.n_attributes, "attribute"),
        count(comparison.n_labels, "label"),
    ]
    if comparison.n_test is not None:
        parts.append(f"{count(comparison.n_test, 'sequence')} to test on")
    runs, lam = count(len(comparison.runs), "run"), comparison.lam
    return (
        f"{runs} on {', '.join(parts)}. Lambda is {lam:.4g} on the mean loss of a sequence, "
        f"{lam * comparison.total_weight:.4g} on the sum."
    )


_CRITERIA: tuple[Column, ...] = (
    ("method", "method", str),
    ("seconds", "seconds", decimals(2)),
    ("nll", "NLL", decimals(1)),
    ("percent", "error %", decimals(2)),
    ("features", "features", whole),
    ("selected", "selected", whole),
    ("evaluations", "evaluations", whole),
    ("ended", "ended", str),
)
