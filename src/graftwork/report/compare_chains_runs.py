"""Running the methods of a comparison of chains, and what they are worth."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.labels import decode_labels, with_weight
from graftwork.data.sequences import Sequences
from graftwork.data.values import key
from graftwork.estimators.chain_crf import ChainCRF
from graftwork.estimators.chain_parts import chain_recipe
from graftwork.grafting.trace import Observer, PassOn, Silence
from graftwork.report.chain_comparison import ChainComparison, ChainRun
from graftwork.report.compare_methods import Entry, method_name
from graftwork.report.compare_runs import Ran, fit_or_keep, rehearsed, run_each
from graftwork.report.trace import plain

#: A run on so many sequences, for so many rounds, compiles what the methods use.
_WARM_SEQUENCES, _WARM_LAM, _WARM_ROUNDS = 32, 0.01, 3
_NO_BUDGET: dict[str, Any] = dict.fromkeys(("max_features", "max_seconds"))


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Labelled sequences: as they were given, and checked.

    Attributes
    ----------
    X, y, lengths
        What was given.
    sequences : Sequences
    codes, classes : (positions,) int32, tuple
        The labels of all positions.
    """

    X: Any
    y: Any
    lengths: Any
    sequences: Sequences
    codes: NDArray[np.int32]
    classes: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ChainTask:
    """What is to be compared, checked.

    Attributes
    ----------
    train, test : Chains, Chains or None
        To learn from, and to predict.
    weights : (sequences,) array or None
        Of the sequences to learn from.
    entries : tuple of Entry
        The methods.
    options : dict
        What of `ChainCRF` is the same for all, lam included.
    """

    train: Chains
    weights: NDArray[np.float64] | None
    test: Chains | None
    entries: tuple[Entry, ...]
    options: Mapping[str, Any]

    @property
    def total_weight(self) -> float:
        """Sum of the weights of the sequences to learn from."""
        if self.weights is None:
            return float(self.train.sequences.n_sequences)
        return float(self.weights.sum())


@dataclass(frozen=True, slots=True, eq=False)
class ChainAttempt:
    """A method that was run, a round at least; how many features it had selected by each round."""

    label: str
    net: ChainCRF
    selected: tuple[int, ...]

    @property
    def cut_short(self) -> bool:
        """Whether an interrupt ended it."""
        return bool(self.net.certificate_.stop == "interrupted")


def run_chains(
    task: ChainTask,
    observer: Observer | None = None,
    finished: Callable[[ChainAttempt], None] | None = None,
) -> Ran[ChainAttempt]:
    """Return what became of every method; after an interrupt, of those run until then.

    Parameters
    ----------
    finished : function, optional
        Called with every attempt as soon as there is one.

    Raises
    ------
    KeyboardInterrupt
        If there is nothing to return yet.
    GraftworkError
        If every method failed: what the first said.
    """
    observer = observer or Silence()
    observer.on_stage("warming up", 0, 1)
    entries = _warm_up(task)
    return run_each(entries, lambda entry: _attempt(task, entry, observer), observer, finished)


def evaluate_chains(task: ChainTask, ran: Ran[ChainAttempt]) -> ChainComparison:
    """Return the comparison of the methods that were run."""
    train, test = task.train, task.test
    used, _, classes, _ = with_weight(train.sequences, train.codes, train.classes, task.weights)
    return ChainComparison(
        tuple(_evaluated(attempt, task) for attempt in ran.attempts),
        ran.attempts[0].net.lam_,
        task.total_weight,
        used.n_sequences,
        used.n_positions,
        used.n_attributes,
        len(classes),
        None if test is None else test.sequences.n_sequences,
        dict(ran.missing),
        ran.interrupted,
    )


