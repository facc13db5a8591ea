"""How long one evaluation of a loss and one pass over all pairs take on some data, measured now."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from graftwork.data.counts import PairCounts
from graftwork.data.encoded import EncodedRows
from graftwork.errors import TooLargeError
from graftwork.grafting import NetworkFamily, PairFactors
from graftwork.grafting.chow_liu import chow_liu_edges, tree_potentials
from graftwork.inference.elimination import Cost, estimate
from graftwork.inference.layout import Ints, Layout, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.kernels.threads import one_blas_thread
from graftwork.objectives import Likelihood, Objective
from graftwork.objectives.protocol import Point

# Of larger data a part is timed: most variables, cells of their pairs' tables, states times rows.
MOST_VARIABLES = 300
MOST_CELLS = 2**20
MOST_WORK = 2**23
LEAST_ROWS = 100
# Edges for each variable of the network that is timed.
EDGES = 3
# Seconds that evaluations, and pairs, may be timed for.
SECONDS = 0.3
FIRST_VARIABLES = 8


@dataclass(frozen=True, slots=True)
class Timing:
    """What was timed, and how long it takes on all rows and variables.

    Attributes
    ----------
    variables, rows, pairs : int
        Variables and (merged) rows looked at, and pairs scored.
    edges, refused : int
        Edges of the network evaluated, and of one that inference refused before; 0 for none.
    evaluation, scoring : float
        Seconds of one evaluation of the loss, and of counting and scoring all pairs.
    parameters, entries : int
        Of a network on all variables with as many edges at each, those of ordered variables being
        linear; and numbers held for it, in whole tables.
    exact : bool
        Whether the loss was exact, not from approximate inference.
    inference : Cost
        Of exact inference in the network evaluated.
    """

    variables: int
    rows: int
    pairs: int
    edges: int
    refused: int
    evaluation: float
    scoring: float
    parameters: int
    entries: int
    exact: bool
    inference: Cost


def time_loss(
    family: NetworkFamily,
    objective_of: Callable[[EncodedRows], Objective],
    max_edges: int | None = None,
    everything: bool = False,
) -> Timing:
    """Return how long the loss of a sample takes.

    It is evaluated at the Chow-Liu tree with the pairs that score best there, three edges for each
    variable, or at a network of all pairs; at half or a quarter of them, and so on, where inference
    refuses more.

    Parameters
    ----------
    family : NetworkFamily
        The sample, and which pairs may be edges.
    objective_of : function
        The loss of a sample.
    max_edges : int, optional
        Most edges of a network.
    everything : bool
        Whether all pairs are edges from the start.

    Examples
    --------
    >>> from graftwork.data import Table
    >>> from graftwork.data.encoded import prepare
    >>> from graftwork.objectives import PseudoLikelihood
    >>> codes = [[0, 0, 1, 1] * 9, [0, 0, 1, 1] * 9, [0, 1, 1, 1] * 9]
    >>> sample = prepare(Table(("a", "b", "c"), ((0, 1),) * 3, codes))
    >>> timing = time_loss(NetworkFamily(sample), PseudoLikelihood)
    >>> timing.edges, timing.pairs, timing.parameters, timing.inference.width
    (3, 1, 18, 2)
    """
    part = take_part(family)
    sample, objective = part.sample, objective_of(part.sample)
    space = part.space(part.variables, False)
    pairs = space.pairs(np.arange(space.size))
    grown = max(1, len(family.variables)) / max(1, len(part.variables))
    most = EDGES * len(sample.cards)
    if max_edges is not None:
        most = min(most, round(max_edges / grown))
    with one_blas_thread():  # as in a fit
        counting = _quickest(lambda: sample.counts.compute(pairs)) / max(1, len(pairs))
        edges = pairs[:0] if everything else chow_liu_edges(sample, prior=part.prior)[0]
        tree = _affordable(objective, tree_potentials(sample, edges[:most]))
        absent = pairs[find_edges(tree.potentials.layout, pairs) < 0]
        scored, scoring = _time_scoring(tree, absent)
        network = _of_all(tree, pairs) if everything else _with_best(tree, scored, most)
        point = _affordable(objective, network)
        layout = point.potentials.layout
        evaluation = _quickest(lambda: objective.at(point.potentials).gradient)
    more_rows = family.sample.n_rows / sample.n_rows
    more_work = 1.0 if isinstance(objective, Likelihood) else more_rows
    all_pairs = family.space(family.variables, False).size
    if everything:  # a variable of more has more neighbours, too
        grown *= grown
    return Timing(
        variables=len(sample.cards),
        rows=sample.n_rows,
        pairs=len(scored),
        edges=layout.n_edges,
        refused=network.layout.n_edges if layout.n_edges < network.layout.n_edges else 0,
        evaluation=evaluation * more_work * grown,
        scoring=(counting * more_rows + scoring * more_work) * all_pairs,
        parameters=round((int(sample.cards.sum()) + free_in(sample, network.layout.edges)) * grown),
        entries=round(network.layout.size * grown),
        exact=point.exact,
        inference=estimate(layout.cards, layout.edges),
    )


def free_in(sample: EncodedRows, pairs: Ints) -> int:
    """Return how many numbers the tables of pairs have; of ordered variables the linear parts.

    Examples
    --------
    >>> from graftwork.data import Table
    >>> from graftwork.data.encoded import prepare
    >>> from graftwork.data.scores import Ordered
    >>> table = Table(("a", "b"), ((0, 1, 2), (0, 1)), [[0, 1, 2], [0, 1, 0]])
    >>> free_in(prepare(table), np.array([[0, 1]]))
    6
    >>> free_in(prepare(table.with_order(Ordered({"a": {0: 0, 1: 1, 2: 2}}))), np.array([[0, 1]]))
    2
    """
    widths = sample.cards if sample.scores is None else sample.scores.widths
    return int(widths[pairs].prod(axis=1).sum())


def take_part(family: NetworkFamily) -> NetworkFamily:
    """Return the variables that vary and all rows, or some of them where all would take long.

    Examples
    --------
    >>> from graftwork.data import Table
    >>> from graftwork.data.encoded import prepare
    >>> sample = prepare(Table(("a", "b"), ((0, 1), (0,)), [[0, 1], [0, 0]]))
    >>> take_part(NetworkFamily(sample)).sample.codes
    array([[0, 1]], dtype=uint8)
    """
    sample = family.sample
    chosen = np.random.default_rng(0).permutation(family.variables)
    wide = sample.cards[chosen] ** 2 > MOST_CELLS
    chosen = chosen[np.argsort(wide, kind="stable")][:MOST_VARIABLES]
    cells = sample.cards[chosen].cumsum() ** 2 / 2
    chosen = np.sort(chosen[: max(2, int((cells <= MOST_CELLS).sum()))])
    if not len(chosen):
        chosen = np.arange(1)  # nothing varies
    most = max(LEAST_ROWS, MOST_WORK // int(sample.cards[chosen].sum()))
    rows = np.unique(np.linspace(0, sample.n_rows - 1, min(most, sample.n_rows)).astype(np.int64))
    prior = None
    if family.prior is not None:
        space = family.space(chosen, False)
        allowed = np.searchsorted(chosen, space.pairs(np.arange(space.size)))
        prior = PairFactors.of(len(chosen), allowed, 1.0, default=np.inf)
    return NetworkFamily(_cut(sample, chosen, rows), prior)


def _cut(sample: EncodedRows, variables: Ints, rows: Ints) -> EncodedRows:
    """Return some variables and (merged) rows of a sample, with counts of their own."""
    codes = np.ascontiguousarray(sample.codes[np.ix_(variables, rows)])
    weights = None if sample.weights is None else sample.weights[rows]
    cards, threads = sample.cards[variables], sample.counts.n_threads
    extended = sample.extended[variables]
    return replace(
        sample,
        codes=codes,
        weights=weights,
        cards=cards,
        declared=sample.declared[variables],
        kept=tuple(sample.kept[i] for i in variables),
        total_weight=float(len(rows) if weights is None else weights.sum()),
        counts=PairCounts(codes, cards, weights, threads, extended=extended),
        scores=None if sample.scores is None else sample.scores.take(variables),
    )


def _affordable(objective: Objective, potentials: Potentials) -> Point:
    """Return the loss at a network, or at the largest of halves of it that inference takes."""
    layout = potentials.layout
    while layout.n_edges:
        try:
            return objective.at(Potentials(layout, potentials.weights[: layout.size]))
        except TooLargeError:
            layout = Layout.of(layout.cards, layout.edges[: layout.n_edges // 2])
    return objective.at(Potentials(layout, potentials.weights[: layout.size]))


def _of_all(point: Point, pairs: Ints) -> Potentials:
    """Return a network without edges as one in which all pairs have tables of zeros."""
    start = point.potentials
    layout = Layout.of(start.layout.cards, pairs)
    weights = layout.zeros()
    weights[: layout.n_unary] = start.weights
    return Potentials(layout, weights)


def _with_best(point: Point, pairs: Ints, most: int) -> Potentials:
    """Return the network with the pairs of largest gradient, one step down it."""
    start, room = point.potentials, most - point.potentials.layout.n_edges
    if not len(pairs) or room <= 0:
        return start
    gradients, offsets, _ = point.pair_gradients(pairs)
    norms = np.add.reduceat(gradients**2, offsets[:-1])
    best = np.argsort(-norms, kind="stable")[:room]
    tables = [-gradients[offsets[k] : offsets[k + 1]] for k in best]
    layout = Layout.of(start.layout.cards, np.concatenate([start.layout.edges, pairs[best]]))
    return Potentials(layout, np.concatenate([start.weights, *tables]))


def _time_scoring(point: Point, pairs: Ints) -> tuple[Ints, float]:
    """Return all pairs of as many variables as there is time for, and the seconds of each.

    Pairs of few variables are scored together, so single ones would tell little.
    """
    width, seconds = FIRST_VARIABLES, 0.0
    while True:
        some = pairs[(pairs < width).all(axis=1)]
        if len(some):
            seconds = _quickest(partial(point.pair_gradients, some))
        if 4.0 * seconds > SECONDS or width >= point.potentials.layout.n_variables:
            return some, seconds / max(1, len(some))
        width *= 2


def _quickest(work: Callable[[], object]) -> float:
    """Return the seconds of the quickest of a few runs: the first may compile, others wait."""
    begun, took = time.perf_counter(), [_seconds(work), _seconds(work)]
    while len(took) < 5 and time.perf_counter() - begun < SECONDS:
        took.append(_seconds(work))
    return min(took)


def _seconds(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
