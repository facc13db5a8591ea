"""What users know about edges beforehand, as factors of the penalties of pairs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np

from graftwork.data.columns import level_of_caller
from graftwork.data.encoded import EncodedRows
from graftwork.data.placed import AnyTable
from graftwork.errors import DataError, DataWarning, ParameterError
from graftwork.estimators.named_pairs import ask_pairs, find_pairs, pairs_where
from graftwork.grafting import ChowLiu, GivenEdges, NetworkFamily, PairFactors, Recipe
from graftwork.inference.layout import Floats, Ints
from graftwork.models.graphs import is_graph
from graftwork.models.inputs import find, number
from graftwork.parameters import LARGEST, known

Names = tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PriorKnowledge:
    """What is known about edges before learning.

    Parameters
    ----------
    required, forbidden, candidates : optional
        Pairs of names that always are edges (without a penalty), never are, and the only ones that
        may be: a list of pairs, a networkx.Graph, or a function of two names that returns True for
        them. Required pairs need not be candidates.
    penalty_weights : optional
        What lam is multiplied by for single edges: a dict ``{(a, b): factor}``, a function of two
        names, or a symmetric matrix (a data frame by names, an array by position). 0 is no penalty,
        infinity forbids the edge, and pairs that are not given have 1. l2 is the same for all.

    Examples
    --------
    >>> PriorKnowledge(required=[("smokes", "cough")]).required
    [('smokes', 'cough')]
    """

    required: Any = None
    forbidden: Any = None
    candidates: Any = None
    penalty_weights: Any = None

    @staticmethod
    def read(given: Any) -> PriorKnowledge:
        """Return the knowledge given: as such, as a dict, or None for nothing."""
        if given is None:
            return PriorKnowledge()
        if isinstance(given, PriorKnowledge):
            return given
        if not isinstance(given, Mapping):
            raise ParameterError(
                f"knowledge must be a graftwork.PriorKnowledge, or a dict of what it takes; got "
                f"{given!r}."
            )
        for name in given:
            known("knowledge: option", name, [each.name for each in fields(PriorKnowledge)])
        return PriorKnowledge(**given)

    @property
    def empty(self) -> bool:
        """Whether nothing is known."""
        return all(getattr(self, each.name) is None for each in fields(self))

    def family(
        self, table: AnyTable, sample: EncodedRows, recipe: Recipe, max_edges: int | None = None
    ) -> NetworkFamily:
        """Return the pairs that may become edges, with what is known about them."""
        if self.empty:
            return NetworkFamily(sample)
        names = table.names
        barred = self._barred(names)
        required = self._find("required", names)
        _check_possible(required, barred, names)
        factors = barred
        if self.candidates is not None:
            allowed = self._find("candidates", names)
            factors = barred.times(PairFactors.of(len(names), allowed, 1.0, default=np.inf))
        required = _varying(required, names, sample)
        _check_room(max_edges, recipe, required, names)
        factors = factors.requiring(required)
        return NetworkFamily(sample, None if factors.trivial else factors)

    def counts(self, family: NetworkFamily) -> dict[str, int] | None:
        """Return in numbers what was known about edges; None for nothing.

        Of pairs of columns that vary: how many are required, how many may not be edges, and for how
        many of the others the penalty is not the usual one.
        """
        if self.empty:
            return None
        everything = NetworkFamily(family.sample).space(family.variables, False).size
        allowed = family.space(family.variables, False)
        prior = family.prior
        weighted = 0
        if prior is not None:
            vary = np.isin(prior.pairs, family.variables).all(axis=1)
            own = vary & np.isfinite(prior.values) & (prior.values != 1.0)
            weighted = int((own & ~prior.requires(prior.pairs)).sum())
        return {
            "required": len(family.required),
            "forbidden": everything - allowed.size,
            "weighted": weighted,
        }

    def _find(self, parameter: str, names: Names) -> Ints:
        """Return the pairs meant: those of a list or a graph, or where a function says True."""
        given = getattr(self, parameter)
        if given is None:
            return np.zeros((0, 2), dtype=np.int64)
        if callable(given) and not is_graph(given):
            return pairs_where(parameter, given, names)
        return find_pairs(parameter, given, names)

    def _barred(self, names: Names) -> PairFactors:
        """Return the penalties' factors, infinite for what is forbidden."""
        forbidden = PairFactors.of(len(names), self._find("forbidden", names), np.inf)
        if self.penalty_weights is None:
            return forbidden
        return read_weights(self.penalty_weights, names).times(forbidden)


def _check_possible(required: Ints, barred: PairFactors, names: Names) -> None:
    """Refuse pairs that are required and forbidden."""
    for i, j in required[np.isinf(barred.at(required))].tolist():
        raise ParameterError(
            f"the edge between {names[i]!r} and {names[j]!r} is both required and forbidden (a "
            "penalty weight of infinity forbids, too); take it out of one of them."
        )


def _varying(required: Ints, names: Names, sample: EncodedRows) -> Ints:
    """Return the required pairs of columns that vary; say which others there are."""
    vary = (sample.cards[required] > 1).all(axis=1)
    if not vary.all():
        i, j = required[~vary][0].tolist()
        constant = names[i] if sample.cards[i] < 2 else names[j]
        warnings.warn(
            f"{int((~vary).sum())} of the required edges cannot be learned and are left out: a "
            f"column that never changes, such as {constant!r}, has no edges.",
            DataWarning,
            stacklevel=level_of_caller(),
        )
    return required[vary]


