"""compare_chains: the same sequences at the same lambda through many methods and select units."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from graftwork.data.chains import (
    Sequences,
    as_sequences,
    check_weights,
    count_columns,
    encode_labels,
)
from graftwork.errors import DataError
from graftwork.estimators.chain_crf import ChainCRF
from graftwork.estimators.chain_parts import METHODS
from graftwork.estimators.parts import whole_number
from graftwork.grafting import Recipe
from graftwork.grafting.trace import Observer
from graftwork.recipes import RECIPES
from graftwork.report.chain_comparison import ChainComparison
from graftwork.report.compare_chains_runs import Chains, ChainTask, evaluate_chains, run_chains
from graftwork.report.compare_methods import Entry, Learner, check_options, make_entries

CHAINS = Learner("compare_chains", ChainCRF, METHODS, "grafting-light", {})
#: Compared when nothing is asked for; gauss-seidel and gain may take hundreds of times as long.
USUAL_METHODS = ("grafting-light", "grafting", "full")


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
) -> ChainComparison:
    """Return what many methods make of the same labelled sequences, and what each took.

    The six criteria of the Grafting-Light paper for each method: seconds, negative log-likelihood
    of the training set, error rate on other sequences, features with a weight in the end, features
    selected on the way, gradient evaluations. Every method starts from nothing. Its clock runs from
    its first evaluation to its last check: preparing the data, compilation (each method is tried on
    a few sequences first) and prediction are not on it. An interrupt (Ctrl-C) ends the comparison
    with what there is; if there is nothing yet, KeyboardInterrupt is raised.

    Parameters
    ----------
    X, y : sequences and their labels
        As `ChainCRF.fit` takes them.
    methods : list or dict
        Names ("all" for every one), recipes, or dicts of `ChainCRF`'s arguments; a dict
        {label: one of these} labels them.
    select : int or list of int, optional
        Features activated a round (the paper's M): each method that takes one is run with each of
        these. Default: `ChainCRF`'s own choice.
    test : (X, y) or (X, y, lengths), optional
        Other sequences, for the error rate: the share of positions with a wrong label.
    lam : float, optional
        Strength of the penalty on the mean loss of a sequence, for all methods. The paper's
        constant is on the sum: ``lam = 64 / number of sequences``.
    lengths, sample_weight : optional
        As in `ChainCRF.fit`.
    observer : Observer, optional
        Told of every method as a stage, and of its rounds.
    **options
        Of `ChainCRF`, for all methods: penalty, l2, order, max_seconds, tol, n_jobs, ...

    Returns
    -------
    ChainComparison
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
    return evaluate_chains(task, run_chains(task, observer))


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
    """Return what is to be compared, with everything refused that can be before any learning.

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
    return ChainTask(train, weights, held, entries, {**options, "lam": lam})


def with_select(entries: Sequence[Entry], select: Any) -> tuple[Entry, ...]:
    """Return each method with each number of features a round, where it takes one and has none.

    Parameters
    ----------
    select : int, iterable of int or None
        Features activated a round.

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
    """Return whether a method takes a number of features a round and has not got one yet."""
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
