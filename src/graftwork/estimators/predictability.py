"""Predictability: how well each variable can be told from all others, by a network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal

import numpy as np

from graftwork.data import Table
from graftwork.data.missing import MISSING_STATE
from graftwork.data.parts import add_up
from graftwork.data.placed import PlacedTable
from graftwork.data.placing import comes_in_parts, placed
from graftwork.estimators.edges import as_frame
from graftwork.estimators.fit import fit
from graftwork.estimators.learned_from import LearnedFrom
from graftwork.estimators.missing import read_rows_to_draw
from graftwork.estimators.resampling import seeds_for
from graftwork.estimators.spec import FitSpec
from graftwork.grafting.trace import Silence
from graftwork.inference.layout import Floats
from graftwork.models import PairwiseMRF
from graftwork.models.gaps import ScoredRows
from graftwork.notebooks import repr_html
from graftwork.parameters import whole_number
from graftwork.selection.folds import MOST_COUNTS, count_observations, deal

Record = dict[str, Any]
#: What rows add to a `Predictability`, see `_part_sums`.
Sums = tuple[Floats, list[Floats], Floats]
#: Rows that the network was learned from, rows that it was not, or rows of which nothing is known.
Sample = Literal["in-sample", "held-out", "given"]

COLUMNS = (
    "variable", "accuracy", "marginal_accuracy", "normalised_accuracy", "log_loss",
    "marginal_log_loss", "explained_deviance", "n",
)  # fmt: skip
#: A state that occurs in the rows, but in none of those learned from, counts as half a row there.
_UNSEEN = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Predictability:
    """How well a network predicts each variable from all others.

    A variable is predicted to be in its most probable state given all other cells of the row. The
    marginals that this is compared with are the frequencies in the rows learned from. Sums over
    rows are by their weights.

    Attributes
    ----------
    names : tuple
        The variables.
    n : (variables,) float64
        Total weight of the cells predicted: those that are observed.
    correct, marginal_correct : (variables,) float64
        Weight of the cells predicted correctly: by the network, and by the most frequent state.
    loss, marginal_loss : (variables,) float64
        Sums of the negative log-probabilities of the cells, in nats: by the network, and by the
        marginals.
    n_rows : int
        How many rows were predicted; a row of weight 3 is three.
    sample : {"in-sample", "held-out", "given"}
        Whether the network was learned from them; "given" where that is not known.
    n_folds : int
        How many networks predicted the rows that they were not learned from; 0 for none.

    Examples
    --------
    >>> import graftwork as gw
    >>> rows = [["sun", "dry"], ["rain", "wet"]] * 45 + [["sun", "wet"]] * 10
    >>> net = gw.MarkovNetwork(lam=0.01).fit(rows)
    >>> table = net.predictability(rows)
    >>> found = net.predictability_
    >>> (found.correct / found.n).tolist()
    [0.9, 0.9]
    """

    names: tuple[Any, ...]
    n: Floats
    correct: Floats
    marginal_correct: Floats
    loss: Floats
    marginal_loss: Floats
    n_rows: int
    sample: Sample = "given"
    n_folds: int = 0

    _repr_html_ = repr_html

    @property
    def accuracy(self) -> Floats:
        """The share of cells predicted correctly, shape (variables,); NaN where there are none."""
        return _ratio(self.correct, self.n)

    @property
    def marginal_accuracy(self) -> Floats:
        """The share of cells in the state that is most frequent in the rows learned from."""
        return _ratio(self.marginal_correct, self.n)

    @property
    def normalised_accuracy(self) -> Floats:
        """What the other variables add to the marginal accuracy, as a share of what they could.

        1 for perfect predictions, 0 for none better than the most frequent state, negative for
        worse ones; NaN for a variable that is always in that state.
        """
        return _ratio(self.correct - self.marginal_correct, self.n - self.marginal_correct)

    @property
    def explained_deviance(self) -> Floats:
        """The share of the marginals' log-loss that the other variables explain.

        1 for perfect predictions, 0 for none better than the marginals, negative for worse ones;
        NaN for a variable that is always in one state.
        """
        return _ratio(self.marginal_loss - self.loss, self.marginal_loss)

    def records(self) -> list[Record]:
        """Return a record for each variable, in their order.

        Returns
        -------
        list of dict
            ``variable``; ``accuracy``, ``marginal_accuracy``, ``normalised_accuracy``; ``log_loss``
            and ``marginal_log_loss`` of a cell, in nats; ``explained_deviance``; ``n``, the weight
            of the cells predicted.
        """
        columns = {
            "accuracy": self.accuracy,
            "marginal_accuracy": self.marginal_accuracy,
            "normalised_accuracy": self.normalised_accuracy,
            "log_loss": _ratio(self.loss, self.n),
            "marginal_log_loss": _ratio(self.marginal_loss, self.n),
            "explained_deviance": self.explained_deviance,
            "n": self.n,
        }
        return [
            {"variable": name} | {key: float(values[i]) for key, values in columns.items()}
            for i, name in enumerate(self.names)
        ]

    def to_frame(self) -> Any:
        """Return the records as a DataFrame where pandas is installed, else a list."""
        return as_frame(self.records(), COLUMNS, COLUMNS[1:])


def _ratio(above: Floats, below: Floats) -> Floats:
    out = np.full(len(below), np.nan)
    np.divide(above, below, out=out, where=below > 0)
    return out


def predict_each(
    model: PairwiseMRF, rows: ScoredRows, counts: Sequence[Floats] | None = None
) -> Predictability:
    """Return how well a network predicts each variable of some rows from all others.

    Missing cells are not predicted, and count in predictions of others as they do in scores.
    """
    cards = model.potentials.layout.cards.tolist()
    weights = np.ones(rows.codes.shape[1]) if rows.weights is None else rows.weights
    here = [
        np.bincount(codes, weights, minlength=s)[:s].astype(np.float64)
        for codes, s in zip(rows.codes, cards, strict=True)
    ]
    known = here if counts is None else [each[:s] for each, s in zip(counts, cards, strict=True)]
    sums = np.zeros((5, len(cards)))
    for i, (seen, learned) in enumerate(zip(here, known, strict=True)):
        given = np.where((learned == 0) & (seen > 0), _UNSEEN, learned)
        sums[:, i] = (seen.sum(), 0.0, seen[np.argmax(learned)], 0.0, _cross_entropy(seen, given))
    for i, at, logits in model.conditional_logits(rows):
        own = rows.codes[i, at].astype(np.int64)
        logits -= logits.max(axis=0)
        logs = logits[own, np.arange(len(at))] - np.log(np.exp(logits).sum(axis=0))
        sums[1, i] += weights[at] @ (np.argmax(logits, axis=0) == own)
        sums[3, i] -= weights[at] @ logs
    n, correct, marginal_correct, loss, marginal_loss = sums
    return Predictability(
        model.names,
        n,
        correct,
        marginal_correct,
        loss,
        marginal_loss,
        count_observations(weights),
    )


def _cross_entropy(seen: Floats, given: Floats) -> float:
    """Return the sum of the negative log-probabilities, by the frequencies given."""
    some = seen > 0
    return float(-seen[some] @ np.log(given[some] / given.sum()))


def predict_rows(
    model: PairwiseMRF, data: LearnedFrom, X: Any, sample_weight: Any = None, owner: str = "model"
) -> Predictability:
    """Return how well a network that was learned from some data predicts rows.

    Rows as many as those, with every state as often as there, are taken for the same.
    """
    if comes_in_parts(X):
        with placed(X, weights=sample_weight, missing="state") as table:
            return predict_parts(model, data, table, owner)
    rows = model.rows_to_score(X, weights=sample_weight, owner=owner)
    found = predict_each(model, rows, data.counts)
    same = rows.n_given == data.n_rows and all(
        np.allclose(np.bincount(codes, rows.weights, minlength=len(each))[: len(each)], each)
        for codes, each in zip(rows.codes, data.counts, strict=True)
    )
    return replace(found, sample="in-sample" if same else "given")


def predict_parts(
    model: PairwiseMRF, data: LearnedFrom, table: PlacedTable, owner: str = "model"
) -> Predictability:
    """Return how well a network predicts rows that are in parts, as `predict_rows` does."""
    sums: Sums = table.over_tables(_part_sums, model, model.scoring(None), data.counts, owner)
    same = sums[2][0] == data.n_rows and all(
        np.allclose(seen, each[: len(seen)])
        for seen, each in zip(sums[1], data.counts, strict=True)
    )
    return replace(_of_sums(model, sums, data.counts), sample="in-sample" if same else "given")


def predict_tables(
    model: PairwiseMRF, tables: Callable[[], Iterable[Table]], missing: str | None = None
) -> Predictability:
    """Return how well a network predicts the rows of several tables; marginals are of all of them.

    Examples
    --------
    >>> alike = [[1.0, 0.0], [0.0, 1.0]]
    >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): alike})
    >>> rows = Table(("a", "b"), ((0, 1), (0, 1)), [[0, 1, 1, 1], [0, 1, 0, 1]])
    >>> parts = [rows.take_rows([0, 1]), rows.take_rows([2, 3])]
    >>> predict_tables(model, lambda: parts).normalised_accuracy.tolist()
    [0.0, 0.5]
    """
    how, cards = model.scoring(missing), model.potentials.layout.cards.tolist()
    counts = [np.zeros(s) for s in cards]
    for table in tables():
        rows = _rows_of(table, model, how)
        if rows is not None:
            counts = add_up(counts, _counted(rows, cards))
    found = (_part_sums(table, model, how, counts) for table in tables())
    return _of_sums(model, reduce(add_up, found), counts)


def _of_sums(model: PairwiseMRF, sums: Sums, counts: Sequence[Floats]) -> Predictability:
    """Return what sums over parts say."""
    (n, correct, marginal_correct, loss), here, (_, weight, some, broken) = sums
    marginal_loss = np.zeros(len(n))
    for i, (seen, known) in enumerate(zip(here, counts, strict=True)):
        learned = known[: len(seen)]
        given = np.where((learned == 0) & (seen > 0), _UNSEEN, learned)
        marginal_loss[i] = _cross_entropy(seen, given)
    rows = int(weight) if not broken and weight < MOST_COUNTS else int(some)
    return Predictability(model.names, n, correct, marginal_correct, loss, marginal_loss, rows)


def _rows_of(table: Table, model: PairwiseMRF, how: str, owner: str = "model") -> ScoredRows | None:
    """Return the rows of a part to predict; None if there are none of any weight."""
    if how == "drop-rows":
        table = _complete_part(table, model)
    if not table.n_rows or (table.weights is not None and not table.weights.any()):
        return None
    return model.rows_to_score(table, how, owner=owner)


def _counted(rows: ScoredRows, cards: Sequence[int]) -> list[Floats]:
    """Return the weight of rows in each state."""
    return [
        np.bincount(codes, rows.weights, minlength=s)[:s].astype(np.float64)
        for codes, s in zip(rows.codes, cards, strict=True)
    ]


def _part_sums(
    table: Table, model: PairwiseMRF, how: str, counts: Sequence[Floats], owner: str = "model"
) -> Sums:
    """Return what the rows of a part add to a `Predictability`.

    Of each variable the weight of the cells, of those predicted right, of those in the most
    frequent state, and the losses; the weight in each state; how many rows there are, their
    weight, how many have some, and how many one that is not a whole number.
    """
    cards = model.potentials.layout.cards.tolist()
    rows = _rows_of(table, model, how, owner)
    if rows is None:
        return np.zeros((4, len(cards))), [np.zeros(s) for s in cards], np.zeros(4)
    found = predict_each(model, rows, counts)
    weights = np.ones(rows.n_given) if rows.weights is None else rows.weights
    numbers = np.array([
        rows.n_given, weights.sum(), np.count_nonzero(weights),
        np.count_nonzero(weights != np.floor(weights)),
    ])  # fmt: skip
    sums = np.stack([found.n, found.correct, found.marginal_correct, found.loss])
    return sums, _counted(rows, cards), numbers


def _complete_part(table: Table, model: PairwiseMRF) -> Table:
    """Return the rows of a part that lack no cell, perhaps none."""
    kept = np.ones(table.n_rows, dtype=np.bool_)
    for name, codes, listed in zip(table.names, table.codes, table.states, strict=True):
        if MISSING_STATE in listed and MISSING_STATE not in model.states.get(name, ()):
            kept &= codes != listed.index(MISSING_STATE)
    codes = np.compress(kept, table.codes, axis=1)
    weights = None if table.weights is None else table.weights[kept]
    return Table.trusted(table.names, table.states, codes, weights, table.ordered)


def cross_validate(
    spec: FitSpec, X: Any, sample_weight: Any, folds: Any, random_state: Any
) -> Predictability:
    """Return how well networks predict the rows that they were not learned from.

    The rows are dealt out to folds. For each, a network is learned from the others by the whole
    procedure, and predicts the rows of the fold. Whole weights count as repeated rows, which may
    fall into different folds.
    """
    whole_number("held_out", folds, 2)
    table = read_rows_to_draw(spec, X, sample_weight, warn=True)
    spec = replace(spec, states=None, observer=Silence())
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    [[seed]] = seeds_for(random_state, 1)
    parts = deal(weights, folds, np.random.default_rng(seed))
    found = [_fold(spec, table, weights - part, part) for part in parts if (weights - part).any()]
    return Predictability(
        table.names,
        np.sum([each.n for each in found], axis=0),
        np.sum([each.correct for each in found], axis=0),
        np.sum([each.marginal_correct for each in found], axis=0),
        np.sum([each.loss for each in found], axis=0),
        np.sum([each.marginal_loss for each in found], axis=0),
        count_observations(weights),
        "held-out",
        len(found),
    )


def _fold(spec: FitSpec, table: Table, learned: Floats, judged: Floats) -> Predictability:
    """Return how well a network of some rows predicts others."""
    weighted = table.weights is not None
    train, test = (
        table.with_weights(part if weighted else None).take_rows(part > 0)
        for part in (learned, judged)
    )
    found = fit(spec, train)
    if found.interrupted:
        raise KeyboardInterrupt
    return predict_each(found.model, found.model.rows_to_score(test), found.data.counts)
