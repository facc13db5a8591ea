"""compare_chains: the same sequences at the same lambda through many methods of ChainCRF."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.comparing.comparison import (
    EVALUATIONS,
    GAP,
    OBJECTIVE,
    REACHED,
    ROUNDS,
    SECONDS,
    Comparison,
    Metric,
    Record,
    Run,
)
from graftwork.comparing.methods import Entry, Learner, check_options, make_entries
from graftwork.comparing.runner import (
    WARM_LAM,
    WARM_ROUNDS,
    Attempt,
    Task,
    Trial,
    compare_methods,
    evaluated_run,
)
from graftwork.comparing.watchers import Seen
from graftwork.data.chains import (
    Sequences,
    as_sequences,
    check_weights,
    count_columns,
    decode_labels,
    encode_labels,
    with_weight,
)
from graftwork.data.values import key
from graftwork.errors import DataError, ParameterError
from graftwork.estimators.chain_crf import ChainCRF
from graftwork.estimators.chain_parts import METHODS, chain_recipe
from graftwork.grafting import Recipe
from graftwork.grafting.trace import Observer
from graftwork.models.chain import ChainModel
from graftwork.parameters import whole_number
from graftwork.recipes import RECIPES

#: The default first.
CHAINS = Learner("compare_chains", ChainCRF, tuple(dict.fromkeys(["grafting-light", *METHODS])), {})
#: Compared by default; gauss-seidel and gain may take hundreds of times as long.
USUAL_METHODS = ("grafting-light", "grafting", "full")
SELECT = Metric("select", "features per round")
_NLL = "negative log-likelihood of the training set"
_ERROR = "share of test positions with a wrong label"
_SELECTED = "different features present at the end of any round"
#: The columns: the six criteria of the Grafting-Light paper are those that are drawn.
METRICS = (
    OBJECTIVE,
    GAP,
    Metric("nll", "NLL", REACHED, ",.1f", _NLL, "nats", "lower", True),
    Metric("test_error", "test error", REACHED, ".2%", _ERROR, "", "lower", True),
    Metric("features", "features", REACHED, ",", "with a weight in the end", drawn=True),
    Metric("selected", "selected", REACHED, ",", _SELECTED, drawn=True),
    Metric("activations", "activations"),
    ROUNDS,
    SECONDS,
    EVALUATIONS,
)
_PROBLEM = ("penalty", "l2", "order", "candidates", "min_count")
#: The number of sequences that a method is tried on.
_WARM_SEQUENCES = 32
# With labels A and B, "x votes for A" and "x votes against B" are the same to the model and cost
# the same, so a weight may be split between them.
_TWO_LABELS = (
    "With two labels the votes of an attribute for the one and against the other mean the same, "
    "and cost the same: the number of features is not determined by the optimum."
)


def compare_chains(
    X: Any,
    y: Any,
    methods: Any = USUAL_METHODS,
    *,
    select: int | Iterable[int] | None = None,
    test: tuple[Any, ...] | None = None,
    lam: float | None = None,
    lengths: Any = None,
    sample_weight: Any = None,
    observer: Observer | None = None,
    **options: Any,
) -> Comparison:
    """Return what many methods make of the same labelled sequences, and what each took.

    The six criteria of the Grafting-Light paper for each method: seconds, negative log-likelihood
    of the training set, error rate on other sequences, features with a weight in the end, features
    selected on the way, gradient evaluations. Every method starts from nothing. Its clock runs from
    its first evaluation to its last check: preparing the data, compilation (each method is tried on
    a few sequences first) and prediction are not on it. An interrupt (Ctrl-C) ends the comparison
    with the results so far; if there are none yet, KeyboardInterrupt is raised.

    Parameters
    ----------
    X, y : sequences and their labels
        As `ChainCRF.fit` takes them.
    methods : list or dict
        Names ("all" for every one), recipes, or dicts of `ChainCRF`'s arguments; a dict
        {label: one of these} labels them.
    select : int or list of int, optional
        Features activated per round (the paper's M): each method that takes one is run with each of
        these. Default: `ChainCRF`'s own choice.
    test : (X, y) or (X, y, lengths), optional
        Other sequences, for the error rate: the share of positions with a wrong label.
    lam : float, optional
        Strength of the penalty on the mean loss of a sequence, for all methods. The paper's
        constant is on the sum: ``lam = 64 / number of sequences``.
    lengths, sample_weight : optional
        As in `ChainCRF.fit`.
    observer : Observer, optional
        Notified of every method as a stage, and of its rounds.
    **options
        Of `ChainCRF`, for all methods: penalty, l2, order, max_seconds, tol, n_jobs, ...

    Returns
    -------
    Comparison
        With ``table()``, ``words()``, ``plot()`` and ``write(folder)``.

    References
    ----------
    Zhu, Lao and Xing (2010), Grafting-Light: fast, incremental feature selection and structure
    learning of Markov random fields, KDD, section 6.1.

    Examples
    --------
    >>> X = [[["w=the"], ["w=dog"]], [["w=dogs"], ["w=bark"]]] * 20
    >>> y = [["D", "N"], ["N", "V"]] * 20
    >>> result = compare_chains(X, y, ["grafting-light", "full"], select=[1, 2], lam=0.05, n_jobs=1)
    >>> [(row["method"], row["select"], row["converged"]) for row in result.table()]
    [('grafting-light:select=1', 1, True), ('grafting-light:select=2', 2, True),
     ('full', None, True)]
    """
    task = make_chain_task(
        X,
        y,
        methods,
        select=select,
        test=test,
        lam=lam,
        lengths=lengths,
        sample_weight=sample_weight,
        **options,
    )
    return compare_methods(task, observer)


def make_chain_task(
    X: Any,
    y: Any,
    methods: Any = USUAL_METHODS,
    *,
    select: int | Iterable[int] | None = None,
    test: tuple[Any, ...] | None = None,
    lam: float | None = None,
    lengths: Any = None,
    sample_weight: Any = None,
    **options: Any,
) -> ChainTask:
    """Return what `compare_chains` is to do, after every check that needs no learning.

    Examples
    --------
    >>> task = make_chain_task([[["a"]]], [["x"]], "grafting", select=[1, 5])
    >>> [entry.label for entry in task.entries]
    ['grafting:select=1', 'grafting:select=5']
    """
    check_options(options, CHAINS)
    entries = with_select(make_entries(methods, CHAINS), select)
    train = _chains(X, y, lengths)
    weights = check_weights(sample_weight, train.sequences.n_sequences)
    held = None if test is None else _test_chains(test, train)
    return ChainTask(
        train=train,
        test=held,
        weights=weights,
        entries=entries,
        options={**options, "lam": lam},
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class ChainTask(Task):
    """What is to be compared, checked.

    Attributes
    ----------
    train, test : Chains, Chains or None
        To learn from, and to predict.
    weights : (sequences,) array or None
        Of the sequences to learn from.
    """

    learner = CHAINS
    metrics = METRICS
    noun = "feature"
    parameter = SELECT

    train: Chains
    test: Chains | None
    weights: NDArray[np.float64] | None

    @property
    def total_weight(self) -> float:
        """Sum of the weights of the sequences to learn from."""
        if self.weights is None:
            return float(self.train.sequences.n_sequences)
        return float(self.weights.sum())

    def data(self) -> tuple[Any, ...]:
        """Return sequences, labels, lengths and weights."""
        return self.train.X, self.train.y, self.train.lengths, self.weights

    def corner(self) -> tuple[Any, ...]:
        """Return a few sequences and their labels."""
        return corner_of_chains(self.train)

    def rehearsals(self, settings: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the settings as they are, but ending at once; then such that features come."""
        check = {**settings, "max_iter": settings.get("max_iter") or 0}
        no_budget = dict.fromkeys(("max_features", "max_seconds", "max_evaluations"))
        return [check, {**settings, **no_budget, "lam": WARM_LAM, "max_iter": WARM_ROUNDS}]

    def choose_lam(self, entries: Sequence[Entry], observer: Observer) -> tuple[Any, str]:
        """Return the number given, by default 1 on the sum of the losses."""
        lam = self.options["lam"]
        if self.options.get("penalty") == "none":
            return lam, "there is no penalty."
        mean = 1.0 / self.total_weight if lam is None else lam
        on_sum = mean * self.total_weight
        return lam, f"lambda is {mean:.4g} on the mean loss of a sequence, {on_sum:.4g} on the sum."

    def watcher(self, observer: Observer) -> Seen:
        """Return an observer that counts the different features there were."""
        return Seen(observer)

    def sizes(self) -> dict[str, int | None]:
        """Return the sizes of what is learned from, without sequences of weight zero."""
        train = self.train
        used, _, classes, _ = with_weight(train.sequences, train.codes, train.classes, self.weights)
        return {
            "sequences": used.n_sequences,
            "positions": used.n_positions,
            "attributes": used.n_attributes,
            "labels": len(classes),
            "test_sequences": None if self.test is None else self.test.sequences.n_sequences,
        }

    def remarks(self, trial: Trial) -> list[str]:
        """Return whether several optima may differ in features; a ridge leaves one optimum."""
        nets = [attempt.net for attempt in trial.attempts]
        plain_l1 = any(net.penalty in ("l1", "elastic-net") and not net.l2 for net in nets)
        return [_TWO_LABELS] if plain_l1 and len(nets[0].classes_) == 2 else []

    def evaluate(self, attempt: Attempt) -> Run:
        """Return one run with its metrics."""
        net, model = attempt.net, attempt.net.model_
        selected = attempt.watcher.by_round(len(net.trace_))
        values: Record = {
            "select": getattr(chain_recipe(net, net.n_candidates_).selector, "count", None),
            "nll": float(net.certificate_.loss * self.total_weight),
            "features": model.n_features,
            "selected": selected[-1],
            "activations": sum(told.activated for told in net.trace_),
        }
        if self.test is not None:
            values["test_error"] = error_rate(net, self.test)
        rounds = (
            {
                "round": told.index,
                "seconds": told.seconds,
                "evaluations": told.evaluations,
                "objective": told.objective,
                "loss": told.loss,
                "nll": told.loss * self.total_weight,
                "features": told.edges,
                "selected": count,
                "activated": told.activated,
                "pruned": told.pruned,
            }
            for told, count in zip(net.trace_, selected, strict=True)
        )
        return evaluated_run(
            attempt, values, rounds, problem=_PROBLEM, kept=lambda: _features(model)
        )


def _features(model: ChainModel) -> frozenset[Any]:
    """Return the features with a weight, as (attribute, labels before it, label)."""
    return frozenset(tuple(v for k, v in r.items() if k != "weight") for r in model.records())


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


def corner_of_chains(chains: Chains) -> tuple[Sequences, list[list[Any]]]:
    """Return the first few sequences that are not empty, and their labels.

    Examples
    --------
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


def error_rate(net: ChainCRF, test: Chains) -> float:
    """Return the share of positions with a wrong label; True and 1 are two labels.

    A label that no training sequence has is always wrong.
    """
    predicted = net.predict(test.X, test.lengths)
    true = decode_labels(test.codes.astype(np.int64), test.classes, test.sequences.starts)
    pairs = zip(chain.from_iterable(predicted), chain.from_iterable(true), strict=True)
    wrong = sum(bool(key(found) != key(wanted)) for found, wanted in pairs)
    return wrong / test.sequences.n_positions


def with_select(entries: Sequence[Entry], select: Any) -> tuple[Entry, ...]:
    """Return each method with each number of features per round, where it takes one and has none.

    Parameters
    ----------
    select : int, iterable of int or None
        Features activated per round.

    Examples
    --------
    >>> light = Entry("grafting-light", {"method": "grafting-light"})
    >>> [entry.label for entry in with_select([light], [1, 10])]
    ['grafting-light:select=1', 'grafting-light:select=10']
    """
    if select is None:
        return tuple(entries)
    numbers = list(select) if isinstance(select, Iterable) else [select]
    if not numbers:
        raise ParameterError("select is empty; give numbers of features, such as [1, 10].")
    for number in numbers:
        whole_number("select", number, 1)
    out: list[Entry] = []
    for entry in entries:
        if not _is_open(entry.settings):
            out.append(entry)
            continue
        out += [
            Entry(f"{entry.label}:select={number}", {**entry.settings, "select": number})
            for number in dict.fromkeys(map(int, numbers))
        ]
    return make_entries(out, CHAINS)


def _is_open(settings: Mapping[str, Any]) -> bool:
    """Return whether a method takes a number of features per round and has not got one yet."""
    method = settings["method"]
    if isinstance(method, Recipe) or "count" not in inspect.signature(RECIPES[method]).parameters:
        return False
    own = settings.get("method_options") or {}
    return settings.get("select") is None and "count" not in own


def _test_chains(test: Any, train: Chains) -> Chains:
    """Return sequences to test on, or refuse what does not fit those to learn from."""
    if not isinstance(test, tuple | list) or len(test) not in (2, 3):
        raise DataError("test must be (X, y), or (X, y, lengths) with one matrix of all positions.")
    X, y, lengths = (*test, None)[:3]
    try:
        held = _chains(X, y, lengths)
    except DataError as error:
        raise DataError(f"test: {error}") from error
    _check_alike(train.X, held.X)
    return held


def _check_alike(train: Any, test: Any) -> None:
    """Refuse sequences whose attributes are others by nature than those to learn from."""
    learned, found = count_columns(train), count_columns(test)
    if learned == found or (found is None and isinstance(test, Sequences)):
        return  # Sequences name their attributes, which are columns' numbers for matrices
    if learned is None or found is None:
        raise DataError(
            f"test: X has {_kind(found)}, but what is learned from has {_kind(learned)}; give both "
            "alike."
        )
    raise DataError(
        f"test: X has {found} columns, but what is learned from has {learned}; give the same "
        "columns in the same order."
    )


def _kind(columns: int | None) -> str:
    return "named attributes" if columns is None else "columns of a matrix"


def _chains(X: Any, y: Any, lengths: Any) -> Chains:
    """Return sequences as they were given, checked, with the labels of all positions."""
    X, y = _kept(X), _kept(y)
    sequences = as_sequences(X, lengths)
    codes, classes = encode_labels(y, sequences)
    return Chains(X, y, lengths, sequences, codes, classes)


def _kept(given: Any) -> Any:
    """Return sequences or labels that can be read more than once: iterators become lists."""
    if isinstance(given, Iterator):
        given = list(given)
    if isinstance(given, list | tuple) and any(isinstance(part, Iterator) for part in given):
        return [list(part) if isinstance(part, Iterator) else part for part in given]
    return given
