"""Chunks in sequences of tags: B-NP, I-NP, O and their cousins."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any

from graftwork.errors import DataError

# B begins a chunk, E and L end one, S, U and brackets do both, I and M stand inside.
_OPEN = frozenset("BSU[]")
_CLOSE = frozenset("ELSU[]")
_INSIDE = frozenset("IM") | _OPEN | _CLOSE

#: A chunk: its type, the position of its first token, and that behind its last.
Chunk = tuple[str, int, int]


def chunks(tags: Sequence[str]) -> list[Chunk]:
    """Return the chunks that a sequence of tags describes.

    A tag is ``O`` outside of chunks, or a letter with a type, such as ``B-NP``; the letter alone
    has the empty type. A chunk is a longest run of tags of one type that is not cut: in front of
    B (begins a chunk), behind E or L (ends one), or at both sides of S, U and brackets (a chunk of
    one token). So IOB1, IOB2, IOE, IOBES and BILOU are all understood, and sequences that break
    their rules have chunks too, as conlleval counts them.

    Notes
    -----
    conlleval has separate lists of what begins and what ends a chunk. They agree with this
    wherever they agree with each other; they do not for ``E`` before ``B`` of the same type and
    for brackets next to other tags, where conlleval loses the beginning or the end of a chunk.
    """
    out: list[Chunk] = []
    start, before, kind = 0, "O", ""
    for t, (letter, name) in enumerate([*map(_parts, tags), ("O", "")]):
        if "O" in (letter, before) or name != kind or letter in _OPEN or before in _CLOSE:
            if before != "O":
                out.append((kind, start, t))
            start = t
        before, kind = letter, name
    return out


def is_chunk_tag(label: Hashable) -> bool:
    """Return whether a label is O, or a letter that `chunks` knows, perhaps with a type."""
    return isinstance(label, str) and (label == "O" or label.partition("-")[0] in _INSIDE)


def keep_types(labels: Iterable[Sequence[str]], types: Collection[str]) -> list[list[str]]:
    """Return sequences of tags in which chunks of other types are outside (O).

    Examples
    --------
    >>> keep_types([["B-NP", "I-NP", "B-VP", "O"]], {"NP"})
    [['B-NP', 'I-NP', 'O', 'O']]
    """
    return [[tag if _parts(tag)[1] in types else "O" for tag in tags] for tags in labels]


def chunk_types(labels: Iterable[Sequence[str]]) -> list[str]:
    """Return the types of chunks there are, in alphabetical order.

    Examples
    --------
    >>> chunk_types([["B-NP", "I-NP", "B-VP", "O"]])
    ['NP', 'VP']
    """
    return sorted({_parts(tag)[1] for tags in labels for tag in tags if tag != "O"})


def _parts(tag: Any) -> tuple[str, str]:
    """Return the letter and the type of a tag."""
    if not is_chunk_tag(tag):
        raise DataError(
            f"{tag!r} is not a chunk tag such as 'B-NP', 'I-NP' or 'O'; for labels of other "
            "kinds use "
            "label_scores."
        )
    letter, _, name = tag.partition("-")
    return letter, name
