"""Missing cells drawn from networks that were learned without them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from graftwork.data import Table
from graftwork.data.encode import are_whole
from graftwork.data.encoded import EncodedRows
from graftwork.data.encoded_parts import completed_parts, decoded, rows_at, with_drawn_parts
from graftwork.data.missing import missing_cells
from graftwork.data.placed import AnyTable, PlacedTable
from graftwork.estimators.spec import FitSpec
from graftwork.estimators.starts import carry_over
from graftwork.grafting import Problem
from graftwork.grafting.trace import check_of
from graftwork.inference.incomplete import impute, seed_of
from graftwork.inference.layout import Potentials
from graftwork.objectives import PseudoLikelihood
from graftwork.objectives.contrasts import Contrasts
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.penalties import GroupL1
from graftwork.selection import refit
from graftwork.significance.lost import NOTHING_LOST, Lost
from graftwork.significance.pooling import frequent_states

if TYPE_CHECKING:
    from graftwork.estimators.fit import Fit
    from graftwork.estimators.missing import MissingCells
    from graftwork.models import PairwiseMRF

    FitRows = Callable[
        [FitSpec, AnyTable, EncodedRows, MissingCells, PairwiseMRF | None, int | None], Fit
    ]

# How often edges are learned before the final network, and how often cells are drawn with each
# set of edges.
STAGES = 2
DRAWS = 3
# Accuracy of the weights that cells are drawn with: the noise of drawing is far larger.
ACCURACY = 1e-3
# The least false discovery rate of the networks that cells are drawn from: a pair that the tests
# of a single draw leave out there would have to be found in cells that were drawn without it.
DRAWN_FDR = 0.3
# Rows that lack cells are drawn so often for the network itself, and so often, about so many of
# them, to see what its tests lack. (A power of two: shares of weights are then exact.)
COPIES = 4
KEPT, SOME_ROWS = 4, 2048
# A row that counts for many is drawn for so many, at most.
MOST_COPIES = 20


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A sample with its missing cells drawn.

    Attributes
    ----------
    sample : EncodedRows
    near : PairwiseMRF or None
        The last network that cells were drawn with.
    stopped : Fit or None
        After an interrupt: the last network that was learned on the way.
    lost : Lost
        What the missing cells take from tests that take drawn cells for observed ones.
    """

    sample: EncodedRows
    near: PairwiseMRF | None = None
    stopped: Fit | None = None
    lost: Lost = NOTHING_LOST


def draw_missing(
    spec: FitSpec,
    table: AnyTable,
    sample: EncodedRows,
    found: MissingCells,
    rng: np.random.Generator,
    fit_rows: FitRows,
    near: PairwiseMRF | None = None,
) -> Drawn:
    """Return the sample with its missing cells drawn, given the observed cells of their rows.

    The first edges are learned with averages in place of missing neighbours: those of the network,
    and weak ones between variables whose common neighbours are missing. In turns, missing cells are
    drawn from the network and its weights are fitted to the observed cells, given the drawn ones (a
    stochastic EM algorithm), and the weak ones fade. Edges learned anew from such rows have few of
    them.
    """
    if sample.complete:
        return Drawn(sample, near)
    drawing = _Drawing(spec, table, sample, found, rng, fit_rows, near)
    try:
        for stage in range(STAGES):
            drawing.learn(stage)
        return Drawn(drawing.drawn, drawing.near, lost=drawing.lost())
    except KeyboardInterrupt:
        if drawing.last is None:
            raise
        return Drawn(drawing.drawn, stopped=replace(drawing.last, interrupted=True))