def _check_room(max_edges: int | None, recipe: Recipe, required: Ints, names: Names) -> None:
    """Refuse more required edges than there may be, and cycles where a tree is wanted."""
    import networkx as nx

    graph = nx.Graph(required.tolist())
    count = graph.number_of_edges()
    if max_edges is not None and count > max_edges:
        raise ParameterError(
            f"max_edges={max_edges} leaves no room for the {count} required edges; raise it, "
            "or require fewer."
        )
    tree = isinstance(recipe.selector, GivenEdges) and isinstance(recipe.start, ChowLiu)
    if tree and count and not nx.is_forest(graph):
        cycle = ", ".join(repr(names[i]) for i, _ in nx.find_cycle(graph))
        raise ParameterError(
            f"method {recipe.name!r} gives a tree, but the required edges form a cycle ({cycle}); "
            "require one edge less, or use another method."
        )


_NAME = "penalty_weights"


def read_weights(given: Any, names: tuple[Any, ...]) -> PairFactors:
    """Return the factors that a user means; pairs that are not given have 1."""
    if isinstance(given, Mapping):
        return _from_mapping(given, names)
    if callable(given):
        return _from_function(given, names)
    return _from_matrix(given, names)


def _from_mapping(given: Mapping[Any, Any], names: tuple[Any, ...]) -> PairFactors:
    pairs = find_pairs(_NAME, list(given), names)
    values: dict[tuple[int, int], float] = {}
    for (i, j), (pair, factor) in zip(pairs.tolist(), given.items(), strict=True):
        value = _factor(factor, pair)
        if values.setdefault((i, j), value) != value:
            raise ParameterError(
                f"{_NAME} gives {pair!r} twice, with {values[i, j]:g} and {value:g}; either order "
                "means the same pair, so give it once."
            )
    return PairFactors.of(len(names), list(values), list(values.values()))


def _from_function(given: Any, names: tuple[Any, ...]) -> PairFactors:
    pairs, answers = ask_pairs(_NAME, given, names, "a dict {(a, b): factor}")
    values = np.ones(len(pairs))
    for place, ((i, j), both) in enumerate(zip(pairs.tolist(), answers, strict=True)):
        pair = names[i], names[j]
        values[place], other = (_factor(answer, pair) for answer in both)
        if values[place] != other:
            raise ParameterError(
                f"{_NAME} must not depend on the order of two names; of {pair!r} it says "
                f"{values[place]:g}, and {other:g} the other way round."
            )
    some = values != 1.0
    return PairFactors.of(len(names), pairs[some], values[some])


def _from_matrix(given: Any, names: tuple[Any, ...]) -> PairFactors:
    columns = getattr(given, "columns", None)
    rows: Any = getattr(given, "index", columns)
    try:
        matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    n = len(names)
    if matrix.ndim != 2 or (columns is None and matrix.shape != (n, n)):
        what = f"shape {matrix.shape}" if matrix.ndim == 2 else f"a {type(given).__name__}"
        raise ParameterError(
            f"{_NAME} must be a dict {{(a, b): factor}}, a function of two names, or a matrix of "
            f"shape ({n}, {n}); got {what}."
        )
    if columns is not None:
        matrix = _by_name(matrix, list(rows), list(columns), names)
    return _from_square(matrix, names)


def _by_name(matrix: Floats, rows: list[Any], columns: list[Any], names: tuple[Any, ...]) -> Floats:
    """Return a matrix with names for its rows and columns in the order of the data's columns."""
    index = number(names)
    try:
        down, across = ([find(name, names, index) for name in part] for part in (rows, columns))
    except DataError as error:
        raise ParameterError(f"{_NAME}: {error}") from None
    if sorted(down) != sorted(across) or len(set(down)) < len(down):
        raise ParameterError(
            f"{_NAME}: rows and columns of the matrix must have the same names, each once."
        )
    whole = np.ones((len(names), len(names)))
    whole[np.ix_(down, across)] = matrix
    return whole


def _from_square(matrix: Floats, names: tuple[Any, ...]) -> PairFactors:
    i, j = np.triu_indices(len(names), 1)
    above, below = matrix[i, j], matrix[j, i]
    for place in np.flatnonzero(~(above >= 0) | ~(below >= 0))[:1]:
        bad = below if above[place] >= 0 else above
        _factor(float(bad[place]), (names[i[place]], names[j[place]]))
    for place in np.flatnonzero(~np.isclose(above, below, rtol=1e-9, atol=0.0))[:1]:
        raise ParameterError(
            f"{_NAME}: the matrix is not symmetric: {names[i[place]]!r} and {names[j[place]]!r} "
            f"have {above[place]:g}, and {below[place]:g} the other way round."
        )
    some = above != 1.0
    return PairFactors.of(len(names), np.stack([i, j], axis=1)[some], above[some])


def _factor(value: Any, pair: Any) -> float:
    """Return a factor, or refuse what is no number from 0 to 1e100, nor infinity."""
    number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not number or not (0 <= value <= LARGEST or value == np.inf):
        raise ParameterError(
            f"{_NAME}: the factor of {pair!r} must be a number from 0 (not penalised) to "
            f"{LARGEST:g}, or infinity (never an edge), got {value!r}."
        )
    return float(value)
