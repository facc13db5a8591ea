"""What the page shows of a chain: the weights of each label, and the moves between labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graftwork.models import ChainModel
from graftwork.report.explorer.networks import VERSION
from graftwork.report.explorer.packing import Record, packed, texts


def chain_view(model: ChainModel, title: str, words: Sequence[str] = ()) -> Record:
    """Return everything the page shows of a chain.

    Examples
    --------
    >>> from graftwork import ChainCRF
    >>> X, y = [[["w=a"], ["w=b"]], [["w=b"]]] * 9, [["A", "B"], ["A"]] * 9
    >>> chain_view(ChainCRF(lam=0.01).fit(X, y).model_, "A chain")["labels"]
    ['A', 'B']
    """
    n = len(model.labels)
    outputs = model.vote_outputs
    previous = np.where(outputs >= n, (outputs - n) // n, -1)
    labels = np.where(outputs >= n, (outputs - n) % n, outputs)
    counts = model.label_counts
    return {
        "format": "graftwork-explorer",
        "version": VERSION,
        "kind": "chain",
        "title": title,
        "words": list(words),
        "labels": texts(model.labels),
        "attributes": texts(model.attributes),
        "order": model.order,
        "counts": None if counts is None else packed(counts),
        "votes": {
            "attributes": packed(model.vote_attributes, "i4"),
            "previous": packed(previous, "i4"),
            "labels": packed(labels, "i4"),
            "weights": packed(model.vote_weights),
        },
        "pairs": packed(model.pairs),
        "triples": packed(model.triples) if model.order == 2 else None,
    }