class _Drawing:
    """Networks and drawn cells, in turns.

    ``drawn`` is the sample as it was drawn last, ``last`` the last network, and ``near`` where the
    next one begins.
    """

    def __init__(
        self,
        spec: FitSpec,
        table: AnyTable,
        sample: EncodedRows,
        found: MissingCells,
        rng: np.random.Generator,
        fit_rows: FitRows,
        near: PairwiseMRF | None,
    ) -> None:
        self._spec = replace(spec, loss="pseudolikelihood", tie=None)  # not tied on the way
        self._table, self._sample, self._found, self._rng = table, sample, found, rng
        self._fit_rows = fit_rows
        self._begun = time.monotonic()
        # How often each row that lacks cells is drawn: where a criterion may deal them out, once.
        self._copies = 1
        self.drawn, self.near = sample, near
        self.last: Fit | None = None
        self._drawn_from: Potentials | None = None

    def learn(self, stage: int) -> None:
        """Learn edges, and draw cells with them.

        The first edges need no more than one look, and none where a network is near.
        """
        fresh = False
        if stage or self.near is None:
            found = replace(self._found, drawn=self.drawn is not self._sample)
            spec = replace(
                self._spec.with_seconds(self._left(stage)), fdr=max(self._spec.fdr, DRAWN_FDR)
            )
            fit = self._fit_rows(spec, self._table, self.drawn, found, self.near, stage)
            self.last, self.near, fresh = fit, fit.model, fit.refitted
            if fit.interrupted:
                raise KeyboardInterrupt
        potentials = carry_over(self.near, self._table, self._sample)
        for draw in range(DRAWS):
            if draw or not fresh:
                potentials = self._fitted(potentials, stage)
            if self._spec.tests and (stage, draw) == (STAGES - 1, DRAWS - 1):
                self._copies = COPIES
            self.drawn = _drawn(self._sample, self._copies, potentials, self._rng)
            self._drawn_from = potentials
            if self._left(stage) == 0:
                break

    def lost(self) -> Lost:
        """Return what the missing cells take from the tests of edges that they were drawn with."""
        if not self._spec.tests or self._drawn_from is None:
            return NOTHING_LOST
        curved = None if self.drawn.scores is None else frozenset[tuple[int, int]]()
        contrasts = frequent_states(self.drawn, curved)
        return lost_in(self._spec, self.drawn, self._drawn_from, contrasts, self._copies, self._rng)

    def _left(self, stage: int) -> float | None:
        """Return the seconds left for a stage: all stages and the final fit have the same share."""
        limit = self._spec.budget.max_seconds
        if limit is None:
            return None
        share = limit * (stage + 1) / (STAGES + 1)
        return max(0.0, self._begun + share - time.monotonic())

    def _fitted(self, start: Potentials, stage: int) -> Potentials:
        """Return weights that fit the observed cells, given those drawn last; not shrunken.

        Cells drawn with shrunken weights would depend too little on their neighbours, and leave
        others to stand in for them.
        """
        # Unaries that are not free, where states without counts are kept, get the prior too.
        penalty = GroupL1(0.0, unary_l2=float(bool(self._spec.unary)))
        problem = Problem(PseudoLikelihood(self.drawn, self._spec.n_jobs), penalty)
        fitted = refit(problem, start, ACCURACY, halted=lambda: self._left(stage) == 0)
        potentials: Potentials = fitted.point.potentials
        return potentials


Rows = TypeVar("Rows", Table, PlacedTable, AnyTable)


def completed(table: Rows, sample: EncodedRows) -> Rows:
    """Return the rows of a sample with the states that were drawn, as if they had been observed."""
    if isinstance(table, PlacedTable):
        return completed_parts(table, sample)
    states = [listed[:s] for listed, s in zip(table.states, sample.declared, strict=True)]
    weights, squares = sample.counts.weights, sample.counts.squares
    if squares is None and weights is not None and not are_whole(weights):
        squares = weights  # copies of rows: parts of a row count as such, and are no survey weights
    return Table(table.names, tuple(states), decoded(sample), weights, table.ordered, (), squares)


def lost_in(
    spec: FitSpec,
    drawn: EncodedRows,
    potentials: Potentials,
    contrasts: Contrasts,
    copies: int,
    rng: np.random.Generator,
) -> Lost:
    """Return what missing cells take from the tests of edges, as some of the rows tell."""
    count = drawn.n_given
    places = np.arange(min(count, SOME_ROWS))
    if count > SOME_ROWS:
        places = np.sort(rng.choice(count, SOME_ROWS, replace=False))
    codes, weights = rows_at(drawn, places)
    if count > SOME_ROWS:
        weights = weights * (drawn.total_weight / weights.sum())
    cards, draws = drawn.cards[:, None], []
    for _ in range(KEPT):
        states = impute(potentials, codes, rng)
        cells = np.where(codes < cards, codes, states + (spec.missing != "impute") * cards)
        own = drawn.with_rows(cells.astype(codes.dtype), weights)
        point = PseudoLikelihood(own, spec.n_jobs).at(potentials)
        draws.append(FittedRows.of(point, contrasts, check=check_of(spec.observer)))
    return Lost.of(draws, copies)


def _drawn(
    sample: EncodedRows, copies: int, potentials: Potentials, rng: np.random.Generator
) -> EncodedRows:
    """Return the sample with its missing cells drawn from a network, in so many copies."""
    seed = seed_of(rng)
    if sample.parts is None:
        sample = sample.in_copies(copies)
        return sample.with_drawn(impute(potentials, sample.counts.codes, seed))
    return with_drawn_parts(sample, copies, _draw, potentials, seed)


def _draw(codes: Any, start: int, potentials: Potentials, seed: int) -> Any:
    return impute(potentials, codes, seed, first_row=start)


def copies_of_rows(table: Table) -> Table:
    """Return the table with rows that lack cells and count for many in several lighter copies.

    One state drawn for all of them would be noise that many rows of weight one do not have.

    Examples
    --------
    >>> table = Table(("a",), ((0, 1, "(missing)"),), [[0, 2, 1]], np.array([9.0, 3.0, 1.0]))
    >>> copies_of_rows(table).weights
    array([9., 1., 1., 1., 1.])
    """
    if table.weights is None or table.squares is not None:
        return table
    whole = np.clip(np.floor(table.weights), 1, MOST_COPIES).astype(np.int64)
    times = np.where(missing_cells(table).any(axis=0), whole, 1)
    places = np.repeat(np.arange(table.n_rows), times)
    before = np.arange(len(places)) - np.repeat(np.cumsum(times) - times, times)
    each = (table.weights / times)[places]
    weights = np.floor((before + 1) * each + 1e-9) - np.floor(before * each + 1e-9)
    codes = np.take(table.codes, places, axis=1)
    return Table.trusted(table.names, table.states, codes, weights, table.ordered)
