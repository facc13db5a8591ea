"""What makes one violator better than another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from graftwork.grafting.chow_liu import table_information
from graftwork.grafting.domain import PairDomain
from graftwork.grafting.gains import distinct_pairs
from graftwork.grafting.selection import View
from graftwork.grafting.space import Space
from graftwork.inference.layout import Floats, Ints


class Scorer(Protocol):
    """Ranks violators; the highest is activated first."""

    def rank(self, space: Space, view: View, keys: Ints, scores: Floats) -> Floats:
        """Return a number for each of these violators, given their scores."""
        ...


@dataclass(frozen=True, slots=True)
class Violation:
    """By how much a block violates: the gradient, as in grafting."""

    def rank(self, space: Space, view: View, keys: Ints, scores: Floats) -> Floats:
        """Return the scores."""
        return scores


@dataclass(frozen=True, slots=True)
class Gain:
    """By how much the objective would fall if the block alone were optimised.

    For a single cell under the likelihood that is a closed form (a few Newton steps with l2); for
    a table a small problem is solved. Under the pseudo-likelihood both are lower bounds of the
    gain, exact where the conditionals are the same in every row (at the empty network).

    References
    ----------
    Della Pietra, Della Pietra and Lafferty (1997), Inducing features of random fields; Lee,
    Ganapathi and Koller (2006), with the L1 term.
    """

    def rank(self, space: Space, view: View, keys: Ints, scores: Floats) -> Floats:
        """Return the gains."""
        return view.domain.gains(space, view.point, view.penalty, keys)


@dataclass(frozen=True, slots=True)
class MutualInformation:
    """The mutual information of the block's two variables in the data: the similarity baseline.

    It is the same at every point. Cells of one table are told apart by their violation.

    References
    ----------
    Lee, Ganapathi and Koller (2006), the baseline "simple".
    """

    def rank(self, space: Any, view: View, keys: Ints, scores: Floats) -> Floats:
        """Return the mutual information, in nats."""
        if not isinstance(view.domain, PairDomain):
            raise ValueError("mutual information is of pairs of variables: features have none")
        sample = view.domain.sample
        pairs, which = distinct_pairs(space.pairs(keys), len(sample.cards))
        counts, starts = sample.counts.tables(pairs)
        return table_information(sample, pairs, counts, starts)[which]
