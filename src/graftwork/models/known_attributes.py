"""Whether attributes to predict from are those that a chain was learned from."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graftwork.data.chains import Vocabulary, as_sequences
from graftwork.data.chains.attributes import Bags
from graftwork.data.columns import level_of_caller
from graftwork.errors import DataWarning

#: Fewer new attributes than this may all be unknown by chance: a few new words.
ENOUGH = 20
#: Where at most this share of the attributes and of their kinds is known, most are of others.
FEW, FEW_KINDS = 0.01, 0.1
#: Where no kind is known, at most this share may be of names alone, such as "bias".
FEW_NAMES = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Familiar:
    """What a chain's attributes look like, to compare others with.

    A kind is what comes before an attribute's value: ``w:`` of ``w:dog``.
    """

    known: Vocabulary  # the attributes of the chain
    telling: NDArray[np.bool_]  # (attributes + 1,): those of a kind, or all where none is

    @staticmethod
    def of(known: Vocabulary) -> Familiar:
        """Return it for a chain's attributes."""
        kinds = np.array([bool(_kind(name)) for name in known.names], dtype=bool)
        return Familiar(known, np.append(kinds if kinds.any() else ~kinds, False))

    def check(self, bags: Bags, X: Any, lengths: ArrayLike | None) -> None:
        """Warn where hardly an attribute has a weight, though many or all their kinds are new.

        Nothing is refused: what is predicted for a sentence must not depend on the others, and
        attributes whose weights are all zero are not in the model. Usually some are, and the look
        ends here.
        """
        if not bags.indices.size or not self.known.names:
            return
        if np.count_nonzero(self.telling[bags.indices]) > FEW * bags.indices.size:
            return
        text = self._words(as_sequences(X, lengths).names)
        if text:
            warnings.warn(text, DataWarning, stacklevel=level_of_caller())

    def _words(self, names: tuple[Hashable, ...]) -> str:
        """Return what is to be said about attributes with these names, if anything is."""
        known = self.known.numbers
        n, n_known = len(names), sum(name in known for name in names)
        kinds, own = _kinds(names), _kinds(known)
        shared = len(kinds & own)
        foreign = bool(kinds and own) and not shared and n_known <= FEW_NAMES * n
        hardly = (
            n >= ENOUGH and n_known <= FEW * n and (not n_known or shared <= FEW_KINDS * len(kinds))
        )
        if not foreign and not hardly:
            return ""
        what = (
            f"only {n_known:,} of the {n:,} attributes have"
            if n_known
            else f"none of the {n:,} attributes has"
        )
        new = next(name for name in names if name not in known and (not foreign or _kind(name)))
        old = next(name for name in known if not foreign or _kind(name))
        return (
            f"{what} a weight in the model: one is {new!r}, and the model has {old!r}; unless this "
            "is expected, make them as for learning (by the same template or function)."
        )


def _kinds(names: Iterable[Hashable]) -> set[str]:
    return set(map(_kind, names)) - {""}


def _kind(name: Hashable) -> str:
    """Return what comes before the value of an attribute: 'w:' of 'w:georg'; '' if nothing does."""
    text = name if isinstance(name, str) else ""
    ends = [place + 1 for place in (text.find("="), text.find(":")) if place >= 0]
    return text[: min(ends, default=0)]
