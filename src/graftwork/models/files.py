"""Model files: a NumPy archive (.npz) with a JSON header, for networks and for chains.

`numpy.load` opens one, without pickles. Its members are ``graftwork.json`` and vectors (.npy), none
of them compressed. Every header has ``format``, ``version``, ``library`` (the version that wrote
it), ``sha256`` of the vectors' members together, and ``info``, whatever the learner wanted to keep.

A network ("graftwork-model") also has in its header ``variables`` (each with ``name`` and
``states`` as `graftwork.models.encoding` writes them), ``edges`` (pairs of variable numbers, i < j)
and perhaps ``missing`` (what missing cells were in learning: ``policy``, and ``frequencies`` of
every variable's states where scores need them) and ``observed`` (counts of the rows: ``margins`` of
all states, ``tables`` of ``pairs``, row-major; ``fitted``, how the weights came about;
``margin_error`` and ``noise``, as `graftwork.models.observed` has them). Its vectors are

``unary``, ``pairwise``
    float64: the log-potentials of all variables, and the tables of all edges, row-major; or, in
    version 2, where few different numbers repeat (tied weights),
``values``, ``indices``
    float64: the different numbers; uint8: which of them each one is, as `pack` writes it.

A chain ("graftwork-chain") has ``order``, ``labels`` and ``attributes`` (as `encode_all` writes
them), ``n_columns`` (null where it was not learned from a matrix) and ``label_counts`` (a number
for each label; null or absent where they are not known). Its vectors are

``attributes``, ``outputs``
    int32: which attribute votes for which output, as in `ChainModel`.
``moves``
    int64, ascending: label c after label g as ``g n + c`` (n labels), label c after g after a as
    ``n n + (a n + g) n + c``; those whose weight is not zero.
``weights``
    float64: of the votes, then of the moves.
``columns``
    int64: the column of each attribute; empty where there is no matrix.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.chains import ChainShape
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.models.archive import (
    CHAIN,
    NETWORK,
    Info,
    Opened,
    PathLike,
    open_file,
    refusing,
    write,
)
from graftwork.models.chain import ChainModel
from graftwork.models.encoding import (
    decode,
    decode_all,
    encode,
    encode_all,
    pack,
    unpack,
    writable,
)
from graftwork.models.gaps import Gaps
from graftwork.models.observed import Observed
from graftwork.models.pairwise import PairwiseMRF


def load(path: PathLike) -> PairwiseMRF | ChainModel:
    """Return the model in a file, the same bit for bit as the one saved.

    Returns
    -------
    PairwiseMRF or ChainModel
        Whichever the file holds; `load_network` and `load_chain` want one of them.

    Raises
    ------
    ModelFileError
        If the file is missing, foreign, damaged, inconsistent, or of a newer format.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "coin.gw")
    >>> coin = PairwiseMRF({"coin": ["head", "tail"]}, {"coin": [0.1, 0.2]})
    >>> coin.save(path, info={"why": "an example"})
    >>> load(path) == coin, read_info(path)
    (True, {'why': 'an example'})
    """
    opened = open_file(path)
    return _chain(opened) if opened.kind is CHAIN else _network(opened)


def load_network(path: PathLike) -> PairwiseMRF:
    """Return the network in a file; a chain is refused, and what `load` refuses."""
    return _network(open_file(path, (NETWORK,)))


def load_chain(path: PathLike) -> ChainModel:
    """Return the chain in a file; a network is refused, and what `load` refuses."""
    return _chain(open_file(path, (CHAIN,)))


def read_info(path: PathLike) -> dict[str, Any]:
    """Return the info dict of a model file, without building the model; errors as in `load`."""
    info: dict[str, Any] = open_file(path).header["info"]
    return info


def save_network(path: PathLike, model: PairwiseMRF, info: Info | None = None) -> None:
    """Write a network's file in one step."""
    layout, weights = model.potentials.layout, model.potentials.weights
    fields = {"variables": _encode_variables(model), "edges": layout.edges.tolist()}
    if model.gaps.frequencies or model.gaps.policy != "error":
        found = [each.tolist() for each in model.gaps.frequencies]
        fields["missing"] = {"policy": model.gaps.policy, "frequencies": found}
    if model.scores:
        places = {name: i for i, name in enumerate(model.names)}
        fields["ordered"] = [
            [places[name], [None if np.isnan(score) else score for score in own]]
            for name, own in model.scores.items()
        ]
    if model.observed is not None:
        fields["observed"] = model.observed.to_dict()
    packed = pack(weights)
    version = 1 if packed is None else 2  # the oldest that can hold it, for older readers
    vectors = packed or (weights[: layout.n_unary], weights[layout.n_unary :])
    write(path, NETWORK, version, fields, vectors, info)


def save_chain(path: PathLike, model: ChainModel, info: Info | None = None) -> None:
    """Write a chain's file in one step."""
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
    vectors = (
        model.vote_attributes,
        model.vote_outputs,
        moves,
        np.concatenate([model.vote_weights, moving[moves]]),
        np.zeros(0) if model.columns is None else model.columns,
    )
    write(path, CHAIN, 1, fields, vectors, info)