def _warm_up(task: ChainTask) -> tuple[Entry, ...]:
    """Return the methods, each tried on a few sequences.

    What is compiled when first used is compiled here, off everybody's clock, and settings that
    mean nothing are refused before the first long run.
    """
    sequences, labels = corner_of_chains(task.train)

    def rehearse(entry: Entry) -> None:
        settings = {**task.options, **entry.settings}
        check = {"max_iter": settings.get("max_iter") or 0}
        warm = {**_NO_BUDGET, "lam": _WARM_LAM, "max_iter": _WARM_ROUNDS}
        for changes in (check, warm):
            ChainCRF(**{**settings, **changes}).fit(sequences, labels)

    return rehearsed(task.entries, rehearse, chosen=True)


def corner_of_chains(chains: Chains) -> tuple[Sequences, list[list[Any]]]:
    """Return the first few sequences that are not empty, and their labels.

    Examples
    --------
    >>> from graftwork.report.compare_chains import make_chain_task
    >>> task = make_chain_task([[["a"], ["b"]]] * 500, [["x", "y"]] * 500)
    >>> corner_of_chains(task.train)[0]
    Sequences: 32 sequences, 64 positions, 2 attributes
    """
    lengths = chains.sequences.lengths
    kept = np.zeros(len(lengths), dtype=bool)
    kept[np.flatnonzero(lengths)[:_WARM_SEQUENCES]] = True
    some = chains.sequences.chosen(kept)
    codes = chains.codes[np.repeat(kept, lengths)].astype(np.int64)
    return some, decode_labels(codes, chains.classes, some.starts)


def _attempt(task: ChainTask, entry: Entry, observer: Observer) -> ChainAttempt:
    seen = Seen(observer)
    net = ChainCRF(**{**task.options, **entry.settings, "observer": seen})
    train = task.train
    fit_or_keep(net, train.X, train.y, train.lengths, task.weights)
    return ChainAttempt(entry.label, net, seen.by_round(len(net.trace_)))


def _evaluated(attempt: ChainAttempt, task: ChainTask) -> ChainRun:
    net = attempt.net
    recipe = chain_recipe(net, net.n_candidates_)
    return ChainRun(
        attempt.label,
        _settings(net),
        getattr(recipe.selector, "count", None),
        net.model_,
        net.certificate_,
        tuple(net.trace_),
        attempt.selected,
        float(net.certificate_.loss * task.total_weight),
        None if task.test is None else error_rate(net, task.test),
    )


def error_rate(net: ChainCRF, test: Chains) -> float:
    """Return the share of positions with a wrong label; True and 1 are two labels.

    A label that no training sequence has is always wrong.
    """
    predicted = net.predict(test.X, test.lengths)
    true = decode_labels(test.codes.astype(np.int64), test.classes, test.sequences.starts)
    pairs = zip(chain.from_iterable(predicted), chain.from_iterable(true), strict=True)
    wrong = sum(bool(key(found) != key(wanted)) for found, wanted in pairs)
    return wrong / test.sequences.n_positions


def _settings(net: ChainCRF) -> dict[str, Any]:
    """Return the estimator's parameters as plain values."""
    settings = {k: v for k, v in net.get_params(deep=False).items() if k != "observer"}
    plain_settings: dict[str, Any] = plain({**settings, "method": method_name(net.method)})
    return plain_settings


class Seen(PassOn):
    """An observer that counts the different features there were at the end of any round.

    A feature that comes and goes within one round is not seen: it never had a weight.
    """

    def __init__(self, inner: Observer) -> None:
        super().__init__(inner)
        self._seen = np.zeros(0, dtype=bool)
        self._counts: list[int] = []

    def on_network(self, potentials: Any) -> None:
        """Count the features that are new, and pass it on."""
        features = potentials.layout.features
        more = int(features.max(initial=-1)) + 1 - len(self._seen)
        if more > 0:
            self._seen = np.concatenate([self._seen, np.zeros(more, dtype=bool)])
        self._seen[features] = True
        self._counts.append(int(self._seen.sum()))
        self._inner.on_network(potentials)

    def by_round(self, rounds: int) -> tuple[int, ...]:
        """Return how many features were seen by each round.

        An interrupt may fall between the last round and its network, which is then not new.
        """
        last = self._counts[-1] if self._counts else 0
        return tuple(self._counts[:rounds]) + (last,) * (rounds - len(self._counts))
