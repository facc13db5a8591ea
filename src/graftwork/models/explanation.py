"""Why a chain labels a sequence as it does: what each feature adds to each label."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graftwork.data.chains import Sequences
from graftwork.data.values import key
from graftwork.errors import DataError
from graftwork.inference.layout import Floats, Ints

if TYPE_CHECKING:
    from graftwork.models.chain import ChainModel

#: The columns of the table of an explanation.
COLUMNS = (
    "position", "label", "predicted", "attribute", "after", "before", "value", "weight",
    "contribution",
)  # fmt: skip


class Contribution(NamedTuple):
    """What a feature adds to the score of a label at a position."""

    position: int  # from 0
    label: Hashable  # the label it speaks for (above 0) or against (below 0)
    attribute: Hashable | None  # none for transitions
    # after, before: the labels predicted before and behind this one that the feature also looks at
    after: tuple[Hashable, ...]
    before: tuple[Hashable, ...]
    value: float  # the attribute's value; 1 for transitions
    weight: float

    @property
    def contribution(self) -> float:
        """Weight times value."""
        return self.weight * self.value


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Which features supported each label of a sequence, and how much.

    The score of a label at a position is the sum of its contributions: the log of its probability,
    up to a constant, if all other positions are labelled as predicted. Probabilities are marginals,
    over all labels of the other positions.
    """

    labels: tuple[Hashable, ...]  # all labels of the chain
    predicted: tuple[Hashable, ...]  # the most probable labels (Viterbi)
    probabilities: Floats  # (positions, labels)
    scores: Floats  # (positions, labels)
    # those that are not zero; by position, then label, the largest first
    contributions: tuple[Contribution, ...]
    words: tuple[str, ...] = ()  # what the positions are called in texts

    def of(self, position: int, label: Hashable) -> list[Contribution]:
        """Return the contributions to a label at a position, the largest first."""
        return [c for c in self.contributions if (c.position, c.label) == (position, label)]

    def records(self) -> list[dict[str, Any]]:
        """Return one record per contribution, with the keys `COLUMNS`."""
        return [
            {
                "position": c.position,
                "label": c.label,
                "predicted": c.label == self.predicted[c.position],
                "attribute": c.attribute,
                "after": c.after,
                "before": c.before,
                "value": c.value,
                "weight": c.weight,
                "contribution": c.contribution,
            }
            for c in self.contributions
        ]

    def to_frame(self) -> Any:
        """Return one row per contribution: a DataFrame where pandas is installed, else a list."""
        try:
            import pandas as pd
        except ImportError:
            return self.records()
        frame = pd.DataFrame(self.records(), columns=list(COLUMNS), dtype=object)
        numbers = ("value", "weight", "contribution")
        kinds = {"position": int, "predicted": bool} | dict.fromkeys(numbers, float)
        return frame.astype(kinds)

    def summary(self, *, top: int = 5, labels: int = 2) -> str:
        """Return the explanation as text."""
        from graftwork.report.explanation import explanation_text

        return explanation_text(self, top=top, labels=labels)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        n, m = len(self.predicted), len(self.contributions)
        return f"Explanation: {n} positions, {m} contributions; print it, or to_frame()"


def explain(model: ChainModel, sentence: Any, words: Sequence[Any] | None = None) -> Explanation:
    """Return which features of a chain speak for each label of one sequence, and how much."""
    first = sentence[0] if isinstance(sentence, list) and sentence else None
    several = isinstance(first, list | tuple) and any(isinstance(x, list | dict) for x in first)
    sequences = model.read([] if several else [sentence])
    if sequences.n_sequences != 1:
        raise DataError("explain takes one sequence, a list of items; call it for each.")
    n = sequences.n_positions
    if words is not None and len(words) != n:
        raise DataError(f"there are {len(words)} words for {n} positions; give one for each.")
    predicted = model.predict(sequences, n_jobs=1)[0]
    places = {key(label): c for c, label in enumerate(model.labels)}
    codes = np.array([places[key(label)] for label in predicted], dtype=np.int64)
    found = list(_contributions(model, sequences, codes))
    found.sort(key=lambda each: (each[1].position, each[0], -abs(each[1].contribution)))
    scores = np.zeros((n, len(model.labels)))
    for c, each in found:
        scores[each.position, c] += each.contribution
    return Explanation(
        model.labels,
        tuple(predicted),
        model.marginals(sequences, n_jobs=1)[0],
        scores,
        tuple(each for _, each in found),
        tuple(str(word) for word in words or ()),
    )


#: A contribution with the number of its label.
Coded = tuple[int, Contribution]


def _contributions(model: ChainModel, sequences: Sequences, codes: Ints) -> Iterator[Coded]:
    """Yield what features add to each label at each position, others labelled by ``codes``."""
    yield from _votes(model, sequences, codes)
    tables = [(model.pairs, 1)] + ([(model.triples, 2)] if model.order == 2 else [])
    for t in range(len(codes)):
        for table, reach in tables:
            # A transition of this reach has the position as its last, ..., or first label.
            for start in range(t - reach, t + 1):
                if start >= 0 and start + reach < len(codes):
                    yield from _moves(model, table, codes, t, start, reach)


def _moves(
    model: ChainModel, table: Floats, codes: Ints, t: int, start: int, reach: int
) -> Iterator[Coded]:
    """Yield the weights of transitions from ``start`` on, of every label at ``t``."""
    index: list[Any] = codes[start : start + reach + 1].tolist()
    labels = [model.labels[c] for c in index]
    after, before = tuple(labels[: t - start]), tuple(labels[t - start + 1 :])
    index[t - start] = slice(None)
    for c, weight in enumerate(table[tuple(index)].tolist()):
        if weight:
            yield c, Contribution(t, model.labels[c], None, after, before, 1.0, weight)


def _votes(model: ChainModel, sequences: Sequences, codes: Ints) -> Iterator[Coded]:
    """Yield what attributes add, also those that vote for a label together with the one before."""
    n, labels = len(model.labels), model.labels
    ends, outputs, weights = model.votes
    for t in range(len(codes)):
        for k in range(sequences.indptr[t], sequences.indptr[t + 1]):
            a = sequences.indices[k]
            value = float(sequences.values[k]) if len(sequences.values) else 1.0
            if not value:
                continue
            name = model.attributes[a]
            for v in range(ends[a], ends[a + 1]):
                output, weight = int(outputs[v]), float(weights[v])
                if not weight:
                    continue
                g, c = divmod(output - n, n) if output >= n else (-1, output)
                if g < 0:
                    yield c, Contribution(t, labels[c], name, (), (), value, weight)
                    continue
                if t > 0 and codes[t - 1] == g:
                    yield c, Contribution(t, labels[c], name, (labels[g],), (), value, weight)
                if t > 0 and codes[t] == c:
                    yield g, Contribution(t - 1, labels[g], name, (), (labels[c],), value, weight)
