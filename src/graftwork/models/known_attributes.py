"""Whether attributes to predict from are those that a chain was learned from."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping

from graftwork.data.chains import Sequences
from graftwork.data.columns import level_of_caller
from graftwork.errors import DataError, DataWarning

#: Fewer new attributes than this may all be unknown by chance: a few new words.
ENOUGH = 20
#: Where at most this share of the attributes and of their kinds is known, most are of others.
FEW, FEW_KINDS = 0.01, 0.1
#: Where no kind is known, at most this share may be of names alone, such as "bias".
FEW_NAMES = 0.1


def check_attributes(found: Sequences, known: Mapping[Hashable, int]) -> None:
    """Refuse attributes of other kinds than a chain's, and warn where hardly one is known.

    New words are unknown to any chain: attributes of a kind that it knows are never refused.

    Parameters
    ----------
    found : Sequences
        In attributes of their own.
    known : mapping of name to number
        The attributes of the chain.

    Examples
    --------
    >>> from graftwork.data import as_sequences
    >>> try:
    ...     check_attributes(as_sequences([[["word[0]=Georg"]]]), {"w:georg": 0})
    ... except DataError as error:
    ...     print(str(error)[:62])
    none of the 1 attributes is known to the model: one is 'word[0
    """
    if not found.indices.size or not known:
        return
    n, n_known = len(found.names), sum(name in known for name in found.names)
    kinds, own = _kinds(found.names), _kinds(known)
    shared = len(kinds & own)
    foreign = bool(kinds and own) and not shared and n_known <= FEW_NAMES * n
    hardly = (
        n >= ENOUGH and n_known <= FEW * n and (not n_known or shared <= FEW_KINDS * len(kinds))
    )
    if not foreign and not hardly:
        return
    what = (
        f"only {n_known:,} of the {n:,} attributes are"
        if n_known
        else f"none of the {n:,} attributes is"
    )
    new = next(name for name in found.names if name not in known and (not foreign or _kind(name)))
    old = next(name for name in known if not foreign or _kind(name))
    text = (
        f"{what} known to the model: one is {new!r}, but the model has {old!r}; make them as for "
        "learning (by the same template or function)."
    )
    if foreign:
        raise DataError(text)
    warnings.warn(text, DataWarning, stacklevel=level_of_caller())


def _kinds(names: Iterable[Hashable]) -> set[str]:
    return set(map(_kind, names)) - {""}


def _kind(name: Hashable) -> str:
    """Return what comes before the value of an attribute: 'w:' of 'w:georg'; '' if nothing does."""
    text = name if isinstance(name, str) else ""
    ends = [place + 1 for place in (text.find("="), text.find(":")) if place >= 0]
    return text[: min(ends, default=0)]
