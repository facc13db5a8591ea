"""The rows of a sample under a fitted network: indicators and residuals, in blocks of rows.

In the coordinates of ``Contrasts``: with x_i the indicator of the state of variable i and p_i its
conditional given all others, a row gives K_i' x_i and K_i' (x_i - p_i). Rows need not be complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from graftwork.data.encoded import EncodedRows
from graftwork.data.parts import Parts, RowPart
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.ragged import offsets
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.conditionals import Conditionals, KnownConditionals
from graftwork.objectives.contrasts import Contrasts
from graftwork.objectives.neighbourhoods import Neighbourhoods, padded

if TYPE_CHECKING:
    from graftwork.objectives.pseudo import PseudoPoint

# Numbers a block of rows may take in one of its arrays.
BLOCK_SIZE = 2**22
LEAST_ROWS, MOST_ROWS = 64, 8192


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """Some rows, as they look from a fitted network.

    The lines of variable i start at ``FittedRows.places[i]``. Where it is missing, its residuals
    are zero and its indicators what it counts as for its neighbours.
    """

    spreads: Floats  # (rows,): what each row's squared scores count in variances
    # indicators, residuals: (k, rows): K' x and K' (x - p) of each variable, one after the other
    indicators: Floats
    residuals: Floats


def unchecked() -> None:
    """Let tests go on."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedRows:
    """The rows of a sample under a network."""

    conditionals: Conditionals  # of the network's variables
    contrasts: Contrasts
    # statistics that depend on the sample and on the edges near a pair alone, as far as they are
    # known (see ``significance.tilted``)
    tilted: dict[object, Any] = field(default_factory=dict)
    whole: FittedRows | None = None  # the rows that these show the linear parts of
    # called now and then where tests take long; it may raise KeyboardInterrupt
    check: Callable[[], None] = unchecked

    @staticmethod
    def of(
        point: PseudoPoint,
        contrasts: Contrasts,
        known: dict[object, Any] | None = None,
        check: Callable[[], None] = unchecked,
    ) -> FittedRows:
        """Return the rows under the network where the pseudo-likelihood was evaluated.

        ``known`` are the `tilted` statistics of the same sample and contrasts.
        """
        return FittedRows(
            point.conditionals, contrasts, {} if known is None else known, check=check
        )

    def over_rows(
        self,
        operation: Callable[..., Any],
        *arguments: Any,
        variables: Ints | None = None,
        parts: Parts | None = None,
    ) -> Any:
        """Return what an operation finds in the rows, wherever they are, added up.

        Of `FittedRows` that are here, that is, and the arguments (see `Conditionals.over_rows`).
        """
        if self.sample.parts is None:
            return operation(self, *arguments)
        return self.conditionals.over_rows(
            _in_part, operation, self.contrasts, *arguments, variables=variables, parts=parts
        )

    def some_parts(self, most: int) -> tuple[Parts | None, float]:
        """Return ``most`` different rows where an engine has them, and their share of the weight.

        None, for all rows, where there are not more.
        """
        parts, cache = self.sample.parts, self.conditionals.neighbourhoods.cache.some(most)
        if parts is None or cache is None:
            return None, 1.0
        assert cache.sample.weights is not None
        make = partial(RowPart, cache.sample, 0, self.n_threads, parts.memory)
        some = replace(parts, handles=parts.engine.place([make]), n_rows=cache.sample.n_rows)
        return some, float(cache.sample.weights.sum()) / cache.sample.total_weight

    @property
    def sample(self) -> EncodedRows:
        """The sample."""
        return self.conditionals.sample

    @property
    def potentials(self) -> Potentials:
        """The network."""
        return self.conditionals.potentials

    @property
    def n_threads(self) -> int:
        """How many threads may be used."""
        return self.conditionals.n_threads

    @property
    def straight(self) -> FittedRows:
        """The same rows, of which only what counts in linear parts of tables is looked at."""
        return replace(self, contrasts=self.contrasts.straight, whole=self.whole or self)

    @property
    def places(self) -> Ints:
        """Where each variable's lines start among indicators and residuals."""
        return offsets(self.contrasts.sizes)

    def counted(self, i: int) -> Floats:
        """Return what each code of a variable counts as, in contrasts, shape (codes, k)."""
        basis = self.contrasts.bases[i]
        if self.sample.extended[i] == len(basis):  # a state counts as itself
            return basis
        counted: Floats = self.sample.indicators(i) @ basis
        return counted

    def in_configurations(self, i: int, part: slice) -> Floats:
        """Return a variable's conditionals in some of its configurations, flat, in whole lanes."""
        here = self.conditionals.neighbourhoods.of_variable(i)
        if here.ids is None and here.table is None:
            return self.conditionals.of_rows(i, part.start, part.stop)[0]
        values, states, _ = self.conditionals.of(i)
        if not len(here.others):  # one conditional, whether the variable is observed or not
            values = np.tile(values, here.count)
        width = padded(states)
        return values[part.start * width : part.stop * width]

    def some(self, most: int, variables: Ints | None = None) -> FittedRows:
        """Return ``most`` different rows, or all where there are not more; they are here.

        Shapes: variables (k,) int64.
        """
        here = self.conditionals
        cache = here.neighbourhoods.cache.some(most)
        if cache is None:
            return self
        some = Neighbourhoods.of(self.potentials.layout, cache, variables)
        known = KnownConditionals(here.memory)
        return replace(self, conditionals=replace(here, neighbourhoods=some, known=known))

    @property
    def share(self) -> float:
        """Share of the total weight that the rows have."""
        weights, total = self.sample.weights, self.sample.total_weight
        return float(self.sample.n_rows if weights is None else weights.sum()) / total

    def blocks(self, variables: Ints | None = None) -> Iterator[RowBlock]:
        """Yield all rows, block by block.

        Shapes: variables (k,) int64.
        """
        some = np.arange(len(self.sample.cards)) if variables is None else variables
        width = max(1, int(self.sample.cards.sum()))
        size = int(np.clip(BLOCK_SIZE // width, LEAST_ROWS, MOST_ROWS))
        filler, count = _Filler.of(self, some), self.sample.n_rows
        for start in range(0, count, size):
            yield filler.block(slice(start, min(start + size, count)))


def _in_part(
    at: Conditionals, operation: Callable[..., Any], contrasts: Contrasts, *arguments: Any
) -> Any:
    return operation(FittedRows(at, contrasts), *arguments)


@dataclass(frozen=True, slots=True, eq=False)
class _Filler:
    """What all blocks of rows have in common.

    ``variables`` are those that are filled in. ``seen[i]`` has what each code of variable i counts
    as, ``means[i]`` its conditional in each configuration, in contrasts, shape (k, codes) and
    (k, configurations). None stands for a variable that is looked at row by row and too large to
    keep.
    """

    rows: FittedRows
    places: Ints
    variables: Ints
    seen: dict[int, Floats]
    means: dict[int, Floats | None]

    @staticmethod
    def of(rows: FittedRows, variables: Ints) -> _Filler:
        bases, conditionals = rows.contrasts.bases, rows.conditionals
        some, known = variables.tolist(), conditionals.neighbourhoods.known
        seen = {i: rows.counted(i).T.copy() for i in some}
        fit = conditionals.fit(variables)
        if fit:
            conditionals.remember(variables)
        means = {
            i: bases[i].T @ conditionals.matrix(i).T
            if fit or i not in known or known[i].ids is not None
            else None
            for i in some
        }
        return _Filler(rows, rows.places, variables, seen, means)

    def block(self, where: slice) -> RowBlock:
        """Return some rows."""
        rows, sample = self.rows, self.rows.sample
        count = where.stop - where.start
        spreads = np.ones(count) if sample.spreads is None else sample.spreads[where]
        indicators = np.empty((int(self.places[-1]), count))
        block = RowBlock(spreads, indicators, np.empty_like(indicators))

        def fill(part: slice) -> None:
            for i in self.variables[part].tolist():
                self._fill(block, i, sample.codes[i][where], where)

        costs = np.asarray(sample.cards * rows.contrasts.sizes + 1, dtype=np.float64)
        costs = costs[self.variables]
        run_chunks(fill, cut_evenly(costs, rows.n_threads), rows.n_threads)
        return block

    def _fill(self, block: RowBlock, i: int, codes: Any, where: slice) -> None:
        """Fill the lines of one variable."""
        sample, own = self.rows.sample, slice(self.places[i], self.places[i + 1])
        block.indicators[own] = self.seen[i][:, codes]
        np.subtract(block.indicators[own], self._means(i, where), out=block.residuals[own])
        if sample.extended[i] > sample.cards[i]:
            block.residuals[own, codes >= sample.cards[i]] = 0.0

    def _means(self, i: int, where: slice) -> Floats:
        """Return the conditional of a variable in some rows, in contrasts."""
        conditionals, means = self.rows.conditionals, self.means[i]
        if means is not None:
            ids = conditionals.neighbourhoods.of_variable(i).ids
            return means[:, where if ids is None else ids[where]]
        p = conditionals.in_rows(i, where.start, where.stop)
        found: Floats = self.rows.contrasts.bases[i].T @ p.T
        return found
