"""The file of a network: an archive (`graftwork.models.archive`) with two arrays.

``graftwork.json``
    ``format`` "graftwork-model", ``version`` 1 or 2, ``variables`` (each with ``name`` and
    ``states`` as `graftwork.models.encoding` writes them), ``edges`` (pairs of variable numbers,
    i < j), perhaps ``missing`` (what missing cells were in learning: ``policy``, and
    ``frequencies`` of every variable's states where scores need them), and what every archive has.
``unary.npy``
    float64: the log-potentials of all variables, one after the other.
``pairwise.npy``
    float64: the tables of all edges, row-major, one after the other.

Where few different numbers repeat (tied weights), version 2 holds in place of these two

``values.npy``
    float64: the different numbers, each once.
``indices.npy``
    uint8: which of them each number of unaries and tables is, packed to as many bits as that needs
    (`graftwork.models.codebook`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Layout, Potentials
from graftwork.models.archive import NETWORK, Opened, PathLike, refusing, write_archive
from graftwork.models.codebook import pack, unpack
from graftwork.models.encoding import decode, encode, writable
from graftwork.models.gaps import Gaps


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """What a network's file holds."""

    names: tuple[Hashable, ...]
    states: tuple[tuple[Hashable, ...], ...]
    potentials: Potentials
    info: dict[str, Any]
    gaps: Gaps = field(default_factory=Gaps)


def write(path: PathLike, contents: Contents) -> None:
    """Write a network's file in one step.

    Raises
    ------
    DataError
        If a name, a state or the info cannot be written; nothing is written then.
    """
    layout, weights = contents.potentials.layout, contents.potentials.weights
    packed = pack(weights)
    version = 1 if packed is None else 2  # the oldest that can hold it, for older readers
    cut = (weights[: layout.n_unary], weights[layout.n_unary :])
    fields = {"variables": _encode_variables(contents), "edges": layout.edges.tolist()}
    if contents.gaps.policy != "error":
        found = [each.tolist() for each in contents.gaps.frequencies]
        fields["missing"] = {"policy": contents.gaps.policy, "frequencies": found}
    write_archive(path, NETWORK, version, fields, packed or cut, contents.info)


def _encode_variables(contents: Contents) -> list[dict[str, Any]]:
    out = []
    for name, states in zip(contents.names, contents.states, strict=True):
        with writable("the variable name"):
            coded = encode(name)
        with writable(f"a state of {name!r}:"):
            out.append({"name": coded, "states": [encode(state) for state in states]})
    return out


def read(path: PathLike, opened: Opened) -> Contents:
    """Return what a network's file holds, after checking all of it.

    Raises
    ------
    ModelFileError
        If it is damaged or inconsistent.
    """
    with refusing(path):
        header, arrays = opened.header, opened.arrays()
        names = tuple(decode(item["name"]) for item in header["variables"])
        states = tuple(tuple(map(decode, item["states"])) for item in header["variables"])
        layout = _read_layout(header["edges"], states)
        weights = _read_weights(opened.version, arrays, layout)
        if np.isnan(weights).any() or (weights == np.inf).any():
            raise ValueError("a potential is NaN or +inf")
        gaps = _read_gaps(header.get("missing"), layout)
        return Contents(names, states, Potentials(layout, weights), opened.info(), gaps)


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


def _read_weights(version: int, arrays: tuple[NDArray[Any], ...], layout: Layout) -> Floats:
    """Return the flat numbers of a layout from the two arrays of a file."""
    first, second = arrays
    if version == 2:
        values = first.astype(np.float64)
        if len(np.unique(values.view(np.uint64))) != len(values):
            raise ValueError("a value occurs twice")
        return unpack(values, second, layout.size)
    weights = np.concatenate([first, second]).astype(np.float64)
    if len(first) != layout.n_unary or len(weights) != layout.size:
        raise ValueError("its arrays do not fit its variables and edges")
    return weights


def _read_layout(edges: Any, states: tuple[tuple[Hashable, ...], ...]) -> Layout:
    n = len(states)
    pairs = [(i, j) for i, j in edges]
    for i, j in pairs:
        if type(i) is not int or type(j) is not int or not 0 <= i < j < n:
            raise ValueError(f"it has an edge ({i!r}, {j!r}) among {n} variables")
    if len(set(pairs)) != len(pairs):
        raise ValueError("an edge occurs twice")
    return Layout.of([len(listed) for listed in states], pairs)
