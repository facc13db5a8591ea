"""plmc's binary parameters, as EVcouplings reads them (plmc_v2, 32 bits)."""

from __future__ import annotations

import string
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from graftwork.data.atomic import replacing
from graftwork.data.values import key
from graftwork.errors import DataError, TooLargeError
from graftwork.exchange.format import Content, Format, Written
from graftwork.inference.evidence import observe
from graftwork.inference.layout import Floats, Ints
from graftwork.models import PairwiseMRF
from graftwork.models.engines import infer
from graftwork.text import count

# Files of this format hold all pairs, edges or not.
_MOST_BYTES = 4_000_000_000
#: How far below the smallest finite log-potential a state is put that a variable does not have.
ABSENT = 20.0
# Without the dot and the gap, which plmc has uses for; they are states only if they are given.
_LETTERS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "!\"#$%&'()*+,/:;<=>?@"


def plmc() -> Format:
    """Return plmc's binary .params, for EVcouplings: fields and couplings over one alphabet."""
    return Format(write=_write)


def _write(path: Path, content: Content) -> Written:
    model = content.network
    states, letters, renamed = _alphabet(model)
    places = [[states.index(key(state)) for state in own] for own in model.states.values()]
    lost = [*content.learning(), "names of variables (they are 1, 2, ...)"]
    lost.append("frequencies and weights of sequences: frequencies are the network's marginals")
    if renamed:
        lost.append(f"names of states: {', '.join(renamed)}")
    n_absent = sum(len(states) - len(own) for own in places)
    if n_absent:
        lost.append(
            f"that {count(n_absent, 'state')} of variables cannot occur: there the field is "
            f"{ABSENT:g} below the smallest"
        )
    weights, n_cut = _finite(model.potentials.weights)
    if n_cut:
        lost.append(f"that {count(n_cut, 'cell')} of tables are impossible: {ABSENT:g} below")
    if np.abs(weights).max(initial=0.0) > np.finfo(np.float32).max:
        raise DataError("plmc's files hold numbers of 32 bits, and log-potentials are larger.")
    with replacing(path) as file:
        for part in _parts(model, weights, places, letters):
            file.write(part)
    return Written(lost=tuple(lost))


def _alphabet(model: PairwiseMRF) -> tuple[list[object], str, list[str]]:
    """Return the states of all variables, a letter for each, and what was renamed."""
    found = {key(state): state for own in model.states.values() for state in own}
    kept = {k: s for k, s in found.items()
            if isinstance(s, str) and len(s) == 1 and s.isascii() and s.isprintable()}  # fmt: skip
    free = iter(letter for letter in _LETTERS if letter not in kept.values())
    letters = {k: kept[k] if k in kept else next(free, "") for k in found}
    if "" in letters.values():
        raise DataError(
            f"plmc has one letter for each state, and there are {len(found)} different states; "
            "write another format."
        )
    renamed = [f"{found[k]} is {letter}" for k, letter in letters.items() if k not in kept]
    return list(found), "".join(letters.values()), renamed


def _finite(weights: Floats) -> tuple[Floats, int]:
    """Return log-potentials without -inf, and how many there were."""
    impossible = np.isneginf(weights)
    floor = np.min(weights, where=~impossible, initial=0.0) - ABSENT
    return np.where(impossible, floor, weights), int(impossible.sum())


def _parts(
    model: PairwiseMRF, weights: Floats, places: list[list[int]], letters: str
) -> Iterator[bytes]:
    """Yield the file in pieces."""
    n, q, layout = model.n_variables, len(letters), model.potentials.layout
    if 4 * n * (n - 1) * q * q > _MOST_BYTES:
        raise TooLargeError(
            f"plmc's format has two tables for every pair: {n:,} variables and {q} letters make "
            f"{4 * n * (n - 1) * q * q / 1e9:,.0f} GB; write another format."
        )
    pairs = np.array([(i, j) for i in range(n - 1) for j in range(i + 1, n)], dtype=np.int64)
    singles, joint = _frequencies(model, pairs.reshape(-1, 2))
    fields, of_states, edges = np.zeros((n, q)), np.zeros((n, q)), {}
    for i, own in enumerate(places):
        fields[i] = layout.unary(weights, i).min() - ABSENT
        fields[i, own] = layout.unary(weights, i)
        of_states[i, own] = singles[i]
    for e, (i, j) in enumerate(layout.edges.tolist()):
        edges[i, j] = layout.table(weights, e)
    target = "".join(letters[places[i][int(np.argmax(p))]] for i, p in enumerate(singles))
    yield np.array([n, q, 0, 0, 0], "<i4").tobytes()  # sites, codes, sequences, left out, steps
    yield np.zeros(5, "<f4").tobytes()  # theta, three lambdas, effective number of sequences
    yield letters.encode("ascii")
    yield target.encode("ascii")
    yield np.arange(1, n + 1, dtype="<i4").tobytes()
    yield of_states.astype("<f4").tobytes()
    yield fields.astype("<f4").tobytes()
    for tables in (joint, edges):
        for i, j in pairs.tolist():
            whole = np.zeros((q, q))
            if (i, j) in tables:
                whole[np.ix_(places[i], places[j])] = tables[i, j]
            yield whole.astype("<f4").tobytes()


def _frequencies(
    model: PairwiseMRF, pairs: Ints
) -> tuple[list[Floats], dict[tuple[int, int], Floats]]:
    """Return the marginals of all variables and of all pairs, exact where that is affordable."""
    layout = model.potentials.layout
    reduced = observe(model.potentials, np.full(model.n_variables, -1, dtype=np.int64))
    engine, beliefs = infer(reduced, "auto", None)
    singles = [layout.unary(beliefs.values, i) for i in range(model.n_variables)]
    joint: dict[tuple[int, int], Floats] = {}
    if len(pairs):
        flat, _ = engine.pair_marginals(reduced.potentials, beliefs, pairs)
        sizes = layout.cards[pairs[:, 0]] * layout.cards[pairs[:, 1]]
        ends = np.cumsum(sizes)
        for (i, j), end, size in zip(pairs.tolist(), ends.tolist(), sizes.tolist(), strict=True):
            joint[i, j] = flat[end - size : end].reshape(layout.cards[i], layout.cards[j])
    return singles, joint