def _encode_variables(model: PairwiseMRF) -> list[dict[str, Any]]:
    out = []
    for name, states in model.states.items():
        with writable("the variable name"):
            coded = encode(name)
        with writable(f"a state of {name!r}:"):
            out.append({"name": coded, "states": [encode(state) for state in states]})
    return out


def _network(opened: Opened) -> PairwiseMRF:
    """Return the network of a file, after checking all of it."""
    with refusing(opened.path, opened.kind):
        header, vectors = opened.header, opened.vectors()
        names = tuple(decode(item["name"]) for item in header["variables"])
        states = tuple(tuple(map(decode, item["states"])) for item in header["variables"])
        layout = _read_layout(header["edges"], states)
        weights = _read_weights(header["version"], vectors, layout)
        gaps = _read_gaps(header.get("missing"), layout)
        scores = _read_scores(header.get("ordered"), names, states)
        rows = header.get("observed")
        observed = None if rows is None else Observed.read(rows, layout)
        flat = Potentials(layout, weights)
        return PairwiseMRF.from_flat(names, states, flat, gaps, scores, observed)


def _read_layout(edges: Any, states: tuple[tuple[Hashable, ...], ...]) -> Layout:
    n = len(states)
    pairs = [(i, j) for i, j in edges]
    for i, j in pairs:
        if type(i) is not int or type(j) is not int or not 0 <= i < j < n:
            raise ValueError(f"it has an edge ({i!r}, {j!r}) among {n} variables")
    if len(set(pairs)) != len(pairs):
        raise ValueError("an edge occurs twice")
    return Layout.of([len(listed) for listed in states], pairs)


def _read_weights(version: int, vectors: tuple[NDArray[Any], ...], layout: Layout) -> Floats:
    """Return the flat numbers of a layout from the two vectors of a file."""
    first, second = vectors
    if version == 2:
        return unpack(first, second, layout.size)
    if len(first) != layout.n_unary or len(first) + len(second) != layout.size:
        raise ValueError("its arrays do not fit its variables and edges")
    return np.concatenate([first, second])


def _read_scores(
    found: Any, names: Sequence[Hashable], states: Sequence[Sequence[Hashable]]
) -> dict[Hashable, list[float]]:
    """Return the scores of ordered variables."""
    scores: dict[Hashable, list[float]] = {}
    for place, own in found or ():
        if type(place) is not int or not 0 <= place < len(names):
            raise ValueError("it says that a variable is ordered which it does not have")
        numbers = [float("nan") if score is None else float(score) for score in own]
        if len(numbers) != len(states[place]) or np.isinf(numbers).any():
            raise ValueError("the scores of an ordered variable do not fit its states")
        scores[names[place]] = numbers
    return scores


def _read_gaps(found: Any, layout: Layout) -> Gaps:
    """Return what missing cells were in learning."""
    if found is None:
        return Gaps()
    listed = tuple(np.array(each, dtype=np.float64) for each in found["frequencies"])
    sizes = [each.shape for each in listed]
    if not isinstance(found["policy"], str) or (
        listed and sizes != [(s,) for s in layout.cards.tolist()]
    ):
        raise ValueError("what it says about missing cells does not fit its variables")
    for each in listed:
        if not (each >= 0).all() or not abs(each.sum() - 1) < 1e-6:
            raise ValueError("the frequencies of a variable's states are none")
    return Gaps(found["policy"], listed)


def _chain(opened: Opened) -> ChainModel:
    """Return the chain of a file; `ChainModel` checks what is not checked here."""
    with refusing(opened.path, opened.kind):
        header = opened.header
        attributes, outputs, moves, weights, columns = opened.vectors()
        order, n_columns = header["order"], header["n_columns"]
        if type(order) is not int or type(n_columns) not in (int, type(None)):
            raise ValueError("its order or number of columns is not a whole number")
        labels, names = (tuple(decode_all(header[name])) for name in ("labels", "attributes"))
        n_votes = len(attributes)
        if len(weights) != n_votes + len(moves):
            raise ValueError("its weights do not fit its features")
        if n_columns is None and len(columns):
            raise ValueError("it has columns, but says that there are none")
        pairs, triples = _spread(ChainShape(len(labels), order), moves, weights[n_votes:])
        return ChainModel(
            labels,
            names,
            order,
            attributes.astype(np.int64),
            outputs.astype(np.int64),
            weights[:n_votes],
            pairs,
            triples,
            None if n_columns is None else columns,
            n_columns,
            _read_counts(header.get("label_counts")),
        )


def _read_counts(given: Any) -> Floats | None:
    """Return how many positions had each label, or None where the file does not say it."""
    if given is None:
        return None
    if not isinstance(given, list) or not all(type(count) in (int, float) for count in given):
        raise ValueError("its numbers of labels are not numbers")
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
