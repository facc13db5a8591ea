"""The file of a chain: an archive (`graftwork.models.archive`) with the weights that are not zero.

``graftwork.json``
    ``format`` "graftwork-chain", ``version`` 1, ``order``, ``labels`` and ``attributes`` (as
    `encode_all` writes them), ``n_columns`` (null where the chain was not learned from a matrix),
    ``label_counts`` (a number for each label; null or absent where they are not known), and what
    every archive has.
``attributes.npy``, ``outputs.npy``
    int32: which attribute votes for which output, as in `ChainModel`.
``moves.npy``
    int64, ascending: label c after label g as ``g n + c`` (n labels), label c after g after a as
    ``n n + (a n + g) n + c``.
``weights.npy``
    float64: of the votes, then of the moves.
``columns.npy``
    int64: the column of each attribute; empty where there is no matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graftwork.inference.chains import ChainShape
from graftwork.inference.layout import Floats, Ints
from graftwork.models.archive import CHAIN, Opened, PathLike, write_archive
from graftwork.models.encoding import decode_all, encode_all, writable

if TYPE_CHECKING:
    from graftwork.models.chain import ChainModel


def write_chain(path: PathLike, model: ChainModel, info: dict[str, Any] | None) -> None:
    """Write a chain's file in one step.

    Raises
    ------
    DataError
        If a label, an attribute or the info cannot be written; nothing is written then.
    """
    with writable("the label"):
        labels = encode_all(model.labels)
    with writable("the attribute"):
        attributes = encode_all(model.attributes)
    fields = {
        "order": int(model.order),
        "labels": labels,
        "attributes": attributes,
        "n_columns": None if model.n_columns is None else int(model.n_columns),
        "label_counts": None if model.label_counts is None else model.label_counts.tolist(),
    }
    moving = np.concatenate([model.pairs.ravel(), model.triples.ravel()])
    moves = np.flatnonzero(moving.view(np.int64))  # by bits: a weight of -0.0 comes back, too
    arrays = (
        model.vote_attributes,
        model.vote_outputs,
        moves,
        np.concatenate([model.vote_weights, moving[moves]]),
        np.zeros(0) if model.columns is None else model.columns,
    )
    write_archive(path, CHAIN, 1, fields, arrays, info)


def read_chain(opened: Opened) -> dict[str, Any]:
    """Return the fields of the `ChainModel` in a file, which checks what is not checked here.

    Raises
    ------
    ValueError, KeyError, TypeError
        If the file is inconsistent.
    """
    header = opened.header
    attributes, outputs, moves, weights, columns = opened.arrays()
    opened.info()
    order, n_columns = header["order"], header["n_columns"]
    if type(order) is not int or type(n_columns) not in (int, type(None)):
        raise ValueError("its order or number of columns is no whole number")
    labels, names = (tuple(decode_all(header[name])) for name in ("labels", "attributes"))
    n_votes = len(attributes)
    if len(weights) != n_votes + len(moves):
        raise ValueError("its weights do not fit its features")
    if n_columns is None and len(columns):
        raise ValueError("it has columns, but says that there are none")
    pairs, triples = _spread(ChainShape(len(labels), order), moves, weights[n_votes:])
    return {
        "labels": labels,
        "attributes": names,
        "order": order,
        "vote_attributes": attributes.astype(np.int64),
        "vote_outputs": outputs.astype(np.int64),
        "vote_weights": weights[:n_votes].astype(np.float64),
        "pairs": pairs,
        "triples": triples,
        "columns": None if n_columns is None else columns.astype(np.int64),
        "n_columns": n_columns,
        "label_counts": _counts(header.get("label_counts")),
    }


def _counts(given: Any) -> Floats | None:
    """Return how many positions had each label, or None where the file does not say it."""
    if given is None:
        return None
    if not isinstance(given, list) or not all(type(count) in (int, float) for count in given):
        raise ValueError("its numbers of labels are no numbers")
    return np.array(given, dtype=np.float64)


def _spread(shape: ChainShape, moves: Ints, weights: Floats) -> tuple[Floats, Floats]:
    """Return the weights of all pairs and triples of labels, given those that are not zero."""
    n, size = shape.n_labels, shape.n_pairs + shape.n_triples
    if len(moves) and not (moves[0] >= 0 and moves[-1] < size and (np.diff(moves) > 0).all()):
        raise ValueError("its moves from label to label are out of range or out of order")
    flat = np.zeros(size)
    flat[moves] = weights
    pairs, triples = flat[: n * n], flat[n * n :]
    return pairs.reshape(n, n), triples.reshape((n, n, n) if shape.order == 2 else (0, 0, 0))
